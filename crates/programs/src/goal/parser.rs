//! From words to a schedule, with everything checked that can be.

use std::collections::BTreeMap;

use quantities::{Bytes, Duration, Rank, nearest};

use super::cycle::find_cycle;
use super::error::{GoalError, Problem};
use super::lexer::{Found, Lexer, Token, shortened};
use super::{Block, MOST_RANKS, Operation, OperationId, OperationKind, Requirement, Schedule};

type Result<T> = std::result::Result<T, Problem>;

/// Reads a GOAL text.
pub(super) fn parse(file: &str, text: &[u8]) -> std::result::Result<Schedule, GoalError> {
    match Parser::new(text).and_then(Parser::schedule) {
        Ok((size, blocks)) => Ok(Schedule { file: file.to_owned(), size, blocks }),
        Err(problem) => Err(problem.located(file, text)),
    }
}

struct Parser<'text> {
    lexer: Lexer<'text>,
    /// The token that comes next.
    next: Found<'text>,
    /// How many ranks there are.
    size: u32,
}

impl<'text> Parser<'text> {
    fn new(text: &'text [u8]) -> Result<Parser<'text>> {
        let mut lexer = Lexer::new(text);
        let next = lexer.next()?;
        Ok(Parser { lexer, next, size: 0 })
    }

    /// `num_ranks N`, then blocks.
    fn schedule(mut self) -> Result<(u32, BTreeMap<Rank, Block>)> {
        self.skip_new_lines()?;
        self.word("num_ranks")?;
        let most = u64::from(MOST_RANKS);
        self.size = self.number("a number of ranks", 1, most)? as u32;
        let mut blocks: BTreeMap<Rank, (u32, Block)> = BTreeMap::new();
        loop {
            self.skip_new_lines()?;
            let start = self.next;
            if start.token == Token::End {
                return Ok((self.size, blocks.into_iter().map(|(rank, (_, block))| (rank, block)).collect()));
            }
            if start.token == Token::Word("num_ranks") {
                return Err(Problem::new(
                    start.at,
                    "found a second `num_ranks`; it is told once, at the beginning".to_owned(),
                ));
            }
            self.word("rank")?;
            let at = self.next.at;
            let rank = self.rank("a rank")?;
            if let Some((line, _)) = blocks.get(&rank) {
                return Err(Problem::new(at, format!("rank {rank} has a block already, in line {line}")));
            }
            self.expect(Token::Open)?;
            let block = BlockParser::default().block(&mut self, rank)?;
            blocks.insert(rank, (start.line, block));
        }
    }

    /// Takes the next token.
    fn take(&mut self) -> Result<Found<'text>> {
        let after = self.lexer.next()?;
        Ok(std::mem::replace(&mut self.next, after))
    }

    fn skip_new_lines(&mut self) -> Result<()> {
        while self.next.token == Token::NewLine {
            self.take()?;
        }
        Ok(())
    }

    /// The problem that the next token is not one of `allowed`.
    fn unexpected(&self, allowed: &str) -> Problem {
        Problem::new(self.next.at, format!("found {}, where {allowed} is allowed", self.next.token))
    }

    fn expect(&mut self, token: Token<'static>) -> Result<()> {
        if self.next.token != token {
            return Err(self.unexpected(&token.to_string()));
        }
        self.take()?;
        Ok(())
    }

    fn word(&mut self, word: &'static str) -> Result<()> {
        match self.next.token {
            Token::Word(found) if found == word => {
                self.take()?;
                Ok(())
            }
            Token::Word(found) => {
                let hint = nearest(found, [word]).map(|meant| format!("did you mean `{meant}`?"));
                Err(self.unexpected(&format!("`{word}`")).with_hint(hint))
            }
            _ => Err(self.unexpected(&format!("`{word}`"))),
        }
    }

    /// A number from `least` to `most`; `what` names it with its article.
    fn number(&mut self, what: &str, least: u64, most: u64) -> Result<u64> {
        let Token::Number(digits) = self.next.token else { return Err(self.unexpected(what)) };
        let value = digits.parse::<u64>().ok().filter(|value| (least..=most).contains(value));
        let Some(value) = value else {
            let found = shortened(digits);
            return Err(Problem::new(self.next.at, format!("found {found} for {what}; {least} to {most} is allowed")));
        };
        self.take()?;
        Ok(value)
    }

