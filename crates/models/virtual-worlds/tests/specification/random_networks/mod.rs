//! Random networks and random traffic on them.

use std::sync::Arc;

use machines::model::{
    Arbitration, Channel, ChannelEnd, ChannelId, FlitNetwork, Interconnect, NodeId, PacketFormat, Regions, Router,
    RouterId, Switching,
};
use machines::routing::{IdleWhen, Routing, Selection, WaitsFor};
use maquette_virtual_worlds::flit::network::Injection;
use proptest::prelude::*;
use quantities::{Bytes, Duration, Time};

use crate::own_rules::{LessLoaded, Table};

/// A network and the packets that it must carry.
#[derive(Clone, Debug)]
pub struct Case {
    pub network: Arc<FlitNetwork>,
    pub orders: Vec<(Time, Injection)>,
    pub seed: u64,
    pub may_deadlock: bool,
}

/// How routers are joined: the router before each (a tree), or a ring, whose shortest paths can deadlock.
#[derive(Clone, Debug)]
enum Shape {
    Tree(Vec<usize>),
    Ring(usize),
}

impl Shape {
    fn links(&self) -> Vec<(usize, usize)> {
        match self {
            Shape::Tree(parents) => parents.iter().enumerate().map(|(child, &parent)| (parent, child + 1)).collect(),
            Shape::Ring(routers) => (0..*routers).map(|router| (router, (router + 1) % routers)).collect(),
        }
    }

    fn routers(&self) -> usize {
        match self {
            Shape::Tree(parents) => parents.len() + 1,
            Shape::Ring(routers) => *routers,
        }
    }
}

/// The parameters of one channel. [ps, ps, ps, flits]
type Numbers = (u64, u64, u64, u32);

fn shapes() -> impl Strategy<Value = Shape> {
    let tree = (1usize..7)
        .prop_flat_map(|routers| (1..routers).map(|child| 0..child).collect::<Vec<_>>())
        .prop_map(Shape::Tree);
    prop_oneof![6 => tree, 1 => (3usize..6).prop_map(Shape::Ring)]
}

/// Identical channels, as on most machines, or each with its own parameters.
fn numbers(switching: Switching) -> BoxedStrategy<Vec<Numbers>> {
    let buffer = || match switching {
        Switching::Wormhole => {
            prop_oneof![3 => Just(1u32), 3 => 2u32..6, 2 => 6u32..20, 1 => Just(64), 1 => Just(200)].boxed()
        }
        _ => (40u32..90).boxed(),
    };
    let alike = (1u64..5, prop_oneof![Just(0u64), 1u64..20], prop_oneof![Just(0u64), 1u64..20], buffer())
        .prop_map(|numbers| vec![numbers; 64]);
    let plain = (1u64..5, buffer()).prop_map(|(flit_time, buffer)| vec![(flit_time, 0, 0, buffer); 64]);
    let own = prop::collection::vec(
        (1u64..9, prop_oneof![Just(0u64), 1u64..20], prop_oneof![Just(0u64), 1u64..20], buffer()),
        64,
    );
    let slow_first = (buffer(), prop::collection::vec((prop_oneof![Just(2u64), Just(6)], buffer()), 64))
        .prop_map(|(_, all)| all.into_iter().map(|(flit_time, buffer)| (flit_time, 0, 0, buffer)).collect());
    prop_oneof![2 => plain, 2 => alike, 3 => own, 2 => slow_first].boxed()
}

fn switching() -> impl Strategy<Value = Switching> {
    prop_oneof![
        8 => Just(Switching::Wormhole),
        3 => Just(Switching::VirtualCutThrough),
        2 => Just(Switching::StoreAndForward),
        1 => (1u64..50).prop_map(|time| Switching::Software { per_packet: Duration::from_picoseconds(time) }),
    ]
}

/// How many virtual channels share a channel between routers, where the switching allows them.
fn virtual_channels(switching: Switching) -> BoxedStrategy<u32> {
    match switching {
        Switching::VirtualCutThrough | Switching::StoreAndForward => (1u32..5).boxed(),
        Switching::Wormhole | Switching::Software { .. } => Just(1).boxed(),
    }
}

/// A packet: when, source, destination, flits; ends are taken modulo the number of nodes.
type Sending = (u64, u32, u32, u32);

fn traffic() -> impl Strategy<Value = Vec<Sending>> {
    let flits = prop_oneof![2 => 1u32..6, 3 => 1u32..40];
    (1usize..40, prop_oneof![Just(1u64), Just(50), Just(1_000)]).prop_flat_map(move |(packets, span)| {
        prop::collection::vec((0..span, 0u32..64, 0u32..64, flits.clone()), packets)
    })
}

