//! Every preset can be loaded, and says what it is.

use maquette_machines::model::{Interconnect, Machine};
use maquette_machines::{load, load_with, presets};

fn sizes(machine: &Machine) -> (u32, usize, usize) {
    match &machine.interconnect {
        Interconnect::Flits(network) => (machine.nodes, network.routers.len(), network.channels.len()),
        Interconnect::LogGp(_) => (machine.nodes, 0, 0),
    }
}

#[test]
fn all_presets_load_and_say_what_they_are() {
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
        ("cm5-32", 32, 8 + 4 + 4, 2 * (32 + 16 + 8)),
        ("cm5-256", 256, 64 + 32 + 16 + 16, 2 * (256 + 128 + 64 + 64)),
        ("delta", 512, 512, 2 * (512 + 31 * 16 + 15 * 32)),
        ("loggp", 1 << 20, 0, 0),
    ];
    assert_eq!(table.len(), presets().len());
    for (name, nodes, routers, channels) in table {
        assert_eq!(sizes(&load(name).unwrap()), (nodes, routers, channels), "{name}");
    }
}

#[test]
fn settings_change_presets() {
    let settings = |list: &[(&str, &str)]| -> Vec<(String, String)> {
        list.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect()
    };
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
