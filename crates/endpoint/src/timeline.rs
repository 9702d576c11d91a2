//! What every rank did when.

use quantities::{Bytes, Rank, Time};

/// What every rank did when.
#[derive(Clone, Debug, Default)]
pub struct Timeline {
    /// What ranks did, in the order they ended.
    pub spans: Vec<Span>,
    /// Messages, in the order they were received.
    pub messages: Vec<MessageRecord>,
}

/// A stretch of time that a rank spent on one thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// The rank.
    pub rank: Rank,
    /// What it did.
    pub activity: Activity,
    /// From when. [ps]
    pub start: Time,
    /// To when. [ps]
    pub end: Time,
}

/// What a rank does with its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Activity {
    /// In `send`.
    Send,
    /// In `receive`.
    Receive,
    /// In `compute`.
    Compute,
}

/// A message from the call of `send` to the end of `receive`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MessageRecord {
    /// Who sent it.
    pub from: Rank,
    /// Who received it.
    pub to: Rank,
    /// Its size. [B]
    pub size: Bytes,
    /// When `send` was called. [ps]
    pub sent: Time,
    /// When `receive` had it. [ps]
    pub received: Time,
}
