//! The command `maquette` as a Python module. Glue only: what it does is in `command_line`.

use std::ffi::OsString;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use pyo3::exceptions::{PyRuntimeError, PySystemExit};
use pyo3::prelude::*;

/// How often Python is asked whether a signal has come.
const BETWEEN_SIGNAL_CHECKS: Duration = Duration::from_millis(50);

/// The number of Ctrl-C's signal.
const SIGINT: i32 = 2;

/// The signal whose handler raised `error`: one that `main` set raises `SystemExit` with 128 and the signal, as a shell counts;
/// any other stands for Ctrl-C.
fn signal_of(py: Python<'_>, error: &PyErr) -> i32 {
    let status = error
        .is_instance_of::<PySystemExit>(py)
        .then(|| error.value(py).getattr("code").and_then(|code| code.extract()));
    match status {
        Some(Ok(status @ 129..=192)) => status - 128,
        _ => SIGINT,
    }
}

#[pymodule]
mod _maquette {
    use super::*;

    /// Runs a command line, its program's name first, and gives the exit status.
    #[pyfunction]
    fn run(py: Python<'_>, arguments: Vec<OsString>) -> PyResult<i32> {
        formats::interrupt::forget();
        let (done, mut status) = mpsc::channel();
        // On a thread of its own, so that this one can hand Python its signals.
        thread::spawn(move || done.send(command_line::run(arguments)));
        loop {
            let come;
            (status, come) = py.detach(move || {
                let come = status.recv_timeout(BETWEEN_SIGNAL_CHECKS);
                (status, come)
            });
            match come {
                Ok(status) => return Ok(status),
                Err(RecvTimeoutError::Timeout) => {
                    if let Err(error) = py.check_signals() {
                        formats::interrupt::request(signal_of(py, &error));
                    }
                }
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(PyRuntimeError::new_err("the command ended without a status"));
                }
            }
        }
    }
}
