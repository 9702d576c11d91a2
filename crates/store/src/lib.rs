//! LH*LH as a store for clients of Redis.
//!
//! Cores without input or output, of which each takes bytes or arguments and the time, and a thin loop around them:
//!
//! ```text
//!   bytes ──> resp ──> connection ──> commands ──> bucket     the table of one LH*LH server, with what expires and is watched
//!   bytes <── resp <──     │              │
//!                       session        context
//!   serve: sockets, the clock, chance ──> log, pages     what whoever runs it sees
//!     └── tls ── client                                  a socket that is plain or encrypted, on either side
//!   journal: what is kept on disk; parity: and computed out of what others keep, when a disk is lost
//! ```

pub mod bucket;
pub mod client;
pub mod cluster;
pub mod commands;
pub mod connection;
pub mod contents;
pub mod host;
pub mod journal;
mod large;
pub mod link;
pub mod log;
pub mod member;
pub mod node;
pub mod pages;
pub mod parity;
pub mod record;
pub mod resp;
pub mod serve;
pub mod slot;
mod stamps;
pub mod tls;
