//! The latency of a packet alone in the network follows the closed form, to the picosecond: at every distance, on every
//! preset, in both engines.

use std::collections::BTreeMap;
use std::sync::Arc;

use machines::facts::zero_load;
use machines::model::{ChannelId, FlitNetwork, Interconnect, Machine, NodeId};
use maquette_virtual_worlds::flit::network::fast::Fast;
use maquette_virtual_worlds::flit::network::reference::Reference;
use maquette_virtual_worlds::flit::network::replay::carry;
use maquette_virtual_worlds::flit::network::{Engine, Injection};
use quantities::{Bytes, Duration, Time};

fn network(machine: &Machine) -> Option<&Arc<FlitNetwork>> {
    match &machine.interconnect {
        Interconnect::Flits(network) => Some(network),
        Interconnect::LogGp(_) | Interconnect::Ethernet(_) => None,
    }
}

fn carried<E: Engine>(network: &Arc<FlitNetwork>, order: Injection) -> Duration {
    let outcome = carry::<E>(network, 1, false, &[(Time::ZERO, order)]);
    assert!(outcome.stuck.is_empty(), "{order:?}");
    outcome.end.since(Time::ZERO)
}

/// From some nodes, for every number of channels between, the lowest- and the highest-numbered node at that distance.
fn pairs(network: &FlitNetwork) -> BTreeMap<usize, Vec<(NodeId, NodeId)>> {
    let nodes = network.injection.len() as u32;
    let mut by_distance: BTreeMap<usize, Vec<(NodeId, NodeId)>> = BTreeMap::new();
    for source in [0, nodes / 2, nodes - 1].map(NodeId) {
        let mut at_distance: BTreeMap<usize, Vec<NodeId>> = BTreeMap::new();
        for destination in (0..nodes).map(NodeId).filter(|&destination| destination != source) {
            at_distance.entry(network.route(source, destination).len()).or_default().push(destination);
        }
        for (distance, there) in at_distance {
            let ends = [there[0], there[there.len() - 1]];
            by_distance.entry(distance).or_default().extend(ends.map(|destination| (source, destination)));
        }
    }
    by_distance
}

#[test]
fn on_every_preset_at_every_distance() {
    for preset in machines::presets() {
        let machine = machines::load(preset.name).unwrap();
        let Some(network) = network(&machine) else { continue };
        let pairs = pairs(network);
        let distances: Vec<u32> = pairs.keys().map(|&channels| channels as u32).collect();
        let known: Vec<u32> =
            machines::facts(&machine).network.unwrap().zero_load.iter().map(|row| row.channels).collect();
        assert_eq!(distances, known, "{}", preset.name);
        let full = network.packet.payload;
        for &(source, destination) in pairs.values().flatten() {
            for bytes in [Bytes(0), Bytes(full.0.min(5)), Bytes(full.0 / 2), full] {
                let flits = network.packet.flits(bytes);
                let order = Injection { source, destination, bytes, flits, token: 0 };
                let expected = zero_load(network, &network.route(source, destination), flits);
                assert_eq!(carried::<Fast>(network, order), expected, "fast, {}: {order:?}", preset.name);
                assert_eq!(carried::<Reference>(network, order), expected, "reference, {}: {order:?}", preset.name);
            }
        }
    }
}

/// A node's packet to itself goes to its router and back.
#[test]
fn to_itself_on_every_preset() {
    for preset in machines::presets() {
        let machine = machines::load(preset.name).unwrap();
        let Some(network) = network(&machine) else { continue };
        for node in [0, machine.nodes / 2, machine.nodes - 1] {
            let way: [ChannelId; 2] = [network.injection[node as usize], network.ejection[node as usize]];
            let (bytes, flits) = (network.packet.payload, network.packet.flits(network.packet.payload));
            let order = Injection { source: NodeId(node), destination: NodeId(node), bytes, flits, token: 0 };
            let expected = zero_load(network, &way, flits);
            assert_eq!(carried::<Fast>(network, order), expected, "fast, {}", preset.name);
            assert_eq!(carried::<Reference>(network, order), expected, "reference, {}", preset.name);
        }
    }
}

/// Where channels are alike and have no latency: (h - 1) (tau + routing) + F tau over h channels, whatever the buffers.
#[test]
fn the_formula_of_channels_alike() {
    let (flit_time, routing) = (1_000, 300);
    for buffers in [1, 2, 7, 64] {
        let text = format!(
            "[topology.mesh]\ncolumns = 6\nrows = 5\n[channels]\nflit_time = \"{flit_time} ps\"\nbuffers = {buffers}\n\
             [routers]\nrouting_delay = \"{routing} ps\"\n[packet]\npayload = 200\nheader = 3\nflit = 1\n"
        );
        let machine = machines::Description::parse(&text, "test.toml").unwrap().resolve().unwrap();
        let network = network(&machine).unwrap();
        for destination in (1..machine.nodes).map(NodeId) {
            for bytes in [0, 1, 61, 200].map(Bytes) {
                let (channels, flits) =
                    (network.route(NodeId(0), destination).len() as u64, network.packet.flits(bytes));
                let expected = (channels - 1) * (flit_time + routing) + u64::from(flits) * flit_time;
                let order = Injection { source: NodeId(0), destination, bytes, flits, token: 0 };
                assert_eq!(carried::<Fast>(network, order).picoseconds(), expected, "fast, {buffers}: {order:?}");
                assert_eq!(
                    carried::<Reference>(network, order).picoseconds(),
                    expected,
                    "reference, {buffers}: {order:?}"
                );
            }
        }
    }
}
