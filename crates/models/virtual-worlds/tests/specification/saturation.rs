//! Where present-day networks saturate, according to the literature: a torus carries more than a mesh, and what a
//! dragonfly carries depends on its routing. The bounds are counts of channels. The same runs from the command line:
//!
//! ```text
//! maquette run traffic --machine slingshot-1024 --pattern tornado --rate 1 --packet 65
//! maquette run traffic --machine slingshot-1024 --pattern tornado --rate 1 --packet 65 \
//!     --set rule=valiant --set virtual_channels=3
//! maquette saturate --machine torus-512 --pattern tornado --packet 16
//! ```

use std::sync::Arc;

use machines::Description;
use machines::model::{FlitNetwork, Interconnect};
use maquette_virtual_worlds::flit::network::fast::Fast;
use maquette_virtual_worlds::flit::traffic::{Load, Pattern, TrafficOutcome, Verdict, Windows, run};

fn network(description: &Description) -> Arc<FlitNetwork> {
    match description.resolve().unwrap().interconnect {
        Interconnect::Flits(network) => network,
        Interconnect::LogGp(_) | Interconnect::Ethernet(_) => unreachable!("it has a topology"),
    }
}

/// The outcome of a load over `cycles` cycles, after as many to warm up.
fn offered(network: &Arc<FlitNetwork>, pattern: Pattern, rate: f64, packet: u32, cycles: u64) -> TrafficOutcome {
    let windows = Windows { warm_up: Some(cycles), measure: Some(cycles), budget: None, latency_limit: None };
    run::<Fast>(network, &Load { pattern, rate, packet, seed: 1 }, &windows, &mut |_| true).unwrap()
}

/// The preset, and the mesh that remains of it without its wrap-around links.
fn torus_and_mesh() -> [Arc<FlitNetwork>; 2] {
    let preset = machines::presets().into_iter().find(|preset| preset.name == "torus-512").unwrap();
    ["torus", "mesh"].map(|topology| {
        let text = preset.text.replace("[topology.torus]", &format!("[topology.{topology}]"));
        network(&Description::parse(&text, topology).unwrap())
    })
}

/// Half of what all nodes send crosses the bisection, over 64 channels each way in a mesh of 8x8x8 and 128 in a torus:
/// at most 0.5 and 1 flits per node and cycle (Dally and Towles, "Principles and Practices of Interconnection Networks"
/// (2004), section 3.3.1).
#[test]
fn a_torus_carries_nearly_twice_what_a_mesh_does() {
    let [torus, mesh] = torus_and_mesh().map(|network| offered(&network, Pattern::Uniform, 1.0, 16, 1_500).accepted);
    assert!((0.35..0.5).contains(&mesh), "mesh: {mesh}");
    assert!((1.4 * mesh..1.0).contains(&torus), "torus: {torus}, mesh: {mesh}");
}

/// In the tornado pattern packets go three places ahead in each dimension of eight: all over the channels ahead, each
/// of which then carries three nodes' packets. So at most a third of a flit per node and cycle is carried (section
/// 3.2).
#[test]
fn the_tornado_uses_one_way_round_a_torus() {
    let [torus, _] = torus_and_mesh();
    // So few cycles do not decide that a load is stable, but what is offered arrives.
    let carried = offered(&torus, Pattern::Tornado, 0.24, 16, 3_000);
    assert!(!matches!(carried.verdict, Verdict::Saturated(_)), "{:?}", carried.evidence);
    assert!((carried.accepted / carried.offered - 1.0).abs() < 0.03, "{carried:?}");
    let overload = offered(&torus, Pattern::Tornado, 0.5, 16, 1_500);
    assert!(matches!(overload.verdict, Verdict::Saturated(_)) && overload.accepted <= 1.0 / 3.0, "{overload:?}");
}

/// The preset with packets of 65 flits: by minimal routing, and by Valiant's.
fn minimal_and_valiant(pattern: Pattern) -> [f64; 2] {
    [("minimal", "2"), ("valiant", "3")].map(|(rule, virtual_channels)| {
        let mut description = machines::describe("slingshot-1024").unwrap();
        description.set("rule", rule).unwrap();
        description.set("virtual_channels", virtual_channels).unwrap();
        offered(&network(&description), pattern, 1.0, 65, 4_000).accepted
    })
}

/// Nearly all 128 nodes of a group send to the group that is four ahead: 127 of them share its eight links, and one has
/// another to itself, which makes 9 flits per cycle for 128 nodes. Detours use all 56 links of a group, each packet two
/// (Kim and others, "Technology-Driven, Highly-Scalable Dragonfly Topology" (2008), section 4.2 and figure 8).
#[test]
fn adverse_traffic_on_a_dragonfly_needs_detours() {
    let [minimal, valiant] = minimal_and_valiant(Pattern::Tornado);
    assert!((0.95 * 9.0 / 128.0..=9.0 / 128.0 + 0.001).contains(&minimal), "minimal: {minimal}");
    assert!((2.0 * minimal..56.0 / 256.0).contains(&valiant), "Valiant: {valiant}, minimal: {minimal}");
}

/// Of uniform traffic seven eighths leave the group, over one of its 56 links, or two with detours: at most 0.5 flits
/// per node and cycle, or half of that.
#[test]
fn uniform_traffic_on_a_dragonfly_needs_none() {
    let [minimal, valiant] = minimal_and_valiant(Pattern::Uniform);
    assert!((1.3 * valiant..0.5).contains(&minimal), "minimal: {minimal}, Valiant: {valiant}");
    assert!((0.12..0.25).contains(&valiant), "Valiant: {valiant}");
}
