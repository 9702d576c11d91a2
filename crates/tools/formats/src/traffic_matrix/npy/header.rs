//! The header of an `.npy` file: magic, version, length, and a Python dictionary of three fields.

use super::element::Element;
use crate::cells::quoted;
use crate::traffic_matrix::error::{PlaceInFile, Problem};

/// The beginning of every such file.
const MAGIC: &[u8] = b"\x93NUMPY";
/// The longest header: that of any allowed type is far shorter. [B]
const LONGEST: usize = 10_000;

/// The contents of a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NpyHeader {
    pub(super) element: Element,
    pub(super) fortran_order: bool,
    pub(super) rows: usize,
    pub(super) columns: usize,
}

/// What is wrong, and where.
type LocatedProblem = (PlaceInFile, Problem);

/// The header, and the data after it.
pub(super) fn parse(content: &[u8]) -> Result<(NpyHeader, &[u8]), LocatedProblem> {
    let wrong = |byte, found: String, allowed: &str| (PlaceInFile::Byte(byte), Problem::format(found, allowed));
    let rest = content.strip_prefix(MAGIC);
    let rest = rest.ok_or_else(|| wrong(0, "something else".to_string(), "the letters with which .npy files begin"))?;
    let (length_bytes, rest) = match rest {
        [1, 0, rest @ ..] => (2, rest),
        [2 | 3, 0, rest @ ..] => (4, rest),
        [major, minor, ..] => return Err(wrong(6, format!("version {major}.{minor}"), "version 1.0, 2.0 or 3.0")),
        _ => return Err(truncated(content.len(), "a version")),
    };
    let begin = MAGIC.len() + 2 + length_bytes;
    let (length, rest) = rest.split_at_checked(length_bytes).ok_or_else(|| truncated(content.len(), "a length"))?;
    let length = length.iter().rev().fold(0, |length, byte| (length << 8) | usize::from(*byte));
    if length > LONGEST {
        return Err(wrong(8, format!("a header of {length} bytes"), &format!("one of at most {LONGEST}")));
    }
    let (text, data) =
        rest.split_at_checked(length).ok_or_else(|| truncated(content.len(), "a header as long as it says"))?;
    let text = std::str::from_utf8(text).map_err(|_| (PlaceInFile::Byte(begin), Problem::NotText))?;
    let mut reader = HeaderReader { text, at: 0 };
    match reader.dictionary() {
        Ok(header) => Ok((header, data)),
        Err(problem) => Err((PlaceInFile::Byte(begin + reader.at), problem)),
    }
}

fn truncated(length: usize, needed: &str) -> LocatedProblem {
    let problem = Problem::Truncated { found: format!("{length} bytes"), needed: needed.to_string() };
    (PlaceInFile::Byte(length), problem)
}

/// Reads the subset of Python's syntax in which headers are written.
struct HeaderReader<'text> {
    text: &'text str,
    /// How far it has read. [B]
    at: usize,
}

impl<'text> HeaderReader<'text> {
    /// `{'descr': '<f8', 'fortran_order': False, 'shape': (3, 3), }`, the fields in any order.
    fn dictionary(&mut self) -> Result<NpyHeader, Problem> {
        let (mut element, mut fortran_order, mut shape) = (None, None, None);
        self.expect("{")?;
        while !self.next_is("}") {
            let key = self.string()?;
            self.expect(":")?;
            match key {
                "descr" => element = Some(self.element()?),
                "fortran_order" => fortran_order = Some(self.truth()?),
                "shape" => shape = Some(self.shape()?),
                other => return Err(Problem::format(quoted(other), "descr, fortran_order and shape")),
            }
            if !self.next_is(",") {
                self.expect("}")?;
                break;
            }
        }
        self.skip_spaces();
        if self.at < self.text.len() {
            return Err(Problem::format(quoted(&self.text[self.at..]), "the end of the header"));
        }
        let missing = |name: &str| Problem::format("a header without it", format!("a header with `{name}`"));
        let [rows, columns] = shape.ok_or_else(|| missing("shape"))?;
        Ok(NpyHeader {
            element: element.ok_or_else(|| missing("descr"))?,
            fortran_order: fortran_order.ok_or_else(|| missing("fortran_order"))?,
            rows,
            columns,
        })
    }

    fn element(&mut self) -> Result<Element, Problem> {
        self.skip_spaces();
        if self.text[self.at..].starts_with('[') {
            return Err(Problem::format("a type of several fields", Element::ALLOWED));
        }
        let before = self.at;
        let name = self.string()?;
        Element::parse(name).ok_or_else(|| {
            self.at = before;
            Problem::format(quoted(name), Element::ALLOWED)
        })
    }

    fn truth(&mut self) -> Result<bool, Problem> {
        if self.next_is("True") {
            return Ok(true);
        }
        if self.next_is("False") {
            return Ok(false);
        }
        Err(self.unexpected("True or False"))
    }

    /// `(3, 3)`.
    fn shape(&mut self) -> Result<[usize; 2], Problem> {
        self.expect("(")?;
        let begin = self.at;
        let mut sides = Vec::new();
        while !self.next_is(")") {
            sides.push(self.number()?);
            if !self.next_is(",") {
                self.expect(")")?;
                break;
            }
        }
        <[usize; 2]>::try_from(sides).map_err(|sides| {
            self.at = begin;
            Problem::format(format!("an array of {} dimensions", sides.len()), "a matrix, which has 2")
        })
    }

    fn number(&mut self) -> Result<usize, Problem> {
        self.skip_spaces();
        let rest = &self.text[self.at..];
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let number = rest[..digits].parse().map_err(|_| self.unexpected("a number of rows or columns"))?;
        self.at += digits;
        // Python 2 writes an L after long numbers.
        self.next_is("L");
        Ok(number)
    }

    /// A string in single or double quotes.
    fn string(&mut self) -> Result<&'text str, Problem> {
        self.skip_spaces();
        let rest = &self.text[self.at..];
        let inside = ['\'', '"'].into_iter().find_map(|quote| rest.strip_prefix(quote)?.split_once(quote));
        let (inside, _) = inside.ok_or_else(|| self.unexpected("a text between quotes"))?;
        self.at += inside.len() + 2;
        Ok(inside)
    }

    fn expect(&mut self, token: &str) -> Result<(), Problem> {
        if self.next_is(token) { Ok(()) } else { Err(self.unexpected(&format!("`{token}`"))) }
    }

    /// Reads `token` if it comes next.
    fn next_is(&mut self, token: &str) -> bool {
        self.skip_spaces();
        let is = self.text[self.at..].starts_with(token);
        if is {
            self.at += token.len();
        }
        is
    }

    fn skip_spaces(&mut self) {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start().len();
    }

    fn unexpected(&self, allowed: &str) -> Problem {
        let rest = &self.text[self.at..];
        let found = if rest.is_empty() { "the end of the header".to_string() } else { quoted(rest) };
        Problem::format(found, allowed)
    }
}
