//! Messages of other members that take long: requests that bring large values or change some that others share, and
//! parts of a server that splits, merges or moves, if they have large values. Writing such a value to the log, or
//! copying it, takes hundreds of milliseconds, for which all clients would wait: so it is done in parts, one in each
//! turn of the loop, and the message is taken only then. And the steps of a transfer wait until clients have had their
//! share of the time.
//!
//! That is as if the message had arrived later. Requests may overtake each other on their way, since those that must
//! not are not under way at once. Messages between servers are numbered, and a later one of the same member waits for
//! those before it.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use super::pace::Pace;
use crate::bucket::Bucket;
use crate::host::{Host, brings_large_values};
use crate::journal::Batch;
use crate::large::encoding::encode;
use crate::large::{Journaled, Pieces};
use crate::member::{Identity, Message};

/// What has to be written before a message is taken, and how far it was written.
#[derive(Debug)]
enum Written {
    /// The large values of a request.
    Values(Vec<Journaled>),
    /// A message between servers, with its large values.
    All(Pieces, Journaled),
    /// Nothing.
    Nothing,
}

/// A message whose large values are being prepared.
#[derive(Debug)]
struct Waiting {
    from: Identity,
    message: Message<Bucket>,
    written: Written,
}

impl Waiting {
    /// Writes the next part. Returns whether the log has all values.
    fn write_part(&mut self, batch: &mut Batch) -> bool {
        match &mut self.written {
            Written::Values(journaled) => {
                let Some((_, request)) = self.message.request() else { return true };
                let mut values = request.operation.large_values().zip(journaled);
                // Another log may have begun: then a value that was written before is written again.
                let next = values.find(|(value, journaled)| !batch.is_done_with(value.len(), journaled));
                next.is_none_or(|(value, journaled)| batch.write_part(value, journaled) && values.next().is_none())
            }
            Written::All(pieces, journaled) => batch.write_part_of_message(pieces, journaled),
            Written::Nothing => true,
        }
    }

    /// Nothing more is to be written: the message says how it was.
    fn into_prepared(mut self) -> Prepared {
        let mut all = Vec::new();
        match (self.written, &mut self.message) {
            (Written::Values(journaled), message) => {
                let request = message.request_mut().into_iter();
                let values = request.flat_map(|request| request.operation.large_values_mut());
                values.zip(&journaled).for_each(|(value, journaled)| value.was_journaled(journaled));
                all = journaled;
            }
            (Written::All(pieces, journaled), Message::Sequenced(sequenced)) => {
                sequenced.journaled = journaled.number_of_all(pieces.len());
                all.push(journaled);
            }
            (Written::All(..) | Written::Nothing, _) => {}
        }
        Prepared { from: self.from, message: self.message, journaled: all }
    }
}

/// A message that can be taken.
#[derive(Debug)]
pub(super) struct Prepared {
    /// The sender.
    pub(super) from: Identity,
    /// The message.
    pub(super) message: Message<Bucket>,
    /// What was written for it. What the message does not store is to be given up once it is taken.
    pub(super) journaled: Vec<Journaled>,
}

/// Whether two messages of these members are the same, which was sent again. A client's request may come from another
/// member then.
fn are_the_same((one_from, one): (Identity, &Message<Bucket>), (from, message): (Identity, &Message<Bucket>)) -> bool {
    let asked = |message: &Message<Bucket>| message.request().map(|(_, request)| (request.client, request.number));
    match (one, message) {
        (Message::Sequenced(one), Message::Sequenced(message)) => one_from == from && one.number == message.number,
        (one, message) => asked(one).is_some() && asked(one) == asked(message),
    }
}

/// Messages that wait until their large values are prepared, or until clients have had their share, in the order in
/// which they came.
#[derive(Debug, Default)]
pub(super) struct DeferredMessages {
    waiting: VecDeque<Waiting>,
    /// When the next step of a transfer may be taken.
    pub(super) pace: Pace,
}

impl DeferredMessages {
    /// How long nothing can be done for the first one; none if nothing waits.
    pub(super) fn pause(&self, host: &Host, now: Instant) -> Option<Duration> {
        self.waiting.front().map(|first| self.pause_before(&first.message, host, now))
    }

    fn pause_before(&self, message: &Message<Bucket>, host: &Host, now: Instant) -> Duration {
        if Pace::applies_to(message) { self.pace.pause(host, now) } else { Duration::ZERO }
    }

    /// Whether a message has to wait: for one that came before it, or for clients.
    pub(super) fn holds_back(&self, from: Identity, message: &Message<Bucket>, host: &Host, now: Instant) -> bool {
        let is_numbered = |message: &Message<Bucket>| matches!(message, Message::Sequenced(_));
        let follows = |waiting: &Waiting| waiting.from == from && is_numbered(&waiting.message);
        is_numbered(message) && self.waiting.iter().any(follows)
            || self.pause_before(message, host, now) > Duration::ZERO
    }

    /// Adds a message, unless it waits already: it was sent again.
    pub(super) fn push(&mut self, from: Identity, message: Message<Bucket>) {
        if self.waiting.iter().any(|waiting| are_the_same((waiting.from, &waiting.message), (from, &message))) {
            return;
        }
        let written = match &message {
            Message::Sequenced(sequenced) if brings_large_values(sequenced) => {
                // Every message between members can be serialized.
                let pieces = encode(sequenced.message.get(), Pieces::default());
                pieces.map_or(Written::Nothing, |pieces| Written::All(pieces, Journaled::default()))
            }
            message => match message.request() {
                Some((_, request)) => {
                    Written::Values(vec![Journaled::default(); request.operation.large_values().count()])
                }
                None => Written::Nothing,
            },
        };
        self.waiting.push_back(Waiting { from, message, written });
    }

