//! The source's side.

use std::collections::BTreeSet;

use endpoint::{Message, Tag, Tags};
use quantities::Time;

use crate::fragmenter::Fragmenter;
use crate::memory;
use crate::ordered::{Keys, Ordered};
use crate::packet::{Data, Label, ReceiverReport};
use crate::sequence::{FIRST, near, wire};
use crate::{Parameters, Repeat, SendStream, SharedQueue};

/// The only consumer of the queue.
const RECEIVER: usize = 0;

/// Everything that goes to one rank.
#[derive(Clone, Debug)]
pub(crate) struct Sender {
    /// The send queue: the messages that the receiver does not have, by number, so oldest first.
    messages: Ordered<u64, Fragmenter>,
    /// How many of them have each tag.
    with_tag: Ordered<Tag, usize>,
    /// Those of which something may be sent now: whether nobody has pulled it, and its number. What is pulled goes
    /// first.
    sendable: Keys<(bool, u64)>,
    /// The tags with which a message was refused, and those of them for which there may be room since.
    refused: Keys<Tag>,
    roomier: Vec<Tag>,
    /// The number of the next message.
    next: u64,
    /// The packets in flight.
    packets: SharedQueue<Data>,
    window: SendStream,
}

impl Sender {
    pub(crate) fn new(parameters: &Parameters) -> Sender {
        let Parameters { repeat, timing, probe, .. } = *parameters;
        let window = SendStream::new(FIRST, repeat, timing).with_probe(probe);
        let window = if repeat == Repeat::GoBackN { window } else { window.with_send_order() };
        Sender {
            messages: Ordered::default(),
            with_tag: Ordered::default(),
            sendable: Keys::default(),
            refused: Keys::default(),
            roomier: Vec::new(),
            next: FIRST,
            packets: SharedQueue::new(FIRST, parameters.window as usize, 1),
            window,
        }
    }

    /// How many messages the receiver does not have yet.
    pub(crate) fn waiting(&self) -> usize {
        self.messages.len()
    }

    /// Whether the receiver lacks a message with one of `tags`.
    pub(crate) fn has_undelivered(&self, tags: Tags) -> bool {
        match tags {
            Tags::Only(tag) => self.with_tag.get(tag).is_some(),
            Tags::Any | Tags::OfCollectives => self.with_tag.iter().any(|(tag, _)| tags.include(tag)),
        }
    }

    /// The messages that the receiver does not have, as far as this rank knows.
    pub(crate) fn numbers(&self) -> impl Iterator<Item = u64> {
        self.messages.iter().map(|(number, _)| number)
    }

    /// Whether the send queue has room for one more message with this tag. If it has none, no message with another tag
    /// is why.
    pub(crate) fn has_room(&mut self, tag: Tag, parameters: &Parameters) -> bool {
        let has_room = self.with_tag.get(tag).is_none_or(|&count| count < parameters.send_queue);
        if !has_room {
            self.refused.insert(tag, ());
        }
        has_room
    }

    /// The tags with which a message was refused, and for which there may be room since this was last asked.
    pub(crate) fn take_roomier(&mut self) -> Vec<Tag> {
        std::mem::take(&mut self.roomier)
    }

    pub(crate) const fn window(&self) -> &SendStream {
        &self.window
    }

    /// Puts a message into the send queue.
    pub(crate) fn submit(&mut self, tag: Tag, message: Message, parameters: &Parameters) {
        let push = parameters.push_of(message.size());
        self.messages.insert(self.next, Fragmenter::new(self.next, message, push, Label::with_tag(tag)));
        let count = self.with_tag.get(tag).copied().unwrap_or_default();
        self.with_tag.insert(tag, count + 1);
        self.sendable.insert((true, self.next), ());
        self.next += 1;
    }

    /// Gives up on all messages.
    pub(crate) fn clear(&mut self) {
        (self.messages, self.sendable) = (Ordered::default(), Keys::default());
        self.with_tag = Ordered::default();
        self.packets.unlink(RECEIVER);
        self.window.give_up();
    }

