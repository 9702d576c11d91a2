//! Axes: they map values to places on the paper, and choose ticks.

use super::numbers::{Measure, compact};

/// The scale of an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// By equal steps.
    Linear,
    /// By equal factors.
    Logarithmic,
}

/// An axis: what it measures, its scale, and its ticks.
#[derive(Clone, Debug)]
pub struct Axis {
    /// What it measures, with the unit: `message size [B]`.
    pub label: String,
    /// The kind of its values, for the hover titles.
    pub measure: Measure,
    /// Its scale.
    pub scale: Scale,
    /// Ticks at exactly these values; if empty, the axis chooses.
    pub ticks: Vec<f64>,
    /// Values that the axis must include even if no point is there, such as zero.
    pub reach: Vec<f64>,
}

impl Axis {
    /// A linear axis that chooses its own ticks.
    pub fn linear(label: &str, measure: Measure) -> Axis {
        Axis { label: label.to_string(), measure, scale: Scale::Linear, ticks: Vec::new(), reach: Vec::new() }
    }
    /// A logarithmic axis that chooses its own ticks.
    pub fn logarithmic(label: &str, measure: Measure) -> Axis {
        Axis { scale: Scale::Logarithmic, ..Axis::linear(label, measure) }
    }
    /// The axis with a tick at each of `ticks` and nowhere else.
    pub fn at(mut self, ticks: &[f64]) -> Axis {
        self.ticks = ticks.to_vec();
        self
    }
    /// The axis extended to include `value`.
    pub fn reaching(mut self, value: f64) -> Axis {
        self.reach.push(value);
        self
    }

    /// The axis laid from `start` to `end` on the paper, wide enough for all of `values`.
    pub(super) fn lay(&self, values: impl Iterator<Item = f64>, start: f64, end: f64) -> Laid {
        let wanted = self.ticks.iter().chain(&self.reach).copied();
        let usable = |value: &f64| value.is_finite() && (self.scale == Scale::Linear || *value > 0.0);
        let (mut low, mut high) = values
            .chain(wanted)
            .filter(usable)
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)));
        if low > high {
            (low, high) = (1.0, 2.0);
        }
        if low == high {
            (low, high) = if self.scale == Scale::Linear { (low - 1.0, high + 1.0) } else { (low / 2.0, high * 2.0) };
        }
        let ticks = match (self.ticks.is_empty(), self.scale) {
            (false, _) => self.ticks.clone(),
            (true, Scale::Linear) => linear_ticks(low, high),
            (true, Scale::Logarithmic) => logarithmic_ticks(low, high),
        };
        let low = ticks.first().map_or(low, |first| first.min(low));
        let high = ticks.last().map_or(high, |last| last.max(high));
        Laid { scale: self.scale, low, high, start, end, ticks }
    }
}

/// An axis on the paper.
pub(super) struct Laid {
    scale: Scale,
    low: f64,
    high: f64,
    start: f64,
    end: f64,
    /// Where it has ticks.
    pub ticks: Vec<f64>,
}

impl Laid {
    /// Where `value` lies on the paper.
    pub fn place(&self, value: f64) -> f64 {
        let share = match self.scale {
            Scale::Linear => (value - self.low) / (self.high - self.low),
            Scale::Logarithmic => (value / self.low).ln() / (self.high / self.low).ln(),
        };
        self.start + share * (self.end - self.start)
    }
    /// Whether `value` can be drawn at all.
    pub fn shows(&self, value: f64) -> bool {
        value.is_finite() && (self.scale == Scale::Linear || value > 0.0)
    }
    /// The label of a tick at `value`.
    pub fn tick_text(&self, value: f64) -> String {
        compact(value).replace('-', "\u{2212}")
    }
}

/// About five ticks at multiples of 1, 2 or 5 times a power of ten, the outer two just outside the values.
fn linear_ticks(low: f64, high: f64) -> Vec<f64> {
    let rough = (high - low) / 4.5;
    let power = 10f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].map(|factor| factor * power).into_iter().find(|step| *step >= rough);
    let step = step.unwrap_or(10.0 * power);
    let first = (low / step + 1e-9).floor() as i64;
    let last = (high / step - 1e-9).ceil() as i64;
    (first..=last).map(|index| index as f64 * step).collect()
}

/// A tick at every power of ten, and at 2 and 5 times it where there are few; the outer two just outside the values.
fn logarithmic_ticks(low: f64, high: f64) -> Vec<f64> {
    let first = (low.log10() + 1e-9).floor() as i32;
    let last = (high.log10() - 1e-9).ceil() as i32;
    let factors: &[f64] = if last - first <= 2 { &[1.0, 2.0, 5.0] } else { &[1.0] };
    let all: Vec<f64> = (first..=last).flat_map(|power| factors.iter().map(move |f| f * 10f64.powi(power))).collect();
    let from = all.iter().rposition(|tick| *tick <= low * (1.0 + 1e-9)).unwrap_or(0);
    let to = all.iter().position(|tick| *tick >= high * (1.0 - 1e-9)).unwrap_or(all.len() - 1);
    all[from..=to].to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn linear_ticks_are_round_and_reach_around_the_values() {
        assert_eq!(linear_ticks(0.0, 100.0), vec![0.0, 50.0, 100.0]);
        assert_eq!(linear_ticks(-12.0, 31.0), vec![-20.0, -10.0, 0.0, 10.0, 20.0, 30.0, 40.0]);
    }

    #[test]
    fn logarithmic_ticks_are_decades() {
        assert_eq!(logarithmic_ticks(0.02, 900.0), vec![0.01, 0.1, 1.0, 10.0, 100.0, 1000.0]);
        assert_eq!(logarithmic_ticks(3.0, 40.0), vec![2.0, 5.0, 10.0, 20.0, 50.0]);
    }

    #[test]
    fn an_axis_without_values_can_still_be_laid() {
        let laid = Axis::linear("x", Measure::Plain).lay(std::iter::empty(), 0.0, 10.0);
        assert!(laid.place(1.5).is_finite());
        let one = Axis::logarithmic("x", Measure::Plain).lay([5.0].into_iter(), 0.0, 10.0);
        assert!((one.place(5.0) - 5.0).abs() < 3.0);
    }
}
