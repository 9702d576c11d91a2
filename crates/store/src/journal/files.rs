//! The files of a member's directory, and how a member is read from them.
//!
//! | file | holds |
//! |---|---|
//! | `lock` | nothing: the process that holds a lock on it uses the directory |
//! | `log.N` | the changes from when it was begun until `log.N+1` was |
//! | `log.next` | nothing yet: it is to become the next log |
//! | `snapshot.N` | all that there was when `log.N` was begun; files with smaller numbers are superfluous then |

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use nix::fcntl::{Flock, FlockArg};

use super::frame::{FILE_HEADER, Frames, HeaderError, Next, check_file_header, file_header, was_kept};
use super::{Replay, Run, Unreadable};
use crate::bucket::Bucket;
use crate::member::Member;

/// How much is read from a file at a time. [B]
const READ: usize = 1 << 18;

/// Why something can't be kept, or can't be read back.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The system refuses something.
    #[error("can't {what} `{}`: {cause}", .path.display())]
    System {
        /// What it was to do.
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// The system's error.
        cause: io::Error,
    },
    /// The path is that of something other than a directory.
    #[error("`{}` is not a directory; allowed is a directory, which is made if it does not exist", .0.display())]
    NotADirectory(PathBuf),
    /// Another process uses the directory.
    #[error("`{}` is in use by another store", .0.display())]
    InUse(PathBuf),
    /// The header of a file is wrong.
    #[error("can't read `{}`: {cause}", .path.display())]
    Header {
        /// The file.
        path: PathBuf,
        /// Why not.
        cause: HeaderError,
    },
    /// A file is damaged in a part that was whole before.
    #[error("`{}` is damaged at byte {at}; nothing was changed", .path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The offset. [B]
        at: u64,
    },
    /// A file holds something that a store can't have written.
    #[error("`{}`, byte {at}: {cause}; nothing was changed", .path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The offset. [B]
        at: u64,
        /// What is wrong.
        cause: Unreadable,
    },
    /// A file is missing.
    #[error("`{}` is missing, though there is a later file; nothing was changed", .0.display())]
    Missing(PathBuf),
    /// The member was never admitted by another one, and no member is named that it could ask.
    #[error("the store in `{}` was never admitted to its pool; name a member of the pool with --join", .0.display())]
    NotWelcome(PathBuf),
    /// The member has left its pool.
    #[error("the store in `{}` has left its pool; use an empty directory to join a pool again", .0.display())]
    Left(PathBuf),
    /// Something to be kept can't be encoded.
    #[error("an entry of the log can't be encoded")]
    Unwritable,
}

pub(super) fn system(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Error {
    let path = path.to_owned();
    move |cause| Error::System { what, path, cause }
}

/// What is cut off at the end of the logs: what was being written when the process or the machine ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Torn {
    /// The file.
    pub path: PathBuf,
    /// The offset of the cut. [B]
    pub at: u64,
    /// How much is cut off, together with what later logs hold. [B]
    pub bytes: u64,
}

/// What was found in a directory.
#[derive(Debug, Default)]
pub struct Recovered {
    /// The last run; none, if there was none.
    pub run: Option<Run>,
    /// The number of the last log.
    pub last: u64,
    /// The size of all logs since the last snapshot. [B]
    pub logs: u64,
    /// The size of that snapshot. [B]
    pub snapshot: u64,
    /// The end of the last log, if it was not whole.
    pub torn: Option<Torn>,
    /// Later logs, of which nothing was durable when that one ended: they are to be removed before its end is cut off.
    pub superseded: Vec<u64>,
}

pub(super) fn log(directory: &Path, number: u64) -> PathBuf {
    directory.join(format!("log.{number}"))
}

pub(super) fn snapshot(directory: &Path, number: u64) -> PathBuf {
    directory.join(format!("snapshot.{number}"))
}

/// A log that has been begun before it is needed.
pub(super) fn next_log(directory: &Path) -> PathBuf {
    directory.join("log.next")
}

/// A snapshot that is being written.
pub(super) fn unfinished(directory: &Path) -> PathBuf {
    directory.join("snapshot.unfinished")
}

/// Makes the directory, if it does not exist, and locks it.
pub(super) fn lock(directory: &Path) -> Result<Flock<File>, Error> {
    fs::create_dir_all(directory).map_err(|cause| match cause.kind() {
        io::ErrorKind::AlreadyExists => Error::NotADirectory(directory.to_owned()),
        _ => system("make", directory)(cause),
    })?;
    let path = directory.join("lock");
    let file = OpenOptions::new().create(true).truncate(false).write(true).open(&path);
    let file = file.map_err(system("open", &path))?;
    Flock::lock(file, FlockArg::LockExclusiveNonblock).map_err(|(_, refusal)| match refusal {
        nix::errno::Errno::EWOULDBLOCK => Error::InUse(directory.to_owned()),
        refusal => system("lock", &path)(refusal.into()),
    })
}

/// Makes the names of the files in a directory durable.
pub(super) fn keep_names(directory: &Path) -> Result<(), Error> {
    File::open(directory).and_then(|opened| opened.sync_all()).map_err(system("sync", directory))
}

/// The numbers of files of a kind, in order.
pub(super) fn numbers(directory: &Path, kind: &str) -> Result<Vec<u64>, Error> {
    let mut numbers = Vec::new();
    for entry in fs::read_dir(directory).map_err(system("read", directory))? {
        let name = entry.map_err(system("read", directory))?.file_name();
        let number: Option<u64> =
            name.to_str().and_then(|name| name.strip_prefix(kind)?.strip_prefix('.')?.parse().ok());
        numbers.extend(number);
    }
    numbers.sort_unstable();
    Ok(numbers)
}

