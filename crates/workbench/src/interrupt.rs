//! Ctrl-C: the first asks long runs to end and keep what they have, the second ends the process at once.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

/// The exit status of a command that was interrupted.
pub const STATUS: i32 = 130;

/// A process has one terminal, and so one such flag.
static REQUESTED: AtomicBool = AtomicBool::new(false);

/// Takes SIGINT and SIGTERM as requests to end.
///
/// # Errors
/// When the system refuses, or when something else in this process already does so.
pub fn listen() -> Result<(), ctrlc::Error> {
    ctrlc::try_set_handler(request)
}

/// Asks what runs to end. Asked again before anything began anew, ends the process.
pub fn request() {
    if REQUESTED.swap(true, Ordering::Relaxed) {
        std::process::exit(STATUS);
    }
}

/// Forgets earlier requests: something new begins.
pub fn forget() {
    REQUESTED.store(false, Ordering::Relaxed);
}

/// Whether what runs was asked to end.
pub fn requested() -> bool {
    REQUESTED.load(Ordering::Relaxed)
}

/// The flag itself, for those that poll it often.
pub fn flag() -> &'static AtomicBool {
    &REQUESTED
}

/// How often a thread that waits looks whether it is asked to end.
const BETWEEN_LOOKS: Duration = Duration::from_millis(20);

/// Does `work` on a thread of its own and gives what comes out, or nothing if it was asked to end before.
///
/// Then the thread is left to itself: the process is about to end.
pub fn unless_requested<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    let (done, result) = mpsc::channel();
    // If it was left to itself, nobody waits for the result.
    let worker = thread::spawn(move || drop(done.send(work())));
    loop {
        match result.recv_timeout(BETWEEN_LOOKS) {
            Ok(result) => return Some(result),
            Err(RecvTimeoutError::Timeout) if requested() => return None,
            Err(RecvTimeoutError::Timeout) => {}
            // It ended without a result: it panicked.
            Err(RecvTimeoutError::Disconnected) => match worker.join() {
                Ok(()) => return None,
                Err(panic) => resume_unwind(panic),
            },
        }
    }
}
