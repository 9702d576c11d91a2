//! All-gather: the data of all ranks goes to all of them.

mod bruck;
mod gather_broadcast;
mod neighbour_exchange;
mod recursive_doubling;
mod ring;

use quantities::Bytes;

use super::{Division, Holders, Shape, collective};

/// Up to so many bytes in all, few steps count for more than few bytes: as in MPICH.
const FEW_STEPS: Bytes = Bytes(80 << 10);

collective! {
    $:
    AllGather: "all-gather" = ["MPI_Allgather", "MPI_Allgatherv"],
    "Bring the data of all nodes to all of them.",
    Shape { blocks: Division::PerRank, before: Holders::Owner, after: Holders::Everyone, reduction: None },
    usual: |ranks, bytes| match bytes.0.saturating_mul(ranks.into()) <= FEW_STEPS.0 {
        true => "bruck",
        false => "ring",
    },
    ring::Ring,
    bruck::Bruck,
    recursive_doubling::RecursiveDoubling,
    neighbour_exchange::NeighbourExchange,
    gather_broadcast::GatherBroadcast,
}
