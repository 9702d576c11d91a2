//! Commands about the pool: its slots, its servers, its number of keys; and those by which operators change it.

use linear_hash::{ScanKind, Span};

use super::resizing::Resize;
use super::{Call, Host, Matching, Waiting, time};
use crate::cluster::{PoolState, ServerState, SlotMap, span_of_slot};
use crate::commands::{asks_for_keyspace, most_keys, refuses_snapshot, slot};
use crate::member::Ticket;
use crate::record::Milliseconds;
use crate::resp::Reply;

/// How long a map of slots is valid; then servers are asked anew. [ms]
const MAP_HOLDS: Milliseconds = 100;

/// What an operator wants of the pool.
#[derive(Clone, Copy, Debug)]
pub enum Order {
    /// That the file has more servers, or fewer.
    Resize(Resize),
    /// That this member leaves.
    Drain,
}

impl Host {
    /// INFO, with the number of keys on all servers.
    pub(crate) fn inform(&mut self, call: &mut Call<'_>) -> Option<Waiting> {
        let counts_keys = asks_for_keyspace(call.invocation.arguments) && !call.session.asks_each_member();
        if counts_keys && self.can_ask_others(call) {
            return Some(Waiting::Keyspace(self.ask_all(ScanKind::Count), None, call.invocation.arguments.into()));
        }
        self.draw_map();
        self.execute_on_any(call);
        None
    }

    /// Commands about slots. All servers are asked for their levels before, unless that was just done, so that the
    /// reply is exact.
    pub(crate) fn describe_slots(&mut self, call: &mut Call<'_>) -> Option<Waiting> {
        let is_recent = self.node.borrow().now.saturating_sub(self.mapped) < MAP_HOLDS;
        if is_recent || self.member.holder_of_all().is_some() {
            self.draw_map();
            self.execute_on_any(call);
            return None;
        }
        Some(Waiting::Map(self.ask_all(ScanKind::Levels), call.invocation.arguments.into()))
    }

    /// CLUSTER COUNTKEYSINSLOT: of all servers, or of this member alone for a client that follows slots.
    pub(crate) fn count_keys_in_slot(&mut self, call: &mut Call<'_>) -> Option<Waiting> {
        let Some(spans) = self.spans_of_slot(call).filter(|_| self.can_ask_others(call)) else {
            self.execute_on_any(call);
            return None;
        };
        if spans.is_empty() {
            call.reply.integer(0);
            return None;
        }
        let now = time(&self.node.borrow());
        Some(Waiting::Size(self.member.scan_within(now, &spans, ScanKind::Count, &mut self.outputs)))
    }

    /// CLUSTER GETKEYSINSLOT, likewise.
    pub(crate) fn list_keys_in_slot(&mut self, call: &mut Call<'_>) -> Option<Waiting> {
        let most = most_keys(call.invocation.arguments.get(3)).ok();
        let asked = self.spans_of_slot(call).zip(most).filter(|_| self.can_ask_others(call));
        let Some((spans, most)) = asked else {
            self.execute_on_any(call);
            return None;
        };
        if spans.is_empty() {
            call.reply.array(0);
            return None;
        }
        Some(self.collect(&spans, Matching { pattern: None, most, found: Vec::new() }))
    }

    /// The keys of the slot that a request names, as far as this member answers for them to this client; none, if it
    /// names no slot.
    fn spans_of_slot(&self, call: &Call<'_>) -> Option<Vec<Span>> {
        let of_slot = span_of_slot(slot(call.invocation.arguments.get(2)).ok()?);
        let is_answered = |span: &Span| span.first <= of_slot.first && of_slot.last <= span.last;
        Some(self.spans_of(call.session).into_iter().filter(is_answered).map(|_| of_slot).collect())
    }

    /// CLUSTER GROW.
    pub(crate) fn grow(&mut self, call: &mut Call<'_>) -> Option<Waiting> {
        self.order(Resize::by(call.invocation.arguments).map(|by| Order::Resize(Resize::Grow(by))), call)
    }

    /// CLUSTER SHRINK.
    pub(crate) fn shrink(&mut self, call: &mut Call<'_>) -> Option<Waiting> {
        self.order(Resize::by(call.invocation.arguments).map(|by| Order::Resize(Resize::Shrink(by))), call)
    }

    /// CLUSTER DRAIN: makes this member leave in order. Repeated, it reports the progress.
    pub(crate) fn drain(&mut self, call: &mut Call<'_>) -> Option<Waiting> {
        self.order(Some(Order::Drain), call)
    }

    /// Obeys an operator's order, once it is known how many records there are; or refuses it if it is none, or in a
    /// transaction.
    fn order(&mut self, order: Option<Order>, call: &mut Call<'_>) -> Option<Waiting> {
        let Some(order) = order.filter(|_| call.session.transaction.is_none()) else {
            self.execute_on_any(call);
            return None;
        };
        let known = match order {
            Order::Drain if self.leaves() => Some(0),
            Order::Drain | Order::Resize(_) => self.member.holder_of_all().map(|bucket| bucket.len()),
        };
        match known {
            Some(records) => {
                self.obey(order, records, call.reply);
                None
            }
            None => Some(Waiting::Order(self.ask_all(ScanKind::Count), order)),
        }
    }

    /// Executes an operator's order on a pool that has `records` records. All servers were just asked for their levels.
    pub(super) fn obey(&mut self, order: Order, records: u64, reply: &mut Reply) {
        match order {
            Order::Drain => self.leave_pool(reply),
            Order::Resize(resize) => self.resize(resize, records, reply),
        }
    }

    /// SAVE: the client waits for the snapshot that it requests, unless there is a reason to refuse it.
    pub(crate) fn save(&mut self, call: &mut Call<'_>) -> Option<Waiting> {
        let is_refused = call.session.transaction.is_some() || refuses_snapshot(&self.node.borrow()).is_some();
        if is_refused {
            self.execute_on_any(call);
            return None;
        }
        self.node.borrow_mut().wants_snapshot = true;
        Some(Waiting::Snapshot)
    }

    /// Whether others have keys, and can be asked now for a client: a member that has not been admitted yet knows
    /// nobody to ask.
    fn can_ask_others(&mut self, call: &Call<'_>) -> bool {
        self.member.holder_of_all().is_none()
            && self.member.membership().is_welcome()
            && call.session.transaction.is_none()
    }

    /// Asks all servers.
    fn ask_all(&mut self, kind: ScanKind) -> Ticket {
        let now = time(&self.node.borrow());
        self.member.scan(now, kind, &mut self.outputs)
    }

    /// All servers have said their levels.
    pub(super) fn has_mapped(&mut self) {
        self.mapped = self.node.borrow().now;
        self.draw_map();
    }

    pub(super) fn draw_map(&mut self) {
        let node = &mut *self.node.borrow_mut();
        node.slots = SlotMap::of(&self.member);
        node.pool = PoolState::of(&self.member);
        let sum = |of: fn(&ServerState) -> u64| -> u64 { node.pool.servers.iter().map(of).sum() };
        node.keyspace = (sum(|server| server.records), sum(|server| server.expiring));
    }
}
