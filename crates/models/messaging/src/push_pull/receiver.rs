//! The receiver's side.

use std::collections::BTreeMap;

use endpoint::{Message, Tag, Tags};
use quantities::{Rank, Time};

use super::Matching;
use super::by_tag::{Messages, Receives};
use super::matching::Completions;
use crate::ordered::{Keys, Ordered};
use crate::packet::{Data, INCOMPLETE, MESSAGE_REPORT_HEADER, Part, ReceiverReport};
use crate::reassembly::{Complete, Reassembly};
use crate::sequence::{FIRST, near, wire};
use crate::waiting::Waiting;
use crate::{Parameters, ReceiveStream};

/// Even a message without bytes takes room while it waits. [B]
pub(crate) const LEAST_ROOM: u64 = 64;

/// Everything that comes from one rank.
#[derive(Clone, Debug)]
pub(crate) struct Receiver {
    receive_stream: ReceiveStream<Data>,
    /// The messages that have not been received yet, by number.
    messages: BTreeMap<u64, ArrivingMessage>,
    /// Those that are matched with no receive, and those that are incomplete.
    unmatched: Messages,
    incomplete: Keys<u64>,
    /// The number of the message that begins next, and the one after the last that was received.
    next: u64,
    taken: u64,
    /// The room left in the pushed buffer. [B]
    room: u64,
    /// The receive queue: the receives that wait for a message from this rank, in the order in which they were posted,
    /// and those of them without a message.
    posted: Ordered<u64, Posted>,
    open: Receives,
    destined: Destined,
    waiting: Waiting,
    /// How many incomplete messages a report lists at most, and how much room it has besides its header. [B]
    most_incomplete: usize,
    report_room: usize,
}

/// The messages that have a destination, in the order in which they got it.
#[derive(Clone, Debug, Default)]
struct Destined {
    /// How many there have been, and how many have not been received.
    ever: u64,
    count: usize,
    /// Those that are incomplete; those of them that are pulled; and those of these of whose pulled part nothing has
    /// arrived.
    incomplete: Ordered<u64, u64>,
    pulled: Ordered<u64, u64>,
    not_begun: Ordered<u64, u64>,
}

impl Destined {
    /// Another message has a destination: its position among them.
    fn add(&mut self) -> u64 {
        self.count += 1;
        self.ever += 1;
        self.ever
    }

    /// The message at this position has changed.
    fn update(&mut self, position: u64, number: u64, message: &ArrivingMessage) {
        let keep = |all: &mut Ordered<u64, u64>, belongs: bool| {
            if belongs {
                all.insert(position, number);
            } else {
                all.remove(position);
            }
        };
        keep(&mut self.incomplete, message.completion.is_none());
        keep(&mut self.pulled, message.pulled_from().is_some());
        keep(&mut self.not_begun, message.has_not_begun());
    }
}

/// A receive that waits for a message from this rank.
#[derive(Clone, Copy, Debug)]
struct Posted {
    tags: Tags,
    /// The message that it is matched with.
    matched: Option<u64>,
}

#[derive(Clone, Debug)]
struct ArrivingMessage {
    reassembly: Reassembly,
    place: Storage,
    /// Whether the pushed part was kept.
    kept: bool,
    /// The receive that it is matched with.
    matched: Option<u64>,
    /// Its position in the order in which messages from all ranks became complete, if it is.
    completion: Option<u64>,
    /// Its position in the order in which messages got a destination, if it has one.
    destined: Option<u64>,
}

/// Where the bytes of a message go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Storage {
    /// Nowhere: there was no room for it.
    Nowhere,
    PushedBuffer,
    Destination,
}

/// A message that a receive may take.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Candidate {
    pub(crate) number: u64,
    /// Its position in the order in which messages from all ranks became complete, if it is.
    pub(crate) completion: Option<u64>,
    /// Whether it has a destination but is not complete.
    pub(crate) is_pulled: bool,
    pub(crate) tag: Tag,
    /// [B]
    pub(crate) size: u64,
}

