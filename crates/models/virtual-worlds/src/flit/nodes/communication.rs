//! What a node's communication processor does: it cuts messages into packets and reassembles them.

use std::collections::VecDeque;

use machines::model::{Acknowledged, NodeCosts, NodeId, Protocol, SendMode};
use quantities::{Bytes, Duration, Time};

use super::messages::Letter;
use super::{Nodes, OperationStatus, WorldEvent};
use crate::flit::network::{Engine, Injection, Uncut};

/// The tasks of a communication processor, each for the message with that number.
#[derive(Clone, Copy, Debug)]
pub(super) enum Task {
    /// Send the set-up packet.
    SetUp(u32),
    /// Send the next data packet; with the cost of the message itself, if it is the `first`.
    SendPacket(u32, bool),
    /// Send a system message about the message to its other end.
    SendSystem(u32, System),
    /// Take in a packet that carries data.
    ReceivePacket(u32),
    /// Take in the set-up packet of a message that does not ride on it.
    ReceiveSetUp(u32),
    /// Take in a system message.
    ReceiveSystem(u32, System),
}

/// A system message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum System {
    /// The sender's announcement of a message.
    Announcement,
    /// The receiver's answer to a set-up or an announcement: the data can come.
    Ready,
    /// The message was received.
    Acknowledgement,
}

/// What a packet carries, in the low bits of its token; the message's number is above them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Carries {
    Data,
    SetUp,
    System(System),
}

const KINDS: [Carries; 5] = [
    Carries::Data,
    Carries::SetUp,
    Carries::System(System::Announcement),
    Carries::System(System::Ready),
    Carries::System(System::Acknowledgement),
];
/// Bits of a token that hold what the packet carries.
const KIND_BITS: u32 = 3;

fn token(letter: u32, carries: Carries) -> u64 {
    let kind = KINDS.iter().position(|kind| *kind == carries).unwrap_or_default();
    (u64::from(letter) << KIND_BITS) | kind as u64
}

fn from_token(token: u64) -> (u32, Carries) {
    ((token >> KIND_BITS) as u32, KINDS[(token & ((1 << KIND_BITS) - 1)) as usize])
}

impl<E: Engine> Nodes<E> {
    /// A processor has set a message up, and hands it over.
    pub(super) fn hand_over(&mut self, rank: u32, letter: u32) {
        let size = self.letters[letter].message.size();
        let packets = size.0.div_ceil(self.network.packet.payload.0).max(1) as u32;
        let whole = &mut self.letters[letter];
        (whole.departing, whole.arriving) = (packets, packets);
        let task = match self.costs.protocol {
            Protocol::Eager => Task::SendPacket(letter, true),
            Protocol::SetUp { piggyback } => {
                if size <= piggyback {
                    (whole.departing, whole.arriving) = (1, 1);
                }
                Task::SetUp(letter)
            }
            Protocol::Rendezvous { .. } if self.is_announced(letter) => Task::SendSystem(letter, System::Announcement),
            Protocol::Rendezvous { .. } => Task::SendPacket(letter, true),
        };
        self.communicate(rank, task);
    }

    /// Whether a message is sent only after the receiving program has asked for it.
    pub(super) fn is_announced(&self, letter: u32) -> bool {
        match self.costs.protocol {
            Protocol::Rendezvous { eager } => eager.is_none_or(|eager| self.letters[letter].message.size() > eager),
            Protocol::Eager | Protocol::SetUp { .. } => false,
        }
    }

    pub(super) fn communicate(&mut self, rank: u32, task: Task) {
        self.nodes[rank as usize].communication.add(task);
        self.run_communication(rank);
    }

    fn run_communication(&mut self, rank: u32) {
        self.send_remaining(rank);
        while let Some(task) = self.nodes[rank as usize].communication.next() {
            let time = self.time_of_task(task);
            let resource = &mut self.nodes[rank as usize].communication;
            if !time.is_zero() {
                resource.begin(task);
                let end = self.queue.now() + time;
                self.queue.put(end, WorldEvent::Communication(rank));
                return;
            }
            resource.settle(true);
            self.perform(rank, task);
            self.nodes[rank as usize].communication.settle(false);
            self.send_remaining(rank);
        }
    }

