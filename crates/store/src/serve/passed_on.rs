//! Requests with large values that other members pass on. Writing such a value to the log takes hundreds of milliseconds, for which all clients
//! would wait: so it is written in parts, one in each turn of the loop, and its request is taken only then.
//!
//! That is as if the message had arrived later. Requests may overtake each other on their way, since those that must not are not under way at once.

use std::collections::VecDeque;

use crate::bucket::Bucket;
use crate::journal::Batch;
use crate::large::Journaled;
use crate::member::{Identity, Message};

/// A message whose large values are being written.
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

/// Messages that wait until their large values are written, in the order in which they came.
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

    /// Writes the next part of the first message. Returns the message, with its sender, if its values are written.
    pub(super) fn write_part(&mut self, batch: &mut Batch) -> Option<(Identity, Message<Bucket>)> {
        if !self.0.front_mut()?.write_part(batch) {
            return None;
        }
        let waiting = self.0.pop_front()?;
        Some((waiting.from, waiting.into_message()))
    }
}
