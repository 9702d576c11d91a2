//! A random walk through costs that a paper does not print, towards the numbers that it prints. It is determined by a seed.

use quantities::splitmix64::Draws;

/// A field of a description to search, and its range: its logarithm is drawn uniformly.
#[derive(Clone, Copy, Debug)]
pub struct Range {
    /// The field.
    pub field: &'static str,
    /// Its least value.
    pub least: f64,
    /// Its greatest value.
    pub most: f64,
    /// Its unit, as written in descriptions.
    pub unit: &'static str,
}

/// A point of the search: a number for each range.
pub type Place = Vec<f64>;

/// Draws points.
#[derive(Clone, Debug)]
pub struct Walk<'a> {
    ranges: &'a [Range],
    draws: Draws,
}

/// The probability that a step changes a number.
const CHANGED: f64 = 0.35;
/// How far the number then moves, in a long step and in a short one: the standard deviation of its logarithm.
const STRIDES: [f64; 2] = [0.35, 0.08];

impl<'a> Walk<'a> {
    /// A walk within `ranges`, determined by `seed`.
    pub fn new(ranges: &'a [Range], seed: u64) -> Walk<'a> {
        Walk { ranges, draws: Draws(seed) }
    }

    /// A point anywhere in the ranges.
    pub fn anywhere(&mut self) -> Place {
        let ranges = self.ranges;
        ranges.iter().map(|range| range.least * (range.most / range.least).powf(self.draws.share())).collect()
    }

    /// A step from `place`: at least one of its numbers changes.
    pub fn step(&mut self, place: &[f64]) -> Place {
        let ranges = self.ranges;
        let one = (self.draws.share() * ranges.len() as f64) as usize;
        let stride = STRIDES[usize::from(self.draws.share() < 0.5)];
        let mut next = Place::with_capacity(place.len());
        for (index, (range, value)) in ranges.iter().zip(place).enumerate() {
            let changed = self.draws.share() < CHANGED || index == one;
            // The sum of three uniform draws is bell-shaped, with a standard deviation of one half.
            let bell = (0..3).map(|_| self.draws.share()).sum::<f64>() - 1.5;
            let factor = if changed { (2.0 * stride * bell).exp() } else { 1.0 };
            next.push((value * factor).clamp(range.least, range.most));
        }
        next
    }

    /// The fields with the numbers of `place`.
    pub fn settings(&self, place: &[f64]) -> Vec<(String, String)> {
        let setting = |(range, value): (&Range, &f64)| {
            let digits = if *value < 10.0 { 2 } else { 1 };
            (range.field.to_string(), format!("{} {}", report::fixed(*value, digits), range.unit))
        };
        self.ranges.iter().zip(place).map(setting).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_walk_stays_within_its_ranges_and_follows_from_its_seed() {
        let ranges = [
            Range { field: "a", least: 1.0, most: 100.0, unit: "us" },
            Range { field: "b", least: 20.0, most: 30.0, unit: "ns" },
        ];
        let path = |seed| {
            let mut walk = Walk::new(&ranges, seed);
            let mut places = vec![walk.anywhere()];
            for index in 0..500 {
                let next = walk.step(&places[index]);
                places.push(next);
            }
            places
        };
        let within =
            |place: &Place| place.iter().zip(&ranges).all(|(at, range)| (range.least..=range.most).contains(at));
        assert!(path(1).iter().all(within));
        // A step from an edge can end there.
        let moves = path(1).windows(2).filter(|two| two[0] != two[1]).count();
        assert!(moves > 400, "{moves} of 500 steps go somewhere");
        assert_eq!(path(1), path(1));
        assert_ne!(path(1), path(2));
        let walk = Walk::new(&ranges, 1);
        let text = |name: &str, value: &str| (name.to_string(), value.to_string());
        assert_eq!(walk.settings(&[1.234, 25.06]), [text("a", "1.23 us"), text("b", "25.1 ns")]);
    }
}
