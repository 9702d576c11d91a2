//! Decodes replies, however their bytes are cut, in version 2 of the protocol.

use std::io::{self, ErrorKind};

/// The deepest nesting of lists.
const DEEPEST: usize = 16;
/// The most values of a list.
const MOST_VALUES: usize = 1 << 20;
/// The longest text. [B]
const LONGEST: usize = 512 << 20;
/// The longest line, which says what follows or is a text itself. [B]
const LONGEST_LINE: usize = 64 << 10;
/// Bytes that were read are dropped as soon as there are this many. [B]
const MOST_READ: usize = 1 << 20;

/// The value of a reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// Nothing.
    Null,
    /// A text, of any bytes.
    Text(Vec<u8>),
    /// A number.
    Integer(i64),
    /// An error: why the request was not executed.
    Error(String),
    /// Values in order.
    List(Vec<Value>),
}

impl Value {
    /// Its values; none, if it is not a list.
    pub fn list(&self) -> &[Value] {
        if let Value::List(values) = self { values } else { &[] }
    }

    /// Its text; empty, if it is not a text.
    pub fn text(&self) -> String {
        if let Value::Text(text) = self { String::from_utf8_lossy(text).into_owned() } else { String::new() }
    }

    /// Its number, if it is one.
    pub const fn integer(&self) -> Option<i64> {
        if let Value::Integer(number) = self { Some(*number) } else { None }
    }

    /// In a list of names, each with a value after it, the value of this name.
    pub fn field(&self, name: &str) -> Option<&Value> {
        let mut pairs = self.list().chunks_exact(2);
        pairs.find(|pair| pair[0].text() == name).map(|pair| &pair[1])
    }
}

/// The replies of one connection.
#[derive(Debug, Default)]
pub struct Replies {
    bytes: Vec<u8>,
    /// How many of the bytes were read.
    read: usize,
    /// Lists that have begun, the outermost first: how many values each still lacks, and those that it has.
    open: Vec<(usize, Vec<Value>)>,
}

/// What a line begins.
enum Begun {
    Whole(Value),
    List(usize),
}

impl Replies {
    /// More bytes have arrived.
    pub fn feed(&mut self, bytes: &[u8]) {
        if self.read == self.bytes.len() {
            self.bytes.clear();
            self.read = 0;
        } else if self.read >= MOST_READ {
            self.bytes.drain(..self.read);
            self.read = 0;
        }
        self.bytes.extend_from_slice(bytes);
    }

    /// The next reply, as soon as all of it has arrived.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidData`], if it is no reply. Whatever follows has no meaning.
    pub fn next_reply(&mut self) -> io::Result<Option<Value>> {
        loop {
            let mut value = match self.begin()? {
                None => return Ok(None),
                Some(Begun::List(_)) if self.open.len() == DEEPEST => return Err(strange(b"lists that are too deep")),
                Some(Begun::List(length)) if length > 0 => {
                    self.open.push((length, Vec::new()));
                    continue;
                }
                Some(Begun::List(_)) => Value::List(Vec::new()),
                Some(Begun::Whole(value)) => value,
            };
            // It may be the last value of a list, which may be the last of another.
            loop {
                let Some((lacking, values)) = self.open.last_mut() else { return Ok(Some(value)) };
                values.push(value);
                *lacking -= 1;
                if *lacking > 0 {
                    break;
                }
                value = Value::List(self.open.pop().map_or_else(Vec::new, |(_, values)| values));
            }
        }
    }

    /// The next line with the text that belongs to it, if all of that has arrived.
    fn begin(&mut self) -> io::Result<Option<Begun>> {
        let rest = &self.bytes[self.read..];
        let Some(length) = rest.iter().take(LONGEST_LINE).position(|&byte| byte == b'\n') else {
            let is_too_long = rest.len() >= LONGEST_LINE;
            return if is_too_long { Err(strange(b"a line that is too long")) } else { Ok(None) };
        };
        let line = rest[..length].strip_suffix(b"\r").ok_or_else(|| strange(&rest[..length]))?;
        let Some((kind, text)) = line.split_first() else { return Err(strange(b"an empty line")) };
        let number = || std::str::from_utf8(text).ok().and_then(|text| text.parse().ok()).ok_or_else(|| strange(line));
        let begun = match kind {
            b'+' => Begun::Whole(Value::Text(text.to_vec())),
            b'-' => Begun::Whole(Value::Error(String::from_utf8_lossy(text).into_owned())),
            b':' => Begun::Whole(Value::Integer(number()?)),
            b'$' | b'*' if number()? == -1 => Begun::Whole(Value::Null),
            b'*' => Begun::List(bounded(number()?, MOST_VALUES)?),
            b'$' => {
                let (start, size) = (length + 1, bounded(number()?, LONGEST)?);
                let Some(text) = rest.get(start..start + size + 2) else { return Ok(None) };
                let text = text.strip_suffix(b"\r\n").ok_or_else(|| strange(b"a text that is too long"))?;
                let value = Value::Text(text.to_vec());
                self.read += start + size + 2;
                return Ok(Some(Begun::Whole(value)));
            }
            _ => return Err(strange(line)),
        };
        self.read += length + 1;
        Ok(Some(begun))
    }
}

