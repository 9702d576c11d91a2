//! What a node's processor does: it sets messages up, completes those that have arrived, and computes.

use endpoint::{Message, Passage, Received, Tag};
use machines::model::{Acknowledged, SendMode};
use quantities::{Bytes, Duration, Rank, Rate, Time};

use super::communication::{System, Task};
use super::control::Control;
use super::messages::Letter;
use super::{Nodes, OperationStatus, Receive, WorldEvent};
use crate::flit::network::Engine;

/// When forwarding has delayed a piece of work this often, each time by as long as packets were forwarded meanwhile,
/// the run assumes that it always will. Where forwarding takes 98% of a processor's time, an hour of work ends before
/// that.
const MOST_HELD_UP: u32 = 2_000;

/// The work of a processor.
#[derive(Clone, Copy, Debug)]
pub(super) enum ProcessorWork {
    /// Get ready for the first message, which takes this long.
    WarmUp(Duration),
    /// Set a message up and hand it over.
    Send(u32),
    /// Complete a message that has arrived and was asked for.
    Receive(u32),
    /// Hand a broadcast over to the control network.
    Broadcast(u32),
    /// Receive a broadcast that has arrived and was asked for.
    TakeBroadcast { number: u32, operation: u32 },
    /// Compute.
    Compute { work: Duration, operation: u32 },
}

impl<E: Engine> Nodes<E> {
    /// Starts to send a message.
    pub fn send(&mut self, from: Rank, processor: u16, to: Rank, tag: u32, message: Message, operation: u32) {
        let number = self.messages;
        self.messages += 1;
        let acknowledged = matches!(self.costs.send, SendMode::Synchronous { .. });
        let letter = self.letters.add(Letter {
            from,
            to,
            tag,
            unsent: message.size(),
            sending: (operation, processor),
            receiving: (0, 0),
            departing: 0,
            arriving: 0,
            sent: self.now(),
            arrived: Time::NEVER,
            there: false,
            waiting_receive: None,
            references: if acknowledged { 3 } else { 2 },
            message,
        });
        self.nodes[to.0 as usize].in_transit.add(from.0, tag, number, letter);
        let cold = std::mem::take(&mut self.nodes[from.0 as usize].cold_send);
        self.warm_up(from, processor, cold);
        self.process(from, processor, ProcessorWork::Send(letter));
    }

    /// A processor gets ready for the rank's first message in that direction, if that has a cost; a receiver that has
    /// to wait for a message does so meanwhile.
    pub(super) fn warm_up(&mut self, rank: Rank, processor: u16, cold: Duration) {
        if !cold.is_zero() {
            self.process(rank, processor, ProcessorWork::WarmUp(cold));
        }
    }

    pub(super) fn process(&mut self, rank: Rank, processor: u16, work: ProcessorWork) {
        self.nodes[rank.0 as usize].processors[usize::from(processor)].add(work);
        self.run_processor(rank.0, processor);
    }

    fn run_processor(&mut self, rank: u32, processor: u16) {
        let index = usize::from(processor);
        while let Some(work) = self.nodes[rank as usize].processors[index].next() {
            if self.reports_starts {
                self.report_start(rank, &work);
            }
            let time = self.time_of(rank, processor, &work);
            if !time.is_zero() {
                self.nodes[rank as usize].processors[index].begin(work);
                let end = self.now() + time;
                self.queue.put(end, WorldEvent::Processor(rank, processor));
                return;
            }
            self.nodes[rank as usize].processors[index].settle(true);
            self.complete(rank, work);
            self.nodes[rank as usize].processors[index].settle(false);
        }
    }

    fn report_start(&mut self, rank: u32, work: &ProcessorWork) {
        match *work {
            ProcessorWork::Send(letter) => self.finish(rank, self.letters[letter].sending.0, OperationStatus::Started),
            ProcessorWork::Compute { operation, .. } => self.finish(rank, operation, OperationStatus::Started),
            ProcessorWork::WarmUp(_)
            | ProcessorWork::Receive(_)
            | ProcessorWork::Broadcast(_)
            | ProcessorWork::TakeBroadcast { .. } => {}
        }
    }

