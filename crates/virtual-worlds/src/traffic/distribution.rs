//! How values are spread: mean, least, most, percentiles.

use quantities::Duration;

/// The percentiles that are told.
const PERCENTILES: [f64; 5] = [50.0, 90.0, 95.0, 99.0, 99.9];

/// How durations are spread.
#[derive(Clone, Debug, PartialEq)]
pub struct Distribution {
    /// How many there are.
    pub count: usize,
    /// The mean. [ps]
    pub mean: f64,
    /// The least.
    pub least: Duration,
    /// Each percentile that is told, with the least duration that so many percent do not exceed.
    pub percentiles: [(f64, Duration); 5],
    /// The most.
    pub most: Duration,
}

impl Distribution {
    /// The distribution of `durations`, in picoseconds; nothing if there are none.
    pub(super) fn of(mut durations: Vec<u64>) -> Option<Distribution> {
        durations.sort_unstable();
        let (least, most) = (*durations.first()?, *durations.last()?);
        let count = durations.len();
        let sum: u128 = durations.iter().map(|&duration| u128::from(duration)).sum();
        // In tenths of a percent, which are whole: a rank must not be one too high because 99.9 is not exact.
        let tenths = |percent: f64| (percent * 10.0).round() as usize;
        let rank = |percent: f64| (tenths(percent) * count).div_ceil(1_000) - 1;
        Some(Distribution {
            count,
            mean: sum as f64 / count as f64,
            least: Duration::from_picoseconds(least),
            percentiles: PERCENTILES.map(|percent| (percent, Duration::from_picoseconds(durations[rank(percent)]))),
            most: Duration::from_picoseconds(most),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_values_that_occurred() {
        let of_thousand = Distribution::of((1..=1000).rev().collect()).unwrap();
        let shown: Vec<u64> = of_thousand.percentiles.iter().map(|(_, value)| value.picoseconds()).collect();
        assert_eq!(shown, [500, 900, 950, 990, 999]);
        assert_eq!(
            (of_thousand.least.picoseconds(), of_thousand.most.picoseconds(), of_thousand.mean),
            (1, 1000, 500.5)
        );
        let of_one = Distribution::of(vec![7]).unwrap();
        assert!(of_one.percentiles.iter().all(|(_, value)| value.picoseconds() == 7));
        assert_eq!(Distribution::of(Vec::new()), None);
    }
}
