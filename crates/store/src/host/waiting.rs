//! What a client waits for, and what becomes of the answers.

use std::collections::BTreeMap;

use programs::linear_hash::ScanKind;

use super::watching::begins_to_watch;
use super::{Host, dispatch_on, is_order, time};
use crate::bucket::Bucket;
use crate::commands::{Command, Wanted, matches};
use crate::connection::Session;
use crate::contents::{Operation, Outcome};
use crate::member::{Answer, Ticket};
use crate::resp::{Arguments, OwnedArguments, Reply};
use crate::slot::SLOT_BITS;

/// How many servers without keys RANDOMKEY asks at most.
const MOST_DRAWS: u32 = 64;

/// How the replies to the parts of a request are combined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gather {
    /// Listed one after another.
    List,
    /// Added up.
    Sum,
    /// OK if all succeeded.
    Ok,
}

/// What a client waits for.
#[derive(Debug)]
pub enum Waiting {
    /// The reply of another server.
    Reply(Ticket),
    /// The stamps of keys that it watches.
    Watch(Ticket, OwnedArguments),
    /// The replies of several servers.
    Parts {
        /// How they are combined.
        gather: Gather,
        /// The part that each ticket is for.
        tickets: BTreeMap<Ticket, usize>,
        /// The replies so far.
        replies: Vec<Outcome>,
    },
    /// All keys that match.
    Keys(Ticket, Vec<u8>, Vec<Vec<u8>>),
    /// Some keys, and the cursor to go on from.
    Scan(Ticket, Option<Vec<u8>>, bool),
    /// A random key, and how many servers were asked in vain.
    Random(Ticket, u32),
    /// The number of keys.
    Size(Ticket),
    /// The levels of all servers, before a request about slots is carried out.
    Map(Ticket, OwnedArguments),
    /// A snapshot of the data on disk.
    Snapshot,
    /// All servers to be cleared: each server asked, and the level that it is assumed to have.
    Clear(BTreeMap<Ticket, (u64, u32)>),
}

impl Waiting {
    /// The tickets for which it waits.
    pub fn tickets(&self) -> Vec<Ticket> {
        match self {
            Waiting::Parts { tickets, .. } => tickets.keys().copied().collect(),
            Waiting::Clear(tickets) => tickets.keys().copied().collect(),
            waiting => waiting.only_ticket().into_iter().collect(),
        }
    }

    /// Whether it waits for this ticket.
    pub fn has(&self, ticket: Ticket) -> bool {
        match self {
            Waiting::Parts { tickets, .. } => tickets.contains_key(&ticket),
            Waiting::Clear(tickets) => tickets.contains_key(&ticket),
            waiting => waiting.only_ticket() == Some(ticket),
        }
    }

    const fn only_ticket(&self) -> Option<Ticket> {
        match self {
            Waiting::Reply(ticket)
            | Waiting::Keys(ticket, ..)
            | Waiting::Scan(ticket, ..)
            | Waiting::Random(ticket, _)
            | Waiting::Map(ticket, _)
            | Waiting::Watch(ticket, _)
            | Waiting::Size(ticket) => Some(*ticket),
            Waiting::Snapshot | Waiting::Parts { .. } | Waiting::Clear(_) => None,
        }
    }
}

impl Host {
    pub(super) fn of_whole_table(
        &mut self,
        command: &Command,
        session: &mut Session,
        reply: &mut Reply,
        arguments: Arguments<'_>,
    ) -> Option<Waiting> {
        let now = time(&self.node.borrow());
        match command.name {
            "dbsize" => Some(Waiting::Size(self.member.scan(now, ScanKind::Count, &mut self.outputs))),
            "keys" => {
                let ticket = self.member.scan(now, ScanKind::Entries, &mut self.outputs);
                Some(Waiting::Keys(ticket, arguments.get(1).to_vec(), Vec::new()))
            }
            "scan" => match Wanted::read(arguments) {
                Ok(wanted) => {
                    let ticket = self.member.read(now, wanted.cursor, &mut self.outputs);
                    Some(Waiting::Scan(ticket, wanted.pattern.map(<[u8]>::to_vec), wanted.strings))
                }
                Err(failure) => {
                    reply.error(&failure.to_string());
                    None
                }
            },
            "randomkey" => {
                let drawn = self.node.borrow_mut().draw();
                Some(Waiting::Random(self.member.read(now, drawn, &mut self.outputs), 0))
            }
            _ => {
                let end = reply.end();
                // Any bucket finds errors in the arguments.
                dispatch_on(&mut self.spare, &self.node, session, reply, None, arguments);
                if reply.unsent_from(end).starts_with(b"-") {
                    return None;
                }
                reply.take_back(end);
                Some(Waiting::Clear(BTreeMap::new()))
            }
        }
        .map(|waiting| self.begun(waiting))
    }

