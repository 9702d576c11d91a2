//! The command `maquette`, and how a signal reaches the running work.

use std::ffi::OsString;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use command_line::{OwnProgram, OwnProgramFailure, OwnPrograms};
use formats::interrupt;
use launch::rank::Running;
use launch::wire::Record;
use pyo3::exceptions::{PyOSError, PyRuntimeError, PySystemExit};
use pyo3::prelude::*;

use crate::launch::run_as_rank;

/// How often Python is asked whether a signal has come.
const BETWEEN_SIGNAL_CHECKS: Duration = Duration::from_millis(50);

/// The number of Ctrl-C's signal.
const SIGINT: i32 = 2;

/// The signal whose handler raised `error`: a handler set by `main` raises `SystemExit` with 128 plus the signal, like
/// a shell; any other error stands for Ctrl-C.
fn signal_of(py: Python<'_>, error: &PyErr) -> i32 {
    let status = error
        .is_instance_of::<PySystemExit>(py)
        .then(|| error.value(py).getattr("code").and_then(|code| code.extract()));
    match status {
        Some(Ok(status @ 129..=192)) => status - 128,
        _ => SIGINT,
    }
}

/// Runs a command line, with the program's name first, and returns the exit status, 1 if the system can't start a
/// thread for it.
#[pyfunction]
pub fn run(py: Python<'_>, arguments: Vec<OsString>) -> PyResult<i32> {
    interrupt::forget();
    let work = || command_line::run_with(arguments, Some(&ProgramsInPython));
    match on_a_thread(py, work, |error| interrupt::request(signal_of(py, &error))) {
        Err(error) if error.is_instance_of::<PyOSError>(py) => {
            eprintln!("error: can't start a thread: {}", error.value(py));
            Ok(1)
        }
        ended => ended,
    }
}

/// Programs in Python files, through `maquette.own_programs`.
struct ProgramsInPython;

impl OwnPrograms for ProgramsInPython {
    fn check(&self, program: &OwnProgram) -> Result<(), OwnProgramFailure> {
        Python::attach(|py| begin(py, program).map(drop).map_err(|error| program_failure(py, error)))
    }

    fn run(&self, program: &OwnProgram, rank: &mut Running) -> Result<Record, OwnProgramFailure> {
        Python::attach(|py| {
            let begin = begin(py, program).map_err(|error| program_failure(py, error))?;
            run_as_rank(begin, program.seed, rank).map_err(|error| program_failure(py, error))
        })
    }
}

/// The Python function that begins a rank of `program`.
fn begin<'py>(py: Python<'py>, program: &OwnProgram) -> PyResult<Bound<'py, PyAny>> {
    let OwnProgram { file, function, arguments, .. } = program;
    py.import("maquette.own_programs")?.call_method1("begin_of", (file, function, arguments))
}

/// The message and exit status for an exception.
fn program_failure(py: Python<'_>, error: PyErr) -> OwnProgramFailure {
    // Only the exception's value has its traceback.
    let error = error.into_value(py);
    let problem_of = || -> PyResult<(String, i32)> {
        py.import("maquette.own_programs")?.call_method1("problem_of", (&error,))?.extract()
    };
    let (problem, status) = problem_of().unwrap_or_else(|_| (error.to_string(), 1));
    OwnProgramFailure { problem, status }
}

/// Does `work`, which checks whether it is asked to stop; returns its result, unless a signal came first.
///
/// # Errors
/// What the handler of the signal raised; `OSError` if the system can't start a thread.
pub fn unless_interrupted<T: Send + 'static>(py: Python<'_>, work: impl FnOnce() -> T + Send + 'static) -> PyResult<T> {
    let mut raised = None;
    let done = on_a_thread(py, work, |error| {
        interrupt::flag().store(true, Ordering::Relaxed);
        raised.get_or_insert(error);
    });
    let Some(error) = raised else { return done };
    interrupt::forget();
    Err(error)
}

/// Does `work` on a thread of its own, so that this one can pass signals to Python; what a handler raises goes to
/// `signalled`.
///
/// # Errors
/// `OSError` if the system can't start the thread.
fn on_a_thread<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce() -> T + Send + 'static,
    mut signalled: impl FnMut(PyErr),
) -> PyResult<T> {
    let (done, mut result) = mpsc::channel();
    // The receiver may have stopped waiting. Without this thread, no signal could end the work.
    thread::Builder::new().spawn(move || drop(done.send(work())))?;
    loop {
        let come;
        (result, come) = py.detach(move || {
            let come = result.recv_timeout(BETWEEN_SIGNAL_CHECKS);
            (result, come)
        });
        match come {
            Ok(result) => {
                // Otherwise a signal that came with the last of the work would be raised later, wherever Python next
                // looks.
                if let Err(error) = py.check_signals() {
                    signalled(error);
                }
                return Ok(result);
            }
            Err(RecvTimeoutError::Timeout) => {
                if let Err(error) = py.check_signals() {
                    signalled(error);
                }
            }
            Err(RecvTimeoutError::Disconnected) => {
                return Err(PyRuntimeError::new_err("the run ended without a result"));
            }
        }
    }
}
