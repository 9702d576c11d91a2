//! Programs as processes, one per rank, on this machine or on others, over UDP; or over MPI, where another program
//! starts them.
//!
//! ```text
//!     maquette launch                                  maquette launch-rank       one for each rank
//!     launcher  --- starts, through a shell if remote -->  rank     secret on its standard input
//!               <-- hello: token, UDP address ---------           control connection, TCP [wire]
//!               --- roster: all addresses, experiment -->
//!                                                        rank <== UDP, multicast, sealed ==> ranks
//!               <-- ended: times and counts, or an error
//!               --- closes ----------------------------->         a rank that loses it ends
//! ```
//!
//! A rank runs an experiment, given as JSON; only those who start and run the ranks know its contents.
//!
//! Nobody without the secret can pose as a rank, neither to the launcher, which waits for ranks (`callers`), nor to
//! other ranks: each datagram is sealed with a key derived from the [`secret`], unless the network is declared trusted.

mod callers;
mod control;
pub mod hosts;
mod launcher;
mod preemption;
mod process;
pub mod rank;
mod sealing;
pub mod secret;
pub mod wire;

pub use control::{all_gather, broadcast_from_first, receive_from_first};
pub use launcher::{Launch, LaunchError, launch, random_group};
pub use process::Shell;
