//! Tables and numbers for people to read.

pub use quantities::{amount, bytes_per_second, counted, rounded};

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

/// A share in percent with its sign: `+1.2%`.
pub fn signed_percent(share: f64) -> String {
    let text = format!("{:+.1}%", 100.0 * share);
    if text == "-0.0%" { "+0.0%".to_string() } else { text }
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
    fn a_share_has_its_sign() {
        assert_eq!([0.0123, -0.5, -0.0001].map(signed_percent), ["+1.2%", "-50.0%", "+0.0%"]);
    }
}
