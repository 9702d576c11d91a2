//! The algorithms by which the collectives of a trace are replayed.

use quantities::Bytes;

use collectives::all_to_all::Complete;
use collectives::{AnyAlgorithm, Collective};

/// The algorithms that were asked for. Any other is chosen by size, as in MPICH.
///
/// Source of the choice: Thakur, Rabenseifner and Gropp, "Optimization of collective communication operations in
/// MPICH", International Journal of High Performance Computing Applications 19(1), 2005.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Algorithms {
    /// Of collectives of the list, one each.
    pub listed: Vec<AnyAlgorithm>,
    /// `MPI_Alltoall`.
    pub all_to_all: Option<Complete>,
}

/// The algorithm of an exchange of messages of one size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ExchangeAlgorithm {
    /// An algorithm of the catalogue.
    By(Complete),
    /// All messages are begun at once.
    Posted,
}

/// Up to this size per rank, an exchange forwards messages in few steps. [B]
const SHORT_EXCHANGE: Bytes = Bytes(256);
/// Up to this size per rank, an exchange begins all messages at once. [B]
const MIDDLING_EXCHANGE: Bytes = Bytes(32 << 10);
/// Among fewer ranks, few steps are no gain.
const MANY: u32 = 8;

impl Algorithms {
    /// The one that was asked for.
    pub(super) fn of(&self, collective: Collective) -> Option<AnyAlgorithm> {
        self.listed.iter().find(|algorithm| algorithm.collective() == collective).cloned()
    }

    pub(super) fn all_to_all(&self, ranks: u32, size: Bytes) -> ExchangeAlgorithm {
        match self.all_to_all {
            Some(algorithm) => ExchangeAlgorithm::By(algorithm),
            None if size <= SHORT_EXCHANGE && ranks >= MANY => ExchangeAlgorithm::By(Complete::Bruck),
            None if size <= MIDDLING_EXCHANGE => ExchangeAlgorithm::Posted,
            None => ExchangeAlgorithm::By(Complete::Pairwise),
        }
    }
}