impl ArrivingMessage {
    fn is_complete(&self) -> bool {
        self.place != Storage::Nowhere && self.reassembly.is_complete()
    }

    fn tag(&self) -> Tag {
        self.reassembly.label().tag()
    }

    /// Whether there is room for this part: the pushed buffer takes only pushed parts.
    fn has_place(&self, offset: u64, payload: &Message) -> bool {
        match self.place {
            Storage::Nowhere => false,
            Storage::PushedBuffer => offset.saturating_add(payload.size().0) <= self.reassembly.pushed(),
            Storage::Destination => true,
        }
    }

    /// Numbers it if it has just become complete.
    fn note_completion(&mut self, completions: &mut Completions) {
        if self.completion.is_none() && self.is_complete() {
            self.completion = Some(completions.add(self.matched));
        }
    }

    /// The offset from which it is pulled, if it is: from the end of the pushed part, or from the beginning if that was
    /// thrown away.
    fn pulled_from(&self) -> Option<u64> {
        let from = if self.kept { self.reassembly.pushed() } else { 0 };
        let pulls = self.place == Storage::Destination && !self.is_complete() && from < self.reassembly.size();
        pulls.then_some(from)
    }

    /// Whether it is pulled and nothing has arrived of the pulled part.
    fn has_not_begun(&self) -> bool {
        self.pulled_from().is_some_and(|from| self.reassembly.have() <= from)
    }
}

fn room_for(reassembly: &Reassembly) -> u64 {
    reassembly.pushed().max(LEAST_ROOM)
}

impl Receiver {
    pub(crate) fn new(parameters: &Parameters) -> Receiver {
        let Parameters { window, repeat, reporting, pushed_buffer, timing, datagram, .. } = *parameters;
        let report_room = datagram.saturating_sub(MESSAGE_REPORT_HEADER);
        Receiver {
            receive_stream: ReceiveStream::new(FIRST, u64::from(window), repeat, reporting),
            messages: BTreeMap::new(),
            unmatched: Messages::default(),
            incomplete: Keys::default(),
            next: FIRST,
            taken: FIRST,
            room: pushed_buffer,
            posted: Ordered::default(),
            open: Receives::default(),
            destined: Destined::default(),
            waiting: Waiting::new(timing),
            most_incomplete: (report_room / 2 / INCOMPLETE).clamp(1, u8::MAX.into()),
            report_room,
        }
    }

    /// Takes a packet from rank `from`.
    pub(crate) fn take(&mut self, now: Time, from: Rank, data: Data, answer: bool, matching: &mut Matching) {
        self.receive_stream.offer(now, data.sequence, answer, data);
        while let Some(data) = self.receive_stream.advance(now) {
            self.store(now, from, &data, matching);
        }
    }

    fn store(&mut self, now: Time, from: Rank, data: &Data, matching: &mut Matching) {
        self.waiting.note_arrival(now);
        let Some(number) = near(self.next, data.message) else { return };
        match data.part {
            Part::Opening(opening) if number == self.next => {
                self.next += 1;
                self.open(now, from, number, Reassembly::new(opening), &data.payload, matching);
            }
            Part::Opening(_) => {}
            Part::From(offset) => {
                let arrived = self.messages.get_mut(&number);
                let Some(arrived) = arrived.filter(|arrived| arrived.has_place(offset, &data.payload)) else { return };
                let had_not_begun = arrived.has_not_begun();
                arrived.reassembly.take(offset, &data.payload);
                arrived.note_completion(&mut matching.completions);
                let begins = had_not_begun && !arrived.has_not_begun();
                self.update(number);
                // Now another message can be pulled.
                if begins && self.destined.count > 1 {
                    self.pull(now);
                }
            }
        }
    }

