//! What a thread of its own does for a member's files, since the disk may take milliseconds for it: it makes logs
//! durable, and begins the next one before it is needed.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::sync::mpsc::Receiver;
use std::sync::{Mutex, PoisonError};

use super::files::{Error, keep_names, log, next_log, system};
use super::frame::{FILE_HEADER, file_header};

/// What the thread of a disk has done.
#[derive(Debug)]
pub(super) struct Kept {
    /// The log that is being written.
    pub(super) log: u64,
    /// How much of it is durable: nothing, as long as those before it are not. [B]
    pub(super) bytes: u64,
    /// The next log, if it has been begun.
    pub(super) next: Option<(u64, File)>,
    /// Why something that was asked for was not done.
    pub(super) failure: Option<Error>,
}

/// What the thread of a disk is to do.
#[derive(Debug)]
pub(super) enum Task {
    /// Make so much of a log durable.
    Keep { log: u64, file: File, bytes: u64 },
    /// Make all of a log durable to which nothing more is written, and the name of the one after it.
    KeepAll { log: u64, file: File },
    /// Begin this log, under another name.
    Begin(u64),
}

/// Does one task after another, until all senders are gone, and calls `wake` after each.
pub(super) fn work(directory: &Path, tasks: &Receiver<Task>, kept: &Mutex<Kept>, wake: impl Fn()) {
    let sync = |file: &File, number| file.sync_data().map_err(system("sync", &log(directory, number)));
    for task in tasks {
        let (outcome, next) = match &task {
            Task::Keep { log, file, .. } => (sync(file, *log), None),
            Task::KeepAll { log, file } => (sync(file, *log).and_then(|()| keep_names(directory)), None),
            Task::Begin(number) => match begin_at(&next_log(directory), *number, OpenOptions::new().create(true)) {
                Ok(file) => (Ok(()), Some((*number, file))),
                Err(error) => (Err(error), None),
            },
        };
        let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.next = next.or(kept.next.take());
        match (outcome, task) {
            (Err(error), _) => kept.failure = Some(error),
            (Ok(()), Task::Keep { log, bytes, .. }) if kept.log == log => kept.bytes = kept.bytes.max(bytes),
            (Ok(()), Task::KeepAll { log, .. }) if kept.log == log + 1 => {
                kept.bytes = kept.bytes.max(FILE_HEADER as u64)
            }
            (Ok(()), _) => {}
        }
        drop(kept);
        wake();
    }
}

/// Begins a log, which must not exist yet.
pub(super) fn begin(directory: &Path, number: u64) -> Result<File, Error> {
    let file = begin_at(&log(directory, number), number, OpenOptions::new().create_new(true))?;
    keep_names(directory)?;
    Ok(file)
}

/// Begins a log in a file with this path.
fn begin_at(path: &Path, number: u64, options: &mut OpenOptions) -> Result<File, Error> {
    let mut file = options.append(true).open(path).map_err(system("make", path))?;
    let begun = file.set_len(0).and_then(|()| file.write_all(&file_header(number))).and_then(|()| file.sync_all());
    begun.map_err(system("write to", path))?;
    Ok(file)
}
