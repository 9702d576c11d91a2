//! The store: an LH*LH hash table served to Redis clients.
//!
//! Cores without input or output, each of which takes bytes or arguments and the time, and a thin loop around them:
//!
//! ```text
//!   bytes ──> resp ──> connection ──> host ──> commands ──> bucket   the table of one LH*LH server
//!   bytes <── resp <──     │            │          │
//!                       session       route     context
//!   serve: sockets, clock, random numbers ──> log, pages     what the operator sees
//!     └── tls ── client                                  a socket that is plain or encrypted, on either side
//!   journal: what is kept on disk; parity: what rebuilds it from other members when a disk is lost
//! ```
//!
//! A request's way: `connection` looks up its row in the table of `commands`; `host` executes it where the row's route
//! says, by `commands::execute` on a bucket of this member, or asks other members; there `contents` executes it by
//! `commands::apply`.

pub mod bucket;
pub mod client;
pub mod cluster;
pub mod commands;
pub mod connection;
pub mod contents;
pub mod host;
pub mod journal;
pub mod large;
pub mod limits;
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
