//! Reduce: the data of all ranks is combined at one of them.

mod binomial;
mod linear;
mod scatter_gather;

use super::{Division, Holders, Reduction, Shape, collective};

pub(super) use binomial::along_binomial_tree;

collective! {
    $:
    Reduce: "reduce" = ["MPI_Reduce"],
    "Combine the data of all nodes at one of them.",
    Shape {
        blocks: Division::Whole,
        before: Holders::Everyone,
        after: Holders::Root,
        reduction: Some(Reduction::All),
    },
    examples: "Example:\n  maquette run reduce --machine parsytec-cc-16 --bytes 4KiB --operator max-i64",
    usual: |_, _| "binomial",
    binomial::Binomial,
    linear::Linear,
    scatter_gather::ScatterGather,
}
