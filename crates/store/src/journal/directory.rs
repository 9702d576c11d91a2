//! A member's directory, as its role in a group sees it: the files of which there is parity, and the facts that it must
//! not forget.
//!
//! | file | holds |
//! |---|---|
//! | `group` | which member keeps parity of this one, or of which members this one keeps it |
//! | `rebuilt.unfinished/` | of a spare: files of a lost member, as far as they have arrived |
//! | `rebuilt/` | all of them: the spare is that member from then on |
//! | `taken/` | the same, when the spare's own files are gone |
//! | `snapshot.N.partial` | a snapshot that the parity had only in part; removed once the parity has let go of it |

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use super::files::{Error, keep_names, numbers, system};
use super::frame::{FILE_HEADER, whole};
use crate::parity::column::{Extent, FileName, Kind, Piece};
use crate::parity::data::Files;
use crate::parity::facts::Facts;
use crate::parity::message::Successor;

/// A member's directory.
#[derive(Debug)]
pub struct Directory {
    path: PathBuf,
    /// The file that was read last.
    opened: RefCell<Option<(FileName, File)>>,
}

impl Directory {
    /// The directory with this path.
    pub const fn new(path: PathBuf) -> Directory {
        Directory { path, opened: RefCell::new(None) }
    }

    fn file(&self, file: FileName) -> PathBuf {
        self.path.join(file.to_string())
    }

    /// The facts that the member must not have forgotten.
    ///
    /// # Errors
    /// [`Error::System`]
    pub fn facts(&self) -> Result<Facts, Error> {
        let path = self.path.join("group");
        match fs::read(&path) {
            Ok(bytes) => serde_json::from_slice(&bytes).map_err(|cause| system("read", &path)(cause.into())),
            Err(cause) if cause.kind() == ErrorKind::NotFound => Ok(Facts::default()),
            Err(cause) => Err(system("read", &path)(cause)),
        }
    }

    /// Makes these facts durable.
    ///
    /// # Errors
    /// [`Error::System`]
    pub fn keep_facts(&self, facts: &Facts) -> Result<(), Error> {
        write_facts(&self.path, facts)
    }

    /// A part of a lost member has arrived. The first part of a rebuilding replaces whatever an earlier one has left.
    ///
    /// # Errors
    /// [`Error::System`]
    pub fn store(&self, is_first: bool, piece: Piece, bytes: &[u8]) -> Result<(), Error> {
        let directory = self.path.join("rebuilt.unfinished");
        if is_first {
            remove_all(&directory)?;
            fs::create_dir(&directory).map_err(system("make", &directory))?;
        }
        let path = directory.join(piece.file.to_string());
        let file = OpenOptions::new().create(true).truncate(false).write(true).open(&path);
        file.and_then(|file| file.write_all_at(bytes, piece.at)).map_err(system("write to", &path))
    }

    /// All of a lost member has arrived: the process that opens the directory next is that member.
    ///
    /// # Errors
    /// [`Error::System`]
    pub fn finish(&self, successor: &Successor, facts: &Facts) -> Result<(), Error> {
        let directory = self.path.join("rebuilt.unfinished");
        for (file, extent) in &successor.files {
            let path = directory.join(file.to_string());
            File::open(&path).and_then(|file| file.sync_all()).map_err(system("sync", &path))?;
            if file.kind == Kind::Snapshot && !extent.is_whole {
                fs::rename(&path, partial(&directory, file.number)).map_err(system("rename", &path))?;
            }
        }
        write_facts(&directory, facts)?;
        fs::rename(&directory, self.path.join("rebuilt")).map_err(system("rename", &directory))?;
        keep_names(&self.path)
    }
}

fn partial(directory: &Path, number: u64) -> PathBuf {
    directory.join(format!("snapshot.{number}.partial"))
}

fn write_facts(directory: &Path, facts: &Facts) -> Result<(), Error> {
    let path = directory.join("group.unfinished");
    let write = |mut file: File| {
        file.write_all(&serde_json::to_vec(facts)?)?;
        file.sync_all()
    };
    File::create(&path).and_then(write).map_err(system("write to", &path))?;
    fs::rename(&path, directory.join("group")).map_err(system("rename", &path))?;
    keep_names(directory)
}

