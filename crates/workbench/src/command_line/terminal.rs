//! Tables for people to read.

/// Which side the cells of a column are flush with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    /// Words.
    Left,
    /// Numbers.
    Right,
}

/// Rows in columns as wide as their widest cell, two spaces apart, without spaces at the ends of lines.
pub(super) fn columns<const N: usize>(sides: [Side; N], rows: &[[String; N]]) -> String {
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
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
}
