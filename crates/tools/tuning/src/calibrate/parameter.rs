//! The parameters of a description that may be varied, and their bounds.

use quantities::{Bytes, Duration, Rate};

/// A field of a description, and the range in which its value is searched.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// The field, as `--set` names it.
    pub name: String,
    kind: Kind,
    /// In the kind's base unit.
    low: f64,
    high: f64,
}

/// The quantity of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// In picoseconds.
    Duration,
    /// In bits per second.
    Rate,
    /// In bytes.
    Bytes,
    /// A whole number of something.
    Count,
}

/// Why a text is not a [`Parameter`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParameterError {
    /// It is not of the form `FIELD=LOW..HIGH`.
    #[error("allowed is FIELD=LOW..HIGH, such as `node.processor_send=10us..200us`")]
    Form,
    /// A bound is not a value.
    #[error("`{0}` is not a value; allowed is a duration, a rate, an amount of data or a whole number")]
    Value(String),
    /// The bounds are values of different kinds.
    #[error("`{low}` and `{high}` are not the same kind of value")]
    Kinds {
        /// The lower bound.
        low: String,
        /// The upper bound.
        high: String,
    },
    /// The range is empty.
    #[error("the range from {low} to {high} is empty; allowed is one whose first end is below its last")]
    Empty {
        /// The lower bound.
        low: String,
        /// The upper bound.
        high: String,
    },
}

/// The digits of a value that is tried: what is written is what was tried.
const DIGITS: i32 = 5;
/// What is no farther from an end, as a share of the range, is at the end.
const NEAR_END: f64 = 1e-3;

impl Parameter {
    /// Reads `FIELD=LOW..HIGH`.
    ///
    /// # Errors
    /// If the text does not have this form, or the range is empty.
    pub fn parse(text: &str) -> Result<Parameter, ParameterError> {
        let (name, range) = text.split_once('=').ok_or(ParameterError::Form)?;
        let (low, high) = range.split_once("..").ok_or(ParameterError::Form)?;
        let (name, low, high) = (name.trim(), low.trim(), high.trim());
        if name.is_empty() || low.is_empty() || high.is_empty() {
            return Err(ParameterError::Form);
        }
        let value = |text: &str| Kind::read(text).ok_or_else(|| ParameterError::Value(text.to_string()));
        let (lower, upper) = (value(low)?, value(high)?);
        let kind = Kind::of_both(lower, upper);
        let kind = kind.ok_or_else(|| ParameterError::Kinds { low: low.to_string(), high: high.to_string() })?;
        let (low_value, high_value) = (lower.1, upper.1);
        if low_value >= high_value {
            return Err(ParameterError::Empty { low: low.to_string(), high: high.to_string() });
        }
        Ok(Parameter { name: name.to_string(), kind, low: low_value, high: high_value })
    }

    /// The value at `place` in the range, from 0 to 1, by equal factors. A range that begins at zero is entered one
    /// base unit higher:
    ///
    /// ```text
    ///   value + shift = (low + shift) ((high + shift) / (low + shift))^place        shift = 1 if low = 0, else 0
    /// ```
    ///
    /// so that small values have as much of the range as large ones: of `0us..1s`, half is below a microsecond.
    pub fn value(&self, place: f64) -> f64 {
        let shift = self.shift();
        let exact = (self.low + shift) * self.ratio().powf(place.clamp(0.0, 1.0)) - shift;
        rounded(exact, DIGITS).clamp(self.low, self.high)
    }

    /// The place of `value` in the range, if it is within.
    pub fn place(&self, value: f64) -> Option<f64> {
        if !(self.low..=self.high).contains(&value) {
            return None;
        }
        let shift = self.shift();
        Some(((value + shift) / (self.low + shift)).ln() / self.ratio().ln())
    }

    /// The place in the range of a value from a description, if it is within.
    pub fn place_of_text(&self, text: &str) -> Option<f64> {
        let found = Kind::read(text)?;
        (Kind::of_both(found, (self.kind, 1.0)) == Some(self.kind)).then(|| self.place(found.1)).flatten()
    }

    /// The rate of change of the value at this place. [base units]
    pub fn slope(&self, place: f64) -> f64 {
        (self.value(place) + self.shift()) * self.ratio().ln()
    }

    /// Whether the best value may lie beyond the end of the range that is at this place. Nothing lies below zero.
    pub fn may_be_beyond(&self, place: f64) -> bool {
        (place <= NEAR_END && self.low > 0.0) || place >= 1.0 - NEAR_END
    }

    /// A value as written in a description.
    pub fn text(&self, value: f64) -> String {
        let whole = value.round().max(0.0) as u64;
        match self.kind {
            Kind::Duration => Duration::from_picoseconds(whole).to_string(),
            Kind::Rate => Rate::from_bits_per_second(whole).to_string(),
            Kind::Bytes => Bytes(whole).to_string(),
            Kind::Count => whole.to_string(),
        }
    }

    /// A value times `factor`, as written in a description; nothing unless it is a duration, which alone a computer's
    /// speed changes.
    pub fn scaled_text(&self, value: f64, factor: f64) -> Option<String> {
        (self.kind == Kind::Duration).then(|| self.text(rounded(value * factor, DIGITS)))
    }

    /// The error of a value, to two digits.
    pub fn text_of_error(&self, error: f64) -> String {
        // A rate is counted in bits and written in bytes: the digits are those of the written number.
        let written = if self.kind == Kind::Rate { 8.0 } else { 1.0 };
        self.text(rounded(error / written, 2) * written)
    }

