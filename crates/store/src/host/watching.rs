//! Transactions, and the keys that clients watch for them, on any server.
//!
//! Keys of this member's servers are watched in their bucket. For keys of another server the session receives stamps,
//! which are sent with the transaction: the server executes it only if they are still valid there. A key that has moved
//! meanwhile has no valid stamp.

use super::{Call, Host, Waiting, execute_on, keys_of};
use crate::connection::Session;
use crate::contents::{EncodedReply, Operation, read_stamps};
use crate::resp::{OwnedArguments, Reply};
use crate::slot::c_of;

/// The most keys of other members that a client may watch.
pub(crate) const MOST_WATCHED: usize = 1_024;
/// The most bytes of these keys. [B]
pub(crate) const MOST_BYTES: usize = 1 << 20;

impl Host {
    /// WATCH: of keys on a server of this member, or on another's.
    pub(crate) fn watch(&mut self, call: &mut Call<'_>) -> Option<Waiting> {
        if call.session.transaction.is_some() {
            // The reply says that it is not allowed there.
            self.execute_on_any(call);
            return None;
        }
        let c = c_of(call.invocation.arguments.get(1));
        let is_executed = self.has_all_watched(c, call.session) && self.execute_locally(c, call);
        if is_executed || self.redirects(c, call) {
            return None;
        }
        self.watch_elsewhere(c, call)
    }

    /// Whether the server of this member that has the key of hash C has all keys that a client watches already, too.
    fn has_all_watched(&mut self, c: u64, session: &Session) -> bool {
        let watched = session.watched.iter().map(|(key, _)| &**key);
        let bucket = self.member.holder(c).map(|(_, bucket)| bucket);
        session.stamped.is_empty() && bucket.is_some_and(|bucket| bucket.refuses(c, watched).is_none())
    }

    /// Asks the server that has the key of hash C for stamps. All keys that the client watches must be on that server.
    fn watch_elsewhere(&mut self, c: u64, call: &mut Call<'_>) -> Option<Waiting> {
        let Call { invocation, session, reply } = call;
        let before = session.watched.iter().chain(&session.stamped).map(|(key, _)| &**key);
        let keys: OwnedArguments = invocation.arguments.from(1).chain(before).collect();
        if keys.borrowed().len() > MOST_WATCHED || keys.size() > MOST_BYTES {
            reply.error(&format!(
                "ERR too many keys to watch on another member: \
                 at most {MOST_WATCHED}, and {MOST_BYTES} bytes, are allowed"
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

    /// EXEC: executes a transaction on the server that has its keys and the watched ones.
    pub(crate) fn exec(&mut self, call: &mut Call<'_>) -> Option<Waiting> {
        let (keys, is_broken) =
            (all_keys(call.session), call.session.transaction.as_ref().is_none_or(|it| it.is_broken));
        let Some(first) = keys.first().filter(|_| !is_broken) else {
            self.execute_on_any(call);
            return None;
        };
        let c = c_of(first);
        if !call.session.stamped.is_empty() {
            return self.exec_guarded(c, call);
        }
        if let Some((server, bucket)) = self.member.holder(c) {
            if let Some(refusal) = bucket.refuses(c, keys.iter().map(|key| &**key)) {
                call.session.unwatch(bucket);
                call.session.leave_transaction();
                call.reply.error(refusal);
                return None;
            }
            let now = execute_on(bucket, &self.node, call);
            self.member.has_answered(now, server, 1, true, &mut self.outputs);
            return None;
        }
        let requests = call.session.leave_transaction().map(|transaction| transaction.requests).unwrap_or_default();
        if !call.session.watched.is_empty() {
            // They have moved since they were watched.
            self.unwatch(call.session);
            call.reply.null_array();
            return None;
        }
        Some(Waiting::Reply(self.ask(c, Operation::Transaction(call.reply.version, requests))))
    }

    /// Executes a transaction of a client that watches keys of another member.
    fn exec_guarded(&mut self, c: u64, call: &mut Call<'_>) -> Option<Waiting> {
        let Call { session, reply, .. } = call;
        // Keys that were watched on this member have moved to the other one since.
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

/// The keys that a client watches, and those of its transaction.
fn all_keys(session: &Session) -> Vec<Box<[u8]>> {
    let requests = session.transaction.iter().flat_map(|transaction| &transaction.requests);
    let of_requests = requests.flat_map(keys_of).map(Box::from);
    let watched = session.watched.iter().chain(&session.stamped);
    watched.map(|(key, _)| key.clone()).chain(of_requests).collect()
}

/// Takes the stamps of some keys that their server has sent, or its refusal.
pub(super) fn begins_to_watch(session: &mut Session, keys: &OwnedArguments, outcome: &EncodedReply, reply: &mut Reply) {
    let Some(stamps) = read_stamps(outcome.start()) else { return reply.replied(outcome) };
    for (key, stamp) in keys.borrowed().from(0).zip(stamps) {
        // For keys that are watched already the first stamp counts.
        if session.watched.iter().chain(&session.stamped).all(|(watched, _)| **watched != *key) {
            session.stamped.push((key.into(), stamp));
        }
    }
    session.count_watches();
    reply.ok();
}
