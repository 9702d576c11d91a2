//! Scatter: one rank's data goes to all ranks, a block to each.

mod binomial;
mod linear;

use super::{Division, Holders, Shape, collective};

collective! {
    $:
    Scatter: "scatter" = ["MPI_Scatter", "MPI_Scatterv"],
    "Bring a block of one node's data to each node.",
    Shape { blocks: Division::PerRank, before: Holders::Root, after: Holders::Owner, reduction: None },
    examples: "Example:\n  maquette run scatter --machine parsytec-cc-16 --bytes 4KiB --algorithm linear",
    usual: |_, _| "binomial",
    binomial::Binomial,
    linear::Linear,
}
