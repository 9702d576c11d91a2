//! What a client waits for, and what becomes of the answers.

use std::collections::BTreeMap;

use programs::linear_hash::{ScanKind, Span, h};

use super::watching::begins_to_watch;
use super::{Host, dispatch_on, is_order, time};
use crate::bucket::Bucket;
use crate::commands::{Command, Wanted, cursor_at, matches};
use crate::connection::Session;
use crate::contents::{Operation, Outcome};
use crate::member::{Answer, Ticket, rest_from};
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
    Keys(Ticket, Matching),
    /// Some keys, and the cursor to go on from.
    Scan(Ticket, Scanned),
    /// A random key, and how many servers were asked in vain.
    Random(Ticket, u32),
    /// The number of keys.
    Size(Ticket),
    /// The levels of all servers, before a request about slots is carried out.
    Map(Ticket, OwnedArguments),
    /// The number of keys, and then of those that expire, before INFO is carried out.
    Keyspace(Ticket, Option<u64>, OwnedArguments),
    /// A snapshot of the data on disk.
    Snapshot,
    /// All servers to be cleared: each server asked, and the level that it is assumed to have.
    Clear(BTreeMap<Ticket, (u64, u32)>),
}

/// The keys that are collected for a client.
#[derive(Debug)]
pub struct Matching {
    /// The pattern that they have to match.
    pub(super) pattern: Option<Vec<u8>>,
    /// The most that are returned.
    pub(super) most: usize,
    /// Those so far.
    pub(super) found: Vec<Vec<u8>>,
}

impl Matching {
    fn add(&mut self, found: Vec<Vec<u8>>) {
        let matches = |key: &Vec<u8>| self.pattern.as_ref().is_none_or(|pattern| matches(pattern, key));
        self.found.extend(found.into_iter().filter(matches));
        self.found.truncate(self.most);
    }
}

/// A step of a SCAN.
#[derive(Debug)]
pub struct Scanned {
    /// What is left to scan of the bucket that its cursor is in, this step included.
    rest: Span,
    pattern: Option<Vec<u8>>,
    /// Whether keys of strings are wanted.
    strings: bool,
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
            | Waiting::Keyspace(ticket, ..)
            | Waiting::Watch(ticket, _)
            | Waiting::Size(ticket) => Some(*ticket),
            Waiting::Snapshot | Waiting::Parts { .. } | Waiting::Clear(_) => None,
        }
    }
}

impl Host {
    /// Carries out a request on the whole table, or on the keys of this member if the client follows slots and so asks each member for its own.
    pub(super) fn of_whole_table(
        &mut self,
        command: &Command,
        session: &mut Session,
        reply: &mut Reply,
        arguments: Arguments<'_>,
    ) -> Option<Waiting> {
        let now = time(&self.node.borrow());
        match command.name {
            "scan" => self.scan(session, reply, arguments),
            "dbsize" | "keys" | "randomkey" => {
                let spans = self.spans_of(session);
                if spans.is_empty() {
                    // A bucket without keys knows the reply.
                    dispatch_on(&mut self.spare, &self.node, session, reply, None, arguments);
                    return None;
                }
                Some(match command.name {
                    "dbsize" => Waiting::Size(self.member.scan_within(now, &spans, ScanKind::Count, &mut self.outputs)),
                    "keys" => {
                        let pattern = Some(arguments.get(1).to_vec());
                        self.collect(&spans, Matching { pattern, most: usize::MAX, found: Vec::new() })
                    }
                    _ => {
                        let rest = self.drawn_from(&spans);
                        Waiting::Random(self.member.read(now, rest, &mut self.outputs), 0)
                    }
                })
            }
            _ => {
                let end = reply.end();
                // Any bucket finds errors in the arguments.
                dispatch_on(&mut self.spare, &self.node, session, reply, None, arguments);
                let servers = self.servers_to_clear(session);
                if reply.unsent_from(end).starts_with(b"-") || servers.is_empty() {
                    return None;
                }
                reply.take_back(end);
                let asked =
                    servers.into_iter().map(|(server, level)| (self.ask(server, Operation::Clear), (server, level)));
                Some(Waiting::Clear(asked.collect()))
            }
        }
    }

    /// The keys for which this member answers to a client.
    pub(super) fn spans_of(&self, session: &Session) -> Vec<Span> {
        if session.asks_each_member() { self.member.own_spans() } else { vec![Span::ALL] }
    }

    /// The servers that a client has cleared, each with its assumed level: what has split off from them is cleared, too.
    fn servers_to_clear(&self, session: &Session) -> Vec<(u64, u32)> {
        let server = |span: &Span| {
            let level = (span.last - span.first).leading_zeros();
            (u64::from(h(level, span.c())), level)
        };
        self.spans_of(session).iter().map(server).collect()
    }

    /// Asks for the keys of these spans.
    pub(super) fn collect(&mut self, spans: &[Span], matching: Matching) -> Waiting {
        let now = time(&self.node.borrow());
        Waiting::Keys(self.member.scan_within(now, spans, ScanKind::Entries, &mut self.outputs), matching)
    }