    /// A message begins. It goes to the destination of the receive that it matches, or into the pushed buffer.
    fn open(
        &mut self,
        now: Time,
        from: Rank,
        number: u64,
        mut reassembly: Reassembly,
        payload: &Message,
        matching: &mut Matching,
    ) {
        let tag = reassembly.label().tag();
        let (named, anyone) = (self.open.first(tag), matching.first_open(tag));
        let matched = self.match_earlier((from, number), [named, anyone], matching);
        let place = match matched {
            Some(_) => Storage::Destination,
            None if self.room >= room_for(&reassembly) => Storage::PushedBuffer,
            None => Storage::Nowhere,
        };
        let destined = (place == Storage::Destination).then(|| self.destined.add());
        if place == Storage::PushedBuffer {
            self.room -= room_for(&reassembly);
            reassembly.note_buffered();
        }
        let kept = place != Storage::Nowhere;
        if kept {
            reassembly.take(0, payload);
        }
        if matched.is_none() {
            self.unmatched.insert(tag, number);
        }
        let mut arrived = ArrivingMessage { reassembly, place, kept, matched, completion: None, destined };
        arrived.note_completion(&mut matching.completions);
        self.messages.insert(number, arrived);
        self.update(number);
        if place == Storage::Destination {
            self.pull(now);
        }
    }

    /// A message has changed: notes what can be said of it without a search.
    fn update(&mut self, number: u64) {
        let Some(arrived) = self.messages.get(&number) else { return };
        if arrived.is_complete() {
            self.incomplete.remove(number);
        } else {
            self.incomplete.insert(number, ());
        }
        if let Some(position) = arrived.destined {
            self.destined.update(position, number, arrived);
        }
    }

    /// Matches a message with the earlier of a receive that waits for this rank and one that waits for any, if there
    /// are such.
    fn match_earlier(
        &mut self,
        (from, number): (Rank, u64),
        [named, anyone]: [Option<u64>; 2],
        matching: &mut Matching,
    ) -> Option<u64> {
        let first = [named, anyone].into_iter().flatten().min()?;
        if named != Some(first) {
            matching.set_matched(first, Some((from, number)));
        } else if let Some(posted) = self.posted.get_mut(first) {
            posted.matched = Some(number);
            self.open.remove(posted.tags, first);
        }
        Some(first)
    }

    /// Matches a message with another receive: the earliest posted one that it fits and that has no message, or only a
    /// later one.
    fn match_again(&mut self, from: Rank, number: u64, tag: Tag, matching: &mut Matching) -> Option<u64> {
        let waits = |it: &Posted| it.matched.is_none_or(|matched| matched > number) && it.tags.include(tag);
        let named = self.posted.iter().find(|(_, it)| waits(it)).map(|(order, _)| order);
        let anyone = matching.first_from_anyone(from, number, tag);
        self.match_earlier((from, number), [named, anyone], matching)
    }

    /// A message from rank `from` loses the receive that it was matched with. It may match another, and displace a
    /// later message.
    fn release(&mut self, from: Rank, mut number: u64, matching: &mut Matching) {
        while let Some(tag) = self.messages.get(&number).map(ArrivingMessage::tag) {
            let matched = self.match_again(from, number, tag, matching);
            self.set_matched(number, matched, &mut matching.completions);
            let left = self
                .messages
                .iter()
                .find(|(other, it)| matched.is_some() && it.matched == matched && **other != number);
            let Some((&left, _)) = left else { break };
            number = left;
        }
    }

    /// Matches a message with this receive, or with none any more.
    fn set_matched(&mut self, number: u64, matched: Option<u64>, completions: &mut Completions) {
        let Some(arrived) = self.messages.get_mut(&number) else { return };
        arrived.matched = matched;
        match matched {
            Some(order) => {
                self.unmatched.remove(arrived.tag(), number);
                if arrived.completion.is_some() {
                    completions.note(order);
                }
            }
            None => self.unmatched.insert(arrived.tag(), number),
        }
    }

