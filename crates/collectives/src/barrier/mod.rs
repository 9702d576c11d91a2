//! A barrier: no rank goes on before all ranks have reached it.

mod binomial;
mod dissemination;
mod linear;

use super::{Division, Holders, Shape, collective};

pub(crate) use dissemination::distances;
pub use dissemination::{Dissemination, dissemination};

collective! {
    $:
    Barrier: "barrier" = ["MPI_Barrier"],
    "Wait until all nodes have come.",
    Shape { blocks: Division::Nothing, before: Holders::Everyone, after: Holders::Everyone, reduction: None },
    examples: "Example:\n  maquette run barrier --machine parsytec-cc-16 --algorithm binomial",
    usual: |_, _| "dissemination",
    dissemination::ByDissemination,
    binomial::Binomial,
    linear::Linear,
}
