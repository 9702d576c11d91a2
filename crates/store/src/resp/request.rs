//! Decodes requests, however their bytes are cut.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::large;

/// The most that a client may send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Arguments of a request, including its name.
    pub arguments: usize,
    /// One argument. [B]
    pub argument: usize,
    /// A whole request. [B]
    pub request: usize,
}

impl Limits {
    /// A line: an inline request, or a number.
    pub const LINE: usize = 64 << 10;
    /// The limits of clients that have not authenticated.
    pub const STRANGER: Limits = Limits { arguments: 10, argument: 16 << 10, request: 64 << 10 };
}

impl Default for Limits {
    /// 512 MiB an argument and 1,048,576 arguments, as in Redis; 1 GiB a request.
    fn default() -> Limits {
        Limits { arguments: 1 << 20, argument: 512 << 20, request: 1 << 30 }
    }
}

/// Why a client is not understood any more; whatever it sends afterwards has no meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProtocolError {
    /// The number of arguments is not a number, or too large.
    #[error("Protocol error: invalid multibulk length")]
    Arguments,
    /// The number of arguments is too large for a client that has not authenticated.
    #[error("Protocol error: unauthenticated multibulk length")]
    StrangersArguments,
    /// The length of an argument is not a length, or too large.
    #[error("Protocol error: invalid bulk length")]
    Length,
    /// The length of an argument is too large for a client that has not authenticated.
    #[error("Protocol error: unauthenticated bulk length")]
    StrangersLength,
    /// An argument does not begin with `$`.
    #[error("Protocol error: expected '$', got '{}'", char::from(*.0))]
    Expected(u8),
    /// The line with the number of arguments does not end.
    #[error("Protocol error: too big mbulk count string")]
    LongNumberOfArguments,
    /// The line with the length of an argument does not end.
    #[error("Protocol error: too big bulk count string")]
    LongLength,
    /// The line of an inline request does not end.
    #[error("Protocol error: too big inline request")]
    LongLine,
    /// A quoted argument is not closed on its line, or something other than space follows it.
    #[error("Protocol error: unbalanced quotes in request")]
    Quotes,
    /// The arguments of a request together are too long.
    #[error("Protocol error: request larger than {0} bytes")]
    LongRequest(usize),
}

/// Where an argument begins and ends.
type Range = (usize, usize);

/// The arguments of a request, the first of which is its name, where they lie in what was received.
#[derive(Clone, Copy, Debug)]
pub struct Arguments<'a> {
    bytes: &'a [u8],
    ranges: &'a [Range],
}

impl<'a> Arguments<'a> {
    /// How many there are.
    #[inline]
    pub const fn len(&self) -> usize {
        self.ranges.len()
    }

    /// Whether there are none.
    pub const fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// One of them; no bytes if there is none.
    #[inline]
    pub fn get(&self, index: usize) -> &'a [u8] {
        self.ranges.get(index).map_or(&[], |&(start, end)| &self.bytes[start..end])
    }

    /// Their size in all. [B]
    pub const fn size(&self) -> usize {
        self.bytes.len()
    }

    /// The arguments from `first` on.
    pub fn from(
        &self,
        first: usize,
    ) -> impl DoubleEndedIterator<Item = &'a [u8]> + ExactSizeIterator + Clone + use<'a> {
        let bytes = self.bytes;
        self.ranges.get(first..).unwrap_or(&[]).iter().map(move |&(start, end)| &bytes[start..end])
    }
}

/// The arguments of a request that is kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OwnedArguments {
    bytes: Vec<u8>,
    ranges: Vec<Range>,
}

impl OwnedArguments {
    /// The same, borrowed.
    pub fn borrowed(&self) -> Arguments<'_> {
        Arguments { bytes: &self.bytes, ranges: &self.ranges }
    }

    /// The memory that they take. [B]
    pub fn size(&self) -> usize {
        self.bytes.len() + self.ranges.len() * size_of::<Range>()
    }

    fn push(&mut self, argument: &[u8]) {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(argument);
        self.ranges.push((start, self.bytes.len()));
    }
}

/// The form in which members send them: one after another, so that whatever can be decoded is a valid list of arguments.
impl Serialize for OwnedArguments {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.borrowed().from(0).map(Whole))
    }
}

/// An argument that is encoded as a whole, and not byte by byte.
struct Whole<'a>(&'a [u8]);

impl Serialize for Whole<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(self.0)
    }
}

impl<'de> Deserialize<'de> for OwnedArguments {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<OwnedArguments, D::Error> {
        let arguments: Vec<&[u8]> = Deserialize::deserialize(deserializer)?;
        Ok(arguments.into_iter().collect())
    }
}

impl<'a> FromIterator<&'a [u8]> for OwnedArguments {
    fn from_iter<I: IntoIterator<Item = &'a [u8]>>(arguments: I) -> OwnedArguments {
        let mut owned = OwnedArguments::default();
        arguments.into_iter().for_each(|argument| owned.push(argument));
        owned
    }
}

