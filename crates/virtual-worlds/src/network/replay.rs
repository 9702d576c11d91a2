//! Carries a given list of packets, with no programs and no nodes' costs: what the network alone does with them.

use machines::model::{FlitNetwork, RouterId, Switching};
use quantities::{Duration, Time};

use super::{Engine, NetworkEvent, Notice, Order, Recorder, stuck};
use crate::events::EventQueue;

/// What came of a list of packets.
#[derive(Debug)]
pub struct Outcome {
    /// What the network did.
    pub recorder: Recorder,
    /// When the last packet arrived.
    pub end: Time,
    /// Packets that can never arrive: not empty after a deadlock.
    pub stuck: Vec<stuck::Waiting>,
}

/// For each router that is a node, until when its processor forwards packets.
#[derive(Debug)]
pub struct Forwarding {
    per_packet: Duration,
    busy_until: Vec<Time>,
    asked: Vec<(RouterId, u32, u32)>,
}

impl Forwarding {
    /// Idle processors.
    pub fn new(network: &FlitNetwork) -> Forwarding {
        let per_packet = match network.switching {
            Switching::Software { per_packet } => per_packet,
            _ => Duration::ZERO,
        };
        Forwarding { per_packet, busy_until: vec![Time::ZERO; network.routers.len()], asked: Vec::new() }
    }

    /// Remembers `notice`, if it asks for forwarding.
    pub fn ask(&mut self, notice: Notice) {
        if let Notice::Forward { router, port, waiting } = notice {
            self.asked.push((router, port, waiting));
        }
    }

    /// At the end of an instant, when all that is ready at it is known: serves each router's packets in order of port.
    pub fn serve<E: Engine>(&mut self, now: Time, engine: &mut E, queue: &mut EventQueue<NetworkEvent>) {
        self.asked.sort_unstable();
        for (router, _, waiting) in self.asked.drain(..) {
            let free = &mut self.busy_until[router.0 as usize];
            *free = now.max(*free) + self.per_packet;
            engine.forwarded(waiting, *free, queue);
        }
    }
}

/// Carries `orders`, which are in order of time, over `network`.
pub fn carry<E: Engine>(network: &FlitNetwork, seed: u64, log: bool, orders: &[(Time, Order)]) -> Outcome {
    let mut engine = E::new(network, seed, log);
    let mut queue = EventQueue::default();
    let mut forwarding = Forwarding::new(network);
    let (mut events, mut notices) = (Vec::new(), Vec::new());
    let mut orders = orders.iter().peekable();
    let mut end = Time::ZERO;
    loop {
        let next_order = orders.peek().map_or(Time::NEVER, |&&(time, _)| time);
        let next_event = queue.next_time().unwrap_or(Time::NEVER);
        let now = next_order.min(next_event);
        if now == Time::NEVER {
            break;
        }
        if next_event == now {
            queue.take_instant(&mut events);
            engine.instant(now, &events, &mut queue, &mut notices);
            events.clear();
            for notice in notices.drain(..) {
                end = now;
                forwarding.ask(notice);
            }
        }
        while let Some(&(_, order)) = orders.next_if(|&&(time, _)| time == now) {
            engine.inject(now, order, &mut queue);
        }
        if queue.next_time() != Some(now) {
            forwarding.serve(now, &mut engine, &mut queue);
        }
    }
    let stuck = if engine.in_flight() > 0 { engine.stuck() } else { Vec::new() };
    Outcome { recorder: engine.finish(), end, stuck }
}
