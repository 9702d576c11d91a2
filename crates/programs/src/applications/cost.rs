//! What computation costs in simulated time.

use quantities::{Bytes, Duration};

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

/// What it costs a node to put a block of an array together for a message, or to take it apart again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Packing {
    /// For each block. [ps]
    pub block: Duration,
    /// And for each of its bytes. [ps/B]
    pub byte: Duration,
}

impl Packing {
    /// How long so many blocks of `bytes` each take; the longest time there is when they take longer.
    pub fn time(self, blocks: u64, bytes: Bytes) -> Duration {
        let copying = self.byte.picoseconds().saturating_mul(bytes.0);
        let one = self.block.picoseconds().saturating_add(copying);
        Duration::from_picoseconds(one.saturating_mul(blocks))
    }

    /// What that is for each byte of a block of `bytes`, rounded down. [ps/B]
    pub fn per_byte(self, bytes: Bytes) -> Duration {
        Duration::from_picoseconds(self.time(1, bytes).picoseconds() / bytes.0.max(1))
    }
}
