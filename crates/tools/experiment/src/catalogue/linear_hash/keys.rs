//! The keys that a table is built of: Dutch words, lines of a file, or random words.

use std::io;
use std::path::Path;

use formats::input::{self, InputFile};
use linear_hash::{Key, random_words};
use quantities::Bytes;

use crate::{Error, words};

/// The largest file that is read. [B]
const LARGEST_FILE: u64 = 1 << 30;
/// The longest key. [B]
const LONGEST: usize = 4_096;

/// Keys, and where they are from.
pub(super) struct Words {
    pub(super) words: Vec<Key>,
    pub(super) source: String,
    /// The file that they are from, if they are from one.
    pub(super) file: Option<InputFile>,
    /// Whether they follow from the seed.
    pub(super) are_random: bool,
}

impl Words {
    /// Those of the file `path`, so many random ones, or, where neither is asked for, Dutch ones.
    ///
    /// # Errors
    /// Both being asked for; a file that can't be read, or has no keys.
    pub(super) fn get(path: Option<&Path>, random: Option<u32>, seed: u64) -> Result<Words, Error> {
        match (path, random) {
            (Some(_), Some(count)) => Err(Error::parameter("random_keys", count, "none beside a file of keys")),
            (Some(path), None) => {
                let (words, file) = read(path)?;
                Ok(Words { words, source: path.display().to_string(), file: Some(file), are_random: false })
            }
            (None, Some(count)) => {
                let (words, source) = (random_words(count, seed), format!("{count} random"));
                Ok(Words { words, source, file: None, are_random: true })
            }
            (None, None) => {
                Ok(Words { words: words::dutch(), source: "Dutch".to_string(), file: None, are_random: false })
            }
        }
    }
}

/// Reads one key a line; lines without anything are none.
fn read(path: &Path) -> Result<(Vec<Key>, InputFile), Error> {
    let shown = path.display();
    let text = input::read(path, Bytes(LARGEST_FILE)).map_err(|cause| match cause.kind() {
        io::ErrorKind::FileTooLarge => {
            let found = format!("{shown}, a file of more than {}", Bytes(LARGEST_FILE));
            Error::parameter("keys", found, "at most that")
        }
        _ => Error::Unreadable { path: path.to_path_buf(), cause },
    })?;
    let mut keys = Vec::new();
    for (number, line) in (1..).zip(text.split(|&byte| byte == b'\n')) {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if line.len() > LONGEST {
            let found = format!("a key of {} B at {shown}:{number}", line.len());
            return Err(Error::parameter("keys", found, format!("at most {LONGEST} B")));
        }
        if !line.is_empty() {
            keys.push(Key::from(line));
        }
    }
    if keys.is_empty() {
        return Err(Error::parameter("keys", format!("no key in {shown}"), "a file with a key on each line"));
    }
    Ok((keys, InputFile::new(path, &text)))
}
