//! The walk from the end of a run back to its beginning, along the dependencies that delayed it.

use machines::model::{Interconnect, Machine, SendMode};
use quantities::{Rank, Time};

use super::trace::Trace;
use super::{Cause, Parts, Step, Stretch};
use crate::answer::{Activity, MessageRecord};
use crate::waits_for_receivers;

/// The walk, and the steps taken so far.
pub(super) struct Backwards<'run> {
    machine: &'run Machine,
    trace: &'run Trace<'run>,
    /// Whether messages are taken in on arrival: see the timeline.
    by_processor: bool,
    /// How many operations of each rank the walk may still visit.
    left: Vec<usize>,
    steps: Vec<Step>,
}

impl<'run> Backwards<'run> {
    pub(super) fn new(machine: &'run Machine, trace: &'run Trace<'run>, by_processor: bool) -> Backwards<'run> {
        Backwards { machine, trace, by_processor, left: Vec::new(), steps: Vec::new() }
    }

    /// The steps from the end of the rank that finished last, according to `finish`, back to the beginning.
    pub(super) fn walk(mut self, finish: &[Time]) -> Vec<Step> {
        self.left = (0..finish.len() as u32).map(|rank| self.trace.of_rank(Rank(rank)).len()).collect();
        let makespan = finish.iter().copied().max().unwrap_or(Time::ZERO);
        let last = finish.iter().zip(0..).find(|(end, _)| **end == makespan);
        let (mut rank, mut time) = (last.map_or(Rank(0), |(_, rank)| Rank(rank)), makespan);
        while time > Time::ZERO {
            let Some(operation) = self.last_ended_by(rank, time) else {
                self.take(rank, Cause::Waiting, [Time::ZERO, time]);
                break;
            };
            self.take(rank, Cause::Waiting, [self.trace.operation(operation).end, time]);
            (rank, time) = self.step(operation);
        }
        self.steps
    }

    /// The last operation of `rank` to end by `time`, of those that are left; it is removed from them.
    fn last_ended_by(&mut self, rank: Rank, time: Time) -> Option<u32> {
        let operations = self.trace.of_rank(rank);
        let left = &mut self.left[rank.0 as usize];
        while *left > 0 {
            *left -= 1;
            if self.trace.operation(operations[*left]).end <= time {
                return Some(operations[*left]);
            }
        }
        None
    }

    /// Takes an operation; returns the rank that it waited for, and until when.
    fn step(&mut self, operation: u32) -> (Rank, Time) {
        let span = self.trace.operation(operation);
        let own = self.own(operation, span.end);
        let message = self.trace.message_of(operation);
        let cause = match (span.activity, message) {
            (Activity::Compute, _) => Cause::Computing,
            (Activity::Receive, Some(message)) if self.trace.message(message).arrived > own => {
                return self.late_receive(message, span.end);
            }
            (Activity::Receive, Some(message)) => self.cause(message, Stretch::Receiving),
            (Activity::Send, Some(message)) => match self.receiver_that_came_late(message, own, span.end) {
                Some((receive, posted)) => {
                    self.take(span.rank, self.cause(message, Stretch::Releasing), [posted, span.end]);
                    return self.before(receive, posted);
                }
                None => self.cause(message, Stretch::Sending),
            },
            // A receive whose deadline has passed, or a message that no rank has received.
            (Activity::Receive | Activity::Send, None) => Cause::Waiting,
        };
        self.take(span.rank, cause, [own, span.end]);
        (span.rank, own)
    }

    /// A receive that ended at `end` waited for its `message`, and so for the sender.
    fn late_receive(&mut self, message: u32, end: Time) -> (Rank, Time) {
        let &MessageRecord { from, sent, arrived, .. } = self.trace.message(message);
        let sender = self.trace.sender_of(message);
        let start = sender.map_or(sent, |send| self.own(send, arrived)).min(end);
        self.take(from, self.cause(message, Stretch::Whole), [start, end]);
        sender.map_or((from, start), |send| self.before(send, start))
    }

    /// Continues the walk with what precedes an `operation` that could go on at `time`.
    fn before(&mut self, operation: u32, time: Time) -> (Rank, Time) {
        let rank = self.trace.operation(operation).rank;
        let left = &mut self.left[rank.0 as usize];
        *left = (*left).min(self.trace.place_of(operation));
        (rank, time)
    }

    /// The receive of a `message`, and when it could go on, if the send waited for it. The send ended at `end`, and
    /// could itself go on at `own`.
    fn receiver_that_came_late(&self, message: u32, own: Time, end: Time) -> Option<(u32, Time)> {
        let record = self.trace.message(message);
        let receive = self.trace.receiver_of(message).filter(|_| waits_for_receivers(self.machine, record.size))?;
        let posted = self.own(receive, self.trace.operation(receive).end);
        (posted > own && posted > record.arrived && posted <= end).then_some((receive, posted))
    }

    /// From when on an operation, for which everything else was there at `until`, could go on as far as its own rank is
    /// concerned: since it began, and since the operation before it had left the processor.
    fn own(&self, operation: u32, until: Time) -> Time {
        let span = self.trace.operation(operation);
        let earlier = &self.trace.of_rank(span.rank)[..self.trace.place_of(operation)];
        let mut earlier = earlier.iter().rev().map(|&before| (before, self.trace.operation(before).end));
        if self.by_processor {
            // It begins when it has the processor; but a message that is taken in may have arrived before.
            let mut before = || earlier.find(|before| before.1 <= span.start).map_or(Time::ZERO, |before| before.1);
            return if span.activity == Activity::Receive { before() } else { span.start };
        }
        let before = earlier
            .take_while(|&(_, end)| end > span.start)
            .find(|&(before, end)| end <= until && self.holds_processor(before));
        before.map_or(span.start, |(_, end)| end)
    }

    /// Whether the operation holds the processor until it ends. Some sends wait for the network or their receiver, and
    /// not for the processor.
    fn holds_processor(&self, operation: u32) -> bool {
        if self.trace.operation(operation).activity != Activity::Send {
            return true;
        }
        match &self.machine.interconnect {
            Interconnect::LogGp(_) => {
                let message = self.trace.message_of(operation).map(|message| self.trace.message(message));
                message.is_none_or(|message| !waits_for_receivers(self.machine, message.size))
            }
            Interconnect::Flits(_) => self.machine.node.send == SendMode::NonBlocking,
            Interconnect::Ethernet(_) => true,
        }
    }

    fn cause(&self, message: u32, stretch: Stretch) -> Cause {
        let &MessageRecord { from, to, size, .. } = self.trace.message(message);
        let sender = self.trace.sender_of(message).map(|send| self.trace.operation(send));
        let broadcast = sender.is_some_and(|send| send.partner.is_none());
        Cause::Message { from, to, size, broadcast, stretch }
    }

    /// Records a step, if it takes any time.
    fn take(&mut self, rank: Rank, cause: Cause, [start, end]: [Time; 2]) {
        if start < end {
            self.steps.push(Step { rank, cause, start, end, parts: Parts::default() });
        }
    }
}
