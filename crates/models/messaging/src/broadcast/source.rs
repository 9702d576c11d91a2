//! The source's side.

use std::collections::VecDeque;

use endpoint::Message;
use quantities::{Rank, Time};

use super::{push_pull, simple};
use crate::fragmenter::Fragmenter;
use crate::memory;
use crate::packet::symbol::{FRAGMENT_ROOM, OPENING_ROOM};
use crate::packet::{Body, Data, Label, ReceiverReport};
use crate::parity::{ReceiverState, Repairs};
use crate::sequence::{FIRST, near, wire};
use crate::{BroadcastProtocol, Destination, Parameters, Repeat, SendStream, SharedQueue};

/// The source's side of everything that a rank broadcasts.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    me: Rank,
    /// The send queue: the messages that have not been sent completely, oldest first.
    messages: VecDeque<Fragmenter>,
    /// The number of the next message.
    next: u64,
    /// The packets that a receiver may still lack: BUF, with one consumer per rank.
    packets: SharedQueue<Data>,
    /// The lightweight points, by rank; none for this rank itself and for receivers that are gone.
    views: Vec<Option<SendStream>>,
    /// Repairs losses with parity packets, if these are in use.
    repairs: Option<Repairs>,
    /// The receivers to which packets have been in flight again since [`Source::started`] was last called.
    started: Vec<Rank>,
    /// How many packets were sent again to receivers that are gone now.
    repeated: u64,
}

impl Source {
    pub(crate) fn new(me: Rank, size: u32, parameters: &Parameters) -> Source {
        let (stored, view, repairs) = match parameters.repeat {
            Repeat::Parity(parity) => {
                let view = SendStream::with_parity(FIRST, parameters.timing);
                (parity.window(), view, Some(Repairs::new(parity, parameters.window)))
            }
            repeat => {
                let view = SendStream::new(FIRST, repeat, parameters.timing).with_probe(parameters.probe);
                (parameters.window, view, None)
            }
        };
        let mut packets = SharedQueue::new(FIRST, stored as usize, size);
        packets.unlink(me.0 as usize);
        let views = (0..size).map(|rank| (rank != me.0).then(|| view.clone())).collect();
        Source { me, messages: VecDeque::new(), next: FIRST, packets, views, repairs, started: Vec::new(), repeated: 0 }
    }

    /// Whether everything that was broadcast has arrived.
    pub(crate) fn is_done(&self) -> bool {
        self.messages.is_empty() && !self.views.iter().flatten().any(SendStream::is_under_way)
    }

    /// How many messages have not been sent completely.
    pub(crate) fn waiting(&self) -> usize {
        self.messages.len()
    }

    /// Whether a receiver that waits for more will get it: it is in flight, or will be, since every receiver that holds
    /// it up `can_continue`.
    pub(crate) fn will_get_more(&self, to: Rank, can_continue: impl Fn(Rank) -> bool) -> bool {
        let under_way = self.view(to).is_some_and(SendStream::is_under_way);
        under_way || !self.messages.is_empty() && self.blocking_receivers().into_iter().all(can_continue)
    }

    /// The receivers that have no room for what is in flight, and the one that has to pull the rest.
    fn blocking_receivers(&self) -> Vec<Rank> {
        let full = |rank: &Rank| self.view(*rank).is_some_and(SendStream::has_no_room);
        self.receivers().into_iter().filter(full).chain(self.awaited_receiver()).collect()
    }

    /// The receiver that has to pull something before this rank can broadcast more.
    pub(crate) fn awaited_receiver(&self) -> Option<Rank> {
        self.messages.front().filter(|first| !first.may_send()).map(|first| first.label().acknowledger())
    }

    pub(crate) fn view(&self, rank: Rank) -> Option<&SendStream> {
        self.views.get(rank.0 as usize)?.as_ref()
    }

