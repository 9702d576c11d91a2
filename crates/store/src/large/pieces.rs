//! Bytes with large values between them, which are not copied.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::ops::Range;

use super::{LARGE, SharedValue};

/// Bytes, some of which are those of large values:
///
/// ```text
///   bytes     |  $1048576\r\n  |                 |  \r\n+OK\r\n  |
///   large                      |  a large value  |
/// ```
#[derive(Clone, Debug, Default)]
pub struct Pieces {
    /// All bytes except those of large values.
    pub(crate) bytes: Vec<u8>,
    /// The large values, each with its position among all bytes.
    pub(crate) large: VecDeque<(usize, SharedValue)>,
}

impl Pieces {
    /// Their length in all. [B]
    pub fn len(&self) -> usize {
        self.bytes.len() + self.large.iter().map(|(_, value)| value.len()).sum::<usize>()
    }

    /// Whether there are no bytes.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty() && self.large.is_empty()
    }

    /// The bytes before the first large value.
    pub fn start(&self) -> &[u8] {
        self.large.front().map_or(&self.bytes, |(start, _)| &self.bytes[..*start])
    }

    /// All pieces, one after another.
    pub fn iter(&self) -> impl Iterator<Item = &[u8]> + Clone {
        let (mut rest, mut end) = (&self.bytes[..], 0);
        let with_values = self.large.iter().flat_map(move |(start, value)| {
            let (before, after) = rest.split_at(start - end);
            (rest, end) = (after, start + value.len());
            [before, value]
        });
        let of_values = self.large.iter().map(|(_, value)| value.len()).sum::<usize>();
        let last = self.large.back().map_or(0, |(start, value)| start + value.len() - of_values);
        with_values.chain([&self.bytes[last..]])
    }

    /// The pieces of a range of the bytes.
    pub fn part(&self, range: Range<usize>) -> impl Iterator<Item = &[u8]> {
        let mut at = 0;
        self.iter().map(move |piece| {
            let begin = at;
            at += piece.len();
            let within = |position: usize| position.saturating_sub(begin).min(piece.len());
            &piece[within(range.start)..within(range.end)]
        })
    }

    /// All bytes, one after another.
    pub fn joined(&self) -> Cow<'_, [u8]> {
        if self.large.is_empty() {
            return Cow::Borrowed(&self.bytes);
        }
        let mut joined = Vec::with_capacity(self.len());
        self.iter().for_each(|piece| joined.extend_from_slice(piece));
        Cow::Owned(joined)
    }

    /// Adds a large value at the end.
    pub(crate) fn push_large(&mut self, value: SharedValue) {
        self.large.push_back((self.len(), value));
    }

    /// Adds other pieces at the end.
    pub(crate) fn append(&mut self, other: &Pieces) {
        let end = self.len();
        self.bytes.extend_from_slice(&other.bytes);
        self.large.extend(other.large.iter().map(|(start, value)| (end + start, value.clone())));
    }
}

impl From<Vec<u8>> for Pieces {
    fn from(bytes: Vec<u8>) -> Pieces {
        if bytes.len() < LARGE {
            return Pieces { bytes, large: VecDeque::new() };
        }
        SharedValue::from(bytes).into()
    }
}

impl From<SharedValue> for Pieces {
    fn from(value: SharedValue) -> Pieces {
        Pieces { bytes: Vec::new(), large: VecDeque::from([(0, value)]) }
    }
}

impl PartialEq for Pieces {
    fn eq(&self, other: &Pieces) -> bool {
        self.joined() == other.joined()
    }
}

impl Eq for Pieces {}
