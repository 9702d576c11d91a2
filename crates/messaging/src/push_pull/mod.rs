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
//! A short message needs no handshake, and a long one never meets a receiver without a place for it. Where the receive is there
//! first, the report that pulls leaves as soon as the opening has come, so that the second part of the push and the pull cross.
//!
//! What is pushed and does not fit into the pushed buffer is thrown away but its opening, and pulled later, from its beginning. It is
//! acknowledged all the same: if it were not, it would hold up what is behind it in the stream, which may be the very fragments
//! for which the receiver waits.
//!
//! Receives may ask for tags, so messages may be received in another order than they were sent. Whatever waits for no receive does not hold
//! up what is behind it; a report then says which messages are incomplete.
//!
//! Costs of a message of s bytes in packets of p: 1 + ceil(s / p) packets where BTP >= s, with their reports; else one round trip
//! more.
//!
//! Source: Wong and Wang 2000, section 2, figure 1.

mod matching;
mod receiver;
mod sender;

pub(crate) use matching::{FromAnyone, Matching};
pub(crate) use receiver::{Candidate, LEAST_ROOM, Receiver};
pub(crate) use sender::Sender;
