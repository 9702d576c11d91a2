//! A program in Python: a coroutine for each rank, which the world resumes when an operation of the rank is over.
//!
//! A coroutine yields requests, which are carried out on the rank's endpoint, and is sent the result of each. There is no
//! event loop and no further thread, so a run is as deterministic as any other.

use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, Ordering};

use endpoint::{AnyFuture, Concurrent, Endpoint, Error, Needs, Operation, Program};
use pyo3::exceptions::{PyException, PyStopIteration, PyValueError};
use pyo3::prelude::*;
use pyo3::types::iterator::PySendResult;
use pyo3::types::{PyIterator, PyTuple};
use quantities::{Rank, Time};

use crate::collectives::Collectives;
use crate::errors::of_program;
use crate::place::Place;
use crate::received::Received;
use crate::request::Request;

/// A rank's exception.
pub struct RaisedException {
    pub rank: Rank,
    pub time: Time,
    pub error: PyErr,
}

/// A program in Python.
pub struct PythonProgram<'py, 'run> {
    /// Begins a rank, given its number and the number of ranks: returns its endpoint, and an iterator that yields its requests.
    pub begin: Bound<'py, PyAny>,
    /// The exceptions of ranks, in the order in which they were raised.
    pub raised: &'run RefCell<Vec<RaisedException>>,
    /// Ends the run.
    pub stop: &'static AtomicBool,
    /// The collectives of the run.
    pub collectives: &'run Collectives<'run>,
}

/// The value that a coroutine is sent, or the exception raised in it.
type Resumption<'py> = PyResult<Bound<'py, PyAny>>;

impl Program for PythonProgram<'_, '_> {
    type Output = Py<PyAny>;
    const NEEDS: Needs = Needs::EVERYTHING;

    async fn run<E: Endpoint>(&self, endpoint: &E) -> endpoint::Result<Py<PyAny>> {
        if self.stop.load(Ordering::Relaxed) {
            return Err(Error::Stopped);
        }
        let ended = match self.begin(endpoint) {
            Ok((place, steps)) => PythonRank { endpoint, place, collectives: self.collectives }.drive(steps).await,
            Err(error) => Err(error),
        };
        ended.map(Bound::unbind).map_err(|error| self.failed(endpoint, error))
    }
}

impl<'py> PythonProgram<'py, '_> {
    fn begin<E: Endpoint>(&self, endpoint: &E) -> PyResult<(Bound<'py, Place>, Bound<'py, PyIterator>)> {
        let begun = self.begin.call1((endpoint.rank().0, endpoint.size()))?;
        let (place, steps) = begun.extract::<(Bound<'py, PyAny>, Bound<'py, PyAny>)>()?;
        Ok((place.cast_into()?, steps.cast_into()?))
    }

    /// Records what a rank has raised. The others continue, so that the report can say what they waited for, but not after an
    /// exception that is not an error, such as Ctrl-C.
    fn failed<E: Endpoint>(&self, endpoint: &E, error: PyErr) -> Error {
        if !error.is_instance_of::<PyException>(self.begin.py()) {
            self.stop.store(true, Ordering::Relaxed);
        }
        let failure = Error::Unfit(error.to_string());
        self.raised.borrow_mut().push(RaisedException { rank: endpoint.rank(), time: endpoint.now(), error });
        failure
    }
}

/// A rank of a program in Python.
struct PythonRank<'py, 'run, E> {
    endpoint: &'run E,
    place: Bound<'py, Place>,
    collectives: &'run Collectives<'run>,
}

/// A coroutine that is driven concurrently with others.
type DrivenCoroutine<'py, 'a> = AnyFuture<'a, Resumption<'py>>;

impl<'py, E: Endpoint> PythonRank<'py, '_, E> {
    /// Resumes a coroutine until it has ended, and carries out what it asks for.
    async fn drive(&self, steps: Bound<'py, PyIterator>) -> Resumption<'py> {
        let mut given: Resumption<'py> = Ok(steps.py().None().into_bound(steps.py()));
        loop {
            self.place.get().set_now(self.endpoint.now());
            let sent = match given {
                Ok(value) => steps.send(&value),
                Err(error) => throw(&steps, error),
            };
            given = match sent? {
                PySendResult::Return(returned) => return Ok(returned),
                PySendResult::Next(yielded) => match Request::read(&yielded) {
                    Ok(request) => self.carry_out(request, steps.py()).await,
                    Err(error) => Err(error),
                },
            };
        }
    }

    async fn carry_out(&self, request: Request<'py>, py: Python<'py>) -> Resumption<'py> {
        match request {
            Request::Operation(operation) => self.operate(operation, py).await,
            Request::Gather(all) => {
                let gathered = gather(self.driven(&all), py).await;
                gathered.or_else(|error| close(&all).and(Err(error)))
            }
            Request::First(all) => {
                let ended = first(self.driven(&all), py).await;
                close(&all).and(ended)
            }
            // Its future is large, and few are pending at once.
            Request::Collective(call) => Box::pin(self.collectives.call(self.endpoint, call, py)).await,
        }
    }

    async fn operate(&self, operation: Operation, py: Python<'py>) -> Resumption<'py> {
        match self.endpoint.carry_out(operation).await {
            Ok(None) => Ok(py.None().into_bound(py)),
            Ok(Some(received)) => Ok(Bound::new(py, Received::from(received))?.into_any()),
            Err(error) => Err(of_program(&error)),
        }
    }

    /// Several coroutines, to be driven concurrently.
    fn driven(&self, all: &[Bound<'py, PyIterator>]) -> Vec<DrivenCoroutine<'py, '_>> {
        all.iter().map(|steps| Box::pin(self.drive(steps.clone())) as DrivenCoroutine<'py, '_>).collect()
    }
}

/// Closes coroutines that will not be resumed, so that their `finally` blocks run now. One that has ended is left alone.
fn close(all: &[Bound<'_, PyIterator>]) -> PyResult<()> {
    all.iter().try_for_each(|steps| steps.call_method0("close").map(drop))
}

/// Raises `error` in a coroutine, where it waits.
fn throw<'py>(steps: &Bound<'py, PyIterator>, error: PyErr) -> PyResult<PySendResult<'py>> {
    let py = steps.py();
    match steps.call_method1("throw", (error.into_value(py),)) {
        Ok(yielded) => Ok(PySendResult::Next(yielded)),
        Err(error) if error.is_instance_of::<PyStopIteration>(py) => {
            Ok(PySendResult::Return(error.value(py).getattr("value")?))
        }
        Err(error) => Err(error),
    }
}

/// Waits until all have ended, or one has raised an error; the others are then left where they are.
async fn gather<'py>(all: Vec<DrivenCoroutine<'py, '_>>, py: Python<'py>) -> Resumption<'py> {
    let mut returned: Vec<Option<Bound<'py, PyAny>>> = all.iter().map(|_| None).collect();
    let mut all = Concurrent::new(all);
    while let Some((place, given)) = all.next().await {
        returned[place] = Some(given?);
    }
    Ok(PyTuple::new(py, returned.into_iter().flatten().collect::<Vec<_>>())?.into_any())
}

/// Waits until one has ended: returns its index and its return value. There is at least one.
async fn first<'py>(all: Vec<DrivenCoroutine<'py, '_>>, py: Python<'py>) -> Resumption<'py> {
    let ended = Concurrent::new(all).next().await;
    let (place, given) = ended.ok_or_else(|| PyValueError::new_err("first: found nothing to wait for"))?;
    Ok((place, given?).into_pyobject(py)?.into_any())
}
