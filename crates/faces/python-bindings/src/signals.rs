//! Signals while a rank waits for messages, during which no Python code runs.

use std::cell::RefCell;

use pyo3::prelude::*;

thread_local! {
    /// What the handler of a signal has raised on this thread.
    static RAISED: RefCell<Option<PyErr>> = const { RefCell::new(None) };
}

/// Lets Python handle signals that have come; returns whether the rank may go on waiting.
///
/// Python handles signals on its main thread only. If this is another one, it holds the interpreter that the main
/// thread needs for that, and gives it up for a moment.
pub fn should_continue() -> bool {
    Python::attach(|py| {
        py.detach(|| {});
        match py.check_signals() {
            Ok(()) => true,
            Err(error) => {
                RAISED.set(Some(error));
                false
            }
        }
    })
}

/// What a handler has raised since the last call.
pub fn raised() -> Option<PyErr> {
    RAISED.take()
}
