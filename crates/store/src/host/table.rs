//! Commands on the whole table, or on the keys of this member if the client follows slots and so asks each member for
//! its own.

use std::collections::BTreeMap;

use linear_hash::{ScanKind, Span, h};

use super::{Call, Host, Waiting, execute_on, time};
use crate::commands::{Wanted, cursor_at, matches};
use crate::connection::Session;
use crate::contents::Operation;
use crate::member::{Ticket, rest_from};
use crate::resp::Reply;
use crate::slot::SLOT_BITS;

/// How many servers without keys RANDOMKEY asks at most.
const MOST_DRAWS: u32 = 64;

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
    pub(super) fn add(&mut self, found: Vec<Vec<u8>>) {
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

impl Host {
    /// DBSIZE.
    pub(crate) fn count_keys(&mut self, call: &mut Call<'_>) -> Option<Waiting> {
        let spans = self.spans_or_reply(call)?;
        let now = time(&self.node.borrow());
        Some(Waiting::Size(self.member.scan_within(now, &spans, ScanKind::Count, &mut self.outputs)))
    }

    /// KEYS.
    pub(crate) fn list_keys(&mut self, call: &mut Call<'_>) -> Option<Waiting> {
        let spans = self.spans_or_reply(call)?;
        let pattern = Some(call.invocation.arguments.get(1).to_vec());
        Some(self.collect(&spans, Matching { pattern, most: usize::MAX, found: Vec::new() }))
    }

    /// RANDOMKEY.
    pub(crate) fn draw_key(&mut self, call: &mut Call<'_>) -> Option<Waiting> {
        let spans = self.spans_or_reply(call)?;
        let now = time(&self.node.borrow());
        let rest = self.drawn_from(&spans);
        Some(Waiting::Random(self.member.read(now, rest, &mut self.outputs), 0))
    }

    /// FLUSHALL and FLUSHDB.
    pub(crate) fn clear(&mut self, call: &mut Call<'_>) -> Option<Waiting> {
        let end = call.reply.end();
        // Any bucket finds errors in the arguments.
        execute_on(&mut self.spare, &self.node, call);
        let servers = self.servers_to_clear(call.session);
        if call.reply.unsent_from(end).starts_with(b"-") || servers.is_empty() {
            return None;
        }
        call.reply.take_back(end);
        let asked = servers.into_iter().map(|(server, level)| (self.ask(server, Operation::Clear), (server, level)));
        Some(Waiting::Clear(asked.collect()))
    }

    /// The keys for which this member answers to a client. If there are none, a bucket without keys replies.
    fn spans_or_reply(&mut self, call: &mut Call<'_>) -> Option<Vec<Span>> {
        let spans = self.spans_of(call.session);
        if spans.is_empty() {
            execute_on(&mut self.spare, &self.node, call);
            return None;
        }
        Some(spans)
    }

    /// The keys for which this member answers to a client.
    pub(super) fn spans_of(&self, session: &Session) -> Vec<Span> {
        if session.asks_each_member() { self.member.hosted().own_spans() } else { vec![Span::ALL] }
    }

    /// The servers that a client has cleared, each with its assumed level: what has split off from them is cleared,
    /// too.
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

    /// Takes the next step of a scan. A client that follows slots scans each member by itself, and goes on in the
    /// bucket in which it is even if some of its keys have moved since, so that it misses none of them.
    pub(crate) fn scan(&mut self, call: &mut Call<'_>) -> Option<Waiting> {
        let wanted = match Wanted::read(call.invocation.arguments) {
            Ok(wanted) => wanted,
            Err(failure) => {
                call.reply.error(&failure.to_string());
                return None;
            }
        };
        let rest = match call.session.asks_each_member() && wanted.begins() {
            true => self.member.spans_to_scan().first().copied(),
            false => wanted.rest(),
        };
        let Some(rest) = rest else {
            reply_with_keys(call.reply, None, &[]);
            return None;
        };
        let now = time(&self.node.borrow());
        let scanned = Scanned { rest, pattern: wanted.pattern.map(<[u8]>::to_vec), strings: wanted.strings };
        Some(Waiting::Scan(self.member.read(now, rest, &mut self.outputs), scanned))
    }

    /// Replies to a step of a scan, which has found these keys before the place `next`.
    pub(super) fn has_scanned(
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

    /// Replies with one of these keys, which were read before the place `next`; or reads on if there are none.
    pub(super) fn has_drawn(
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

    /// A server was cleared. If its level is higher than was assumed, the servers that have split off from it are
    /// cleared, too.
    pub(super) fn cleared(
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
