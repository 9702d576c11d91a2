//! Files that a command reads: up to a bound, and never one that it also writes.

use std::io;
use std::path::{Path, PathBuf};

use quantities::Bytes;
use serde::Serialize;

use crate::interrupt;
use crate::output::files;

/// All of the file `path`, of at most `most`. What is no plain file, such as a pipe with nobody at its other end, may keep a
/// reader waiting for ever: that ends when the process is asked to end.
///
/// # Errors
/// That it cannot be read, is longer than `most`, or is written by the same command; of the kind
/// [`io::ErrorKind::Other`] that the process was asked to end.
pub fn read(path: &Path, most: Bytes) -> io::Result<Vec<u8>> {
    files::reads(path)?;
    if path.is_file() {
        return quantities::read_at_most(path, most);
    }
    let path: PathBuf = path.to_path_buf();
    interrupt::unless_requested(move || quantities::read_at_most(&path, most))
        .unwrap_or_else(|| Err(io::Error::other("interrupted")))
}

/// The text of the file `path`, of at most `most`.
///
/// # Errors
/// As [`read`], and that it is not text.
pub fn read_text(path: &Path, most: Bytes) -> io::Result<String> {
    let not_text = |_| io::Error::new(io::ErrorKind::InvalidData, "it is not text in UTF-8");
    String::from_utf8(read(path, most)?).map_err(not_text)
}

/// As many hexadecimal digits of a digest are shown to a person.
const SHOWN: usize = 16;

/// A file that was read, with the BLAKE3 digest of what was in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct InputFile {
    path: String,
    blake3: String,
}

impl InputFile {
    /// The file `path`, in which `content` was found.
    pub fn new(path: &Path, content: &[u8]) -> InputFile {
        InputFile { path: path.display().to_string(), blake3: blake3::hash(content).to_hex().to_string() }
    }

    /// The file `path`, in which there was what has the digest `blake3`.
    pub fn known(path: &str, blake3: &str) -> InputFile {
        InputFile { path: path.to_owned(), blake3: blake3.to_owned() }
    }

    /// Its name and the beginning of its digest, for people.
    pub fn in_words(&self) -> String {
        format!("{} blake3 {}", self.path, self.blake3.get(..SHOWN).unwrap_or_default())
    }
}
