//! The critical path of a run: the chain of operations that makes its makespan.
//!
//! After Yang and Miller, "Critical path analysis for the execution of parallel and distributed programs" (8th
//! International Conference on Distributed Computing Systems, 1988), and Schulz, "Extracting critical path graphs from
//! MPI applications" (IEEE Cluster, 2005). The nodes of their graph are the ends of operations; its edges are
//! operations and messages. The longest path is found from its end backwards, since of all that an operation X had to
//! wait for, only the last to come made it late:
//!
//! ```text
//!   r := the rank that ends last;  t := when it does
//!   while t > 0:
//!     X := the operation of r that ended last until t     between its end and t the rank waits
//!     own(X) := the later of: X was begun; the operation before X was off the processor of r
//!     if X receives a message that arrived after own(X):
//!         r, t := its sender, own(its send)               the message takes the time in between
//!     else if X sends a message, and waits for a receive Y with own(Y) > own(X):
//!         r, t := its receiver, own(Y)                    the message takes the time in between
//!     else:
//!         t := own(X)                                     X takes the time in between
//! ```
//!
//! So the steps of the path follow each other without a gap: their lengths sum to the makespan. The time of a message
//! is split: *overhead* is what the processors of its two ends do for an empty message, *latency* is the rest of what an
//! empty message between the same ranks takes alone, *bandwidth* is what its bytes add to that, and *contention* is the
//! rest: other messages were in its way, in the network or at processors and network interfaces.

mod alone;
mod backwards;
mod trace;

use std::collections::BTreeSet;
use std::ops::AddAssign;

use endpoint::Result;
use machines::model::Machine;
use quantities::{Bytes, Duration, Rank, Time};

use self::alone::{IsolatedCost, IsolatedCosts, Kind, alone};
use self::backwards::Backwards;
pub use self::trace::Trace;
use crate::answer::Answer;
use crate::flit::world::Options;

/// The chain of operations that determines the makespan, from start to end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CriticalPath {
    /// Its steps; each begins when the one before it ends.
    pub steps: Vec<Step>,
}

/// A stretch of the critical path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// The rank; of a message the sender, where its whole way is on the path.
    pub rank: Rank,
    /// What took the time.
    pub cause: Cause,
    /// When it begins. [ps]
    pub start: Time,
    /// When it ends. [ps]
    pub end: Time,
    /// Where the time went. The parts sum to the length of the step.
    pub parts: Parts,
}

/// What takes the time of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The rank computes.
    Computing,
    /// The rank waits, for no message: it sleeps, has not begun, or waits until a deadline.
    Waiting,
    /// A message from one rank to another.
    Message {
        /// The sender.
        from: Rank,
        /// The receiver; the sender itself, where a broadcast is being sent.
        to: Rank,
        /// Its size. [B]
        size: Bytes,
        /// Whether it was broadcast in hardware.
        broadcast: bool,
        /// Which stretch of it.
        stretch: Stretch,
    },
}

/// The stretch of a message's time that is on the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stretch {
    /// From the send to the end of the receive.
    Whole,
    /// The send.
    Sending,
    /// The receive: the message had already arrived.
    Receiving,
    /// From the receive to the end of the send, which waited for it.
    Releasing,
}

impl Stretch {
    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Stretch::Whole => "message",
            Stretch::Sending => "send",
            Stretch::Receiving => "receive",
            Stretch::Releasing => "release",
        }
    }
}

impl Cause {
    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Cause::Computing => "compute",
            Cause::Waiting => "wait",
            Cause::Message { stretch, .. } => stretch.name(),
        }
    }

    /// The message to be measured alone, if it is one.
    fn kind(self) -> Option<Kind> {
        match self {
            Cause::Message { from, to, size, broadcast, .. } => Some(Kind { from, to, size, broadcast }),
            Cause::Computing | Cause::Waiting => None,
        }
    }
}

/// What the time was spent on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Parts {
    /// What processors do for messages, were they empty. [ps]
    pub overhead: Duration,
    /// What else empty messages take alone. [ps]
    pub latency: Duration,
    /// What their bytes add to that. [ps]
    pub bandwidth: Duration,
    /// What other messages add to that, in the network or at its ends. [ps]
    pub contention: Duration,
    /// Computing. [ps]
    pub computing: Duration,
    /// Waiting, but for no message. [ps]
    pub waiting: Duration,
}

/// A part of the critical path's time: a field of [`Parts`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// [`Parts::overhead`].
    Overhead,
    /// [`Parts::latency`].
    Latency,
    /// [`Parts::bandwidth`].
    Bandwidth,
    /// [`Parts::contention`].
    Contention,
    /// [`Parts::computing`].
    Computing,
    /// [`Parts::waiting`].
    Waiting,
}

