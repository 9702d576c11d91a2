//! Every preset can be loaded, and describes itself.

use std::sync::Arc;

use maquette_machines::model::{ChannelId, FlitNetwork, Interconnect, Machine, NodeId};
use maquette_machines::routing::deadlock::dependency_cycle;
use maquette_machines::{load, load_with, presets};

fn sizes(machine: &Machine) -> (u32, usize, usize) {
    match &machine.interconnect {
        Interconnect::Flits(network) => (machine.nodes, network.routers.len(), network.channels.len()),
        Interconnect::LogGp(_) => (machine.nodes, 0, 0),
        Interconnect::Ethernet(it) => (machine.nodes, 1, 2 * (machine.nodes / it.processes()) as usize),
    }
}

#[test]
fn all_presets_load_and_describe_themselves() {
    for preset in presets() {
        let machine = load(preset.name).unwrap();
        assert_eq!(machine.name, preset.name);
        assert!(!preset.about().is_empty() && machine.about == preset.about(), "{}", preset.name);
    }
}

#[test]
fn sizes_of_presets() {
    // Name, nodes, routers, channels: two for each node and two for each link.
    let table = [
        ("moc-2-1", 16, 4, 2 * (16 + 4)),
        ("moc-3-1", 64, 32, 2 * (64 + 64 + 16)),
        ("moc-3-2", 64, 16, 2 * (64 + 24)),
        ("parsytec-cc-16", 16, 8, 2 * (16 + 16)),
        ("parsytec-cc-64", 64, 32, 2 * (64 + 64 + 16)),
        ("parsytec-gcel-4", 4, 4, 2 * (4 + 4)),
        ("parsytec-gcel-16", 16, 16, 2 * (16 + 24)),
        ("parsytec-gcel-64", 64, 64, 2 * (64 + 112)),
        ("booksim-mesh-8x8", 64, 64, 2 * (64 + 112)),
        ("fat-tree-1024", 1024, 64, 2 * (1024 + 1024)),
        ("infiniband-128", 128, 8 + 16, 2 * (128 + 8 * 16)),
        ("slingshot-1024", 1024, 8 * 8, 2 * (1024 + 8 * 28 + 8 * 28)),
        ("torus-512", 512, 512, 2 * (512 + 3 * 512)),
        ("ethernet-128", 128, 4 + 4, 2 * (128 + 4 * 4)),
        ("cm5-32", 32, 8 + 4 + 4, 2 * (32 + 16 + 8)),
        ("cm5-256", 256, 64 + 32 + 16 + 16, 2 * (256 + 128 + 64 + 64)),
        ("delta", 512, 512, 2 * (512 + 31 * 16 + 15 * 32)),
        ("dp-smp-8", 8, 1, 16),
        ("dp-smp-quad-2", 8, 1, 4),
        ("mpich-tcp-8", 8, 1, 16),
        ("loggp", 1 << 20, 0, 0),
    ];
    assert_eq!(table.len(), presets().len());
    for (name, nodes, routers, channels) in table {
        assert_eq!(sizes(&load(name).unwrap()), (nodes, routers, channels), "{name}");
    }
}

fn network(machine: Machine) -> Option<Arc<FlitNetwork>> {
    match machine.interconnect {
        Interconnect::Flits(network) => Some(network),
        Interconnect::LogGp(_) | Interconnect::Ethernet(_) => None,
    }
}

/// The path between any two nodes begins and ends with their own channels, and each channel begins where the previous
/// one ends.
#[test]
fn every_preset_joins_all_pairs_of_its_nodes() {
    for preset in presets() {
        let Some(network) = network(load(preset.name).unwrap()) else { continue };
        let nodes = network.injection.len() as u32;
        let pairs = (0..nodes).flat_map(|source| (0..nodes).map(move |destination| (source, destination)));
        for (source, destination) in pairs.filter(|(source, destination)| source != destination) {
            let route = network.route(NodeId(source), NodeId(destination));
            let ends = (network.injection[source as usize], network.ejection[destination as usize]);
            assert_eq!((route[0], route[route.len() - 1]), ends, "{}: {source} to {destination}", preset.name);
            let joined = |pair: &[ChannelId]| {
                let [from, to] = [pair[0], pair[1]].map(|channel| network.channels[channel.0 as usize]);
                from.to == to.from
            };
            assert!(route.windows(2).all(joined), "{}: {source} to {destination}", preset.name);
        }
    }
}

#[test]
fn no_preset_can_deadlock() {
    for preset in presets() {
        let Some(network) = network(load(preset.name).unwrap()) else { continue };
        assert_eq!(dependency_cycle(&network), None, "{}", preset.name);
    }
    let valiant = settings(&[("rule", "valiant"), ("virtual_channels", "3")]);
    let detours = network(load_with("slingshot-1024", &valiant).unwrap()).unwrap();
    assert_eq!(dependency_cycle(&detours), None);
}

/// Without the virtual channels that they have, the torus and the dragonfly are refused.
#[test]
fn presets_that_need_virtual_channels_are_refused_without() {
    let too_few = [
        ("torus-512", ("virtual_channels", "1"), "`dimension-order` can deadlock on this topology"),
        ("slingshot-1024", ("virtual_channels", "1"), "allowed is a multiple of 2"),
        ("slingshot-1024", ("rule", "valiant"), "allowed is a multiple of 3"),
    ];
    for (name, change, why) in too_few {
        let refused = load_with(name, &settings(&[change])).unwrap_err().to_string();
        assert!(refused.contains(why), "{name}, {change:?}: {refused}");
    }
}

fn settings(list: &[(&str, &str)]) -> Vec<(String, String)> {
    list.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect()
}

#[test]
fn settings_change_presets() {
    let machine = load_with("moc-3-2", &settings(&[("buffers", "4"), ("node.processor_send", "7us")])).unwrap();
    assert_eq!(machine.node.processor_send.to_string(), "7 us");
    let Interconnect::Flits(network) = machine.interconnect else { panic!("a network") };
    assert!(network.channels.iter().all(|channel| channel.buffer == 4));
    let machine = load_with("parsytec-gcel-64", &settings(&[("columns", "4"), ("rows", "4")])).unwrap();
    assert_eq!(machine.nodes, 16);
    let machine = load_with("loggp", &settings(&[("nodes", "8"), ("L", "1 us"), ("loggp.g", "4 ns")])).unwrap();
    let Interconnect::LogGp(costs) = machine.interconnect else { panic!("LogGP") };
    assert_eq!((machine.nodes, costs.latency.picoseconds(), costs.gap.picoseconds()), (8, 1_000_000, 4_000));
    for layer in ["fixed", "random", "round-robin", "idle-fixed", "idle-random"] {
        load_with("moc-3-1", &settings(&[("layer", layer)])).unwrap();
    }
    load_with("moc-3-1", &settings(&[("flit_time", "50ns")])).unwrap();
}
