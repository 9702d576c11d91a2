//! A receiver's folder: pieces are written while the network continues, and files are put in place when they are
//! complete.

use std::fs::{self, DirBuilder};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};

use bytes::Bytes;
use nix::sys::statvfs::statvfs;
use quantities::Bytes as Size;

use super::FileError;
use super::target;
use super::unfinished::Unfinished;
use super::writing::{Shared, WriterTask, Writing, lock};
use crate::lobby::Token;
use crate::manifest::{Id, Manifest};
use crate::names::UNFINISHED;
use crate::round::{Digest, Store};

/// How many pieces may wait for the disk.
const BEHIND: usize = 4;

/// What a receiver accepts.
#[derive(Clone, Debug, Default)]
pub struct Wishes {
    /// Whether existing files are replaced.
    pub overwrite: bool,
    /// Nothing larger is received.
    pub max_size: Option<Size>,
    /// Whether everything must be on disk before it counts as received.
    pub sync: bool,
}

/// A folder into which files are received.
#[derive(Debug)]
pub struct Folder {
    into: PathBuf,
    wishes: Wishes,
    transfer: Option<Transfer>,
    /// What was received last, and is in place.
    finished: Option<Manifest>,
}

/// A transfer on its way into the folder.
#[derive(Debug)]
struct Transfer {
    id: Id,
    unfinished: Unfinished,
    /// What is received, once known, and the thread that writes it.
    opened: Option<Manifest>,
    writer: Option<Writer>,
    shared: Arc<Mutex<Shared>>,
}

/// The thread that writes.
#[derive(Debug)]
struct Writer {
    give: SyncSender<WriterTask>,
    thread: JoinHandle<()>,
    /// Whether it was asked to put the files in place.
    asked: bool,
}

impl Folder {
    /// The folder `into`, which is created if it does not exist.
    ///
    /// # Errors
    /// [`FileError`] when it is not a folder, or not writable.
    pub fn new(into: &Path, wishes: Wishes) -> Result<Folder, FileError> {
        if fs::metadata(into).is_ok_and(|there| !there.is_dir()) {
            return Err(FileError::new(into, "it is not a folder"));
        }
        fs::create_dir_all(into).map_err(FileError::io(into))?;
        // Only trying tells: permissions are not the only obstacle, and do not apply to everybody.
        let attempt = into.join(format!("{UNFINISHED}{}", std::process::id()));
        let attempted = DirBuilder::new().mode(0o700).create(&attempt);
        attempted
            .and_then(|()| fs::remove_dir(&attempt))
            .map_err(|error| FileError::new(into, format!("nothing can be written in it: {error}")))?;
        Ok(Folder { into: into.to_path_buf(), wishes, transfer: None, finished: None })
    }

    /// Prepares for a transfer, looking for what an earlier run received. Returns the identity of the receiver, `fresh`
    /// if nothing was received before, and how many bytes there are already.
    ///
    /// # Errors
    /// [`FileError`] when nothing can be written there, or another receiver is using it.
    pub fn prepare(&mut self, id: Id, fresh: Token) -> Result<(Token, Size), FileError> {
        self.leave();
        let unfinished = Unfinished::open(&self.into, id, fresh)?;
        let known = unfinished.read(id);
        let member = unfinished.member;
        let size = known.as_ref().map_or(0, |(manifest, has)| present(manifest, has));
        let has = known.map(|(_, has)| has).unwrap_or_default();
        let shared = Arc::new(Mutex::new(Shared { has, ..Shared::default() }));
        self.transfer = Some(Transfer { id, unfinished, opened: None, writer: None, shared });
        Ok((member, Size(size)))
    }

    /// What was received last, once.
    pub const fn take_finished(&mut self) -> Option<Manifest> {
        self.finished.take()
    }

    /// Leaves the transfer: what was received stays, to be resumed; if nothing was, nothing stays.
    pub fn leave(&mut self) {
        let Some(mut transfer) = self.transfer.take() else { return };
        transfer.stop();
        let is_empty = lock(&transfer.shared).has.iter().all(Option::is_none);
        if is_empty {
            // It is useless; if it stays, it does no harm.
            let _ = transfer.unfinished.remove();
        }
    }

    fn check(&self, manifest: &Manifest) -> Result<(), String> {
        let size = manifest.size();
        let has = self.transfer.as_ref().map_or(0, |transfer| present(manifest, &lock(&transfer.shared).has));
        if let Some(most) = self.wishes.max_size.filter(|most| size > *most) {
            return Err(format!("{size}: --max-size allows {most}"));
        }
        let free = statvfs(&self.into).map(|it| it.blocks_available().saturating_mul(it.fragment_size()));
        let free = free.map_err(|error| FileError::new(&self.into, error).to_string())?;
        if size.0.saturating_sub(has) > free {
            return Err(format!("{size}: only {} are free", Size(free)));
        }
        target::check(manifest, &self.into, self.wishes.overwrite).map_err(|error| error.to_string())
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        self.leave();
    }
}

