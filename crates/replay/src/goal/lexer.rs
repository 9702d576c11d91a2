//! A GOAL text as words, numbers and signs, read piece by piece.
//!
//! The text is read into a buffer in large pieces. Whole lines are cut into tokens in place; the rest after the last
//! whole line is moved to the front before the next piece is read. So a token is a range of the buffer, and valid until
//! its line has ended.

use std::io::Read;

use super::error::Problem;

/// How much is read at a time. [B]
const PIECE: u64 = 1 << 18;

type Result<T> = std::result::Result<T, Problem>;

/// A token of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token {
    /// A letter, then letters, digits and underscores.
    Word,
    /// Digits, and their value if it fits into 64 bits.
    Number(Option<u64>),
    /// `-1`, which stands for any.
    MinusOne,
    /// `{`
    Open,
    /// `}`
    Close,
    /// `:`
    Colon,
    /// The end of a line.
    NewLine,
    /// The end of the text.
    End,
}

/// A token and its position.
#[derive(Clone, Copy, Debug)]
pub(super) struct LocatedToken {
    pub(super) token: Token,
    /// Where it begins and ends in the buffer. [B]
    pub(super) at: usize,
    end: usize,
    /// Its line, from 1.
    pub(super) line: u32,
}

impl LocatedToken {
    /// A token before the first.
    pub(super) const BEGINNING: LocatedToken = LocatedToken { token: Token::NewLine, at: 0, end: 0, line: 1 };
}

/// Keeps an error message readable when the text that it quotes is not.
pub(super) fn shortened(text: &str) -> String {
    const LONGEST: usize = 40;
    if text.chars().count() <= LONGEST {
        return text.to_owned();
    }
    text.chars().take(LONGEST).chain("...".chars()).collect()
}

/// Cuts a text into tokens.
pub(super) struct Lexer<R> {
    text: R,
    buffer: Vec<u8>,
    at: usize,
    /// Where the last whole line in the buffer ends: up to there no token is cut off. No limit once all of the text has
    /// been read.
    whole: usize,
    /// What kept the rest of the text from being read.
    failure: Option<std::io::Error>,
    line: u32,
    /// Where the line begins in the buffer.
    line_start: usize,
    /// The next line, and where it begins, once the end of this one has been found.
    next_line: Option<(u32, usize)>,
}

impl<R: Read> Lexer<R> {
    pub(super) fn new(text: R) -> Lexer<R> {
        let (buffer, failure, next_line) = (Vec::new(), None, None);
        Lexer { text, buffer, at: 0, whole: 0, failure, line: 1, line_start: 0, next_line }
    }

    /// The error that kept the text from being read to its end.
    pub(super) fn failure(self) -> Option<std::io::Error> {
        self.failure
    }

    /// The text from a token to the end of the last whole line.
    #[inline]
    pub(super) fn text_from(&self, found: LocatedToken) -> &[u8] {
        &self.buffer[found.at..self.whole.clamp(found.at, self.buffer.len())]
    }

    /// Skips `bytes` from `found` onwards, which must be `lines` whole lines.
    #[inline]
    pub(super) fn skip_lines(&mut self, found: LocatedToken, bytes: usize, lines: u32) {
        self.at = found.at + bytes;
        self.line = self.line.saturating_add(lines);
        self.line_start = self.at;
        self.next_line = None;
    }

    /// The text of a token.
    #[inline]
    pub(super) fn bytes(&self, found: LocatedToken) -> &[u8] {
        &self.buffer[found.at..found.end]
    }

    /// The text of a token, for a message.
    pub(super) fn quoted(&self, found: LocatedToken) -> String {
        match found.token {
            Token::NewLine => "the end of the line".to_owned(),
            Token::End => "the end of the file".to_owned(),
            _ => format!("`{}`", self.shortened(found)),
        }
    }

    /// As much of a token as fits into a message.
    pub(super) fn shortened(&self, found: LocatedToken) -> String {
        shortened(&String::from_utf8_lossy(self.bytes(found)))
    }

    /// The problem with the text at `at` in the current line.
    pub(super) fn problem(&self, at: usize, text: String) -> Problem {
        Problem::new(self.line, self.column(at), text)
    }

    /// The column of a place in the current line, from 1. [characters]
    pub(super) fn column(&self, at: usize) -> u32 {
        // Continuation bytes of UTF-8 take no column.
        let before = self.buffer[self.line_start.min(at)..at].iter().filter(|&&byte| byte & 0xC0 != 0x80).count();
        u32::try_from(1 + before).unwrap_or(u32::MAX)
    }

