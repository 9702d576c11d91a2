//! The files in which a member keeps its data: logs that grow, are made durable, and are replaced by a snapshot when
//! they have grown large.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

use linear_hash::Growth;
use nix::fcntl::Flock;
use quantities::Duration;

use super::background::{Kept, Task, begin, work};
use super::directory::take_over;
pub use super::files::{Error, Recovered, Torn};
use super::files::{
    cut, keep_names, lock, log, next_log, numbers, recover, remove, remove_next, snapshot, system, unfinished,
};
use super::frame::{FILE_HEADER, file_header};
use super::{Ready, write_snapshot};
use crate::bucket::Bucket;
use crate::member::{Durability, Identity, Member, Peer, Policy, Role};
use crate::parity::data::Position;
use crate::record::Milliseconds;

/// When written data is made durable, so that it survives if the machine loses power. It survives in any case if the
/// process is killed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fsync {
    /// Before anyone is told of it.
    Always,
    /// Within about a second; but before other members are told of a split or a merge: their messages wait, and nothing
    /// else does.
    #[default]
    EverySecond,
    /// When the system chooses.
    Never,
}

impl Fsync {
    /// Its name as a setting of Redis.
    pub const fn name(self) -> &'static str {
        match self {
            Fsync::Always => "always",
            Fsync::EverySecond => "everysec",
            Fsync::Never => "no",
        }
    }
}

/// Where a member keeps its data, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Data {
    /// The directory.
    pub directory: PathBuf,
    /// When written data is made durable.
    pub fsync: Fsync,
    /// A snapshot is made when the logs are as large as the last snapshot, and at least this large. [B]
    pub least_logs: u64,
    /// Whether there is parity of it: then files that a snapshot has made superfluous stay until the parity has let go
    /// of them.
    pub has_parity: bool,
}

impl Data {
    /// The default of `least_logs`. [B]
    pub const LEAST_LOGS: u64 = 64 << 20;
}

/// How often written data is made durable. [ms]
const SECOND: Milliseconds = 1_000;
/// So much is made durable sooner: otherwise a message to another member that must not leave before would wait for all
/// of it, 85 ms with 200 MB on a virtual disk. [B]
pub(crate) const MOST_AT_ONCE: u64 = 16 << 20;
/// A snapshot is nevertheless begun no later than this after it was due. [ms]
const LONGEST_DUE: Milliseconds = 10_000;
/// After a failed snapshot, the next one is made no sooner than after this time. [ms]
const TIME_TO_TRY_AGAIN: Milliseconds = 60_000;

/// A member's files.
#[derive(Debug)]
pub struct Disk {
    data: Data,
    _lock: Flock<File>,
    /// The number of the log that is being written.
    number: u64,
    file: File,
    written: u64,
    /// The logs before it that may not be durable, and neither the name of the one that is being written.
    former: Vec<(u64, File)>,
    kept: Arc<Mutex<Kept>>,
    thread: Sender<Task>,
    /// The last log that the thread was asked to begin.
    asked_next: u64,
    synced: Milliseconds,
    /// How much of the log the thread was last asked to make durable. [B]
    asked: u64,
    /// Messages to other members wait until the logs are durable up to this position.
    urgent: Option<Position>,
    /// Since when a snapshot has been due, if one is.
    due: Option<Milliseconds>,
    /// The size of the logs since the last snapshot, without the one that is being written. [B]
    logs: u64,
    /// The size of the last snapshot. [B]
    snapshot: u64,
    /// When that was finished.
    saved: Option<Milliseconds>,
    saving: Option<io::Result<JoinHandle<Result<u64, Error>>>>,
    /// When the last one failed.
    failed: Option<Milliseconds>,
    /// How often files were added since it was opened.
    added: u64,
}

/// The state of the files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilesState {
    /// Where they are.
    pub directory: PathBuf,
    /// When written data is made durable.
    pub fsync: Fsync,
    /// The size of the logs that were written since the last snapshot. [B]
    pub logs: u64,
    /// The size of that snapshot. [B]
    pub snapshot: u64,
    /// When it was finished; none, if this process has not made one.
    pub saved: Option<Milliseconds>,
    /// Whether a snapshot is being made.
    pub is_saving: bool,
    /// Whether the last attempt to make one failed.
    pub has_failed: bool,
}

