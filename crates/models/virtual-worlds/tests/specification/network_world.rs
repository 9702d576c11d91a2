//! The network world keeps the promises of every world, with either engine.

use endpoint::conformance;
use maquette_virtual_worlds::flit::world::{EngineKind, NetworkWorld, Options};

const ENGINES: [EngineKind; 2] = [EngineKind::Fast, EngineKind::Reference];

/// Presets of present-day machines: fat trees with virtual cut-through and store-and-forward, a dragonfly and a torus
/// with virtual channels.
const OF_TODAY: [&str; 5] = ["fat-tree-1024", "infiniband-128", "ethernet-128", "slingshot-1024", "torus-512"];

fn keeps_the_promises(machine: &str, engine: EngineKind, settings: &[(&str, &str)]) {
    let settings: Vec<_> = settings.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
    let machine = machines::load_with(machine, &settings).unwrap();
    let options = Options { engine, ..Options::default() };
    conformance::world(|_| NetworkWorld::new(&machine, options));
    conformance::requests_world(|_| NetworkWorld::new(&machine, options));
    conformance::overlapping_world(|_| NetworkWorld::new(&machine, options));
}

#[test]
fn with_the_fast_engine() {
    keeps_the_promises("moc-2-1", EngineKind::Fast, &[]);
    keeps_the_promises("parsytec-cc-16", EngineKind::Fast, &[]);
    for machine in OF_TODAY {
        keeps_the_promises(machine, EngineKind::Fast, &[]);
    }
}

#[test]
fn with_the_reference_engine() {
    keeps_the_promises("moc-2-1", EngineKind::Reference, &[]);
    keeps_the_promises("parsytec-cc-16", EngineKind::Reference, &[]);
    for machine in OF_TODAY {
        keeps_the_promises(machine, EngineKind::Reference, &[]);
    }
}

/// A short message must not overtake a long one of the same sender, although its packets do.
#[test]
fn where_sends_are_over_at_once_and_packets_overtake_each_other() {
    for engine in ENGINES {
        let settings = [("send", "non-blocking"), ("selection", "random")];
        keeps_the_promises("moc-3-1", engine, &settings);
    }
}

#[test]
fn where_messages_are_announced() {
    for engine in ENGINES {
        for send in ["blocking", "non-blocking", "synchronous"] {
            let settings = [("send", send), ("protocol", "rendezvous")];
            keeps_the_promises("moc-2-1", engine, &settings);
            keeps_the_promises("moc-2-1", engine, &[settings[0], settings[1], ("eager", "100")]);
        }
    }
}
