//! Whether a measurement shows that the network carries a load: batch means (Law and Kelton, "Simulation Modeling and
//! Analysis"; Dally and Towles, chapter 24), and the trend of the backlog.
//!
//! A measurement is cut into batches of equal length. A load that the network carries has three marks: as much is
//! accepted as is offered, neither backlog nor latency has a trend over the batches, and the mean latency is below the
//! limit. Each is an estimate with a margin. Close to saturation, consecutive batches are alike for long; the lag-1
//! correlation of the batches, that of a first-order autoregressive process, widens the margins. Where a margin reaches
//! across a bound, nothing is decided.
//!
//! Why trends have a bound of their own: the backlog of a network with too much load grows in proportion to time, that
//! of one exactly at saturation with its square root. Over a measurement that is twice as long as everything before it,
//! these are growths of 100% and of about 50% of the mean; in a stationary network there is none.

use super::tally::Totals;
use super::{Estimate, Evidence, Sign, Verdict};

/// Half the width of a margin, in standard deviations: 95%.
const DEVIATIONS: f64 = 2.0;
/// The fewest batches from which anything is inferred.
const LEAST_BATCHES: usize = 8;
/// The share of the offered load that may seem not to be accepted.
const DEFICIT: f64 = 0.01;
/// By how much of its mean the backlog or latency may grow or shrink in a measurement, the margin included.
const GROWTH: f64 = 0.5;
/// By how much it may certainly grow or shrink: a quantity known to change by more has not settled.
const SETTLED: f64 = 0.1;
/// Higher correlations are capped at this: margins would have no bound.
const MOST_CORRELATION: f64 = 0.95;

/// What a measurement shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Decision {
    Stable,
    Saturated(Sign),
    Undecided,
}

impl Decision {
    pub(super) fn verdict(self) -> Verdict {
        match self {
            Decision::Stable => Verdict::Stable,
            Decision::Saturated(sign) => Verdict::Saturated(sign),
            Decision::Undecided => Verdict::Undecided,
        }
    }
}

/// Decides from batches of equal length; `limit` is the mean latency that packets may have. [ps]
pub(super) fn decide(batches: &[Totals], limit: f64) -> (Decision, Option<Evidence>) {
    let Some(evidence) = evidence(batches) else { return (Decision::Undecided, None) };
    let bounds = [
        (Sign::Latency, evidence.latency, limit),
        (Sign::Accepted, evidence.deficit, DEFICIT),
        (Sign::Backlog, evidence.backlog_growth, GROWTH),
        (Sign::Backlog, evidence.latency_growth, GROWTH),
    ];
    let above = bounds.iter().find(|(_, estimate, bound)| estimate.value - estimate.margin > *bound);
    let within = |estimate: &Estimate, bound: f64| estimate.value.abs() + estimate.margin < bound;
    let settled = |growth: Estimate| growth.value.abs() - growth.margin < SETTLED;
    let carried = bounds.iter().all(|(_, estimate, bound)| within(estimate, *bound))
        && settled(evidence.backlog_growth)
        && settled(evidence.latency_growth);
    let decision = match above {
        Some(&(sign, ..)) => Decision::Saturated(sign),
        None if carried => Decision::Stable,
        None => Decision::Undecided,
    };
    (decision, Some(evidence))
}

fn evidence(batches: &[Totals]) -> Option<Evidence> {
    let born: u64 = batches.iter().map(|batch| batch.born).sum();
    if batches.len() < LEAST_BATCHES || born == 0 {
        return None;
    }
    let births = born as f64 / batches.len() as f64;
    // By Little's law the backlog is the latency of packets born, including those that still wait.
    let backlog: Vec<f64> = batches.iter().map(|batch| batch.waiting as f64 / births).collect();
    let deficit: Vec<f64> = batches.iter().map(|batch| (batch.born as f64 - batch.arrived as f64) / births).collect();
    let latency: Vec<f64> = batches.iter().filter_map(Totals::mean_latency).collect();
    if latency.len() < batches.len() {
        return None;
    }
    Some(Evidence {
        deficit: mean(&deficit),
        latency: mean(&backlog),
        backlog_growth: growth(&backlog),
        latency_growth: growth(&latency),
    })
}

/// The mean of a series.
fn mean(values: &[f64]) -> Estimate {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let deviations: Vec<f64> = values.iter().map(|value| value - mean).collect();
    let variance = squares(&deviations) / (count - 1.0) * inflation(&deviations);
    Estimate { value: mean, margin: DEVIATIONS * (variance / count).sqrt() }
}

