//! What every rank did, and when.

use quantities::{Bytes, Rank, Time};

/// What every rank did, and when.
#[derive(Clone, Debug, Default)]
pub struct Timeline {
    /// What ranks did, in order of end time, and at one time in order of rank.
    pub spans: Vec<Span>,
    /// Messages, in order of the time they were received, and at one time in order of receiver.
    pub messages: Vec<MessageRecord>,
    /// Whether spans begin when a processor turns to an operation rather than when its rank begins it; if so, a message
    /// is taken in on arrival, and no span shows how long a rank waited for it.
    pub by_processor: bool,
}

impl Timeline {
    /// The same timeline, with what ended at one time sorted by rank: so it does not depend on the order in which a
    /// machine looks at simultaneous events.
    pub fn in_order(mut self) -> Timeline {
        self.spans.sort_by_key(|span| (span.end, span.rank));
        self.messages.sort_by_key(|message| (message.received, message.to));
        self
    }
}

/// A stretch of time that a rank spent on one thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// The rank.
    pub rank: Rank,
    /// What it did.
    pub activity: Activity,
    /// The rank that it sent to, or received or was to receive from; nothing if that is not a single rank.
    pub partner: Option<Rank>,
    /// When it began. [ps]
    pub start: Time,
    /// When it ended. [ps]
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
    /// The sender.
    pub from: Rank,
    /// The receiver.
    pub to: Rank,
    /// Its size. [B]
    pub size: Bytes,
    /// When `send` was called. [ps]
    pub sent: Time,
    /// When it, or its announcement, reached its receiver: from then on a receive could take it. [ps]
    pub arrived: Time,
    /// When `receive` returned it. [ps]
    pub received: Time,
}
