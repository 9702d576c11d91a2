//! Operations known by a handle, as in MPI, that can be asked whether they are over.
//!
//! An endpoint with handles need not define a future of its own for each kind of operation: [`Pending`] serves them
//! all. So a layer between a program and its world, such as [`Erased`](crate::Erased), costs neither a box nor a future
//! within a future.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use crate::{Operation, Outcome, Result};

/// One rank's operations, by handle.
pub trait Handles {
    /// Begins an operation and returns its handle. `waker` is woken when the operation is over.
    ///
    /// # Errors
    /// As for that operation of [`Endpoint`](crate::Endpoint).
    fn begin(&self, operation: Operation, waker: &Waker) -> Result<u32>;

    /// The outcome of an operation, once it is over, after which its handle is invalid; until then `waker` replaces the
    /// waker to wake.
    fn poll_outcome(&self, handle: u32, waker: &Waker) -> Poll<Result<Outcome>>;

    /// Frees a handle, as `MPI_Request_free` does: the operation goes on, and its outcome is lost.
    fn free(&self, handle: u32);
}

/// An operation as a future: it begins when it is first polled.
pub struct Pending<'endpoint, H: Handles + ?Sized> {
    handles: &'endpoint H,
    /// The operation to begin; nothing once it has begun.
    operation: Option<Operation>,
    /// Its handle, from when it begins until its outcome is fetched.
    handle: Option<u32>,
}

impl<'endpoint, H: Handles + ?Sized> Pending<'endpoint, H> {
    /// An operation that begins when it is first polled.
    pub fn new(handles: &'endpoint H, operation: Operation) -> Pending<'endpoint, H> {
        Pending { handles, operation: Some(operation), handle: None }
    }
}

impl<H: Handles + ?Sized> Future for Pending<'_, H> {
    type Output = Result<Outcome>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<Outcome>> {
        if let Some(handle) = self.handle {
            let outcome = self.handles.poll_outcome(handle, context.waker());
            if outcome.is_ready() {
                self.handle = None;
            }
            return outcome;
        }
        if let Some(operation) = self.operation.take() {
            self.handle = Some(self.handles.begin(operation, context.waker())?);
        }
        Poll::Pending
    }
}

impl<H: Handles + ?Sized> Drop for Pending<'_, H> {
    fn drop(&mut self) {
        if let Some(handle) = self.handle {
            self.handles.free(handle);
        }
    }
}
