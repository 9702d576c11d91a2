//! Messages that are cut into packets when they leave have the same times as packets injected one by one.

use std::collections::VecDeque;
use std::sync::Arc;

use machines::model::{FlitNetwork, Interconnect, NodeId};
use maquette_virtual_worlds::answer::PacketRecord;
use maquette_virtual_worlds::events::EventQueue;
use maquette_virtual_worlds::flit::network::fast::Fast;
use maquette_virtual_worlds::flit::network::reference::Reference;
use maquette_virtual_worlds::flit::network::{Engine, Injection, NetworkEvent, Recorder, Statistics, Uncut};
use quantities::{Bytes, Time};

fn network(name: &str) -> Arc<FlitNetwork> {
    let settings = [("selection".to_string(), "random".to_string())];
    let settings = if name.starts_with("moc") { &settings[..] } else { &[] };
    let Interconnect::Flits(network) = machines::load_with(name, settings).unwrap().interconnect else {
        panic!("{name} has a network of flits")
    };
    network
}

/// The most nodes that send.
const NODES: u32 = 32;

/// The messages of a node: to the three after it, of different sizes, one of them empty.
fn messages(node: u32, nodes: u32) -> VecDeque<Uncut> {
    let message = |ahead: u32| Uncut {
        destination: NodeId((node + ahead) % nodes),
        token: u64::from(ahead),
        bytes: Bytes(u64::from((ahead - 1) * (4_200 + 37 * node))),
    };
    (1..4).map(message).collect()
}

fn one_by_one<E: Engine>(
    engine: &mut E,
    network: &Arc<FlitNetwork>,
    node: u32,
    mut messages: VecDeque<Uncut>,
    queue: &mut EventQueue<NetworkEvent>,
) {
    while let Some(Uncut { destination, token, bytes: left }) = messages.pop_front() {
        let bytes = left.min(network.packet.payload);
        if left > bytes {
            messages.push_back(Uncut { destination, token, bytes: Bytes(left.0 - bytes.0) });
        }
        let flits = network.packet.flits(bytes);
        engine.inject(Time::ZERO, Injection { source: NodeId(node), destination, bytes, flits, token }, queue);
    }
}

fn carried<E: Engine>(network: &Arc<FlitNetwork>, uncut: bool) -> (Vec<PacketRecord>, Statistics) {
    let mut engine = E::new(network, 7, true);
    let mut queue: EventQueue<NetworkEvent> = EventQueue::default();
    let nodes = NODES.min(network.injection.len() as u32);
    for node in 0..nodes {
        let messages = messages(node, nodes);
        if uncut {
            engine.inject_uncut(Time::ZERO, NodeId(node), messages, &mut queue);
        } else {
            one_by_one(&mut engine, network, node, messages, &mut queue);
        }
    }
    let (mut events, mut notices) = (Vec::new(), Vec::new());
    while let Some(now) = queue.take_instant(&mut events) {
        engine.instant(now, events.drain(..), &mut queue, &mut notices);
    }
    assert_eq!(engine.in_flight(), 0);
    let Recorder { statistics, log } = engine.finish();
    let mut log = log.unwrap_or_default();
    log.sort_by_key(|packet| (packet.delivered, packet.destination));
    (log, statistics)
}

#[test]
fn packets_have_the_same_times_and_ways_with_both_engines() {
    for name in ["torus-512", "moc-3-1", "slingshot-1024", "cm5-32"] {
        let network = network(name);
        let expected = carried::<Reference>(&network, false);
        assert!(expected.0.len() > NODES as usize * 4, "{name}: messages of several packets");
        for other in [carried::<Reference>(&network, true), carried::<Fast>(&network, true)] {
            assert_eq!(other, expected, "{name}");
        }
    }
}
