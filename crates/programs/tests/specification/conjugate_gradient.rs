//! Conjugate gradient: it solves the system, and the number of ranks changes only rounding.

use crate::worlds;
use std::num::NonZeroU16;

use collectives::all_to_all::Irregular;
use collectives::schedule::{Pacing, SendReceiveOrder};
use endpoint::{Error, Result, World};
use maquette_programs::applications::conjugate_gradient::{ConjugateGradient, Solved, random_right_side};
use maquette_programs::applications::grid::Grid;
use maquette_programs::applications::halo::{Exchanges, Halo};
use maquette_programs::applications::partition::{Partition, blocks};
use maquette_programs::applications::patterns::{UNKNOWNS, grid_in_blocks, halo_pattern};
use proptest::prelude::*;
use virtual_worlds::loggp::Clock;

/// The order and pacing that work in every world.
const SAFE: (SendReceiveOrder, Pacing) = (SendReceiveOrder::Alternating, Pacing::FreeRunning);

fn program(
    grid: Grid,
    partition: &Partition,
    algorithm: Irregular,
    (order, pacing): (SendReceiveOrder, Pacing),
    right_side: Vec<f64>,
) -> Result<ConjugateGradient> {
    let pattern = halo_pattern(&Halo::new(partition, &grid.edges()), 8).unwrap();
    let exchanges = Exchanges::new(&algorithm.schedule(&pattern), order, pacing);
    ConjugateGradient::new(grid, partition, exchanges, right_side)
}

fn whole(parts: &[Solved]) -> Vec<f64> {
    let mut values: Vec<(u32, f64)> =
        parts.iter().flat_map(|part| part.unknowns.iter().copied().zip(part.values.iter().copied())).collect();
    values.sort_by_key(|(unknown, _)| *unknown);
    values.into_iter().map(|(_, value)| value).collect()
}

/// b - A x, by the definition of A on the grid.
fn residual(grid: Grid, right_side: &[f64], x: &[f64]) -> Vec<f64> {
    let (width, height) = (i64::from(grid.width), i64::from(grid.height));
    let at = |column: i64, row: i64| {
        let inside = (0..width).contains(&column) && (0..height).contains(&row);
        if inside { x[(row * width + column) as usize] } else { 0.0 }
    };
    let of_one = |place: i64| {
        let (column, row) = (place % width, place / width);
        let neighbours = at(column - 1, row) + at(column + 1, row) + at(column, row - 1) + at(column, row + 1);
        right_side[place as usize] - 4.0 * at(column, row) + neighbours
    };
    (0..width * height).map(of_one).collect()
}

fn length(vector: &[f64]) -> f64 {
    vector.iter().map(|value| value * value).sum::<f64>().sqrt()
}

fn alone(grid: Grid, right_side: Vec<f64>) -> Vec<f64> {
    let partition = blocks(grid, NonZeroU16::MIN, NonZeroU16::MIN);
    let program = program(grid, &partition, Irregular::Greedy, SAFE, right_side).unwrap();
    let parts: Vec<Solved> =
        Clock::new(worlds::MODEL).run(1, &program).unwrap().0.into_iter().map(Result::unwrap).collect();
    whole(&parts)
}

#[test]
fn the_system_of_the_paper_is_solved_on_32_ranks() {
    let right_side = random_right_side(UNKNOWNS, 1);
    let partition = grid_in_blocks(UNKNOWNS, NonZeroU16::new(32).unwrap());
    let program = program(UNKNOWNS, &partition, Irregular::Greedy, SAFE, right_side.clone()).unwrap();
    let (parts, _) = Clock::new(worlds::MODEL).run(32, &program).unwrap();
    let parts: Vec<Solved> = parts.into_iter().map(Result::unwrap).collect();
    let x = whole(&parts);
    let off = length(&residual(UNKNOWNS, &right_side, &x)) / length(&right_side);
    assert!(off < 2e-6, "{off}");
    let iterations = parts[0].residuals.len() - 1;
    assert!((150..400).contains(&iterations), "{iterations}");
    let alone = alone(UNKNOWNS, right_side);
    let apart: Vec<f64> = x.iter().zip(&alone).map(|(a, b)| a - b).collect();
    assert!(length(&apart) < 1e-4 * length(&alone), "{}", length(&apart));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn it_solves_any_grid_on_any_number_of_ranks(
        width in 1u16..14, height in 1u16..14, across in 1u16..5, down in 1u16..4, seed in any::<u64>(),
        pacing in prop::sample::select(Pacing::all().into_iter().filter(|it| it.is_in_step()).collect::<Vec<_>>()), in_turn in any::<bool>(),
        algorithm in prop::sample::select(Irregular::all().to_vec()),
    ) {
        let grid = Grid { width, height };
        let partition = blocks(grid, NonZeroU16::new(across).unwrap(), NonZeroU16::new(down).unwrap());
        let right_side = random_right_side(grid, seed);
        let order = if in_turn { SendReceiveOrder::Alternating } else { SendReceiveOrder::Sendrecv };
        let mut program = program(grid, &partition, algorithm, (order, pacing), right_side.clone()).unwrap();
        program.tolerance = 1e-12;
        for (world, parts) in worlds::everywhere(partition.parts(), &program) {
            let parts: Vec<Solved> = parts.unwrap().into_iter().map(Result::unwrap).collect();
            let off = length(&residual(grid, &right_side, &whole(&parts))) / length(&right_side);
            prop_assert!(off < 1e-11, "{world}: {off}");
            prop_assert!(parts.iter().all(|part| part.residuals == parts[0].residuals), "{world}");
            // In exact arithmetic it takes at most as many iterations as there are unknowns.
            prop_assert!(parts[0].residuals.len() <= grid.points() + 2, "{world}: {}", parts[0].residuals.len());
        }
    }
}

#[test]
fn nothing_on_the_right_side_needs_no_iteration() {
    let grid = Grid { width: 5, height: 3 };
    let partition = blocks(grid, NonZeroU16::new(2).unwrap(), NonZeroU16::MIN);
    let program = program(grid, &partition, Irregular::Greedy, SAFE, vec![0.0; 15]).unwrap();
    let (parts, _) = Clock::new(worlds::MODEL).run(2, &program).unwrap();
    let parts: Vec<Solved> = parts.into_iter().map(Result::unwrap).collect();
    assert_eq!(whole(&parts), [0.0; 15]);
    assert_eq!(parts[1].residuals, [0.0]);
}

#[test]
fn what_does_not_fit_together_is_an_error() {
    let grid = Grid { width: 5, height: 3 };
    let partition = blocks(grid, NonZeroU16::new(2).unwrap(), NonZeroU16::MIN);
    let error = program(grid, &partition, Irregular::Greedy, SAFE, vec![0.0; 14]).unwrap_err();
    let expected = "a grid of 15 points, a right side of 14 values, and a partition of 15 points";
    assert_eq!(error, Error::Unfit(expected.to_string()));
}
