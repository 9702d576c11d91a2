//! The receiver's side.

use std::collections::VecDeque;

use endpoint::Message;
use quantities::Time;

use crate::packet::{Data, Part, Report};
use crate::reassembly::Reassembly;
use crate::sequence::{FIRST, near, wire};
use crate::waiting::Waiting;
use crate::{Parameters, ReceiveStream};

/// Even a message without bytes takes room while it waits. [B]
pub(crate) const LEAST_ROOM: u64 = 64;

/// All that comes from one rank.
#[derive(Clone, Debug)]
pub(crate) struct Receiver {
    receive_stream: ReceiveStream<Data>,
    /// The messages that nobody has received yet; the first has number `first`.
    messages: VecDeque<Arrived>,
    first: u64,
    /// How much room the pushed buffer has left. [B]
    room: u64,
    /// The receive queue: whether a receive waits for the first message.
    waiting: Waiting,
}

#[derive(Clone, Debug)]
struct Arrived {
    reassembly: Reassembly,
    place: Place,
    /// Whether what is pushed was kept.
    kept: bool,
    /// Which of all messages of all ranks it was to be complete, if it is.
    turn: Option<u64>,
}

/// Where the bytes of a message go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// Nowhere: there was no room for it.
    Nowhere,
    PushedBuffer,
    Destination,
}

impl Arrived {
    fn is_complete(&self) -> bool {
        self.place != Place::Nowhere && self.reassembly.is_complete()
    }

    /// Whether there is room for that part: in the pushed buffer only for what is pushed.
    fn has_place(&self, offset: u64, payload: &Message) -> bool {
        match self.place {
            Place::Nowhere => false,
            Place::PushedBuffer => offset.saturating_add(payload.size().0) <= self.reassembly.pushed(),
            Place::Destination => true,
        }
    }

    /// It is its turn, if it has just been completed.
    fn take_turn(&mut self, turns: &mut u64) {
        if self.turn.is_none() && self.is_complete() {
            self.turn = Some(*turns);
            *turns += 1;
        }
    }
}

fn room_for(reassembly: &Reassembly) -> u64 {
    reassembly.pushed().max(LEAST_ROOM)
}

impl Receiver {
    pub(crate) fn new(parameters: &Parameters) -> Receiver {
        let Parameters { window, repeat, reporting, pushed_buffer, timing, .. } = *parameters;
        Receiver {
            receive_stream: ReceiveStream::new(FIRST, u64::from(window), repeat, reporting),
            messages: VecDeque::new(),
            first: FIRST,
            room: pushed_buffer,
            waiting: Waiting::new(timing),
        }
    }

    /// Takes a packet. `turns` counts the messages that were completed, of all ranks.
    pub(crate) fn take(&mut self, now: Time, data: Data, answer: bool, turns: &mut u64) {
        self.receive_stream.offer(now, data.sequence, answer, data);
        while let Some(data) = self.receive_stream.advance(now) {
            self.store(now, &data);
            self.messages.iter_mut().for_each(|arrived| arrived.take_turn(turns));
        }
    }

    fn store(&mut self, now: Time, data: &Data) {
        self.waiting.heard(now);
        let end = self.first + self.messages.len() as u64;
        let Some(number) = near(end, data.message) else { return };
        match data.part {
            Part::Opening(opening) if number == end => {
                let mut reassembly = Reassembly::new(opening);
                let place = self.place_for(&reassembly);
                if place == Place::PushedBuffer {
                    self.room -= room_for(&reassembly);
                }
                let kept = place != Place::Nowhere;
                if kept {
                    reassembly.take(0, &data.payload);
                }
                self.messages.push_back(Arrived { reassembly, place, kept, turn: None });
                if place == Place::Destination {
                    self.pull(now);
                }
            }
            Part::Opening(_) => {}
            Part::From(offset) => {
                let place = number.checked_sub(self.first).and_then(|place| usize::try_from(place).ok());
                let arrived = place.and_then(|place| self.messages.get_mut(place));
                if let Some(arrived) = arrived.filter(|arrived| arrived.has_place(offset, &data.payload)) {
                    arrived.reassembly.take(offset, &data.payload);
                }
            }
        }
    }

