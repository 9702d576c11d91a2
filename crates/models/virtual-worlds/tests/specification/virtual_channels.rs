//! What virtual channels are for: tori with minimal routing, which carry more than meshes, and short packets that are
//! not held up behind others' full buffers.

use std::sync::Arc;

use machines::model::{FlitNetwork, Interconnect, NodeId};
use maquette_virtual_worlds::flit::network::Injection;
use maquette_virtual_worlds::flit::network::fast::Fast;
use maquette_virtual_worlds::flit::network::reference::Reference;
use maquette_virtual_worlds::flit::network::replay::carry;
use maquette_virtual_worlds::flit::traffic::{Load, Pattern, TrafficOutcome, Windows, run};
use quantities::{Bytes, Time};

/// Packets of 16 flits of 1 ns, buffers for four of them for each virtual channel.
fn network(topology: &str, virtual_channels: u32) -> Arc<FlitNetwork> {
    let text = format!(
        "[topology.{topology}\n[channels]\nflit_time = \"1 ns\"\nwire_latency = \"2 ns\"\ncredit_latency = \"2 ns\"\n\
         buffers = 64\nvirtual_channels = {virtual_channels}\n[switching]\nmode = \"virtual-cut-through\"\n\
         [routers]\nrouting_delay = \"1 ns\"\n[packet]\npayload = 63\nheader = 1\n"
    );
    match machines::Description::parse(&text, "test.toml").unwrap().resolve().unwrap().interconnect {
        Interconnect::Flits(network) => network,
        Interconnect::LogGp(_) | Interconnect::Ethernet(_) => unreachable!("it has a topology"),
    }
}

/// The outcome when as much is offered as the nodes can send. [flits/node/cycle]
fn under_overload(network: &Arc<FlitNetwork>, pattern: Pattern) -> TrafficOutcome {
    let windows = Windows { warm_up: Some(4_000), measure: Some(10_000), budget: None, latency_limit: None };
    run::<Fast>(network, &Load { pattern, rate: 1.0, packet: 16, seed: 1 }, &windows, &mut |_| true).unwrap()
}

/// By the narrowest cut at most 0.5 flits per node and cycle cross an 8x8 mesh, and 1 a torus.
#[test]
fn a_torus_carries_more_than_a_mesh() {
    let mesh = under_overload(&network("mesh]\nsides = [8, 8]", 2), Pattern::Uniform).accepted;
    let torus = under_overload(&network("torus]\nsides = [8, 8]", 2), Pattern::Uniform).accepted;
    assert!((0.35..0.5).contains(&mesh), "mesh: {mesh}");
    assert!((1.5 * mesh..1.0).contains(&torus), "torus: {torus}, mesh: {mesh}");
}

/// Both directions around a ring are used alike: the loads of the channels ahead and back differ little.
#[test]
fn both_directions_around_a_torus_are_used_alike() {
    let network = network("torus]\nsides = [8, 8]", 2);
    let windows = Windows { warm_up: Some(4_000), measure: Some(20_000), budget: None, latency_limit: None };
    let load = Load { pattern: Pattern::Uniform, rate: 0.3, packet: 16, seed: 1 };
    let outcome = run::<Fast>(&network, &load, &windows, &mut |_| true).unwrap();
    // Channels of links come in pairs, the one ahead first.
    let links = &outcome.utilisation[2 * 64..];
    let mean = |offset: usize| links.iter().skip(offset).step_by(2).sum::<f64>() / (links.len() / 2) as f64;
    // 0.3 flits per node and cycle, over two links in each dimension, half of them ahead.
    for busy in [mean(0), mean(1)] {
        assert!((busy / 0.3 - 1.0).abs() < 0.03, "{busy}");
    }
}

/// 72 nodes: nine groups of four routers of two nodes, each group with eight links to others. With the tornado pattern
/// five of the eight nodes of a group send to one other group, over one link, and three to the next: minimal routes
/// carry (5 x 1/5 + 3 x 1/3) / 8 = 0.25 flits per node and cycle, and detours spread them over all links. When nodes
/// send to any other, minimal routes, which take half as many links, carry more.
#[test]
fn detours_through_a_dragonfly_pay_where_all_take_one_link() {
    let rule = |rule: &str, virtual_channels| {
        let sizes = "nodes = 2\nrouters = 4\nglobal_links = 2";
        network(&format!("dragonfly]\n{sizes}\n[routing]\nrule = \"{rule}\""), virtual_channels)
    };
    let accepted =
        |pattern| [rule("minimal", 2), rule("valiant", 3)].map(|network| under_overload(&network, pattern).accepted);
    let [minimal, valiant] = accepted(Pattern::Tornado);
    assert!((minimal - 0.25).abs() < 0.005 && valiant > 1.2 * minimal, "tornado: {minimal}, {valiant}");
    let [minimal, valiant] = accepted(Pattern::Uniform);
    assert!(minimal > 1.2 * valiant && valiant > 0.35, "uniform: {minimal}, {valiant}");
}

/// Nodes 0 and 1 are at one router, 2, 3 and 4 at the other. Nodes 0 and 4 send to node 2, which can take only half as
/// much; node 1 sends to node 3. With one virtual channel its packets wait behind those for node 2; with two, each
/// stream has its own.
#[test]
fn a_stream_that_is_held_up_does_not_hold_up_another() {
    let graph = "graph]\nrouters = [{ name = \"left\", nodes = 2 }, { name = \"right\", nodes = 3 }]\n\
                 links = [{ between = [\"left\", \"right\"] }]";
    let streams = [(0, 2), (4, 2), (1, 3)];
    let order = |&(source, destination): &(u32, u32)| Injection {
        source: NodeId(source),
        destination: NodeId(destination),
        bytes: Bytes(15),
        flits: 16,
        token: 0,
    };
    let orders: Vec<(Time, Injection)> =
        (0..50).flat_map(|_| streams.iter().map(order)).map(|one| (Time::ZERO, one)).collect();
    let last_at_3 = [1, 2].map(|virtual_channels| {
        let network = network(graph, virtual_channels);
        let log = carry::<Fast>(&network, 1, true, &orders).recorder.log.unwrap();
        assert_eq!(carry::<Reference>(&network, 1, true, &orders).recorder.log.unwrap().len(), log.len());
        let at_3 = log.iter().filter(|packet| packet.destination == NodeId(3));
        at_3.map(|packet| packet.delivered.picoseconds() / 1_000).max().unwrap()
    });
    // The link alone takes 100 packets of 16 ns one after the other.
    assert!((1_600..1_650).contains(&last_at_3[1]) && last_at_3[0] > 1_900, "{last_at_3:?} ns");
}
