//! Exclusive scan: every rank gets the combination of the data of all ranks before it; rank 0 gets nothing.

use super::scan::{linear, recursive_doubling};
use super::{Division, Holders, Reduction, Shape, collective};

collective! {
    $:
    Exscan: "exscan" = ["MPI_Exscan"],
    "Combine at every node the data of all nodes before it.",
    Shape {
        blocks: Division::Whole,
        before: Holders::Everyone,
        after: Holders::Everyone,
        reduction: Some(Reduction::PrefixBefore),
    },
    examples: "Example:\n  maquette run exscan --machine parsytec-cc-16 --operator sum-u64 --bytes 8",
    usual: |_, _| "recursive-doubling",
    recursive_doubling::RecursiveDoublingBefore,
    linear::LinearBefore,
}
