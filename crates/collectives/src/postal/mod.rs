//! The postal model: it predicts broadcasts and global combines before they are run.
//!
//! Every node can send a message and receive another at once. A sender is done with a message after t0; its receiver
//! has it lambda t0 after the send began. Times in this module are in steps of t0, and exact.
//!
//! Source: Bruck, De Coster, Dewulf, Ho and Lauwereins, "On the Design and Implementation of Broadcast and Global
//! Combine Operations Using the Postal Model", IEEE Transactions on Parallel and Distributed Systems 7(3), 1996; below,
//! *the postal paper*. The model is due to Bar-Noy and Kipnis.

mod alpha;
mod alpha_range;
mod delay;
mod gamma;
mod growth;
mod lambda;
mod partitions;
mod ratio;
mod splitting;
mod steps;
mod table;
mod triangles;

pub use alpha::{Alpha, AlphaError};
pub use alpha_range::{AlphaRange, alpha_for_all, alpha_ranges};
pub use delay::Delay;
pub use gamma::{beta, break_even, gamma};
pub use growth::{Growth, Level, broadcast_time, nodes_within};
pub use lambda::{Lambda, LambdaError};
pub use partitions::Partitions;
pub use splitting::{Splitting, predicted_time, times_over_alpha};
pub use steps::Steps;
pub use table::{AlphaTable, Entry, TableSize, table_sizes};
pub use triangles::{Asymptote, Point, Triangle, asymptote, triangles};
