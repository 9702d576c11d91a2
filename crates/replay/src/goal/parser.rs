//! Parses tokens into a schedule, and checks everything that can be checked.

use std::collections::BTreeMap;
use std::io::Read;

use endpoint::Tag;
use quantities::{Bytes, Duration, Rank, nearest};

use super::cycle::find_cycle;
use super::error::{Problem, ReadError};
use super::labels::Labels;
use super::lexer::{Lexer, LocatedToken, Token, shortened};
use super::line::{self, Statement};
use super::schedule::{Builder, MOST_NANOSECONDS, MOST_OPERATIONS};
use super::{MOST_RANKS, Operation, OperationId, OperationKind, Requirement, Schedule};

type Result<T> = std::result::Result<T, Problem>;

/// Reads a GOAL text.
pub(super) fn parse(file: &str, text: impl Read) -> std::result::Result<Schedule, ReadError> {
    let mut parser = Parser::new(file, text);
    let read = parser.schedule();
    if let Some(cause) = parser.lexer.failure() {
        return Err(ReadError::Unreadable(cause));
    }
    match read {
        Ok(()) => Ok(parser.builder.finish(parser.size)),
        Err(problem) => Err(ReadError::Wrong(problem.in_file(file))),
    }
}

struct Parser<R> {
    lexer: Lexer<R>,
    /// The next token.
    next: LocatedToken,
    /// How many ranks there are.
    size: u32,
    builder: Builder,
    /// The labels of the current rank.
    labels: Labels,
    /// The requirements of the current rank, in the order of the text.
    requirements: Vec<Placed>,
}

/// A requirement, and its position.
#[derive(Clone, Copy)]
struct Placed {
    requirement: Requirement,
    line: u32,
    column: u32,
}

impl<R: Read> Parser<R> {
    fn new(file: &str, text: R) -> Parser<R> {
        Parser {
            lexer: Lexer::new(text),
            next: LocatedToken::BEGINNING,
            size: 0,
            builder: Builder::new(file),
            labels: Labels::default(),
            requirements: Vec::new(),
        }
    }

    /// `num_ranks N`, then blocks.
    fn schedule(&mut self) -> Result<()> {
        self.take()?;
        self.skip_new_lines()?;
        self.word("num_ranks")?;
        self.size = self.number("a number of ranks", 1, u64::from(MOST_RANKS))? as u32;
        let mut lines: BTreeMap<Rank, u32> = BTreeMap::new();
        loop {
            self.skip_new_lines()?;
            let start = self.next;
            if start.token == Token::End {
                return Ok(());
            }
            if self.is_word("num_ranks") {
                return Err(
                    self.problem(start, "found a second `num_ranks`; allowed is one, at the beginning".to_owned())
                );
            }
            self.word("rank")?;
            let at = self.next;
            let rank = self.rank("a rank")?;
            if let Some(line) = lines.insert(rank, start.line) {
                return Err(self.problem(at, format!("rank {rank} has a block already, in line {line}")));
            }
            self.expect(Token::Open, "`{`")?;
            self.block(rank)?;
        }
    }

    /// Takes the next token.
    #[inline]
    fn take(&mut self) -> Result<LocatedToken> {
        let after = self.lexer.next()?;
        Ok(std::mem::replace(&mut self.next, after))
    }

    fn skip_new_lines(&mut self) -> Result<()> {
        while self.next.token == Token::NewLine {
            self.take()?;
        }
        Ok(())
    }

    /// Whether the next token is that word.
    #[inline]
    fn is_word(&self, word: &str) -> bool {
        self.next.token == Token::Word && self.lexer.bytes(self.next) == word.as_bytes()
    }

    /// The problem with a token of the current line.
    fn problem(&self, found: LocatedToken, text: String) -> Problem {
        Problem::new(found.line, self.lexer.column(found.at), text)
    }

    /// The problem when the next token is not one of `allowed`.
    fn unexpected(&self, allowed: &str) -> Problem {
        self.problem(self.next, format!("found {}, where {allowed} is allowed", self.lexer.quoted(self.next)))
    }

