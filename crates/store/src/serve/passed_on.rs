//! Requests that other members pass on and that take long, since they bring large values or change some that others share. Writing such a value to
//! the log, or copying it, takes hundreds of milliseconds, for which all clients would wait: so it is done in parts, one in each turn of the loop, and
//! the request is taken only then.
//!
//! That is as if the message had arrived later. Requests may overtake each other on their way, since those that must not are not under way at once.

use std::collections::VecDeque;

use crate::bucket::Bucket;
use crate::host::Host;
use crate::journal::Batch;
use crate::large::Journaled;
use crate::member::{Identity, Message};

/// A message whose large values are being prepared.
#[derive(Debug)]
struct Waiting {
    from: Identity,
    message: Message<Bucket>,
    /// How far each of its large values was written.
    journaled: Vec<Journaled>,
}

impl Waiting {
    /// The client and the number of its request.
    fn asked(&self) -> Option<(u64, u64)> {
        asked(&self.message)
    }

    /// Writes the next part. Returns whether the log has all values.
    fn write_part(&mut self, batch: &mut Batch) -> bool {
        let Some((_, request)) = self.message.request() else { return true };
        let mut values = request.operation.large_values().zip(&mut self.journaled);
        // Another log may have begun: then a value that was written before is written again.
        let next = values.find(|(value, journaled)| !batch.is_done_with(value, journaled));
        next.is_none_or(|(value, journaled)| batch.write_part(value, journaled) && values.next().is_none())
    }

    /// The message, whose values say how they were written.
    fn into_message(mut self) -> Message<Bucket> {
        let values = self.message.request_mut().into_iter().flat_map(|request| request.operation.large_values_mut());
        values.zip(&self.journaled).for_each(|(value, journaled)| value.was_journaled(journaled));
        self.message
    }
}

/// The client and the number of the request in a message.
fn asked(message: &Message<Bucket>) -> Option<(u64, u64)> {
    message.request().map(|(_, request)| (request.client, request.number))
}

/// Messages that wait until their large values are prepared, in the order in which they came.
#[derive(Debug, Default)]
pub(super) struct PassedOn(VecDeque<Waiting>);

impl PassedOn {
    /// Whether none waits.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds a message, unless its request waits already: its client has sent it again.
    pub(super) fn push(&mut self, from: Identity, message: Message<Bucket>) {
        if self.0.iter().all(|waiting| waiting.asked() != asked(&message)) {
            let values = message.request().map_or(0, |(_, request)| request.operation.large_values().count());
            self.0.push_back(Waiting { from, message, journaled: vec![Journaled::default(); values] });
        }
    }

    /// Writes the next part of the large values of the first message to the log, if there is one, and copies the next part of those that it changes.
    /// Returns the message, with its sender, once nothing is left to do.
    pub(super) fn prepare(
        &mut self,
        host: &mut Host,
        batch: Option<&mut Batch>,
    ) -> Option<(Identity, Message<Bucket>)> {
        let first = self.0.front_mut()?;
        if batch.is_some_and(|batch| !first.write_part(batch)) {
            return None;
        }
        let operation = first.message.request().map(|(_, request)| &request.operation);
        if operation.is_some_and(|operation| host.copies_first_for(operation)) {
            return None;
        }
        let waiting = self.0.pop_front()?;
        Some((waiting.from, waiting.into_message()))
    }
}

#[cfg(test)]
mod tests {
    use programs::linear_hash::Request;

    use super::*;
    use crate::connection::Connection;
    use crate::contents::Operation;
    use crate::node::{Node, Settings};
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
            let (mut host, mut passed_on) = (host(), PassedOn::default());
            let message = message(1, operation);
            assert!(host.takes_long(&message));
            passed_on.push(Identity(2), message);
            let waits = (0..100).take_while(|_| passed_on.prepare(&mut host, None).is_none()).count();
            assert_eq!(waits, parts - 1, "each turn copies a mebibyte, and the message is taken in the last one");
            assert!(passed_on.is_empty());
        }
    }

    #[test]
    fn a_message_that_changes_no_shared_large_value_is_taken_at_once() {
        let mut host = host();
        for line in ["GET a", "APPEND c{a} xy", "GETDEL a", "SET a 1"] {
            assert!(!host.takes_long(&message(1, Operation::Request(Version::Two, request(line)))), "{line}");
        }
    }
}