/// Any network of up to six routers and nine nodes, or one whose routing needs virtual channels, or one that leaves
/// headers a choice, or one whose routing depends on what waits where, and up to forty packets.
pub fn cases() -> impl Strategy<Value = Case> {
    prop_oneof![
        3 => any_network(),
        1 => networks_by_description(),
        1 => networks_with_choices(),
        1 => networks_whose_routers_look(),
    ]
}

/// Levels of routers in which a header has several ways up, with every way to choose among them.
fn networks_with_choices() -> impl Strategy<Value = Case> {
    let topology = prop_oneof![
        (2u32..4, 2u32..4).prop_map(|(arity, levels)| format!("fat_tree]\narity = {arity}\nlevels = {levels}")),
        (2u32..4, 1u32..3)
            .prop_map(|(arity, parents)| { format!("fat_tree]\narity = {arity}\nlevels = 2\nparents = [{parents}]") }),
        Just("mesh_of_clos]\nheight = 2\nmesh_stages = 1\narity = 2".to_string()),
    ];
    let chosen = [Selection::Random, Selection::RoundRobin, Selection::IdleFixed, Selection::IdleRandom];
    let selection = prop_oneof![
        prop::sample::select(chosen.to_vec()).prop_map(|selection| (selection, WaitsFor::Chosen)),
        prop::sample::select(chosen[1..].to_vec()).prop_map(|selection| (selection, WaitsFor::Any)),
    ];
    let idle_when = prop_oneof![Just(IdleWhen::Free), Just(IdleWhen::Empty)];
    (topology, switching(), selection, idle_when).prop_flat_map(
        |(topology, switching, (selection, waits_for), idle_when)| {
            // Nodes that route have no levels.
            let software = matches!(switching, Switching::Software { .. });
            let switching = if software { Switching::Wormhole } else { switching };
            let arbitration = prop_oneof![Just(Arbitration::FirstCome), Just(Arbitration::RoundRobin)];
            let shared = (numbers(switching), virtual_channels(switching));
            (shared, prop::collection::vec(1u64..30, 8), traffic(), any::<u64>(), arbitration).prop_map(
                move |((numbers, virtual_channels), delays, traffic, seed, arbitration)| {
                    let mut network = described(&format!("[topology.{topology}"), virtual_channels);
                    set_all_numbers(&mut network, &numbers, &delays);
                    share_wires(&mut network, virtual_channels);
                    (network.switching, network.arbitration) = (switching, arbitration);
                    (network.selection, network.waits_for, network.idle_when) = (selection, waits_for, idle_when);
                    let orders = orders(traffic, network.injection.len() as u32);
                    Case { network: Arc::new(network), orders, seed, may_deadlock: false }
                },
            )
        },
    )
}

fn set_all_numbers(network: &mut FlitNetwork, numbers: &[Numbers], delays: &[u64]) {
    for (channel, numbers) in network.channels.iter_mut().zip(numbers.iter().cycle()) {
        set_numbers(channel, *numbers);
    }
    for (router, delay) in network.routers.iter_mut().zip(delays.iter().cycle()) {
        router.routing_delay = Duration::from_picoseconds(*delay);
    }
}

/// A torus by dimension order or a dragonfly, with as many virtual channels as it needs, or twice or thrice as many.
fn topologies() -> impl Strategy<Value = (String, u32)> {
    let torus = prop::collection::vec(1u32..7, 1..4)
        .prop_map(|sides| (format!("[routing]\nrule = \"dimension-order\"\n[topology.torus]\nsides = {sides:?}"), 2));
    let dragonfly = ((1u32..4, 1u32..5, 1u32..3), any::<bool>(), any::<prop::sample::Index>()).prop_map(
        |((nodes, routers, global_links), detours, groups)| {
            let groups = 1 + groups.index((routers * global_links) as usize + 1);
            let (rule, needed) = if detours && groups > 2 { ("valiant", 3) } else { ("minimal", 2) };
            let text = format!(
                "[routing]\nrule = \"{rule}\"\n[topology.dragonfly]\nnodes = {nodes}\nrouters = {routers}\n\
                 global_links = {global_links}\ngroups = {groups}"
            );
            (text, needed)
        },
    );
    (prop_oneof![torus, dragonfly], 1u32..4).prop_map(|((text, needed), sets)| (text, needed * sets))
}