/// Brings a member back from the last snapshot and the logs after it; if `end` is given, only from logs before
/// `log.end`, which must be whole.
pub(super) fn recover(directory: &Path, end: Option<u64>, member: &mut Member<Bucket>) -> Result<Recovered, Error> {
    let first = numbers(directory, "snapshot")?.last().copied();
    let logs: Vec<u64> = numbers(directory, "log")?.into_iter().filter(|log| *log >= first.unwrap_or(0)).collect();
    let last = end.map_or_else(|| logs.last().copied(), |end| end.checked_sub(1));
    let (mut replay, mut found) = (Replay::new(member), Recovered::default());
    if let Some(first) = first {
        let path = snapshot(directory, first);
        let read = read(&path, first, &mut replay)?;
        if read.is_torn || !replay.is_ended() {
            return Err(Error::Damaged { path, at: read.at });
        }
        found.snapshot = read.length;
    }
    for number in first.unwrap_or(1)..=last.unwrap_or(0) {
        let path = log(directory, number);
        if !logs.contains(&number) {
            return Err(Error::Missing(path));
        }
        let read = read(&path, number, &mut replay)?;
        (found.last, found.logs) = (number, found.logs + read.at);
        if read.is_torn {
            let later: Vec<u64> = logs.iter().copied().filter(|later| *later > number).collect();
            let lost = lost_with(directory, &later)?.filter(|_| end.is_none());
            let Some(lost) = lost else { return Err(Error::Damaged { path, at: read.at }) };
            (found.torn, found.superseded) =
                (Some(Torn { path, at: read.at, bytes: read.length - read.at + lost }), later);
            break;
        }
    }
    if let (None, Some(first)) = (last, first) {
        return Err(Error::Missing(log(directory, first)));
    }
    found.run = replay.run().cloned();
    Ok(found)
}

/// How much logs hold that come after a torn one; nothing if they say that it was durable. [B]
fn lost_with(directory: &Path, later: &[u64]) -> Result<Option<u64>, Error> {
    let mut bytes = 0;
    for number in later {
        let path = log(directory, *number);
        let content = fs::read(&path).map_err(system("read", &path))?;
        if was_kept(&content, 0) {
            return Ok(None);
        }
        bytes += content.len() as u64;
    }
    Ok(Some(bytes))
}

/// Removes logs, the last one first, for good.
pub(super) fn remove(directory: &Path, logs: &[u64]) -> Result<(), Error> {
    for number in logs.iter().rev() {
        let path = log(directory, *number);
        fs::remove_file(&path).map_err(system("remove", &path))?;
        keep_names(directory)?;
    }
    Ok(())
}

/// Removes the log that an earlier process had begun and did not need.
pub(super) fn remove_next(directory: &Path) -> Result<(), Error> {
    let path = next_log(directory);
    match fs::remove_file(&path) {
        Err(cause) if cause.kind() != io::ErrorKind::NotFound => Err(system("remove", &path)(cause)),
        _ => Ok(()),
    }
}

/// How far a file was read.
struct Extent {
    at: u64,
    length: u64,
    is_torn: bool,
}

/// Reads a file into a member.
fn read(path: &Path, number: u64, replay: &mut Replay<'_>) -> Result<Extent, Error> {
    let mut file = File::open(path).map_err(system("open", path))?;
    let length = file.metadata().map_err(system("read", path))?.len();
    let mut header = [0; FILE_HEADER];
    let is_begun = length >= FILE_HEADER as u64;
    if is_begun {
        file.read_exact(&mut header).map_err(system("read", path))?;
    }
    if header.iter().all(|&byte| byte == 0) {
        // The file was just being begun.
        return Ok(Extent { at: 0, length, is_torn: true });
    }
    check_file_header(&header, number).map_err(|cause| Error::Header { path: path.to_owned(), cause })?;
    replay.begin_file();
    let mut frames = Frames::new(BufReader::with_capacity(READ, &file), FILE_HEADER as u64, length);
    let is_torn = loop {
        let at = frames.at();
        match frames.next_frame().map_err(system("read", path))? {
            Next::End => break false,
            Next::Broken => break true,
            Next::Frame => {
                let outcome = replay.batch(&frames.content);
                outcome.map_err(|cause| Error::Unreadable { path: path.to_owned(), at, cause })?;
            }
        }
    };
    let at = frames.at();
    if is_torn && is_damaged(&mut file, at).map_err(system("read", path))? {
        return Err(Error::Damaged { path: path.to_owned(), at });
    }
    Ok(Extent { at, length, is_torn })
}

/// Whether the broken part had been durable.
fn is_damaged(file: &mut File, at: u64) -> io::Result<bool> {
    let mut rest = Vec::new();
    file.seek(SeekFrom::Start(at))?;
    file.read_to_end(&mut rest)?;
    Ok(was_kept(&rest, at))
}

/// Cuts off the end of the last log, which was not whole; if nothing of it was whole, its header is written anew.
pub(super) fn cut(torn: &Torn, number: u64) -> Result<(), Error> {
    let mut file = OpenOptions::new().write(true).open(&torn.path).map_err(system("open", &torn.path))?;
    let header = if torn.at == 0 { file_header(number) } else { Vec::new() };
    let cut = file.set_len(torn.at).and_then(|()| file.write_all(&header)).and_then(|()| file.sync_all());
    cut.map_err(system("cut", &torn.path))
}
