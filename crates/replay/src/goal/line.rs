//! A fast path for the usual line: an operation or a requirement, without comments or errors.
//!
//! Traces have millions of such lines. All others are left to the lexer and the parser, which read every line that GOAL
//! allows, and report what is wrong with the rest.

use endpoint::Tag;
use quantities::{Bytes, Duration, Rank};

use super::OperationKind;

/// The content of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Statement<'text> {
    /// `l2: send 64b to 1 tag 7 cpu 0 nic 0`
    Operation { label: Option<&'text [u8]>, kind: OperationKind, processor: u8, interface: u8 },
    /// `l2 requires l1`
    Requirement { operation: &'text [u8], on: &'text [u8], only_started: bool },
}

/// Numbers with more digits may not fit into 64 bits, at least not when nanoseconds become picoseconds.
const MOST_DIGITS: usize = 15;

/// The line at the beginning of `text`, and its length including its end; nothing if it is not a usual line. Ranks are
/// not checked against the number of ranks.
#[inline]
pub(super) fn read(text: &[u8]) -> Option<(Statement<'_>, usize)> {
    let mut rest = Rest { text, at: 0 };
    let first = rest.word()?;
    let line = if rest.take(b':') {
        rest.blanks();
        let verb = rest.word()?;
        rest.operation(Some(first), verb)?
    } else if matches!(first, b"send" | b"recv" | b"calc") {
        rest.operation(None, first)?
    } else {
        rest.blanks();
        let only_started = match rest.word()? {
            b"requires" => false,
            b"irequires" => true,
            _ => return None,
        };
        rest.blanks();
        Statement::Requirement { operation: first, on: rest.word()?, only_started }
    };
    rest.blanks();
    rest.take(b'\n').then_some((line, rest.at))
}

/// The rest of a text.
struct Rest<'text> {
    text: &'text [u8],
    at: usize,
}

impl<'text> Rest<'text> {
    #[inline]
    fn next(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    #[inline]
    fn take(&mut self, byte: u8) -> bool {
        let found = self.next() == Some(byte);
        self.at += usize::from(found);
        found
    }

    #[inline]
    fn blanks(&mut self) {
        while let Some(b' ' | b'\t') = self.next() {
            self.at += 1;
        }
    }

    /// A letter, then letters, digits and underscores.
    #[inline]
    fn word(&mut self) -> Option<&'text [u8]> {
        let start = self.at;
        if !self.next()?.is_ascii_alphabetic() {
            return None;
        }
        while self.next().is_some_and(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
            self.at += 1;
        }
        Some(&self.text[start..self.at])
    }

    #[inline]
    fn number(&mut self) -> Option<u64> {
        self.blanks();
        let start = self.at;
        let mut value = 0;
        while let Some(digit) = self.next().map(|byte| byte.wrapping_sub(b'0')).filter(|&digit| digit <= 9) {
            value = value * 10 + u64::from(digit);
            self.at += 1;
            if self.at - start > MOST_DIGITS {
                return None;
            }
        }
        (self.at > start).then_some(value)
    }

    #[inline]
    fn number_of_32_bits(&mut self) -> Option<u32> {
        self.number().and_then(|number| u32::try_from(number).ok())
    }

    /// `to` or `from`, and a rank.
    #[inline]
    fn partner(&mut self, preposition: &[u8]) -> Option<Rank> {
        self.blanks();
        (self.word()? == preposition).then_some(())?;
        self.number_of_32_bits().map(Rank)
    }

    /// `NAME NUMBER`, if that comes next; otherwise 0.
    #[inline]
    fn option(&mut self, name: &[u8]) -> Option<u32> {
        self.blanks();
        if !self.text[self.at..].starts_with(name) {
            return Some(0);
        }
        self.at += name.len();
        matches!(self.next(), Some(b' ' | b'\t')).then_some(())?;
        self.number_of_32_bits()
    }

    /// The rest of an operation after its verb.
    #[inline]
    fn operation(&mut self, label: Option<&'text [u8]>, verb: &[u8]) -> Option<Statement<'text>> {
        let amount = self.number()?;
        let kind = if verb == b"calc" {
            OperationKind::Calculate(Duration::from_nanoseconds(amount))
        } else {
            let (sends, size) = (verb == b"send", Bytes(amount));
            (sends || verb == b"recv").then_some(())?;
            (self.word()? == b"b").then_some(())?;
            let partner = self.partner(if sends { b"to" } else { b"from" })?;
            let tag = self.option(b"tag").filter(|&tag| tag <= Tag::LARGEST.0)?;
            match sends {
                true => OperationKind::Send { to: partner, size, tag },
                false => OperationKind::Receive { from: Some(partner), size, tag: Some(tag) },
            }
        };
        let processor = u8::try_from(self.option(b"cpu")?).ok()?;
        let interface = if verb == b"calc" { 0 } else { u8::try_from(self.option(b"nic")?).ok()? };
        Some(Statement::Operation { label, kind, processor, interface })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nearly_all_lines_are_is_read_and_nothing_else() {
        let kind = OperationKind::Send { to: Rank(5), size: Bytes(8), tag: 3 };
        let send = Statement::Operation { label: Some(b"l1"), kind, processor: 0, interface: 2 };
        assert_eq!(read(b"l1: send 8b to 5 tag 3 nic 2\nl2"), Some((send, 29)));
        let calculate = OperationKind::Calculate(Duration::from_nanoseconds(70));
        let calculate = Statement::Operation { label: None, kind: calculate, processor: 1, interface: 0 };
        assert_eq!(read(b"calc 70 cpu 1 \n"), Some((calculate, 15)));
        let requirement = Statement::Requirement { operation: b"l2", on: b"l1", only_started: true };
        assert_eq!(read(b"l2\tirequires l1\n"), Some((requirement, 16)));
        for other in [
            "}\n",
            "l1:\n",
            "calc 5",
            "calc 5 // why\n",
            "calc 5 }\n",
            "calc -1\n",
            "calc 5 nic 0\n",
            "send 8b to 1 tag\n",
            "send 8b to 1 tag7\n",
            "send 8 b to 1 cpu 256\n",
            "send 8b from 1\n",
            "recv 8b from -1\n",
            "recv 8b from 4294967296\n",
            "send 8b to 1 tag 4294967294\n",
            "calc 1000000000000000\n",
            "l2 needs l1\n",
            "l2 requires l1 l3\n",
            "1 requires l1\n",
            "send 8b to 1 nic 0 cpu 0\n",
            "calc 5\r\n",
        ] {
            assert_eq!(read(other.as_bytes()), None, "{other:?}");
        }
    }
}
