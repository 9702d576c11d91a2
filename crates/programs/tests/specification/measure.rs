//! Measuring t0 and lambda: in the world of the postal model, the fit recovers the world's parameters.

use endpoint::{Program, World};
use machines::model::LogGp;
use maquette_programs::measure::{
    AllAnswered, Experiment, FitError, MOST_PARTNERS, Measured, OneAnswer, Sample, fit, partners,
};
use proptest::prelude::*;
use quantities::{Bytes, Duration, Rank};
use virtual_worlds::loggp::Clock;

/// A postal machine: o = 0, g = t0, L = lambda t0.
fn postal(send_time: Duration, latency: Duration) -> Clock {
    Clock::new(LogGp {
        latency,
        overhead: Duration::ZERO,
        gap: send_time,
        gap_per_byte: Duration::ZERO,
        overhead_per_byte: Duration::ZERO,
        rendezvous: None,
    })
}

/// T of an experiment with `k` partners, drawn with `seed`.
fn time(clock: Clock, experiment: Experiment, ranks: u32, k: u32, seed: u64) -> Duration {
    let (source, bytes) = (Rank(0), Bytes(64));
    let partners = partners(ranks, source, k, seed);
    let times = match experiment {
        Experiment::OneAnswer => run(clock, ranks, &OneAnswer { source, partners, bytes }),
        Experiment::AllAnswered => run(clock, ranks, &AllAnswered { source, partners, bytes }),
    };
    times[0].expect("the source has measured")
}

fn run<P: Program>(clock: Clock, ranks: u32, program: &P) -> Vec<P::Output> {
    let (results, _) = clock.run(ranks, program).expect("no rank waits for ever");
    results.into_iter().collect::<endpoint::Result<Vec<P::Output>>>().expect("no rank fails")
}

fn measured(experiment: Experiment, samples: &[(u32, u64)]) -> Result<Measured, FitError> {
    let sample = |&(partners, time)| Sample { partners, time: Duration::from_picoseconds(time) };
    fit(experiment, &samples.iter().map(sample).collect::<Vec<Sample>>())
}

proptest! {
    #[test]
    fn in_the_postal_world_the_fit_is_exact(
        send_time in 1_u64..1_000_000_000_000,
        tenths in 10_u64..200,
        ranks in 4_u32..20,
        seed in any::<u64>(),
    ) {
        let (send_time, latency) = (send_time * 10, send_time * tenths);
        let clock = postal(Duration::from_picoseconds(send_time), Duration::from_picoseconds(latency));
        for experiment in [Experiment::OneAnswer, Experiment::AllAnswered] {
            let most = (ranks - 1).min(8);
            let sample = |k, draw| Sample { partners: k, time: time(clock, experiment, ranks, k, seed ^ draw) };
            let samples: Vec<Sample> = (1..=most).flat_map(|k| (0..3).map(move |draw| sample(k, draw))).collect();
            let measured = fit(experiment, &samples).unwrap();
            prop_assert_eq!(measured.send_time.value, send_time as f64);
            prop_assert_eq!(measured.lambda.value, tenths as f64 / 10.0);
            prop_assert_eq!((measured.send_time.confidence, measured.lambda.confidence), (0.0, 0.0));
            prop_assert_eq!(measured.r_squared, 1.0);
        }
    }

    #[test]
    fn any_samples_are_fitted_or_refused(samples in prop::collection::vec((0_u32..70, any::<u64>()), 0..40)) {
        for experiment in [Experiment::OneAnswer, Experiment::AllAnswered] {
            if let Ok(measured) = measured(experiment, &samples) {
                prop_assert!(measured.send_time.value > 0.0 && measured.lambda.value.is_finite());
                prop_assert!(measured.lambda.confidence >= 0.0 && measured.r_squared <= 1.0);
            }
        }
    }
}

/// The sample of Anscombe's first quartet, whose regression every textbook prints: T = 3.00 + 0.500 x, with standard
/// errors 1.125 and 0.118, R squared 0.667. In this test x = k - 1, and T is in units of 10 ps, so that it is an
/// integer.
#[test]
fn errors_are_those_of_linear_regression() {
    let x = [10, 8, 13, 9, 11, 14, 6, 4, 12, 7, 5];
    let y = [804, 695, 758, 881, 833, 996, 724, 426, 1084, 482, 568];
    let samples: Vec<(u32, u64)> = x.iter().map(|x| x + 1).zip(y).collect();
    let measured = measured(Experiment::OneAnswer, &samples).unwrap();
    // b = t0, in hundredths.
    assert!((measured.send_time.value - 50.0).abs() < 0.02, "{measured:?}");
    assert!((measured.send_time.standard_error - 11.79).abs() < 0.01, "{measured:?}");
    // Student's t with 9 degrees of freedom.
    assert!((measured.send_time.confidence / measured.send_time.standard_error - 2.262).abs() < 1e-9);
    assert!((measured.r_squared - 0.6665).abs() < 1e-4, "{measured:?}");
    // lambda = a / 2 b; by hand, var(a/b) = (1.1247^2 + 6.0003^2 0.1179^2 + 2 6.0003 0.1179^2 9) / 0.5001^2.
    assert!((measured.lambda.value - 3.0).abs() < 0.01, "{measured:?}");
    assert!((measured.lambda.standard_error - 1.809).abs() < 0.01, "{measured:?}");
}

#[test]
fn times_that_cannot_be_fitted_are_refused() {
    let one = |samples: &[(u32, u64)]| measured(Experiment::OneAnswer, samples).unwrap_err();
    assert_eq!(one(&[(1, 10), (2, 20)]), FitError::Samples(2));
    assert_eq!(one(&[(2, 10), (2, 20), (2, 30)]), FitError::Partners);
    assert_eq!(one(&[(1, 30), (2, 20), (3, 10)]), FitError::NoGrowth);
    assert_eq!(one(&[(1, 10), (2, 20), (MOST_PARTNERS + 1, 30)]), FitError::Range(MOST_PARTNERS + 1));
}
