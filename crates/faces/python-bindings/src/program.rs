//! A program in Python: a coroutine for each rank, which the world resumes when an operation of the rank is over.
//!
//! A coroutine yields requests, which are carried out on the rank's endpoint, and is sent the result of each. There is
//! no event loop and no further thread, so a run is as deterministic as any other.

use std::cell::RefCell;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;

use endpoint::{Endpoint, Error, Handles, Needs, Operation, Outcome, Pending, Program, Received as ReceivedMessage};
use pyo3::exceptions::{PyException, PyStopIteration};
use pyo3::prelude::*;
use pyo3::types::iterator::PySendResult;
use pyo3::types::{PyIterator, PyTuple};
use quantities::{Bytes, Rank, Time};

use crate::collectives::Collectives;
use crate::coroutines::Tree;
use crate::errors::of_program;
use crate::pending::Begun;
use crate::place::Place;
use crate::received::Received;
use crate::request::{Ask, ProgramRequest, Sendrecv, Wait, foreign};

/// How many operations at once are each asked whenever one has ended.
const FEW: usize = 16;

/// A rank's exception.
pub struct RaisedException {
    pub rank: Rank,
    pub time: Time,
    pub error: PyErr,
}

/// A program in Python.
pub struct PythonProgram<'py, 'run> {
    /// Begins a rank, given its number and the number of ranks: returns its endpoint, and an iterator that yields its
    /// requests.
    pub begin: Bound<'py, PyAny>,
    /// The exceptions of ranks, in the order in which they were raised.
    pub raised: &'run RefCell<Vec<RaisedException>>,
    /// Ends the run.
    pub stop: &'static AtomicBool,
    /// The collectives of the run.
    pub collectives: &'run Collectives<'run>,
}

/// The value that a coroutine is sent, or the exception raised in it.
pub type Resumption<'py> = PyResult<Bound<'py, PyAny>>;

impl Program for PythonProgram<'_, '_> {
    type Output = Py<PyAny>;
    const NEEDS: Needs = Needs::EVERYTHING;