    fn receivers(&self) -> Vec<Rank> {
        (0..).map(Rank).zip(&self.views).filter(|(_, view)| view.is_some()).map(|(rank, _)| rank).collect()
    }

    /// Puts a message into the send queue.
    pub(crate) fn submit(&mut self, message: Message, parameters: &Parameters) {
        let number = self.next;
        self.next += 1;
        let Some(acknowledger) = push_pull::acknowledger(&self.receivers(), number) else { return };
        let size = message.size();
        let (push, acknowledger) = match parameters.broadcast_protocol {
            // The source itself: nobody is asked to acknowledge before the others.
            BroadcastProtocol::Simple => (simple::push_of(size), self.me),
            BroadcastProtocol::PushPull => (parameters.push_of(size), acknowledger),
        };
        self.messages.push_back(Fragmenter::new(number, message, push, Label::acknowledged_by(acknowledger)));
    }

    /// Gives up on all messages, and on all receivers.
    pub(crate) fn clear(&mut self) {
        self.messages.clear();
        for rank in self.receivers() {
            self.unlink(rank);
        }
    }

    /// Continues without this receiver.
    pub(crate) fn unlink(&mut self, rank: Rank) {
        let Some(view) = self.views.get_mut(rank.0 as usize) else { return };
        if let Some(view) = view.take() {
            self.repeated += view.repeated();
            self.packets.unlink(rank.0 as usize);
            // Send what it should have pulled, as if it had.
            let of_it = self.messages.iter_mut().filter(|message| message.label().acknowledger() == rank);
            of_it.for_each(|message| message.pull(u64::MAX));
        }
        if self.receivers().is_empty() {
            self.messages.clear();
        }
    }

    /// What to send now: first what receivers lost, then something new; to whom; and whether it must be answered. Only
    /// `touched` receivers may have reported a loss, or be asked.
    pub(crate) fn next_packet(
        &mut self,
        now: Time,
        parameters: &Parameters,
        touched: &[Rank],
    ) -> Option<(Destination, Body, bool)> {
        for &rank in touched {
            let view = self.views.get_mut(rank.0 as usize).and_then(Option::as_mut);
            if let Some((number, answer)) = view.and_then(|view| view.repeat(now)) {
                let data = self.packets.entry(number)?;
                return Some((Destination::One(rank), Body::Data(data.clone()), answer));
            }
        }
        if let Some(repairs) = &mut self.repairs
            && let Some((parity, end)) = repairs.next_packet(&self.packets, parameters.datagram)
        {
            return Some((self.all_before(end), Body::Parity(parity), false));
        }
        self.next_part(now, parameters)
    }

    /// The destination of a repair of packets before `end`: all receivers, unless only one of them lacks these.
    fn all_before(&self, end: u64) -> Destination {
        let lacks = |view: &Option<SendStream>| view.as_ref().is_some_and(|view| view.base() < end);
        let mut lacking = (0..).map(Rank).zip(&self.views).filter(|(_, view)| lacks(view)).map(|(rank, _)| rank);
        match (lacking.next(), lacking.next()) {
            (Some(rank), None) => Destination::One(rank),
            _ => Destination::All,
        }
    }

    /// Something new, if there is room for it and no receiver needs a repair first.
    fn next_part(&mut self, now: Time, parameters: &Parameters) -> Option<(Destination, Body, bool)> {
        if self.is_held_up() || self.is_full(parameters) {
            return None;
        }
        let message = self.messages.front_mut()?;
        let shorter = match self.repairs {
            Some(_) if message.is_opened() => FRAGMENT_ROOM,
            Some(_) => OPENING_ROOM,
            None => 0,
        };
        let mut data = message.next_part(parameters.datagram - shorter);
        data.sequence = wire(self.packets.next());
        if message.is_sent() {
            self.messages.pop_front();
        }
        self.packets.produce(data.clone()).ok()?;
        for (rank, view) in (0..).map(Rank).zip(&mut self.views) {
            let Some(view) = view else { continue };
            if !view.is_under_way() {
                self.started.push(rank);
            }
            view.sent(now);
        }
        self.move_on();
        // A source that is stuck needs to know as soon as it can continue; but where reports come steadily it need not
        // ask for them.
        let answer = self.repairs.is_none() && parameters.asks_when_full() && self.packets.room() == 0;
        Some((Destination::All, Body::Data(data), answer))
    }

