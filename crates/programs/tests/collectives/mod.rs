//! What the tests of broadcasts and of global combines have in common.

use machines::model::LogGp;
use maquette_programs::Group;
use maquette_programs::postal::Lambda;
use proptest::prelude::*;
use quantities::{Duration, Rank};
use virtual_worlds::loggp::Clock;

pub fn lambda(text: &str) -> Lambda {
    text.parse().unwrap()
}

/// t0, of which every part up to a tenth is a whole number of picoseconds.
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

/// Latencies of which t0 has a whole number of parts.
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
