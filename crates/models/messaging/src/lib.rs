//! Messages that arrive, over datagrams that may not.
//!
//! ```text
//!                  program
//!                     |    Endpoint
//!                 executor
//!                     |    Machine
//!                Messengers       all ranks of a world; one messenger alone is an endpoint, too
//!                     |
//!                 Messenger       a loop around its program's operations (operations) and:
//!     +------------ Engine ---------------------------+
//!     |  push_pull       messages to and from one     |     which part of a message may be sent, and where it is stored
//!     |  broadcast       rank, or to all              |
//!     |  Outbound        the two sides of a stream of |     what is in flight, what is sent again, what is reported
//!     |  Inbound         packets: go_back_n or        |
//!     |                  selective_repeat, RoundTrip  |
//!     |  parity          packets from which receivers |     each repairs a different loss at each receiver of a broadcast
//!     |                  compute what they lost       |
//!     |  SharedQueue     the packets, stored once     |
//!     |  packet          how they are encoded    |
//!     +-----------------------------------------------+
//!                     |    Datagrams
//!                 [Sealed]        if packets are authenticated, and perhaps encrypted
//!                     |    Datagrams
//!                  network       UDP, or a simulated Ethernet
//! ```
//!
//! Everything except [`Messenger`] and [`Messengers`] is a state machine without input or output: the current time and
//! what has arrived are arguments, and what to send is a result.
//!
//! Source: K.-P. Wong and C.-L. Wang, Efficient Reliable Broadcast for Commodity Clusters, HPC-Asia 2000.

mod broadcast;
mod datagram;
mod engine;
mod fragmenter;
pub mod go_back_n;
pub mod memory;
mod messenger;
mod messengers;
mod neighbours;
mod operations;
mod ordered;
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
mod send_order;
mod send_stream;
pub mod sequence;
mod shared_queue;
mod stuck;
mod waiting;

pub use datagram::{Datagram, Datagrams, Destination, LONGEST_HEADER, Unreadable};
pub use engine::{Awaited, Counts, Engine, Posted};
pub use messenger::Messenger;
pub use messengers::Messengers;
pub use neighbours::CopyCost;
pub use operations::Calls;
pub use parameters::{BroadcastProtocol, Losses, Parameters, Probe, Push};
pub use parity::Parity;
pub use receive_stream::{ReceiveStream, Reporting};
pub use round_trip::{RoundTrip, Timing};
pub use sealed::{Key, SEAL, Sealed, Secrecy};
pub use send_stream::{Repeat, SendStream};
pub use shared_queue::SharedQueue;
pub use stuck::{ProgramState, Wait, stuck};
