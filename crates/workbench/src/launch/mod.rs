//! Programs as processes, one a rank, on this machine or on others, over UDP.
//!
//! ```text
//!     maquette launch                                  maquette launch-rank       one for each rank
//!     launcher  --- starts, by a shell if elsewhere -->  rank     token on its standard input
//!               <-- hello: token, UDP address ---------           control connection, TCP [wire]
//!               --- roster: all addresses, arguments -->          a program meets its stage [stage]
//!                                                        rank <== UDP, multicast ==> ranks
//!               <-- ended: times and counts, or an error
//!               --- closes ----------------------------->         whoever loses it ends
//! ```
//!
//! What a rank runs is a command line of `maquette run`: the same code reads it and makes the program of it, and where that would go to a
//! simulated machine it goes to the [`stage`] instead.

pub mod hosts;
mod launcher;
mod process;
pub mod rank;
pub mod stage;
pub mod wire;

pub use launcher::{Launch, LaunchError, launch, random_group};
pub use process::Shell;
