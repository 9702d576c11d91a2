//! A network that can never move again reports the packets and the channels. No description leads to one, since routing
//! that can deadlock is refused; these tests set the routing by hand: on a ring of four, always clockwise.

use std::sync::Arc;

use endpoint::World;
use machines::model::{ChannelEnd, ChannelId, FlitNetwork, Interconnect, Machine, NodeId, RouterId};
use maquette_virtual_worlds::flit::network::fast::Fast;
use maquette_virtual_worlds::flit::network::reference::Reference;
use maquette_virtual_worlds::flit::network::replay::carry;
use maquette_virtual_worlds::flit::network::{Engine, Injection, stuck};
use maquette_virtual_worlds::flit::world::{EngineKind, NetworkWorld, Options};
use programs::benchmarks::AllPairs;
use quantities::{Bytes, Time};

use crate::own_rules::Table;

const RING: &str = r#"
    name = "ring"
    [topology.graph]
    routers = [
        { name = "a", nodes = 1 }, { name = "b", nodes = 1 }, { name = "c", nodes = 1 }, { name = "d", nodes = 1 },
    ]
    links = [{ between = ["a", "b"] }, { between = ["b", "c"] }, { between = ["c", "d"] }, { between = ["d", "a"] }]
    [channels]
    rate = "1 GB/s"
    [routers]
    routing_delay = "1 ns"
    [packet]
    payload = 64
    header = 1
"#;

fn channel(network: &FlitNetwork, from: ChannelEnd, to: ChannelEnd) -> ChannelId {
    let found = network.channels.iter().position(|channel| channel.from == from && channel.to == to);
    ChannelId(found.unwrap() as u32)
}

fn clockwise() -> Machine {
    let mut machine = machines::Description::parse(RING, "ring.toml").unwrap().resolve().unwrap();
    let Interconnect::Flits(network) = &mut machine.interconnect else { unreachable!("the ring has routers") };
    let mut next = Vec::new();
    for router in 0..4 {
        for node in 0..4 {
            let to = if node == router {
                ChannelEnd::Node(NodeId(node))
            } else {
                ChannelEnd::Router(RouterId((router + 1) % 4))
            };
            next.push(channel(network, ChannelEnd::Router(RouterId(router)), to));
        }
    }
    Arc::make_mut(network).routing = Table::routing(4, next);
    machine
}

fn report<E: Engine>() -> String {
    let machine = clockwise();
    let Interconnect::Flits(network) = &machine.interconnect else { unreachable!("the ring has routers") };
    let order = |node: u32| Injection {
        source: NodeId(node),
        destination: NodeId((node + 2) % 4),
        bytes: Bytes(64),
        flits: 65,
        token: u64::from(node),
    };
    let orders: Vec<(Time, Injection)> = (0..4).map(|node| (Time::ZERO, order(node))).collect();
    stuck::describe(network, &carry::<E>(network, 0, false, &orders).stuck, 2)
}

#[test]
fn the_report_names_packets_and_channels() {
    let expected = "\
4 packets can't move on:
  the packet from node 0 to node 2 holds channel 0 (node 0 to a), channel 8 (a to b), and since 4000 ps waits for \
channel 10 (b to c), behind the packet from node 1 to node 3
  the packet from node 1 to node 3 holds channel 2 (node 1 to b), channel 10 (b to c), and since 4000 ps waits for \
channel 12 (c to d), behind the packet from node 2 to node 0
  and 2 more";
    assert_eq!(report::<Reference>(), expected);
    assert_eq!(report::<Fast>(), expected);
}

#[test]
fn a_program_ends_with_the_report() {
    let machine = clockwise();
    for engine in [EngineKind::Fast, EngineKind::Reference] {
        let world = NetworkWorld::new(&machine, Options { engine, ..Options::default() });
        let all = AllPairs { bytes: Bytes(64), rounds: 1, order: programs::benchmarks::PartnerOrder::Shift };
        let error = world.run(4, &all).unwrap_err().to_string();
        assert!(error.starts_with("deadlock: 4 packets can't move on:"), "{error}");
    }
}
