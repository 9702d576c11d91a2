//! All-to-all: every rank has a message for every other, or for some. Who sends when?
//!
//! The algorithms for complete exchange are those of the row, one file each. [`irregular`] makes schedules for any
//! pattern of messages; [`Complete`] says which of the row's have steps that are known in advance.

mod all_at_once;
mod balanced;
mod bruck;
mod complete;
mod direct;
mod forwarding;
pub mod irregular;
mod linear;
mod pairwise;
mod posted;
mod recursive;

use quantities::Bytes;

use super::{Division, Holders, Shape, collective};

pub use all_at_once::{ALL_AT_ONCE, all_at_once};
pub use complete::{Complete, CompleteExchange};
pub use irregular::Irregular;
pub use posted::posted;

/// Up to this size, and among at least so many ranks, MPICH forwards messages in few steps.
///
/// Source: Thakur, Rabenseifner and Gropp, "Optimization of collective communication operations in MPICH",
/// International Journal of High Performance Computing Applications 19(1), 2005, section 4.2.
const SHORT: Bytes = Bytes(256);
const MANY: u32 = 8;
/// Up to this size, it begins all messages at once.
const MIDDLING: Bytes = Bytes(32 << 10);

collective! {
    $:
    AllToAll: "all-to-all" = ["MPI_Alltoall", "MPI_Alltoallv", "MPI_Alltoallw"],
    "Every node sends a message to every other (complete exchange, all-to-all personalised), or to those given by a \
     matrix.",
    Shape { blocks: Division::PerPair, before: Holders::Sender, after: Holders::Receiver, reduction: None },
    examples: "Examples:\n  maquette run all-to-all --machine parsytec-cc-16 --algorithm balanced --bytes 4KiB\n  \
         maquette run all-to-all --machine cm5-32 --traffic halo.csv --algorithm greedy\n  \
         maquette run all-to-all --machine loggp --nodes 4096 --bytes 8",
    usual_in_mpi: |ranks, bytes| match bytes {
        bytes if bytes <= SHORT && ranks >= MANY => "bruck",
        bytes if bytes <= MIDDLING => ALL_AT_ONCE,
        _ => "pairwise",
    },
    usual: |_, _| "pairwise",
    linear::Linear,
    pairwise::Pairwise,
    recursive::Recursive,
    balanced::Balanced,
    bruck::Bruck,
    all_at_once::AllAtOnce,
}
