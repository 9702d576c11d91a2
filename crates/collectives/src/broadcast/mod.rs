//! Broadcast: a message that one rank has goes to every rank.

mod algorithm;
mod binomial;
mod hardware;
mod lambda_tree;
mod linear;
mod links;
mod recursive;
mod scatter_gather;
mod segmented;
mod two_queue;

use quantities::Bytes;

use super::{Division, Holders, Shape, row};

pub use algorithm::*;
pub use binomial::{BinomialBroadcast, binomial, binomial_among};
pub use hardware::{HardwareBroadcast, hardware};
pub use lambda_tree::bcast;
pub(crate) use lambda_tree::reaches;
pub use linear::linear;
pub use links::Links;
pub use recursive::recursive;
pub use scatter_gather::scatter_gather;
pub use segmented::{Pipe, segmented};
pub use two_queue::{Tree, along_tree};

/// From this size on, MPICH scatters and gathers a broadcast, where there are many ranks.
///
/// Source: Thakur, Rabenseifner and Gropp, "Optimization of collective communication operations in MPICH",
/// International Journal of High Performance Computing Applications 19(1), 2005, section 4.2.
const LONG: Bytes = Bytes(12 << 10);
const MANY: u32 = 8;

row! {
    Broadcast: "broadcast" = ["MPI_Bcast"],
    "Broadcast a message from one node to all others.",
    Shape { blocks: Division::Whole, before: Holders::Root, after: Holders::Everyone, reduction: None },
    examples: "Examples:\n  maquette run broadcast --machine delta --nodes 64 --bytes 512 --algorithm lambda-tree --alpha 0.58\n  \
         maquette run broadcast --lambda 1.8 --nodes 64",
    usual: |known, _| if known.lambda.is_some() || known.alpha.is_some() { "lambda-tree" } else { "binomial" },
    usual_in_mpi: |ranks, bytes| if bytes >= LONG && ranks >= MANY { "scatter-gather" } else { "binomial" },
}
