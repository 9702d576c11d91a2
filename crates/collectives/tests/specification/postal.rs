//! The theory of the postal model, compared with the figures in its paper, and with properties that hold for any
//! latency.

use maquette_collectives::postal::{
    Alpha, AlphaTable, Delay, Growth, Lambda, Partitions, Splitting, Steps, alpha_for_all, alpha_ranges, asymptote,
    break_even, broadcast_time, gamma, nodes_within, predicted_time, table_sizes, times_over_alpha, triangles,
};
use proptest::prelude::*;

fn lambda(text: &str) -> Lambda {
    text.parse().unwrap()
}

fn any_lambda() -> impl Strategy<Value = Lambda> {
    (1u64..1000, 0u64..4000).prop_map(|(f, over)| Lambda::new(f + over, f).unwrap())
}

/// Table 1.
const GAMMA: [&str; 10] = ["2.000", "1.618", "1.466", "1.380", "1.325", "1.285", "1.255", "1.232", "1.213", "1.197"];

/// Table 2.
const BREAK_EVEN: [&str; 9] = ["1.440", "2.518", "3.558", "4.584", "5.604", "6.618", "7.630", "8.640", "9.649"];

#[test]
fn table_1_comes_out_to_the_printed_digit() {
    for (whole, printed) in (1..).zip(GAMMA) {
        assert_eq!(format!("{:.3}", gamma(Lambda::new(whole, 1).unwrap())), printed, "lambda = {whole}");
    }
}

#[test]
fn table_2_comes_out_to_the_printed_digit() {
    for (floor, printed) in (1..).zip(BREAK_EVEN) {
        assert_eq!(format!("{:.3}", break_even(floor)), printed, "floor {floor}");
    }
}

/// Figure 2 and section 2.1.
#[test]
fn eight_nodes_with_latency_2_take_5_steps_and_6_along_the_binomial_tree() {
    let grown: Vec<u64> = (0..7).map(|t| nodes_within(lambda("2"), Steps::new(t, 1))).collect();
    assert_eq!(grown, [1, 1, 2, 3, 5, 8, 13]);
    assert_eq!(broadcast_time(lambda("2"), 8), Steps::new(5, 1));
    assert_eq!(predicted_time(lambda("2"), 8, &Splitting::BINOMIAL), Steps::new(6, 1));
    assert_eq!(predicted_time(Lambda::ONE, 8, &Splitting::BINOMIAL), Steps::new(3, 1));
}

/// Section 2.4.
#[test]
fn thirteen_nodes_with_latency_2_have_one_optimal_partitioning_and_fourteen_have_eight() {
    let pairs = |n| Partitions::new(lambda("2"), n).unwrap().pairs().collect::<Vec<_>>();
    assert_eq!(pairs(13), [(8, 5)]);
    assert_eq!(pairs(14), [(6, 8), (7, 7), (8, 6), (9, 5), (10, 4), (11, 3), (12, 2), (13, 1)]);
    assert_eq!(Partitions::new(lambda("2"), 1), None);
    let only = alpha_ranges(lambda("2"), 13..=13);
    assert_eq!([only[0].lower(), only[0].upper()], [7.5 / 13.0, 8.5 / 13.0]);
}

/// Figures 6 and 7.
#[test]
fn one_alpha_serves_latency_2_and_none_serves_1_95() {
    let (least, most) = alpha_for_all(lambda("2"), 250).unwrap();
    assert!(least.as_f64() < 0.61804 && 0.61803 < most.as_f64(), "{least} to {most}");
    assert!(alpha_for_all(lambda("2"), 1 << 40).is_some());
    assert_eq!(alpha_for_all(lambda("1.95"), 250), None);
    assert_eq!(alpha_ranges(lambda("2"), 0..=250).len(), 249);
}

/// Section 2.5, with lambda = 1.8: u = 9, f = 5.
#[test]
fn a_latency_of_1_8_is_9_fifths() {
    assert_eq!((lambda("1.8").scaled(), lambda("1.8").scale()), (9, 5));
    assert_eq!(broadcast_time(lambda("1.8"), 3).to_string(), "2.8");
    assert_eq!(broadcast_time(lambda("1.8"), 64).to_string(), "9.2");
}

