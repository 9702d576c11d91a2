//! Ctrl-C: the first asks long runs to end and keep what they have, the second ends the process at once.

use std::sync::atomic::{AtomicBool, Ordering};

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
