//! What a rank asks of its machine, and the outcome.

use quantities::{Bytes, Duration, Rank, Time};

use crate::timeline::Activity;
use crate::{Error, Message, Result, WaitsFor};

/// Identifies a message together with its sender, as in MPI. The two largest 32-bit numbers are not tags.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Tag(pub u32);

impl Tag {
    /// The tag of messages that collectives send within a program that also sends messages of its own. A receive with
    /// any tag does not match it: in MPI, the communicator's context serves this purpose.
    pub const OF_COLLECTIVES: Tag = Tag(u32::MAX - 2);
    /// The largest that a program may choose.
    pub const LARGEST: Tag = Tag(Tag::OF_COLLECTIVES.0 - 1 - (1 << 16));

    /// The tag of the messages of a collective between ranks that can't be compared otherwise: with `digest`, a digest
    /// of what its ranks must agree on. A receive with any tag does not match it, either; [`Tags::OfCollectives`] does.
    pub const fn of_collective(digest: u16) -> Tag {
        Tag(Tag::LARGEST.0 + 1 + digest as u32)
    }
}

/// The sender whose message a receive takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// That rank.
    Rank(Rank),
    /// Anyone: the message that arrives first.
    Any,
}

/// Which messages a receive takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tags {
    /// Those with that tag.
    Only(Tag),
    /// Those with any tag that a program may choose. The largest number, which is not a tag, is free for messages
    /// between machines.
    Any,
    /// Those with any [tag of a collective](Tag::of_collective).
    OfCollectives,
}

impl Tags {
    /// Whether a message with `tag` is one of them.
    pub fn include(self, tag: Tag) -> bool {
        match self {
            Tags::Only(only) => only == tag,
            Tags::Any => tag <= Tag::LARGEST,
            Tags::OfCollectives => Tag::LARGEST < tag && tag < Tag::OF_COLLECTIVES,
        }
    }
}

/// A message that was received.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Received {
    /// The sender.
    pub from: Rank,
    /// Its tag.
    pub tag: Tag,
    /// The message itself.
    pub message: Message,
}

impl Received {
    /// The message, if the receive of rank `to` had room for it: MPI calls a message that is longer truncated. A
    /// shorter one fits.
    ///
    /// # Errors
    /// [`Error::Mismatch`] names both ranks, the tag and both sizes.
    pub fn fitting(self, to: Rank, room: Bytes) -> Result<Received> {
        let Received { from, tag, ref message } = self;
        if message.size() <= room {
            return Ok(self);
        }
        let (sent, tag, room) = (message.size().0, tag.0, room.0);
        Err(Error::Mismatch(format!(
            "the message of rank {from} to rank {to} with tag {tag} has {sent} B, and its receive has room for {room} B; allowed is at \
             most that"
        )))
    }
}

/// An operation that a rank asks its machine to carry out.
#[derive(Clone, Debug)]
pub enum Operation {
    /// To send a message.
    Send {
        /// The receiver.
        to: Rank,
        /// Its tag.
        tag: Tag,
        /// The message itself.
        message: Message,
    },
    /// To receive a message.
    Receive {
        /// The sender.
        from: Source,
        /// The tags that it matches.
        tags: Tags,
        /// When to give up; never if absent.
        deadline: Option<Time>,
    },
    /// To wait for a message that no receive under way takes, and to leave it where it is.
    Probe {
        /// The sender.
        from: Source,
        /// The tags that it matches.
        tags: Tags,
        /// When to give up; never if absent.
        deadline: Option<Time>,
    },
    /// To compute for this long.
    Compute(Duration),
    /// To wait until this time, leaving the processor free.
    Sleep(Time),
    /// To broadcast in hardware.
    Multicast(Message),
    /// To receive the next broadcast of that rank.
    ReceiveMulticast(Rank),
}

impl Operation {
    /// The one rank that a message goes to or must come from.
    pub fn partner(&self) -> Option<Rank> {
        match *self {
            Operation::Send { to, .. } => Some(to),
            Operation::Receive { from: Source::Rank(from), .. }
            | Operation::Probe { from: Source::Rank(from), .. }
            | Operation::ReceiveMulticast(from) => Some(from),
            Operation::Receive { from: Source::Any, .. }
            | Operation::Probe { from: Source::Any, .. }
            | Operation::Compute(_)
            | Operation::Sleep(_)
            | Operation::Multicast(_) => None,
        }
    }

    /// What its rank does meanwhile, and the other rank if it is known; nothing if it takes no processor.
    pub(crate) fn activity(&self) -> Option<(Activity, Option<Rank>)> {
        let activity = match self {
            Operation::Send { .. } | Operation::Multicast(_) => Activity::Send,
            Operation::Receive { .. } | Operation::ReceiveMulticast(_) => Activity::Receive,
            Operation::Compute(_) => Activity::Compute,
            Operation::Sleep(_) | Operation::Probe { .. } => return None,
        };
        Some((activity, self.partner()))
    }

    /// What a rank waits for when it waits for this operation.
    pub(crate) fn waits_for(&self) -> WaitsFor {
        match *self {
            Operation::Send { to, .. } => WaitsFor::Receiver(to),
            Operation::Receive { from: Source::Rank(from), tags, .. }
            | Operation::Probe { from: Source::Rank(from), tags, .. } => WaitsFor::MessageFrom(from, tags),
            Operation::Receive { from: Source::Any, tags, .. } | Operation::Probe { from: Source::Any, tags, .. } => {
                WaitsFor::AnyMessage(tags)
            }
            Operation::ReceiveMulticast(from) => WaitsFor::MessageFrom(from, Tags::Any),
            Operation::Compute(_) | Operation::Sleep(_) | Operation::Multicast(_) => WaitsFor::Machine,
        }
    }
}

/// A message that no receive took. MPI calls a message unexpected when it arrives before its receive is posted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Unexpected {
    /// The receiver.
    pub to: Rank,
    /// The sender.
    pub from: Rank,
    /// Its tag.
    pub tag: Tag,
    /// The sender's request that sent it, if a request did.
    pub request: Option<u32>,
}

/// When a message was sent and when it arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Passage {
    /// When its sender began to send it. [ps]
    pub sent: Time,
    /// When it, or its announcement, reached its receiver: from then on a receive could take it. [ps]
    pub arrived: Time,
}

/// The outcome of an operation that is over.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// It was sent, computed or broadcast.
    Done,
    /// The message that was received, and when it was sent and arrived.
    Received(Received, Passage),
    /// What a probe has found: the message without its content.
    Probed(Received),
}

impl Outcome {
    /// The message that it received or found, if any.
    pub fn into_received(self) -> Option<Received> {
        match self {
            Outcome::Received(received, _) | Outcome::Probed(received) => Some(received),
            Outcome::Done => None,
        }
    }

    /// The message of a receive or a probe.
    ///
    /// # Errors
    /// [`Error::Unfit`] when there is none.
    pub fn received(self) -> Result<Received> {
        self.into_received().ok_or_else(Error::without_message)
    }
}