/// Figure 8.
#[test]
fn the_triangles_tend_to_their_asymptote() {
    // The finer the latency, the slower.
    for (text, far) in
        [("1", 1e-9), ("2", 1e-9), ("3", 1e-9), ("1.5", 1e-4), ("4/3", 1e-3), ("1.8", 0.01), ("1.95", 0.04)]
    {
        let tree = triangles(lambda(text), 1 << 50);
        let (last, limit) = (tree[tree.len() - 2], asymptote(lambda(text)));
        assert!((last.top.alpha - limit.top).abs() < far, "{text}: {last:?} {limit:?}");
        assert!((last.left_bottom.alpha - limit.left_bottom).abs() < far, "{text}: {last:?} {limit:?}");
        assert!((last.right_bottom.alpha - limit.right_bottom).abs() < far, "{text}: {last:?} {limit:?}");
    }
    let tree = triangles(lambda("2"), 21);
    let last = tree.last().unwrap();
    assert_eq!((last.top.nodes, last.left_bottom.nodes, last.right_bottom.nodes), (21, 14, 14));
    assert_eq!(
        (last.top.alpha, last.left_bottom.alpha, last.right_bottom.alpha),
        (13.0 / 21.0, 6.0 / 14.0, 13.0 / 14.0)
    );
}

/// Figure 9.
#[test]
fn the_look_up_table_for_1_293_stays_small() {
    let sizes = table_sizes(lambda("1.293"), 1_000_000);
    let at = |nodes: u64| sizes.iter().rev().find(|size| size.nodes <= nodes).unwrap();
    for nodes in [2, 10, 100, 250, 1000, 100_000, 1_000_000] {
        assert_eq!(at(nodes).entries, AlphaTable::new(lambda("1.293"), nodes).entries().len(), "{nodes} nodes");
    }
    assert_eq!([250, 1000, 1_000_000].map(|nodes| at(nodes).entries), [18, 32, 165]);
    assert_eq!([250, 1000, 1_000_000].map(|nodes| at(nodes).triangles), [36, 55, 209]);
}

/// Figure 12: 512 bytes on 64 nodes.
#[test]
fn the_best_alpha_for_64_nodes_and_latency_1_8_is_0_56_to_0_59() {
    let alphas = (50..100).map(|percent| Alpha::new(f64::from(percent) / 100.0).unwrap());
    let times = times_over_alpha(lambda("1.8"), 64, alphas);
    let best = times.iter().map(|point| point.1).min().unwrap();
    let quickest: Vec<f64> = times.iter().filter(|point| point.1 == best).map(|point| point.0.as_f64()).collect();
    assert_eq!(quickest, [0.56, 0.57, 0.58, 0.59]);
    assert_eq!((best, times[0].1), (Steps::new(46, 5), Steps::new(54, 5)));
}

/// Section 3.1 to 3.3.
#[test]
fn delay_send_is_quicker_up_to_the_break_even_point() {
    assert_eq!(Delay::for_latency(lambda("1.43")), Delay::Send);
    assert_eq!(Delay::for_latency(lambda("1.45")), Delay::Receive);
    assert_eq!(Delay::for_latency(lambda("2.51")), Delay::Send);
    assert_eq!(Delay::for_latency(lambda("2.52")), Delay::Receive);
    assert_eq!(Delay::for_latency(lambda("3")), Delay::Receive);
    for (text, quicker) in
        [("1.2", Delay::Send), ("1.8", Delay::Receive), ("2.3", Delay::Send), ("2.8", Delay::Receive)]
    {
        assert_eq!(Delay::for_nodes(lambda(text), 1 << 30), quicker, "{text}");
    }
    // 10 rounds of 1.2 t0, or 14 of t0 minus the time that the last receive need not wait.
    assert_eq!(Delay::Send.time(lambda("1.2"), 1024).to_string(), "12");
    assert_eq!(broadcast_time(lambda("2"), 1024).to_string(), "16");
    assert_eq!(Delay::Receive.time(lambda("1.2"), 1024).to_string(), "15.2");
}