    /// The same, with a hint if the next word is a misspelling of one of `meant`.
    fn unexpected_word<'a>(&self, allowed: &str, meant: impl IntoIterator<Item = &'a str>) -> Problem {
        let found = String::from_utf8_lossy(self.lexer.bytes(self.next));
        let hint = nearest(&found, meant).map(|meant| format!("did you mean `{meant}`?"));
        self.unexpected(allowed).with_hint(hint)
    }

    fn expect(&mut self, token: Token, quoted: &str) -> Result<()> {
        if self.next.token != token {
            return Err(self.unexpected(quoted));
        }
        self.take().map(drop)
    }

    fn word(&mut self, word: &'static str) -> Result<()> {
        if self.is_word(word) {
            return self.take().map(drop);
        }
        let allowed = format!("`{word}`");
        Err(if self.next.token == Token::Word {
            self.unexpected_word(&allowed, [word])
        } else {
            self.unexpected(&allowed)
        })
    }

    /// A number from `least` to `most`; `what` names it with its article.
    fn number(&mut self, what: &str, least: u64, most: u64) -> Result<u64> {
        let Token::Number(value) = self.next.token else { return Err(self.unexpected(what)) };
        let Some(value) = value.filter(|value| (least..=most).contains(value)) else {
            let found = self.lexer.shortened(self.next);
            return Err(self.problem(self.next, format!("found {found} for {what}; {least} to {most} is allowed")));
        };
        self.take()?;
        Ok(value)
    }

    /// The number of a rank that exists.
    fn rank(&mut self, what: &str) -> Result<Rank> {
        let Token::Number(value) = self.next.token else { return Err(self.unexpected(what)) };
        let Some(rank) = value.filter(|&rank| rank < u64::from(self.size)) else {
            let (found, last) = (self.lexer.shortened(self.next), self.size - 1);
            return Err(self.problem(self.next, format!("rank {found} does not exist; 0 to {last} is allowed")));
        };
        self.take()?;
        Ok(Rank(rank as u32))
    }

    /// `NAME NUMBER`, if the next word is `name`.
    fn option(&mut self, name: &'static str, what: &str, most: u64) -> Result<Option<u64>> {
        if !self.is_word(name) {
            return Ok(None);
        }
        self.take()?;
        self.number(what, 0, most).map(Some)
    }

    /// `calc 500 cpu 0`, `send 64b to 1 tag 7 cpu 0 nic 0`, `recv 64b from 0 tag 7`, from the second word.
    fn operation(&mut self, verb: Verb, line: u32) -> Result<Operation> {
        let (kind, options): (_, &[&str]) = match verb {
            Verb::Calculate => {
                let nanoseconds = self.number("a number of nanoseconds", 0, MOST_NANOSECONDS)?;
                (OperationKind::Calculate(Duration::from_nanoseconds(nanoseconds)), &["cpu"])
            }
            Verb::Send => {
                let size = self.size_in_bytes()?;
                self.word("to")?;
                let to = self.rank("the rank that it is sent to")?;
                (OperationKind::Send { to, size, tag: self.tag()?.unwrap_or(0) }, &["tag", "cpu", "nic"])
            }
            Verb::Receive => {
                let size = self.size_in_bytes()?;
                self.word("from")?;
                let from = match self.any()? {
                    true => None,
                    false => Some(self.rank("the rank that it comes from (or -1 for anyone)")?),
                };
                (OperationKind::Receive { from, size, tag: self.tag_or_any()? }, &["tag", "cpu", "nic"])
            }
        };
        let processor = self.option("cpu", "the number of a processor", u64::from(u8::MAX))?.unwrap_or(0) as u8;
        let interface = match verb {
            Verb::Calculate => 0,
            Verb::Send | Verb::Receive => {
                self.option("nic", "the number of a network interface", u64::from(u8::MAX))?.unwrap_or(0) as u8
            }
        };
        self.end_of_item(options)?;
        Ok(Operation { kind, processor, interface, line })
    }

    /// `64b`
    fn size_in_bytes(&mut self) -> Result<Bytes> {
        let size = self.number("a size in bytes", 0, u64::MAX)?;
        if !self.is_word("b") {
            return Err(self.unexpected("`b` (for bytes)"));
        }
        self.take()?;
        Ok(Bytes(size))
    }

    fn tag(&mut self) -> Result<Option<u32>> {
        // The highest number is reserved: other readers of the format take it for any tag.
        let tag = self.option("tag", "the tag of a message", u64::from(Tag::LARGEST.0))?;
        Ok(tag.map(|tag| tag as u32))
    }

    /// The tag that a receive asks for: 0 if it names none, any if it is -1.
    fn tag_or_any(&mut self) -> Result<Option<u32>> {
        if !self.is_word("tag") {
            return Ok(Some(0));
        }
        self.take()?;
        if self.any()? {
            return Ok(None);
        }
        let tag = self.number("a tag (or -1 for any)", 0, u64::from(Tag::LARGEST.0))?;
        Ok(Some(tag as u32))
    }

    /// Takes a -1, if there is one.
    fn any(&mut self) -> Result<bool> {
        let any = self.next.token == Token::MinusOne;
        if any {
            self.take()?;
        }
        Ok(any)
    }

    /// Checks that nothing more is on the line; `options` are those that could have been there.
    #[inline]
    fn end_of_item(&mut self, options: &[&str]) -> Result<()> {
        match self.next.token {
            Token::NewLine | Token::Close => Ok(()),
            _ => Err(self.more_than_an_item(options)),
        }
    }

    fn more_than_an_item(&self, options: &[&str]) -> Problem {
        match self.next.token {
            Token::Word if options.iter().any(|option| self.is_word(option)) => {
                let (found, order) = (self.lexer.quoted(self.next), options.join(", "));
                let text = format!("found {found} out of order; the order is {order}, each at most once");
                self.problem(self.next, text)
            }
            Token::Word => self.unexpected_word("the end of the line", options.iter().copied()),
            Token::End => self.unexpected("`}` (the end of the block)"),
            _ => self.unexpected("the end of the line"),
        }
    }

    /// Items up to `}`.
    fn block(&mut self, rank: Rank) -> Result<()> {
        self.labels.clear();
        self.requirements.clear();
        loop {
            self.skip_new_lines()?;
            match self.next.token {
                Token::Close => {
                    self.take()?;
                    self.refuse_cycles()?;
                    self.builder.end_rank(rank, self.requirements.iter().map(|placed| placed.requirement));
                    return Ok(());
                }
                Token::Word => {
                    if !self.common_lines()? {
                        let start = self.take()?;
                        self.item(start)?;
                    }
                }
                Token::End => {
                    let problem = self.unexpected("an item or `}` (the end of the block)");
                    return Err(problem
                        .with_hint(Some(format!("the block of rank {rank} is not closed; is the file cut off?"))));
                }
                _ => return Err(self.unexpected("an item (`calc`, `send`, `recv` or a label) or `}`")),
            }
        }
    }

    /// Takes all usual lines, without errors, from the next token onwards; returns whether there are any.
    fn common_lines(&mut self) -> Result<bool> {
        let Parser { lexer, next, size, builder, labels, requirements } = self;
        let text = lexer.text_from(*next);
        let (mut at, mut lines) = (0, 0);
        loop {
            let indent = text[at..].iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
            let Some((line, length)) = line::read(&text[at + indent..]) else { break };
            let number = next.line.saturating_add(lines);
            let taken = match line {
                Statement::Operation { label, kind, processor, interface } => {
                    let id = OperationId(builder.len() as u32);
                    let fits = kind.partner().is_none_or(|Rank(partner)| partner < *size) && !builder.is_full();
                    let fits = fits && label.is_none_or(|label| labels.define(label, id).is_none());
                    if fits {
                        builder.push(&Operation { kind, processor, interface, line: number });
                    }
                    fits
                }
                Statement::Requirement { operation, on, only_started } => {
                    let ids = labels.find(operation).zip(labels.find(on));
                    requirements.extend(ids.map(|(operation, on)| {
                        let column = if lines == 0 { lexer.column(next.at) } else { 1 + indent as u32 };
                        let requirement = Requirement { operation, on, only_started };
                        Placed { requirement, line: number, column }
                    }));
                    ids.is_some()
                }
            };
            if !taken {
                break;
            }
            (at, lines) = (at + indent + length, lines.saturating_add(1));
        }
        if lines > 0 {
            let next = *next;
            self.lexer.skip_lines(next, at, lines);
            self.take()?;
        }
        Ok(lines > 0)
    }

    /// An item whose first word is `start`.
    fn item(&mut self, start: LocatedToken) -> Result<()> {
        let verb = Verb::named(self.lexer.bytes(start));
        match (verb, self.next.token) {
            (_, Token::Colon) => {
                self.take()?;
                self.define(start)?;
                let verb = self.verb()?;
                self.push(verb, start)
            }
            (Some(verb), _) => self.push(verb, start),
            (None, Token::Word) if self.is_word("requires") => self.requirement(false, start),
            (None, Token::Word) if self.is_word("irequires") => self.requirement(true, start),
            (None, Token::Number(_)) if self.lexer.bytes(start) == b"rank" => {
                let problem = self.problem(start, "found `rank` inside the block of another rank".to_owned());
                Err(problem.with_hint(Some("is the `}` missing that closes it?".to_owned())))
            }
            (None, next) => {
                let mistyped = if next == Token::Word { self.next } else { start };
                let known = Verb::NAMES.into_iter().chain(["requires", "irequires"]);
                let known = known.take(if next == Token::Word { 5 } else { 3 });
                let hint = nearest(&String::from_utf8_lossy(self.lexer.bytes(mistyped)), known)
                    .map(|meant| format!("did you mean `{meant}`?"));
                Err(self.unexpected("`:`, `requires` or `irequires` after a label").with_hint(hint))
            }
        }
    }

    fn define(&mut self, start: LocatedToken) -> Result<()> {
        let id = OperationId(self.builder.len() as u32);
        let Some(earlier) = self.labels.define(self.lexer.bytes(start), id) else { return Ok(()) };
        let (label, line) = (self.lexer.shortened(start), self.builder.line(earlier));
        Err(self.problem(start, format!("the label `{label}` is taken already, in line {line}")))
    }

    fn verb(&mut self) -> Result<Verb> {
        let allowed = "`calc`, `send` or `recv`";
        if self.next.token != Token::Word {
            return Err(self.unexpected(allowed));
        }
        let Some(verb) = Verb::named(self.lexer.bytes(self.next)) else {
            return Err(self.unexpected_word(allowed, Verb::NAMES));
        };
        self.take()?;
        Ok(verb)
    }

    fn push(&mut self, verb: Verb, start: LocatedToken) -> Result<()> {
        let operation = self.operation(verb, start.line)?;
        if self.builder.is_full() {
            return Err(self.problem(start, format!("a schedule has at most {MOST_OPERATIONS} operations")));
        }
        self.builder.push(&operation);
        Ok(())
    }

    /// `l2 requires l1`, from the second word.
    fn requirement(&mut self, only_started: bool, start: LocatedToken) -> Result<()> {
        self.take()?;
        let operation = self.labelled(start)?;
        if self.next.token != Token::Word {
            return Err(self.unexpected("the label that is required"));
        }
        let on = self.labelled(self.next)?;
        self.take()?;
        self.end_of_item(&[])?;
        let requirement = Requirement { operation, on, only_started };
        self.requirements.push(Placed { requirement, line: start.line, column: self.lexer.column(start.at) });
        Ok(())
    }

    fn labelled(&self, found: LocatedToken) -> Result<OperationId> {
        let label = self.lexer.bytes(found);
        self.labels.find(label).ok_or_else(|| {
            let known: Vec<String> = self.labels.all().map(|(label, _)| label).collect();
            let meant = nearest(&String::from_utf8_lossy(label), known.iter().map(String::as_str));
            let hint = meant.map_or_else(
                || "a label is defined before it is used, in the same rank's block".to_owned(),
                |meant| format!("did you mean `{meant}`?"),
            );
            let text = format!("the label `{}` is not defined", self.lexer.shortened(found));
            self.problem(found, text).with_hint(Some(hint))
        })
    }

    /// Refuses operations that wait for each other.
    fn refuse_cycles(&self) -> Result<()> {
        let requirements = self.requirements.iter().map(|placed| placed.requirement);
        let Some(cycle) = find_cycle(self.builder.len(), requirements) else { return Ok(()) };
        let named: BTreeMap<OperationId, String> = self.labels.all().map(|(label, id)| (id, label)).collect();
        let name = |id: OperationId| shortened(named.get(&id).map(String::as_str).unwrap_or_default());
        let described = |&index: &usize| {
            let Placed { requirement: Requirement { operation, on, .. }, line, .. } = self.requirements[index];
            format!("`{}` requires `{}` (line {line})", name(operation), name(on))
        };
        let steps: Vec<String> = cycle.iter().take(8).map(described).collect();
        let more = if cycle.len() > steps.len() { ", and so on" } else { "" };
        let Placed { line, column, .. } = self.requirements[cycle[0]];
        let text = format!("these operations wait for each other: {}{more}", steps.join(", "));
        Err(Problem::new(line, column, text))
    }
}

#[derive(Clone, Copy)]
enum Verb {
    Calculate,
    Send,
    Receive,
}

impl Verb {
    const NAMES: [&'static str; 3] = ["calc", "send", "recv"];

    #[inline]
    fn named(word: &[u8]) -> Option<Verb> {
        match word {
            b"calc" => Some(Verb::Calculate),
            b"send" => Some(Verb::Send),
            b"recv" => Some(Verb::Receive),
            _ => None,
        }
    }
}
