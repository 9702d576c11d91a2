//! The finished part of a sweep, kept on disk while it runs: a line that identifies the sweep, its files and this
//! build, then a line of JSON for each row. Nothing that has been written is ever rewritten; only a last line that was
//! cut short is removed.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use formats::input;
use formats::output::Unwritable;
use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg};
use quantities::Bytes;
use serde_json::{Value, json};

use crate::Error;
use crate::provenance::{VERSION, build};
use crate::sweep::{Row, Sweep};

/// The longest journal accepted.
const LONGEST: Bytes = Bytes(8 << 30);

/// The finished part of a sweep. No other sweep has the same journal at the same time, except after
/// [`Journal::release`].
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    /// The file of the table.
    out: PathBuf,
    file: File,
    /// Its length in complete lines. [B]
    length: u64,
    /// The lock on it; none where the file system has no locks, or once it is released.
    lock: Option<Flock<File>>,
    is_released: bool,
}

impl Journal {
    /// The journal of the `sweep` whose table goes to the file `out`, and the rows already in it.
    ///
    /// # Errors
    /// If the file can't be read or written, is the journal of another sweep or of other inputs, or belongs to a sweep
    /// in progress.
    pub fn open(out: &Path, sweep: &Sweep) -> Result<(Journal, Vec<Row>), Error> {
        let mut name = out.file_name().unwrap_or_default().to_owned();
        name.push(".done.jsonl");
        let path = out.with_file_name(name);
        let unwritable = |cause| Unwritable { path: path.clone(), cause };
        let (file, lock) = loop {
            let file = OpenOptions::new().append(true).create(true).open(&path).map_err(unwritable)?;
            let lock = lock(&file, out)?;
            // Meanwhile another sweep may have ended, and removed it.
            if is_at(&file, &path) {
                break (file, lock);
            }
        };
        let content = input::read(&path, LONGEST).map_err(|cause| Error::Unreadable { path: path.clone(), cause })?;
        let head = head(sweep);
        let (rows, length) = finished(&path, &content, &head, sweep.points())?;
        let mut journal = Journal { path, out: out.to_path_buf(), file, length, lock, is_released: false };
        if length < content.len() as u64 {
            journal.file.set_len(length).map_err(|cause| journal.unwritable(cause))?;
        }
        if length == 0 {
            journal.append(&head)?;
        }
        Ok((journal, rows))
    }

    /// Adds a row.
    ///
    /// # Errors
    /// If the file can't be written; if it was released, and another sweep uses it or has used it since.
    pub fn add(&mut self, row: &Row) -> Result<(), Error> {
        self.hold()?;
        self.append(&json!(row))
    }

    /// Lets other sweeps use it, until a row is added.
    pub fn release(&mut self) {
        self.lock = None;
        self.is_released = true;
    }

    /// Removes it: the table has been written.
    ///
    /// # Errors
    /// If the file can't be removed; if it was released, and another sweep uses it.
    pub fn remove(mut self) -> Result<(), Error> {
        if !self.path.exists() {
            return Ok(());
        }
        self.hold()?;
        match fs::remove_file(&self.path) {
            Err(cause) if cause.kind() != io::ErrorKind::NotFound => Err(self.unwritable(cause).into()),
            _ => Ok(()),
        }
    }

    /// Locks it again if it was released.
    ///
    /// # Errors
    /// If another sweep uses it, or has written to it since.
    pub fn hold(&mut self) -> Result<(), Error> {
        if !self.is_released {
            return Ok(());
        }
        self.lock = lock(&self.file, &self.out)?;
        let length = self.file.metadata().map_err(|cause| self.unwritable(cause))?.len();
        if length != self.length || !is_at(&self.file, &self.path) {
            self.lock = None;
            return Err(in_use(&self.out, "another sweep has written to its journal meanwhile"));
        }
        self.is_released = false;
        Ok(())
    }

    /// Appends a line, or nothing of it.
    fn append(&mut self, line: &Value) -> Result<(), Error> {
        let line = format!("{line}\n");
        if let Err(cause) = self.file.write_all(line.as_bytes()) {
            // If this also fails, the next sweep removes the incomplete line.
            let _ = self.file.set_len(self.length);
            return Err(self.unwritable(cause).into());
        }
        self.length += line.len() as u64;
        Ok(())
    }

