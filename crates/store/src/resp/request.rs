//! Decodes requests, however their bytes are cut.

use super::arguments::{Arguments, OwnedArguments, Range};
use super::upcoming::Upcoming;
use crate::large::{self, Arriving, LARGE, SharedValue};

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

/// The bytes that a client sends, and the requests in them: one after another, without copying.
///
/// ```text
///   buffer   | done | arguments so far | rest that was received |  room  |
///                   begin              at                       filled
/// ```
///
/// A large argument is received into memory of its own, which can be stored as it is.
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
    /// The large ones among them, and their total size. [B]
    large: Vec<SharedValue>,
    large_size: usize,
    /// The large argument that is arriving. Only when it is whole does the buffer receive what follows.
    arriving: Option<Arriving>,
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
/// The most by which a buffer grows at a time, which takes the system a millisecond, as it does not move large pieces
/// of memory for that. [B]
const MOST_MORE: usize = 2 << 20;

impl Requests {
    /// Room for what is received next.
    pub fn room(&mut self) -> &mut [u8] {
        if self.lacks_large() {
            return self.arriving.as_mut().map_or(&mut [], Arriving::room);
        }
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

    /// The arguments so far of a request in which a large one is arriving, and that one.
    pub(crate) fn arriving(&mut self) -> Option<(Arguments<'_>, &mut Arriving)> {
        let arriving = self.arriving.as_mut()?;
        Some((Arguments::new(&self.buffer[self.begin..self.at], &self.ranges, &self.large), arriving))
    }

    /// Whether what is received next belongs to a large argument.
    fn lacks_large(&self) -> bool {
        self.arriving.as_ref().is_some_and(|arriving| !arriving.is_whole())
    }

    /// `bytes` bytes were received into the room.
    pub fn received(&mut self, bytes: usize) {
        if let Some(arriving) = self.arriving.as_mut().filter(|arriving| !arriving.is_whole()) {
            return arriving.received(bytes);
        }
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
    pub fn waiting(&self) -> usize {
        self.filled - self.at + self.arriving.as_ref().map_or(0, Arriving::filled)
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
                    if !self.inline.borrowed().is_empty() {
                        self.given = true;
                        return Ok(Some(self.read()));
                    }
                    self.begin = self.at;
                }
            }
        }
        while self.missing > 0 {
            if !self.argument(limits)? {
                return Ok(None);
            }
            self.missing -= 1;
        }
        self.given = true;
        Ok(Some(self.read()))
    }

    /// The requests after the one that was returned last.
    pub fn upcoming(&self) -> Upcoming<'_> {
        Upcoming::of(&self.buffer[self.at..self.filled])
    }

    /// The request that was read.
    #[inline]
    fn read(&self) -> Arguments<'_> {
        if self.ranges.is_empty() {
            return self.inline.borrowed();
        }
        Arguments::new(&self.buffer[self.begin..self.at], &self.ranges, &self.large)
    }

    /// The request that was returned last will be returned again as the next one: its time has not come.
    pub const fn hold_back(&mut self) {
        (self.given, self.is_held_back) = (false, true);
    }

    fn begin_next(&mut self) {
        self.given = false;
        self.begin = self.at;
        self.ranges.clear();
        if self.large_size > 0 {
            self.large.clear();
            self.large_size = 0;
        }
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

    /// Reads the next argument if all of it has arrived; of an incomplete one, nothing is read unless it is large.
    /// Returns whether it was read.
    #[inline]
    fn argument(&mut self, limits: Limits) -> Result<bool, ProtocolError> {
        if self.arriving.is_some() {
            return Ok(self.end_large());
        }
        let before = self.at;
        match self.buffer[self.at..self.filled].first() {
            None => return Ok(false),
            Some(b'$') => {}
            Some(&other) => return Err(ProtocolError::Expected(other)),
        }
        let Some(line) = self.line(ProtocolError::LongLength)? else { return Ok(false) };
        let length = super::number::integer(&self.buffer[line.0 + 1..line.1]).and_then(|it| usize::try_from(it).ok());
        let length = match length {
            Some(length) if length <= limits.argument => length,
            Some(_) if limits.argument == Limits::STRANGER.argument => return Err(ProtocolError::StrangersLength),
            _ => return Err(ProtocolError::Length),
        };
        let (start, end) = (self.at, self.at + length);
        if end - self.begin + self.large_size > limits.request {
            return Err(ProtocolError::LongRequest(limits.request));
        }
        if end + 2 > self.filled {
            if end > self.filled && length >= LARGE {
                self.arriving = Some(Arriving::begin(length, &self.buffer[start..self.filled]));
                self.filled = start;
            } else {
                self.at = before;
            }
            return Ok(false);
        }
        self.at = end + 2;
        self.ranges.push((start - self.begin, end - self.begin));
        Ok(true)
    }

    /// Reads the large argument that has arrived, if all of it has. Returns whether it was read.
    fn end_large(&mut self) -> bool {
        if self.filled - self.at < 2 {
            return false;
        }
        // It is whole, as bytes that follow it were received.
        let Some(whole) = self.arriving.take().map(SharedValue::from) else { return false };
        self.at += 2;
        self.ranges.push(Arguments::large_range(self.large.len()));
        self.large_size += whole.len();
        self.large.push(whole);
        true
    }
}

/// The arguments of an inline request: words, or strings in quotes; double quotes allow escapes such as `\n` and
/// `\xff`.
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
        arguments.push(argument[..].into());
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
