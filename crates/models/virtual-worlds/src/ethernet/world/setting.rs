//! The setting of a run on an Ethernet, and its answer.

use std::cell::RefCell;

use endpoint::{Endpoint, Result};
use machines::model::Ethernet;
use messaging::{Calls, Datagram, Messenger, Parameters};
use quantities::{Bytes, Rank, Time};

use super::parameters::copy_cost;
use super::port::Port;
use super::record::Record;
use crate::answer::{Answer, MessagingStatistics};
use crate::ethernet::Network;
use crate::horizon::counted;
use crate::stop::Stop;

/// After this many events, the run checks whether all ranks wait for messages that no rank has sent.
pub(super) const EVENTS_BETWEEN_CHECKS: u64 = 4_096;

/// The setting of a run.
pub(super) struct Setting<'a> {
    pub(super) ethernet: &'a Ethernet,
    pub(super) parameters: Parameters,
    pub(super) ranks: u32,
    pub(super) seed: u64,
    pub(super) with_timeline: bool,
    pub(super) with_frames: bool,
    pub(super) stop: Stop,
}

impl Setting<'_> {
    pub(super) fn network(&self) -> RefCell<Network<Datagram>> {
        let network = Network::new(self.ethernet, self.ranks, self.seed);
        RefCell::new(if self.with_frames { network.with_log() } else { network })
    }

    /// What the program's calls cost, apart from frames.
    pub(super) const fn calls(&self) -> Calls {
        Calls { send: self.ethernet.call_send, receive: self.ethernet.call_receive }
    }

    /// The messengers of the ranks on `network`.
    pub(super) fn messengers<'run>(
        &'run self,
        network: &'run RefCell<Network<Datagram>>,
    ) -> Result<Vec<Messenger<Port<'run, Datagram>>>> {
        let messenger = |rank| {
            let port = Port::new(network, self.ethernet, rank, self.ranks);
            let messenger = Messenger::new(port, rank, self.ranks, self.parameters)?.with_calls(self.calls());
            Ok(match self.ethernet.memory.filter(|memory| memory.processes > 1) {
                Some(memory) => messenger.with_shared_memory(network.borrow().neighbours(rank), copy_cost(&memory)),
                None => messenger,
            })
        };
        (0..self.ranks).map(Rank).map(messenger).collect()
    }

    /// What it took to deliver messages.
    pub(super) fn messaging<'run>(
        &self,
        messengers: impl IntoIterator<Item = &'run Messenger<Port<'run, Datagram>>>,
        broadcast_memory: Vec<Bytes>,
    ) -> MessagingStatistics {
        let (mut repeated, mut timeouts) = (Vec::new(), 0);
        for messenger in messengers {
            let (from, engine) = (messenger.rank(), messenger.engine());
            timeouts += engine.counts().timeouts;
            for to in (0..self.ranks).map(Rank) {
                let count = engine.repeated_to(to);
                if count > 0 {
                    repeated.push((from, to, count));
                }
            }
        }
        MessagingStatistics { parameters: self.parameters, broadcast_memory, repeated, timeouts }
    }

    /// The answer of the run, in which the ranks finished at `finish`.
    pub(super) fn answer(
        &self,
        mut network: Network<Datagram>,
        record: Record,
        finish: Vec<Time>,
        messaging: MessagingStatistics,
    ) -> Result<Answer> {
        let (ethernet, frame_log) = (network.statistics(), network.take_log());
        let unreceived = record.unreceived();
        let Record { messages, ranks, timeline, .. } = record;
        let packets = ethernet.sent;
        let (ethernet, messaging) = (Some(ethernet), Some(messaging));
        let answer = Answer { finish, messages, packets, ranks, timeline, ethernet, frame_log, ..Answer::default() };
        counted(Answer { messaging, unreceived, ..answer })
    }
}
