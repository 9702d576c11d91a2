//! Encodes replies.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::number::Written;
use crate::large::{self, LARGE, MaybeShared, Pieces, SharedValue};

/// The version of RESP that a client speaks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Version {
    /// RESP2: everything is a string, an integer, an array or nothing.
    #[default]
    Two,
    /// RESP3: there are maps, sets and more besides.
    Three,
}

/// The replies to one client, one after another. Large values in them are shared, and stand between the other bytes:
///
/// ```text
///   bytes     |  $1048576\r\n  |                 |  \r\n+OK\r\n  |
///   large                      |  a large value  |
/// ```
#[derive(Debug, Default)]
pub struct Reply {
    /// All bytes except those of large values.
    bytes: Vec<u8>,
    /// The large values that were not sent in full, each with its position among all bytes.
    large: VecDeque<(usize, SharedValue)>,
    /// The total size of the large values, including those that were sent. [B]
    large_size: usize,
    /// How much was sent. [B]
    sent: usize,
    /// The version that the client speaks.
    pub version: Version,
}

/// The most memory that an empty buffer keeps. [B]
const MOST_KEPT: usize = 64 << 10;

impl Reply {
    /// Replies to a client that speaks this version.
    pub fn of(version: Version) -> Reply {
        Reply { version, ..Reply::default() }
    }

    /// The bytes to send next; none if all were sent.
    pub fn unsent(&self) -> &[u8] {
        match self.large.front() {
            None => &self.bytes[self.sent - self.large_size..],
            Some((start, value)) if self.sent >= *start => &value[self.sent - start..],
            Some((start, _)) => &self.bytes[self.place(self.sent)..self.place(*start)],
        }
    }

    /// How much is still to be sent. [B]
    pub const fn unsent_size(&self) -> usize {
        self.end() - self.sent
    }

    /// The index in `bytes` of a position that is not within a large value.
    fn place(&self, position: usize) -> usize {
        let after = self.large.iter().filter(|(start, _)| *start >= position);
        position + after.map(|(_, value)| value.len()).sum::<usize>() - self.large_size
    }

    /// The first `bytes` bytes of it were sent.
    pub fn was_sent(&mut self, bytes: usize) {
        self.sent += bytes;
        while let Some((start, value)) = self.large.front()
            && self.sent >= start + value.len()
        {
            self.large.pop_front();
        }
        if self.sent >= self.end() {
            (self.sent, self.large_size) = (0, 0);
            self.bytes.clear();
            if self.bytes.capacity() > MOST_KEPT {
                let length = self.bytes.capacity();
                large::give_back(std::mem::take(&mut self.bytes), length);
            }
        }
    }

    /// What was written since [`Reply::end`] was `end`, up to the next large value.
    pub fn unsent_from(&self, end: usize) -> &[u8] {
        let next = self.large.iter().find(|(start, _)| *start >= end).map_or(self.end(), |(start, _)| *start);
        &self.bytes[self.place(end.min(next))..self.place(next)]
    }

    /// All that was written. Nothing may have been sent.
    pub fn into_pieces(self) -> Pieces {
        Pieces { bytes: self.bytes, large: self.large }
    }

    /// The end of what was written so far.
    #[inline]
    pub const fn end(&self) -> usize {
        self.bytes.len() + self.large_size
    }

    /// Takes back what was written since [`Reply::end`] was `end`, as far as it was not sent.
    pub fn take_back(&mut self, end: usize) {
        let end = end.max(self.sent);
        while self.large.back().is_some_and(|(start, _)| *start >= end)
            && let Some((_, value)) = self.large.pop_back()
        {
            self.large_size -= value.len();
        }
        // A value that was sent in part must be sent in full.
        let end = self.large.back().map_or(end, |(start, value)| end.max(start + value.len()));
        self.bytes.truncate(end - self.large_size);
    }

    fn header(&mut self, kind: u8, number: usize) {
        self.bytes.push(kind);
        self.bytes.extend_from_slice(Written::of(number as i64).as_bytes());
        self.bytes.extend_from_slice(b"\r\n");
    }

