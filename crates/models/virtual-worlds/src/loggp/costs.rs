//! What a message costs under LogGP, without overflow: sums that don't fit saturate at the end of time.
//!
//! Symbols: L latency, o overhead of a message, g gap between messages, G gap per byte, O overhead per byte, s size.
//!
//! Source: Alexandrov, Ionescu, Schauser and Scheiman, LogGP, SPAA 1995; O as in Hoefler, Schneider and Lumsdaine,
//! LogGOPSim, LSAP 2010.

use machines::model::LogGp;
use quantities::{Bytes, Duration, Time};

/// The costs of a machine, for messages of any size.
#[derive(Clone, Copy, Debug)]
pub(super) struct Costs {
    /// L
    pub(super) latency: Duration,
    /// o
    pub(super) overhead: Duration,
    /// g
    gap: Duration,
    /// G
    gap_per_byte: Duration,
    /// O
    overhead_per_byte: Duration,
    /// The size from which a send waits for its receiver; larger than any message where none does. [B]
    rendezvous: u64,
}

impl Costs {
    pub(super) fn new(model: &LogGp) -> Costs {
        Costs {
            latency: model.latency,
            overhead: model.overhead,
            gap: model.gap,
            gap_per_byte: model.gap_per_byte,
            overhead_per_byte: model.overhead_per_byte,
            rendezvous: model.rendezvous.map_or(u64::MAX, |size| size.0),
        }
    }

    /// o + (s-1) O: how long a send occupies the processor.
    pub(super) fn sending(&self, size: Bytes) -> Duration {
        self.overhead + after_the_first(size, self.overhead_per_byte)
    }

    /// o + max((s-1) O, (s-1) G): how long a message that arrives occupies the processor. Its last byte comes (s-1) G
    /// after its first, so that the message can't be complete earlier.
    pub(super) fn receiving(&self, size: Bytes) -> Duration {
        self.overhead + after_the_first(size, self.overhead_per_byte.max(self.gap_per_byte))
    }

    /// g + (s-1) G: how long a message occupies the network interface, on either side.
    pub(super) fn occupying(&self, size: Bytes) -> Duration {
        self.gap + after_the_first(size, self.gap_per_byte)
    }

    /// o + (s-1) G: from the start of a send until its last byte has left the node.
    pub(super) fn leaving(&self, size: Bytes) -> Duration {
        self.overhead + after_the_first(size, self.gap_per_byte)
    }

    /// When the first byte of a message reaches its receiver, if the send starts at `start`: o + L later.
    pub(super) fn arrival(&self, start: Time) -> Time {
        start + self.overhead + self.latency
    }

    /// Whether a send of `size` bytes waits for its receiver.
    pub(super) fn waits_for_receiver(&self, size: Bytes) -> bool {
        size.0 >= self.rendezvous
    }
}

/// (s-1) times a cost per byte: that of all bytes after the first.
fn after_the_first(size: Bytes, per_byte: Duration) -> Duration {
    per_byte * size.0.saturating_sub(1)
}