    /// Where packets cost a communication processor nothing and its only work is to send some, all of them go at once,
    /// one of each message in turn: then they enter the injection queue as messages, to be cut later.
    fn send_remaining(&mut self, rank: u32) {
        let NodeCosts { packet_send, packet_rate, message_send, waits_for_departure, .. } = self.costs;
        if !packet_send.is_zero() || packet_rate.is_some() || waits_for_departure {
            return;
        }
        let (letters, payload) = (&mut self.letters, self.network.packet.payload);
        let Some(tasks) = self.nodes[rank as usize].communication.next_ones() else { return };
        let is_free = |task: &Task| matches!(task, Task::SendPacket(_, first) if !first || message_send.is_zero());
        match tasks.front() {
            Some(Task::SendPacket(letter, _)) if letters[*letter].unsent > payload && tasks.iter().all(is_free) => {}
            _ => return,
        }
        let mut messages = VecDeque::with_capacity(tasks.len());
        for task in tasks.drain(..) {
            let Task::SendPacket(letter, _) = task else { continue };
            let bytes = std::mem::take(&mut letters[letter].unsent);
            let destination = NodeId(letters[letter].to.0);
            messages.push_back(Uncut { destination, token: token(letter, Carries::Data), bytes });
        }
        let now = self.queue.now();
        let packets: u64 = messages.iter().map(|message| message.packets(self.network.packet)).sum();
        self.count_ready(rank, now, packets);
        self.engine.inject_uncut(now, NodeId(rank), messages, &mut self.queue);
    }

    /// Counts `packets` of a node that are ready at `now` to leave it.
    fn count_ready(&mut self, rank: u32, now: Time, packets: u64) {
        let node = &mut self.nodes[rank as usize];
        node.statistics.packets += packets;
        node.away = node.away.wrapping_sub(u128::from(now.picoseconds()) * u128::from(packets));
    }

    pub(super) fn communication_done(&mut self, rank: u32) {
        if let Some(task) = self.nodes[rank as usize].communication.end() {
            self.perform(rank, task);
        }
        self.run_communication(rank);
    }

    fn time_of_task(&self, task: Task) -> Duration {
        let costs = &self.costs;
        match task {
            Task::SetUp(letter) => costs.message_send + costs.packet_send + self.moved(self.piggybacked_bytes(letter)),
            Task::SendPacket(letter, first) => {
                let own = if first { costs.message_send } else { Duration::ZERO };
                own + costs.packet_send + self.moved(self.next_payload(letter))
            }
            Task::ReceiveSetUp(_) => costs.packet_receive,
            Task::ReceivePacket(letter) => self.time_to_take_in(letter),
            Task::SendSystem(..) | Task::ReceiveSystem(..) => costs.system_message,
        }
    }

    /// The communication processor's time to take in a packet; the last packet of a message carries the remaining
    /// bytes.
    fn time_to_take_in(&self, letter: u32) -> Duration {
        let (costs, payload) = (&self.costs, self.network.packet.payload.0);
        let Letter { arriving, message, .. } = &self.letters[letter];
        if *arriving > 1 {
            return costs.packet_receive + self.moved(Bytes(payload));
        }
        let before = message.size().0.saturating_sub(1) / payload * payload;
        let last = self.moved(Bytes(message.size().0 - before));
        costs.packet_receive + last + costs.message_receive + self.reconstruction()
    }

    /// The communication processor's time to move `bytes` between memory and network.
    fn moved(&self, bytes: Bytes) -> Duration {
        self.costs.packet_rate.map_or(Duration::ZERO, |rate| rate.time_of(bytes))
    }

    /// Message bytes in the next packet.
    fn next_payload(&self, letter: u32) -> Bytes {
        self.letters[letter].unsent.min(self.network.packet.payload)
    }

    /// Message bytes that ride on a set-up packet.
    fn piggybacked_bytes(&self, letter: u32) -> Bytes {
        let size = self.letters[letter].message.size();
        match self.costs.protocol {
            Protocol::SetUp { piggyback } if size <= piggyback => size,
            _ => Bytes(0),
        }
    }

    fn reconstruction(&self) -> Duration {
        if self.reorders { self.costs.reconstruction } else { Duration::ZERO }
    }