impl Disk {
    /// Opens a directory and brings back the member that is kept there. From then on its changes are written to a new
    /// log. Its thread calls `wake` each time it has done something.
    ///
    /// # Errors
    /// [`Error`]: then nothing was changed.
    pub fn open(
        data: Data,
        member: &mut Member<Bucket>,
        wake: impl Fn() + Send + 'static,
    ) -> Result<(Disk, Recovered), Error> {
        let lock = lock(&data.directory)?;
        take_over(&data.directory)?;
        let found = recover(&data.directory, None, member)?;
        remove(&data.directory, &found.superseded)?;
        remove_next(&data.directory)?;
        found.torn.as_ref().map_or(Ok(()), |torn| cut(torn, found.last))?;
        keep_logs(&data.directory)?;
        let number = found.last + 1;
        if !data.has_parity {
            remove_old(&data.directory, None)?;
        }
        let file = begin(&data.directory, number)?;
        let kept = Kept { log: number, bytes: FILE_HEADER as u64, next: None, failure: None };
        let kept = Arc::new(Mutex::new(kept));
        let (thread, tasks) = mpsc::channel();
        let (shared, directory) = (Arc::clone(&kept), data.directory.clone());
        let works = move || work(&directory, &tasks, &shared, wake);
        thread::Builder::new().spawn(works).map_err(system("start a thread for", &data.directory))?;
        let disk = Disk {
            data,
            _lock: lock,
            number,
            file,
            written: FILE_HEADER as u64,
            former: Vec::new(),
            kept,
            thread,
            asked_next: 0,
            synced: 0,
            asked: FILE_HEADER as u64,
            urgent: None,
            due: None,
            logs: found.logs,
            snapshot: found.snapshot,
            saved: None,
            saving: None,
            failed: None,
            added: 0,
        };
        Ok((disk, found))
    }

    fn path(&self) -> PathBuf {
        log(&self.data.directory, self.number)
    }