fn networks_by_description() -> impl Strategy<Value = Case> {
    let switching = prop_oneof![2 => Just(Switching::VirtualCutThrough), 1 => Just(Switching::StoreAndForward)];
    switching.prop_flat_map(|switching| {
        let arbitration = prop_oneof![Just(Arbitration::FirstCome), Just(Arbitration::RoundRobin)];
        (topologies(), numbers(switching), prop::collection::vec(1u64..30, 8), traffic(), any::<u64>(), arbitration)
            .prop_map(move |((topology, virtual_channels), numbers, delays, traffic, seed, arbitration)| {
                let mut network = described(&topology, virtual_channels);
                set_all_numbers(&mut network, &numbers, &delays);
                share_wires(&mut network, virtual_channels);
                (network.switching, network.arbitration) = (switching, arbitration);
                let orders = orders(traffic, network.injection.len() as u32);
                Case { network: Arc::new(network), orders, seed, may_deadlock: false }
            })
    })
}

/// Every router linked with every other, where packets take the less loaded of two ways.
fn networks_whose_routers_look() -> impl Strategy<Value = Case> {
    let switching = prop_oneof![2 => Just(Switching::VirtualCutThrough), 1 => Just(Switching::StoreAndForward)];
    (switching, 3usize..6, 1u32..3).prop_flat_map(|(switching, routers, sets)| {
        let arbitration = prop_oneof![Just(Arbitration::FirstCome), Just(Arbitration::RoundRobin)];
        (numbers(switching), prop::collection::vec(1u64..30, 8), traffic(), any::<u64>(), arbitration).prop_map(
            move |(numbers, delays, traffic, seed, arbitration)| {
                let router = |router: usize| format!("{{ name = \"{router}\", nodes = {} }}", 1 + router % 2);
                let all: Vec<String> = (0..routers).map(router).collect();
                let pairs = (0..routers).flat_map(|one| (0..one).map(move |other| (one, other)));
                let links: Vec<String> =
                    pairs.map(|(one, other)| format!("{{ between = [\"{one}\", \"{other}\"] }}")).collect();
                let graph = format!("routers = [{}]\nlinks = [{}]", all.join(", "), links.join(", "));
                let mut network = described(&format!("[topology.graph]\n{graph}"), 2 * sets);
                network.routing = Routing::Own(Arc::new(LessLoaded::of(&network)));
                set_all_numbers(&mut network, &numbers, &delays);
                share_wires(&mut network, 2 * sets);
                (network.switching, network.arbitration) = (switching, arbitration);
                let orders = orders(traffic, network.injection.len() as u32);
                Case { network: Arc::new(network), orders, seed, may_deadlock: false }
            },
        )
    })
}

/// The network of a description.
fn described(topology: &str, virtual_channels: u32) -> FlitNetwork {
    let text = format!(
        "{topology}\n[channels]\nrate = \"1 GB/s\"\nbuffers = 40\ncredit_latency = \"1 ns\"\n\
         virtual_channels = {virtual_channels}\n[switching]\nmode = \"virtual-cut-through\"\n\
         [routers]\nrouting_delay = \"1 ns\"\n[packet]\npayload = 39\nheader = 1\n"
    );
    match machines::Description::parse(&text, "random.toml").unwrap().resolve().unwrap().interconnect {
        Interconnect::Flits(network) => Arc::unwrap_or_clone(network),
        Interconnect::LogGp(_) | Interconnect::Ethernet(_) => unreachable!("it has a topology"),
    }
}

fn set_numbers(channel: &mut Channel, (flit_time, wire, credit, buffer): Numbers) {
    channel.flit_time = Duration::from_picoseconds(flit_time);
    channel.wire_latency = Duration::from_picoseconds(wire);
    channel.credit_latency = Duration::from_picoseconds(credit);
    channel.buffer = buffer;
}

fn any_network() -> impl Strategy<Value = Case> {
    switching().prop_flat_map(|switching| {
        (
            (shapes(), prop::collection::vec(0usize..64, 2..10)),
            (numbers(switching), virtual_channels(switching)),
            prop::collection::vec(1u64..30, 8),
            traffic(),
            any::<u64>(),
            prop_oneof![Just(Arbitration::FirstCome), Just(Arbitration::RoundRobin)],
        )
            .prop_map(
                move |((shape, homes), (numbers, virtual_channels), delays, traffic, seed, arbitration)| {
                    let mut network = build(&shape, &homes, &numbers, &delays, switching, arbitration);
                    share_wires(&mut network, virtual_channels);
                    let orders = orders(traffic, homes.len() as u32);
                    Case { network: Arc::new(network), orders, seed, may_deadlock: matches!(shape, Shape::Ring(_)) }
                },
            )
    })
}

