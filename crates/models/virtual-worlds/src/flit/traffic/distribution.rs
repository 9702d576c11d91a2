//! Distributions of values: mean, minimum, maximum, percentiles.

use std::collections::BTreeMap;

use quantities::Duration;

/// The percentiles that are reported.
const PERCENTILES: [f64; 5] = [50.0, 90.0, 95.0, 99.0, 99.9];
/// The most bins of a histogram.
const MOST_BINS: usize = 1 << 16;

/// A distribution of durations.
#[derive(Clone, Debug, PartialEq)]
pub struct Distribution {
    /// The number of durations.
    pub count: usize,
    /// The mean. [ps]
    pub mean: f64,
    /// The minimum.
    pub least: Duration,
    /// Each reported percentile, with the least duration that this share of durations does not exceed; where more than
    /// 65,536 different durations occurred, up to one part in a thousand less.
    pub percentiles: [(f64, Duration); 5],
    /// The maximum.
    pub most: Duration,
}

impl Distribution {
    /// The distribution of the durations in `histogram`, in picoseconds; nothing if there are none.
    pub(super) fn of(histogram: &Histogram) -> Option<Distribution> {
        let count = histogram.count;
        // In tenths of a percent, which are whole numbers: a rank must not be one too high because 99.9 is not exact.
        let tenths = |percent: f64| (percent * 10.0).round() as u64;
        let rank = |percent: f64| (tenths(percent) * count).div_ceil(1_000);
        Some(Distribution {
            count: count as usize,
            mean: histogram.sum as f64 / count as f64,
            least: Duration::from_picoseconds(histogram.least?),
            percentiles: PERCENTILES
                .map(|percent| (percent, Duration::from_picoseconds(histogram.of_rank(rank(percent))))),
            most: Duration::from_picoseconds(histogram.most),
        })
    }
}

/// Counts values. It is exact up to [`MOST_BINS`] different ones; beyond that, as few of the last binary digits as
/// possible are dropped, which is at worst one part in a thousand, so that its memory is bounded.
#[derive(Clone, Debug)]
pub(super) struct Histogram {
    bins: BTreeMap<u64, u64>,
    /// How many binary digits of a value are kept, from the first.
    digits: u32,
    pub(super) count: u64,
    pub(super) sum: u128,
    least: Option<u64>,
    most: u64,
}

impl Default for Histogram {
    fn default() -> Histogram {
        Histogram { bins: BTreeMap::new(), digits: u64::BITS, count: 0, sum: 0, least: None, most: 0 }
    }
}

impl Histogram {
    /// Counts a value.
    pub(super) fn add(&mut self, value: u64) {
        self.count += 1;
        self.sum += u128::from(value);
        self.least = Some(self.least.map_or(value, |least| least.min(value)));
        self.most = self.most.max(value);
        *self.bins.entry(kept(value, self.digits)).or_default() += 1;
        while self.bins.len() > MOST_BINS {
            self.coarsen();
        }
    }

    /// The mean, if there are values.
    pub(super) fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum as f64 / self.count as f64)
    }

    fn coarsen(&mut self) {
        self.digits -= 1;
        let mut bins = BTreeMap::new();
        for (value, count) in std::mem::take(&mut self.bins) {
            *bins.entry(kept(value, self.digits)).or_default() += count;
        }
        self.bins = bins;
    }

    /// The value that `rank` values do not exceed.
    fn of_rank(&self, rank: u64) -> u64 {
        let mut passed = 0;
        let reaches = |(_, count): &(&u64, &u64)| {
            passed += *count;
            passed >= rank
        };
        let value = self.bins.iter().find(reaches).map_or(self.most, |(value, _)| *value);
        value.max(self.least.unwrap_or(0))
    }
}

/// The first binary digits of `value`, the others being zero.
fn kept(value: u64, digits: u32) -> u64 {
    let dropped = (u64::BITS - value.leading_zeros()).saturating_sub(digits);
    value >> dropped << dropped
}

#[cfg(test)]
mod tests {
    use super::*;

    fn distribution(values: impl IntoIterator<Item = u64>) -> (Histogram, Option<Distribution>) {
        let mut histogram = Histogram::default();
        values.into_iter().for_each(|value| histogram.add(value));
        let distribution = Distribution::of(&histogram);
        (histogram, distribution)
    }

    #[test]
    fn percentiles_are_values_that_occurred() {
        let of_thousand = distribution((1..=1000).rev()).1.unwrap();
        let shown: Vec<u64> = of_thousand.percentiles.iter().map(|(_, value)| value.picoseconds()).collect();
        assert_eq!(shown, [500, 900, 950, 990, 999]);
        assert_eq!(
            (of_thousand.least.picoseconds(), of_thousand.most.picoseconds(), of_thousand.mean),
            (1, 1000, 500.5)
        );
        let of_one = distribution([7]).1.unwrap();
        assert!(of_one.percentiles.iter().all(|(_, value)| value.picoseconds() == 7));
        assert_eq!(distribution([]).1, None);
    }

    /// Memory is bounded however many values there are, and percentiles stay right to one part in a thousand.
    #[test]
    fn many_different_values_share_bins() {
        let many = 1_000_000;
        // Half of them are close to each other, half spread over twenty binary places.
        let value =
            |index: u64| if index.is_multiple_of(2) { 1_000_000 + index } else { (1 << (20 + index % 20)) + index };
        let (histogram, found) = distribution((0..many).map(value));
        assert!(histogram.bins.len() <= MOST_BINS);
        let mut sorted: Vec<u64> = (0..many).map(value).collect();
        sorted.sort_unstable();
        for (percent, found) in found.unwrap().percentiles {
            let exact = sorted[(percent * 10.0).round() as usize * sorted.len() / 1_000 - 1] as f64;
            let found = found.picoseconds() as f64;
            assert!(found <= exact && found >= exact * (1.0 - 1e-3), "{percent}%: {found}, exactly {exact}");
        }
    }
}
