//! Parity packets: lost packets are computed from parity packets, each of which repairs a different loss at every
//! receiver. Beyond the paper.
//!
//! ```text
//!     source      0 1 2 3 4 5 6 7   8 9 10 11 ..  p0 p1  ..          K = 8 packets are a block
//!     a has       0 1   3 4 5 6 7   8 9 10 11     p0      "one of 0 to 7 is missing"    2 = p0 - what it has
//!     b has       0 1 2 3 4   6     8 9 10 11     p0 p1   "two of 0 to 7 are"           5, 7 = p0, p1 - what it has
//!     c has       0 1 2 3 4 5 6 7   8 9 10 11             needs none of them
//! ```
//!
//! K consecutive packets of the stream are a block, and as symbols of a Reed-Solomon code they yield R parity symbols:
//! any K of the K + R suffice to compute all K packets. A symbol is the contents of a packet, padded with zeros to the
//! longest of its block.
//!
//! Nothing is sent in advance. Receivers report which packets they have and how many parity packets of which block; the
//! source broadcasts as many of a block as the receiver that misses most needs, and meanwhile continues with new
//! packets. Parity packets that are lost show in the next report, and others are sent. A receiver that misses more than
//! R gets the rest alone, and so does one that misses something of an incomplete block when the source has nothing more
//! to send: those repairs are a selective repeat.
//!
//! ```text
//!     sent besides the block:   max over receivers of what they lost,  not  the sum        n - 1 receivers, loss p
//!                               K = 448, n = 8, p = 1%:  7.5 packets (1.7%) instead of 31 (7%)
//! ```
//!
//! The source keeps up to B blocks, by reference, until all receivers have them, and computes parity only for those of
//! which something was lost. A receiver keeps the packets of the current block, those that arrived early, and at most R
//! parity packets of each of B + 1 blocks.
//!
//! Source: J. Nonnenmacher, E. Biersack, D. Towsley, Parity-Based Loss Recovery for Reliable Multicast Transmission,
//! SIGCOMM 1997 (integrated, repairs on demand); I. Reed and G. Solomon, Polynomial Codes over Certain Finite Fields,
//! 1960.

mod code;
mod receiver;
mod source;

pub(crate) use code::is_possible;
pub(crate) use receiver::Recovery;
pub(crate) use source::{ReceiverState, Repairs};

use crate::sequence::FIRST;

/// How the packets of a broadcast stream are grouped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parity {
    /// K: packets to a block.
    pub packets: u16,
    /// R: different parity packets for a block.
    pub parity: u16,
    /// B: how many blocks have packets in flight at most.
    pub blocks: u8,
}

impl Default for Parity {
    /// K + R is 512, for which the code is fast; of seven receivers that lose 5%, hardly ever does one miss more than
    /// R. Of the four blocks, one is being filled, one has its losses reported and repaired, and two are for repairs
    /// that are lost again.
    fn default() -> Parity {
        Parity { packets: 448, parity: 64, blocks: 4 }
    }
}

impl Parity {
    /// K B: how many packets are in flight at most, from the first that a receiver misses on.
    pub const fn window(self) -> u32 {
        self.packets as u32 * self.blocks as u32
    }

    /// K
    pub(crate) const fn size(self) -> u64 {
        self.packets as u64
    }

    /// The first packet of the block that packet `sequence` belongs to.
    pub(crate) const fn block_of(self, sequence: u64) -> u64 {
        sequence - sequence.saturating_sub(FIRST) % self.size()
    }
}
