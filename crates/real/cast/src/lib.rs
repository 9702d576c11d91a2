//! Files and folders to any number of receivers at once, by IP multicast, at the speed of the wire.
//!
//! ```text
//!     send                                                    receive
//!     cast     a whole transfer over UDP                      cast
//!     |  lobby    who is present, who joins which round       lobby
//!     |  round    the pieces, over any endpoint               round       also on a simulated Ethernet
//!     |     messaging   retransmission of lost datagrams          messaging
//!     files    read ahead of the network                      files       written behind it; resumed
//! ```
//!
//! A transfer with three receivers, one of which comes later:
//!
//! ```text
//!     sender    announce ~~~ call a, b;  round: 0 1 2 3, end ~~~ call a, b, c;  round: 4 5 6, then 0 1 2 3 for c, end
//!     a, b             join  present     0 1 2 3 kept            present              4 5 6 kept                  done
//!     c                                      join                present              4 5 6 kept   0 1 2 3 kept   done
//! ```
//!
//! Each byte goes over the wire once for all receivers that lack it. Losses on the way are handled by the [`messaging`]
//! below; losses of a receiver that was stopped, by its folder, from which it resumes. Only the sender speaks to
//! receivers, and they only to it.
//!
//! With a shared secret, every datagram of the lobby and of the rounds is encrypted and authenticated, and nobody
//! without the secret can read or change anything. Without it the network is trusted.
//!
//! Linux only.

pub mod cast;
pub mod files;
pub mod interface;
pub mod lobby;
pub mod parameters;
pub mod secret;

pub use programs::cast::{VERSION, links, manifest, names, round};
