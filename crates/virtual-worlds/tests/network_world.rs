//! The network world keeps the promises of every world, with either engine.

use endpoint::conformance;
use maquette_virtual_worlds::network_world::{EngineKind, NetworkWorld, Options};

fn keeps_the_promises(machine: &str, engine: EngineKind) {
    let machine = machines::load(machine).unwrap();
    let options = Options { engine, ..Options::default() };
    conformance::any_source_world(|_| NetworkWorld::new(&machine, options));
}

#[test]
fn with_the_fast_engine() {
    keeps_the_promises("moc-2-1", EngineKind::Fast);
    keeps_the_promises("parsytec-cc-16", EngineKind::Fast);
    keeps_the_promises("fat-tree-1024", EngineKind::Fast);
}

#[test]
fn with_the_reference_engine() {
    keeps_the_promises("moc-2-1", EngineKind::Reference);
    keeps_the_promises("parsytec-cc-16", EngineKind::Reference);
    keeps_the_promises("fat-tree-1024", EngineKind::Reference);
}