fn remove_all(directory: &Path) -> Result<(), Error> {
    match fs::remove_dir_all(directory) {
        Err(cause) if cause.kind() != ErrorKind::NotFound => Err(system("remove", directory)(cause)),
        _ => Ok(()),
    }
}

/// Makes a spare that has all of a lost member take over its files. To be called before any file is read; it may be
/// interrupted any number of times.
pub(super) fn take_over(directory: &Path) -> Result<(), Error> {
    remove_all(&directory.join("rebuilt.unfinished"))?;
    let (rebuilt, taken) = (directory.join("rebuilt"), directory.join("taken"));
    if rebuilt.exists() {
        for kind in ["log", "snapshot"] {
            for number in numbers(directory, kind)? {
                let path = directory.join(format!("{kind}.{number}"));
                fs::remove_file(&path).map_err(system("remove", &path))?;
            }
        }
        fs::rename(&rebuilt, &taken).map_err(system("rename", &rebuilt))?;
        keep_names(directory)?;
    }
    if taken.exists() {
        for entry in fs::read_dir(&taken).map_err(system("read", &taken))? {
            let entry = entry.map_err(system("read", &taken))?;
            fs::rename(entry.path(), directory.join(entry.file_name())).map_err(system("rename", &entry.path()))?;
        }
        keep_names(directory)?;
        remove_all(&taken)?;
    }
    Ok(())
}

impl Files for Directory {
    fn all(&self) -> io::Result<BTreeMap<FileName, Extent>> {
        let mut files = BTreeMap::new();
        for entry in fs::read_dir(&self.path)? {
            let entry = entry?;
            let name = entry.file_name();
            let Some((kind, number)) = name.to_str().and_then(|name| name.split_once('.')) else { continue };
            let (number, is_partial) = number.strip_suffix(".partial").map_or((number, false), |number| (number, true));
            let (Ok(number), "log" | "snapshot") = (number.parse(), kind) else { continue };
            let kind = if kind == "log" { Kind::Log } else { Kind::Snapshot };
            let is_whole = kind == Kind::Snapshot && !is_partial;
            files.insert(FileName { kind, number }, Extent { length: entry.metadata()?.len(), is_whole });
        }
        Ok(files)
    }

    fn read(&self, piece: Piece) -> io::Result<Vec<u8>> {
        let mut opened = self.opened.borrow_mut();
        let file = match opened.take() {
            Some((name, file)) if name == piece.file => file,
            _ => match File::open(self.file(piece.file)) {
                Err(cause) if cause.kind() == ErrorKind::NotFound && piece.file.kind == Kind::Snapshot => {
                    File::open(partial(&self.path, piece.file.number))?
                }
                file => file?,
            },
        };
        let mut bytes = vec![0; piece.length];
        file.read_exact_at(&mut bytes, piece.at)?;
        *opened = Some((piece.file, file));
        Ok(bytes)
    }

    fn frames(&self, log: u64, at: u64, end: u64, most: u64) -> io::Result<Vec<u8>> {
        let piece = |length: u64| Piece { file: FileName::log(log), at, length: length as usize };
        let header = if at == 0 { FILE_HEADER } else { 0 };
        let mut bytes = self.read(piece(most.min(end - at)))?;
        let (mut length, next) = whole(bytes.get(header..).unwrap_or_default());
        if length == 0
            && let Some(next) = next.filter(|next| *next <= end - at - header as u64)
        {
            bytes = self.read(piece(header as u64 + next))?;
            length = next as usize;
        }
        if length + header == 0 {
            return Err(ErrorKind::InvalidData.into());
        }
        bytes.truncate(header + length);
        Ok(bytes)
    }

    fn remove(&self, file: FileName) -> io::Result<()> {
        *self.opened.borrow_mut() = None;
        match fs::remove_file(self.file(file)) {
            Err(cause) if cause.kind() == ErrorKind::NotFound && file.kind == Kind::Snapshot => {
                fs::remove_file(partial(&self.path, file.number))
            }
            outcome => outcome,
        }
    }
}