    fn line(&mut self, kind: u8, text: &str) {
        self.bytes.push(kind);
        // A line break in the text would be read as its end.
        self.bytes.extend(text.bytes().map(|byte| if matches!(byte, b'\r' | b'\n') { b' ' } else { byte }));
        self.bytes.extend_from_slice(b"\r\n");
    }

    /// The reply of another member, in the version that this client speaks.
    pub fn replied(&mut self, pieces: &Pieces) {
        let end = self.end();
        self.bytes.extend_from_slice(&pieces.bytes);
        for (start, value) in &pieces.large {
            self.large_size += value.len();
            self.large.push_back((end + start, value.clone()));
        }
    }

    /// A short text.
    pub fn simple(&mut self, text: &str) {
        self.line(b'+', text);
    }

    /// Success.
    #[inline]
    pub fn ok(&mut self) {
        self.bytes.extend_from_slice(b"+OK\r\n");
    }

    /// An error: a word in capitals, and then a sentence.
    pub fn error(&mut self, text: &str) {
        self.line(b'-', text);
    }

    /// A number.
    #[inline]
    pub fn integer(&mut self, number: i64) {
        self.bytes.push(b':');
        self.bytes.extend_from_slice(Written::of(number).as_bytes());
        self.bytes.extend_from_slice(b"\r\n");
    }

    /// A count.
    pub fn count(&mut self, number: u64) {
        self.integer(i64::try_from(number).unwrap_or(i64::MAX));
    }

    /// Bytes.
    #[inline]
    pub fn bulk(&mut self, bytes: &[u8]) {
        self.header(b'$', bytes.len());
        self.bytes.extend_from_slice(bytes);
        self.bytes.extend_from_slice(b"\r\n");
    }

    /// A value. A large one is shared.
    #[inline]
    pub fn value(&mut self, value: MaybeShared<'_>) {
        match value {
            MaybeShared::Shared(value) if value.len() >= LARGE => {
                self.header(b'$', value.len());
                let start = self.end();
                self.large_size += value.len();
                self.large.push_back((start, value));
                self.bytes.extend_from_slice(b"\r\n");
            }
            value => self.bulk(&value),
        }
    }

    /// A value, or null if there is none.
    #[inline]
    pub fn value_or_null(&mut self, value: Option<MaybeShared<'_>>) {
        match value {
            Some(value) => self.value(value),
            None => self.null(),
        }
    }

    /// A text of many lines.
    pub fn verbatim(&mut self, text: &str) {
        if self.version == Version::Two {
            return self.bulk(text.as_bytes());
        }
        self.header(b'=', text.len() + 4);
        self.bytes.extend_from_slice(b"txt:");
        self.bytes.extend_from_slice(text.as_bytes());
        self.bytes.extend_from_slice(b"\r\n");
    }

    /// Bytes, or null if there are none.
    #[inline]
    pub fn bulk_or_null(&mut self, bytes: Option<&[u8]>) {
        match bytes {
            Some(bytes) => self.bulk(bytes),
            None => self.null(),
        }
    }

    /// Null.
    pub fn null(&mut self) {
        self.bytes.extend_from_slice(if self.version == Version::Two { b"$-1\r\n".as_slice() } else { b"_\r\n" });
    }

    /// A null array.
    pub fn null_array(&mut self) {
        self.bytes.extend_from_slice(if self.version == Version::Two { b"*-1\r\n".as_slice() } else { b"_\r\n" });
    }

    /// The header of an array: this many replies follow.
    pub fn array(&mut self, length: usize) {
        self.header(b'*', length);
    }

    /// The header of a set: this many different replies follow.
    pub fn set(&mut self, length: usize) {
        self.header(if self.version == Version::Two { b'*' } else { b'~' }, length);
    }

    /// The header of a map: this many pairs of replies follow.
    pub fn map(&mut self, pairs: usize) {
        match self.version {
            Version::Two => self.header(b'*', 2 * pairs),
            Version::Three => self.header(b'%', pairs),
        }
    }
}

#[cfg(test)]
mod tests;