    fn shared(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How much of the log is durable: nothing, as long as those before it are not. [B]
    pub fn kept(&self) -> u64 {
        self.shared().bytes
    }

    /// Writes a batch, and makes it durable if nobody may be told of it before.
    ///
    /// # Errors
    /// [`Error::System`]: then it is not known what the log holds, and nobody must be told of the batch.
    pub fn append(&mut self, batch: &Ready<'_>) -> Result<(), Error> {
        for piece in batch.frame.iter().filter(|piece| !piece.is_empty()) {
            self.file.write_all(piece).map_err(system("write to", &self.path()))?;
        }
        self.written += batch.frame.len() as u64;
        match self.data.fsync {
            Fsync::Always => self.keep(),
            Fsync::EverySecond => {
                self.urgent = if batch.is_urgent { Some(self.position().0) } else { self.urgent };
                Ok(())
            }
            Fsync::Never => Ok(()),
        }
    }

    /// Messages to other members wait until the logs are durable up to this position; none, if they can leave at once.
    pub const fn urgent(&self) -> Option<Position> {
        self.urgent
    }

    /// Whether the logs are durable up to this position.
    pub fn is_durable(&self, position: Position) -> bool {
        let kept = self.shared();
        // As long as nothing is durable of the log that is being written, those before it may not be either.
        kept.bytes > 0 && (kept.log, kept.bytes) >= position
    }

    /// Makes all that was written durable, and waits for it.
    ///
    /// # Errors
    /// [`Error::System`]
    pub fn keep(&mut self) -> Result<(), Error> {
        let is_named = self.former.is_empty();
        for (number, file) in self.former.drain(..) {
            file.sync_data().map_err(system("sync", &log(&self.data.directory, number)))?;
        }
        if !is_named {
            keep_names(&self.data.directory)?;
        }
        self.file.sync_data().map_err(system("sync", &self.path()))?;
        let mut kept = self.shared();
        (kept.log, kept.bytes) = (self.number, self.written);
        Ok(())
    }

    /// Does what is due, without waiting for it. Another log is begun a little later if there are values of which parts
    /// are in this one. Returns whether another log was begun.
    ///
    /// # Errors
    /// [`Error::System`]: something that was written could not be made durable.
    pub fn poll(&mut self, now: Milliseconds, has_begun_values: bool) -> Result<bool, Error> {
        let (failure, kept) = {
            let mut shared = self.shared();
            (shared.failure.take(), shared.bytes)
        };
        failure.map_or(Ok(()), Err)?;
        if kept > 0 {
            self.former.clear();
        }
        self.urgent = self.urgent.filter(|urgent| !self.is_durable(*urgent));
        let is_much = self.written.saturating_sub(self.asked) >= MOST_AT_ONCE;
        let is_due = is_much || self.urgent.is_some() || now.abs_diff(self.synced) >= SECOND;
        if self.data.fsync == Fsync::EverySecond && is_due {
            self.keep_aside(kept)?;
            self.synced = now;
        }
        let is_over = |saving: &mut io::Result<JoinHandle<_>>| saving.as_ref().map_or(true, JoinHandle::is_finished);
        if let Some(saving) = self.saving.take_if(is_over) {
            match saving.map(JoinHandle::join) {
                Ok(Ok(Ok(bytes))) => {
                    (self.snapshot, self.saved, self.logs, self.failed) = (bytes, Some(now), 0, None);
                    self.added += 1;
                    if self.data.fsync == Fsync::Never {
                        // The snapshot is durable, and holds what they hold.
                        self.former.clear();
                    }
                }
                Ok(Ok(Err(_)) | Err(_)) | Err(_) => self.failed = Some(now),
            }
        }
        let may_save = self.failed.is_none_or(|failed| now.abs_diff(failed) >= TIME_TO_TRY_AGAIN);
        let has_grown = self.logs + self.written > self.data.least_logs.max(self.snapshot);
        let is_due = may_save && self.saving.is_none() && has_grown;
        self.due = self.due.or(Some(now)).filter(|_| is_due);
        let Some(due) = self.due else { return Ok(false) };
        let waits = !self.has_next() || has_begun_values && now.abs_diff(due) < LONGEST_DUE;
        if waits { Ok(false) } else { self.save() }
    }

    /// Asks the thread to make durable what was written, unless it is doing so already.
    fn keep_aside(&mut self, kept: u64) -> Result<(), Error> {
        if kept < self.asked || kept >= self.written {
            return Ok(());
        }
        let file = self.file.try_clone().map_err(system("sync", &self.path()))?;
        self.ask(Task::Keep { log: self.number, file, bytes: self.written });
        self.asked = self.written;
        Ok(())
    }

    /// The thread lives as long as this sender.
    fn ask(&self, task: Task) {
        let _ = self.thread.send(task);
    }

    /// Whether the next log has been begun. If not, the thread is asked to begin it.
    fn has_next(&mut self) -> bool {
        let next = self.number + 1;
        let has_next = self.shared().next.as_ref().is_some_and(|(number, _)| *number == next);
        if !has_next && self.asked_next < next {
            self.asked_next = next;
            self.ask(Task::Begin(next));
        }
        has_next
    }

    /// Goes on to another log, and makes a snapshot of what those before it hold, in a thread of its own. Returns false
    /// if one is being made already.
    ///
    /// # Errors
    /// [`Error::System`]
    pub fn save(&mut self) -> Result<bool, Error> {
        if self.saving.is_some() {
            return Ok(false);
        }
        let (directory, end) = (self.data.directory.clone(), self.number + 1);
        let next = self.shared().next.take().filter(|(number, _)| *number == end);
        let file = match next {
            Some((_, file)) => {
                let (from, to) = (next_log(&directory), log(&directory, end));
                fs::rename(&from, to).map_err(system("rename", &from))?;
                file
            }
            None => begin(&directory, end)?,
        };
        let former = std::mem::replace(&mut self.file, file);
        if self.data.fsync == Fsync::EverySecond {
            let file = former.try_clone().map_err(system("sync", &self.path()))?;
            self.ask(Task::KeepAll { log: self.number, file });
        }
        self.former.push((self.number, former));
        self.logs += self.written;
        (self.number, self.written, self.asked, self.due) = (end, FILE_HEADER as u64, FILE_HEADER as u64, None);
        {
            let mut kept = self.shared();
            (kept.log, kept.bytes) = (end, 0);
        }
        self.added += 1;
        let has_parity = self.data.has_parity;
        let saves = move || {
            let bytes = save_before(&directory, end)?;
            if !has_parity {
                remove_old(&directory, Some(end))?;
            }
            Ok(bytes)
        };
        self.saving = Some(thread::Builder::new().spawn(saves));
        Ok(true)
    }

    /// How far the logs go, and how often files were added since it was opened.
    pub const fn position(&self) -> (Position, u64) {
        ((self.number, self.written), self.added)
    }

    /// Where it keeps its data, and how.
    pub const fn data(&self) -> &Data {
        &self.data
    }

    /// Its state.
    pub fn state(&self) -> FilesState {
        FilesState {
            directory: self.data.directory.clone(),
            fsync: self.data.fsync,
            logs: self.logs + self.written,
            snapshot: self.snapshot,
            saved: self.saved,
            is_saving: self.saving.is_some(),
            has_failed: self.failed.is_some(),
        }
    }
}

/// Makes the logs of earlier processes durable: what stands in the next one may say that they are.
fn keep_logs(directory: &Path) -> Result<(), Error> {
    for number in numbers(directory, "log")? {
        let path = log(directory, number);
        File::open(&path).and_then(|file| file.sync_all()).map_err(system("sync", &path))?;
    }
    Ok(())
}

/// A member that nobody reaches, to be restored.
fn nobody() -> Member<Bucket> {
    let nowhere = SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0));
    let own = Peer { identity: Identity(0), address: nowhere, clients: nowhere, role: Role::Data, life: 0 };
    let growth = Growth { capacity: 1, sensitivity: 1.0, shrink: None, apart: false, most_servers: 1, chunk: 1 };
    let policy = Policy { growth, servers_each: 1, patience: Duration::ZERO, durability: Durability::default() };
    Member::joining(own, policy, |_| Bucket::closed())
}

