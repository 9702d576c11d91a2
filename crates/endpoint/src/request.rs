//! Requests: operations that a rank begins and hears of later.
//!
//! As in MPI, where `MPI_Isend` and `MPI_Irecv` begin an operation and return at once, and `MPI_Waitany` waits for the first of several
//! to be over. A rank may have any number of them under way; each costs no future, and waiting for any of them is no search. That is
//! how schedules, traces and channels are played: whatever is ready is begun, and what is over says what is ready next.
//!
//! | here | in MPI |
//! |---|---|
//! | [`Endpoint::start`](crate::Endpoint::start) with a send, a receive | `MPI_Isend`, `MPI_Irecv` |
//! | [`Request::number`] | the `MPI_Request`, but chosen by the caller |
//! | [`Endpoint::wait_any`](crate::Endpoint::wait_any) | `MPI_Waitany` over all requests that are under way |
//! | [`Report`] | the index and the `MPI_Status` that it gives |
//! | [`Request::processor`], [`Request::interface`] | which thread of the process, which network device |
//!
//! MPI has no computations among its requests, and does not tell when one was started; here both belong to it.

use quantities::Time;

use crate::{Error, Operation, Outcome, Result};

/// An operation that is begun, and what its rank wants to hear of it.
#[derive(Clone, Debug)]
pub struct Request {
    /// By what number the rank knows it: at most [`Request::MOST`], and none that is still under way.
    pub number: u32,
    /// What is to be done. A receive of a request has no deadline.
    pub operation: Operation,
    /// Which of the rank's processors does it, from 0.
    pub processor: u8,
    /// Over which of the rank's network interfaces it goes, from 0. Of no account where a machine's nodes have one only.
    pub interface: u8,
    /// From when on it may be begun: [`Report::at`] of what it had to wait for. Now, if that is past. [ps]
    pub not_before: Time,
    /// Whether the rank is told when it starts, too.
    pub tells_start: bool,
}

impl Request {
    /// The highest number of a request.
    pub const MOST: u32 = (1 << 31) - 1;

    /// A request like `MPI_Isend` and `MPI_Irecv` make it: at once, by the first processor and over the first interface.
    pub const fn new(number: u32, operation: Operation) -> Request {
        Request { number, operation, processor: 0, interface: 0, not_before: Time::ZERO, tells_start: false }
    }
}

/// How far a request has come when [`Endpoint::start`](crate::Endpoint::start) returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Begun {
    /// It has started, and no report will say so.
    Started,
    /// It starts later, or when is not known.
    Later,
}

/// What a rank is told of one of its requests.
#[derive(Clone, Debug)]
pub struct Report {
    /// The request's number.
    pub number: u32,
    /// When it happens. A machine may tell of it before, as soon as it is certain, if until then the request's processor does nothing
    /// else: so what the same processor does next can be begun at once. [ps]
    pub at: Time,
    /// What happens.
    pub event: Event,
}

/// What happens to a request.
#[derive(Clone, Debug)]
pub enum Event {
    /// A processor takes it up. A receive starts when it is posted.
    Started,
    /// It is over: with its outcome, or why there is none.
    Over(Result<Outcome>),
}

/// The error of an endpoint whose world knows no requests.
pub(crate) fn no_requests() -> Error {
    Error::Unfit("the world begins no requests: it cannot tell which of several operations is over first".to_owned())
}
