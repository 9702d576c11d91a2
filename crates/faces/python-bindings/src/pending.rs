//! Operations of a program in Python that go on while the program does: what `isend` and `irecv` return.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::future::poll_fn;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use endpoint::{Endpoint, Error, Handles, Operation, Received as ReceivedMessage, Result};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyAny, PyTuple};
use quantities::Bytes;

use crate::errors::of_program;
use crate::place::Place;
use crate::received::Received;
use crate::request::ProgramRequest;

/// An operation that a program has asked for, and goes on without waiting for its end. It begins when the program next
/// waits for anything, before that: no time passes until then.
#[pyclass(frozen, module = "maquette._maquette")]
pub struct PendingOperation {
    state: Mutex<PendingState>,
    /// The room for the message of a receive.
    room: Option<Bytes>,
}

enum PendingState {
    /// Asked for.
    New(Operation),
    /// Begun, with its handle.
    Begun(u32),
    /// Over, with the message that it received, if any.
    Over(Result<Option<ReceivedMessage>>),
}

#[pymethods]
impl PendingOperation {
    /// The operation of a request, which the rank at `place` has asked for.
    #[staticmethod]
    fn of(place: &Bound<'_, Place>, request: &Bound<'_, PyTuple>) -> PyResult<Py<PendingOperation>> {
        let ProgramRequest::Operation(operation, room) = ProgramRequest::read(request.as_any())? else {
            return Err(PyTypeError::new_err("found something else than an operation of an endpoint"));
        };
        let pending = Py::new(place.py(), PendingOperation { state: Mutex::new(PendingState::New(operation)), room })?;
        place.get().asked_for().push(pending.clone_ref(place.py()));
        Ok(pending)
    }
}

impl PendingOperation {
    fn state(&self) -> MutexGuard<'_, PendingState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What the program gets of an operation that is over.
    fn value<'py, E: Endpoint>(&self, endpoint: &E, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let outcome = match &*self.state() {
            PendingState::Over(outcome) => outcome.clone(),
            PendingState::New(_) | PendingState::Begun(_) => Ok(None),
        };
        let received = outcome.and_then(|received| match (received, self.room) {
            (Some(received), Some(room)) => received.fitting(endpoint.rank(), room).map(Some),
            (received, _) => Ok(received),
        });
        match received.map_err(|error| of_program(&error))? {
            Some(received) => Ok(Bound::new(py, Received::from(received))?.into_any()),
            None => Ok(py.None().into_bound(py)),
        }
    }
}

/// The operations of a rank that go on while its program does.
#[derive(Default)]
pub struct Begun {
    /// The handles of those that are not over.
    handles: RefCell<BTreeSet<u32>>,
}

impl Begun {
    /// Begins what the program has asked for since it was last resumed, in order.
    pub fn begin<E: Endpoint>(&self, endpoint: &E, place: &Place) {
        for pending in std::mem::take(&mut *place.asked_for()) {
            let mut state = pending.get().state();
            let PendingState::New(operation) = &*state else { continue };
            let begun = match endpoint.handles() {
                Some(handles) => handles.begin(operation.clone(), Waker::noop()),
                None => {
                    Err(Error::Unfit("the world begins no operation that the program does not wait for".to_owned()))
                }
            };
            *state = match begun {
                Ok(handle) => {
                    self.handles.borrow_mut().insert(handle);
                    PendingState::Begun(handle)
                }
                Err(error) => PendingState::Over(Err(error)),
            };
        }
    }

    /// Whether an operation is over; if not, whoever polls is woken when it is.
    fn poll(&self, handles: Option<&dyn Handles>, pending: &PendingOperation, context: &Context<'_>) -> bool {
        let mut state = pending.state();
        let (PendingState::Begun(handle), Some(handles)) = (&*state, handles) else {
            return matches!(*state, PendingState::Over(_));
        };
        let handle = *handle;
        let Poll::Ready(outcome) = handles.poll_outcome(handle, context.waker()) else { return false };
        self.handles.borrow_mut().remove(&handle);
        *state = PendingState::Over(outcome.map(endpoint::Outcome::into_received));
        true
    }

    /// Waits until all operations are over; returns what each received.
    pub async fn wait_all<'py, E: Endpoint>(
        &self,
        endpoint: &E,
        all: &[Bound<'py, PendingOperation>],
        py: Python<'py>,
    ) -> PyResult<Bound<'py, PyAny>> {
        for pending in all {
            poll_fn(|context| match self.poll(endpoint.handles(), pending.get(), context) {
                true => Poll::Ready(()),
                false => Poll::Pending,
            })
            .await;
        }
        let values = all.iter().map(|pending| pending.get().value(endpoint, py)).collect::<PyResult<Vec<_>>>()?;
        Ok(PyTuple::new(py, values)?.into_any())
    }

    /// Waits until one of the operations is over; returns its index, of several at once the first, and what it
    /// received.
    pub async fn wait_any<'py, E: Endpoint>(
        &self,
        endpoint: &E,
        all: &[Bound<'py, PendingOperation>],
        py: Python<'py>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let first = poll_fn(|context| {
            let over = all.iter().position(|pending| self.poll(endpoint.handles(), pending.get(), context));
            over.map_or(Poll::Pending, Poll::Ready)
        })
        .await;
        let value = all[first].get().value(endpoint, py)?;
        Ok((first, value).into_pyobject(py)?.into_any())
    }

    /// Whether all operations are over now: what each received, or None.
    pub fn test<'py, E: Endpoint>(
        &self,
        endpoint: &E,
        all: &[Bound<'py, PendingOperation>],
        py: Python<'py>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let context = Context::from_waker(Waker::noop());
        if !all.iter().all(|pending| self.poll(endpoint.handles(), pending.get(), &context)) {
            return Ok(py.None().into_bound(py));
        }
        let values = all.iter().map(|pending| pending.get().value(endpoint, py)).collect::<PyResult<Vec<_>>>()?;
        Ok(PyTuple::new(py, values)?.into_any())
    }

    /// Leaves those that are not over to themselves, when the rank ends.
    pub fn abandon<E: Endpoint>(&self, endpoint: &E) {
        for handle in std::mem::take(&mut *self.handles.borrow_mut()) {
            if let Some(handles) = endpoint.handles() {
                handles.free(handle);
            }
        }
    }
}
