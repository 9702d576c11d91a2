//! How numbers are written.

/// The kind of a plotted number, so that it is written with its unit and a sensible number of digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// A size in bytes.
    Bytes,
    /// Seconds, written in the unit that suits.
    Seconds,
    /// Microseconds.
    Microseconds,
    /// A relative change, in percent.
    Percent,
    /// A bare number.
    Plain,
}

impl Measure {
    /// `value` with its unit, as in a hover title.
    pub fn format(self, value: f64) -> String {
        match self {
            Measure::Bytes => format!("{} B", compact(value)),
            Measure::Seconds if value.abs() < 1e-3 => format!("{} us", significant(value * 1e6)),
            Measure::Seconds if value.abs() < 1.0 => format!("{} ms", significant(value * 1e3)),
            Measure::Seconds => format!("{} s", significant(value)),
            Measure::Microseconds => format!("{} us", significant(value)),
            Measure::Percent => signed_percent(value),
            Measure::Plain => significant(value),
        }
    }
}

/// `value` with `digits` decimals and no negative zero.
pub fn fixed(value: f64, digits: usize) -> String {
    let text = format!("{value:.digits$}");
    if text.starts_with('-') && text.bytes().all(|byte| matches!(byte, b'-' | b'0' | b'.')) {
        return text[1..].to_string();
    }
    text
}

/// `value` without trailing zeros: `0.25`, `32`, `-1.5`.
pub fn compact(value: f64) -> String {
    let text = fixed(value, 6);
    let text = text.trim_end_matches('0').trim_end_matches('.');
    text.to_string()
}

/// `value` to three significant digits, or all digits before the point where there are more.
pub fn significant(value: f64) -> String {
    let size = value.abs();
    let digits = match size {
        _ if size >= 100.0 || size == 0.0 => 0,
        _ if size >= 10.0 => 1,
        _ if size >= 1.0 => 2,
        _ if size >= 0.1 => 3,
        _ => 4,
    };
    fixed(value, digits)
}

/// A change in percent with its sign: `+12.3 %`.
pub fn signed_percent(value: f64) -> String {
    let text = fixed(value, 1);
    if text.starts_with('-') || text.bytes().all(|byte| matches!(byte, b'0' | b'.')) {
        return format!("{} %", text.replace('-', "\u{2212}"));
    }
    format!("+{text} %")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_briefly() {
        assert_eq!(compact(2048.0), "2048");
        assert_eq!(compact(0.25), "0.25");
        assert_eq!(compact(-0.0), "0");
        assert_eq!(significant(61.26), "61.3");
        assert_eq!(signed_percent(-0.01), "0.0 %");
        assert_eq!(signed_percent(12.345), "+12.3 %");
        assert_eq!(signed_percent(-30.0), "\u{2212}30.0 %");
        assert_eq!(Measure::Seconds.format(0.0042), "4.20 ms");
    }
}