    /// The next token. After the end of a line, its tokens are no longer valid.
    #[inline]
    pub(super) fn next(&mut self) -> Result<LocatedToken> {
        if let Some(next_line) = self.next_line.take() {
            (self.line, self.line_start) = next_line;
        }
        if self.at >= self.whole {
            self.read_lines();
        }
        if let Some(new_line) = self.skip_blanks()? {
            return Ok(new_line);
        }
        let at = self.at;
        let Some(&byte) = self.buffer.get(at) else { return Ok(self.found(Token::End, at)) };
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' => {
                self.at = self.end_of_run(at + 1, |byte| byte.is_ascii_alphanumeric() || byte == b'_');
                Ok(self.found(Token::Word, at))
            }
            b'0'..=b'9' => Ok(self.number(at)),
            b'\n' => {
                self.at = at + 1;
                self.next_line = Some((self.line.saturating_add(1), self.at));
                Ok(self.found(Token::NewLine, at))
            }
            _ => self.sign(at, byte),
        }
    }

    #[inline]
    fn found(&self, token: Token, at: usize) -> LocatedToken {
        LocatedToken { token, at, end: self.at, line: self.line }
    }

    #[inline]
    fn end_of_run(&self, from: usize, belongs: impl Fn(u8) -> bool) -> usize {
        let rest = &self.buffer[from..];
        from + rest.iter().position(|&byte| !belongs(byte)).unwrap_or(rest.len())
    }

    #[inline]
    fn number(&mut self, at: usize) -> LocatedToken {
        let mut value = Some(0_u64);
        while let Some(digit) = self.buffer.get(self.at).map(|byte| byte.wrapping_sub(b'0')).filter(|&digit| digit <= 9)
        {
            value = value.and_then(|value| value.checked_mul(10)?.checked_add(u64::from(digit)));
            self.at += 1;
        }
        self.found(Token::Number(value), at)
    }

    fn sign(&mut self, at: usize, byte: u8) -> Result<LocatedToken> {
        let (token, length) = match (byte, &self.buffer[at + 1..]) {
            (b'{', _) => (Token::Open, 1),
            (b'}', _) => (Token::Close, 1),
            (b':', _) => (Token::Colon, 1),
            (b'-', [b'1', rest @ ..]) if !rest.first().is_some_and(u8::is_ascii_digit) => (Token::MinusOne, 2),
            _ => return Err(self.unexpected_character(at)),
        };
        self.at = at + length;
        Ok(self.found(token, at))
    }

    /// Skips spaces and comments. A comment over several lines ends the line it begins in.
    #[inline]
    fn skip_blanks(&mut self) -> Result<Option<LocatedToken>> {
        loop {
            match self.buffer.get(self.at) {
                Some(b' ' | b'\t') => self.at += 1,
                Some(b'\r') if self.buffer.get(self.at + 1) == Some(&b'\n') => self.at += 1,
                Some(b'/') => match self.buffer.get(self.at + 1) {
                    Some(b'/') => self.at = self.end_of_run(self.at, |byte| byte != b'\n'),
                    Some(b'*') => {
                        if let Some(new_line) = self.skip_comment()? {
                            return Ok(Some(new_line));
                        }
                    }
                    _ => return Ok(None),
                },
                _ => return Ok(None),
            }
        }
    }

    fn skip_comment(&mut self) -> Result<Option<LocatedToken>> {
        let (start, inside) = (self.at, self.at + 2);
        let mut searched = inside;
        let end = loop {
            if let Some(place) = self.buffer[searched..].windows(2).position(|pair| pair == b"*/") {
                break searched + place;
            }
            if self.whole == usize::MAX {
                let text = "the comment that begins here with `/*` has no `*/`".to_owned();
                return Err(self.problem(start, text));
            }
            searched = inside.max(self.buffer.len() - 1);
            self.read_piece();
        };
        self.at = end + 2;
        let newlines = (inside..end).filter(|&place| self.buffer[place] == b'\n');
        let Some((count, last)) = newlines.fold(None, |found, place| match found {
            None => Some((1_u32, place)),
            Some((count, _)) => Some((count.saturating_add(1), place)),
        }) else {
            return Ok(None);
        };
        self.next_line = Some((self.line.saturating_add(count), last + 1));
        Ok(Some(LocatedToken { token: Token::NewLine, at: start, end: self.at, line: self.line }))
    }

    /// Reads until the current line is whole. The lines before it are discarded.
    #[cold]
    fn read_lines(&mut self) {
        self.buffer.drain(..self.line_start);
        self.at -= self.line_start;
        self.line_start = 0;
        self.whole = 0;
        while self.at >= self.whole {
            self.read_piece();
        }
    }

    /// Appends the next piece of the text to the buffer.
    fn read_piece(&mut self) {
        let before = self.buffer.len();
        match (&mut self.text).take(PIECE).read_to_end(&mut self.buffer) {
            Ok(read) if read as u64 == PIECE => {
                let last = self.buffer[before..].iter().rposition(|&byte| byte == b'\n');
                self.whole = last.map_or(self.whole, |last| before + last + 1);
            }
            Ok(_) => self.whole = usize::MAX,
            Err(cause) => {
                self.whole = usize::MAX;
                self.failure = Some(cause);
            }
        }
    }

    /// The problem with a character that begins no token.
    fn unexpected_character(&self, at: usize) -> Problem {
        let rest = &self.buffer[at..];
        if rest[0] == b'-' {
            let digits = rest[1..].iter().take(38).take_while(|byte| byte.is_ascii_digit()).count();
            let number = String::from_utf8_lossy(&rest[..=digits]);
            return self.problem(at, format!("found `{number}`; the only negative number is -1, which stands for any"));
        }
        let character = String::from_utf8_lossy(&rest[..rest.len().min(4)]).chars().next().unwrap_or('?');
        self.problem(at, format!("found the character {character:?}, which means nothing in GOAL"))
    }
}
