//! Clients: of one member, and of a whole pool.
//!
//! A [`Pool`] has an image of which member has which slot. It asks for the whole map once. From then on a member that
//! no longer has the slot of a request corrects the image: it replies `MOVED`, with the range of slots that went to
//! another member. So a split costs a client one such reply, or as many as it had requests under way. The whole map is
//! asked for again, at most once a second, only when a member is gone or members send a request on again and again.
//!
//! ```text
//!   Pool: sockets, the clock      Routes: bytes in, bytes out        Slots: the image
//!     write, read, wait  <─────>    which request goes where  <─────>   slot -> member, MOVED
//!                                   which reply is whose
//! ```
//!
//! ```no_run
//! use maquette_store::client::{Options, Pool};
//!
//! # fn main() -> Result<(), maquette_store::client::Error> {
//! let mut pool = Pool::open(&["127.0.0.1:6379".parse().unwrap()], Options::default())?;
//! pool.set(b"greeting", b"hello")?;
//! assert_eq!(pool.get(b"greeting")?.as_deref(), Some(&b"hello"[..]));
//! let mut pipeline = pool.pipeline();
//! pipeline.ask(&[b"INCR", b"visits"]).ask(&[b"EXPIRE", b"visits", b"3600"]);
//! for answer in pipeline.execute()? {
//!     println!("{:?}", answer?);
//! }
//! # Ok(())
//! # }
//! ```

mod member;
mod pool;
mod request;
mod routes;
mod slots;

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use crate::tls::Connector;
pub use member::Client;
pub use pool::{Pipeline, Pool};
pub use routes::Routes;
pub use slots::MemberNumber;

/// Why there is no reply.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No connection could be opened.
    #[error("can't reach {address}: {cause}")]
    Unreachable {
        /// The address of the member.
        address: SocketAddr,
        /// Why not.
        cause: io::Error,
    },
    /// The connection broke, or what arrived was no reply.
    #[error("{address} does not answer like a store: {cause}")]
    Broken {
        /// The address of the member.
        address: SocketAddr,
        /// What happened.
        cause: io::Error,
    },
    /// The member has not answered in time.
    #[error("{address} has not answered {command} within {}", seconds(*.patience))]
    Silent {
        /// The address of the member.
        address: SocketAddr,
        /// The name of the command.
        command: String,
        /// How long the client waited.
        patience: Duration,
    },
    /// The member refused the request.
    #[error("{address} refuses: {message}")]
    Refused {
        /// The address of the member.
        address: SocketAddr,
        /// Its error message.
        message: String,
    },
    /// The connection broke before the reply to a request that changes something.
    #[error(
        "the connection to {address} broke before the reply; whether the request was carried out is unknown: {cause}"
    )]
    Lost {
        /// The address of the member.
        address: SocketAddr,
        /// What happened.
        cause: io::Error,
    },
    /// No member answered in time.
    #[error("no answer within {}: {last}", seconds(*.patience))]
    Late {
        /// How long the client waited.
        patience: Duration,
        /// What it heard last.
        last: String,
    },
    /// Members send the request on to each other.
    #[error("members redirected the request {times} times, at last to {address}, and none has its slot")]
    SentOn {
        /// How often.
        times: u32,
        /// Where it was sent in the end.
        address: SocketAddr,
    },
    /// The command is about one connection, and a pool has one to each member.
    #[error("{0} applies to one connection, and a client of a pool has one to each member")]
    OfOneConnection(String),
    /// There is no command to send, or no member to send it to.
    #[error("found no command, or no address; allowed is a command and at least one address")]
    Empty,
    /// Waiting for sockets failed.
    #[error("can't wait for sockets: {0}")]
    Wait(#[from] io::Error),
    /// The caller has interrupted the client.
    #[error("interrupted")]
    Interrupted,
}

fn seconds(duration: Duration) -> String {
    format!("{} s", duration.as_secs_f64())
}

/// The options of a client.
#[derive(Clone, Debug)]
pub struct Options {
    /// The password of all members, if they have one.
    pub password: Option<Vec<u8>>,
    /// How long the client waits without any answer.
    pub patience: Duration,
    /// What is needed to speak TLS, if members do.
    pub tls: Option<Connector>,
}

impl Default for Options {
    /// No password, 10 s, and no TLS.
    fn default() -> Options {
        Options { password: None, patience: Duration::from_secs(10), tls: None }
    }
}

/// The counters of a client of a pool.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Requests that were sent, including those that were sent again.
    pub sent: u64,
    /// Replies that were MOVED.
    pub moved: u64,
    /// How many of these were news, so that the image was adjusted.
    pub adjustments: u64,
    /// Requests that were sent again after a delay, because a member asked for it or was gone.
    pub delays: u64,
    /// How often the whole map of slots was asked for.
    pub maps: u64,
    /// Connections that were opened.
    pub connections: u64,
}
