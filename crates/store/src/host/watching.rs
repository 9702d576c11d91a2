//! Transactions, and what clients watch for them, wherever the keys are.
//!
//! What a server of this member has is watched in its bucket. Of what another server has the client is given stamps, which it shows with its
//! transaction: the server carries that out only if they are valid there. A key that has moved meanwhile has no valid stamp.

use super::{Host, dispatch_on};
use crate::connection::Session;
use crate::contents::{Operation, read_stamps};
use crate::host::{Waiting, keys_of};
use crate::resp::{Arguments, OwnedArguments, Reply};
use crate::slot::c_of;

/// As many keys a client may watch that other members have.
const MOST_WATCHED: usize = 1_024;
/// And so much these keys may take. [B]
const MOST_BYTES: usize = 1 << 20;

impl Host {
    /// Asks the server of the key of hash C for stamps: it has to have all that the client watches.
    pub(super) fn watch_elsewhere(
        &mut self,
        c: u64,
        session: &Session,
        reply: &mut Reply,
        arguments: Arguments<'_>,
    ) -> Option<Waiting> {
        let before = session.watched.iter().chain(&session.stamped).map(|(key, _)| &**key);
        let keys: OwnedArguments = arguments.from(1).chain(before).collect();
        if keys.borrowed().len() > MOST_WATCHED || keys.size() > MOST_BYTES {
            reply.error(&format!(
                "ERR too many keys to watch on another member: at most {MOST_WATCHED}, and {MOST_BYTES} bytes, are allowed"
            ));
            return None;
        }
        Some(Waiting::Watch(self.ask(c, Operation::Watch(keys.clone())), keys))
    }

    /// A client watches nothing any more.
    pub(super) fn unwatch(&mut self, session: &mut Session) {
        for (key, _) in session.watched.drain(..) {
            if let Some((_, bucket)) = self.member.holder(c_of(&key)) {
                bucket.unwatch(&key);
            }
        }
        session.stamped.clear();
        session.count_watches();
    }

    /// Carries out a transaction on the server that has its keys and those that were watched.
    pub(super) fn exec(
        &mut self,
        session: &mut Session,
        reply: &mut Reply,
        arguments: Arguments<'_>,
    ) -> Option<Waiting> {
        let keys = |session: &Session| -> Vec<Box<[u8]>> {
            let requests = session.transaction.iter().flat_map(|transaction| &transaction.requests);
            let of_requests = requests.flat_map(keys_of).map(Box::from);
            let watched = session.watched.iter().chain(&session.stamped);
            watched.map(|(key, _)| key.clone()).chain(of_requests).collect()
        };
        let (keys, is_broken) = (keys(session), session.transaction.as_ref().is_none_or(|it| it.is_broken));
        let Some(first) = keys.first().filter(|_| !is_broken) else {
            self.carry_out_without_keys(session, reply, arguments);
            return None;
        };
        let c = c_of(first);
        if !session.stamped.is_empty() {
            return self.exec_guarded(c, session, reply);
        }
        if let Some((server, bucket)) = self.member.holder(c) {
            if let Some(refusal) = bucket.refuses(c, keys.iter().map(|key| &**key)) {
                session.unwatch(bucket);
                session.leave_transaction();
                reply.error(refusal);
                return None;
            }
            let now = dispatch_on(bucket, &self.node, session, reply, arguments);
            self.member.has_answered(now, server, 1, true, &mut self.outputs);
            return None;
        }
        if !session.watched.is_empty() {
            // They have moved since they are watched.
            self.unwatch(session);
            session.leave_transaction();
            reply.null_array();
            return None;
        }
        let requests = session.leave_transaction().map(|transaction| transaction.requests).unwrap_or_default();
        Some(Waiting::Reply(self.ask(c, Operation::Transaction(reply.version, requests))))
    }

    /// Carries out a transaction of a client that watches what other members have.
    fn exec_guarded(&mut self, c: u64, session: &mut Session, reply: &mut Reply) -> Option<Waiting> {
        // What was watched here, and is there now, has moved since.
        let has_moved = !session.watched.is_empty();
        let watched = std::mem::take(&mut session.stamped);
        self.unwatch(session);
        let requests = session.leave_transaction().map(|transaction| transaction.requests).unwrap_or_default();
        if has_moved {
            reply.null_array();
            return None;
        }
        Some(Waiting::Reply(self.ask(c, Operation::Guarded(reply.version, watched, requests))))
    }
}

/// The server of some keys has given stamps of them, or refused to.
pub(super) fn begins_to_watch(session: &mut Session, keys: &OwnedArguments, outcome: &[u8], reply: &mut Reply) {
    let Some(stamps) = read_stamps(outcome) else { return reply.replied(outcome) };
    for (key, stamp) in keys.borrowed().from(0).zip(stamps) {
        // Of what is watched already the first stamp counts.
        if session.watched.iter().chain(&session.stamped).all(|(watched, _)| **watched != *key) {
            session.stamped.push((key.into(), stamp));
        }
    }
    session.count_watches();
    reply.ok();
}
