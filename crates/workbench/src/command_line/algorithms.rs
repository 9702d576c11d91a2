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

/// The algorithms for exchanges of any messages, and those that are for complete exchange only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum ExchangeName {
    /// One receiver a step.
    Linear,
    /// The steps of pairwise exchange: one partner a step.
    Pairwise,
    /// The steps of balanced exchange: near partners and far ones in every step.
    Balanced,
    /// Every rank takes the first partner that is free.
    Greedy,
    /// As few steps as can be.
    EdgeColouring,
    /// Large messages first, each as early as it can go.
    LargestFirst,
    /// As few bytes after each other as can be; messages may be cut.
    Birkhoff,
    /// For a complete exchange: store and forward in log2 P steps; P must be a power of two.
    Recursive,
    /// For a complete exchange: store and forward in log2 P steps, for any P.
    Bruck,
}

/// An algorithm of an exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Exchange {
    /// For any messages.
    Irregular(Irregular),
    /// For complete exchange only: one that forwards messages.
    Forwarding(Complete),
}

impl ExchangeName {
    /// The algorithm.
    pub(super) fn algorithm(self) -> Exchange {
        match self {
            ExchangeName::Linear => Exchange::Irregular(Irregular::Linear),
            ExchangeName::Pairwise => Exchange::Irregular(Irregular::Pairwise),
            ExchangeName::Balanced => Exchange::Irregular(Irregular::Balanced),
            ExchangeName::Greedy => Exchange::Irregular(Irregular::Greedy),
            ExchangeName::EdgeColouring => Exchange::Irregular(Irregular::EdgeColouring),
            ExchangeName::LargestFirst => Exchange::Irregular(Irregular::LargestFirst),
            ExchangeName::Birkhoff => Exchange::Irregular(Irregular::Birkhoff),
            ExchangeName::Recursive => Exchange::Forwarding(Complete::Recursive),
            ExchangeName::Bruck => Exchange::Forwarding(Complete::Bruck),
        }
    }
}

impl Exchange {
    /// Its name, as it is written on a command line.
    pub(super) fn name(self) -> &'static str {
        match self {
            Exchange::Irregular(algorithm) => algorithm.name(),
            Exchange::Forwarding(algorithm) => algorithm.name(),
        }
    }

    /// The program for a complete exchange that has this name, where there is one.
    pub(super) fn complete(self) -> Option<Complete> {
        Complete::all().into_iter().find(|algorithm| algorithm.name() == self.name())
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

/// What a rank does first that both sends and receives in a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum OrderName {
    /// They take turns: of two that exchange the lower one receives first. It works wherever a send waits for its receiver.
    Alternating,
    /// Everyone sends first, so that messages pass each other.
    SendFirst,
}

impl OrderName {
    /// The order.
    pub(super) fn order(self) -> Order {
        match self {
            OrderName::Alternating => Order::Alternating,
            OrderName::SendFirst => Order::SendFirst,
        }
    }

    /// What an order is called.
    pub(super) fn of(order: Order) -> &'static str {
        match order {
            Order::Alternating => "alternating",
            Order::SendFirst => "send-first",
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
        for name in ExchangeName::value_variants() {
            assert_eq!(name.to_possible_value().unwrap().get_name(), name.algorithm().name());
        }
        let here: Vec<Exchange> = ExchangeName::value_variants().iter().map(|name| name.algorithm()).collect();
        assert!(Irregular::all().into_iter().all(|algorithm| here.contains(&Exchange::Irregular(algorithm))));
        assert!(Complete::all().into_iter().all(|it| here.iter().any(|algorithm| algorithm.complete() == Some(it))));
        assert!(names::<OrderName>().eq(OrderName::value_variants().iter().map(|name| OrderName::of(name.order()))));
        let same = |name: &PacingName, pacing| name.pacing() == pacing;
        assert!(PacingName::value_variants().iter().zip(Pacing::all()).all(|(name, it)| same(name, it)));
    }
}
