//! What a client waits for, and what becomes of the answers.

use std::collections::BTreeMap;

use linear_hash::ScanKind;

use super::pool::Order;
use super::table::{Matching, Scanned};
use super::watching::begins_to_watch;
use super::{Call, Host, time};
use crate::bucket::Bucket;
use crate::commands::{Gather, Invocation};
use crate::connection::Session;
use crate::contents::EncodedReply;
use crate::member::{Answer, Ticket};
use crate::resp::{OwnedArguments, Reply};

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
        replies: Vec<EncodedReply>,
    },
    /// All keys that match.
    Keys(Ticket, Matching),
    /// Some keys, and the cursor to go on from.
    Scan(Ticket, Scanned),
    /// A random key, and how many servers were asked in vain.
    Random(Ticket, u32),
    /// The number of keys.
    Size(Ticket),
    /// The levels of all servers, before a request about slots is executed.
    Map(Ticket, OwnedArguments),
    /// The number of records, on which depends how few servers there may be, before an operator's order is executed.
    Order(Ticket, Order),
    /// The number of keys, and then of those that expire, before INFO is executed.
    Keyspace(Ticket, Option<u64>, OwnedArguments),
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
            | Waiting::Order(ticket, _)
            | Waiting::Keyspace(ticket, ..)
            | Waiting::Watch(ticket, _)
            | Waiting::Size(ticket) => Some(*ticket),
            Waiting::Snapshot | Waiting::Parts { .. } | Waiting::Clear(_) => None,
        }
    }
}

impl Host {
    /// Gives up all requests for which a client waits.
    pub fn give_up(&mut self, waiting: &Waiting) {
        waiting.tickets().into_iter().for_each(|ticket| self.member.give_up(ticket));
    }

    /// Executes a request without keys that has waited.
    pub(super) fn execute_stored(&mut self, request: &OwnedArguments, session: &mut Session, reply: &mut Reply) {
        self.execute_on_any(&mut Call { invocation: Invocation::of(request.borrowed()), session, reply });
    }

    /// Replies to a request that has waited for too long, if more can be said than that: an INFO then counts the keys
    /// of this member alone. Returns whether it has replied.
    pub fn reply_without(&mut self, waiting: &Waiting, session: &mut Session, reply: &mut Reply) -> bool {
        let Waiting::Keyspace(_, _, request) = waiting else { return false };
        self.draw_map();
        self.execute_stored(request, session, reply);
        true
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
            (Waiting::Map(_, request), Answer::Count(_)) => {
                self.has_mapped();
                self.execute_stored(&request, session, reply);
            }
            (Waiting::Order(_, order), Answer::Count(records)) => {
                self.has_mapped();
                self.obey(order, records, reply);
            }
            (Waiting::Keyspace(_, None, request), Answer::Count(keys)) => {
                let now = time(&self.node.borrow());
                let ticket = self.member.scan(now, ScanKind::Marked, &mut self.outputs);
                return Some(Waiting::Keyspace(ticket, Some(keys), request));
            }
            (Waiting::Keyspace(_, Some(keys), request), Answer::Count(expiring)) => {
                self.draw_map();
                self.node.borrow_mut().keyspace = (keys, expiring);
                self.execute_stored(&request, session, reply);
            }
            (Waiting::Clear(tickets), Answer::Outcome(level)) => {
                return self.cleared(tickets, ticket, level.start(), reply);
            }
            (waiting, _) => return Some(waiting),
        }
        None
    }
}

fn put_together(gather: Gather, replies: &[EncodedReply], reply: &mut Reply) {
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
            let number = |one: &EncodedReply| {
                std::str::from_utf8(one.start()).ok()?.strip_prefix(':')?.trim_end().parse::<i64>().ok()
            };
            reply.integer(replies.iter().filter_map(number).sum());
        }
    }
}
