//! Encodes replies.

use serde::{Deserialize, Serialize};

use super::number::Written;
use crate::large;

/// The version of RESP that a client speaks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Version {
    /// RESP2: everything is a string, an integer, an array or nothing.
    #[default]
    Two,
    /// RESP3: there are maps, sets and more besides.
    Three,
}

/// The replies to one client, one after another.
#[derive(Debug, Default)]
pub struct Reply {
    bytes: Vec<u8>,
    /// How many of the bytes were sent.
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

    /// What is still to be sent.
    pub fn unsent(&self) -> &[u8] {
        &self.bytes[self.sent..]
    }

    /// The first `bytes` bytes of it were sent.
    pub fn was_sent(&mut self, bytes: usize) {
        self.sent += bytes;
        if self.sent >= self.bytes.len() {
            self.sent = 0;
            self.bytes.clear();
            if self.bytes.capacity() > MOST_KEPT {
                let length = self.bytes.capacity();
                large::give_back(std::mem::take(&mut self.bytes), length);
            }
        }
    }

    /// What was written since [`Reply::end`] was `end`.
    pub fn unsent_from(&self, end: usize) -> &[u8] {
        &self.bytes[end.min(self.bytes.len())..]
    }

    /// All that was written, none of which was sent.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// The end of what was written so far.
    pub const fn end(&self) -> usize {
        self.bytes.len()
    }

    /// Takes back what was written since [`Reply::end`] was `end`, as far as it was not sent.
    pub fn take_back(&mut self, end: usize) {
        self.bytes.truncate(end.max(self.sent));
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
    pub fn replied(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
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
