//! Carries a given list of packets, with no programs and no costs at nodes: what the network alone does with them.

use std::sync::Arc;

use machines::model::FlitNetwork;
use quantities::Time;

use super::forwarding::Forwarding;
use super::{Engine, Injection, NetworkEvent, Recorder, stuck};
use crate::events::EventQueue;

/// The outcome of carrying a list of packets.
#[derive(Debug)]
pub struct ReplayOutcome {
    /// What the network did.
    pub recorder: Recorder,
    /// When the last packet arrived.
    pub end: Time,
    /// Packets that can never arrive: not empty after a deadlock.
    pub stuck: Vec<stuck::StuckPacket>,
}

/// Carries `orders`, which are in order of time, over `network`.
pub fn carry<E: Engine>(
    network: &Arc<FlitNetwork>,
    seed: u64,
    log: bool,
    orders: &[(Time, Injection)],
) -> ReplayOutcome {
    let mut engine = E::new(network, seed, log);
    let mut queue: EventQueue<NetworkEvent> = EventQueue::default();
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
            engine.instant(now, events.drain(..), &mut queue, &mut notices);
            for notice in notices.drain(..) {
                end = now;
                forwarding.ask(notice);
            }
        }
        while let Some(&(_, order)) = orders.next_if(|&&(time, _)| time == now) {
            engine.inject(now, order, &mut queue);
        }
        if queue.next_time() != Some(now) {
            forwarding.serve(now, |_, waiting, time| engine.forwarded(waiting, time, &mut queue));
        }
    }
    let stuck = if engine.in_flight() > 0 { engine.stuck() } else { Vec::new() };
    ReplayOutcome { recorder: engine.finish(), end, stuck }
}
