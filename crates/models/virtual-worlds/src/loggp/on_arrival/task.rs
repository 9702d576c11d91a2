//! The tasks of ranks, and messages under way.

use std::collections::BTreeMap;

use endpoint::{Message, Operation, Source, Tag, Tags};
use quantities::{Bytes, Rank, Time};

use super::resources::{Interface, Needs};
use crate::matching::{ANY, MatchPattern, number_of_tags};

/// A task of a rank.
#[derive(Clone, Copy, Debug)]
pub(super) struct Task {
    pub(super) kind: Kind,
    pub(super) processor: u8,
    pub(super) interface: u8,
    /// Whether its rank is notified when it starts.
    pub(super) reports_start: bool,
    /// The rank that began it.
    pub(super) rank: Rank,
    /// The rank's number for it.
    pub(super) number: u32,
    /// The receiver or the sender; [`ANY`] for any.
    pub(super) partner: u32,
    /// The tag; [`ANY`] for any.
    pub(super) tag: u32,
    /// The size of a message [B], the length of a computation, a receive's deadline [ps].
    pub(super) amount: u64,
    /// The earliest time at which it may begin; of a message, when its send started. [ps]
    pub(super) time: Time,
}

/// The kind of a task. Of tasks of one rank that become ready at once, sends begin before receives before computations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    Send,
    Receive,
    /// A receive that ends without a message at its deadline.
    ReceiveUntil,
    /// A wait for a message that is left to receives, and one that ends without it at its deadline.
    Probe,
    ProbeUntil,
    Compute,
    /// A message on its way or arrived, which a send has become.
    Message,
    /// It is over, and its rank will be notified when its time has come.
    Over,
    /// A receive that is over; its number is that of its rank's operation, the rest describes the message.
    Received,
    /// A probe that is over, as a receive would be.
    Probed,
}

impl Task {
    pub(super) const BLANK: Task = Task {
        kind: Kind::Over,
        processor: 0,
        interface: 0,
        reports_start: false,
        rank: Rank(0),
        number: 0,
        partner: 0,
        tag: 0,
        amount: 0,
        time: Time::ZERO,
    };

    /// The rank whose processor does it: of a message, the receiver.
    #[inline]
    pub(super) fn processor_rank(&self) -> Rank {
        if self.kind == Kind::Message { Rank(self.partner) } else { self.rank }
    }

    /// The resources it needs. A message that arrives needs the processor and interface with the numbers given in the
    /// send.
    #[inline]
    pub(super) fn needs(&self) -> Needs {
        let interface = match self.kind {
            Kind::Send => Interface::Sending(self.interface),
            Kind::Message => Interface::Receiving(self.interface),
            _ => Interface::None,
        };
        Needs { processor: self.processor, interface }
    }

    #[inline]
    pub(super) fn size(&self) -> Bytes {
        Bytes(self.amount)
    }

    /// The same as a task of this kind, which waits for a message.
    fn awaiting(self, kind: Kind, from: Source, tags: Tags, deadline: Option<Time>) -> Task {
        let partner = if let Source::Rank(Rank(from)) = from { from } else { ANY };
        let (tag, amount) = (number_of_tags(tags), deadline.map_or(0, Time::picoseconds));
        Task { kind, partner, tag, amount, ..self }
    }

    pub(super) fn pattern(&self) -> MatchPattern {
        MatchPattern { from: self.partner, tag: self.tag }
    }
}

/// All tasks by number; numbers are reused.
#[derive(Debug, Default)]
pub(super) struct Tasks {
    tasks: Vec<Task>,
    unused: Vec<u32>,
    /// Messages that carry data.
    contents: BTreeMap<u32, Message>,
}

impl Tasks {
    #[inline]
    pub(super) fn add(&mut self, task: Task) -> u32 {
        if let Some(number) = self.unused.pop() {
            self.tasks[number as usize] = task;
            return number;
        }
        self.tasks.push(task);
        self.tasks.len() as u32 - 1
    }

    /// A task for an operation that needs no resources.
    pub(super) fn add_operation(&mut self, task: Task, operation: Operation) -> Option<u32> {
        match operation {
            Operation::Send { to, tag: Tag(tag), message } => {
                let number = self.add(Task { kind: Kind::Send, partner: to.0, tag, amount: message.size().0, ..task });
                if message.content().is_some() {
                    self.contents.insert(number, message);
                }
                Some(number)
            }
            Operation::Receive { from, tags, deadline } => {
                let kind = if deadline.is_some() { Kind::ReceiveUntil } else { Kind::Receive };
                Some(self.add(task.awaiting(kind, from, tags, deadline)))
            }
            Operation::Probe { from, tags, deadline } => {
                let kind = if deadline.is_some() { Kind::ProbeUntil } else { Kind::Probe };
                Some(self.add(task.awaiting(kind, from, tags, deadline)))
            }
            Operation::Compute(work) => {
                Some(self.add(Task { kind: Kind::Compute, amount: work.picoseconds(), ..task }))
            }
            Operation::Sleep(_) | Operation::Multicast(_) | Operation::ReceiveMulticast(_) => None,
        }
    }

    #[inline]
    pub(super) fn release(&mut self, number: u32) {
        self.unused.push(number);
    }

    /// The content of a message.
    #[inline]
    pub(super) fn take_message(&mut self, number: u32) -> Message {
        let size = self.tasks[number as usize].size();
        if self.contents.is_empty() {
            return Message::of_size(size);
        }
        self.contents.remove(&number).unwrap_or(Message::of_size(size))
    }
}

impl std::ops::Index<u32> for Tasks {
    type Output = Task;
    #[inline]
    fn index(&self, number: u32) -> &Task {
        &self.tasks[number as usize]
    }
}

impl std::ops::IndexMut<u32> for Tasks {
    #[inline]
    fn index_mut(&mut self, number: u32) -> &mut Task {
        &mut self.tasks[number as usize]
    }
}
