//! Reduce-scatter: the data of all ranks is combined, and each rank gets a block of the result.

mod pairwise;
mod recursive_halving;
mod reduce_then_scatter;
mod ring;

use quantities::Bytes;

use super::{Division, Holders, Reduction, Shape, collective};

/// Below so many bytes in all, few steps count for more than that every message goes straight to its receiver.
///
/// Source: Thakur, Rabenseifner and Gropp, "Optimization of collective communication operations in MPICH",
/// International Journal of High Performance Computing Applications 19(1), 2005, section 4.3.
const FEW_STEPS: Bytes = Bytes(512 << 10);

collective! {
    $:
    ReduceScatter: "reduce-scatter" = ["MPI_Reduce_scatter_block", "MPI_Reduce_scatter"],
    "Combine the data of all nodes, a block of the result for each.",
    Shape {
        blocks: Division::PerRank,
        before: Holders::Everyone,
        after: Holders::Owner,
        reduction: Some(Reduction::All),
    },
    examples: "Example:\n  maquette run reduce-scatter --machine infiniband-128 --bytes 64KiB",
    usual: |known, bytes| match bytes.0.saturating_mul(known.ranks.into()) < FEW_STEPS.0 {
        true => "recursive-halving",
        false => "pairwise",
    },
    pairwise::Pairwise,
    recursive_halving::RecursiveHalving,
    ring::Ring,
    reduce_then_scatter::ReduceThenScatter,
}
