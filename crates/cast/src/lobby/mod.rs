//! Before and between rounds: the sender tells that it is there, receivers say that they want it, and are called to a round.
//!
//! ```text
//!     sender                                               receiver
//!     ~~~~ announce: which transfer, how much ~~~~~~~~~>   to the group, twice a second
//!     <--- ask ------------------------------------------   to every sender that is announced: it may be an old announcement
//!     ---- answer: what was asked ---------------------->    so it is there, and has the key
//!     <--- join ----------------------------------------   again and again until it is called, and answered
//!     ---- call: session, rank, of how many ----------->   again and again until it is there
//!     <--- here ----------------------------------------
//!          when all that were called are here, or the others have been left out: a round
//! ```
//!
//! What was recorded and is sent again, of this cast or of an earlier one, binds nobody: a receiver draws a nonce for each sender that it
//! comes to wait for and numbers what it asks, and only an answer with both counts as a sign of life. A sender believes no join
//! whose nonce was replaced by a newer one of the same receiver, or whose number came before; and a call names the nonce and a session
//! that must be a new one.
//!
//! All of it as state machines: what time it is and what has come are arguments, what to send is a result.

mod guest;
mod host;
mod message;

pub use guest::{Guest, Heard};
pub use host::{Called, Host, To};
pub use message::{
    Announce, Answer, Ask, Call, Envelope, Join, LONGEST, LobbyMessage, Mismatch, Present, Strange, Token,
};