/// Makes a snapshot of all that the logs before `log.end` hold, by bringing back a second member from them. Returns its
/// size. [B]
fn save_before(directory: &Path, end: u64) -> Result<u64, Error> {
    let mut member = nobody();
    let found = recover(directory, Some(end), &mut member)?;
    let Some(run) = found.run else { return Err(Error::Missing(log(directory, end.saturating_sub(1)))) };
    let path = unfinished(directory);
    let write = |file: File| {
        let mut to = BufWriter::new(&file);
        to.write_all(&file_header(end))?;
        let bytes = write_snapshot(&member, &run, &mut to)? + FILE_HEADER as u64;
        to.flush()?;
        drop(to);
        file.sync_all()?;
        Ok(bytes)
    };
    let bytes = File::create(&path).and_then(write).map_err(system("write to", &path))?;
    fs::rename(&path, snapshot(directory, end)).map_err(system("rename", &path))?;
    keep_names(directory)?;
    Ok(bytes)
}

/// Removes the files made superfluous by the snapshot with this number or, without a number, by the last snapshot.
fn remove_old(directory: &Path, last: Option<u64>) -> Result<(), Error> {
    let snapshots = numbers(directory, "snapshot")?;
    let Some(last) = last.or(snapshots.last().copied()) else { return Ok(()) };
    let logs = numbers(directory, "log")?.into_iter().map(|number| (number, log(directory, number)));
    let over = snapshots.into_iter().map(|number| (number, snapshot(directory, number))).chain(logs);
    for (_, path) in over.filter(|(number, _)| *number < last) {
        fs::remove_file(&path).map_err(system("remove", &path))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use super::*;
    use crate::journal::Journal;
    use crate::journal::batch::OfMember;
    use crate::member::Recorder;

    /// A disk in a directory of its own, and what its thread has done.
    fn disk(fsync: Fsync, name: &str) -> (Disk, mpsc::Receiver<()>) {
        let directory = std::env::temp_dir().join(format!("maquette-disk-{name}-{}", std::process::id()));
        let (sender, woken) = mpsc::channel();
        let data = Data { directory, fsync, least_logs: Data::LEAST_LOGS, has_parity: false };
        let wake = move || {
            let _ = sender.send(());
        };
        (Disk::open(data, &mut nobody(), wake).unwrap().0, woken)
    }

    /// Appends a batch that other members must not be told of before it is durable.
    fn append_urgent(disk: &mut Disk) {
        let journal = Journal::default();
        let mut recorder = OfMember(Rc::clone(&journal));
        recorder.is_acknowledged(Identity(1), 7);
        recorder.sends_sequenced();
        let mut batch = journal.borrow_mut();
        disk.append(&batch.close(0, disk.kept()).unwrap()).unwrap();
    }

    #[test]
    fn what_is_urgent_is_made_durable_aside_and_tells_when_it_is() {
        let (mut disk, woken) = disk(Fsync::EverySecond, "urgent");
        assert_eq!(disk.urgent(), None);
        append_urgent(&mut disk);
        let urgent = disk.urgent().expect("messages wait");
        assert_eq!(urgent, disk.position().0);
        assert!(!disk.is_durable(urgent), "nobody has waited for it");
        disk.poll(0, false).unwrap();
        while !disk.is_durable(urgent) {
            woken.recv_timeout(std::time::Duration::from_secs(60)).unwrap();
        }
        disk.poll(0, false).unwrap();
        assert_eq!(disk.urgent(), None);
        fs::remove_dir_all(&disk.data().directory).unwrap();
    }

    #[test]
    fn nobody_waits_where_all_is_durable_before_or_nothing_ever_is() {
        for (fsync, name, is_durable) in [(Fsync::Always, "always", true), (Fsync::Never, "never", false)] {
            let (mut disk, _woken) = disk(fsync, name);
            append_urgent(&mut disk);
            assert_eq!((disk.urgent(), disk.is_durable(disk.position().0)), (None, is_durable), "{name}");
            fs::remove_dir_all(&disk.data().directory).unwrap();
        }
    }
}
