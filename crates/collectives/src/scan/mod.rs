//! Scan: every rank gets the combination of the data of all ranks up to itself, as in prefix sums.

pub(super) mod linear;
pub(super) mod recursive_doubling;

use super::{Division, Holders, Reduction, Shape, collective};

collective! {
    $:
    Scan: "scan" = ["MPI_Scan"],
    "Combine at every node the data of all nodes up to it.",
    Shape {
        blocks: Division::Whole,
        before: Holders::Everyone,
        after: Holders::Everyone,
        reduction: Some(Reduction::Prefix),
    },
    examples: "Example:\n  maquette run scan --machine parsytec-cc-16 --operator sum-u64 --bytes 8",
    usual: |_, _| "recursive-doubling",
    recursive_doubling::RecursiveDoubling,
    linear::Linear,
}
