//! The algorithms for exchanges of any messages, and those that are for complete exchange only, under one name each.

use programs::all_to_all::{Complete, Irregular};
use programs::schedule::Order;

use super::choice::Choice;

/// An algorithm of an exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Exchange {
    /// For any messages.
    Irregular(Irregular),
    /// For complete exchange only: one that forwards messages.
    Forwarding(Complete),
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

impl Choice for Exchange {
    fn choices() -> Vec<Exchange> {
        let forwarding = Complete::all().into_iter().filter(|algorithm| algorithm.forwards());
        let any = Irregular::all().into_iter().map(Exchange::Irregular);
        any.chain(forwarding.map(Exchange::Forwarding)).collect()
    }

    fn name(self) -> &'static str {
        self.name()
    }

    fn about(self) -> &'static str {
        match self {
            Exchange::Irregular(algorithm) => algorithm.about(),
            Exchange::Forwarding(algorithm) => algorithm.about(),
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

    #[test]
    fn no_two_algorithms_of_exchanges_have_one_name_and_every_complete_exchange_has_one() {
        let mut names: Vec<&str> = Exchange::choices().into_iter().map(Exchange::name).collect();
        let all = Exchange::choices();
        assert!(Complete::all().into_iter().all(|it| all.iter().any(|algorithm| algorithm.complete() == Some(it))));
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all.len());
    }
}
