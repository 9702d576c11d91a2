//! The commands that a client sends together, and how their replies become answers.

use super::Error;
use crate::commands::{Command, Flag, Gather, Invocation, find};
use crate::host::parts;
use crate::resp::{OwnedArguments, Value, number::Written};
use crate::slot::slot_of;

/// Commands of Redis that the store does not have, and that are about one connection as well.
const OF_A_CONNECTION: [&str; 4] = ["monitor", "psubscribe", "ssubscribe", "subscribe"];

/// Encodes a request.
pub(super) fn encode<'a>(arguments: impl ExactSizeIterator<Item = &'a [u8]>, bytes: &mut Vec<u8>) {
    let header = |bytes: &mut Vec<u8>, kind: u8, number: usize| {
        bytes.push(kind);
        bytes.extend_from_slice(Written::of(number as i64).as_bytes());
        bytes.extend_from_slice(b"\r\n");
    };
    header(bytes, b'*', arguments.len());
    for argument in arguments {
        header(bytes, b'$', argument.len());
        bytes.extend_from_slice(argument);
        bytes.extend_from_slice(b"\r\n");
    }
}

/// A request to one member.
#[derive(Debug)]
pub(super) struct MemberRequest {
    /// Where its bytes lie in those of the batch.
    start: usize,
    end: usize,
    /// The slot of its keys; none, if it has no keys and any member will do.
    pub(super) slot: Option<u16>,
    /// Whether it changes nothing, and may be executed twice.
    pub(super) is_read: bool,
    /// How many requests the client had sent before it, when it was sent last.
    pub(super) sent_after: u64,
    /// How often it was redirected by MOVED.
    pub(super) redirections: u32,
    /// How often it had to wait before it was sent again.
    pub(super) delays: u32,
    answer: Option<Result<Value, Error>>,
}

/// A command as it was asked for.
#[derive(Debug)]
enum Question {
    /// It is refused without being sent.
    Refused(Error),
    /// It is one request.
    One,
    /// It is this many requests, whose replies are put together.
    Parts(Gather, usize),
}

/// Requests that are under way together.
#[derive(Debug, Default)]
pub(super) struct Batch {
    bytes: Vec<u8>,
    requests: Vec<MemberRequest>,
    questions: Vec<Question>,
    answered: usize,
}

impl Batch {
    /// Adds a command.
    pub(super) fn ask(&mut self, arguments: &[&[u8]]) {
        let question = self.add(arguments).unwrap_or_else(Question::Refused);
        self.questions.push(question);
    }

    fn add(&mut self, arguments: &[&[u8]]) -> Result<Question, Error> {
        let Some(&name) = arguments.first() else { return Err(Error::Empty) };
        let command = find(name);
        let of_table = command.filter(|command| command.has(Flag::OneConnection)).map(|command| command.name);
        let of_redis = OF_A_CONNECTION.into_iter().find(|known| known.as_bytes().eq_ignore_ascii_case(name));
        if let Some(command) = of_table.or(of_redis) {
            return Err(Error::OfOneConnection(command.to_owned()));
        }
        // A command that the client does not know may be known to members; it goes to any of them.
        let Some(command) = command else {
            self.push(arguments.iter().copied(), None, false);
            return Ok(Question::One);
        };
        let command = arguments.get(1).and_then(|name| command.subcommand(name)).unwrap_or(command);
        let mut slots = command.keys.places(arguments.len()).map(|place| slot_of(arguments[place]));
        let slot = slots.next();
        if slot.is_some_and(|first| slots.any(|other| other != first))
            && let owned = arguments.iter().copied().collect::<OwnedArguments>()
            && let Some((gather, parts)) = parts(Invocation { command: Some(command), arguments: owned.borrowed() })
        {
            return Ok(self.add_parts(gather, command, &parts));
        }
        self.push(arguments.iter().copied(), slot, command.has(Flag::ReadOnly));
        Ok(Question::One)
    }

    fn add_parts(&mut self, gather: Gather, command: &Command, parts: &[(u64, OwnedArguments)]) -> Question {
        for (_, part) in parts {
            let arguments = part.borrowed();
            self.push(arguments.from(0), Some(slot_of(arguments.get(1))), command.has(Flag::ReadOnly));
        }
        Question::Parts(gather, parts.len())
    }

    fn push<'a>(&mut self, arguments: impl ExactSizeIterator<Item = &'a [u8]>, slot: Option<u16>, is_read: bool) {
        let start = self.bytes.len();
        encode(arguments, &mut self.bytes);
        let end = self.bytes.len();
        self.requests.push(MemberRequest {
            start,
            end,
            slot,
            is_read,
            sent_after: 0,
            redirections: 0,
            delays: 0,
            answer: None,
        });
    }

    /// How many requests there are.
    pub(super) const fn len(&self) -> usize {
        self.requests.len()
    }

    /// Whether all have an answer.
    pub(super) const fn is_answered(&self) -> bool {
        self.answered == self.requests.len()
    }

    /// One of its requests.
    pub(super) fn request(&mut self, request: usize) -> &mut MemberRequest {
        &mut self.requests[request]
    }

    /// The bytes of one of its requests.
    pub(super) fn bytes(&self, request: usize) -> &[u8] {
        let MemberRequest { start, end, .. } = self.requests[request];
        &self.bytes[start..end]
    }

    /// A request has its answer.
    pub(super) fn answer(&mut self, request: usize, answer: Result<Value, Error>) {
        if self.requests[request].answer.replace(answer).is_none() {
            self.answered += 1;
        }
    }

    /// The requests without an answer.
    pub(super) fn unanswered(&self) -> Vec<usize> {
        let requests = self.requests.iter().enumerate();
        requests.filter(|(_, request)| request.answer.is_none()).map(|(number, _)| number).collect()
    }

    /// The answers to all commands, in their order.
    pub(super) fn answers(self) -> Vec<Result<Value, Error>> {
        let mut requests = self.requests.into_iter().map(|request| request.answer.unwrap_or(Err(Error::Empty)));
        let answers = self.questions.into_iter().map(|question| match question {
            Question::Refused(error) => Err(error),
            Question::One => requests.next().unwrap_or(Err(Error::Empty)),
            Question::Parts(gather, count) => put_together(gather, requests.by_ref().take(count).collect()),
        });
        answers.collect()
    }
}

fn put_together(gather: Gather, answers: Vec<Result<Value, Error>>) -> Result<Value, Error> {
    let values = answers.into_iter().collect::<Result<Vec<Value>, Error>>()?;
    Ok(match gather {
        Gather::List => Value::List(values),
        Gather::Sum => Value::Integer(values.iter().filter_map(Value::integer).sum()),
        Gather::Ok => Value::Text(b"OK".to_vec()),
    })
}
