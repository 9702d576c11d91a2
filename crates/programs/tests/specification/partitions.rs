//! Partitions of meshes and grids, and their halos.

use std::collections::BTreeSet;
use std::num::{NonZeroU16, NonZeroU32};

use maquette_programs::applications::grid::Grid;
use maquette_programs::applications::halo::Halo;
use maquette_programs::applications::mesh::{Point, tetrahedralise, uniform};
use maquette_programs::applications::partition::{Partition, blocks, recursive_coordinate_bisection};
use proptest::prelude::*;
use quantities::Rank;

/// The halo by definition: for a pair of ranks, the vertices of one that have an edge to one of the other's.
fn by_definition(partition: &Partition, edges: &[[u32; 2]], from: u32, to: u32) -> Vec<u32> {
    let part_of = partition.part_of();
    let both_ways = edges.iter().flat_map(|&[a, b]| [[a, b], [b, a]]);
    let crossing = both_ways.filter(|&[a, b]| part_of[a as usize] == from && part_of[b as usize] == to);
    crossing.map(|[a, _]| a).collect::<BTreeSet<u32>>().into_iter().collect()
}

fn check_halo(partition: &Partition, edges: &[[u32; 2]]) {
    let halo = Halo::new(partition, edges);
    assert_eq!(halo.ranks(), partition.parts());
    for from in 0..partition.parts() {
        let sent = halo.sent_by(Rank(from));
        assert!(sent.is_sorted_by(|a, b| a.0 < b.0));
        for to in 0..partition.parts() {
            let vertices = sent.iter().find(|(partner, _)| *partner == Rank(to)).map(|(_, vertices)| vertices.clone());
            let expected = if from == to { Vec::new() } else { by_definition(partition, edges, from, to) };
            assert_eq!(vertices.unwrap_or_default(), expected, "{from} to {to}");
        }
    }
}

fn bisection(points: &[Point], parts: u32) -> Partition {
    recursive_coordinate_bisection(points, NonZeroU32::new(parts).unwrap())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn bisection_gives_every_part_its_share(count in 0u32..300, parts in 1u32..40, seed in any::<u64>(), cells in 1u32..50) {
        // Coordinates in steps, so that many are equal.
        let step = |at: f64| (at * f64::from(cells)).floor();
        let points: Vec<Point> = uniform(count, seed).into_iter().map(|point| point.map(step)).collect();
        let partition = bisection(&points, parts);
        prop_assert_eq!(partition.parts(), parts);
        let members = partition.members();
        prop_assert_eq!(members.len(), parts as usize);
        prop_assert_eq!(members.iter().map(Vec::len).sum::<usize>(), count as usize);
        for part in &members {
            let due = f64::from(count) / f64::from(parts);
            prop_assert!((part.len() as f64 - due).abs() < 2.0, "{} of {due}", part.len());
        }
    }

    #[test]
    fn halos_hold_what_the_other_side_needs(count in 20u32..120, parts in 1u32..12, seed in any::<u64>()) {
        let mesh = tetrahedralise(uniform(count, seed)).unwrap();
        check_halo(&bisection(mesh.points(), parts), &mesh.edges());
    }

    #[test]
    fn blocks_of_a_grid_are_alike(width in 1u16..20, height in 1u16..20, across in 1u16..6, down in 1u16..6) {
        let grid = Grid { width, height };
        let partition = blocks(grid, NonZeroU16::new(across).unwrap(), NonZeroU16::new(down).unwrap());
        let (widths, heights) = (width / across..=width.div_ceil(across), height / down..=height.div_ceil(down));
        for part in partition.members() {
            let columns: BTreeSet<u32> = part.iter().map(|point| point % u32::from(width)).collect();
            let rows: BTreeSet<u32> = part.iter().map(|point| point / u32::from(width)).collect();
            prop_assert_eq!(columns.len() * rows.len(), part.len());
            prop_assert!(part.is_empty() || widths.contains(&(columns.len() as u16)));
            prop_assert!(part.is_empty() || heights.contains(&(rows.len() as u16)));
        }
        check_halo(&partition, &grid.edges());
    }
}

#[test]
fn a_cut_goes_across_the_longest_side() {
    let points = (0..8).map(|i| [f64::from(i % 2), f64::from(i / 2), 0.0]).collect::<Vec<Point>>();
    assert_eq!(bisection(&points, 2).part_of(), [0, 0, 0, 0, 1, 1, 1, 1]);
    assert_eq!(bisection(&points, 4).members(), [[0, 2], [1, 3], [4, 6], [5, 7]]);
}

#[test]
fn edges_of_a_grid_join_neighbours() {
    let edges = Grid { width: 3, height: 2 }.edges();
    assert_eq!(edges, [[0, 1], [0, 3], [1, 2], [1, 4], [2, 5], [3, 4], [4, 5]]);
}
