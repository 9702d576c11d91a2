//! The cost of packing in simulated time.

use quantities::{Bytes, Duration};

/// The cost for a node of packing a block of an array into a message, or of unpacking it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Packing {
    /// The cost per block. [ps]
    pub block: Duration,
    /// The cost per byte of a block. [ps/B]
    pub byte: Duration,
}

impl Packing {
    /// How long `blocks` blocks of `bytes` each take; saturates at the longest duration.
    pub fn time(self, blocks: u64, bytes: Bytes) -> Duration {
        let copying = self.byte.picoseconds().saturating_mul(bytes.0);
        let one = self.block.picoseconds().saturating_add(copying);
        Duration::from_picoseconds(one.saturating_mul(blocks))
    }

    /// The total cost per byte of a block of `bytes`, rounded down. [ps/B]
    pub fn per_byte(self, bytes: Bytes) -> Duration {
        Duration::from_picoseconds(self.time(1, bytes).picoseconds() / bytes.0.max(1))
    }
}
