//! Push-pull messaging: the beginning of a message is pushed, the rest is pulled.
//!
//! ```text
//!     source                                   receiver
//!     send(m)    --- opening, BTP1 bytes -->
//!                --- fragment, BTP2 bytes -->  no receive yet: into the pushed buffer; all of m waits there if it is short
//!     send queue                               receive(): the buffer's part of m is moved to its destination
//!     holds m    <-- report: pull m from BTP --
//!                --- fragments ------------->  straight to the destination
//!                <-- report: m is complete ---
//! ```
//!
//! A short message needs no handshake, and a long one never finds its receiver without a place for it. If the receive
//! is posted first, the report that pulls leaves as soon as the opening has arrived, so that the second part of the
//! push and the pull cross.
//!
//! Pushed bytes that don't fit into the pushed buffer are thrown away, apart from the opening, and pulled later, from
//! the beginning. They are acknowledged all the same: otherwise they would hold up everything behind them in the
//! stream, perhaps the very fragments for which the receiver waits.
//!
//! Receives may ask for tags, so messages may be received in a different order from that in which they were sent. A
//! message that no receive waits for does not hold up those behind it; a report then lists the incomplete messages.
//!
//! Costs of a message of s bytes in packets of p: 1 + ceil(s / p) packets if BTP >= s, with their reports; otherwise
//! one round trip more.
//!
//! Source: Wong and Wang 2000, section 2, figure 1.

mod by_tag;
mod matching;
mod receiver;
mod sender;

pub(crate) use matching::Matching;
pub(crate) use receiver::{Candidate, LEAST_ROOM, Receiver};
pub(crate) use sender::Sender;
