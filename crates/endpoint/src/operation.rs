//! What a rank asks of its machine, and what comes of it.

use quantities::{Duration, Rank, Time};

use crate::timeline::Activity;
use crate::{Error, Message, Result, WaitsFor};

/// What a message is known by beside its sender, as in MPI. The largest number of 32 bits is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Tag(pub u32);

impl Tag {
    /// The tag of what collectives send within a program that sends messages of its own, too. A receive of any tag does not take
    /// it: what the context of a communicator is for in MPI.
    pub const OF_COLLECTIVES: Tag = Tag(u32::MAX - 1);
    /// The largest that a program may choose.
    pub const LARGEST: Tag = Tag(u32::MAX - 2);
}

/// From whom a receive takes a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// From that rank.
    Rank(Rank),
    /// From anyone: the message that is there first.
    Any,
}

/// Which messages a receive takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tags {
    /// Those with that tag.
    Only(Tag),
    /// Those with any tag that a program may choose. The number that is no tag is free for what machines tell each other.
    Any,
}

impl Tags {
    /// Whether a message with `tag` is one of them.
    pub fn include(self, tag: Tag) -> bool {
        self == Tags::Only(tag) || self == Tags::Any && tag <= Tag::LARGEST
    }
}

/// A message that was received.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Received {
    /// Who sent it.
    pub from: Rank,
    /// Its tag.
    pub tag: Tag,
    /// What it says.
    pub message: Message,
}

/// Something that a rank asks of its machine.
#[derive(Clone, Debug)]
pub enum Operation {
    /// To send a message.
    Send {
        /// Who is to have it.
        to: Rank,
        /// Its tag.
        tag: Tag,
        /// What it says.
        message: Message,
    },
    /// To receive one.
    Receive {
        /// From whom.
        from: Source,
        /// Which.
        tags: Tags,
        /// Until when, if not for ever.
        deadline: Option<Time>,
    },
    /// To compute for so long.
    Compute(Duration),
    /// To wait until then, without the processor.
    Sleep(Time),
    /// To broadcast in hardware.
    Multicast(Message),
    /// To receive the next broadcast of that rank.
    ReceiveMulticast(Rank),
}

impl Operation {
    /// The one rank to which a message goes, or from which it is to come.
    pub fn partner(&self) -> Option<Rank> {
        match *self {
            Operation::Send { to, .. } => Some(to),
            Operation::Receive { from: Source::Rank(from), .. } | Operation::ReceiveMulticast(from) => Some(from),
            Operation::Receive { from: Source::Any, .. }
            | Operation::Compute(_)
            | Operation::Sleep(_)
            | Operation::Multicast(_) => None,
        }
    }

    /// What its rank does meanwhile, and with which other rank if it is known; nothing if it takes no processor.
    pub(crate) fn activity(&self) -> Option<(Activity, Option<Rank>)> {
        let activity = match self {
            Operation::Send { .. } | Operation::Multicast(_) => Activity::Send,
            Operation::Receive { .. } | Operation::ReceiveMulticast(_) => Activity::Receive,
            Operation::Compute(_) => Activity::Compute,
            Operation::Sleep(_) => return None,
        };
        Some((activity, self.partner()))
    }

    /// What a rank waits for that waits for it.
    pub(crate) fn waits_for(&self) -> WaitsFor {
        match *self {
            Operation::Send { to, .. } => WaitsFor::Receiver(to),
            Operation::Receive { from: Source::Rank(from), .. } | Operation::ReceiveMulticast(from) => {
                WaitsFor::MessageFrom(from)
            }
            Operation::Receive { from: Source::Any, .. } => WaitsFor::AnyMessage,
            Operation::Compute(_) | Operation::Sleep(_) | Operation::Multicast(_) => WaitsFor::Machine,
        }
    }
}

/// A message that no receive took, as MPI calls those that come before they are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Unexpected {
    /// To whom it was sent.
    pub to: Rank,
    /// By whom.
    pub from: Rank,
    /// With which tag.
    pub tag: Tag,
    /// By which request of its sender, if it was one.
    pub request: Option<u32>,
}

/// When a message was where on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Passage {
    /// When its sender had begun to send it. [ps]
    pub sent: Time,
    /// When it, or its announcement, was at its receiver: since then a receive could take it. [ps]
    pub arrived: Time,
}

/// What an operation that is over has brought.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// It was sent, computed or broadcast.
    Done,
    /// It was received; and when it was where.
    Received(Received, Passage),
}

impl Outcome {
    /// The message that it brought, if it brought one.
    pub fn into_received(self) -> Option<Received> {
        match self {
            Outcome::Received(received, _) => Some(received),
            Outcome::Done => None,
        }
    }

    /// The message of a receive.
    ///
    /// # Errors
    /// [`Error::Unfit`] when it brought none.
    pub fn received(self) -> Result<Received> {
        self.into_received().ok_or_else(Error::without_message)
    }
}
