//! The receiver's side.

use std::collections::VecDeque;

use endpoint::{Message, Tag};
use quantities::{Duration, Rank, Time};

use crate::packet::{Data, Parity, Part, ReceiverReport};
use crate::parity::Recovery;
use crate::push_pull::LEAST_ROOM;
use crate::reassembly::{Complete, Reassembly};
use crate::sequence::{FIRST, near, wire};
use crate::waiting::Waiting;
use crate::{BroadcastProtocol, Parameters, ReceiveStream, Repeat, Reporting};

/// One receiver's side of everything that one rank broadcasts.
#[derive(Clone, Debug)]
pub(crate) struct Receiver {
    me: Rank,
    receive_stream: ReceiveStream<Data>,
    /// It reports after this many pushed packets if another receiver acknowledges for all.
    pushed_packets: u64,
    /// Computes lost packets from parity packets, if these are in use.
    recovery: Option<Recovery>,
    /// The messages that have not been received yet; the first has number `first`. Only the last can be incomplete.
    messages: VecDeque<Reassembly>,
    first: u64,
    /// Whether the first message goes to its destination; everything else is in the pushed buffer.
    has_destination: bool,
    /// The room left in the pushed buffer. [B]
    room: u64,
    /// The largest message that it accepts. [B]
    largest: u64,
    waiting: Waiting,
}

/// If one receiver acknowledges for all, the others report after half a window; in a simple broadcast nobody
/// acknowledges for others.
fn pushed_packets(parameters: &Parameters, packets: u64) -> u64 {
    match parameters.broadcast_protocol {
        BroadcastProtocol::Simple => packets,
        BroadcastProtocol::PushPull => packets.max(u64::from(parameters.window / 2)),
    }
}

fn room_for(reassembly: &Reassembly) -> u64 {
    reassembly.pushed().max(LEAST_ROOM)
}

impl Receiver {
    /// The receivers report one after the other, not all at once.
    pub(crate) fn new(me: Rank, size: u32, parameters: &Parameters) -> Receiver {
        let Parameters { window, repeat, reporting, pushed_buffer, timing, .. } = *parameters;
        let share = reporting.delay.picoseconds() / u64::from(size.max(1)) * u64::from(me.0);
        let delay = reporting.delay + Duration::from_picoseconds(share);
        let reporting = Reporting { packets: parameters.broadcast_packets.unwrap_or(reporting.packets), delay };
        let pushed_packets = pushed_packets(parameters, reporting.packets);
        let (receive_stream, recovery) = match repeat {
            Repeat::Parity(parity) => {
                let phase = reporting.packets * u64::from(me.0) / u64::from(size.max(1));
                (ReceiveStream::with_parity(FIRST, parity, reporting, phase), Some(Recovery::new(parity)))
            }
            Repeat::GoBackN | Repeat::Selective => {
                (ReceiveStream::new(FIRST, u64::from(window), repeat, reporting), None)
            }
        };
        Receiver {
            me,
            receive_stream,
            recovery,
            pushed_packets,
            messages: VecDeque::new(),
            first: FIRST,
            has_destination: false,
            room: pushed_buffer,
            largest: parameters.largest,
            waiting: Waiting::new(timing),
        }
    }

    /// Takes a packet.
    pub(crate) fn take(&mut self, now: Time, data: Data, answer: bool) {
        self.waiting.note_arrival(now);
        let sequence = near(self.receive_stream.expected(), data.sequence);
        self.receive_stream.offer(now, data.sequence, answer, data);
        let recovery = self.recovery.as_ref().zip(sequence);
        if let Some(block) = recovery.and_then(|(recovery, sequence)| recovery.block_with_parity(sequence)) {
            self.compute(now, block);
        }
        self.store(now);
    }

    /// Takes a parity packet.
    pub(crate) fn take_parity(&mut self, now: Time, parity: &Parity) {
        let Some(recovery) = &mut self.recovery else { return };
        self.waiting.note_arrival(now);
        if let Some(block) = recovery.take(parity, self.receive_stream.expected()) {
            self.receive_stream.note_parity(now);
            self.compute(now, block);
            self.store(now);
        }
    }

    /// Computes the missing packets of a block if enough of it has arrived.
    fn compute(&mut self, now: Time, block: u64) {
        let Some(recovery) = &mut self.recovery else { return };
        let computed =
            recovery.compute(block, self.receive_stream.expected(), |sequence| self.receive_stream.early(sequence));
        for data in computed {
            self.receive_stream.offer(now, data.sequence, false, data);
        }
    }

    /// There is more room than before.
    fn use_room(&mut self, now: Time) {
        self.store(now);
        if self.receive_stream.front().is_none() {
            self.receive_stream.has_room(now);
        }
    }

