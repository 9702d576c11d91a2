//! Tables and numbers for people to read.

pub use quantities::counted;
use quantities::{Bytes, Duration};

/// The side that the cells of a column are aligned to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Words.
    Left,
    /// Numbers.
    Right,
}

/// The widest cell that widens its column; a longer one sticks out of it.
const WIDEST: usize = 120;

/// Rows in columns as wide as their widest cell, two spaces apart, without spaces at the ends of lines.
pub fn columns<const N: usize>(sides: [Side; N], rows: &[[String; N]]) -> String {
    let width = |column: usize| {
        let lengths = rows.iter().map(|row| row[column].chars().count());
        lengths.filter(|length| *length <= WIDEST).max().unwrap_or(0)
    };
    let widths: [usize; N] = std::array::from_fn(width);
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        for ((cell, side), width) in row.iter().zip(sides).zip(widths) {
            line += &match side {
                Side::Left => format!("{cell:width$}  "),
                Side::Right => format!("{cell:>width$}  "),
            };
        }
        text += line.trim_end();
        text.push('\n');
    }
    text
}

/// A duration to four digits, in the largest unit that is not larger than the value.
pub fn rounded(length: Duration) -> String {
    let picoseconds = length.picoseconds() as f64;
    scaled(picoseconds, &[("ps", 1.0), ("ns", 1e3), ("us", 1e6), ("ms", 1e9), ("s", 1e12)])
}

/// A rate to four digits, in the largest unit that is not larger than the value.
pub fn bytes_per_second(rate: f64) -> String {
    scaled(rate, &[("B/s", 1.0), ("kB/s", 1e3), ("MB/s", 1e6), ("GB/s", 1e9), ("TB/s", 1e12)])
}

/// An amount of data to four digits, in the largest binary unit that is not larger than the value.
pub fn amount(bytes: Bytes) -> String {
    let unit = |power: u32| 2_f64.powi(10 * power as i32);
    let units = [("B", 1.0), ("KiB", unit(1)), ("MiB", unit(2)), ("GiB", unit(3)), ("TiB", unit(4))];
    scaled(bytes.0 as f64, &units)
}

/// A share in percent with its sign: `+1.2%`.
pub fn signed_percent(share: f64) -> String {
    let text = format!("{:+.1}%", 100.0 * share);
    if text == "-0.0%" { "+0.0%".to_string() } else { text }
}

fn scaled(value: f64, units: &[(&str, f64)]) -> String {
    let largest = units.iter().rev().find(|unit| value >= unit.1).or(units.first());
    let (name, scale) = largest.copied().unwrap_or(("", 1.0));
    let value = value / scale;
    let digits = match value {
        value if value.fract() == 0.0 || value >= 1000.0 => 0,
        value if value >= 100.0 => 1,
        value if value >= 10.0 => 2,
        _ => 3,
    };
    format!("{value:.digits$} {name}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let rows = [["node".to_string(), "7".to_string()], ["of".to_string(), "1024".to_string()]];
        assert_eq!(columns([Side::Left, Side::Right], &rows), "node     7\nof    1024\n");
        assert_eq!(columns([Side::Left, Side::Left], &rows), "node  7\nof    1024\n");
        assert_eq!(columns([Side::Left], &[]), "");
    }

    #[test]
    fn a_cell_of_any_length_widens_no_other_row_without_end() {
        let long = "x".repeat(70_000);
        let rows = [[long.clone(), "1".to_string()], ["of".to_string(), "2".to_string()]];
        assert_eq!(columns([Side::Left, Side::Right], &rows), format!("{long}  1\nof  2\n"));
    }

    #[test]
    fn numbers_have_four_digits_and_a_unit() {
        assert_eq!(rounded(Duration::from_picoseconds(1_234_567)), "1.235 us");
        assert_eq!(rounded(Duration::from_picoseconds(98_765_432)), "98.77 us");
        assert_eq!(rounded(Duration::from_nanoseconds(7)), "7 ns");
        assert_eq!(rounded(Duration::ZERO), "0 ps");
        assert_eq!(bytes_per_second(123_456_789.0), "123.5 MB/s");
        assert_eq!(
            ["B", "KiB", "MiB", "GiB", "TiB"].map(|unit| amount(format!("3 {unit}").parse().unwrap_or_default())),
            ["3 B", "3 KiB", "3 MiB", "3 GiB", "3 TiB"]
        );
        assert_eq!(amount(Bytes(67_000_000)), "63.90 MiB");
        assert_eq!(bytes_per_second(2e15), "2000 TB/s");
        assert_eq!([0.0123, -0.5, -0.0001].map(signed_percent), ["+1.2%", "-50.0%", "+0.0%"]);
    }
}