/// How many bytes of `manifest` are in the pieces already received. [B]
fn present(manifest: &Manifest, has: &[Option<Digest>]) -> u64 {
    let present = (0..).zip(has).filter(|(_, digest)| digest.is_some());
    present.map(|(index, _)| manifest.length(index) as u64).sum()
}

impl Transfer {
    /// Starts a thread that writes.
    fn begin(&mut self, manifest: &Manifest, into: &Path, wishes: &Wishes) -> Result<(), FileError> {
        lock(&self.shared).has.resize(manifest.pieces() as usize, None);
        self.unfinished.begin(manifest)?;
        let record = self.unfinished.record(&lock(&self.shared).has)?;
        let writing = Writing::new(manifest, into, wishes, &self.unfinished, record, self.shared.clone());
        let (give, work) = sync_channel(BEHIND);
        let thread = thread::Builder::new().spawn(move || writing.run(&work)).map_err(FileError::io(into))?;
        self.opened = Some(manifest.clone());
        self.writer = Some(Writer { give, thread, asked: false });
        Ok(())
    }

    /// Waits until everything received has been written.
    fn stop(&mut self) {
        if let Some(Writer { give, thread, .. }) = self.writer.take() {
            drop(give);
            // Its failure is recorded in the shared state.
            let _ = thread.join();
        }
    }
}

impl Store for Folder {
    fn open(&mut self, manifest: &Manifest) -> Result<Vec<(u32, Digest)>, String> {
        let transfer = self.transfer.as_ref().ok_or("nothing was announced")?;
        if transfer.id != manifest.id() {
            return Err("it is not what was announced".to_string());
        }
        if transfer.opened.is_none() {
            self.check(manifest)?;
            let transfer = self.transfer.as_mut().ok_or("nothing was announced")?;
            transfer.begin(manifest, &self.into, &self.wishes).map_err(|error| error.to_string())?;
        }
        let shared = self.transfer.as_ref().map(|transfer| lock(&transfer.shared));
        let has = shared.iter().flat_map(|shared| (0..).zip(&shared.has));
        Ok(has.filter_map(|(index, digest)| Some((index, (*digest)?))).collect())
    }

    fn has_room(&mut self) -> Result<bool, String> {
        let Some(transfer) = &self.transfer else { return Err("nothing was announced".to_string()) };
        let shared = lock(&transfer.shared);
        shared.failed.clone().map_or(Ok(shared.waiting < BEHIND), Err)
    }

    fn put(&mut self, index: u32, digest: Digest, content: Bytes) -> bool {
        let Some(Transfer { writer: Some(Writer { give, .. }), shared, .. }) = &self.transfer else { return false };
        let mut now = lock(shared);
        let known = now.has.get(index as usize).copied().unwrap_or(Some(digest));
        let is_new = known.is_none_or(|known| known != digest);
        if is_new {
            now.waiting += 1;
            drop(now);
            if give.send(WriterTask::Piece(index, digest, content)).is_err() {
                lock(shared).waiting -= 1;
            }
        }
        is_new
    }

    fn missing(&mut self) -> Result<Option<u32>, String> {
        let Some(transfer) = &self.transfer else { return Err("nothing was announced".to_string()) };
        let shared = lock(&transfer.shared);
        let missing = shared.has.iter().filter(|digest| digest.is_none()).count();
        let missing = (shared.waiting == 0).then(|| u32::try_from(missing).unwrap_or(u32::MAX));
        shared.failed.clone().map_or(Ok(missing), Err)
    }

    fn finish(&mut self, whole: Digest) -> Result<bool, String> {
        let nothing = || "nothing was announced".to_string();
        let Some(Transfer { writer: Some(Writer { give, asked, .. }), shared, .. }) = &mut self.transfer else {
            return Err(nothing());
        };
        if !std::mem::replace(asked, true) {
            // If the thread has ended, the shared state tells why.
            let _ = give.send(WriterTask::Finish(whole));
        }
        let finished = lock(shared).finished.take();
        match finished {
            None => lock(shared).failed.clone().map_or(Ok(false), Err),
            Some(Err(reason)) => Err(reason),
            Some(Ok(())) => {
                let mut transfer = self.transfer.take().ok_or_else(nothing)?;
                transfer.stop();
                self.finished = transfer.opened.take();
                transfer.unfinished.remove().map_err(|error| error.to_string())?;
                Ok(true)
            }
        }
    }
}