/// By how much a series grows from beginning to end, on the least-squares line, relative to its mean.
fn growth(values: &[f64]) -> Estimate {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let place = |index: usize| index as f64 - (count - 1.0) / 2.0;
    let places: f64 = (0..values.len()).map(|index| place(index) * place(index)).sum();
    let slope = values.iter().enumerate().map(|(index, value)| place(index) * value).sum::<f64>() / places;
    let rest = |(index, value): (usize, &f64)| value - mean - slope * place(index);
    let rests: Vec<f64> = values.iter().enumerate().map(rest).collect();
    let variance = squares(&rests) / (count - 2.0) * inflation(&rests);
    let whole = count / mean;
    Estimate { value: slope * whole, margin: DEVIATIONS * (variance / places).sqrt() * whole }
}

/// By what factor the variance of a mean of `deviations` exceeds that of independent ones.
fn inflation(deviations: &[f64]) -> f64 {
    let products: f64 = deviations.windows(2).map(|pair| pair[0] * pair[1]).sum();
    let variation = squares(deviations);
    if variation == 0.0 {
        return 1.0;
    }
    // The estimate is too low by about twice the inverse of the count, since the mean or the line is estimated, too.
    let correlation = products / variation + 2.0 / deviations.len() as f64;
    let believed = correlation.clamp(0.0, MOST_CORRELATION);
    (1.0 + believed) / (1.0 - believed)
}

fn squares(values: &[f64]) -> f64 {
    values.iter().map(|value| value * value).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flit::traffic::Stream;

    const BORN: u64 = 1_000;
    const LIMIT: f64 = 500.0;

    /// Batches with the given mean latencies and deficits.
    fn batches(of: impl Fn(usize) -> (f64, u64)) -> Vec<Totals> {
        let batch = |index| {
            let (latency, deficit) = of(index);
            let arrived = BORN - deficit;
            let latency_of = |packets: u64| (latency * packets as f64) as u128;
            Totals { born: BORN, arrived, latency: latency_of(arrived), waiting: latency_of(BORN) }
        };
        (0..32).map(batch).collect()
    }

    fn decision(of: impl Fn(usize) -> (f64, u64)) -> Decision {
        decide(&batches(of), LIMIT).0
    }

    #[test]
    fn a_load_is_carried_that_stays_as_it_is() {
        assert_eq!(decision(|_| (100.0, 0)), Decision::Stable);
        assert_eq!(decision(|index| (100.0 + (index % 3) as f64, 0)), Decision::Stable);
    }

    #[test]
    fn each_mark_of_saturation_is_seen_alone() {
        assert_eq!(decision(|_| (501.0, 0)), Decision::Saturated(Sign::Latency));
        assert_eq!(decision(|_| (100.0, 20)), Decision::Saturated(Sign::Accepted));
        assert_eq!(decision(|index| (100.0 + 5.0 * index as f64, 0)), Decision::Saturated(Sign::Backlog));
    }

    /// A growth that is certain but small, chance that reaches across a bound, and an empty measurement.
    #[test]
    fn an_estimate_that_reaches_across_a_bound_decides_nothing() {
        let noise = |index: usize| ((index * 7919) % 32) as f64;
        assert_eq!(decision(|index| (100.0 + 1.2 * index as f64 + noise(index), 0)), Decision::Undecided);
        assert_eq!(decision(|index| (485.0 + noise(index), 0)), Decision::Undecided);
        assert_eq!(decision(|index| (200.0 - 4.0 * index as f64, 0)), Decision::Undecided);
        assert_eq!(decide(&[], LIMIT).0, Decision::Undecided);
        assert_eq!(decide(&[Totals::default(); 32], LIMIT).0, Decision::Undecided);
    }

    /// The backlog of a network exactly at saturation, empty at first, is a random walk: it never settles, so it is
    /// hardly ever taken for one that has.
    #[test]
    fn a_walk_at_random_is_hardly_ever_stable() {
        let (mut stable, mut saturated) = (0, 0);
        for number in 0..400 {
            let mut stream = Stream::new(5, number);
            let mut at = 20.0;
            let mut step = || {
                at = f64::max(at + f64::from(stream.below(61)) - 30.0, 20.0);
                at
            };
            let walk: Vec<f64> = (0..48).map(|_| step()).collect();
            match decision(|index| (walk[16 + index], 0)) {
                Decision::Stable => stable += 1,
                Decision::Saturated(_) => saturated += 1,
                Decision::Undecided => {}
            }
        }
        assert!(stable <= 16 && saturated <= 120, "{stable} stable and {saturated} saturated of 400");
    }

    /// Chance without a trend, from a first-order autoregressive process with correlation 0.6, is hardly ever called
    /// saturated.
    #[test]
    fn correlated_batches_are_not_taken_for_growth() {
        let mut saturated = 0;
        for number in 0..400 {
            let mut stream = Stream::new(6, number);
            let mut at = 0.0;
            let mut step = || {
                at = 0.6 * at + f64::from(stream.below(61)) - 30.0;
                200.0 + at
            };
            let series: Vec<f64> = (0..32).map(|_| step()).collect();
            saturated += u32::from(matches!(decision(|index| (series[index], 0)), Decision::Saturated(_)));
        }
        assert!(saturated <= 2, "{saturated} of 400");
    }
}