impl Part {
    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Part::Overhead => "overhead",
            Part::Latency => "latency",
            Part::Bandwidth => "bandwidth",
            Part::Contention => "contention",
            Part::Computing => "computing",
            Part::Waiting => "waiting",
        }
    }
}

impl Parts {
    /// The parts one by one, each with its length.
    pub const fn each(&self) -> [(Part, Duration); 6] {
        [
            (Part::Overhead, self.overhead),
            (Part::Latency, self.latency),
            (Part::Bandwidth, self.bandwidth),
            (Part::Contention, self.contention),
            (Part::Computing, self.computing),
            (Part::Waiting, self.waiting),
        ]
    }

    /// The sum of the parts.
    pub fn sum(&self) -> Duration {
        self.each().into_iter().map(|(_, length)| length).sum()
    }

    /// The parts of a message's stretch that took `length`; alone it takes `full`, and with an empty message `empty`, of
    /// which processors work for `overhead`.
    fn of_message(length: Duration, full: Duration, empty: Duration, overhead: Duration) -> Parts {
        let without_bytes = length.min(empty);
        let overhead = overhead.min(without_bytes);
        let bandwidth = (length - without_bytes).min(full - empty.min(full));
        let contention = length - without_bytes - bandwidth;
        Parts { overhead, latency: without_bytes - overhead, bandwidth, contention, ..Parts::default() }
    }
}

impl AddAssign for Parts {
    fn add_assign(&mut self, other: Parts) {
        self.overhead += other.overhead;
        self.latency += other.latency;
        self.bandwidth += other.bandwidth;
        self.contention += other.contention;
        self.computing += other.computing;
        self.waiting += other.waiting;
    }
}

impl CriticalPath {
    /// The path of the run with this `answer` on `machine`, which was simulated with these `options`; none if no
    /// timeline was recorded.
    ///
    /// # Errors
    /// Whatever keeps the machine from carrying a message of the path again, alone; or that the run was asked to stop.
    pub fn of(machine: &Machine, options: Options, answer: &Answer) -> Result<Option<CriticalPath>> {
        let Some(timeline) = &answer.timeline else { return Ok(None) };
        let trace = Trace::new(timeline, answer.finish.len());
        let mut steps = Backwards::new(machine, &trace, timeline.by_processor).walk(&answer.finish);
        steps.reverse();
        let longest = timeline.messages.iter().map(|message| message.received.since(message.sent)).max();
        let apart = (longest.unwrap_or_default() + Duration::from_nanoseconds(1)) * 4;
        let kinds: BTreeSet<Kind> = steps.iter().filter_map(|step| step.cause.kind()).collect();
        let answers = alone((machine, &answer.nodes), options, timeline.by_processor, kinds, apart)?;
        let work = machine.processor_work(Bytes(0));
        for step in &mut steps {
            let answered = step.cause.kind().and_then(|kind| answers.get(&kind)).copied().unwrap_or_default();
            step.parts = step.split(&answered, work);
        }
        Ok(Some(CriticalPath { steps }))
    }

    /// What the time of the path was spent on.
    pub fn parts(&self) -> Parts {
        let mut sum = Parts::default();
        self.steps.iter().for_each(|step| sum += step.parts);
        sum
    }
}

impl Step {
    /// The length of the path.
    pub const fn length(&self) -> Duration {
        self.end.since(self.start)
    }

    /// Splits it, by what its message costs alone, and what the processors of sender and receiver do for an empty one.
    fn split(&self, IsolatedCosts { full, empty }: &IsolatedCosts, [sender, receiver]: [Duration; 2]) -> Parts {
        let length = self.length();
        match self.cause {
            Cause::Computing => Parts { computing: length, ..Parts::default() },
            Cause::Waiting => Parts { waiting: length, ..Parts::default() },
            Cause::Message { stretch, .. } => {
                let of = |alone: &IsolatedCost| match stretch {
                    Stretch::Whole => alone.whole,
                    Stretch::Sending => alone.sending,
                    Stretch::Receiving => alone.receiving,
                    Stretch::Releasing => alone.releasing,
                };
                let overhead = match stretch {
                    Stretch::Whole => sender + receiver,
                    Stretch::Sending => sender,
                    Stretch::Receiving => receiver,
                    Stretch::Releasing => Duration::ZERO,
                };
                Parts::of_message(length, of(full), of(empty), overhead)
            }
        }
    }
}
