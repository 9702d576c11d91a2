//! Requests: operations that a rank begins and whose end it learns of later.
//!
//! They work as in MPI, where `MPI_Isend` and `MPI_Irecv` begin an operation and return at once, and `MPI_Waitany`
//! waits for the first of several to end. A rank may have any number of them under way; none costs a future, and
//! waiting for any of them needs no search. This is how schedules, traces and channels are played: whatever is ready
//! begins, and whatever ends makes others ready.
//!
//! | in Maquette | in MPI |
//! |---|---|
//! | [`Endpoint::start`](crate::Endpoint::start) with a send, a receive | `MPI_Isend`, `MPI_Irecv` |
//! | [`Request::number`] | the `MPI_Request`, but chosen by the caller |
//! | [`Endpoint::wait_any`](crate::Endpoint::wait_any) | `MPI_Waitany` over all requests that are under way |
//! | [`Report`] | the index and the `MPI_Status` that it returns |
//! | [`Request::processor`], [`Request::interface`] | which thread of the process, which network device |
//!
//! Unlike MPI, requests include computations, and can report when an operation starts.

use quantities::Time;

use crate::{Error, Operation, Outcome, Result};

/// An operation to begin, and what its rank wants to be told about it.
#[derive(Clone, Debug)]
pub struct Request {
    /// The number by which the rank knows it: at most [`Request::MOST`], and not that of a request still under way.
    pub number: u32,
    /// The operation. A receive that is a request has no deadline.
    pub operation: Operation,
    /// Which of the rank's processors does it, from 0.
    pub processor: u8,
    /// Which of the rank's network interfaces it uses, from 0. Ignored where a machine's nodes have only one.
    pub interface: u8,
    /// The earliest time at which it may begin: [`Report::at`] of what it had to wait for. Now, if that is past. [ps]
    pub not_before: Time,
    /// Whether the rank is also told when it starts.
    pub reports_start: bool,
}

impl Request {
    /// The highest number of a request.
    pub const MOST: u32 = (1 << 31) - 1;

    /// A request as `MPI_Isend` and `MPI_Irecv` make it: at once, by the first processor and over the first interface.
    pub const fn new(number: u32, operation: Operation) -> Request {
        Request { number, operation, processor: 0, interface: 0, not_before: Time::ZERO, reports_start: false }
    }
}

/// The state of a request when [`Endpoint::start`](crate::Endpoint::start) returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StartStatus {
    /// It has started, and no report will say so.
    Started,
    /// It starts later, or at a time that is not known.
    Later,
}

/// What a rank is told of one of its requests.
#[derive(Clone, Debug)]
pub struct Report {
    /// The request's number.
    pub number: u32,
    /// When it happens. A machine may report it earlier, as soon as it is certain, if the request's processor does
    /// nothing else until then: so the processor's next operation can be begun at once. [ps]
    pub at: Time,
    /// What happens.
    pub event: Event,
}

/// What happens to a request.
#[derive(Clone, Debug)]
pub enum Event {
    /// A processor takes it up. A receive starts when it is posted.
    Started,
    /// It is over: its outcome, or why there is none.
    Completed(Result<Outcome>),
}

/// The error of an endpoint whose world has no requests.
pub(crate) fn no_requests() -> Error {
    Error::Unfit("the world begins no requests: it cannot tell which of several operations is over first".to_owned())
}
