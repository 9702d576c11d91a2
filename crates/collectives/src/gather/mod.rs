//! Gather: the data of all ranks goes to one of them.

mod binomial;
mod linear;

use super::{Division, Holders, Shape, collective};

collective! {
    $:
    Gather: "gather" = ["MPI_Gather", "MPI_Gatherv"],
    "Bring the data of all nodes to one of them.",
    Shape { blocks: Division::PerRank, before: Holders::Owner, after: Holders::Root, reduction: None },
    examples: "Example:\n  maquette run gather --machine parsytec-cc-16 --bytes 4KiB --root 3",
    usual: |_, _| "binomial",
    binomial::Binomial,
    linear::Linear,
}