fn bounded(number: i64, most: usize) -> io::Result<usize> {
    let allowed = usize::try_from(number).ok().filter(|number| *number <= most);
    allowed.ok_or_else(|| strange(number.to_string().as_bytes()))
}

fn strange(found: &[u8]) -> io::Error {
    let found = String::from_utf8_lossy(&found[..found.len().min(100)]).into_owned();
    io::Error::new(ErrorKind::InvalidData, format!("found {found:?} where a reply was expected"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const REPLIES: &[u8] = b"*6\r\n+OK\r\n$-1\r\n:-7\r\n$4\r\na\r\nb\r\n*1\r\n-ERR no\r\n*0\r\n$0\r\n\r\n";

    fn values() -> [Value; 2] {
        let list = vec![
            Value::Text(b"OK".to_vec()),
            Value::Null,
            Value::Integer(-7),
            Value::Text(b"a\r\nb".to_vec()),
            Value::List(vec![Value::Error("ERR no".to_owned())]),
            Value::List(Vec::new()),
        ];
        [Value::List(list), Value::Text(Vec::new())]
    }

    proptest! {
        #[test]
        fn replies_are_read_however_they_are_cut(cuts in prop::collection::vec(1_usize..9, 0..40)) {
            let (mut replies, mut found, mut rest) = (Replies::default(), Vec::new(), REPLIES);
            for cut in cuts.into_iter().chain([REPLIES.len()]) {
                let (now, later) = rest.split_at(cut.min(rest.len()));
                replies.feed(now);
                while let Some(value) = replies.next_reply().unwrap() {
                    found.push(value);
                }
                rest = later;
            }
            prop_assert_eq!(found, values());
        }

        #[test]
        fn whatever_comes_is_read_or_refused(bytes in prop::collection::vec(prop::sample::select(&b"*$:+-\r\n0129x"[..]), 0..60)) {
            let mut replies = Replies::default();
            replies.feed(&bytes);
            for _ in 0..=bytes.len() {
                if !matches!(replies.next_reply(), Ok(Some(_))) {
                    break;
                }
            }
        }
    }

    #[test]
    fn bytes_that_are_no_reply_are_refused() {
        let kind = |bytes: &[u8]| {
            let mut replies = Replies::default();
            replies.feed(bytes);
            replies.next_reply().map_err(|error| error.kind())
        };
        for bytes in [&b"HTTP/1.1 200 OK\r\n"[..], b"\r\n", b":x\r\n", b"$-2\r\n", b"*9999999999\r\n", b"$1\r\nabc"] {
            assert_eq!(kind(bytes), Err(ErrorKind::InvalidData));
        }
        assert_eq!(kind(&b"*1\r\n".repeat(99)), Err(ErrorKind::InvalidData));
        assert_eq!(kind(&[b'+'; 1 << 17]), Err(ErrorKind::InvalidData));
        for bytes in [&b""[..], b"+OK", b"$4\r\nabc", b"*2\r\n:1\r\n"] {
            assert_eq!(kind(bytes), Ok(None));
        }
    }

    #[test]
    fn fields_are_found_by_name() {
        let mut replies = Replies::default();
        replies.feed(b"*4\r\n+port\r\n:7\r\n+ip\r\n+::1\r\n");
        let value = replies.next_reply().unwrap().unwrap();
        assert_eq!(value.field("ip").map(Value::text).as_deref(), Some("::1"));
        assert_eq!((value.field("port").and_then(Value::integer), value.field("7")), (Some(7), None));
    }
}
