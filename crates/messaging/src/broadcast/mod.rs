//! Broadcasts: one packet for all receivers where the network can do that, and a report from each of them.
//!
//! ```text
//!     source          multicast  0 1 2 3 4 5 6 7 ...            SharedQueue: each packet once,
//!     views  of a     ~~~~~~~~~~~~~~~~~~~~~~~~~>  a, b, c       until the slowest receiver has it
//!            of b                      x lost
//!            of c     <-- b: expected 4, something is missing
//!                     --- 4 5 6 7, to b alone ->  b             meanwhile nothing new is broadcast;
//!                     ~~~~~~~~ 8 9 10 ... ~~~~~>  a, b, c       then the broadcast goes on
//! ```
//!
//! So it is with go-back-n. With selective repeat a receiver keeps what comes early, and the broadcast goes on meanwhile, as far as
//! the window allows. With [`crate::parity`] what is sent to repair losses is broadcast as well, the same packets for all of them.
//!
//! The source has a view of the shared queue for each receiver, a lightweight point: where that receiver is, and the timer of a
//! channel of its own. At most W packets are under way to the slowest, so a broadcast never goes faster than the slowest
//! receiver drains it. A receiver takes a packet into its destination or its pushed buffer; what has no place in either it does
//! not take, and says so, and asks for it when it has.
//!
//! [`simple`] and [`push_pull`] differ in when the source may send which part of a message, and in which receivers say when that
//! what was pushed has come.
//!
//! Source: Wong and Wang 2000, section 3.

pub(crate) mod push_pull;
mod receiver;
pub(crate) mod simple;
mod source;

pub(crate) use receiver::Receiver;
pub(crate) use source::Source;
