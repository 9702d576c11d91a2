//! All-gather: the data of all ranks goes to all of them.

mod bruck;
mod gather_broadcast;
mod neighbour_exchange;
mod recursive_doubling;
mod ring;

use endpoint::{Endpoint, Message, Result};
use quantities::{Bytes, Rank};

use super::{AnyAlgorithm, Call, Division, Holders, Shape, Sizes, collective};
use crate::all_reduce::{Operator, Sends};

/// Up to so many bytes in all, few steps count for more than messages between neighbours; where ranks are a power of
/// two, below so many.
///
/// Source: Thakur, Rabenseifner and Gropp, "Optimization of collective communication operations in MPICH",
/// International Journal of High Performance Computing Applications 19(1), 2005, section 4.1.
const FEW_STEPS: Bytes = Bytes(80 << 10);
const FEW_STEPS_OF_POWER: Bytes = Bytes(512 << 10);

collective! {
    $:
    AllGather: "all-gather" = ["MPI_Allgather", "MPI_Allgatherv"],
    "Bring the data of all nodes to all of them.",
    Shape { blocks: Division::PerRank, before: Holders::Owner, after: Holders::Everyone, reduction: None },
    examples: "Examples:\n  maquette run all-gather --machine infiniband-128 --bytes 64KiB --algorithm ring\n  \
         maquette run all-gather --machine infiniband-128 --group 5,1,3,7",
    usual: |known, bytes| match bytes.0.saturating_mul(known.ranks.into()) {
        all if known.ranks.is_power_of_two() && all < FEW_STEPS_OF_POWER.0 => "recursive-doubling",
        all if all <= FEW_STEPS.0 => "bruck",
        _ => "ring",
    },
    ring::Ring,
    bruck::Bruck,
    recursive_doubling::RecursiveDoubling,
    neighbour_exchange::NeighbourExchange,
    gather_broadcast::GatherBroadcast,
}

/// The data of all ranks, which are of one size, in order of rank: in few steps, as they are short.
///
/// # Errors
/// Data of other sizes, and the errors of sending and receiving.
pub async fn all_gather<E: Endpoint>(endpoint: &E, own: Message) -> Result<Vec<Message>> {
    // Nothing is combined, and no rank is the root.
    let call = Call { root: Rank(0), operator: &Operator::Xor, sends: Sends::Early };
    AnyAlgorithm::AllGather(Bruck.into()).run(endpoint, &call, &Sizes::Same(own.size()), &[own]).await
}