    /// Writes the next part of the first message to the log, if there is one, and copies the next part of the large
    /// values that it changes. Returns the message once nothing is left to do, and it does not have to wait for
    /// clients.
    pub(super) fn prepare(&mut self, host: &mut Host, batch: Option<&mut Batch>, now: Instant) -> Option<Prepared> {
        let first = self.waiting.front_mut()?;
        if batch.is_some_and(|batch| !first.write_part(batch)) {
            return None;
        }
        let operation = first.message.request().map(|(_, request)| &request.operation);
        if operation.is_some_and(|operation| host.copies_first_for(operation)) {
            return None;
        }
        if self.pause(host, now)? > Duration::ZERO {
            return None;
        }
        self.waiting.pop_front().map(Waiting::into_prepared)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use linear_hash::{Extent, Request, ToServer, ToServerOf};

    use super::super::clock::instant;
    use super::*;
    use crate::connection::Connection;
    use crate::contents::Operation;
    use crate::member::Placement;
    use crate::node::{Node, Settings};
    use crate::record::Record;
    use crate::resp::{OwnedArguments, Version};
    use crate::slot::c_of;

    /// A host that has a value of five mebibytes under two keys.
    fn host() -> Host {
        let mut host = Host::alone(Node::new(Settings::default(), 6379, [1; 3], 0));
        let client = host.node().borrow_mut().connect("client".to_owned(), String::new(), 0);
        let mut connection = Connection::new(client, &host.node().borrow());
        let value = "v".repeat(5 << 20);
        connection.requests.feed(format!("*3\r\n$3\r\nSET\r\n$1\r\na\r\n${}\r\n{value}\r\n", value.len()).as_bytes());
        connection.requests.feed(b"COPY a {a}b\r\n");
        connection.turn(&mut host);
        host.take_outputs();
        host
    }

    fn request(line: &str) -> OwnedArguments {
        line.split(' ').map(str::as_bytes).collect()
    }

    fn message(number: u64, operation: Operation) -> Message<Bucket> {
        Message::Request(0, Request { client: 1 << 40, number, c: c_of(b"a"), operation, forwards: 0 })
    }

    #[test]
    fn a_shared_large_value_is_copied_in_parts_before_a_message_changes_it() {
        let requests = ["APPEND a xy", "GET c{a}", "setrange {a}b 0 z"].map(request);
        for (operation, parts) in [
            (Operation::Request(Version::Two, request("APPEND a xy")), 5),
            (Operation::Transaction(Version::Two, requests.to_vec()), 10),
            (Operation::Guarded(Version::Two, Vec::new(), requests.to_vec()), 10),
        ] {
            let (mut host, mut deferred) = (host(), DeferredMessages::default());
            let message = message(1, operation);
            assert!(host.takes_long(&message));
            deferred.push(Identity(2), message);
            let waits = (0..100).take_while(|_| deferred.prepare(&mut host, None, instant()).is_none()).count();
            assert_eq!(waits, parts - 1, "each turn copies a mebibyte, and the message is taken in the last one");
            assert!(deferred.pause(&host, instant()).is_none());
        }
    }

    /// A message from server 0 to server 1.
    pub(in crate::serve) fn sequenced(number: u64, message: &ToServerOf<Bucket>) -> Message<Bucket> {
        let written = (number, 0_u32, 1_u32, message, None::<Placement>, None::<Identity>);
        Message::Sequenced(postcard::from_bytes(&postcard::to_stdvec(&written).unwrap()).unwrap())
    }

    #[test]
    fn a_large_value_that_moves_is_written_in_parts_and_later_messages_of_its_member_wait() {
        let (mut host, mut deferred, mut batch) = (host(), DeferredMessages::default(), Batch::default());
        let record = Record::new(b"a", &vec![1; 3 << 20][..], None, 0);
        let chunk = ToServer::Chunk { buckets: vec![vec![record]], applied: Vec::new(), last: true };
        let [from, other] = [Identity(2), Identity(3)];
        let token = |number| sequenced(number, &ToServer::Token(Extent::of(2)));
        deferred.push(from, sequenced(1, &chunk));
        let now = instant();
        assert!(deferred.holds_back(from, &token(2), &host, now));
        assert!(!deferred.holds_back(other, &token(2), &host, now));
        let asked = message(1, Operation::Request(Version::Two, request("GET a")));
        assert!(!deferred.holds_back(from, &asked, &host, now));
        deferred.push(from, token(2));
        // The link has broken, and all messages come again.
        deferred.push(from, sequenced(1, &chunk));
        deferred.push(from, token(2));
        let mut prepared = Vec::new();
        for _ in 0..100 {
            prepared.extend(deferred.prepare(&mut host, Some(&mut batch), now));
            assert!(batch.close(0, 0).unwrap().frame.len() < (1 << 20) + 100);
            batch.begin();
        }
        let taken = prepared.into_iter().map(|Prepared { message, .. }| match message {
            Message::Sequenced(sequenced) => (sequenced.number, sequenced.journaled),
            message => panic!("{message:?}"),
        });
        assert_eq!(taken.collect::<Vec<_>>(), [(1, Some(1)), (2, None)]);
    }

    #[test]
    fn a_message_that_changes_no_shared_large_value_is_taken_at_once() {
        let mut host = host();
        for line in ["GET a", "APPEND c{a} xy", "GETDEL a", "SET a 1"] {
            assert!(!host.takes_long(&message(1, Operation::Request(Version::Two, request(line)))), "{line}");
        }
    }
}
