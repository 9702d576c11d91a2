//! Regions: the parts into which a drawing divides the routers of a network.
//!
//! Each topology says which routers belong together. What is common to them: how to cut a row of things into few
//! stretches, and how to lay regions in a circle.

use super::RouterPlan;
use crate::model::{Region, Regions};

impl Regions {
    /// The most regions of a network: as many names and bundles of channels as a person can take in.
    pub const MOST: u32 = 64;

    /// Adds a region; returns its index.
    pub(crate) fn add(&mut self, name: String, position: (f32, f32)) -> u32 {
        self.list.push(Region { name, position });
        self.list.len() as u32 - 1
    }

    /// Regions of routers that lie near each other: as long as a region has more than four, and there may be more
    /// regions, each is halved across its longer side.
    pub(super) fn by_position(routers: &[RouterPlan]) -> Regions {
        const FEW: usize = 4;
        /// Where the layout is irregular, fewer regions fit beside each other.
        const MOST: usize = Regions::MOST as usize / 2;
        let mut parts: Vec<Vec<usize>> = vec![(0..routers.len()).collect()];
        while parts.len() * 2 <= MOST && parts.iter().any(|part| part.len() > FEW) {
            parts = parts.into_iter().flat_map(|part| halves(routers, part)).filter(|part| !part.is_empty()).collect();
        }
        let mut regions = Regions { list: Vec::new(), of_router: vec![0; routers.len()] };
        for part in parts {
            let mean = |of: fn(&RouterPlan) -> f32| {
                let sum: f64 = part.iter().map(|&router| f64::from(of(&routers[router]))).sum();
                (sum / part.len() as f64) as f32
            };
            let place = (mean(|router| router.position.0), mean(|router| router.position.1));
            let first = part.iter().min().map_or("", |&router| &routers[router].name);
            let name = match part.len() {
                1 => first.to_owned(),
                count => format!("{first} and {} more", count - 1),
            };
            let region = regions.add(name, place);
            part.iter().for_each(|&router| regions.of_router[router] = region);
        }
        regions
    }
}

/// Two halves of some routers, cut across the longer side of where they lie.
fn halves(routers: &[RouterPlan], mut part: Vec<usize>) -> [Vec<usize>; 2] {
    let extent = |of: fn(&RouterPlan) -> f32| {
        let all = part.iter().map(|&router| of(&routers[router]));
        let (least, most) =
            all.fold((f32::INFINITY, f32::NEG_INFINITY), |(least, most), x| (least.min(x), most.max(x)));
        most - least
    };
    let across: fn(&RouterPlan) -> f32 = |router| router.position.0;
    let down: fn(&RouterPlan) -> f32 = |router| router.position.1;
    let along = if extent(across) >= extent(down) { across } else { down };
    part.sort_by(|&one, &other| along(&routers[one]).total_cmp(&along(&routers[other])).then(one.cmp(&other)));
    let half = part.split_off(part.len() / 2);
    [part, half]
}

/// A row of equal things, cut into stretches of equal length, of which the last may be shorter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stretches {
    /// How many things there are.
    pub count: u32,
    /// How many make a stretch.
    pub length: u32,
}

impl Stretches {
    /// `count` things in at most `most` stretches, all of one length if that makes at least half as many.
    pub(super) fn of(count: u32, most: u32) -> Stretches {
        let shortest = count.div_ceil(most).max(1);
        let longest = (2 * shortest).min(count.max(1));
        let length = (shortest..=longest).find(|length| count.is_multiple_of(*length)).unwrap_or(shortest);
        Stretches { count, length }
    }

    /// How many stretches there are.
    pub(super) const fn number(self) -> u32 {
        self.count.div_ceil(self.length)
    }

    /// What stretch `stretch` contains: `8-15`.
    pub(super) fn words(self, stretch: u32) -> String {
        let first = stretch * self.length;
        let last = (first + self.length).min(self.count) - 1;
        if first == last { first.to_string() } else { format!("{first}-{last}") }
    }
}

/// Place `number` of `count` on a circle, clockwise from the top. Neighbours are about one and a half apart: between
/// others, bundles cross the middle. The circle is higher than wide, as boxes with names in them are wider than high.
///
/// The sine and cosine are sums of their series, so that they are the same to the last bit on every machine.
pub(super) fn on_circle(number: u32, count: u32) -> (f32, f32) {
    let turn = std::f64::consts::TAU / f64::from(count.max(1));
    // Angles from -pi to pi, where the series converges quickly.
    let angle = turn * f64::from(number) - std::f64::consts::PI;
    let (sine, cosine) = (series(angle, angle), series(1.0, angle));
    let radius = 1.5 * (f64::from(count) / std::f64::consts::TAU).max(0.5);
    ((-sine * radius) as f32, (1.6 * cosine * radius) as f32)
}

/// The sum of every other term of the exponential series with alternating signs, from the term `first` on: the sine
/// from x, the cosine from 1.
fn series(first: f64, x: f64) -> f64 {
    let odd = if first == 1.0 { 0.0 } else { 1.0 };
    let mut term = first;
    let mut sum = first;
    for step in 1..=20 {
        let place = f64::from(2 * step) + odd;
        term *= -x * x / (place * (place - 1.0));
        sum += term;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stretches_cover_everything_and_are_few() {
        for count in 1..300 {
            for most in [1, 3, 8, 64] {
                let stretches = Stretches::of(count, most);
                assert!(stretches.number() <= most);
                assert!((stretches.number() - 1) * stretches.length < count);
            }
        }
        assert_eq!(Stretches::of(20, 8).words(2), "8-11", "five of four, not six of three and a rest");
        assert_eq!(Stretches::of(37, 8).number(), 8, "a prime has a rest");
        assert_eq!(Stretches::of(5, 4).words(2), "4");
    }

    #[test]
    fn a_circle_begins_at_the_top_and_goes_clockwise() {
        let places: Vec<(f32, f32)> = (0..4).map(|number| on_circle(number, 4)).collect();
        let radius = 6.0 / std::f32::consts::TAU;
        for (place, expected) in
            places.iter().zip([(0.0, -1.6 * radius), (radius, 0.0), (0.0, 1.6 * radius), (-radius, 0.0)])
        {
            assert!((place.0 - expected.0).abs() < 1e-5 && (place.1 - expected.1).abs() < 1e-5, "{places:?}");
        }
    }
}
