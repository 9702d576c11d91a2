//! A GOAL text as words, numbers and signs.

use super::error::Problem;

/// A piece of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token<'text> {
    /// A letter, then letters, digits and underscores.
    Word(&'text str),
    /// Digits.
    Number(&'text str),
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

/// A token and where it stands.
#[derive(Clone, Copy, Debug)]
pub(super) struct Found<'text> {
    pub(super) token: Token<'text>,
    /// Where it begins. [B]
    pub(super) at: usize,
    /// Its line, from 1.
    pub(super) line: u32,
}

/// How a person would call the token.
impl std::fmt::Display for Token<'_> {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Token::Word(text) | Token::Number(text) => write!(out, "`{}`", shortened(text)),
            Token::MinusOne => write!(out, "`-1`"),
            Token::Open => write!(out, "`{{`"),
            Token::Close => write!(out, "`}}`"),
            Token::Colon => write!(out, "`:`"),
            Token::NewLine => write!(out, "the end of the line"),
            Token::End => write!(out, "the end of the file"),
        }
    }
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
#[derive(Clone, Debug)]
pub(super) struct Lexer<'text> {
    text: &'text [u8],
    at: usize,
    line: u32,
}

impl<'text> Lexer<'text> {
    pub(super) fn new(text: &'text [u8]) -> Lexer<'text> {
        Lexer { text, at: 0, line: 1 }
    }

    /// The next token.
    pub(super) fn next(&mut self) -> Result<Found<'text>, Problem> {
        if let Some(new_line) = self.skip_blanks()? {
            return Ok(new_line);
        }
        let (at, line) = (self.at, self.line);
        let found = |token| Ok(Found { token, at, line });
        let Some(&byte) = self.text.get(at) else { return found(Token::End) };
        self.at += 1;
        match byte {
            b'{' => found(Token::Open),
            b'}' => found(Token::Close),
            b':' => found(Token::Colon),
            b'\n' => {
                self.line = line.saturating_add(1);
                found(Token::NewLine)
            }
            b'a'..=b'z' | b'A'..=b'Z' => {
                found(Token::Word(self.run(at, |byte| byte.is_ascii_alphanumeric() || byte == b'_')))
            }
            b'0'..=b'9' => found(Token::Number(self.run(at, |byte| byte.is_ascii_digit()))),
            b'-' if self.text.get(self.at) == Some(&b'1')
                && !self.text.get(self.at + 1).is_some_and(u8::is_ascii_digit) =>
            {
                self.at += 1;
                found(Token::MinusOne)
            }
            _ => Err(self.strange(at)),
        }
    }

    /// Goes past spaces and comments. A comment over several lines ends the line it begins in.
    fn skip_blanks(&mut self) -> Result<Option<Found<'text>>, Problem> {
        loop {
            match &self.text[self.at..] {
                [b' ' | b'\t', ..] => self.at += 1,
                [b'\r', b'\n', ..] => self.at += 1,
                [b'/', b'/', rest @ ..] => {
                    self.at += 2 + rest.iter().position(|&byte| byte == b'\n').unwrap_or(rest.len());
                }
                [b'/', b'*', ..] => {
                    let (at, line) = (self.at, self.line);
                    self.skip_comment()?;
                    if self.line > line {
                        return Ok(Some(Found { token: Token::NewLine, at, line }));
                    }
                }
                _ => return Ok(None),
            }
        }
    }

    fn skip_comment(&mut self) -> Result<(), Problem> {
        let inside = &self.text[self.at + 2..];
        let Some(length) = inside.windows(2).position(|pair| pair == b"*/") else {
            return Err(Problem::new(self.at, "the comment that begins here with `/*` has no `*/`".to_owned()));
        };
        let lines = inside[..length].iter().filter(|&&byte| byte == b'\n').count();
        self.line = self.line.saturating_add(u32::try_from(lines).unwrap_or(u32::MAX));
        self.at += 2 + length + 2;
        Ok(())
    }

    /// The text from `start` as far as `belongs` holds.
    fn run(&mut self, start: usize, belongs: impl Fn(u8) -> bool) -> &'text str {
        let rest = &self.text[start..];
        let length = rest.iter().position(|&byte| !belongs(byte)).unwrap_or(rest.len());
        self.at = start + length;
        // Only ASCII belongs to a run.
        std::str::from_utf8(&rest[..length]).unwrap_or_default()
    }

    /// The problem with a character that no token begins with.
    fn strange(&self, at: usize) -> Problem {
        let rest = &self.text[at..];
        if rest[0] == b'-' {
            let digits = rest[1..].iter().take(38).take_while(|byte| byte.is_ascii_digit()).count();
            let number = String::from_utf8_lossy(&rest[..=digits]);
            return Problem::new(at, format!("found `{number}`; the only negative number is -1, which stands for any"));
        }
        let character = String::from_utf8_lossy(&rest[..rest.len().min(4)]).chars().next().unwrap_or('?');
        Problem::new(at, format!("found the character {character:?}, which means nothing in GOAL"))
    }
}
