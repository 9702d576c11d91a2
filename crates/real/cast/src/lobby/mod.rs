//! Before and between rounds: the sender announces itself, receivers join, and are called to a round.
//!
//! ```text
//!     sender                                               receiver
//!     ~~~~ announce: which transfer, how much ~~~~~~~~~>   to the group, twice a second
//!     <--- ask ------------------------------------------   to every announced sender: the announcement may be old
//!     ---- answer: what was asked ---------------------->    so it is alive, and has the key
//!     <--- join ----------------------------------------   repeated until it is called, and answered
//!     ---- call: session, rank, how many -------------->   repeated until it is present
//!     <--- present -------------------------------------
//!          when all that were called are present, or the rest have been left out: a round
//! ```
//!
//! Replayed messages, of this transfer or an earlier one, have no effect. A receiver draws a nonce for each sender that
//! it waits for and numbers its questions, and only an answer with both counts as a sign of life. A sender rejects a
//! join whose nonce was replaced by a newer one of the same receiver, or whose number it has seen; and a call contains
//! the nonce and a session, which must be new.
//!
//! All of it is state machines: the current time and what has arrived are arguments, what to send is a result.

mod guest;
mod host;
mod message;

pub use guest::{Guest, Heard};
pub use host::{Called, Host, To};
pub use message::{
    Announce, Answer, Ask, Call, Envelope, Join, LONGEST, LobbyMessage, Mismatch, Present, Strange, Token,
};
