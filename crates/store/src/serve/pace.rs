//! The pace of transfers: while a member serves clients, the records of servers that split, merge or move may take a quarter of its time.
//!
//! ```text
//!   time     | step |     clients     | step |     clients     |
//!   lasts       t       PAUSE * t        t'     PAUSE * t'
//! ```

use std::time::{Duration, Instant};

use programs::linear_hash::ToServer;

use crate::bucket::Bucket;
use crate::host::Host;
use crate::member::Message;

/// How many times as long as a step took the next one waits.
const PAUSE: u32 = 3;
/// It never waits longer: a step takes some hundred microseconds, unless the processor was taken away meanwhile.
const LONGEST_PAUSE: Duration = Duration::from_millis(3);

/// When the next step of a transfer may be taken.
#[derive(Debug, Default)]
pub(super) struct Pace {
    /// When the step of this turn of the loop was begun, if there is one.
    begun: Option<Instant>,
    /// When the next one may be taken, if clients are served.
    next: Option<Instant>,
    /// How many requests were carried out up to the last step.
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
            self.next = Some(now + LONGEST_PAUSE.min(PAUSE * now.duration_since(begun)));
            self.requests = host.node().borrow().counts.commands;
        }
    }
}

#[cfg(test)]
mod tests {
    use programs::linear_hash::Extent;

    use super::super::clock::instant;
    use super::super::preparing::tests::sequenced;
    use super::*;
    use crate::connection::Connection;
    use crate::node::{Node, Settings};

    #[test]
    fn the_next_step_waits_only_if_clients_were_served_since_the_last_and_never_long() {
        let mut host = Host::alone(Node::new(Settings::default(), 6379, [1; 3], 0));
        let client = host.node().borrow_mut().connect("client".to_owned(), String::new(), 0);
        let mut connection = Connection::new(client, &host.node().borrow());
        let begun = instant();
        let at = |microseconds| begun + Duration::from_micros(microseconds);
        let chunk = ToServer::Chunk { buckets: vec![], applied: vec![], last: false };
        for (step, took, pause) in [(&chunk, 200, 600), (&ToServer::Received, 70, 210), (&chunk, 9_000, 3_000)] {
            let mut pace = Pace::default();
            assert_eq!(pace.pause(&host, at(0)), Duration::ZERO);
            pace.begin(&sequenced(1, step), || at(0));
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
}
