//! Lines of cells: the part that all CSV files have in common.
//!
//! Cells are separated by commas, semicolons or tabs, whichever comes first in the first line. A cell may
//! be in double quotes. Empty lines and lines that begin with `#` are skipped.
//!
//! The crate `csv` writes our tables, but does not read these files: to it every text is valid, so that `"1"2` would be
//! 12 and a quotation mark that is never closed a cell with the rest of the file in it, and it has no limit to the
//! cells of a line.

/// A line with cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line<'text> {
    /// From 1.
    pub number: usize,
    text: &'text str,
}

/// The lines with cells.
#[derive(Clone, Debug)]
pub struct Lines<'text> {
    /// In order.
    pub all: Vec<Line<'text>>,
    separator: char,
    most: usize,
}

/// What is wrong with a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadLine {
    /// Its number, from 1.
    pub line: usize,
    /// What was found.
    pub found: String,
    /// What is allowed.
    pub allowed: &'static str,
}

impl<'text> Lines<'text> {
    /// The lines of `text`. At most `most` lines are kept, and at most `most` cells of a line.
    pub fn of(text: &'text str, most: usize) -> Lines<'text> {
        let text = text.trim_start_matches('\u{feff}');
        let has_text = |line: &Line<'_>| !line.text.trim().is_empty() && !line.text.starts_with('#');
        let numbered = text.lines().enumerate().map(|(index, text)| Line { number: index + 1, text });
        let all: Vec<Line<'text>> = numbered.filter(has_text).take(most).collect();
        let separator = all.first().and_then(|line| line.text.chars().find(|c| ",;\t".contains(*c)));
        Lines { all, separator: separator.unwrap_or(','), most }
    }

    /// The cells of a line, without quotes and surrounding spaces.
    ///
    /// # Errors
    /// A quotation mark that is not closed, or text between the closing one and the next cell.
    pub fn cells(&self, line: &Line<'text>) -> Result<Vec<&'text str>, BadLine> {
        let wrong = |found: String, allowed| BadLine { line: line.number, found, allowed };
        let mut cells = Vec::new();
        let mut rest = line.text;
        while cells.len() < self.most {
            let start = rest.trim_start_matches(' ');
            let (cell, after) = match start.strip_prefix('"') {
                Some(inside) => inside.split_once('"').ok_or_else(|| {
                    wrong(format!("a quotation mark before {} and none after it", quoted(inside)), "both")
                })?,
                None => start.split_at(start.find(self.separator).unwrap_or(start.len())),
            };
            cells.push(cell.trim());
            let after = after.trim_start_matches([' ', '\r']);
            match after.strip_prefix(self.separator) {
                Some(next) => rest = next,
                None if after.is_empty() => break,
                None => return Err(wrong(format!("{} after a quotation mark", quoted(after)), "the next cell")),
            }
        }
        Ok(cells)
    }
}

/// A text that was found, in quotes and cut to a readable length.
pub fn quoted(text: &str) -> String {
    const LONGEST: usize = 40;
    let short: String = text.chars().take(LONGEST).collect();
    let rest = if text.chars().count() > LONGEST { "..." } else { "" };
    format!("`{short}{rest}`")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &str) -> Vec<(usize, Vec<&str>)> {
        let lines = Lines::of(text, 5);
        lines.all.iter().map(|line| (line.number, lines.cells(line).unwrap())).collect()
    }

    #[test]
    fn cells_are_what_stands_between_separators() {
        assert_eq!(
            all("\u{feff}a, b ,\n\n# c\n1,\" 2, 3\" ,4\r\n"),
            [(1, vec!["a", "b", ""]), (4, vec!["1", "2, 3", "4"])]
        );
        assert_eq!(all("a b\tc;d\n"), [(1, vec!["a b", "c;d"])]);
        assert_eq!(all("1\n2\n3\n4\n5\n6\n").len(), 5);
        assert_eq!(all("1;2;3;4;5;6")[0].1.len(), 5);
    }

    #[test]
    fn quotation_marks_come_in_twos() {
        for (text, found) in
            [("\"a,b", "a quotation mark before `a,b` and none after it"), ("\"a\"b,c", "`b,c` after a quotation mark")]
        {
            let lines = Lines::of(text, 5);
            assert_eq!(lines.cells(&lines.all[0]).unwrap_err().found, found);
        }
    }
}