    /// Stores the packets whose turn has come, as long as there is room.
    fn store(&mut self, now: Time) {
        while let Some(data) = self.receive_stream.front().cloned() {
            if !self.has_place(&data) {
                return self.receive_stream.refuse(now);
            }
            let sequence = self.receive_stream.expected();
            self.advance(now, &data);
            self.receive_stream.has_room(now);
            if let Some(recovery) = &mut self.recovery {
                recovery.keep(sequence, data.clone());
            }
            match data.part {
                Part::Opening(opening) => self.open(now, Reassembly::new(opening), &data.payload),
                Part::From(offset) => {
                    if let Some(last) = self.messages.back_mut() {
                        last.take(offset, &data.payload);
                    }
                    self.acknowledge(now);
                }
            }
        }
    }

    /// A packet has been stored. A push that another receiver acknowledges is not answered at once.
    fn advance(&mut self, now: Time, data: &Data) {
        let pushed_of_another = match data.part {
            Part::Opening(opening) => opening.label.acknowledger() != self.me,
            Part::From(offset) => self
                .messages
                .back()
                .is_some_and(|last| last.label().acknowledger() != self.me && offset < last.pushed()),
        };
        if pushed_of_another {
            self.receive_stream.advance_by(now, self.pushed_packets);
        } else {
            self.receive_stream.advance(now);
        }
    }

    fn open(&mut self, now: Time, mut reassembly: Reassembly, payload: &Message) {
        reassembly.take(0, payload);
        if self.messages.is_empty() && self.waiting.is_posted() {
            self.has_destination = true;
        } else {
            self.room -= room_for(&reassembly);
            reassembly.note_buffered();
        }
        self.messages.push_back(reassembly);
        self.acknowledge(now);
    }

    /// Whether there is room for this part.
    fn has_place(&self, data: &Data) -> bool {
        let end = self.first + self.messages.len() as u64;
        match data.part {
            // Computed from parity packets, which nobody has checked against the limit.
            Part::Opening(opening) if opening.size > self.largest => false,
            Part::Opening(opening) if near(end, data.message) == Some(end) => {
                let to_destination = self.messages.is_empty() && self.waiting.is_posted();
                to_destination || self.room >= room_for(&Reassembly::new(opening))
            }
            Part::From(offset) => {
                let last_has_destination = self.has_destination && self.messages.len() == 1;
                last_has_destination || self.messages.back().is_some_and(|last| offset < last.pushed())
            }
            // The source numbers its messages differently: no later packet can be accepted either.
            Part::Opening(_) => false,
        }
    }

    /// If this rank acknowledges for all, reports at once that the pushed part has arrived and the rest can be pulled.
    fn acknowledge(&mut self, now: Time) {
        let Some(last) = self.messages.back() else { return };
        let ready = last.is_complete() || self.pulled().is_some();
        if last.label().acknowledger() == self.me && last.have() == last.pushed() && ready {
            self.receive_stream.report_at(now);
        }
    }

    /// What to pull: of the message that has a destination, everything after the pushed part.
    fn pulled(&self) -> Option<(u32, u64)> {
        let first = self.messages.front().filter(|first| self.has_destination && !first.is_complete())?;
        (first.pushed() < first.size()).then_some((wire(self.first), first.pushed()))
    }

    /// A receive waits for the next message.
    pub(crate) fn post(&mut self, now: Time) {
        self.waiting.post(now);
        if let Some(first) = self.messages.front().filter(|_| !self.has_destination) {
            self.room += room_for(first);
            self.has_destination = true;
            self.acknowledge(now);
        }
        self.use_room(now);
    }

    /// The receive no longer waits.
    pub(crate) fn withdraw(&mut self) {
        self.waiting.withdraw();
    }

    /// The first message, if it is complete.
    pub(crate) fn receive(&mut self, now: Time) -> Option<Complete> {
        if !self.messages.front()?.is_complete() {
            return None;
        }
        let first = self.messages.pop_front()?;
        if !std::mem::take(&mut self.has_destination) {
            self.room += room_for(&first);
        }
        self.first += 1;
        self.waiting.withdraw();
        self.use_room(now);
        Some(first.into_complete(Tag::default()))
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

    /// When a report is due, or a question whether the source is still alive.
    pub(crate) fn deadline(&self) -> Option<Time> {
        [self.receive_stream.due(), self.waiting.next_question_at(false)].into_iter().flatten().min()
    }

    /// The report that is due, and whether the source must answer it.
    pub(crate) fn report(&mut self, now: Time) -> Option<(ReceiverReport, bool)> {
        let asks = self.waiting.next_question_at(false).is_some_and(|at| at <= now);
        if !asks && self.receive_stream.due().is_none_or(|due| due > now) {
            return None;
        }
        if asks {
            self.waiting.note_question(now);
        }
        let complete = self.messages.iter().take_while(|message| message.is_complete()).count() as u64;
        let held = self.recovery.as_ref().map(Recovery::held).unwrap_or_default();
        let (complete, pull) = (wire(self.first + complete), self.pulled());
        Some((ReceiverReport { complete, pull, held, ..self.receive_stream.report() }, asks))
    }
}
