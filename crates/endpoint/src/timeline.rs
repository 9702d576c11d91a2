//! What every rank did when.

use quantities::{Bytes, Rank, Time};

/// What every rank did when.
#[derive(Clone, Debug, Default)]
pub struct Timeline {
    /// What ranks did, in the order they ended, at one time in the order of ranks.
    pub spans: Vec<Span>,
    /// Messages, in the order they were received, at one time in the order of their receivers.
    pub messages: Vec<MessageRecord>,
    /// Whether spans begin when a processor turns to them, and not when their rank has begun them; then a message is taken in on
    /// its arrival, and no span tells how long a rank has waited for it.
    pub by_processor: bool,
}

impl Timeline {
    /// The same, where what ended at one time is in the order of ranks: so it does not depend on the order in which a machine looks at
    /// what happens at once.
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
    /// To whom it sent, or from whom it received or was to receive; nothing if that is no one rank.
    pub partner: Option<Rank>,
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
    /// When it, or its announcement, was at its receiver: since then a receive could take it. [ps]
    pub arrived: Time,
    /// When `receive` had it. [ps]
    pub received: Time,
}