    /// How long `work` takes from now on; what forwarding still needs comes first.
    fn time_of(&mut self, rank: u32, processor: u16, work: &ProcessorWork) -> Duration {
        let costs = &self.costs;
        let copied = |size: Bytes, at: Option<Rate>| at.map_or(Duration::ZERO, |rate| rate.time_of(size));
        let own = match *work {
            ProcessorWork::Send(letter) => {
                costs.processor_send + copied(self.letters[letter].message.size(), costs.copy_rate)
            }
            ProcessorWork::Receive(letter) => {
                costs.processor_receive + copied(self.letters[letter].message.size(), costs.copy_out_rate)
            }
            ProcessorWork::WarmUp(cold) => cold,
            ProcessorWork::Compute { work, .. } => work,
            ProcessorWork::Broadcast(_) | ProcessorWork::TakeBroadcast { .. } => {
                self.control.as_ref().map_or(Duration::ZERO, Control::overhead)
            }
        };
        if processor != 0 || self.forwarding.per_packet().is_zero() {
            return own;
        }
        self.nodes[rank as usize].processors[0].stolen = Duration::ZERO;
        own + self.forwarding.remaining(rank as usize, self.now())
    }

    pub(super) fn processor_done(&mut self, rank: u32, processor: u16) {
        let now = self.now();
        let resource = &mut self.nodes[rank as usize].processors[usize::from(processor)];
        let stolen = std::mem::take(&mut resource.stolen);
        if !stolen.is_zero() {
            resource.held_up += 1;
            if resource.held_up > MOST_HELD_UP {
                self.starved = Some(rank);
            }
            self.queue.put(now + stolen, WorldEvent::Processor(rank, processor));
            return;
        }
        if let Some(work) = resource.end() {
            self.complete(rank, work);
        }
        self.run_processor(rank, processor);
    }

    fn complete(&mut self, rank: u32, work: ProcessorWork) {
        match work {
            ProcessorWork::WarmUp(_) => {}
            ProcessorWork::Compute { operation, .. } => self.finish(rank, operation, OperationStatus::Over),
            ProcessorWork::Send(letter) => {
                let operation = self.letters[letter].sending.0;
                self.hand_over(rank, letter);
                if self.costs.send == SendMode::NonBlocking {
                    self.finish(rank, operation, OperationStatus::Over);
                }
            }
            ProcessorWork::Receive(letter) => self.completed(rank, letter),
            ProcessorWork::Broadcast(number) => self.broadcast(number),
            ProcessorWork::TakeBroadcast { number, operation } => self.broadcast_received(rank, number, operation),
        }
    }

    /// A receive and a message have matched. Where only its announcement has arrived, its data is now requested.
    pub(super) fn matched(&mut self, receive: Receive, letter: u32) {
        if !self.is_announced(letter) {
            self.start_completion(receive, letter);
            return;
        }
        let Letter { to, waiting_receive, .. } = &mut self.letters[letter];
        *waiting_receive = Some(receive);
        let to = *to;
        self.communicate(to.0, Task::SendSystem(letter, System::Ready));
    }

    /// A receive has its message: a processor has to complete it.
    pub(super) fn start_completion(&mut self, receive: Receive, letter: u32) {
        let now = self.now();
        let Letter { to, receiving, .. } = &mut self.letters[letter];
        *receiving = (receive.operation, receive.processor);
        let to = *to;
        let node = &mut self.nodes[to.0 as usize];
        node.statistics.receive_idle += now.since(receive.posted);
        self.process(to, receive.processor, ProcessorWork::Receive(letter));
    }

    /// The program has its message.
    fn completed(&mut self, rank: u32, letter: u32) {
        let Letter { from, tag, message, receiving, sent, arrived, .. } = &mut self.letters[letter];
        let received = Received { from: *from, tag: Tag(*tag), message: std::mem::take(message) };
        let (operation, outcome) =
            (receiving.0, OperationStatus::Received(received, Passage { sent: *sent, arrived: *arrived }));
        if self.costs.send == (SendMode::Synchronous { acknowledged: Acknowledged::OnReceive }) {
            self.communicate(rank, Task::SendSystem(letter, System::Acknowledgement));
        }
        self.letters.release(letter);
        self.finish(rank, operation, outcome);
    }
}
