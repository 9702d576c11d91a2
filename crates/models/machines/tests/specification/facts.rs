//! The facts printed about machines, compared with known values.

use std::sync::Arc;

use maquette_machines::facts::{NetworkFacts, zero_load};
use maquette_machines::model::{FlitNetwork, Interconnect, NodeId};
use maquette_machines::{facts, load, load_with};

fn network_facts(name: &str) -> NetworkFacts {
    facts(&load(name).unwrap()).network.unwrap()
}

fn network(name: &str, buffers: u32) -> Arc<FlitNetwork> {
    match load_with(name, &[("buffers".to_string(), buffers.to_string())]).unwrap().interconnect {
        Interconnect::Flits(network) => network,
        Interconnect::LogGp(_) | Interconnect::Ethernet(_) => unreachable!(),
    }
}

#[test]
fn distances_and_bisections() {
    // Preset, diameter in channels, bisection in channels one way, and in MB/s.
    let table = [
        ("moc-2-1", 4, 2, 37.037_037),
        ("moc-3-2", 8, 4, 74.074_074),
        ("moc-3-1", 6, 8, 148.148_148),
        ("parsytec-cc-16", 4, 8, 216.0),
        ("parsytec-gcel-16", 8, 4, 6.96),
        ("booksim-mesh-8x8", 16, 8, 8_000.0),
        ("fat-tree-1024", 4, 512, 6_400_000.0),
        ("infiniband-128", 4, 64, 1_600_000.0),
        ("torus-512", 14, 128, 870_400.0),
        ("ethernet-128", 4, 8, 100_000.0),
    ];
    for (name, diameter, channels, rate) in table {
        let facts = network_facts(name);
        let bisection = facts.bisection.unwrap();
        assert_eq!((facts.diameter, bisection.channels), (diameter, channels), "{name}");
        let found = bisection.bytes_per_second * 1e-6;
        assert!((found / rate - 1.0).abs() < 1e-4, "{name}: {found} MB/s");
        assert!(bisection.exact && facts.all_pairs, "{name}");
    }
}

#[test]
fn average_distance_of_a_mesh() {
    // Between different nodes of a k x k mesh a packet passes 2 (k^2 - 1) k / (3 k^2) k^2 / (k^2 - 1) = 2 k / 3 links
    // on average.
    let facts = network_facts("booksim-mesh-8x8");
    assert!((facts.average_distance - (2.0 * 8.0 / 3.0 + 2.0)).abs() < 1e-9, "{}", facts.average_distance);
}

/// With tau of 100 ns, routing of 200 ns and one slot: (h - 1)(tau + routing) + tau + (F - 1) times the pace, which is
/// tau if credits return at once, and tau + credit latency otherwise.
#[test]
fn zero_load_of_equal_channels_is_the_closed_form() {
    for (name, credit) in [("moc-2-1", 0), ("moc-3-1", 0), ("moc-3-2", 0), ("moc-3-2", 30), ("moc-3-1", 70)] {
        let settings = [("flit_time", 100), ("routing_delay", 200), ("credit_latency", credit)]
            .map(|(name, nanoseconds)| (name.to_string(), format!("{nanoseconds} ns")));
        for row in facts(&load_with(name, &settings).unwrap()).network.unwrap().zero_load {
            let expected =
                |flits: u64| (u64::from(row.channels) - 1) * 300_000 + 100_000 + (flits - 1) * (100 + credit) * 1000;
            assert_eq!(row.empty.least.picoseconds(), expected(2), "{name}, {} channels", row.channels);
            assert_eq!(row.full.unwrap().least.picoseconds(), expected(130), "{name}, {} channels", row.channels);
            assert_eq!(row.full.unwrap().least, row.full.unwrap().most);
        }
    }
}

#[test]
fn zero_load_of_the_mesh_of_booksim() {
    for buffers in [1, 2, 3, 4, 5, 16] {
        let network = network("booksim-mesh-8x8", buffers);
        for routers in 1..=15u64 {
            // From node 0 along the first row, then down the last column.
            let hops = routers - 1;
            let destination = if hops < 8 { hops } else { 7 + 8 * (hops - 7) };
            let route = match hops {
                0 => vec![network.injection[0], network.ejection[0]],
                _ => network.route(NodeId(0), NodeId(destination as u32)),
            };
            assert_eq!(route.len() as u64, routers + 1);
            for flits in [1, 2, 5, 16, 130] {
                let behind = flits - 1;
                let wide = u64::from(buffers);
                let rest = if wide >= 5 { behind } else { 5 * (behind / wide) + behind % wide };
                let found = zero_load(&network, &route, flits as u32).picoseconds();
                assert_eq!(found, (3 * routers + 2 + rest) * 1_000, "R = {routers}, L = {flits}, B = {buffers}");
            }
        }
    }
}

#[test]
fn whole_packets_take_their_time_at_every_hop() {
    // Three channels between neighbours: all flits over each, and 100 us at two routers.
    let rows = network_facts("parsytec-gcel-4").zero_load;
    let flits = 4096 + 8;
    let link = flits * ((8_000_000_000_000u64 + 6_960_000) / 13_920_000);
    assert_eq!(rows[0].full.unwrap().least.picoseconds(), link + 2 * flits * 50_000 + 2 * 100_000_000);
}

#[test]
fn a_machine_without_network_has_only_nodes() {
    let facts = facts(&load("loggp").unwrap());
    assert_eq!((facts.nodes, facts.routers, facts.channels), (1 << 20, 0, 0));
    assert!(facts.network.is_none());
}
