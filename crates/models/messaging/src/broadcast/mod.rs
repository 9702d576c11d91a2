//! Broadcasts: one packet for all receivers where the network can multicast, and a report from each of them.
//!
//! ```text
//!     source          multicast  0 1 2 3 4 5 6 7 ...            SharedQueue: each packet once,
//!     views  of a     ~~~~~~~~~~~~~~~~~~~~~~~~~>  a, b, c       until the slowest receiver has it
//!            of b                      x lost
//!            of c     <-- b: expected 4, something is missing
//!                     --- 4 5 6 7, to b alone ->  b             meanwhile nothing new is broadcast;
//!                     ~~~~~~~~ 8 9 10 ... ~~~~~>  a, b, c       then the broadcast continues
//! ```
//!
//! This is go-back-n. With selective repeat a receiver keeps packets that arrive early, and the broadcast continues
//! meanwhile, as far as the window allows. With [`crate::parity`] repairs are broadcast as well, the same packets for
//! all receivers.
//!
//! For each receiver the source has a view of the shared queue, a lightweight point: how far that receiver has got, and
//! a retransmission timer of its own. At most W packets are in flight to the slowest receiver, so a broadcast never
//! goes faster than the slowest receiver drains it. A receiver stores a packet in its destination or its pushed buffer;
//! a packet that fits in neither it drops, reports as dropped, and asks for once it has room.
//!
//! [`simple`] and [`push_pull`] differ in when the source may send each part of a message, and in which receivers
//! report that the pushed part has arrived.
//!
//! Source: Wong and Wang 2000, section 3.

pub(crate) mod push_pull;
mod receiver;
pub(crate) mod simple;
mod source;

pub(crate) use receiver::Receiver;
pub(crate) use source::Source;
