//! What a rank does that has asked MPI and learned nothing.

use std::thread;
use std::time::Duration;

/// How often it asks at once before it lets others have the processor: for longer than a message takes between two processors.
const AT_ONCE: u32 = 2_000;
/// How often it lets others have the processor before it sleeps.
const BEFORE_SLEEP: u32 = 8;
/// For how long it sleeps: not much longer than others need who send what it waits for.
const SLEEP: Duration = Duration::from_micros(50);

/// How a rank waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waiting {
    /// It has a processor for itself, and asks again at once.
    Busy,
    /// This computer has more ranks than processors: it may be that one only waits for a processor to send what is waited for here.
    Yielding,
    /// The same among ranks that may be busy waiting themselves, as those are who wait for MPI: a rank that only yields has its turn again before
    /// they have used up theirs, and again and again finds nothing.
    Sleeping,
}

/// How long this rank has asked in vain.
#[derive(Clone, Copy, Debug)]
pub(super) struct Polling {
    waiting: Waiting,
    in_vain: u32,
}

impl Polling {
    pub(super) const fn new(waiting: Waiting) -> Polling {
        Polling { waiting, in_vain: 0 }
    }

    /// Something has come.
    pub(super) const fn success(&mut self) {
        self.in_vain = 0;
    }

    /// Nothing has; says how often that was so without a break.
    pub(super) fn failure(&mut self) -> u32 {
        self.in_vain = self.in_vain.saturating_add(1);
        match self.waiting {
            Waiting::Sleeping if self.in_vain > BEFORE_SLEEP => thread::sleep(SLEEP),
            Waiting::Busy if self.in_vain <= AT_ONCE => std::hint::spin_loop(),
            _ => thread::yield_now(),
        }
        self.in_vain
    }
}