    /// Whether nothing new can be sent, however soon reports arrive.
    fn is_held_up(&self) -> bool {
        let behind = || self.views.iter().flatten().any(SendStream::is_behind);
        !self.messages.front().is_some_and(Fragmenter::may_send) || behind()
    }

    /// Whether as much is in flight as allowed. This counts packets that some receiver lacks; where many more of these
    /// are kept until they are repaired, only those that are in the network.
    fn is_full(&self, parameters: &Parameters) -> bool {
        let seen = || self.views.iter().flatten().map(SendStream::seen).min();
        let flies = || seen().map_or(0, |seen| self.packets.next() - seen);
        self.packets.room() == 0 || self.repairs.is_some() && flies() >= u64::from(parameters.window)
    }

    /// Drops blocks that are complete or no longer needed.
    fn move_on(&mut self) {
        if let Some(repairs) = &mut self.repairs {
            repairs.advance(self.packets.first(), self.packets.next());
        }
    }

    /// Takes a receiver's report.
    pub(crate) fn report(&mut self, now: Time, from: Rank, report: &ReceiverReport) {
        let place = from.0 as usize;
        let urgent = self.is_held_up() || self.packets.room() == 0;
        let Some(Some(view)) = self.views.get_mut(place) else { return };
        let asked = view.report(now, report);
        // Parity is computed from whole blocks.
        let passed = self.repairs.as_ref().map_or(view.base(), |repairs| repairs.block_of(view.base()));
        self.packets.pass(place, passed);
        if let (Some(repairs), Some(asked)) = (&mut self.repairs, asked) {
            let receiver = ReceiverState { base: view.base(), seen: view.seen(), report };
            let alone = repairs.report(&receiver, asked, asked || urgent);
            view.lost_alone(now, asked, alone.into_iter());
        }
        self.move_on();
        if let (Some((message, offset)), Some(first)) = (report.pull, self.messages.front_mut())
            && near(self.next, message) == Some(first.number())
            && first.label().acknowledger() == from
        {
            first.pull(offset);
        }
    }

    /// Sends again what is due to this receiver; returns whether anything is.
    pub(crate) fn wake(&mut self, now: Time, rank: Rank) -> bool {
        self.views.get_mut(rank.0 as usize).and_then(Option::as_mut).is_some_and(|view| view.wake(now))
    }

    /// Whether to ask this receiver now what it has.
    pub(crate) fn should_ask(&mut self, rank: Rank) -> bool {
        self.views.get_mut(rank.0 as usize).and_then(Option::as_mut).is_some_and(SendStream::should_ask)
    }

    /// The receivers to which packets are in flight again and which were not waited for before.
    pub(crate) fn started(&mut self) -> Vec<Rank> {
        std::mem::take(&mut self.started)
    }

    /// The memory it occupies now, including what its packets keep of messages. [B]
    pub(crate) fn memory(&self) -> u64 {
        let views = self.views.iter().flatten().count() as u64;
        let parity = self.repairs.as_ref().map_or(0, Repairs::memory);
        memory::send_queue(self.messages.len()) + memory::buffer(&self.packets) + views * memory::light_point() + parity
    }

    /// How many packets were sent again, and parity packets sent in their place.
    pub(crate) fn repeated(&self) -> u64 {
        let parity = self.repairs.as_ref().map_or(0, Repairs::sent);
        self.views.iter().flatten().map(SendStream::repeated).sum::<u64>() + self.repeated + parity
    }
}