    /// The number of a rank that exists.
    fn rank(&mut self, what: &str) -> Result<Rank> {
        let Token::Number(digits) = self.next.token else { return Err(self.unexpected(what)) };
        let rank = digits.parse::<u32>().ok().filter(|&rank| rank < self.size);
        let Some(rank) = rank else {
            let (found, last) = (shortened(digits), self.size - 1);
            return Err(Problem::new(self.next.at, format!("rank {found} does not exist; 0 to {last} is allowed")));
        };
        self.take()?;
        Ok(Rank(rank))
    }

    /// `NAME NUMBER`, if the next word is `name`.
    fn option(&mut self, name: &'static str, what: &str, most: u64) -> Result<Option<u64>> {
        if self.next.token != Token::Word(name) {
            return Ok(None);
        }
        self.take()?;
        self.number(what, 0, most).map(Some)
    }

    /// `calc 500 cpu 0`, `send 64b to 1 tag 7 cpu 0 nic 0`, `recv 64b from 0 tag 7`, from the second word on.
    fn operation(&mut self, verb: Verb, line: u32) -> Result<Operation> {
        let (kind, options): (_, &[&str]) = match verb {
            Verb::Calculate => {
                let nanoseconds = self.number("a number of nanoseconds", 0, u64::MAX / 1000)?;
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
        if !matches!(self.next.token, Token::Word("b")) {
            return Err(self.unexpected("`b` (for bytes)"));
        }
        self.take()?;
        Ok(Bytes(size))
    }

    fn tag(&mut self) -> Result<Option<u32>> {
        // The highest number is kept free: other readers of the format take it for any tag.
        let tag = self.option("tag", "the tag of a message", u64::from(u32::MAX - 1))?;
        Ok(tag.map(|tag| tag as u32))
    }

    /// The tag that a receive asks for: 0 when it names none, any when it is -1.
    fn tag_or_any(&mut self) -> Result<Option<u32>> {
        if self.next.token != Token::Word("tag") {
            return Ok(Some(0));
        }
        self.take()?;
        if self.any()? {
            return Ok(None);
        }
        let tag = self.number("a tag (or -1 for any)", 0, u64::from(u32::MAX - 1))?;
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

    /// Nothing more on the line; `options` is what might have been.
    fn end_of_item(&mut self, options: &[&str]) -> Result<()> {
        match self.next.token {
            Token::NewLine | Token::Close => Ok(()),
            Token::Word(found) if options.contains(&found) => {
                let order = options.join(", ");
                Err(Problem::new(
                    self.next.at,
                    format!("found `{found}` out of order; the order is {order}, each at most once"),
                ))
            }
            Token::Word(found) => {
                let hint = nearest(found, options.iter().copied()).map(|meant| format!("did you mean `{meant}`?"));
                Err(self.unexpected("the end of the line").with_hint(hint))
            }
            Token::End => Err(self.unexpected("`}` (the end of the block)")),
            _ => Err(self.unexpected("the end of the line")),
        }
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

    fn named(word: &str) -> Option<Verb> {
        match word {
            "calc" => Some(Verb::Calculate),
            "send" => Some(Verb::Send),
            "recv" => Some(Verb::Receive),
            _ => None,
        }
    }
}

/// A rank's block as it grows.
#[derive(Default)]
struct BlockParser<'text> {
    operations: Vec<Operation>,
    requirements: Vec<Requirement>,
    /// Where each requirement stands. [B]
    requirement_places: Vec<usize>,
    labels: BTreeMap<&'text str, OperationId>,
}

impl<'text> BlockParser<'text> {
    /// Items up to `}`.
    fn block(mut self, parser: &mut Parser<'text>, rank: Rank) -> Result<Block> {
        loop {
            parser.skip_new_lines()?;
            let start = parser.next;
            match start.token {
                Token::Close => {
                    parser.take()?;
                    self.refuse_circles()?;
                    return Ok(Block::new(self.operations, self.requirements));
                }
                Token::Word(word) => {
                    parser.take()?;
                    self.item(parser, word, start)?;
                }
                Token::End => {
                    let problem = parser.unexpected("an item or `}` (the end of the block)");
                    return Err(problem
                        .with_hint(Some(format!("the block of rank {rank} is not closed; is the file cut off?"))));
                }
                _ => return Err(parser.unexpected("an item (`calc`, `send`, `recv` or a label) or `}`")),
            }
        }
    }

    /// An item, of which `word` is the first.
    fn item(&mut self, parser: &mut Parser<'text>, word: &'text str, start: Found<'text>) -> Result<()> {
        match (Verb::named(word), parser.next.token) {
            (_, Token::Colon) => {
                parser.take()?;
                self.define(word, start)?;
                let verb = self.verb(parser)?;
                self.push(parser.operation(verb, start.line)?, start)
            }
            (Some(verb), _) => self.push(parser.operation(verb, start.line)?, start),
            (None, Token::Word(requires @ ("requires" | "irequires"))) => {
                parser.take()?;
                self.requirement(parser, word, requires == "irequires", start)
            }
            (None, Token::Number(_)) if word == "rank" => {
                let problem = Problem::new(start.at, "found `rank` inside the block of another rank".to_owned());
                Err(problem.with_hint(Some("is the `}` missing that closes it?".to_owned())))
            }
            (None, _) => {
                let known = Verb::NAMES.into_iter().chain(["requires", "irequires"]);
                let mistyped = match parser.next.token {
                    Token::Word(next) => nearest(next, known),
                    _ => nearest(word, Verb::NAMES),
                };
                let hint = mistyped.map(|meant| format!("did you mean `{meant}`?"));
                Err(parser.unexpected("`:`, `requires` or `irequires` after a label").with_hint(hint))
            }
        }
    }

    fn define(&mut self, label: &'text str, start: Found<'text>) -> Result<()> {
        let id = OperationId(self.operations.len() as u32);
        if let Some(&OperationId(earlier)) = self.labels.get(label) {
            let line = self.operations[earlier as usize].line;
            let label = shortened(label);
            return Err(Problem::new(start.at, format!("the label `{label}` is taken already, in line {line}")));
        }
        self.labels.insert(label, id);
        Ok(())
    }

    fn verb(&mut self, parser: &mut Parser<'text>) -> Result<Verb> {
        let allowed = "`calc`, `send` or `recv`";
        let Token::Word(word) = parser.next.token else { return Err(parser.unexpected(allowed)) };
        let Some(verb) = Verb::named(word) else {
            let hint = nearest(word, Verb::NAMES).map(|meant| format!("did you mean `{meant}`?"));
            return Err(parser.unexpected(allowed).with_hint(hint));
        };
        parser.take()?;
        Ok(verb)
    }

    fn push(&mut self, operation: Operation, start: Found<'text>) -> Result<()> {
        if self.operations.len() >= u32::MAX as usize {
            return Err(Problem::new(start.at, format!("a rank has at most {} operations", u32::MAX)));
        }
        self.operations.push(operation);
        Ok(())
    }

    /// `l2 requires l1`, from the third word on.
    fn requirement(
        &mut self,
        parser: &mut Parser<'text>,
        label: &str,
        only_started: bool,
        start: Found<'text>,
    ) -> Result<()> {
        let operation = self.labelled(label, start.at)?;
        let Token::Word(other) = parser.next.token else { return Err(parser.unexpected("the label that is required")) };
        let on = self.labelled(other, parser.next.at)?;
        parser.take()?;
        parser.end_of_item(&[])?;
        if self.requirements.len() >= u32::MAX as usize {
            return Err(Problem::new(start.at, format!("a rank has at most {} requirements", u32::MAX)));
        }
        self.requirement_places.push(start.at);
        self.requirements.push(Requirement { operation, on, only_started, line: start.line });
        Ok(())
    }

    fn labelled(&self, label: &str, at: usize) -> Result<OperationId> {
        self.labels.get(label).copied().ok_or_else(|| {
            let meant = nearest(label, self.labels.keys().copied()).map(|meant| format!("did you mean `{meant}`?"));
            let hint =
                meant.or_else(|| Some("a label is defined before it is used, in the same rank's block".to_owned()));
            Problem::new(at, format!("the label `{}` is not defined", shortened(label))).with_hint(hint)
        })
    }

    /// The problem of operations that wait for each other, if there are any.
    fn refuse_circles(&self) -> Result<()> {
        let Some(cycle) = find_cycle(self.operations.len(), &self.requirements) else { return Ok(()) };
        let named: BTreeMap<OperationId, &str> = self.labels.iter().map(|(&label, &id)| (id, label)).collect();
        let name = |id: OperationId| shortened(named.get(&id).copied().unwrap_or_default());
        let described = |&index: &usize| {
            let Requirement { operation, on, line, .. } = self.requirements[index];
            format!("`{}` requires `{}` (line {line})", name(operation), name(on))
        };
        let steps: Vec<String> = cycle.iter().take(8).map(described).collect();
        let more = if cycle.len() > steps.len() { ", and so on" } else { "" };
        let at = self.requirement_places[cycle[0]];
        Err(Problem::new(at, format!("these operations wait for each other: {}{more}", steps.join(", "))))
    }
}
