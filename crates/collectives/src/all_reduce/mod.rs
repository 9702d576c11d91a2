//! All-reduce: every rank has a message, and every rank gets the combination of all.

mod algorithm;
mod all_reduce_context;
mod blocks;
mod census;
mod fold;
mod operator;
mod operators;
mod rabenseifner;
mod recursive_doubling;
mod reduce_broadcast;
mod ring;
mod rings;

use quantities::Bytes;

use super::{Division, Holders, Reduction, Shape, row};

pub use algorithm::*;
pub use all_reduce_context::{AllReduceContext, Sends};
pub(crate) use blocks::Blocks as Parts;
pub use census::{Carries, Exchange, census};
pub(crate) use fold::Fold;
pub use operator::Combine;
pub(crate) use operator::{check_elements, combined};
pub use operators::{Number, Operation, Operator, OperatorError};
pub use rabenseifner::rabenseifner;
pub use recursive_doubling::recursive_doubling;
pub use reduce_broadcast::reduce_broadcast;
pub use ring::ring;
pub use rings::{AllReduceByRings, WeightedRing, rings};

/// Up to this size, MPICH's ranks exchange all their data to combine it.
///
/// Source: Thakur, Rabenseifner and Gropp, "Optimization of collective communication operations in MPICH",
/// International Journal of High Performance Computing Applications 19(1), 2005, section 4.5.
const SHORT: Bytes = Bytes(2 << 10);

row! {
    AllReduce: "all-reduce" = ["MPI_Allreduce"],
    "Combine the data of all nodes so that all have the result (global combine).",
    Shape {
        blocks: Division::Whole,
        before: Holders::Everyone,
        after: Holders::Everyone,
        reduction: Some(Reduction::All),
    },
    examples: "Examples:\n  maquette run all-reduce --machine parsytec-cc-16 --bytes 4KiB --algorithm ring\n  \
         maquette run all-reduce --lambda 2.5 --nodes 100 --operator max-i64",
    usual: |known, _| if known.lambda.is_some() { "census" } else { "recursive-doubling" },
    usual_in_mpi: |_, bytes| if bytes <= SHORT { "recursive-doubling" } else { "rabenseifner" },
}
