//! The keys that a table is built of: Dutch words, lines of a file, or random words.

use std::io;
use std::path::{Path, PathBuf};

use clap::Args;
use programs::linear_hash::{Key, random_words};
use quantities::Bytes;

use crate::failure::Failure;
use formats::input;
use formats::input::InputFile;
use studies::words;

/// The largest file that is read. [B]
const LARGEST_FILE: u64 = 1 << 30;
/// The longest key. [B]
const LONGEST: usize = 4_096;
/// The most random keys.
const MOST_RANDOM: i64 = 10_000_000;

/// What is inserted: if nothing else is asked for, the 180,689 Dutch words of OpenTaal's list.
#[derive(Args, Clone, Debug)]
#[group(multiple = false)]
pub(super) struct Keys {
    /// Insert the lines of a file, each a key, in their order; if left out, the 180,689 Dutch words of OpenTaal's list.
    #[arg(long, value_name = "FILE")]
    keys: Option<PathBuf>,
    /// Insert N random words, none twice.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=MOST_RANDOM))]
    random_keys: Option<u32>,
}

/// Keys, and where they are from.
pub(super) struct Words {
    pub(super) words: Vec<Key>,
    pub(super) source: String,
    /// The file that they are from, if they are from one.
    pub(super) file: Option<InputFile>,
    /// Whether they follow from the seed.
    pub(super) are_random: bool,
}

impl Keys {
    pub(super) fn get(&self, seed: u64) -> Result<Words, Failure> {
        let built_in = |words, source| Words { words, source, file: None, are_random: self.random_keys.is_some() };
        match (&self.keys, self.random_keys) {
            (Some(path), _) => {
                let (words, file) = read(path)?;
                Ok(Words { words, source: path.display().to_string(), file: Some(file), are_random: false })
            }
            (None, Some(count)) => Ok(built_in(random_words(count, seed), format!("{count} random"))),
            (None, None) => Ok(built_in(words::dutch(), "Dutch".to_string())),
        }
    }
}

/// Reads one key a line; lines without anything are none.
fn read(path: &Path) -> Result<(Vec<Key>, InputFile), Failure> {
    let shown = path.display();
    let text = input::read(path, Bytes(LARGEST_FILE)).map_err(|cause| match cause.kind() {
        io::ErrorKind::FileTooLarge => {
            let found = format!("{shown}, a file of more than {}", Bytes(LARGEST_FILE));
            Failure::argument("--keys", found, "at most that")
        }
        _ => Failure::Unreadable { path: path.to_path_buf(), cause },
    })?;
    let mut keys = Vec::new();
    for (number, line) in (1..).zip(text.split(|&byte| byte == b'\n')) {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if line.len() > LONGEST {
            let found = format!("a key of {} B at {shown}:{number}", line.len());
            return Err(Failure::argument("--keys", found, format!("at most {LONGEST} B")));
        }
        if !line.is_empty() {
            keys.push(Key::from(line));
        }
    }
    if keys.is_empty() {
        return Err(Failure::argument("--keys", format!("no key in {shown}"), "a file with a key on each line"));
    }
    Ok((keys, InputFile::new(path, &text)))
}
