//! Files that a command reads: up to a limit, and never one that it also writes.

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use quantities::{BoundedFile, Bytes};
use serde::Serialize;

use crate::interrupt;
use crate::output::files;

/// The content of the file `path`, of at most `most`. Anything other than a plain file, such as a pipe without a
/// writer, may keep a reader waiting for ever; the wait ends when the process is asked to end.
///
/// # Errors
/// When it cannot be read, is longer than `most`, or is written by the same command; of the kind
/// [`io::ErrorKind::Other`] when the process was asked to end.
pub fn read(path: &Path, most: Bytes) -> io::Result<Vec<u8>> {
    files::reads(path)?;
    if path.is_file() {
        return quantities::read_at_most(path, most);
    }
    let path: PathBuf = path.to_path_buf();
    interrupt::unless_requested(move || quantities::read_at_most(&path, most))
        .unwrap_or_else(|| Err(io::Error::other("interrupted")))
}

/// The file `path`, of at most `most`, to be read piece by piece. Anything other than a plain file is read whole, as
/// [`read`] does.
///
/// # Errors
/// As [`read`]; a file longer than `most` fails only once that much has been read.
pub fn open(path: &Path, most: Bytes) -> io::Result<Box<dyn io::Read + Send>> {
    if !path.is_file() {
        return Ok(Box::new(io::Cursor::new(read(path, most)?)));
    }
    files::reads(path)?;
    Ok(Box::new(BoundedFile::open(path, most)?))
}

/// The text of the file `path`, of at most `most`.
///
/// # Errors
/// As [`read`], and when it is not text.
pub fn read_text(path: &Path, most: Bytes) -> io::Result<String> {
    let not_text = |_| io::Error::new(io::ErrorKind::InvalidData, "it is not text in UTF-8");
    String::from_utf8(read(path, most)?).map_err(not_text)
}

/// How many hexadecimal digits of a digest are shown to people.
const SHOWN: usize = 16;

/// A file that was read, with the BLAKE3 digest of its content.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct InputFile {
    path: String,
    blake3: String,
}

impl InputFile {
    /// The file `path`, whose content was `content`.
    pub fn new(path: &Path, content: &[u8]) -> InputFile {
        InputFile { path: path.display().to_string(), blake3: blake3::hash(content).to_hex().to_string() }
    }

    /// The file `path`, all of which has been read through `content`.
    pub fn digested<R>(path: &Path, content: &DigestingReader<R>) -> InputFile {
        InputFile { path: path.display().to_string(), blake3: content.hasher.finalize().to_hex().to_string() }
    }

    /// The folder `path`, from which `files` were read, in this order: its digest is the digest of theirs.
    pub fn of_files(path: &Path, files: &[InputFile]) -> InputFile {
        let digests: String = files.iter().map(|file| file.blake3.as_str()).collect();
        InputFile::new(path, digests.as_bytes())
    }

    /// The file `path`, whose content had the digest `blake3`.
    pub fn known(path: &str, blake3: &str) -> InputFile {
        InputFile { path: path.to_owned(), blake3: blake3.to_owned() }
    }

    /// The digest of its content, in hexadecimal.
    pub fn blake3(&self) -> &str {
        &self.blake3
    }

    /// Its name and the beginning of its digest, for people.
    pub fn label(&self) -> String {
        format!("{} blake3 {}", self.path, self.blake3.get(..SHOWN).unwrap_or_default())
    }
}

/// A reader that takes the digest of what is read through it.
#[derive(Debug)]
pub struct DigestingReader<R> {
    content: R,
    hasher: blake3::Hasher,
}

impl<R> DigestingReader<R> {
    /// Wraps `content`, of which nothing has been read yet.
    pub fn new(content: R) -> DigestingReader<R> {
        DigestingReader { content, hasher: blake3::Hasher::new() }
    }
}

impl<R: Read> Read for DigestingReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.content.read(buffer)?;
        self.hasher.update(&buffer[..read]);
        Ok(read)
    }
}