    async fn run<E: Endpoint>(&self, endpoint: &E) -> endpoint::Result<Py<PyAny>> {
        if self.stop.load(Ordering::Relaxed) {
            return Err(Error::Stopped);
        }
        let ended = match self.begin(endpoint) {
            Ok((place, steps)) => {
                let rank = PythonRank { endpoint, place, collectives: self.collectives, begun: Begun::default() };
                let ended = rank.drive(steps).await;
                rank.begun.abandon(endpoint);
                ended
            }
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

    /// Records what a rank has raised. The others continue, so that the report can say what they waited for, but not
    /// after an exception that is not an error, such as Ctrl-C.
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
pub struct PythonRank<'py, 'run, E> {
    endpoint: &'run E,
    place: Bound<'py, Place>,
    collectives: &'run Collectives<'run>,
    /// The operations that go on while the program does.
    begun: Begun,
}

/// How far a coroutine has come.
pub enum CoroutineStep<'py> {
    /// It has returned or raised.
    Ended(Resumption<'py>),
    /// It waits for others, until all of them have ended or one has.
    Awaits(Wait, Vec<Bound<'py, PyIterator>>),
}

impl<'py, 'run, E: Endpoint> PythonRank<'py, 'run, E> {
    /// Resumes a coroutine until it has ended, and carries out what it asks for.
    async fn drive(&self, steps: Bound<'py, PyIterator>) -> Resumption<'py> {
        let py = steps.py();
        let mut given: Resumption<'py> = Ok(py.None().into_bound(py));
        loop {
            given = match self.advance(&steps, given).await {
                CoroutineStep::Ended(ended) => return ended,
                CoroutineStep::Awaits(wait, all) => Tree::new(self, py).run(wait, all).await,
            };
        }
    }

    /// Resumes a coroutine with what it is `given`, and carries out its operations until it has ended or awaits other
    /// coroutines.
    pub async fn advance(&self, steps: &Bound<'py, PyIterator>, mut given: Resumption<'py>) -> CoroutineStep<'py> {
        loop {
            self.place.get().set_now(self.endpoint.now());
            let sent = match given {
                Ok(value) => steps.send(&value),
                Err(error) => throw(steps, error),
            };
            self.begun.begin(self.endpoint, self.place.get());
            given = match sent {
                Ok(PySendResult::Return(returned)) => return CoroutineStep::Ended(Ok(returned)),
                Err(error) => return CoroutineStep::Ended(Err(error)),
                Ok(PySendResult::Next(yielded)) => match ProgramRequest::read(&yielded) {
                    Ok(ProgramRequest::Await(wait, all)) => return CoroutineStep::Awaits(wait, all),
                    Ok(ProgramRequest::AwaitOperations(wait, all)) => match self.endpoint.handles() {
                        Some(handles) if (1..=FEW).contains(&all.len()) => {
                            Box::pin(self.operate_at_once(wait, handles, &all, steps.py())).await
                        }
                        _ => return CoroutineStep::Awaits(wait, all),
                    },
                    Ok(ProgramRequest::Operation(operation, room)) => self.operate(operation, room, steps.py()).await,
                    Ok(ProgramRequest::Sendrecv(both)) => Box::pin(self.sendrecv(both, steps.py())).await,
                    Ok(ProgramRequest::Pending(Ask::All, all)) => {
                        self.begun.wait_all(self.endpoint, &all, steps.py()).await
                    }
                    Ok(ProgramRequest::Pending(Ask::Any, all)) => {
                        self.begun.wait_any(self.endpoint, &all, steps.py()).await
                    }
                    Ok(ProgramRequest::Pending(Ask::Now, all)) => self.begun.test(self.endpoint, &all, steps.py()),
                    // Its future is large, and few are pending at once.
                    Ok(ProgramRequest::Collective(call)) => {
                        Box::pin(self.collectives.call(self.endpoint, call, steps.py())).await
                    }
                    Err(error) => Err(error),
                },
            };
        }
    }

    /// Has coroutines that ask for one operation each begin it, in order, and waits until all have ended or one has:
    /// returns what they returned, in a tuple, or the index of the first that has ended and what it returned. There is
    /// no future in a box for each, as in a [`Tree`]. Each is asked whenever one has ended, so they must be few.
    async fn operate_at_once(
        &self,
        wait: Wait,
        handles: &'run dyn Handles,
        all: &[Bound<'py, PyIterator>],
        py: Python<'py>,
    ) -> Resumption<'py> {
        let mut pending = Vec::with_capacity(all.len());
        let mut returned: Vec<Option<Bound<'py, PyAny>>> = all.iter().map(|_| None).collect();
        let mut left = all.len();
        let first = poll_fn(|context| {
            for (index, steps) in all.iter().enumerate() {
                if index == pending.len() {
                    let (operation, room) = match requested(steps) {
                        Ok(requested) => requested,
                        Err(error) => return Poll::Ready(Err(error)),
                    };
                    pending.push(Some((Pending::new(handles, operation), room)));
                }
                let Some((operation, room)) = &mut pending[index] else { continue };
                let Poll::Ready(outcome) = Pin::new(operation).poll(context) else { continue };
                let given = self.value_of(outcome.map(Outcome::into_received), *room, py);
                pending[index] = None;
                match (wait, ended_with(steps, given)) {
                    (_, Err(error)) => return Poll::Ready(Err(error)),
                    (Wait::First, Ok(value)) => return Poll::Ready(Ok(Some((index, value)))),
                    (Wait::Join, Ok(value)) => returned[index] = Some(value),
                }
                left -= 1;
            }
            if left == 0 { Poll::Ready(Ok(None)) } else { Poll::Pending }
        });
        match first.await? {
            Some(first) => Ok(first.into_pyobject(py)?.into_any()),
            None => Ok(PyTuple::new(py, returned.into_iter().flatten().collect::<Vec<_>>())?.into_any()),
        }
    }

    async fn sendrecv(&self, both: Sendrecv, py: Python<'py>) -> Resumption<'py> {
        let Sendrecv { to, tag, message, from, tags, room } = both;
        let received = self.endpoint.sendrecv_tagged(to, tag, message, from, tags).await;
        let received = received.and_then(|received| match room {
            Some(room) => received.fitting(self.endpoint.rank(), room),
            None => Ok(received),
        });
        let received = received.map_err(|error| of_program(&error))?;
        Ok(Bound::new(py, Received::from(received))?.into_any())
    }

    async fn operate(&self, operation: Operation, room: Option<Bytes>, py: Python<'py>) -> Resumption<'py> {
        // The future of an operation by handle is small, and that of any operation as large as the largest.
        let outcome = match self.endpoint.handles() {
            Some(handles) => Pending::new(handles, operation).await.map(Outcome::into_received),
            None => Box::pin(self.endpoint.carry_out(operation)).await,
        };
        self.value_of(outcome, room, py)
    }

    /// What a program gets of an operation that is over.
    fn value_of(
        &self,
        outcome: endpoint::Result<Option<ReceivedMessage>>,
        room: Option<Bytes>,
        py: Python<'py>,
    ) -> Resumption<'py> {
        let received = match outcome {
            Ok(None) => return Ok(py.None().into_bound(py)),
            Ok(Some(received)) => match room {
                Some(room) => received.fitting(self.endpoint.rank(), room),
                None => Ok(received),
            },
            Err(error) => Err(error),
        };
        let received = received.map_err(|error| of_program(&error))?;
        Ok(Bound::new(py, Received::from(received))?.into_any())
    }
}

/// The one operation that a coroutine asks for, and the room for what it receives.
fn requested(steps: &Bound<'_, PyIterator>) -> PyResult<(Operation, Option<Bytes>)> {
    let yielded = match steps.send(&steps.py().None().into_bound(steps.py()))? {
        PySendResult::Next(yielded) => yielded,
        PySendResult::Return(returned) => return Err(foreign(&returned)),
    };
    let error = match ProgramRequest::read(&yielded) {
        Ok(ProgramRequest::Operation(operation, room)) => return Ok((operation, room)),
        Ok(_) => foreign(&yielded),
        Err(error) => error,
    };
    match throw(steps, error)? {
        PySendResult::Next(other) | PySendResult::Return(other) => Err(foreign(&other)),
    }
}

/// What a coroutine returns that ends with what it is `given`.
fn ended_with<'py>(steps: &Bound<'py, PyIterator>, given: Resumption<'py>) -> Resumption<'py> {
    let resumed = match given {
        Ok(value) => steps.send(&value)?,
        Err(error) => throw(steps, error)?,
    };
    match resumed {
        PySendResult::Return(returned) => Ok(returned),
        PySendResult::Next(yielded) => Err(foreign(&yielded)),
    }
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
