//! The thread that writes what is received, and puts files in place when they are complete.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::mpsc::Receiver;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;

use super::unfinished::{Record, Unfinished, open_to_write};
use super::{FileError, Wishes, target};
use crate::manifest::{Kind, Manifest, ManifestEntry, Places};
use crate::round::Digest;

/// A task for the thread.
#[derive(Debug)]
pub(super) enum WriterTask {
    /// Check and write this piece.
    Piece(u32, Digest, Bytes),
    /// Put the files in place if they all hash to this.
    Finish(Digest),
}

/// The state shared by the thread and the receiver.
#[derive(Debug, Default)]
pub(super) struct Shared {
    /// The hashes of the pieces received.
    pub(super) has: Vec<Option<Digest>>,
    /// How many pieces wait to be written.
    pub(super) waiting: usize,
    /// What went wrong.
    pub(super) failed: Option<String>,
    /// Whether the files are in place, or why not.
    pub(super) finished: Option<Result<(), String>>,
}

pub(super) fn lock(shared: &Mutex<Shared>) -> MutexGuard<'_, Shared> {
    // Nobody panics while holding it, and if somebody did, its contents would be intact.
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The state of the thread.
#[derive(Debug)]
pub(super) struct Writing {
    manifest: Manifest,
    places: Places,
    into: PathBuf,
    wishes: Wishes,
    /// Where the bytes of each entry are until the file is complete.
    paths: Vec<PathBuf>,
    record: Record,
    shared: Arc<Mutex<Shared>>,
    /// The file that was written last.
    file: Option<(usize, File)>,
}

impl Writing {
    pub(super) fn new(
        manifest: &Manifest,
        into: &Path,
        wishes: &Wishes,
        unfinished: &Unfinished,
        record: Record,
        shared: Arc<Mutex<Shared>>,
    ) -> Writing {
        Writing {
            manifest: manifest.clone(),
            places: manifest.places(),
            into: into.to_path_buf(),
            wishes: wishes.clone(),
            paths: (0..manifest.entries().len()).map(|entry| unfinished.file(entry)).collect(),
            record,
            shared,
            file: None,
        }
    }

    /// Works until no more tasks can come.
    pub(super) fn run(mut self, work: &Receiver<WriterTask>) {
        for work in work {
            match work {
                WriterTask::Piece(index, digest, content) => self.take(index, digest, &content),
                WriterTask::Finish(whole) => {
                    let finished = self.finish(whole);
                    lock(&self.shared).finished = Some(finished);
                }
            }
        }
    }

    fn take(&mut self, index: u32, digest: Digest, content: &[u8]) {
        // A damaged piece is not kept: it is missing, and is sent again.
        let fits = content.len() == self.manifest.length(index) && Digest::of(content) == digest;
        let written = if fits { self.write(index, digest, content).map(|()| Some(digest)) } else { Ok(None) };
        let mut shared = lock(&self.shared);
        shared.waiting -= 1;
        match (written, shared.has.get_mut(index as usize)) {
            (Ok(Some(digest)), Some(place)) => *place = Some(digest),
            (Ok(_), _) => {}
            (Err(error), _) => shared.failed = Some(error.to_string()),
        }
    }

    fn write(&mut self, index: u32, digest: Digest, content: &[u8]) -> Result<(), FileError> {
        let mut start = 0;
        for span in self.places.spans(index) {
            let Some(path) = self.paths.get(span.entry) else { continue };
            if self.file.as_ref().is_none_or(|(open, _)| *open != span.entry) {
                self.file = Some((span.entry, open_to_write(path)?));
            }
            let part = content.get(start..start + span.length).unwrap_or_default();
            let file = self.file.as_ref().map(|(_, file)| file);
            file.map_or(Ok(()), |file| file.write_all_at(part, span.offset)).map_err(FileError::io(path))?;
            start += span.length;
        }
        self.record.note(index, digest)
    }

    fn finish(&self, whole: Digest) -> Result<(), String> {
        let has: Option<Vec<Digest>> = lock(&self.shared).has.iter().copied().collect();
        let has = has.ok_or("a piece is missing")?;
        if Digest::of_all(&self.manifest.encode(), has) != whole {
            return Err("what came is not what was sent: the checksum of all is another".to_string());
        }
        self.place().map_err(|error| error.to_string())
    }

    fn place(&self) -> Result<(), FileError> {
        let Writing { manifest, into, wishes, .. } = self;
        // Nothing is put in place unless everything can be.
        target::check(manifest, into, wishes.overwrite)?;
        let mut made = Vec::new();
        for (entry, path) in manifest.entries().iter().zip(&self.paths) {
            self.prepare(entry, path)?;
            if target::place(entry, path, into, wishes.overwrite)? {
                made.push(entry);
            }
        }
        if wishes.sync {
            target::sync(manifest, into)?;
        }
        // The inner ones first: nobody can change anything in a folder that they may not enter.
        let modes = made.iter().rev().filter_map(|folder| Some((folder, folder.kind.mode()?)));
        modes.into_iter().try_for_each(|(folder, mode)| target::restrict(&folder.name.below(into), mode))
    }

    /// Makes sure that the file exists, even if it is empty, and is on disk if that is required.
    fn prepare(&self, entry: &ManifestEntry, path: &Path) -> Result<(), FileError> {
        match entry.kind {
            Kind::Folder { .. } | Kind::Link { .. } => Ok(()),
            Kind::File { .. } => {
                let file = open_to_write(path)?;
                if self.wishes.sync { file.sync_all().map_err(FileError::io(path)) } else { Ok(()) }
            }
        }
    }
}
