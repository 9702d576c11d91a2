//! Ctrl-C, and the signals that end a process: the first asks long runs to end and keep what they have, the second
//! ends the process at once. Either way, unfinished files are removed.

use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;
use std::{fs, io};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

/// A process has one terminal, and so one such flag.
static REQUESTED: AtomicBool = AtomicBool::new(false);
/// The signal that requested the end.
static SIGNAL: AtomicI32 = AtomicI32::new(SIGINT);
/// Whether SIGHUP asks the running command to read its files again, and whether it has done so.
static REREADS: AtomicBool = AtomicBool::new(false);
static REREAD: AtomicBool = AtomicBool::new(false);
/// Files to remove if the process ends before they are whole.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// The exit status of a command that was interrupted, as shells define it: 128 plus the signal.
pub fn status() -> i32 {
    128 + SIGNAL.load(Ordering::Relaxed)
}

/// Whether the running command was asked to end by SIGTERM.
pub fn was_terminated() -> bool {
    requested() && SIGNAL.load(Ordering::Relaxed) == SIGTERM
}

/// Takes SIGINT, SIGTERM and SIGHUP as requests to end, except those that the process was started to ignore, by `nohup`
/// or by a shell that runs it in the background.
///
/// # Errors
/// When the system refuses.
pub fn listen() -> io::Result<()> {
    let ignored = ignored();
    let mut signals =
        Signals::new([SIGINT, SIGTERM, SIGHUP].into_iter().filter(|signal| ignored >> (signal - 1) & 1 == 0))?;
    thread::Builder::new().name("signals".to_owned()).spawn(move || signals.forever().for_each(request))?;
    Ok(())
}

/// The signals that are ignored, one bit each, the lowest for signal 1; none where the system does not say.
fn ignored() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}

/// Asks the running command to end, because of `signal`. A second request before a new command begins ends the process.
/// A command may give SIGHUP another meaning with [`reread_at_hangup`].
pub fn request(signal: i32) {
    if signal == SIGHUP && REREADS.load(Ordering::Relaxed) {
        return REREAD.store(true, Ordering::Relaxed);
    }
    SIGNAL.store(signal, Ordering::Relaxed);
    if REQUESTED.swap(true, Ordering::Relaxed) {
        remove_unfinished();
        std::process::exit(status());
    }
}

/// Registers the file `path` for removal if the process ends before [`keeps`] is called.
pub fn removes(path: &Path) {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner).push(path.to_path_buf());
}

/// Unregisters `path`: it is no longer an unfinished file.
pub fn keeps(path: &Path) {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner).retain(|known| known != path);
}

/// Removes the files that abandoned threads left unfinished.
pub fn remove_unfinished() {
    for path in UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
        // If this fails, there is nobody left to report it to.
        let _ = fs::remove_file(path);
    }
}

/// From now on, SIGHUP asks the running command to read its files again rather than to end.
pub fn reread_at_hangup() {
    REREADS.store(true, Ordering::Relaxed);
}

/// Whether the running command was asked to read its files again since the last call.
pub fn takes_reread() -> bool {
    REREAD.swap(false, Ordering::Relaxed)
}

/// Forgets earlier requests: a new command begins.
pub fn forget() {
    REREADS.store(false, Ordering::Relaxed);
    REREAD.store(false, Ordering::Relaxed);
    REQUESTED.store(false, Ordering::Relaxed);
}

/// Whether the running command was asked to end.
pub fn requested() -> bool {
    REQUESTED.load(Ordering::Relaxed)
}

/// The flag itself, for callers that poll it often.
pub fn flag() -> &'static AtomicBool {
    &REQUESTED
}

/// How often a waiting thread checks whether it was asked to end.
pub const CHECK_INTERVAL: Duration = Duration::from_millis(20);

/// Starts `work` on a thread of its own. Where the system can't start one, it is done before this returns.
fn start(work: impl FnOnce() + Send + 'static) -> Option<JoinHandle<()>> {
    let kept = Arc::new(Mutex::new(Some(work)));
    let given = Arc::clone(&kept);
    let thread = thread::Builder::new().spawn(move || do_once(&given)).ok();
    if thread.is_none() {
        do_once(&kept);
    }
    thread
}

/// Does the work, unless it was taken before.
fn do_once<W: FnOnce()>(kept: &Mutex<Option<W>>) {
    let work = kept.lock().unwrap_or_else(PoisonError::into_inner).take();
    if let Some(work) = work {
        work();
    }
}

/// Does `work` on a thread of its own and returns its result, or nothing if the process was asked to end first.
///
/// In that case the thread is abandoned: the process is about to end.
pub fn unless_requested<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    unless_requested_while(work, || {})
}

/// As [`unless_requested`]; `look` is called now and then while the work goes on.
pub fn unless_requested_while<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
    mut poll: impl FnMut(),
) -> Option<T> {
    let (done, result) = mpsc::channel();
    // If the thread was abandoned, nobody waits for the result.
    let worker = start(move || drop(done.send(work())));
    loop {
        match result.recv_timeout(CHECK_INTERVAL) {
            Ok(result) => return Some(result),
            Err(RecvTimeoutError::Timeout) if requested() => return None,
            Err(RecvTimeoutError::Timeout) => poll(),
            // The thread ended without a result: it panicked.
            Err(RecvTimeoutError::Disconnected) => match worker.map_or(Ok(()), JoinHandle::join) {
                Ok(()) => return None,
                Err(panic) => resume_unwind(panic),
            },
        }
    }
}
