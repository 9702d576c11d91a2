//! What a rank does that has asked MPI and learned nothing.

use std::thread;

/// How often it asks at once before it lets others have the processor: for longer than a message takes between two processors.
const AT_ONCE: u32 = 2_000;

/// How long this rank has asked in vain.
#[derive(Clone, Copy, Debug)]
pub(super) struct Polling {
    /// Whether this computer has more ranks than processors: then it may be that one only waits for a processor to send what is waited
    /// for here.
    pub(super) crowded: bool,
    in_vain: u32,
}

impl Polling {
    pub(super) const fn new(crowded: bool) -> Polling {
        Polling { crowded, in_vain: 0 }
    }

    /// Something has come.
    pub(super) const fn success(&mut self) {
        self.in_vain = 0;
    }

    /// Nothing has; says how often that was so without a break.
    pub(super) fn failure(&mut self) -> u32 {
        self.in_vain = self.in_vain.saturating_add(1);
        if self.crowded || self.in_vain > AT_ONCE {
            thread::yield_now()
        } else {
            std::hint::spin_loop()
        }
        self.in_vain
    }
}
