//! The network, simulated to the flit: one set of rules, two engines.
//!
//! What happens is fixed by the six rules of `docs/NETWORK.md`. [`reference`] moves every flit and is short enough to
//! be checked by eye; [`fast`] computes the same times from a number of events that grows with hops.
//!
//! An engine owns no clock: a driver takes the events of an instant from the queue, hands the network's to
//! [`Engine::instant`], and acts on the [`Notice`]s that come back.

mod arbitration;
pub mod fast;
pub mod forwarding;
mod injection;
pub mod reference;
pub mod replay;
mod selection;
mod statistics;
pub mod stuck;

pub use statistics::{Recorder, Statistics};

use std::collections::VecDeque;
use std::sync::Arc;

use machines::model::{FlitNetwork, NodeId, PacketFormat, RouterId};
use quantities::{Bytes, Time};

use crate::events::EventQueue;

/// A packet to be carried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Injection {
    /// Where it starts.
    pub source: NodeId,
    /// Where it goes.
    pub destination: NodeId,
    /// Message bytes that it carries. [B]
    pub bytes: Bytes,
    /// Its length, header included. At least one. [flits]
    pub flits: u32,
    /// The driver's identifier for it.
    pub token: u64,
}

/// The part of a message that is not yet cut into packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Uncut {
    /// Where it goes.
    pub destination: NodeId,
    /// The driver's identifier for each of its packets.
    pub token: u64,
    /// The bytes that are left; zero for an empty message, which is still one packet. [B]
    pub bytes: Bytes,
}

impl Uncut {
    /// The number of packets into which it will be cut.
    pub fn packets(&self, format: PacketFormat) -> u64 {
        self.bytes.0.div_ceil(format.payload.0).max(1)
    }
}

/// An event of an engine: the kind of event and the channel, packet or buffer that it happens to, in one word, since
/// millions of events go through the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NetworkEvent(u32);

impl NetworkEvent {
    const INDEX_BITS: u32 = 29;

    /// An event of one of eight kinds that happens to `index`, which is at most half a billion.
    #[inline]
    fn new(kind: u32, index: u32) -> NetworkEvent {
        debug_assert!(index >> NetworkEvent::INDEX_BITS == 0);
        NetworkEvent((kind << NetworkEvent::INDEX_BITS) | index)
    }

    #[inline]
    fn kind(self) -> u32 {
        self.0 >> NetworkEvent::INDEX_BITS
    }

    #[inline]
    fn index(self) -> u32 {
        self.0 & ((1 << NetworkEvent::INDEX_BITS) - 1)
    }
}

/// A queue for an engine's events, which may also hold others.
pub trait Schedule {
    /// Schedules `event` for `time`. An event at [`Time::NEVER`] ends the run.
    fn at(&mut self, time: Time, event: NetworkEvent);
}

impl<Event: Copy + From<NetworkEvent>> Schedule for EventQueue<Event> {
    #[inline]
    fn at(&mut self, time: Time, event: NetworkEvent) {
        self.put(time, Event::from(event));
    }
}

/// What an engine reports to its driver at an instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Notice {
    /// The tail of a packet has left its source: the packet is wholly in the network.
    Departed {
        /// The source.
        node: NodeId,
        /// The order's token.
        token: u64,
    },
    /// The tail of a packet has reached its destination.
    Delivered {
        /// The destination.
        node: NodeId,
        /// The order's token.
        token: u64,
    },
    /// A packet waits to be forwarded by the processor of a router that is a node
    /// ([`machines::model::Switching::Software`]). The driver answers with [`Engine::forwarded`] when the processor has
    /// done so.
    Forward {
        /// The router.
        router: RouterId,
        /// The input port where the packet waits.
        port: u32,
        /// The number to answer with.
        waiting: u32,
    },
}

/// A network in motion.
pub trait Engine: Sized {
    /// A network at rest. Random choices are drawn from `seed`; `log` keeps a record of every packet.
    fn new(network: &Arc<FlitNetwork>, seed: u64, log: bool) -> Self;

    /// Puts a packet at the end of its source's injection queue.
    fn inject<S: Schedule>(&mut self, now: Time, order: Injection, schedule: &mut S);

    /// Puts all packets of `messages` at the end of the injection queue of `source`, one of each message in turn: the
    /// same as injecting them one by one, except that they are cut only when they reach the front.
    fn inject_uncut<S: Schedule>(&mut self, now: Time, source: NodeId, messages: VecDeque<Uncut>, schedule: &mut S);

    /// Processes everything due at `now`; `events` is all that was scheduled for it, in any order. Notices are appended
    /// in an order that does not depend on the engine.
    fn instant<S: Schedule>(
        &mut self,
        now: Time,
        events: impl Iterator<Item = NetworkEvent>,
        schedule: &mut S,
        notices: &mut Vec<Notice>,
    );

    /// Says that the packet of a [`Notice::Forward`] will have been forwarded by its processor at `time`.
    fn forwarded<S: Schedule>(&mut self, waiting: u32, time: Time, schedule: &mut S);

    /// Packets that were injected and have not arrived.
    fn in_flight(&self) -> u64;

    /// Packets that have arrived.
    fn arrived(&self) -> u64;

    /// Which packets hold and wait for which channels, for a report on a deadlock.
    fn stuck(&self) -> Vec<stuck::StuckPacket>;

    /// What the network has done up to the end of the instant `now`.
    fn statistics(&mut self, now: Time) -> &Statistics;

    /// Ends the run: what the network did, and every packet if a log was kept.
    fn finish(self) -> Recorder;
}
