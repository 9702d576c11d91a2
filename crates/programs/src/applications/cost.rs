//! The cost of computation in simulated time.

use quantities::Duration;

/// How fast a node computes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Speed {
    /// How long a floating-point operation takes. [ps]
    pub operation: Duration,
}

impl Speed {
    /// How long `operations` operations take; saturates at the longest duration.
    pub fn time(self, operations: u64) -> Duration {
        Duration::from_picoseconds(self.operation.picoseconds().saturating_mul(operations))
    }
}
