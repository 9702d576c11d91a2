//! A search that learns how far to step, and which costs to change together: one child of each place, which takes its place where it
//! is better. All of it follows from a seed.
//!
//! Source: Igel, Suttorp and Hansen, "A computational efficient covariance matrix update and a (1+1)-CMA for evolution strategies",
//! GECCO 2006.

use quantities::splitmix64::Draws;

use crate::walk::{Place, Range};

/// How many of the children should be better.
const SUCCESS_RATE: f64 = 2.0 / 11.0;
/// How fast the mean of how many are follows them.
const SMOOTHING: f64 = 1.0 / 12.0;
/// Where more than these are better the steps are too short, and say nothing of the shape.
const SHORT: f64 = 0.44;
/// The first stride, and the bounds of it: shares of the ranges, in logarithms.
const STRIDE: f64 = 0.1;
const STRIDES: std::ops::RangeInclusive<f64> = 0.002..=0.3;

/// A place, and what was learned on the way there. Coordinates are shares of the ranges, in logarithms.
#[derive(Clone, Debug)]
pub struct Adaptation<'a> {
    ranges: &'a [Range],
    draws: Draws,
    at: Vec<f64>,
    child: Vec<f64>,
    /// What the child was made from: numbers of mean 0 and deviation 1.
    drawn: Vec<f64>,
    stride: f64,
    /// How many of the last children were better.
    better: f64,
    /// The lower factor of the covariance of steps.
    factor: Vec<Vec<f64>>,
}

impl<'a> Adaptation<'a> {
    /// A search within `ranges` that begins at `place` and follows from `seed`.
    pub fn new(ranges: &'a [Range], seed: u64, place: &[f64]) -> Adaptation<'a> {
        let share = |(range, value): (&Range, &f64)| {
            ((value / range.least).ln() / (range.most / range.least).ln()).clamp(0.0, 1.0)
        };
        let at: Vec<f64> = ranges.iter().zip(place).map(share).collect();
        let size = at.len();
        let row = |row: usize| (0..size).map(|column| if row == column { 1.0 } else { 0.0 }).collect();
        Adaptation {
            ranges,
            draws: Draws(seed),
            child: at.clone(),
            at,
            drawn: vec![0.0; size],
            stride: STRIDE,
            better: SUCCESS_RATE,
            factor: (0..size).map(row).collect(),
        }
    }

    /// Another place, near the one where the search is.
    pub fn child(&mut self) -> Place {
        for index in 0..self.drawn.len() {
            self.drawn[index] = self.normal();
        }
        let steps: Vec<f64> = self.factor.iter().map(|row| product(row, &self.drawn)).collect();
        self.child = self.at.iter().zip(&steps).map(|(at, step)| (at + self.stride * step).clamp(0.0, 1.0)).collect();
        let value = |(range, share): (&Range, &f64)| range.least * (range.most / range.least).powf(*share);
        self.ranges.iter().zip(&self.child).map(value).collect()
    }

    /// Learns whether the last child was `better`, and goes there if it was.
    pub fn learn(&mut self, better: bool) {
        let size = self.at.len() as f64;
        self.better += SMOOTHING * (f64::from(u8::from(better)) - self.better);
        let change = (self.better - SUCCESS_RATE) / (1.0 - SUCCESS_RATE) / (1.0 + size / 2.0);
        self.stride = (self.stride * change.exp()).clamp(*STRIDES.start(), *STRIDES.end());
        if better {
            self.at.clone_from(&self.child);
            if self.better < SHORT {
                self.stretch(2.0 / (size * size + 6.0));
            }
        }
    }

    /// Steps like the last are likelier from now on, by the share `rate`.
    fn stretch(&mut self, rate: f64) {
        let length: f64 = product(&self.drawn, &self.drawn);
        if length == 0.0 {
            return;
        }
        let kept = (1.0 - rate).sqrt();
        let added = kept / length * ((1.0 + rate * length / (1.0 - rate)).sqrt() - 1.0);
        for row in &mut self.factor {
            let step = product(row, &self.drawn);
            row.iter_mut().zip(&self.drawn).for_each(|(of, drawn)| *of = kept * *of + added * step * drawn);
        }
    }

    /// A number of mean 0 and deviation 1, from two even draws (Box and Muller).
    fn normal(&mut self) -> f64 {
        let (radius, angle) = (1.0 - self.draws.share(), self.draws.share());
        (-2.0 * radius.ln()).sqrt() * (std::f64::consts::TAU * angle).cos()
    }
}

fn product(one: &[f64], other: &[f64]) -> f64 {
    one.iter().zip(other).map(|(one, other)| one * other).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    const RANGES: [Range; 2] = [
        Range { field: "a", least: 1.0, most: 100.0, unit: "us" },
        Range { field: "b", least: 1.0, most: 100.0, unit: "us" },
    ];

    /// How near it comes in so many steps to where a narrow valley ends, which lies across both coordinates.
    fn after(seed: u64, steps: usize) -> f64 {
        let height = |place: &Place| {
            let (a, b) = ((place[0] / 7.0).ln(), (place[1] / 30.0).ln());
            (a + b).abs() * 30.0 + (a - b).abs()
        };
        let start = vec![90.0, 2.0];
        let (mut search, mut lowest) = (Adaptation::new(&RANGES, seed, &start), height(&start));
        for _ in 0..steps {
            let child = search.child();
            assert!(child.iter().all(|value| (1.0 - 1e-9..=100.0 + 1e-9).contains(value)), "{child:?}");
            let found = height(&child);
            search.learn(found < lowest);
            lowest = lowest.min(found);
        }
        lowest
    }

    #[test]
    fn it_goes_down_a_narrow_valley_and_follows_from_its_seed() {
        for seed in 0..10 {
            let (few, many) = (after(seed, 20), after(seed, 600));
            assert!(many < 0.1 && many < few / 10.0, "seed {seed}: {few} after 20 steps, {many} after 600");
            assert_eq!(many, after(seed, 600));
        }
    }
}
