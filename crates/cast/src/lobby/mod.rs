//! Before and between rounds: the sender tells that it is there, receivers say that they want it, and are called to a round.
//!
//! ```text
//!     sender                                               receiver
//!     ~~~~ announce: which transfer, how much ~~~~~~~~~>   to the group, twice a second
//!     <--- join ----------------------------------------   again and again until it is called
//!     ---- call: session, rank, of how many ----------->   again and again until it is there
//!     <--- here ----------------------------------------
//!          when all that were called are here, or the others have been left out: a round
//! ```
//!
//! All of it as state machines: what time it is and what has come are arguments, what to send is a result.

mod guest;
mod host;
mod said;

pub use guest::{Guest, Heard};
pub use host::{Called, Host, To};
pub use said::{Announce, Call, Envelope, Here, Join, LONGEST, Said, Strange, Token};
