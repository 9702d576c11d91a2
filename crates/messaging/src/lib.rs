//! Messages that arrive, over datagrams that may not.
//!
//! ```text
//!                  program
//!                     |    Endpoint
//!                 executor
//!                     |    Machine
//!                Messengers       all ranks of a world; one messenger alone is an endpoint, too
//!                     |
//!                 Messenger       a loop around what its program has under way (operations) and:
//!     +------------ Engine ---------------------------+
//!     |  push_pull       messages to and from one     |     which part of a message may go, and where it is put
//!     |  broadcast       rank, or to all              |
//!     |  Outbound        the two sides of a stream of |     what is under way, what is sent again, who is told what
//!     |  Inbound         packets: go_back_n or        |
//!     |                  selective_repeat, RoundTrip  |
//!     |  parity          packets from which receivers |     what repairs another loss at each receiver of a broadcast
//!     |                  compute what they lost       |
//!     |  SharedQueue     the packets, stored once     |
//!     |  packet          how they are written down    |
//!     +-----------------------------------------------+
//!                     |    Datagrams
//!                 [Sealed]        where packets are authenticated, and encrypted if need be
//!                     |    Datagrams
//!                  network       UDP, or a simulated Ethernet
//! ```
//!
//! All but [`Messenger`] and [`Messengers`] are state machines without input or output: what time it is and what has come are arguments, what
//! to send is a result.
//!
//! Source: K.-P. Wong and C.-L. Wang, Efficient Reliable Broadcast for Commodity Clusters, HPC-Asia 2000.

mod broadcast;
mod datagram;
mod datagrams;
mod engine;
mod fragmenter;
pub mod go_back_n;
pub mod memory;
mod messenger;
mod messengers;
mod operations;
pub mod packet;
mod parameters;
pub mod parity;
mod peer;
mod push_pull;
mod reassembly;
mod receive_stream;
mod round_trip;
mod sealed;
pub mod selective_repeat;
mod send_stream;
pub mod sequence;
mod shared_queue;
mod stuck;
mod waiting;

pub use datagram::{Datagram, LONGEST_HEADER, Unreadable};
pub use datagrams::{Datagrams, Destination};
pub use engine::{Awaited, Counts, Engine, Posted};
pub use messenger::Messenger;
pub use messengers::Messengers;
pub use operations::Calls;
pub use parameters::{BroadcastProtocol, Losses, Parameters, Probe, Push};
pub use parity::Parity;
pub use receive_stream::{ReceiveStream, Reporting};
pub use round_trip::{RoundTrip, Timing};
pub use sealed::{Key, SEAL, Sealed, Secrecy};
pub use send_stream::{Repeat, SendStream};
pub use shared_queue::SharedQueue;
pub use stuck::{Doing, Wait, stuck};