    fn perform(&mut self, rank: u32, task: Task) {
        match task {
            Task::SetUp(letter) => self.send_set_up(rank, letter),
            Task::SendPacket(letter, _) => {
                let bytes = self.next_payload(letter);
                let unsent = &mut self.letters[letter].unsent;
                unsent.0 -= bytes.0;
                let more = unsent.0 > 0;
                self.inject(rank, letter, bytes, Carries::Data);
                if more && !self.costs.waits_for_departure {
                    self.nodes[rank as usize].communication.add(Task::SendPacket(letter, false));
                }
            }
            Task::SendSystem(letter, system) => self.inject(rank, letter, Bytes(0), Carries::System(system)),
            Task::ReceivePacket(letter) => {
                self.letters[letter].arriving -= 1;
                if self.letters[letter].arriving == 0 {
                    self.arrived(rank, letter);
                }
            }
            Task::ReceiveSetUp(letter) => self.communicate(rank, Task::SendSystem(letter, System::Ready)),
            Task::ReceiveSystem(letter, System::Announcement) => self.offer(rank, letter),
            Task::ReceiveSystem(letter, System::Ready) => {
                // The message's own cost was counted with its set-up packet, but an announcement does not count it.
                let first = self.is_announced(letter);
                self.communicate(rank, Task::SendPacket(letter, first));
            }
            Task::ReceiveSystem(letter, System::Acknowledgement) => {
                let operation = self.letters[letter].sending.0;
                self.letters.release(letter);
                self.finish(rank, operation, OperationStatus::Over);
            }
        }
    }

    /// A short message rides on its set-up packet; the set-up packet of a long one carries no data.
    fn send_set_up(&mut self, rank: u32, letter: u32) {
        let Protocol::SetUp { piggyback } = self.costs.protocol else { return };
        let size = self.letters[letter].message.size();
        if size <= piggyback {
            self.letters[letter].unsent = Bytes(0);
            self.inject(rank, letter, size, Carries::Data);
        } else {
            self.inject(rank, letter, Bytes(0), Carries::SetUp);
        }
    }

    fn inject(&mut self, rank: u32, letter: u32, bytes: Bytes, carries: Carries) {
        let now = self.queue.now();
        let (from, to) = (self.letters[letter].from.0, self.letters[letter].to.0);
        let destination = if rank == from { to } else { from };
        if carries == Carries::Data {
            self.count_ready(rank, now, 1);
        }
        let order = Injection {
            source: NodeId(rank),
            destination: NodeId(destination),
            bytes,
            flits: self.network.packet.flits(bytes),
            token: token(letter, carries),
        };
        self.engine.inject(now, order, &mut self.queue);
    }

    /// The tail of a packet has left its source.
    pub(super) fn departed(&mut self, now: Time, rank: u32, token: u64) {
        let (letter, carries) = from_token(token);
        if carries != Carries::Data {
            return;
        }
        let away = &mut self.nodes[rank as usize].away;
        *away = away.wrapping_add(u128::from(now.picoseconds()));
        self.letters[letter].departing -= 1;
        if self.costs.waits_for_departure && self.letters[letter].unsent.0 > 0 {
            self.communicate(rank, Task::SendPacket(letter, false));
        }
        if self.letters[letter].departing == 0 {
            let operation = self.letters[letter].sending.0;
            self.letters.release(letter);
            if self.costs.send == SendMode::Blocking {
                self.finish(rank, operation, OperationStatus::Over);
            }
        }
    }

    /// The tail of a packet has reached its destination.
    pub(super) fn delivered(&mut self, rank: u32, token: u64) {
        let (letter, carries) = from_token(token);
        let task = match carries {
            Carries::Data => Task::ReceivePacket(letter),
            Carries::SetUp => Task::ReceiveSetUp(letter),
            Carries::System(system) => Task::ReceiveSystem(letter, system),
        };
        self.communicate(rank, task);
    }

    /// A whole message has arrived.
    fn arrived(&mut self, rank: u32, letter: u32) {
        if self.costs.send == (SendMode::Synchronous { acknowledged: Acknowledged::OnArrival }) {
            self.nodes[rank as usize].communication.add(Task::SendSystem(letter, System::Acknowledgement));
        }
        match self.letters[letter].waiting_receive.take() {
            Some(receive) => self.start_completion(receive, letter),
            None => self.offer(rank, letter),
        }
    }

    /// A message or its announcement has arrived: it and those behind it are offered to the program, but never before
    /// one that was sent earlier and is still on its way.
    fn offer(&mut self, rank: u32, letter: u32) {
        let (from, tag) = (self.letters[letter].from.0, self.letters[letter].tag);
        self.letters[letter].there = true;
        let mut more = true;
        while more {
            let in_transit = &mut self.nodes[rank as usize].in_transit;
            let Some((first, others)) = in_transit.next(from, tag, |letter| self.letters[letter].there) else { return };
            more = others;
            self.letters[first].arrived = self.queue.now();
            let matching = &mut self.nodes[rank as usize].matching;
            match matching.match_receive(from, tag) {
                Some(receive) => self.matched(receive, first),
                None => {
                    matching.keep(from, tag, first);
                    for probe in matching.probes_of(from, tag) {
                        self.probed(probe, first);
                    }
                }
            }
        }
    }
}