    /// Both bounds, as written in a description.
    pub fn bounds(&self) -> (String, String) {
        (self.text(self.low), self.text(self.high))
    }

    /// What is added to values whose logarithms are taken. [base units]
    fn shift(&self) -> f64 {
        if self.low > 0.0 { 0.0 } else { 1.0 }
    }

    /// The factor between the two ends.
    fn ratio(&self) -> f64 {
        (self.high + self.shift()) / (self.low + self.shift())
    }
}

/// `value` rounded to `digits` digits, and to a whole number: what can be written.
fn rounded(value: f64, digits: i32) -> f64 {
    if value <= 0.0 {
        return 0.0;
    }
    let unit = 10f64.powi(((value.log10().floor() as i32) + 1 - digits).max(0));
    (value / unit).round() * unit
}

impl Kind {
    /// The value of `text`, in the kind's base unit.
    fn read(text: &str) -> Option<(Kind, f64)> {
        if let Ok(count) = text.parse::<u64>() {
            return Some((Kind::Count, count as f64));
        }
        let duration = text.parse::<Duration>().map(|value| (Kind::Duration, value.picoseconds() as f64));
        let rate = || text.parse::<Rate>().map(|value| (Kind::Rate, value.bits_per_second() as f64));
        let bytes = || text.parse::<Bytes>().map(|value| (Kind::Bytes, value.0 as f64));
        duration.or_else(|_| rate()).or_else(|_| bytes()).ok()
    }

    /// The common kind of both values: amounts of data need no unit.
    fn of_both(one: (Kind, f64), other: (Kind, f64)) -> Option<Kind> {
        match (one.0, other.0) {
            (one, other) if one == other => Some(one),
            (Kind::Count, Kind::Bytes) | (Kind::Bytes, Kind::Count) => Some(Kind::Bytes),
            // A time of zero needs no unit.
            (Kind::Count, kind) if one.1 == 0.0 => Some(kind),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_is_traversed_by_equal_factors() {
        let parameter = Parameter::parse("node.processor_send = 10us .. 1ms").unwrap();
        assert_eq!(parameter.name, "node.processor_send");
        assert_eq!(parameter.bounds(), ("10 us".to_string(), "1 ms".to_string()));
        assert_eq!(parameter.text(parameter.value(0.5)), "100 us");
        assert_eq!(parameter.text(parameter.value(-3.0)), "10 us");
        assert_eq!(parameter.text(parameter.value(1.0)), "1 ms");
        assert_eq!(parameter.place_of_text("100us"), Some(0.5));
        assert_eq!(parameter.place_of_text("2 ms"), None);
        assert_eq!(parameter.place_of_text("20 MB/s"), None);
    }

    #[test]
    fn a_range_from_zero_has_as_much_room_for_small_values_as_for_large_ones() {
        let parameter = Parameter::parse("wire_latency=0s..1s").unwrap();
        assert_eq!([0.0, 0.5, 1.0].map(|place| parameter.text(parameter.value(place))), ["0 ps", "1 us", "1 s"]);
        assert_eq!((parameter.place(0.0), parameter.place(1e12)), (Some(0.0), Some(1.0)));
        let (below, above) = (parameter.value(0.499), parameter.value(0.501));
        let slope = parameter.slope(0.5);
        assert!(((above - below) / 0.002 / slope - 1.0).abs() < 1e-2, "{slope}");
    }

    #[test]
    fn nothing_lies_beyond_zero() {
        let beyond = |range: &str, place: f64| Parameter::parse(range).unwrap().may_be_beyond(place);
        assert!(!beyond("L=0us..1s", 0.0) && beyond("L=1us..1s", 0.0));
        assert!(beyond("L=0us..1s", 1.0) && !beyond("L=0us..1s", 0.5));
    }

    #[test]
    fn values_are_tried_as_they_are_written() {
        let rate = Parameter::parse("rate=1MB/s..3 GB/s").unwrap();
        assert_eq!(rate.text(rate.value(0.123_456_7)), "2.687 MB/s");
        let count = Parameter::parse("buffers=1..16").unwrap();
        assert_eq!(count.text(count.value(0.4)), "3");
        let bytes = Parameter::parse("node.eager=16..64 KiB").unwrap();
        assert_eq!(rate.text_of_error(8.0 * 123_456.0), "120 kB/s");
        assert_eq!(bytes.bounds(), ("16 B".to_string(), "64 KiB".to_string()));
    }

    #[test]
    fn only_durations_are_scaled() {
        let scaled = |range: &str, value| Parameter::parse(range).unwrap().scaled_text(value, 0.5);
        assert_eq!(scaled("node.wake=1us..10us", 7e6), Some("3.5 us".to_string()));
        assert_eq!((scaled("rate=1MB/s..3 GB/s", 8e6), scaled("buffers=1..16", 4.0)), (None, None));
    }

    #[test]
    fn invalid_ranges_are_reported() {
        let error_of = |text: &str| Parameter::parse(text).unwrap_err().to_string();
        for text in ["node.processor_send", "a=1us", "=1us..2us", "a=..2us", "a=1us.."] {
            assert!(error_of(text).starts_with("allowed is FIELD=LOW..HIGH"), "{text}");
        }
        assert_eq!(
            error_of("a=1us..many"),
            "`many` is not a value; allowed is a duration, a rate, an amount of data or a whole number"
        );
        assert_eq!(error_of("a=1us..2 MB/s"), "`1us` and `2 MB/s` are not the same kind of value");
        assert!(error_of("a=2us..1us").starts_with("the range from 2us to 1us is empty"));
        assert!(error_of("a=2us..2us").starts_with("the range from 2us to 2us is empty"));
    }
}