    fn unwritable(&self, cause: io::Error) -> Unwritable {
        Unwritable { path: self.path.clone(), cause }
    }
}

/// Locks a journal for the sweep that writes `out`. File systems without locks are used without.
fn lock(file: &File, out: &Path) -> Result<Option<Flock<File>>, Error> {
    let duplicate = file.try_clone().map_err(|cause| Unwritable { path: out.to_path_buf(), cause })?;
    match Flock::lock(duplicate, FlockArg::LockExclusiveNonblock) {
        Ok(lock) => Ok(Some(lock)),
        Err((_, Errno::EWOULDBLOCK)) => Err(in_use(out, "another sweep writes it")),
        Err(_) => Ok(None),
    }
}

/// Whether `file` is still the one at `path`.
fn is_at(file: &File, path: &Path) -> bool {
    let identity = |metadata: fs::Metadata| (metadata.dev(), metadata.ino());
    matches!((file.metadata().map(identity), fs::metadata(path).map(identity)), (Ok(one), Ok(other)) if one == other)
}

fn in_use(out: &Path, problem: &str) -> Error {
    Unwritable { path: out.to_path_buf(), cause: io::Error::new(io::ErrorKind::ResourceBusy, problem) }.into()
}

/// The first line: everything that determines the rows.
fn head(sweep: &Sweep) -> Value {
    let mut head = sweep.json();
    head["files"] = json!(sweep.files());
    head["maquette"] = json!(VERSION);
    head["build"] = json!(build());
    head
}

/// The rows in a journal that begins with `head`, in order, and how long it is without an incomplete last line. [B]
fn finished(path: &Path, content: &[u8], head: &Value, points: usize) -> Result<(Vec<Row>, u64), Error> {
    let wrong = |line: Option<usize>, problem: String| {
        let file = path.display().to_string();
        Error::Text { file, place: line.map(|line| (line, 1)), problem }
    };
    let length = content.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
    if length == 0 && format!("{head}\n").as_bytes().starts_with(content) {
        return Ok((Vec::new(), 0));
    }
    let mut lines = (1..).zip(content[..length].split_inclusive(|&byte| byte == b'\n'));
    let found = lines.next().and_then(|(_, line)| serde_json::from_slice(line).ok());
    if let Some(difference) = difference(found.as_ref(), head) {
        let removal = format!("delete {}, or choose another output", path.display());
        return Err(wrong(None, format!("{difference}; {removal}")));
    }
    let mut rows = BTreeMap::new();
    for (number, line) in lines {
        let row = serde_json::from_slice::<Row>(line).ok().filter(|row| row.point < points);
        let row =
            row.ok_or_else(|| wrong(Some(number), "found no row of this sweep; allowed is one a line".to_owned()))?;
        rows.insert(row.point, row);
    }
    Ok((rows.into_values().collect(), length as u64))
}

/// How the first line that was `found` differs from the `expected` one, if it does.
fn difference(found: Option<&Value>, expected: &Value) -> Option<String> {
    let another = "found the finished points of another sweep; allowed are those of this one, or no such file";
    let Some(found) = found else { return Some(another.to_owned()) };
    if found == expected {
        return None;
    }
    if ["experiment", "over"].iter().any(|part| found[part] != expected[part]) {
        return Some(another.to_owned());
    }
    if ["maquette", "build"].iter().any(|part| found[part] != expected[part]) {
        let version = found["maquette"].as_str().unwrap_or("of an earlier version");
        let built = found["build"].as_str().unwrap_or("an earlier build");
        return Some(format!("maquette {version} ({built}) ran these points, and this is {VERSION} ({})", build()));
    }
    let files = |head: &Value| head["files"].as_array().cloned().unwrap_or_default();
    let (before, after) = (files(found), files(expected));
    let changed: Vec<&str> =
        after.iter().filter(|file| !before.contains(file)).filter_map(|file| file["path"].as_str()).collect();
    let has = if changed.len() == 1 { "has" } else { "have" };
    Some(format!("{} {has} changed since these points were run", changed.join(", ")))
}
