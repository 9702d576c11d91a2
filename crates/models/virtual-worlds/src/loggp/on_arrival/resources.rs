//! A rank's processors and network interfaces, and the tasks that wait for them.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use quantities::Time;

use crate::loggp::free_from::FreeFrom;

/// The resources that a task needs at the same time: a processor, and perhaps one side of a network interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Needs {
    pub(super) processor: u8,
    pub(super) interface: Interface,
}

/// A side of a network interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Interface {
    None,
    Sending(u8),
    Receiving(u8),
}

/// A task in a queue: the one with the lowest sequence number is first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct WaitingTask {
    pub(super) sequence: u64,
    pub(super) task: u32,
    /// Since when it could have begun, had its resources been free.
    pub(super) since: Time,
}

/// From when on each processor and interface of a rank is free, and the tasks that wait for them.
///
/// Tasks that need the same resources wait in one queue, in the order of their sequence numbers. Only the head of a
/// queue has an event for its next try, so that tasks behind it do not all try again each time.
#[derive(Debug, Default)]
pub(super) struct Resources {
    processors: FreeFrom,
    sending: FreeFrom,
    receiving: FreeFrom,
    /// There are few.
    queues: Vec<Queue>,
}

/// The tasks that wait for the same resources: usually one.
#[derive(Debug)]
struct Queue {
    needs: Needs,
    head: WaitingTask,
    others: BinaryHeap<Reverse<WaitingTask>>,
}

impl Resources {
    /// From when on all of `needs` are free.
    #[inline]
    pub(super) fn free_from(&self, needs: Needs) -> Time {
        let interface = match needs.interface {
            Interface::None => Time::ZERO,
            Interface::Sending(number) => self.sending.get(number),
            Interface::Receiving(number) => self.receiving.get(number),
        };
        self.processors.get(needs.processor).max(interface)
    }

    /// From when on a processor is free.
    #[inline]
    pub(super) fn processor_free_from(&self, processor: u8) -> Time {
        self.processors.get(processor)
    }

    /// Occupies the processor until one time and the interface until another, unless they are occupied for longer
    /// already.
    #[inline]
    pub(super) fn keep(&mut self, needs: Needs, processor_until: Time, interface_until: Time) {
        self.processors.keep(needs.processor, processor_until);
        match needs.interface {
            Interface::None => {}
            Interface::Sending(number) => self.sending.keep(number, interface_until),
            Interface::Receiving(number) => self.receiving.keep(number, interface_until),
        }
    }

    /// From when on all processors are free.
    pub(super) fn all_free_from(&self) -> Time {
        self.processors.all()
    }

    /// Queues a task for its resources; returns whether it is now the head of its queue.
    pub(super) fn wait(&mut self, needs: Needs, mut waiting: WaitingTask) -> bool {
        let Some(queue) = self.queues.iter_mut().find(|queue| queue.needs == needs) else {
            self.queues.reserve_exact(1);
            self.queues.push(Queue { needs, head: waiting, others: BinaryHeap::new() });
            return true;
        };
        let first = waiting < queue.head;
        if first {
            std::mem::swap(&mut waiting, &mut queue.head);
        }
        queue.others.push(Reverse(waiting));
        first
    }

    /// The head of a queue.
    #[inline]
    pub(super) fn head(&self, needs: Needs) -> Option<WaitingTask> {
        self.queues.iter().find(|queue| queue.needs == needs).map(|queue| queue.head)
    }

    /// Removes the head of a queue.
    pub(super) fn take_head(&mut self, needs: Needs) {
        let Some(place) = self.queues.iter().position(|queue| queue.needs == needs) else { return };
        match self.queues[place].others.pop() {
            Some(Reverse(next)) => self.queues[place].head = next,
            None => drop(self.queues.swap_remove(place)),
        }
    }
}
