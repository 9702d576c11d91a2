//! The preset `booksim-mesh-8x8` compared with measurements of BookSim 2: latencies of the empty network, to the cycle,
//! and the accepted rate under overload.

use std::sync::Arc;

use machines::model::{FlitNetwork, Interconnect, NodeId};
use maquette_virtual_worlds::flit::network::fast::Fast;
use maquette_virtual_worlds::flit::network::reference::Reference;
use maquette_virtual_worlds::flit::network::replay::carry;
use maquette_virtual_worlds::flit::network::{Engine, Injection};
use maquette_virtual_worlds::flit::traffic::{Load, Pattern, Sign, Verdict, Windows, run};
use quantities::{Bytes, Time};

fn mesh(buffers: u64) -> Arc<FlitNetwork> {
    let settings = [("buffers".to_string(), buffers.to_string())];
    match machines::load_with("booksim-mesh-8x8", &settings).unwrap().interconnect {
        Interconnect::Flits(network) => network,
        Interconnect::LogGp(_) | Interconnect::Ethernet(_) => unreachable!(),
    }
}

/// BookSim's latency for `flits` past `routers` with `buffers` slots. [cycles]
fn measured_by_booksim(routers: u64, flits: u64, buffers: u64) -> u64 {
    let behind = flits - 1;
    3 * routers + 2 + if buffers >= 5 { behind } else { 5 * (behind / buffers) + behind % buffers }
}

fn alone<E: Engine>(network: &Arc<FlitNetwork>, routers: u64, flits: u64) -> u64 {
    // From node 0 along the first row, then down the last column; past one router it sends to itself.
    let (x, y) = ((routers - 1).min(7), (routers - 1).saturating_sub(7));
    let order = Injection {
        source: NodeId(0),
        destination: NodeId((8 * y + x) as u32),
        bytes: Bytes(flits - 1),
        flits: flits as u32,
        token: 0,
    };
    carry::<E>(network, 1, false, &[(Time::ZERO, order)]).end.picoseconds()
}

#[test]
fn packets_alone_take_as_long() {
    for buffers in [1, 2, 3, 4, 5, 16] {
        let network = mesh(buffers);
        for routers in 1..=15 {
            for flits in [1, 2, 5, 16, 130] {
                let expected = 1_000 * measured_by_booksim(routers, flits, buffers);
                let case = format!("{routers} routers, {flits} flits, {buffers} slots");
                assert_eq!(alone::<Fast>(&network, routers, flits), expected, "fast, {case}");
                assert_eq!(alone::<Reference>(&network, routers, flits), expected, "reference, {case}");
            }
        }
    }
}

/// Slots, and the flits per node and cycle accepted in BookSim with uniform traffic of 16-flit packets.
const SATURATION: [(u64, f64); 4] = [(1, 0.0470), (4, 0.1893), (5, 0.2383), (16, 0.3078)];

/// BookSim's arbiters differ from ours: it allocates the switch before the channel, and sometimes to the wrong header.
const SATURATION_TOLERANCE: f64 = 0.03;

#[test]
fn as_much_arrives_under_overload() {
    let windows = Windows { warm_up: Some(20_000), measure: Some(100_000), budget: None, latency_limit: None };
    for (buffers, expected) in SATURATION {
        let load = Load { pattern: Pattern::Uniform, rate: 1.0, packet: 16, seed: 1 };
        let outcome = run::<Fast>(&mesh(buffers), &load, &windows, &mut |_| true).unwrap();
        assert_eq!(outcome.verdict, Verdict::Saturated(Sign::Latency));
        let error = outcome.accepted / expected - 1.0;
        assert!(error.abs() <= SATURATION_TOLERANCE, "{buffers} slots: {:.4}, not {expected}", outcome.accepted);
    }
}
