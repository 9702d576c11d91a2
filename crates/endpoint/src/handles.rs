//! Operations that are known by a handle, as in MPI, and asked whether they are over.
//!
//! An endpoint that knows its operations so need not make a future of its own for each: [`Pending`] is one for all. So what stands between
//! a program and its world, as [`Erased`](crate::Erased) does, costs neither a box nor a future within a future.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use crate::{Operation, Outcome, Result};

/// One rank's operations, by handle.
pub trait Handles {
    /// Begins an operation; gives its handle. `waker` is woken when it is over.
    ///
    /// # Errors
    /// As for that operation of [`Endpoint`](crate::Endpoint).
    fn begin(&self, operation: Operation, waker: &Waker) -> Result<u32>;

    /// What came of an operation, once it is over; until then `waker` is who is woken. Then its handle is no longer one.
    fn poll_outcome(&self, handle: u32, waker: &Waker) -> Poll<Result<Outcome>>;

    /// Gives a handle up, as `MPI_Request_free` does: the operation goes on, and its outcome is lost.
    fn free(&self, handle: u32);
}

/// An operation as a future: it begins when it is first polled.
pub struct Pending<'endpoint, H: Handles + ?Sized> {
    handles: &'endpoint H,
    /// What is to be begun; nothing once it is.
    operation: Option<Operation>,
    /// Its handle, from when it has begun until its outcome was fetched.
    handle: Option<u32>,
}

impl<'endpoint, H: Handles + ?Sized> Pending<'endpoint, H> {
    /// One that will be begun.
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
