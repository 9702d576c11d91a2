//! What is kept of an incomplete transfer, so that it can be resumed after an interruption.
//!
//! ```text
//!     INTO/.maquette-cast-<transfer>/
//!         lock        held by the receiver that uses it
//!         member      the receiver's identity, by which the sender recognizes it
//!         manifest    what is received
//!         pieces      the pieces received: index 4, digest 32, CRC-32C of both 4; repeated
//!         0, 1, ...   the files, by their index in the manifest
//! ```
//!
//! A recorded piece counts only after it has been read and hashed again: a machine that crashed may have lost what was
//! written last.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::{DirBuilderExt, FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use nix::fcntl::{Flock, FlockArg};
use quantities::Bytes;

use super::FileError;
use crate::lobby::Token;
use crate::manifest::{self, Id, Manifest, Places};
use crate::names::UNFINISHED;
use crate::round::Digest;

/// The most that is read of what an earlier transfer left: somebody who can write there may have put a device in its
/// place.
const LONGEST_LOG: Bytes = Bytes(1 << 30);

const RECORD: usize = 40;

/// A folder with what has been received.
#[derive(Debug)]
pub(super) struct Unfinished {
    pub(super) folder: PathBuf,
    /// The receiver's identity.
    pub(super) member: Token,
    _lock: Flock<File>,
}

impl Unfinished {
    /// The folder of `transfer` below `into`, created if it does not exist; `fresh` is the receiver's identity in that
    /// case.
    pub(super) fn open(into: &Path, transfer: Id, fresh: Token) -> Result<Unfinished, FileError> {
        let folder = into.join(format!("{UNFINISHED}{transfer}"));
        match DirBuilder::new().mode(0o700).create(&folder) {
            Ok(()) => {}
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                let is_folder = fs::symlink_metadata(&folder).is_ok_and(|there| there.is_dir());
                if !is_folder {
                    return Err(FileError::new(&folder, "it is in the way: it is not a folder"));
                }
            }
            Err(error) => return Err(FileError::new(&folder, error)),
        }
        let path = folder.join("lock");
        let lock = open_to_write(&path)?;
        let lock = Flock::lock(lock, FlockArg::LockExclusiveNonblock)
            .map_err(|_| FileError::new(&folder, "another receiver is at it"))?;
        let path = folder.join("member");
        let known = quantities::read_at_most(&path, LONGEST_LOG).ok().and_then(|bytes| bytes.try_into().ok());
        let member = known.map_or(fresh, Token);
        if known.is_none() {
            fs::write(&path, fresh.0).map_err(FileError::io(&path))?;
        }
        Ok(Unfinished { folder, member, _lock: lock })
    }

    /// The manifest, if known, and the pieces received that are still intact: nothing is taken on trust.
    pub(super) fn read(&self, transfer: Id) -> Option<(Manifest, Vec<Option<Digest>>)> {
        let mut bytes = Vec::new();
        let file = File::open(self.folder.join("manifest")).ok()?;
        file.take(manifest::LONGEST as u64 + 1).read_to_end(&mut bytes).ok()?;
        let manifest = Manifest::decode(&bytes).ok().filter(|manifest| manifest.id() == transfer)?;
        let mut noted: Vec<Option<Digest>> = vec![None; manifest.pieces() as usize];
        let log = quantities::read_at_most(&self.folder.join("pieces"), LONGEST_LOG).unwrap_or_default();
        for record in log.as_chunks::<RECORD>().0 {
            let (record, sum) = record.split_at(RECORD - 4);
            if let (Some((index, digest)), true) =
                (record.split_first_chunk::<4>(), crc32c::crc32c(record).to_be_bytes() == sum)
                && let Some(place) = noted.get_mut(u32::from_be_bytes(*index) as usize)
            {
                *place = digest.try_into().ok().map(Digest);
            }
        }
        let places = manifest.places();
        let mut room = vec![0; manifest.piece() as usize];
        for (index, noted) in (0..).zip(&mut noted) {
            let room = room.get_mut(..manifest.length(index)).unwrap_or_default();
            *noted = noted
                .filter(|digest| self.read_piece(&places, index, room).is_ok_and(|()| Digest::of(room) == *digest));
        }
        Some((manifest, noted))
    }

    fn read_piece(&self, places: &Places, index: u32, room: &mut [u8]) -> std::io::Result<()> {
        let mut start = 0;
        for span in places.spans(index) {
            let part = room.get_mut(start..start + span.length).ok_or(ErrorKind::InvalidInput)?;
            File::open(self.file(span.entry))?.read_exact_at(part, span.offset)?;
            start += span.length;
        }
        Ok(())
    }

    /// Records what is to be received.
    pub(super) fn begin(&self, manifest: &Manifest) -> Result<(), FileError> {
        let path = self.folder.join("manifest");
        fs::write(&path, manifest.encode()).map_err(FileError::io(&path))
    }

    /// Where an entry's bytes are until the file is complete.
    pub(super) fn file(&self, entry: usize) -> PathBuf {
        self.folder.join(entry.to_string())
    }

    /// The record of pieces, to be appended to.
    pub(super) fn record(&self, has: &[Option<Digest>]) -> Result<Record, FileError> {
        let path = self.folder.join("pieces");
        let file =
            OpenOptions::new().create(true).write(true).truncate(true).open(&path).map_err(FileError::io(&path))?;
        let mut record = Record { file, path };
        for (index, digest) in (0..).zip(has) {
            digest.map_or(Ok(()), |digest| record.note(index, digest))?;
        }
        Ok(record)
    }

    /// Removes the folder with everything in it.
    pub(super) fn remove(self) -> Result<(), FileError> {
        fs::remove_dir_all(&self.folder).map_err(FileError::io(&self.folder))
    }
}

/// Opens a file, creating it if it does not exist. It gets every permission that the umask permits, so that its final
/// mode less the umask can be set later; until then nobody else can reach it in its folder.
pub(super) fn open_to_write(path: &Path) -> Result<File, FileError> {
    let mut options = OpenOptions::new();
    options.create(true).write(true).truncate(false).custom_flags(NO_LINKS).mode(0o777);
    options.open(path).map_err(FileError::io(path))
}

const NO_LINKS: i32 = nix::fcntl::OFlag::O_NOFOLLOW.bits();

/// The pieces received.
#[derive(Debug)]
pub(super) struct Record {
    file: File,
    path: PathBuf,
}

impl Record {
    /// Records that this piece has been received and written.
    pub(super) fn note(&mut self, index: u32, digest: Digest) -> Result<(), FileError> {
        let mut record = [&index.to_be_bytes()[..], &digest.0].concat();
        record.extend_from_slice(&crc32c::crc32c(&record).to_be_bytes());
        self.file.write_all(&record).map_err(FileError::io(&self.path))
    }
}
