//! A rank's processors and network interfaces, and what waits for them.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use programs::goal::OperationId;
use quantities::Time;

/// Something that needs a processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Task {
    /// A calculation or a send.
    Operation(OperationId),
    /// A message that has arrived.
    Message(u32),
}

/// What a task needs at once: a processor, and perhaps one side of a network interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Needs {
    pub(super) processor: u8,
    pub(super) interface: Interface,
}

/// A side of a network interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Interface {
    None,
    Sending(u8),
    Receiving(u8),
}

/// A task in a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Waiting {
    sequence: u64,
    task: Task,
    /// Since when it could have begun, had its needs been free.
    since: Time,
}

/// From when on each processor and interface of a rank is free, and the tasks that wait for them.
///
/// Tasks that need the same things wait in one queue, in the order of their sequence numbers. Only the head of a queue
/// has an event for when it tries again, so that many that wait do not all try again each time.
#[derive(Debug, Default)]
pub(super) struct Resources {
    processors: FreeFrom,
    sending: FreeFrom,
    receiving: FreeFrom,
    queues: BTreeMap<Needs, BinaryHeap<Reverse<Waiting>>>,
}

impl Resources {
    /// From when on all of `needs` are free.
    pub(super) fn free_from(&self, needs: Needs) -> Time {
        let interface = match needs.interface {
            Interface::None => Time::ZERO,
            Interface::Sending(number) => self.sending.get(number),
            Interface::Receiving(number) => self.receiving.get(number),
        };
        self.processors.get(needs.processor).max(interface)
    }

    /// From when on a processor is free.
    pub(super) fn processor_free_from(&self, processor: u8) -> Time {
        self.processors.get(processor)
    }

    /// Keeps the processor until one time and the interface until another, unless they are kept longer already.
    pub(super) fn keep(&mut self, needs: Needs, processor_until: Time, interface_until: Time) {
        self.processors.keep(needs.processor, processor_until);
        match needs.interface {
            Interface::None => {}
            Interface::Sending(number) => self.sending.keep(number, interface_until),
            Interface::Receiving(number) => self.receiving.keep(number, interface_until),
        }
    }

    /// When the last processor is free.
    pub(super) fn all_free_from(&self) -> Time {
        self.processors.0.iter().copied().max().unwrap_or(Time::ZERO)
    }

    /// Lets a task wait for its needs; whether it is now the head of its queue.
    pub(super) fn wait(&mut self, needs: Needs, sequence: u64, task: Task, since: Time) -> bool {
        let queue = self.queues.entry(needs).or_default();
        queue.push(Reverse(Waiting { sequence, task, since }));
        queue.peek().is_some_and(|head| head.0.sequence == sequence)
    }

    /// The sequence number of the head of a queue.
    pub(super) fn head(&self, needs: Needs) -> Option<u64> {
        self.queues.get(&needs)?.peek().map(|head| head.0.sequence)
    }

    /// Takes the head of a queue, and since when it has waited.
    pub(super) fn take_head(&mut self, needs: Needs) -> Option<(Task, Time)> {
        let queue = self.queues.get_mut(&needs)?;
        let head = queue.pop();
        if queue.is_empty() {
            self.queues.remove(&needs);
        }
        head.map(|Reverse(Waiting { task, since, .. })| (task, since))
    }
}

/// Times from when on numbered things are free; those that are not in the vector have never been used.
#[derive(Debug, Default)]
struct FreeFrom(Vec<Time>);

impl FreeFrom {
    fn get(&self, number: u8) -> Time {
        self.0.get(usize::from(number)).copied().unwrap_or(Time::ZERO)
    }

    fn keep(&mut self, number: u8, until: Time) {
        let number = usize::from(number);
        if self.0.len() <= number {
            self.0.resize(number + 1, Time::ZERO);
        }
        self.0[number] = self.0[number].max(until);
    }
}