    /// What remains of these spans from a random place of them on.
    fn drawn_from(&self, spans: &[Span]) -> Span {
        let length = |span: &Span| u128::from(span.last - span.first) + 1;
        let all: u128 = spans.iter().map(length).sum();
        let mut at = (u128::from(self.node.borrow_mut().draw()) * all) >> u64::BITS;
        for span in spans {
            if at < length(span) {
                return Span { first: span.first + at as u64, last: span.last };
            }
            at -= length(span);
        }
        Span::ALL
    }

    /// Takes the next step of a scan. A client that follows slots scans each member by itself, and goes on in the bucket in which it is even if some of
    /// its keys have moved since, so that it misses none of them.
    fn scan(&mut self, session: &Session, reply: &mut Reply, arguments: Arguments<'_>) -> Option<Waiting> {
        let wanted = match Wanted::read(arguments) {
            Ok(wanted) => wanted,
            Err(failure) => {
                reply.error(&failure.to_string());
                return None;
            }
        };
        let rest = match session.asks_each_member() && wanted.begins() {
            true => self.member.spans_to_scan().first().copied(),
            false => wanted.rest(),
        };
        let Some(rest) = rest else {
            reply_with_keys(reply, None, &[]);
            return None;
        };
        let now = time(&self.node.borrow());
        let scanned = Scanned { rest, pattern: wanted.pattern.map(<[u8]>::to_vec), strings: wanted.strings };
        Some(Waiting::Scan(self.member.read(now, rest, &mut self.outputs), scanned))
    }

    /// Replies to a step of a scan, which has found these keys before the place `next`.
    fn has_scanned(
        &self,
        Scanned { rest, pattern, strings }: &Scanned,
        session: &Session,
        (keys, next): (Vec<Vec<u8>>, Option<u64>),
        reply: &mut Reply,
    ) {
        let is_wanted = |key: &&Vec<u8>| *strings && pattern.as_ref().is_none_or(|it| matches(it, key));
        let keys: Vec<&Vec<u8>> = keys.iter().filter(is_wanted).collect();
        let rest = next.and_then(|next| {
            let of_all = || match session.asks_each_member() {
                true => rest_from(&self.member.spans_to_scan(), next),
                false => Span::ALL.after(next - 1),
            };
            rest.after(next - 1).or_else(of_all)
        });
        reply_with_keys(reply, rest, &keys);
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
            (Waiting::Keys(ticket, mut matching), Answer::Found(found)) => {
                matching.add(found);
                return Some(Waiting::Keys(ticket, matching));
            }
            (Waiting::Keys(_, Matching { found, .. }), _) => {
                reply.array(found.len());
                found.iter().for_each(|key| reply.bulk(key));
            }
            (Waiting::Scan(_, scanned), Answer::Read(keys, next)) => {
                self.has_scanned(&scanned, session, (keys, next), reply);
            }
            (Waiting::Random(_, draws), Answer::Read(keys, next)) => {
                return self.has_drawn(&keys, next, draws, session, reply);
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
            (Waiting::Keyspace(_, None, request), Answer::Count(keys)) => {
                let now = time(&self.node.borrow());
                let ticket = self.member.scan(now, ScanKind::Marked, &mut self.outputs);
                return Some(Waiting::Keyspace(ticket, Some(keys), request));
            }
            (Waiting::Keyspace(_, Some(keys), request), Answer::Count(expiring)) => {
                self.draw_map();
                self.node.borrow_mut().keyspace = (keys, expiring);
                self.carry_out_without_keys(session, reply, request.borrowed());
            }
            (Waiting::Clear(tickets), Answer::Outcome(level)) => {
                return self.cleared(tickets, ticket, level.start(), reply);
            }
            (waiting, _) => return Some(waiting),
        }
        None
    }

    /// Replies with one of these keys, which were read before the place `next`; or reads on if there are none.
    fn has_drawn(
        &mut self,
        keys: &[Vec<u8>],
        next: Option<u64>,
        draws: u32,
        session: &Session,
        reply: &mut Reply,
    ) -> Option<Waiting> {
        let drawn = self.node.borrow_mut().draw() as usize;
        if let Some(key) = keys.get(drawn % keys.len().max(1)) {
            reply.bulk(key);
            return None;
        }
        let spans = self.spans_of(session);
        let rest = rest_from(&spans, next.unwrap_or(0)).or_else(|| spans.first().copied());
        let Some(rest) = rest.filter(|_| draws < MOST_DRAWS) else {
            reply.null();
            return None;
        };
        let now = time(&self.node.borrow());
        Some(Waiting::Random(self.member.read(now, rest, &mut self.outputs), draws + 1))
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

/// The reply to a step of a SCAN, which goes on with `rest`.
fn reply_with_keys(reply: &mut Reply, rest: Option<Span>, keys: &[&Vec<u8>]) {
    reply.array(2);
    reply.bulk(cursor_at(rest).to_string().as_bytes());
    reply.array(keys.len());
    keys.iter().for_each(|key| reply.bulk(key));
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
