//! The two-dimensional Fourier transform: it is correct, and does not depend on ranks and algorithms.

use crate::worlds;
use std::f64::consts::TAU;

use collectives::all_to_all::Complete;
use collectives::schedule::Packing;
use collectives::schedule::SendReceiveOrder;
use endpoint::{Error, Result, World};
use maquette_programs::applications::fft::{Array, Complex32, Fft2d, Transformed, operations, row, transform};
use proptest::prelude::*;
use quantities::Duration;
use virtual_worlds::loggp::Clock;

fn array(size: u32, seed: u64) -> Vec<Complex32> {
    (0..size).flat_map(|number| row(size, seed, number)).collect()
}

/// The transform by its definition, in double precision: X_kl = sum over m, n of x_mn exp(-2 pi i (k m + l n) / N).
fn by_definition(size: u32, array: &[Complex32]) -> Vec<(f64, f64)> {
    let places = || (0..size * size).map(|place| (place / size, place % size));
    let one = |(k, l): (u32, u32)| {
        let terms = places().zip(array).map(|((m, n), x)| {
            let angle = -TAU * f64::from((k * m + l * n) % size) / f64::from(size);
            let (re, im) = (f64::from(x.re), f64::from(x.im));
            (re * angle.cos() - im * angle.sin(), re * angle.sin() + im * angle.cos())
        });
        terms.fold((0.0, 0.0), |sum, term| (sum.0 + term.0, sum.1 + term.1))
    };
    places().map(one).collect()
}

/// The transform of all ranks, row by row: each has columns of it.
fn whole(size: u32, parts: Vec<Transformed>) -> Vec<Complex32> {
    let size = size as usize;
    let mut array = vec![Complex32::default(); size * size];
    for Transformed { first, columns, .. } in parts {
        for (place, number) in columns.into_iter().enumerate() {
            array[place % size * size + first as usize + place / size] = number;
        }
    }
    array
}

#[test]
fn the_serial_transform_is_the_one_of_the_definition() {
    for size in [1, 2, 3, 8, 12] {
        let original = array(size, 5);
        let mut transformed = original.clone();
        transform(size, &mut transformed);
        for (ours, (re, im)) in transformed.iter().zip(by_definition(size, &original)) {
            let off = (f64::from(ours.re) - re).hypot(f64::from(ours.im) - im);
            assert!(off < 1e-6 * f64::from(size * size), "{size}: {off}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn ranks_and_algorithms_change_no_bit(
        size in 1u32..40, ranks in 1u32..=16, seed in any::<u64>(), algorithm in prop::sample::select(Complete::all().to_vec()),
    ) {
        let ranks = if algorithm == Complete::Recursive { ranks.next_power_of_two() } else { ranks };
        let program = Fft2d::new(size, Array::Seeded(seed), algorithm).unwrap();
        let mut serial = array(size, seed);
        transform(size, &mut serial);
        for (world, parts) in worlds::everywhere(ranks, &program) {
            let parts: Vec<Transformed> = parts.unwrap().into_iter().map(Result::unwrap).collect();
            prop_assert_eq!(whole(size, parts), serial.clone(), "{}", world);
        }
    }

    #[test]
    fn real_numbers_and_sizes_take_the_same_time(
        size in 1u32..40, ranks in 1u32..=16, algorithm in prop::sample::select(Complete::all().to_vec()),
    ) {
        let ranks = if algorithm == Complete::Recursive { ranks.next_power_of_two() } else { ranks };
        let finish = |array| {
            let mut program = Fft2d::new(size, array, algorithm).unwrap();
            program.speed.operation = Duration::from_nanoseconds(3);
            program.packing = Packing { block: Duration::from_nanoseconds(40), byte: Duration::from_nanoseconds(2) };
            let (parts, answer) = Clock::new(worlds::MODEL).run(ranks, &program).unwrap();
            let communication: Vec<Duration> = parts.into_iter().map(|part| part.unwrap().communication).collect();
            (answer.finish, communication)
        };
        prop_assert_eq!(finish(Array::Seeded(1)), finish(Array::OnlySizes));
    }
}

#[test]
fn computation_is_counted_in_floating_point_operations() {
    assert_eq!([1, 2, 8, 1024].map(operations), [0, 10, 120, 51_200]);
    let mut program = Fft2d::new(64, Array::OnlySizes, Complete::Pairwise).unwrap();
    program.speed.operation = Duration::from_nanoseconds(1);
    let (parts, answer) = Clock::new(worlds::MODEL).run(4, &program).unwrap();
    let computation = Duration::from_nanoseconds(2 * 16 * 5 * 64 * 6);
    for (part, finish) in parts.into_iter().zip(answer.finish) {
        assert_eq!(finish.picoseconds(), (computation + part.unwrap().communication).picoseconds());
    }
}

/// 64 x 64 numbers on 4 ranks: blocks of 16 x 16. Pairwise exchange packs 3 and unpacks 3; recursive exchange packs 2
/// and unpacks 2 in each of 2 steps. If the two of a pair take turns, each waits while the other does so.
#[test]
fn packing_is_counted_by_blocks_and_bytes() {
    let packing = Packing { block: Duration::from_nanoseconds(2_048), byte: Duration::from_nanoseconds(3) };
    let one = 2_048 + 16 * 16 * 8 * 3;
    let of_one = [(Complete::Pairwise, 3 + 3), (Complete::Recursive, 2 * (2 + 2))];
    let orders = [(SendReceiveOrder::Sendrecv, 1), (SendReceiveOrder::Alternating, 2)];
    for ((algorithm, blocks), (order, in_turn)) in of_one.into_iter().flat_map(|it| orders.map(|order| (it, order))) {
        let mut program = Fft2d::new(64, Array::OnlySizes, algorithm).unwrap();
        program.order = order;
        let mut makespan = |packing| {
            program.packing = packing;
            Clock::new(worlds::MODEL).run(4, &program).unwrap().1.makespan().picoseconds()
        };
        let without = makespan(Packing::default());
        assert_eq!(makespan(packing) - without, in_turn * blocks * one * 1_000, "{algorithm:?} {order:?}");
    }
}

#[test]
fn the_largest_array_of_the_paper_runs_on_256_ranks() {
    for algorithm in [Complete::Pairwise, Complete::Recursive, Complete::Balanced] {
        let mut program = Fft2d::new(2_048, Array::OnlySizes, algorithm).unwrap();
        program.order = SendReceiveOrder::Sendrecv;
        let messages = Clock::new(worlds::MODEL).run(256, &program).unwrap().1.messages;
        let steps = if algorithm == Complete::Recursive { 8 } else { 255 };
        assert_eq!(messages, 256 * steps, "{algorithm:?}");
    }
}

#[test]
fn what_cannot_be_transformed_is_an_error() {
    for size in [0, 100_000] {
        let error = Fft2d::new(size, Array::OnlySizes, Complete::Bruck).err().unwrap();
        let expected = format!("an array to transform has 1 to 65536 numbers a side, not {size}");
        assert_eq!(error, Error::Unfit(expected));
    }
    let program = Fft2d::new(8, Array::Seeded(1), Complete::Recursive).unwrap();
    assert!(Clock::new(worlds::MODEL).run(6, &program).unwrap().0.into_iter().all(|part| part.is_err()));
}
