//! How a rank waits that has polled MPI in vain.

use std::thread;
use std::time::Duration;

/// How often it polls at once before it yields the processor: for longer than a message takes between two processors.
const AT_ONCE: u32 = 2_000;
/// How often it yields the processor before it sleeps.
const BEFORE_SLEEP: u32 = 8;
/// For how long it sleeps: not much longer than the senders it waits for need.
const SLEEP: Duration = Duration::from_micros(50);

/// How a rank waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waiting {
    /// It has a processor to itself, and polls again at once.
    Busy,
    /// This computer has more ranks than processors: the sender that it waits for may itself be waiting for a
    /// processor.
    Yielding,
    /// The same among ranks that may be busy-waiting themselves, as ranks that wait in MPI are: a rank that only yields
    /// is scheduled again before they have used up their time slices, and finds nothing again and again.
    Sleeping,
}

/// How often this rank has polled in vain.
#[derive(Clone, Copy, Debug)]
pub(super) struct Polling {
    waiting: Waiting,
    in_vain: u32,
}

impl Polling {
    pub(super) const fn new(waiting: Waiting) -> Polling {
        Polling { waiting, in_vain: 0 }
    }

    /// A poll found something.
    pub(super) const fn success(&mut self) {
        self.in_vain = 0;
    }

    /// A poll found nothing; returns how many have in a row.
    pub(super) fn failure(&mut self) -> u32 {
        self.in_vain = self.in_vain.saturating_add(1);
        match self.waiting {
            Waiting::Sleeping if self.in_vain > BEFORE_SLEEP => thread::sleep(SLEEP),
            // Each call of MPI takes longer than the processor's hint to pause would.
            Waiting::Busy if self.in_vain <= AT_ONCE => {}
            _ => thread::yield_now(),
        }
        self.in_vain
    }
}
