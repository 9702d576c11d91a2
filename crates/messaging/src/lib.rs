//! Messages that arrive, over datagrams that may not.
//!
//! Everything here is a state machine without input or output: what time it is and what has come are arguments, what to send
//! is a result. From below:
//!
//! ```text
//!    packet           what datagrams say, and how it is written down
//!    Outbound         the source's side of a stream: what is under way to one receiver, and what to send again
//!    Inbound          the receiver's side: what it takes, and when it reports
//!      go_back_n, selective_repeat     what is sent again, and what is kept, when something is lost
//!      RoundTrip                       how long to wait before that
//!    SharedQueue      the packets of a stream, stored once for all of its receivers
//! ```
//!
//! Source: K.-P. Wong and C.-L. Wang, Efficient Reliable Broadcast for Commodity Clusters, HPC-Asia 2000.

mod datagram;
pub mod go_back_n;
mod inbound;
mod outbound;
pub mod packet;
mod round_trip;
pub mod selective_repeat;
pub mod sequence;
mod shared_queue;

pub use datagram::{Datagram, LONGEST_HEADER, Unreadable};
pub use inbound::{Inbound, Reporting};
pub use outbound::{Outbound, Repeat};
pub use round_trip::{RoundTrip, Timing};
pub use shared_queue::SharedQueue;
