//! Files that a command reads: up to a bound, and never one that it also writes.

use std::io;
use std::path::{Path, PathBuf};

use quantities::{AtMost, Bytes};

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

/// The file `path`, of at most `most`, to be read piece by piece. What is no plain file is read at once, as [`read`] does.
///
/// # Errors
/// As [`read`]; that it is longer than `most` shows when it is read so far.
pub fn open(path: &Path, most: Bytes) -> io::Result<Box<dyn io::Read + Send>> {
    if !path.is_file() {
        return Ok(Box::new(io::Cursor::new(read(path, most)?)));
    }
    files::reads(path)?;
    Ok(Box::new(AtMost::open(path, most)?))
}

/// The text of the file `path`, of at most `most`.
///
/// # Errors
/// As [`read`], and that it is not text.
pub fn read_text(path: &Path, most: Bytes) -> io::Result<String> {
    let not_text = |_| io::Error::new(io::ErrorKind::InvalidData, "it is not text in UTF-8");
    String::from_utf8(read(path, most)?).map_err(not_text)
}
