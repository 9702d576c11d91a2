//! A random walk through costs that a paper does not print, towards the numbers that it prints. All of it follows from a seed.

use quantities::splitmix64::Draws;

/// A field of a description that is searched for, and between what: its logarithm is drawn evenly.
#[derive(Clone, Copy, Debug)]
pub struct Range {
    /// The field.
    pub field: &'static str,
    /// The least that it may be.
    pub least: f64,
    /// The most.
    pub most: f64,
    /// Its unit, as descriptions write it.
    pub unit: &'static str,
}

/// A place: a number for each range.
pub type Place = Vec<f64>;

/// Draws places.
#[derive(Clone, Debug)]
pub struct Walk<'a> {
    ranges: &'a [Range],
    draws: Draws,
}

/// How often a step changes a number.
const CHANGED: f64 = 0.35;
/// How far it then goes, in a long step and in a short one: the standard deviation of its logarithm.
const STRIDES: [f64; 2] = [0.35, 0.08];

impl<'a> Walk<'a> {
    /// A walk within `ranges` that follows from `seed`.
    pub fn new(ranges: &'a [Range], seed: u64) -> Walk<'a> {
        Walk { ranges, draws: Draws(seed) }
    }

    /// Anywhere.
    pub fn anywhere(&mut self) -> Place {
        let ranges = self.ranges;
        ranges.iter().map(|range| range.least * (range.most / range.least).powf(self.draws.share())).collect()
    }

    /// A step from `place`: some of its numbers are others, one at least.
    pub fn step(&mut self, place: &[f64]) -> Place {
        let ranges = self.ranges;
        let one = (self.draws.share() * ranges.len() as f64) as usize;
        let stride = STRIDES[usize::from(self.draws.share() < 0.5)];
        let mut next = Place::with_capacity(place.len());
        for (index, (range, value)) in ranges.iter().zip(place).enumerate() {
            let changed = self.draws.share() < CHANGED || index == one;
            // Three even draws make a bell, of standard deviation one half.
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
        // A step from the edge can end there.
        let moves = path(1).windows(2).filter(|two| two[0] != two[1]).count();
        assert!(moves > 400, "{moves} of 500 steps go somewhere");
        assert_eq!(path(1), path(1));
        assert_ne!(path(1), path(2));
        let walk = Walk::new(&ranges, 1);
        let text = |name: &str, value: &str| (name.to_string(), value.to_string());
        assert_eq!(walk.settings(&[1.234, 25.06]), [text("a", "1.23 us"), text("b", "25.1 ns")]);
    }
}