#[test]
fn times_in_picoseconds_are_rounded_and_never_wrap() {
    let t0 = quantities::Duration::from_nanoseconds(10);
    assert_eq!(Steps::new(37, 5).of(t0).picoseconds(), 74_000);
    assert_eq!(Steps::new(1, 3).of(t0).picoseconds(), 3_333);
    assert_eq!(Steps::new(2, 3).of(t0).picoseconds(), 6_667);
    assert_eq!(Steps::new(u64::MAX, 1).of(t0), quantities::Duration::LONGEST);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    /// Optimal splitting takes T(n), and no other way to split takes less.
    #[test]
    fn the_optimal_partitionings_are_those_that_take_the_least_time(lambda in any_lambda(), n in 2u64..200) {
        let growth = Growth::to_nodes(lambda, n);
        let time = |kept: u64| {
            let scaled = |steps: Steps| (steps.as_f64() * lambda.scale() as f64).round() as u64;
            (scaled(growth.time_for(kept)) + lambda.scale()).max(scaled(growth.time_for(n - kept)) + lambda.scaled())
        };
        let best = (1..n).map(time).min().unwrap();
        prop_assert_eq!(Steps::new(best, lambda.scale()), broadcast_time(lambda, n));
        let partitions = Partitions::new(lambda, n).unwrap();
        for kept in 1..n {
            prop_assert_eq!(time(kept) == best, partitions.kept().contains(&kept), "{} of {}", kept, n);
        }
        prop_assert_eq!(partitions.count() as usize, partitions.pairs().count());
    }

    /// The range contains exactly the alphas that split optimally.
    #[test]
    fn an_alpha_is_in_the_range_when_it_splits_optimally(lambda in any_lambda(), n in 2u64..5000, value in 0.5f64..1.0) {
        let range = alpha_ranges(lambda, n..=n)[0];
        let alpha = Alpha::new(value).unwrap();
        prop_assert_eq!(range.contains(alpha), range.partitions.kept().contains(&alpha.kept_of(n)));
        for end in [range.least, range.most] {
            prop_assert!(range.partitions.kept().contains(&end.kept_of(n)));
        }
    }

    #[test]
    fn the_table_broadcasts_to_any_number_of_nodes_in_the_least_time(lambda in any_lambda(), most in 2u64..3000) {
        let table = AlphaTable::new(lambda, most);
        let ranges = alpha_ranges(lambda, 2..=most);
        prop_assert!(ranges.iter().all(|range| range.contains(table.alpha_for(range.partitions.nodes()))));
        let splitting = Splitting::Table(table);
        for n in [2, most / 2, most] {
            prop_assert_eq!(predicted_time(lambda, n, &splitting), broadcast_time(lambda, n));
        }
    }

    #[test]
    fn one_alpha_for_all_is_a_table_of_one_entry(lambda in any_lambda(), most in 2u64..3000) {
        let table = AlphaTable::new(lambda, most);
        prop_assert_eq!(alpha_for_all(lambda, most).is_some(), table.entries().len() == 1);
        let ranges = alpha_ranges(lambda, 2..=most);
        let least = ranges.iter().map(|range| range.least).max().unwrap();
        let greatest = ranges.iter().map(|range| range.most).min().unwrap();
        prop_assert_eq!(alpha_for_all(lambda, most).is_some(), least <= greatest);
    }

    #[test]
    fn no_splitting_beats_the_lower_bound(lambda in any_lambda(), n in 1u64..3000, value in 0.5f64..1.0) {
        let fixed = Splitting::Fixed(Alpha::new(value).unwrap());
        prop_assert!(predicted_time(lambda, n, &fixed) >= broadcast_time(lambda, n));
    }

    #[test]
    fn what_is_written_is_read_again(lambda in any_lambda()) {
        prop_assert_eq!(lambda.to_string().parse::<Lambda>(), Ok(lambda));
    }
}
