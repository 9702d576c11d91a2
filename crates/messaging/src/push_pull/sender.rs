//! The source's side.

use std::collections::VecDeque;

use endpoint::{Message, Tag, Tags};
use quantities::Time;

use crate::fragmenter::Fragmenter;
use crate::memory;
use crate::packet::{Data, Label, Report};
use crate::sequence::{FIRST, near, wire};
use crate::{Parameters, Repeat, SendStream, SharedQueue};

/// The only consumer of the queue.
const RECEIVER: usize = 0;

/// Everything that goes to one rank.
#[derive(Clone, Debug)]
pub(crate) struct Sender {
    /// The send queue: the messages that the receiver does not have, oldest first.
    messages: VecDeque<Fragmenter>,
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
            messages: VecDeque::new(),
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
        self.messages.iter().any(|message| tags.include(message.label().tag()))
    }

    /// The messages that the receiver does not have, as far as this rank knows.
    pub(crate) fn numbers(&self) -> impl Iterator<Item = u64> {
        self.messages.iter().map(Fragmenter::number)
    }

    /// Whether the send queue has room for one more message with this tag.
    pub(crate) fn has_room(&self, tag: Tag, parameters: &Parameters) -> bool {
        let with_tag = || self.messages.iter().filter(|message| message.label().tag() == tag).count();
        self.messages.len() < parameters.send_queue || with_tag() < parameters.send_queue
    }

    pub(crate) const fn window(&self) -> &SendStream {
        &self.window
    }

    /// Puts a message into the send queue.
    pub(crate) fn submit(&mut self, tag: Tag, message: Message, parameters: &Parameters) {
        let push = parameters.push_of(message.size());
        self.messages.push_back(Fragmenter::new(self.next, message, push, Label::with_tag(tag)));
        self.next += 1;
    }

    /// Gives up on all messages.
    pub(crate) fn clear(&mut self) {
        self.messages.clear();
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
        let pulled = self.messages.iter().position(|message| message.is_pulled() && message.may_send());
        let place = pulled.or_else(|| self.messages.iter().position(Fragmenter::may_send))?;
        let mut data = self.messages.get_mut(place)?.next_part_to_one(parameters.datagram);
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
    pub(crate) fn report(&mut self, now: Time, report: &Report) {
        self.window.report(now, report);
        self.packets.pass(RECEIVER, self.window.base());
        let Some(complete) = near(self.next, report.complete) else { return };
        while self.messages.front().is_some_and(|message| message.number() < complete && message.is_sent()) {
            self.messages.pop_front();
        }
        self.forget_complete(complete, &report.incomplete);
        let pull = report.pull.and_then(|(message, offset)| Some((near(self.next, message)?, offset)));
        if let Some((number, offset)) = pull {
            self.messages.iter_mut().filter(|message| message.number() == number).for_each(|it| it.pull(offset));
        }
    }

    /// If messages were taken out of order: the receiver has all those before the last of `incomplete` that are not listed.
    fn forget_complete(&mut self, first: u64, incomplete: &[u32]) {
        if incomplete.is_empty() {
            return;
        }
        let incomplete: Vec<u64> = incomplete.iter().filter_map(|&message| near(self.next, message)).collect();
        let Some(&end) = incomplete.last() else { return };
        self.messages.retain(|message| {
            let number = message.number();
            number == first || number >= end || incomplete.contains(&number) || !message.is_sent()
        });
    }

    /// The memory it occupies now, including what its packets keep of messages. [B]
    pub(crate) fn memory(&self) -> u64 {
        let points = memory::light_point() + self.window.size_of_order() as u64;
        memory::send_queue(self.messages.len()) + memory::buffer(&self.packets) + points
    }

    /// Sends again what is due.
    pub(crate) fn wake(&mut self, now: Time) {
        self.window.wake(now);
    }
}