    /// If something is pulled, tells the source at once.
    fn pull(&mut self, now: Time) {
        if self.pulled().is_some() {
            self.receive_stream.report_at(now);
        }
    }

    /// What is pulled: the first message with a destination of whose pulled part nothing has arrived, or else the
    /// first.
    fn pulled(&self) -> Option<(u32, u64)> {
        let Destined { not_begun, pulled, .. } = &self.destined;
        let (_, &number) = not_begun.first().or_else(|| pulled.first())?;
        let from = self.messages.get(&number)?.pulled_from()?;
        Some((wire(number), from))
    }

    /// Posts a receive for the next message with one of `tags`.
    pub(crate) fn post(&mut self, now: Time, order: u64, tags: Tags, completions: &mut Completions) {
        let matched = self.candidate(tags).map(|candidate| candidate.number);
        self.posted.insert(order, Posted { tags, matched });
        match matched {
            Some(number) => {
                self.bind(number, order, completions);
                self.give_destination(now, number, completions);
            }
            None => {
                self.open.insert(tags, order);
                self.waiting.post(now);
            }
        }
    }

    /// Matches this message with a receive.
    pub(crate) fn bind(&mut self, number: u64, order: u64, completions: &mut Completions) {
        self.set_matched(number, Some(order), completions);
    }

    /// Gives this message, which has begun, the destination of a receive.
    pub(crate) fn give_destination(&mut self, now: Time, number: u64, completions: &mut Completions) {
        self.waiting.post(now);
        let arrived = self.messages.get_mut(&number).filter(|arrived| arrived.place != Storage::Destination);
        let Some(arrived) = arrived else { return };
        if arrived.place == Storage::PushedBuffer {
            self.room += room_for(&arrived.reassembly);
        }
        arrived.place = Storage::Destination;
        arrived.destined = Some(self.destined.add());
        arrived.note_completion(completions);
        if !arrived.kept {
            self.receive_stream.report_at(now);
        }
        self.update(number);
        self.pull(now);
    }

    /// A receive for messages from rank `from` no longer waits.
    pub(crate) fn withdraw(&mut self, from: Rank, order: u64, matching: &mut Matching) {
        let Some(Posted { tags, matched }) = self.posted.remove(order) else { return };
        self.open.remove(tags, order);
        matching.waiting -= 1;
        if self.posted.is_empty() {
            self.waiting.withdraw();
        }
        if let Some(number) = matched {
            self.release(from, number, matching);
        }
    }

    /// A receive from any source, which was matched with this message from rank `from`, no longer waits.
    pub(crate) fn withdraw_anyone(&mut self, from: Rank, number: u64, matching: &mut Matching) {
        self.release(from, number, matching);
    }

    /// Whether a message has arrived, or begun to, and has not been received.
    pub(crate) fn has_any(&self) -> bool {
        !self.messages.is_empty()
    }

    /// The first message with one of `tags` that is not matched with a receive.
    pub(crate) fn candidate(&self, tags: Tags) -> Option<Candidate> {
        let number = self.unmatched.first(tags)?;
        let arrived = self.messages.get(&number)?;
        let completion = arrived.completion;
        let is_pulled = arrived.place == Storage::Destination && completion.is_none();
        Some(Candidate { number, completion, is_pulled, tag: arrived.tag(), size: arrived.reassembly.size() })
    }

    /// Whether a message with a destination is incomplete.
    pub(crate) fn is_pulling(&self) -> bool {
        !self.destined.incomplete.is_empty()
    }

    /// Whether a message is matched with no receive.
    pub(crate) fn has_unmatched(&self) -> bool {
        !self.unmatched.is_empty()
    }

    /// The message that this receive is matched with.
    pub(crate) fn matched(&self, order: u64) -> Option<u64> {
        self.posted.get(order)?.matched
    }

    /// The position of this message in the order in which messages became complete, if it is complete.
    pub(crate) fn completion(&self, number: u64) -> Option<u64> {
        self.messages.get(&number)?.completion
    }

