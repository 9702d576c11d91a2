//! Programs as processes, one a rank, on this machine or on others, over UDP; or over MPI, where somebody else starts them.
//!
//! ```text
//!     maquette launch                                  maquette launch-rank       one for each rank
//!     launcher  --- starts, by a shell if elsewhere -->  rank     secret on its standard input
//!               <-- hello: token, UDP address ---------           control connection, TCP [wire]
//!               --- roster: all addresses, experiment -->
//!                                                        rank <== UDP, multicast, sealed ==> ranks
//!               <-- ended: times and counts, or an error
//!               --- closes ----------------------------->         whoever loses it ends
//! ```
//!
//! What a rank runs is an experiment, as JSON; who starts the ranks and who runs them know what that is.
//!
//! Who does not know the secret can't be taken for a rank, neither where these are waited for (`callers`) nor among them: each
//! datagram is sealed with a key that is made of the [`secret`], unless the network is declared to be trusted.

mod callers;
pub mod hosts;
mod launcher;
mod preemption;
mod process;
pub mod rank;
mod sealing;
pub mod secret;
mod told;
pub mod wire;

pub use launcher::{Launch, LaunchError, launch, random_group};
pub use process::Shell;
pub use told::{hear_from_first, tell_others, told_by_all};
