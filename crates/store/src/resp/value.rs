//! Replies as whoever asked takes them: values out of bytes, in version 2 of the protocol.

use std::io::{self, BufRead, ErrorKind, Read};

/// A list in a list in a list ... is not read any deeper.
const DEEPEST: usize = 16;
/// As many values a list has at most.
const MOST_VALUES: usize = 1 << 20;
/// The longest text. [B]
const LONGEST: usize = 512 << 20;
/// The longest line, which says what follows or is a text itself. [B]
const LONGEST_LINE: u64 = 64 << 10;

/// What a reply holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// Nothing.
    Null,
    /// A text, of any bytes.
    Text(Vec<u8>),
    /// A number.
    Integer(i64),
    /// Why it was not done.
    Error(String),
    /// Values in order.
    List(Vec<Value>),
}

impl Value {
    /// Reads a reply.
    ///
    /// # Errors
    /// Those of the stream; [`ErrorKind::InvalidData`], if it is no reply.
    pub fn read(stream: &mut impl BufRead) -> io::Result<Value> {
        read(stream, DEEPEST)
    }

    /// Its values; none, if it is no list.
    pub fn list(&self) -> &[Value] {
        if let Value::List(values) = self { values } else { &[] }
    }

    /// Its text; empty, if it is none.
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

fn read(stream: &mut impl BufRead, depth: usize) -> io::Result<Value> {
    let line = line(stream)?;
    let Some((kind, rest)) = line.split_first() else { return Err(strange("an empty line")) };
    let text = || String::from_utf8_lossy(rest).into_owned();
    let number = || text().parse::<i64>().map_err(|_| strange(&text()));
    match kind {
        b'+' => Ok(Value::Text(rest.to_vec())),
        b'-' => Ok(Value::Error(text())),
        b':' => number().map(Value::Integer),
        b'$' | b'*' if number()? == -1 => Ok(Value::Null),
        b'$' => bulk(stream, bounded(number()?, LONGEST)?).map(Value::Text),
        b'*' if depth == 0 => Err(strange("lists that are too deep")),
        b'*' => {
            let values = (0..bounded(number()?, MOST_VALUES)?).map(|_| read(stream, depth - 1));
            values.collect::<io::Result<_>>().map(Value::List)
        }
        _ => Err(strange(&String::from_utf8_lossy(&line))),
    }
}

/// A line, without its end.
fn line(stream: &mut impl BufRead) -> io::Result<Vec<u8>> {
    let mut line = Vec::new();
    stream.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut line)?;
    match line.strip_suffix(b"\r\n") {
        Some(text) => Ok(text.to_vec()),
        None if line.len() as u64 == LONGEST_LINE => Err(strange("a line that is too long")),
        None => Err(ErrorKind::UnexpectedEof.into()),
    }
}

/// A text of so many bytes, and the end of its line. The memory for it grows as it comes.
fn bulk(stream: &mut impl BufRead, length: usize) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    stream.by_ref().take(length as u64 + 2).read_to_end(&mut text)?;
    if text.len() < length + 2 {
        return Err(ErrorKind::UnexpectedEof.into());
    }
    text.truncate(length);
    Ok(text)
}

fn bounded(number: i64, most: usize) -> io::Result<usize> {
    usize::try_from(number).ok().filter(|number| *number <= most).ok_or_else(|| strange(&number.to_string()))
}

fn strange(found: &str) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, format!("found {found:?} where a reply was expected"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replies_are_read() {
        let bytes = b"*5\r\n+OK\r\n$-1\r\n:-7\r\n$4\r\na\r\nb\r\n*1\r\n-ERR no\r\n";
        let values = Value::read(&mut &bytes[..]).unwrap();
        let expected = [
            Value::Text(b"OK".to_vec()),
            Value::Null,
            Value::Integer(-7),
            Value::Text(b"a\r\nb".to_vec()),
            Value::List(vec![Value::Error("ERR no".to_owned())]),
        ];
        assert_eq!(values.list(), expected);
    }

    #[test]
    fn fields_are_found_by_name() {
        let value = Value::read(&mut &b"*4\r\n+port\r\n:7\r\n+ip\r\n+::1\r\n"[..]).unwrap();
        assert_eq!(value.field("ip").map(Value::text).as_deref(), Some("::1"));
        assert_eq!((value.field("port").and_then(Value::integer), value.field("7")), (Some(7), None));
    }

    #[test]
    fn what_is_no_reply_is_refused() {
        let kind = |bytes: &[u8]| Value::read(&mut &bytes[..]).unwrap_err().kind();
        for bytes in [&b"HTTP/1.1 200 OK\r\n"[..], b"\r\n", b":x\r\n", b"$-2\r\n", b"*9999999999\r\n"] {
            assert_eq!(kind(bytes), ErrorKind::InvalidData);
        }
        assert_eq!(kind(&b"*1\r\n".repeat(99)), ErrorKind::InvalidData);
        assert_eq!(kind(&[b'+'; 1 << 17]), ErrorKind::InvalidData);
        for bytes in [&b""[..], b"+OK", b"$4\r\nabc", b"*2\r\n:1\r\n"] {
            assert_eq!(kind(bytes), ErrorKind::UnexpectedEof);
        }
    }
}
