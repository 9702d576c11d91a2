//! What the tests of broadcasts and of all-reduces share.

use std::collections::BTreeSet;

use machines::model::LogGp;
use maquette_collectives::Group;
use maquette_collectives::catalogue::{Catalogue, MissingParameter, Parameters};
use maquette_collectives::postal::{Alpha, Lambda};
use proptest::prelude::*;
use quantities::{Bytes, Duration, Rank};
use virtual_worlds::loggp::Clock;

pub fn lambda(text: &str) -> Lambda {
    text.parse().unwrap()
}

/// t0, chosen so that every fraction of it up to a tenth is a whole number of picoseconds.
pub const T0: Duration = Duration::from_picoseconds(2_520_000);

/// The world of the postal model.
pub fn postal_clock(lambda: Lambda) -> Clock {
    Clock::new(LogGp {
        latency: Duration::from_picoseconds(lambda.scaled() * (T0.picoseconds() / lambda.scale())),
        overhead: Duration::ZERO,
        gap: T0,
        gap_per_byte: Duration::ZERO,
        overhead_per_byte: Duration::ZERO,
        rendezvous: None,
    })
}

/// Latencies whose fractions divide t0 evenly.
pub fn any_lambda() -> impl Strategy<Value = Lambda> {
    (1u64..=10, 0u64..40).prop_map(|(f, over)| Lambda::new(f + over, f).unwrap())
}

/// A program of up to 70 ranks, some of which are in the group, in any order.
pub fn any_group() -> impl Strategy<Value = (u32, Group)> {
    (1u32..=70, any::<u64>(), any::<u32>(), any::<bool>()).prop_map(|(size, seed, choice, whole)| {
        let source = Rank(choice % size);
        let all = Group::permuted(source, size, seed).unwrap();
        let members = if whole { size } else { 1 + (choice / 70) % size };
        (size, Group::listed((0..members).map(|place| all.rank_at(place)).collect()).unwrap())
    })
}

/// Checks that every algorithm of a catalogue is found by its name, and uses exactly the parameters that it lists.
pub fn check_catalogue<A: Catalogue>() {
    for entry in A::entries() {
        let name = entry.name;
        assert_eq!(A::by_name(name).unwrap().about, entry.about, "{name} is the name of another one too");
        assert!(!entry.about.is_empty() && !entry.formula.is_empty(), "{name}");
        let mut used = BTreeSet::new();
        for text in ["1.1", "2"] {
            for alpha in [None, Some(Alpha::HALF)] {
                let (lambda, t0, segment) = (Some(lambda(text)), Some(T0), Some(Bytes(100)));
                let mut parameters = Parameters { lambda, t0, alpha, segment, ..Parameters::of(16) };
                let made = (entry.make)(&mut parameters).unwrap();
                // A choice among others makes one of them.
                assert!(made.name() == name || entry.formula.contains(made.name()), "{name} makes {}", made.name());
                assert!(made.cost(lambda.unwrap(), 16, Bytes(1000)).messages >= 15.0, "{name}");
                used.extend(parameters.used);
            }
        }
        assert!(used.iter().eq(entry.parameters.iter().collect::<BTreeSet<_>>()), "{name} uses {used:?}");
        let missing = (entry.make)(&mut Parameters::of(16)).err();
        assert!(
            missing.is_none_or(|MissingParameter { parameter, .. }| entry.parameters.contains(&parameter)),
            "{name} lacks {missing:?}"
        );
    }
}