    /// The message that this receive is matched with, if it is complete.
    pub(crate) fn receive(&mut self, now: Time, order: u64) -> Option<Complete> {
        let number = self.matched(order)?;
        let received = self.receive_message(now, number)?;
        self.posted.remove(order);
        if self.posted.is_empty() {
            self.waiting.withdraw();
        }
        Some(received)
    }

    /// This message, if it is complete.
    pub(crate) fn receive_message(&mut self, now: Time, number: u64) -> Option<Complete> {
        self.messages.get(&number)?.completion?;
        let ArrivingMessage { reassembly, place, matched, .. } = self.messages.remove(&number)?;
        if matched.is_none() {
            self.unmatched.remove(reassembly.label().tag(), number);
        }
        match place {
            Storage::PushedBuffer => self.room += room_for(&reassembly),
            Storage::Destination => self.destined.count -= 1,
            Storage::Nowhere => {}
        }
        self.taken = self.taken.max(number + 1);
        if self.posted.is_empty() {
            self.waiting.withdraw();
        }
        let out_of_order = self.messages.first_key_value().is_some_and(|(first, _)| *first < number);
        if out_of_order && self.first_incomplete() < self.taken {
            // The source keeps it, and counts it as in flight, until it is told.
            self.receive_stream.report_soon(now);
        }
        let tag = reassembly.label().tag();
        Some(reassembly.into_complete(tag))
    }

    /// A report is due at `now` at the latest.
    pub(crate) fn report_at(&mut self, now: Time) {
        self.receive_stream.report_at(now);
    }

    /// The source asks what has arrived.
    pub(crate) fn ask(&mut self, now: Time) {
        self.receive_stream.ask(now);
    }

    /// How many duplicate packets arrived.
    pub(crate) const fn duplicates(&self) -> u64 {
        self.receive_stream.duplicates()
    }

    pub(crate) const fn waiting(&self) -> &Waiting {
        &self.waiting
    }

    /// When a report is due, or a question whether the source is still there.
    pub(crate) fn deadline(&self) -> Option<Time> {
        [self.receive_stream.due(), self.next_question_at()].into_iter().flatten().min()
    }

    fn next_question_at(&self) -> Option<Time> {
        self.waiting.next_question_at(self.is_pulling())
    }

    /// The incomplete messages, in order, including the one that begins next.
    fn incomplete(&self) -> impl Iterator<Item = u64> {
        self.incomplete.iter().map(|(number, ())| number).chain([self.next])
    }

    /// Whether the next report tells the source that message `number` is complete.
    pub(crate) fn will_report_complete(&self, number: u64) -> bool {
        let is_complete = self.messages.get(&number).is_none_or(ArrivingMessage::is_complete);
        number < self.first_incomplete() || number < self.taken && is_complete
    }

    fn first_incomplete(&self) -> u64 {
        self.incomplete().next().unwrap_or(self.next)
    }

    /// The report that is due, and whether the source has to answer.
    pub(crate) fn report(&mut self, now: Time) -> Option<(ReceiverReport, bool)> {
        let asks = self.next_question_at().is_some_and(|at| at <= now);
        if !asks && self.receive_stream.due().is_none_or(|due| due > now) {
            return None;
        }
        if asks {
            self.waiting.note_question(now);
        }
        let complete = self.first_incomplete();
        let mut report =
            ReceiverReport { complete: wire(complete), pull: self.pulled(), ..self.receive_stream.report() };
        if complete < self.taken {
            let before = self.incomplete().skip(1).take_while(|number| *number < self.taken);
            let listed = before.take(self.most_incomplete - 1).count() + 1;
            report.incomplete = self.incomplete().skip(1).take(listed).map(wire).collect();
            let room = self.report_room - listed * INCOMPLETE;
            report.bitmap.truncate(room);
        }
        Some((report, asks))
    }
}
