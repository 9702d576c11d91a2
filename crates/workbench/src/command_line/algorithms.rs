//! Algorithms of exchanges by the names that they have on a command line.

use clap::ValueEnum;
use programs::exchange::{Complete, Irregular};
use programs::schedule::{Order, Pacing};

/// How all ranks exchange a message with all others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum CompleteName {
    /// One receiver a step.
    Linear,
    /// One partner a step.
    Pairwise,
    /// Store and forward in log2 P steps; P must be a power of two.
    Recursive,
    /// One partner a step, near ones and far ones in every step.
    Balanced,
    /// Store and forward in log2 P steps, for any P.
    Bruck,
}

impl CompleteName {
    /// The algorithm.
    pub(super) fn algorithm(self) -> Complete {
        match self {
            CompleteName::Linear => Complete::Linear,
            CompleteName::Pairwise => Complete::Pairwise,
            CompleteName::Recursive => Complete::Recursive,
            CompleteName::Balanced => Complete::Balanced,
            CompleteName::Bruck => Complete::Bruck,
        }
    }
}

/// How an irregular exchange is scheduled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum IrregularName {
    /// One receiver a step.
    Linear,
    /// The steps of pairwise exchange.
    Pairwise,
    /// The steps of balanced exchange.
    Balanced,
    /// Every rank takes the first partner that is free.
    Greedy,
    /// As few steps as can be.
    EdgeColouring,
    /// Large messages first, each as early as it can go.
    LargestFirst,
    /// As few bytes after each other as can be; messages may be cut.
    Birkhoff,
}

impl IrregularName {
    /// The algorithm.
    pub(super) fn algorithm(self) -> Irregular {
        match self {
            IrregularName::Linear => Irregular::Linear,
            IrregularName::Pairwise => Irregular::Pairwise,
            IrregularName::Balanced => Irregular::Balanced,
            IrregularName::Greedy => Irregular::Greedy,
            IrregularName::EdgeColouring => Irregular::EdgeColouring,
            IrregularName::LargestFirst => Irregular::LargestFirst,
            IrregularName::Birkhoff => Irregular::Birkhoff,
        }
    }
}

/// What keeps the ranks of a schedule in step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum PacingName {
    /// Nothing but the messages themselves.
    FreeRunning,
    /// A small message from the receiver before each message.
    ReceiverConfirmed,
    /// A barrier between steps.
    Barrier,
}

impl PacingName {
    /// The pacing.
    pub(super) fn pacing(self) -> Pacing {
        match self {
            PacingName::FreeRunning => Pacing::FreeRunning,
            PacingName::ReceiverConfirmed => Pacing::ReceiverConfirmed,
            PacingName::Barrier => Pacing::Barrier,
        }
    }
}

/// What a rank does first that both sends and receives in a step, where a send waits for its receiver or does not.
pub(super) fn order(waits_for_receiver: bool) -> Order {
    if waits_for_receiver { Order::Alternating } else { Order::SendFirst }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names<T: ValueEnum + 'static>() -> impl Iterator<Item = String> {
        T::value_variants().iter().filter_map(ValueEnum::to_possible_value).map(|value| value.get_name().to_string())
    }

    #[test]
    fn every_algorithm_has_its_own_name_here_too() {
        assert!(names::<CompleteName>().eq(Complete::all().map(Complete::name)));
        assert!(names::<IrregularName>().eq(Irregular::all().map(Irregular::name)));
        assert!(names::<PacingName>().eq(Pacing::all().map(Pacing::name)));
        let same = |name: &CompleteName, algorithm| name.algorithm() == algorithm;
        assert!(CompleteName::value_variants().iter().zip(Complete::all()).all(|(name, it)| same(name, it)));
        let same = |name: &IrregularName, algorithm| name.algorithm() == algorithm;
        assert!(IrregularName::value_variants().iter().zip(Irregular::all()).all(|(name, it)| same(name, it)));
        let same = |name: &PacingName, pacing| name.pacing() == pacing;
        assert!(PacingName::value_variants().iter().zip(Pacing::all()).all(|(name, it)| same(name, it)));
    }
}
