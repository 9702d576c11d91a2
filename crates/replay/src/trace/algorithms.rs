//! The algorithms by which the collectives of a trace are replayed.

use collectives::{AnyAlgorithm, Collective};

/// The algorithms that were asked for, one for a collective of the list. Any other is chosen by size, as in MPICH.
///
/// Source of the choice: Thakur, Rabenseifner and Gropp, "Optimization of collective communication operations in
/// MPICH", International Journal of High Performance Computing Applications 19(1), 2005.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Algorithms(pub Vec<AnyAlgorithm>);

impl Algorithms {
    /// The one that was asked for.
    pub(super) fn of(&self, collective: Collective) -> Option<AnyAlgorithm> {
        self.0.iter().find(|algorithm| algorithm.collective() == collective).cloned()
    }
}
