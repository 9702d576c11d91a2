//! Simple broadcast: packet after packet at once, whether or not the receivers have room.
//!
//! ```text
//!     source    ~ 0 ~ 1 ~ 2 ~ 3 ~ ... as far as the window allows ~~~>
//!     each receiver     <-- reports every few packets, or a little later
//! ```
//!
//! Right for short messages, which find room in the pushed buffers. Packets of a long message that find none are sent
//! again, to each receiver that was late.
//!
//! Costs of s bytes in packets of p: ceil(s / p) packets, and n - 1 reports every few packets.
//!
//! Source: Wong and Wang 2000, section 3.2.

use quantities::Bytes;

/// How much of a message of this size is in the first packet, and how much is sent without being pulled: all of it. [B]
pub(crate) fn push_of(size: Bytes) -> (u64, u64) {
    (size.0, size.0)
}
