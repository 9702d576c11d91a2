//! The algorithms by which the collectives of a trace are replayed.

use quantities::Bytes;

use crate::all_reduce::{self, Rabenseifner, RecursiveDoubling};
use crate::all_to_all::Complete;
use crate::broadcast::{self, Binomial, ScatterGather};

/// The algorithms for collectives that have several. One that is left out is chosen by size, as in MPICH.
///
/// Source of the choice: Thakur, Rabenseifner and Gropp, "Optimization of collective communication operations in MPICH", International
/// Journal of High Performance Computing Applications 19(1), 2005.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Algorithms {
    /// `MPI_Bcast`.
    pub broadcast: Option<broadcast::Algorithm>,
    /// `MPI_Allreduce`.
    pub all_reduce: Option<all_reduce::Algorithm>,
    /// `MPI_Alltoall`.
    pub all_to_all: Option<Complete>,
}

/// The algorithm of an exchange of messages of one size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Exchange {
    /// An algorithm of the catalogue.
    By(Complete),
    /// All messages are begun at once.
    Posted,
}

/// From this size on, a broadcast among many ranks is scattered and gathered. [B]
const LONG_BROADCAST: Bytes = Bytes(12 << 10);
/// Up to this size, ranks exchange all their data to combine it. [B]
const SHORT_ALL_REDUCE: Bytes = Bytes(2 << 10);
/// Up to this size per rank, an exchange forwards messages in few steps. [B]
const SHORT_EXCHANGE: Bytes = Bytes(256);
/// Up to this size per rank, an exchange begins all messages at once. [B]
const MIDDLING_EXCHANGE: Bytes = Bytes(32 << 10);
/// Among fewer ranks, few steps are no gain.
const MANY: u32 = 8;

impl Algorithms {
    pub(super) fn broadcast(&self, ranks: u32, size: Bytes) -> broadcast::Algorithm {
        let usual = || if size >= LONG_BROADCAST && ranks >= MANY { ScatterGather.into() } else { Binomial.into() };
        self.broadcast.clone().unwrap_or_else(usual)
    }

    pub(super) fn all_reduce(&self, size: Bytes) -> all_reduce::Algorithm {
        let usual = || if size <= SHORT_ALL_REDUCE { RecursiveDoubling.into() } else { Rabenseifner.into() };
        self.all_reduce.clone().unwrap_or_else(usual)
    }

    pub(super) fn all_to_all(&self, ranks: u32, size: Bytes) -> Exchange {
        match self.all_to_all {
            Some(algorithm) => Exchange::By(algorithm),
            None if size <= SHORT_EXCHANGE && ranks >= MANY => Exchange::By(Complete::Bruck),
            None if size <= MIDDLING_EXCHANGE => Exchange::Posted,
            None => Exchange::By(Complete::Pairwise),
        }
    }
}