impl From<Arguments<'_>> for OwnedArguments {
    fn from(arguments: Arguments<'_>) -> OwnedArguments {
        arguments.from(0).collect()
    }
}

/// The bytes that a client sends, and the requests in them: one after another, without copying.
///
/// ```text
///   buffer   | done | arguments so far | rest that was received |  room  |
///                   begin              at                       filled
/// ```
#[derive(Debug, Default)]
pub struct Requests {
    buffer: Vec<u8>,
    /// Where the request that is being read begins.
    begin: usize,
    /// How far it was read.
    at: usize,
    /// How far the buffer is filled with received bytes.
    filled: usize,
    /// Arguments that have still to come; none between requests.
    missing: usize,
    /// The arguments so far, from `begin` on.
    ranges: Vec<Range>,
    /// Those of an inline request, without their quotes.
    inline: OwnedArguments,
    /// Whether `ranges` are those of a request that was returned to the caller.
    given: bool,
    /// Whether that request is to be returned again.
    is_held_back: bool,
}

/// The least room for what is received next. [B]
const ROOM: usize = 16 << 10;
/// The most memory that an empty buffer keeps. [B]
const MOST_KEPT: usize = 64 << 10;
/// The most by which a buffer grows at a time, which takes the system a millisecond, as it does not move large pieces of memory for that. [B]
const MOST_MORE: usize = 2 << 20;

impl Requests {
    /// Room for what is received next.
    pub fn room(&mut self) -> &mut [u8] {
        if self.given {
            self.begin_next();
        }
        if self.filled == self.begin {
            (self.begin, self.at, self.filled) = (0, 0, 0);
            if self.buffer.len() > MOST_KEPT {
                let length = self.buffer.len();
                large::give_back(std::mem::take(&mut self.buffer), length);
            }
        }
        if self.begin > 0 && self.buffer.len() - self.filled < ROOM {
            self.buffer.copy_within(self.begin..self.filled, 0);
            self.at -= self.begin;
            self.filled -= self.begin;
            self.begin = 0;
        }
        if self.buffer.len() - self.filled < ROOM {
            let length = self.buffer.len();
            let larger = (self.filled + ROOM).max(length + length.min(MOST_MORE));
            self.buffer.resize(larger, 0);
        }
        &mut self.buffer[self.filled..]
    }

    /// `bytes` bytes were received into the room.
    pub fn received(&mut self, bytes: usize) {
        self.filled = (self.filled + bytes).min(self.buffer.len());
    }

    /// Takes in bytes, as if they had been received.
    pub fn feed(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let room = self.room();
            let fits = room.len().min(bytes.len());
            room[..fits].copy_from_slice(&bytes[..fits]);
            self.received(fits);
            bytes = &bytes[fits..];
        }
    }

    /// How many of the received bytes belong to requests that have not been returned yet.
    pub const fn waiting(&self) -> usize {
        self.filled - self.at
    }

    /// The next request, if all of it has arrived.
    ///
    /// # Errors
    /// [`ProtocolError`]
    pub fn next(&mut self, limits: Limits) -> Result<Option<Arguments<'_>>, ProtocolError> {
        if std::mem::take(&mut self.is_held_back) {
            self.given = true;
            return Ok(Some(self.read()));
        }
        if self.given {
            self.begin_next();
        }
        while self.missing == 0 {
            match self.buffer[self.at..self.filled].first() {
                None => return Ok(None),
                Some(b'*') => {
                    let Some(line) = self.line(ProtocolError::LongNumberOfArguments)? else { return Ok(None) };
                    self.missing = self.number_of_arguments(line, limits)?;
                    if self.missing == 0 {
                        self.begin = self.at;
                    }
                }
                Some(_) => {
                    let Some(line) = self.line(ProtocolError::LongLine)? else { return Ok(None) };
                    self.inline = split(&self.buffer[line.0..line.1])?;
                    if !self.inline.ranges.is_empty() {
                        self.given = true;
                        return Ok(Some(self.read()));
                    }
                    self.begin = self.at;
                }
            }
        }
        while self.missing > 0 {
            let Some(range) = self.argument(limits)? else { return Ok(None) };
            self.ranges.push((range.0 - self.begin, range.1 - self.begin));
            self.missing -= 1;
        }
        self.given = true;
        Ok(Some(self.read()))
    }

    /// The request that was read.
    #[inline]
    fn read(&self) -> Arguments<'_> {
        if self.ranges.is_empty() {
            return self.inline.borrowed();
        }
        Arguments { bytes: &self.buffer[self.begin..self.at], ranges: &self.ranges }
    }

    /// The request that was returned last will be returned again as the next one: its time has not come.
    pub const fn hold_back(&mut self) {
        (self.given, self.is_held_back) = (false, true);
    }

    fn begin_next(&mut self) {
        self.given = false;
        self.begin = self.at;
        self.ranges.clear();
    }

    /// The next line without its line break, if it has arrived.
    #[inline]
    fn line(&mut self, too_long: ProtocolError) -> Result<Option<Range>, ProtocolError> {
        let rest = &self.buffer[self.at..self.filled];
        let searched = &rest[..rest.len().min(Limits::LINE)];
        let Some(length) = searched.iter().position(|&byte| byte == b'\n') else {
            return if rest.len() > Limits::LINE { Err(too_long) } else { Ok(None) };
        };
        let start = self.at;
        self.at += length + 1;
        let carriage_return = usize::from(length > 0 && rest[length - 1] == b'\r');
        Ok(Some((start, start + length - carriage_return)))
    }

    fn number_of_arguments(&self, line: Range, limits: Limits) -> Result<usize, ProtocolError> {
        let found = super::number::integer(&self.buffer[line.0 + 1..line.1]).ok_or(ProtocolError::Arguments)?;
        match usize::try_from(found) {
            Err(_) => Ok(0), // a negative number counts as none
            Ok(found) if found <= limits.arguments => Ok(found),
            Ok(_) if limits.arguments == Limits::STRANGER.arguments => Err(ProtocolError::StrangersArguments),
            Ok(_) => Err(ProtocolError::Arguments),
        }
    }

    /// The next argument, if all of it has arrived; otherwise nothing of it is read.
    #[inline]
    fn argument(&mut self, limits: Limits) -> Result<Option<Range>, ProtocolError> {
        let before = self.at;
        match self.buffer[self.at..self.filled].first() {
            None => return Ok(None),
            Some(b'$') => {}
            Some(&other) => return Err(ProtocolError::Expected(other)),
        }
        let Some(line) = self.line(ProtocolError::LongLength)? else { return Ok(None) };
        let length = super::number::integer(&self.buffer[line.0 + 1..line.1]).and_then(|it| usize::try_from(it).ok());
        let length = match length {
            Some(length) if length <= limits.argument => length,
            Some(_) if limits.argument == Limits::STRANGER.argument => return Err(ProtocolError::StrangersLength),
            _ => return Err(ProtocolError::Length),
        };
        let (start, end) = (self.at, self.at + length);
        if end - self.begin > limits.request {
            return Err(ProtocolError::LongRequest(limits.request));
        }
        if end + 2 > self.filled {
            self.at = before;
            return Ok(None);
        }
        self.at = end + 2;
        Ok(Some((start, end)))
    }
}

