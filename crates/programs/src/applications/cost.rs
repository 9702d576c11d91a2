//! What computation costs in simulated time.

use quantities::Duration;

/// How fast a node computes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Speed {
    /// How long a floating-point operation takes. [ps]
    pub operation: Duration,
}

impl Speed {
    /// How long so many operations take; the longest time there is when they take longer.
    pub fn time(self, operations: u64) -> Duration {
        Duration::from_picoseconds(self.operation.picoseconds().saturating_mul(operations))
    }
}
