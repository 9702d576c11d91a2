//! The applications of the CM-5 paper's Table 12: densities and mean sizes of their patterns.

use std::num::NonZeroU16;

use collectives::schedule::{Pattern, PatternError};
use maquette_programs::applications::patterns::{Application, PRINTED_PROCESSORS, Printed, adjusted};
use proptest::prelude::*;
use quantities::Bytes;

fn mean_bytes(pattern: &Pattern) -> f64 {
    total(pattern) as f64 / pattern.messages().len() as f64
}

fn total(pattern: &Pattern) -> u64 {
    pattern.messages().iter().map(|message| message.bytes.0).sum()
}

/// Mean density [%] and mean size [B] over some seeds.
fn means(application: Application) -> (f64, f64) {
    const SEEDS: u64 = 4;
    let patterns = (0..SEEDS).map(|seed| application.pattern(PRINTED_PROCESSORS, seed).unwrap());
    let figures: Vec<(f64, f64)> = patterns.map(|it| (100.0 * it.density(), mean_bytes(&it))).collect();
    let mean = |of: fn(&(f64, f64)) -> f64| figures.iter().map(of).sum::<f64>() / SEEDS as f64;
    (mean(|it| it.0), mean(|it| it.1))
}

/// Table 12 prints 37% of 85 B, 44% of 226 B, 29% of 612 B and 44% of 505 B.
#[test]
fn patterns_of_real_meshes_land_near_the_printed_ones() {
    let near = |application, percent: f64, bytes: f64| {
        let (density, mean) = means(application);
        assert!((density - percent).abs() <= 1.5, "{application:?}: {density}%");
        assert!((mean - bytes).abs() <= 0.04 * bytes, "{application:?}: {mean} B");
    };
    near(Application::Euler545, 41.5, 101.0);
    near(Application::Euler2k, 41.6, 223.0);
    near(Application::Euler9k, 42.1, 548.0);
    // The one that does not match: 42% of the messages instead of 29%, though of about the right size.
    near(Application::Euler3k, 42.1, 566.0);
}

/// Table 12 prints 9% of 643 B. Of 32 blocks of 128 by 4 points, 30 borders are 128 points long and 16 are 4.
#[test]
fn conjugate_gradient_has_9_percent_of_679_bytes() {
    let pattern = Application::ConjugateGradient.pattern(PRINTED_PROCESSORS, 0).unwrap();
    assert_eq!(pattern.messages().len(), 2 * (30 + 16));
    assert_eq!(total(&pattern), 2 * 8 * (30 * 128 + 16 * 4));
    assert_eq!(format!("{:.1}% of {:.0} B", 100.0 * pattern.density(), mean_bytes(&pattern)), "9.3% of 679 B");
}

#[test]
fn synthetic_patterns_have_the_printed_figures_exactly() {
    for application in Application::ALL {
        let Printed { percent, mean_bytes } = application.printed();
        for seed in 0..3 {
            let pattern = application.synthetic(seed).unwrap();
            assert_eq!((100.0 * pattern.density()).round() as u32, percent, "{application:?}");
            assert_eq!(total(&pattern), u64::from(mean_bytes) * pattern.messages().len() as u64, "{application:?}");
        }
    }
}

#[test]
fn who_sends_also_receives() {
    for application in Application::ALL {
        for pattern in [application.pattern(PRINTED_PROCESSORS, 5).unwrap(), application.synthetic(5).unwrap()] {
            assert!(pattern.messages().iter().all(|message| pattern.message(message.to, message.from).is_some()));
        }
    }
}

#[test]
fn any_number_of_parts_has_a_pattern() {
    for parts in [1, 2, 3, 7, 600] {
        let pattern = Application::Euler545.pattern(NonZeroU16::new(parts).unwrap(), 1).unwrap();
        assert_eq!(pattern.ranks(), u32::from(parts));
        let pattern = Application::ConjugateGradient.pattern(NonZeroU16::new(parts).unwrap(), 1).unwrap();
        assert_eq!(pattern.ranks(), u32::from(parts));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn adjusted_patterns_have_what_was_asked_for(
        ranks in 2u32..20, weights in prop::collection::vec(0u64..1000, 400), percent in 1u32..=100, mean_bytes in 1u32..5_000,
    ) {
        // A symmetric matrix with about half of its entries empty.
        let weight = |i: u32, j: u32| weights[(i.min(j) * 20 + i.max(j)) as usize].saturating_sub(500);
        let entry = |i: u32, j: u32| if i == j { 0 } else { weight(i, j) };
        let matrix = (0..ranks).flat_map(|i| (0..ranks).map(move |j| entry(i, j))).collect();
        let pattern = adjusted(&Pattern::new(ranks, matrix).unwrap(), percent, mean_bytes).unwrap();
        prop_assert_eq!(total(&pattern), u64::from(mean_bytes) * pattern.messages().len() as u64);
        // Rounding can add or remove at most half a pair.
        let step = 100.0 / f64::from(ranks * (ranks - 1) / 2);
        prop_assert!((100.0 * pattern.density() - f64::from(percent)).abs() <= (step / 2.0).max(0.5) + 1e-9);
    }
}

#[test]
fn more_than_every_message_is_refused() {
    let pattern = Pattern::complete(4, Bytes(8)).unwrap();
    assert_eq!(adjusted(&pattern, 101, 8), Err(PatternError::Density(1_010_000)));
}