    /// Asks the first server, if all are to be cleared.
    fn begun(&mut self, waiting: Waiting) -> Waiting {
        match waiting {
            Waiting::Clear(_) => Waiting::Clear(BTreeMap::from([(self.ask(0, Operation::Clear), (0, 0))])),
            waiting => waiting,
        }
    }

    /// Gives up all requests for which a client waits.
    pub fn give_up(&mut self, waiting: &Waiting) {
        waiting.tickets().into_iter().for_each(|ticket| self.member.give_up(ticket));
    }

    /// Takes an answer for which a client waits: replies, or returns what it still waits for.
    pub fn answered(
        &mut self,
        waiting: Waiting,
        ticket: Ticket,
        answer: Answer<Bucket>,
        session: &mut Session,
        reply: &mut Reply,
    ) -> Option<Waiting> {
        match (waiting, answer) {
            (Waiting::Reply(_), Answer::Outcome(outcome)) => reply.replied(&outcome),
            (Waiting::Watch(_, keys), Answer::Outcome(outcome)) => begins_to_watch(session, &keys, &outcome, reply),
            (Waiting::Parts { gather, mut tickets, mut replies }, Answer::Outcome(outcome)) => {
                if let Some(part) = tickets.remove(&ticket) {
                    replies[part] = outcome;
                }
                if !tickets.is_empty() {
                    return Some(Waiting::Parts { gather, tickets, replies });
                }
                put_together(gather, &replies, reply);
            }
            (Waiting::Keys(ticket, pattern, mut keys), Answer::Found(found)) => {
                keys.extend(found.into_iter().filter(|key| matches(&pattern, key)));
                return Some(Waiting::Keys(ticket, pattern, keys));
            }
            (Waiting::Keys(_, _, keys), _) => {
                reply.array(keys.len());
                keys.iter().for_each(|key| reply.bulk(key));
            }
            (Waiting::Scan(_, pattern, strings), Answer::Read(keys, next)) => {
                let is_wanted = |key: &&Vec<u8>| strings && pattern.as_ref().is_none_or(|it| matches(it, key));
                let keys: Vec<&Vec<u8>> = keys.iter().filter(is_wanted).collect();
                reply.array(2);
                reply.bulk(next.unwrap_or(0).to_string().as_bytes());
                reply.array(keys.len());
                keys.iter().for_each(|key| reply.bulk(key));
            }
            (Waiting::Random(_, draws), Answer::Read(keys, next)) => {
                let drawn = self.node.borrow_mut().draw() as usize;
                match keys.get(drawn % keys.len().max(1)) {
                    Some(key) => reply.bulk(key),
                    None if draws < MOST_DRAWS => {
                        let now = time(&self.node.borrow());
                        let ticket = self.member.read(now, next.unwrap_or(0), &mut self.outputs);
                        return Some(Waiting::Random(ticket, draws + 1));
                    }
                    None => reply.null(),
                }
            }
            (Waiting::Size(_), Answer::Count(count)) => reply.count(count),
            (Waiting::Map(_, request), Answer::Count(records)) => {
                self.mapped = self.node.borrow().now;
                self.draw_map();
                if is_order(request.borrowed()) {
                    self.carry_out_order(request.borrowed(), records, reply);
                } else {
                    self.carry_out_without_keys(session, reply, request.borrowed());
                }
            }
            (Waiting::Clear(tickets), Answer::Outcome(level)) => {
                return self.cleared(tickets, ticket, level.start(), reply);
            }
            (waiting, _) => return Some(waiting),
        }
        None
    }

    /// A server was cleared. If its level is higher than was assumed, the servers that have split off from it are cleared, too.
    fn cleared(
        &mut self,
        mut tickets: BTreeMap<Ticket, (u64, u32)>,
        ticket: Ticket,
        level: &[u8],
        reply: &mut Reply,
    ) -> Option<Waiting> {
        let level = std::str::from_utf8(level).ok().and_then(|level| level.parse().ok());
        let level = level.filter(|level| *level <= SLOT_BITS).unwrap_or(0);
        if let Some((server, taken)) = tickets.remove(&ticket) {
            for below in taken..level {
                let other = server | 1 << below;
                tickets.insert(self.ask(other, Operation::Clear), (other, below + 1));
            }
        }
        if tickets.is_empty() {
            reply.ok();
            return None;
        }
        Some(Waiting::Clear(tickets))
    }
}

fn put_together(gather: Gather, replies: &[Outcome], reply: &mut Reply) {
    if let Some(error) = replies.iter().find(|one| one.start().starts_with(b"-")) {
        return reply.replied(error);
    }
    match gather {
        Gather::Ok => reply.ok(),
        Gather::List => {
            reply.array(replies.len());
            replies.iter().for_each(|one| reply.replied(one));
        }
        Gather::Sum => {
            let number = |one: &Outcome| {
                std::str::from_utf8(one.start()).ok()?.strip_prefix(':')?.trim_end().parse::<i64>().ok()
            };
            reply.integer(replies.iter().filter_map(number).sum());
        }
    }
}
