//! Simple broadcast: packet after packet at once, whether receivers have room or not.
//!
//! ```text
//!     source    ~ 0 ~ 1 ~ 2 ~ 3 ~ ... as far as the window ~~~>
//!     each receiver     <-- reports every few packets, or a little later
//! ```
//!
//! Right for short messages, which find room in the pushed buffers. Of a long one the packets that find none are sent again,
//! to each receiver that came late.
//!
//! Costs of s bytes in packets of p: ceil(s / p) packets, and n - 1 reports every few packets.
//!
//! Source: Wong and Wang 2000, section 3.2.

use quantities::Bytes;

/// How much of a message of that size is in the first packet, and how much is sent without being pulled: all of it. [B]
pub(crate) fn push_of(size: Bytes) -> (u64, u64) {
    (size.0, size.0)
}