fn orders(traffic: Vec<Sending>, nodes: u32) -> Vec<(Time, Injection)> {
    let mut orders: Vec<(Time, Injection)> = traffic
        .into_iter()
        .enumerate()
        .map(|(token, (time, source, destination, flits))| {
            let source = source % nodes;
            // On a network of one node, the node sends to itself.
            let destination = (source + 1 + destination % (nodes - 1).max(1)) % nodes;
            let order = Injection {
                source: NodeId(source),
                destination: NodeId(destination),
                bytes: Bytes(u64::from(flits) - 1),
                flits,
                token: token as u64,
            };
            (Time::from_picoseconds(time), order)
        })
        .collect();
    orders.sort_by_key(|&(time, _)| time);
    orders
}

/// Lets virtual channels share every channel between routers, whose credits then take some time.
fn share_wires(network: &mut FlitNetwork, virtual_channels: u32) {
    let between_routers = |channel: &&mut Channel| {
        matches!((channel.from, channel.to), (ChannelEnd::Router(_), ChannelEnd::Router(_))) && virtual_channels > 1
    };
    for channel in network.channels.iter_mut().filter(between_routers) {
        channel.virtual_channels = virtual_channels;
        channel.credit_latency = channel.credit_latency.max(Duration::from_picoseconds(1));
    }
}

fn build(
    shape: &Shape,
    homes: &[usize],
    numbers: &[Numbers],
    delays: &[u64],
    switching: Switching,
    arbitration: Arbitration,
) -> FlitNetwork {
    let routers = shape.routers();
    let mut channels: Vec<Channel> = Vec::new();
    let mut inputs = vec![0; routers];
    let mut add = |from: ChannelEnd, to: ChannelEnd| {
        let (flit_time, wire, credit, buffer) = numbers[channels.len() % numbers.len()];
        let input_port = match to {
            ChannelEnd::Router(RouterId(router)) => {
                inputs[router as usize] += 1;
                inputs[router as usize] - 1
            }
            ChannelEnd::Node(_) => 0,
        };
        channels.push(Channel {
            from,
            to,
            input_port,
            flit_time: Duration::from_picoseconds(flit_time),
            wire_latency: Duration::from_picoseconds(wire),
            credit_latency: Duration::from_picoseconds(credit),
            buffer,
            virtual_channels: 1,
        });
        ChannelId(channels.len() as u32 - 1)
    };
    let router = |index: usize| ChannelEnd::Router(RouterId(index as u32));
    let mut neighbours: Vec<Vec<(usize, ChannelId)>> = vec![Vec::new(); routers];
    for (one, other) in shape.links() {
        neighbours[one].push((other, add(router(one), router(other))));
        neighbours[other].push((one, add(router(other), router(one))));
    }
    let (mut injection, mut ejection) = (Vec::new(), Vec::new());
    for (node, home) in homes.iter().enumerate() {
        let node = ChannelEnd::Node(NodeId(node as u32));
        injection.push(add(node, router(home % routers)));
        ejection.push(add(router(home % routers), node));
    }
    let homes: Vec<usize> = homes.iter().map(|home| home % routers).collect();
    FlitNetwork {
        routing: Table::routing(homes.len() as u32, table(&neighbours, &homes, &ejection)),
        routers: (0..routers)
            .map(|index| Router {
                name: format!("router {index}"),
                routing_delay: Duration::from_picoseconds(delays[index % delays.len()]),
                position: (0.0, 0.0),
                mesh_index: None,
            })
            .collect(),
        channels,
        sides: Vec::new(),
        group: None,
        regions: Regions::default(),
        injection,
        ejection,
        selection: Selection::Fixed,
        waits_for: WaitsFor::Chosen,
        idle_when: IdleWhen::Free,
        switching,
        arbitration,
        packet: PacketFormat { payload: Bytes(39), header: Bytes(1), flit: Bytes(1) },
    }
}

/// Shortest paths, by a search backward from every destination's router.
fn table(neighbours: &[Vec<(usize, ChannelId)>], homes: &[usize], ejection: &[ChannelId]) -> Vec<ChannelId> {
    let mut next = vec![ChannelId(0); neighbours.len() * homes.len()];
    for (node, &home) in homes.iter().enumerate() {
        let mut reached = vec![home];
        next[home * homes.len() + node] = ejection[node];
        let mut seen = vec![false; neighbours.len()];
        seen[home] = true;
        let mut index = 0;
        while index < reached.len() {
            let router = reached[index];
            index += 1;
            for (from, links) in neighbours.iter().enumerate() {
                if let Some(&(_, channel)) = links.iter().find(|&&(to, _)| to == router)
                    && !seen[from]
                {
                    seen[from] = true;
                    next[from * homes.len() + node] = channel;
                    reached.push(from);
                }
            }
        }
    }
    next
}
