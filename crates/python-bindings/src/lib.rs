//! The command `maquette` as a Python module. Glue only: what it does is in `workbench`.

use std::ffi::OsString;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

/// How often Python is asked whether a signal has come.
const BETWEEN_SIGNAL_CHECKS: Duration = Duration::from_millis(50);

#[pymodule]
mod _maquette {
    use super::*;

    /// Runs a command line, its program's name first, and gives the exit status.
    #[pyfunction]
    fn run(py: Python<'_>, arguments: Vec<OsString>) -> PyResult<i32> {
        let (done, mut status) = mpsc::channel();
        // On a thread of its own, so that this one can hand Python its signals.
        thread::spawn(move || done.send(workbench::command_line::run(arguments)));
        loop {
            let come;
            (status, come) = py.detach(move || {
                let come = status.recv_timeout(BETWEEN_SIGNAL_CHECKS);
                (status, come)
            });
            match come {
                Ok(status) => return Ok(status),
                Err(RecvTimeoutError::Timeout) if py.check_signals().is_err() => workbench::interrupt::request(),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(PyRuntimeError::new_err("the command ended without a status"));
                }
            }
        }
    }
}