    /// What to send now, first what was lost, then what the receiver waits for; and whether the receiver has to answer.
    pub(crate) fn next_packet(&mut self, now: Time, parameters: &Parameters) -> Option<(Data, bool)> {
        if let Some((number, answer)) = self.window.repeat(now) {
            return self.packets.entry(number).map(|data| (data.clone(), answer));
        }
        if self.packets.room() == 0 {
            return None;
        }
        let ((_, number), ()) = self.sendable.first()?;
        let mut data = self.change(number, |message| message.next_part_to_one(parameters.datagram))?;
        data.sequence = wire(self.packets.next());
        self.packets.produce(data.clone()).ok()?;
        self.window.sent(now);
        // A source that is stuck needs to know as soon as it can continue.
        Some((data, parameters.asks_when_full() && self.packets.room() == 0))
    }

    /// Whether to ask the receiver now what it has.
    pub(crate) fn should_ask(&mut self) -> bool {
        self.window.should_ask()
    }

    /// Takes a receiver's report.
    pub(crate) fn report(&mut self, now: Time, report: &ReceiverReport) {
        self.window.report(now, report);
        self.packets.pass(RECEIVER, self.window.base());
        let Some(complete) = near(self.next, report.complete) else { return };
        while let Some((number, _)) =
            self.messages.first().filter(|(number, message)| *number < complete && message.is_sent())
        {
            self.forget(number);
        }
        self.forget_complete(complete, &report.incomplete);
        let pull = report.pull.and_then(|(message, offset)| Some((near(self.next, message)?, offset)));
        if let Some((number, offset)) = pull {
            self.change(number, |message| message.pull(offset));
        }
    }

    /// If messages were taken out of order: the receiver has all those before the last of `incomplete` that are not
    /// listed.
    fn forget_complete(&mut self, first: u64, incomplete: &[u32]) {
        let numbers = || incomplete.iter().filter_map(|&message| near(self.next, message));
        let Some(end) = numbers().next_back() else { return };
        let incomplete: BTreeSet<u64> = numbers().collect();
        let before = self.messages.iter().take_while(|&(number, _)| number < end);
        let complete = before.filter(|(number, it)| *number != first && !incomplete.contains(number) && it.is_sent());
        let complete: Vec<u64> = complete.map(|(number, _)| number).collect();
        complete.into_iter().for_each(|number| self.forget(number));
    }

    /// The receiver has this message.
    fn forget(&mut self, number: u64) {
        let Some(message) = self.messages.remove(number) else { return };
        let tag = message.label().tag();
        match self.with_tag.get_mut(tag) {
            Some(count) if *count > 1 => *count -= 1,
            _ => {
                self.with_tag.remove(tag);
            }
        }
        self.roomier.extend(self.refused.remove(tag).map(|()| tag));
        self.sendable.remove((!message.is_pulled(), number));
    }

    /// Changes a message, and notes whether something of it may be sent.
    fn change<T>(&mut self, number: u64, change: impl FnOnce(&mut Fragmenter) -> T) -> Option<T> {
        let message = self.messages.get_mut(number)?;
        let before = message.is_pulled();
        let changed = change(message);
        if before != message.is_pulled() || !message.may_send() {
            self.sendable.remove((!before, number));
        }
        if message.may_send() {
            self.sendable.insert((!message.is_pulled(), number), ());
        }
        Some(changed)
    }

    /// The memory it occupies now, including what its packets keep of messages. [B]
    pub(crate) fn memory(&self) -> u64 {
        let points = memory::light_point() + self.window.size_of_order() as u64;
        memory::send_queue(self.messages.len()) + memory::buffer(&self.packets) + points
    }

    /// Sends again what is due; returns whether anything is.
    pub(crate) fn wake(&mut self, now: Time) -> bool {
        self.window.wake(now)
    }
}
