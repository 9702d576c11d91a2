//! The pace of transfers: while a member serves clients, the records of servers that split, merge or move may take a
//! twelfth of its time; or a quarter, if one of its servers has far more records than it has room for.
//!
//! ```text
//!   time     | step |     clients     | step |     clients     |
//!   lasts       t       pause * t        t'     pause * t'         pause: PAUSE or URGENT_PAUSE
//! ```

use std::time::{Duration, Instant};

use linear_hash::{Hashed, ToServer};

use crate::bucket::Bucket;
use crate::host::Host;
use crate::member::Message;
use crate::record::Record;

/// The pause after a step, in multiples of the time that the step took.
const PAUSE: u32 = 11;
/// The same if it is urgent.
const URGENT_PAUSE: u32 = 3;
/// It is urgent if a server, or a half that is arriving, may have this many times as many records as it has room for.
const URGENT_LOAD: u64 = 4;
/// A step that took longer counts as if it took so long: it takes some hundred microseconds, unless the processor was
/// taken away meanwhile.
const LONGEST_STEP: Duration = Duration::from_millis(1);

/// Whether the records of a server of this member should soon be on more servers. Its buckets say how many it may have:
/// also those of which only some are here yet.
fn is_urgent(host: &Host) -> bool {
    let room = host.member().capacity().saturating_mul(URGENT_LOAD);
    let may_have = |buckets: u32| u64::from(buckets) * Record::MOST_ENTRIES;
    let mut tables = host.member().servers().filter_map(|(_, server)| server.table());
    tables.any(|table| may_have(table.extent().buckets()) > room)
}

/// When the next step of a transfer may be taken.
#[derive(Debug, Default)]
pub(super) struct Pace {
    /// When the step of this turn of the loop was begun, if there is one.
    begun: Option<Instant>,
    /// When the next one may be taken, if clients are served.
    next: Option<Instant>,
    /// How many requests were executed up to the last step.
    requests: u64,
}

impl Pace {
    /// Whether a message is a step of a transfer: it brings records, or asks for more.
    pub(super) fn applies_to(message: &Message<Bucket>) -> bool {
        let Message::Sequenced(sequenced) = message else { return false };
        matches!(sequenced.message.get(), ToServer::Chunk { .. } | ToServer::Received)
    }

    /// How long the next step still has to wait. It does not wait if no client has asked for anything since the last.
    pub(super) fn pause(&self, host: &Host, now: Instant) -> Duration {
        let Some(next) = self.next.filter(|_| host.node().borrow().counts.commands != self.requests) else {
            return Duration::ZERO;
        };
        next.saturating_duration_since(now)
    }

    /// A message is taken in this turn of the loop.
    pub(super) fn begin(&mut self, message: &Message<Bucket>, now: impl FnOnce() -> Instant) {
        if Pace::applies_to(message) {
            self.begun.get_or_insert_with(now);
        }
    }

    /// All that follows from this turn's messages was sent.
    pub(super) fn end(&mut self, host: &Host, now: impl FnOnce() -> Instant) {
        if let Some(begun) = self.begun.take() {
            let now = now();
            let pause = if is_urgent(host) { URGENT_PAUSE } else { PAUSE };
            self.next = Some(now + pause * LONGEST_STEP.min(now.duration_since(begun)));
            self.requests = host.node().borrow().counts.commands;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, SocketAddr};

    use linear_hash::{Extent, Growth};

    use super::super::clock::instant;
    use super::super::deferred::tests::sequenced;
    use super::*;
    use crate::connection::Connection;
    use crate::member::{Durability, Identity, Peer, Policy, Role};
    use crate::node::{Node, Settings};

    /// A member whose only server has room for so many records.
    fn with_room_for(capacity: u64) -> Host {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, 1));
        let own = Peer { identity: Identity(1), address, clients: address, role: Role::Data, life: 0 };
        let growth = Growth { capacity, sensitivity: 1.0, shrink: None, apart: false, most_servers: 1, chunk: 1 };
        let (patience, durability) = (quantities::Duration::ZERO, Durability::default());
        let policy = Policy { growth, servers_each: 1, patience, durability };
        Host::new(Node::new(Settings::default(), 6379, [1; 3], 0), own, policy, true)
    }

    fn connect(host: &Host) -> Connection {
        let client = host.node().borrow_mut().connect("client".to_owned(), String::new(), 0);
        Connection::new(client, &host.node().borrow())
    }

    fn chunk() -> Message<Bucket> {
        sequenced(1, &ToServer::Chunk { buckets: vec![], applied: vec![], last: false })
    }

    #[test]
    fn the_next_step_waits_only_if_clients_were_served_since_the_last_and_never_long() {
        let mut host = with_room_for(u64::MAX);
        let mut connection = connect(&host);
        let begun = instant();
        let at = |microseconds| begun + Duration::from_micros(microseconds);
        let received = sequenced(1, &ToServer::Received);
        for (step, took, pause) in [(chunk(), 200, 2_200), (received, 70, 770), (chunk(), 9_000, 11_000)] {
            let mut pace = Pace::default();
            assert_eq!(pace.pause(&host, at(0)), Duration::ZERO);
            pace.begin(&step, || at(0));
            pace.end(&host, || at(took));
            assert_eq!(pace.pause(&host, at(took)), Duration::ZERO, "no client was served");
            connection.requests.feed(b"PING\r\n");
            connection.turn(&mut host);
            assert_eq!(pace.pause(&host, at(took)), Duration::from_micros(pause));
            assert_eq!(pace.pause(&host, at(took + pause)), Duration::ZERO);
        }
        let mut pace = Pace::default();
        pace.begin(&sequenced(1, &ToServer::Token(Extent::of(2))), || at(0));
        pace.end(&host, || at(100));
        assert!(pace.next.is_none(), "the token is no step");
    }

    #[test]
    fn the_next_step_waits_less_while_a_server_has_far_too_many_records() {
        let mut host = with_room_for(100);
        let mut connection = connect(&host);
        let begun = instant();
        let at = |microseconds| begun + Duration::from_micros(microseconds);
        let mut pauses = Vec::new();
        for records in [100, 1_000] {
            for number in 0..records {
                connection.requests.feed(format!("SET {number} value\r\n").as_bytes());
            }
            connection.turn(&mut host);
            let mut pace = Pace::default();
            pace.begin(&chunk(), || at(0));
            pace.end(&host, || at(200));
            connection.requests.feed(b"PING\r\n");
            connection.turn(&mut host);
            pauses.push(pace.pause(&host, at(200)));
        }
        assert_eq!(pauses, [Duration::from_micros(2_200), Duration::from_micros(600)]);
    }
}