    fn place_for(&self, reassembly: &Reassembly) -> Place {
        if self.waiting.is_posted() && self.messages.is_empty() {
            Place::Destination
        } else if self.room >= room_for(reassembly) {
            Place::PushedBuffer
        } else {
            Place::Nowhere
        }
    }

    /// Tells the source at once that the first message has a destination, if it has to come from there.
    fn pull(&mut self, now: Time) {
        if self.pulled().is_some() {
            self.receive_stream.report_at(now);
        }
    }

    /// What is pulled: the first message, from the end of what was pushed, or from its beginning if that was thrown away.
    fn pulled(&self) -> Option<(u32, u64)> {
        let Arrived { reassembly, place, kept, .. } = self.messages.front()?;
        let from = if *kept { reassembly.pushed() } else { 0 };
        let pulls = *place == Place::Destination && !reassembly.is_complete() && from < reassembly.size();
        pulls.then_some((wire(self.first), from))
    }

    /// A receive waits for the next message.
    pub(crate) fn post(&mut self, now: Time, turns: &mut u64) {
        self.waiting.post(now);
        if let Some(first) = self.messages.front_mut().filter(|first| first.place != Place::Destination) {
            if first.place == Place::PushedBuffer {
                self.room += room_for(&first.reassembly);
            }
            first.place = Place::Destination;
            first.take_turn(turns);
            if !first.kept {
                self.receive_stream.report_at(now);
            }
            self.pull(now);
        }
    }

    /// The receive waits no longer, or for another.
    pub(crate) fn withdraw(&mut self) {
        self.waiting.withdraw();
    }

    /// Whether a message has come, or begun to, that nobody has received.
    pub(crate) fn has_any(&self) -> bool {
        !self.messages.is_empty()
    }

    /// Whether a message has come of which not everything has.
    pub(crate) fn has_begun(&self) -> bool {
        self.messages.front().is_some_and(|first| first.turn.is_none())
    }

    /// Whether the first message has a destination and not everything of it has come.
    pub(crate) fn is_pulling(&self) -> bool {
        self.messages.front().is_some_and(|it| it.place == Place::Destination && it.turn.is_none())
    }

    /// Which of all messages of all ranks the first one was to be complete, if it is.
    pub(crate) fn turn(&self) -> Option<u64> {
        self.messages.front()?.turn
    }

    /// The first message, if it is complete.
    pub(crate) fn receive(&mut self) -> Option<Message> {
        self.turn()?;
        let Arrived { reassembly, place, .. } = self.messages.pop_front()?;
        if place == Place::PushedBuffer {
            self.room += room_for(&reassembly);
        }
        self.first += 1;
        self.waiting.withdraw();
        Some(reassembly.into_message())
    }

    /// A report is due at `now` at the latest.
    pub(crate) fn report_at(&mut self, now: Time) {
        self.receive_stream.report_at(now);
    }

    /// The source asks what is here.
    pub(crate) fn ask(&mut self, now: Time) {
        self.receive_stream.ask(now);
    }

    /// How many packets came that were there already.
    pub(crate) const fn again(&self) -> u64 {
        self.receive_stream.again()
    }

    pub(crate) const fn waiting(&self) -> &Waiting {
        &self.waiting
    }

    /// When a report, or a question whether the source is still there, is due.
    pub(crate) fn deadline(&self) -> Option<Time> {
        [self.receive_stream.due(), self.asks_at()].into_iter().flatten().min()
    }

    fn asks_at(&self) -> Option<Time> {
        self.waiting.asks_at(self.is_pulling())
    }

    /// The report that is due, and whether the source is to answer.
    pub(crate) fn report(&mut self, now: Time) -> Option<(Report, bool)> {
        let asks = self.asks_at().is_some_and(|at| at <= now);
        if !asks && self.receive_stream.due().is_none_or(|due| due > now) {
            return None;
        }
        if asks {
            self.waiting.asked(now);
        }
        let complete = self.messages.iter().take_while(|it| it.is_complete()).count() as u64;
        let report =
            Report { complete: wire(self.first + complete), pull: self.pulled(), ..self.receive_stream.report() };
        Some((report, asks))
    }
}