/// The arguments of an inline request: words, or strings in quotes; double quotes allow escapes such as `\n` and `\xff`.
fn split(line: &[u8]) -> Result<OwnedArguments, ProtocolError> {
    let (mut arguments, mut rest) = (OwnedArguments::default(), line);
    loop {
        rest = rest.trim_ascii_start();
        if rest.is_empty() {
            return Ok(arguments);
        }
        let mut argument = Vec::new();
        while let Some((&first, after)) = rest.split_first() {
            rest = match first {
                b'"' => double_quoted(after, &mut argument)?,
                b'\'' => single_quoted(after, &mut argument)?,
                _ if first.is_ascii_whitespace() => break,
                _ => {
                    argument.push(first);
                    after
                }
            };
        }
        arguments.push(&argument);
    }
}

/// Reads up to the closing quote, which must be followed by space or the end of the line, and returns what follows it.
fn double_quoted<'a>(mut rest: &'a [u8], argument: &mut Vec<u8>) -> Result<&'a [u8], ProtocolError> {
    let hexadecimal = |digit: u8| char::from(digit).to_digit(16);
    loop {
        rest = match *rest {
            [b'\\', b'x', high, low, ref after @ ..] if hexadecimal(high).is_some() && hexadecimal(low).is_some() => {
                let digits = hexadecimal(high).zip(hexadecimal(low));
                argument.extend(digits.map(|(high, low)| (16 * high + low) as u8));
                after
            }
            [b'\\', escaped, ref after @ ..] => {
                argument.push(match escaped {
                    b'n' => b'\n',
                    b'r' => b'\r',
                    b't' => b'\t',
                    b'b' => 8,
                    b'a' => 7,
                    other => other,
                });
                after
            }
            [b'"', ref after @ ..] => return closed(after),
            [byte, ref after @ ..] => {
                argument.push(byte);
                after
            }
            [] => return Err(ProtocolError::Quotes),
        };
    }
}

fn single_quoted<'a>(mut rest: &'a [u8], argument: &mut Vec<u8>) -> Result<&'a [u8], ProtocolError> {
    loop {
        rest = match *rest {
            [b'\\', b'\'', ref after @ ..] => {
                argument.push(b'\'');
                after
            }
            [b'\'', ref after @ ..] => return closed(after),
            [byte, ref after @ ..] => {
                argument.push(byte);
                after
            }
            [] => return Err(ProtocolError::Quotes),
        };
    }
}

fn closed(after: &[u8]) -> Result<&[u8], ProtocolError> {
    if after.first().is_none_or(u8::is_ascii_whitespace) { Ok(after) } else { Err(ProtocolError::Quotes) }
}
