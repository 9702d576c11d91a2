//! What holds for every topology of every size.

use std::collections::BTreeSet;
use std::sync::Arc;

use maquette_machines::Description;
use maquette_machines::model::{ChannelEnd, ChannelId, FlitNetwork, Interconnect, NodeId};
use maquette_machines::routing::deadlock::dependency_cycle;
use maquette_machines::routing::{AtRest, RouteState, Step};
use proptest::prelude::*;

const REST: &str =
    "[channels]\nrate = \"10 MB/s\"\n[routers]\nrouting_delay = \"1 ns\"\n[packet]\npayload = 8\nheader = 1\n";

/// The same, with virtual cut-through and this many virtual channels.
fn with_virtual_channels(count: u32) -> String {
    let rest = REST.replace(
        "[routers]",
        &format!("buffers = 9\ncredit_latency = \"1 ns\"\nvirtual_channels = {count}\n[routers]"),
    );
    format!("{rest}[switching]\nmode = \"virtual-cut-through\"\n")
}

fn resolved(text: &str) -> Option<FlitNetwork> {
    let description = Description::parse(text, "test.toml").unwrap();
    match description.resolve().ok()?.interconnect {
        Interconnect::Flits(network) => Some(Arc::unwrap_or_clone(network)),
        Interconnect::LogGp(_) | Interconnect::Ethernet(_) => None,
    }
}

/// A connected graph: every router except the first has a link to an earlier one, and there are some more links.
fn graph() -> impl Strategy<Value = String> {
    let routers = prop::collection::vec((any::<prop::sample::Index>(), 0..3u32), 1..12);
    let more = prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>()), 0..10);
    (routers, more).prop_map(|(routers, more)| {
        let count = routers.len();
        let list = |(number, (_, nodes)): (usize, &(prop::sample::Index, u32))| {
            format!("{{ name = \"r{number}\", nodes = {} }}", nodes + u32::from(number == 0))
        };
        let names: Vec<String> = routers.iter().enumerate().map(list).collect();
        let mut links: Vec<(usize, usize)> =
            (1..count).map(|number| (number, routers[number].0.index(number))).collect();
        links.extend(more.iter().map(|(left, right)| (left.index(count), right.index(count))));
        links.retain(|(left, right)| left != right);
        let links: Vec<String> =
            links.iter().map(|(left, right)| format!("{{ between = [\"r{left}\", \"r{right}\"] }}")).collect();
        format!("[topology.graph]\nrouters = [{}]\nlinks = [{}]", names.join(", "), links.join(", "))
    })
}

fn topology() -> impl Strategy<Value = String> {
    let side = 1..8u32;
    prop_oneof![
        (1..4u32, 2..5u32).prop_map(|(h, k)| format!("[topology.clos]\nheight = {h}\narity = {k}")),
        (1..4u32, 2..5u32).prop_map(|(h, k)| format!("[topology.fat_tree]\nlevels = {h}\narity = {k}")),
        (1..4u32, 2..5u32, 1..5u32).prop_map(|(h, k, s)| {
            format!("[topology.fat_tree]\nlevels = {h}\narity = {k}\nsubtrees = {}", s.min(k))
        }),
        (1..4usize, 2..5u32, 1..5u32, [1..5u32, 1..5]).prop_map(|(h, k, s, parents)| {
            let parents: Vec<u32> = parents.iter().take(h - 1).map(|parents| *parents.min(&k)).collect();
            let s = s.min(k);
            format!("[topology.fat_tree]\nlevels = {h}\narity = {k}\nsubtrees = {s}\nparents = {parents:?}")
        }),
        (2..4u32, 1..3u32)
            .prop_map(|(h, r)| format!("[topology.mesh_of_clos]\nheight = {h}\nmesh_stages = {}", r.min(h - 1))),
        (1..3u32, side.clone(), side.clone()).prop_map(|(h, c, r)| {
            format!("[topology.mesh_of_clos]\nheight = {h}\nmesh_stages = 0\ncolumns = {c}\nrows = {r}")
        }),
        (side.clone(), side.clone()).prop_map(|(c, r)| format!("[topology.mesh]\ncolumns = {c}\nrows = {r}")),
        (side.clone(), side).prop_map(|(c, r)| format!("[topology.torus]\ncolumns = {c}\nrows = {r}")),
        (prop_oneof!["mesh", "torus"], prop::collection::vec(1..6u32, 1..4))
            .prop_map(|(name, sides)| format!("[topology.{name}]\nsides = {sides:?}")),
        (1..4u32, 1..5u32, 0..3u32, any::<prop::sample::Index>()).prop_map(|(p, a, h, g)| {
            let g = 1 + g.index((a * h) as usize + 1);
            format!("[topology.dragonfly]\nnodes = {p}\nrouters = {a}\nglobal_links = {h}\ngroups = {g}")
        }),
        (1..40u32).prop_map(|n| format!("[topology.star]\nnodes = {n}")),
        graph(),
    ]
}

fn rule() -> impl Strategy<Value = &'static str> {
    prop_oneof![
        Just(""),
        Just("[routing]\nrule = \"up-down\"\n"),
        Just("[routing]\nrule = \"shortest-path\"\n"),
        Just("[routing]\nrule = \"dimension-order\"\n"),
        Just("[routing]\nrule = \"valiant\"\n"),
    ]
}

/// Follows a packet that takes the option given by `pick` at each choice.
fn arrives(network: &FlitNetwork, source: NodeId, destination: NodeId, mut pick: usize) -> Vec<ChannelId> {
    let mut route = vec![network.injection[source.0 as usize]];
    let (rest, mut state) = (AtRest { chance: pick as u64 }, RouteState::default());
    loop {
        assert!(route.len() <= network.channels.len(), "it goes round");
        match network.channels[route[route.len() - 1].0 as usize].to {
            ChannelEnd::Node(node) => {
                assert_eq!(node, destination);
                return route;
            }
            ChannelEnd::Router(at) => {
                let next = match network.routing.step(&rest.view(at, source, destination), &mut state) {
                    Step::Only(channel) => channel,
                    Step::Choose { options, fixed } => {
                        assert!(fixed < options.len());
                        pick = pick.wrapping_mul(31).wrapping_add(7);
                        options[pick % options.len()]
                    }
                };
                assert_eq!(network.channels[next.0 as usize].from, ChannelEnd::Router(at));
                route.push(next);
            }
        }
    }
}

proptest! {
    #[test]
    fn channels_are_in_pairs_and_ports_are_unique(text in topology()) {
        let network = resolved(&format!("{text}\n{}", with_virtual_channels(2))).unwrap();
        let mut ports = BTreeSet::new();
        for (number, channel) in network.channels.iter().enumerate() {
            let reverse = &network.channels[number ^ 1];
            prop_assert_eq!((reverse.from, reverse.to), (channel.to, channel.from));
            prop_assert!(ports.insert((channel.to, channel.input_port)), "two channels at one port");
        }
        for (node, (&into, &out)) in network.injection.iter().zip(&network.ejection).enumerate() {
            let node = ChannelEnd::Node(NodeId(node as u32));
            prop_assert_eq!(network.channels[into.0 as usize].from, node);
            prop_assert_eq!(network.channels[out.0 as usize].to, node);
        }
        for place in network.channels.iter().map(|channel| channel.to) {
            let inputs = network.channels.iter().filter(|channel| channel.to == place).count() as u32;
            prop_assert!((0..inputs).all(|port| ports.contains(&(place, port))), "ports without a gap");
        }
    }

    #[test]
    fn packets_arrive_and_cannot_deadlock(
        text in topology(), rule in rule(), pick in any::<usize>(), virtual_channels in 1..7u32,
    ) {
        let rest = if virtual_channels == 1 { REST.to_string() } else { with_virtual_channels(virtual_channels) };
        let Some(network) = resolved(&format!("{rule}{text}\n{rest}")) else { return Ok(()) };
        prop_assert_eq!(dependency_cycle(&network), None);
        let nodes = network.injection.len() as u32;
        for source in (0..nodes).map(NodeId) {
            for destination in (0..nodes).map(NodeId).filter(|destination| *destination != source) {
                let route = arrives(&network, source, destination, pick);
                let usual = network.route(source, destination).len();
                prop_assert!(usual == route.len() || network.routing.choices() > 1, "all choices are as long");
                let once: BTreeSet<ChannelId> = route.iter().copied().collect();
                prop_assert_eq!(once.len(), route.len(), "no channel twice");
            }
        }
    }

    #[test]
    fn rings_of_more_than_four_need_two_virtual_channels(sides in prop::collection::vec(1..9u32, 1..4)) {
        let torus = format!("[routing]\nrule = \"dimension-order\"\n[topology.torus]\nsides = {sides:?}\n");
        let small = sides.iter().all(|side| *side <= 4);
        prop_assert_eq!(resolved(&format!("{torus}{REST}")).is_some(), small);
        let network = resolved(&format!("{torus}{}", with_virtual_channels(2))).unwrap();
        prop_assert_eq!((network.routing.virtual_channels(), dependency_cycle(&network)), (if small { 1 } else { 2 }, None));
    }

    /// Minimal paths take one link between groups and at most one in each; Valiant's take two and three, through a
    /// group that is neither the first nor the last. Nothing waits in a cycle.
    #[test]
    fn paths_through_a_dragonfly(
        (p, a, h) in (1..3u32, 1..5u32, 1..3u32), g in any::<prop::sample::Index>(), detours in any::<bool>(),
        chance in any::<u16>(),
    ) {
        let groups = 1 + g.index((a * h) as usize + 1) as u32;
        let detours = detours && groups > 2;
        let (rule, count) = if detours { ("valiant", 3) } else { ("minimal", 2) };
        let sizes = format!("nodes = {p}\nrouters = {a}\nglobal_links = {h}\ngroups = {groups}");
        let text = format!("[routing]\nrule = \"{rule}\"\n[topology.dragonfly]\n{sizes}\n{}", with_virtual_channels(count));
        let network = resolved(&text).unwrap();
        prop_assert_eq!(dependency_cycle(&network), None);
        let group = |place: ChannelEnd| match place {
            ChannelEnd::Router(router) => router.0 / a,
            ChannelEnd::Node(node) => node.0 / p / a,
        };
        let nodes = p * a * groups;
        let ends = (0..nodes).flat_map(|source| (0..nodes).map(move |destination| (NodeId(source), NodeId(destination))));
        for (source, destination) in ends.filter(|(source, destination)| source != destination) {
            let route = arrives(&network, source, destination, chance as usize);
            let passed: Vec<u32> = route.iter().map(|channel| group(network.channels[channel.0 as usize].to)).collect();
            let mut visited = passed.clone();
            visited.dedup();
            let apart = group(ChannelEnd::Node(source)) != group(ChannelEnd::Node(destination));
            let expected = match (apart, detours) {
                (false, _) => 1,
                (true, false) => 2,
                (true, true) => 3,
            };
            let different: BTreeSet<u32> = visited.iter().copied().collect();
            prop_assert_eq!((visited.len(), different.len()), (expected, expected));
            prop_assert!(route.len() < 2 + 2 * expected);
        }
    }

    /// Packets go the shorter way around in every dimension.
    #[test]
    fn paths_on_a_torus_are_the_shortest(sides in prop::collection::vec(1..9u32, 1..4)) {
        let text = format!("[topology.torus]\nsides = {sides:?}\n{}", with_virtual_channels(2));
        let network = resolved(&text).unwrap();
        let nodes = network.injection.len() as u32;
        for (source, destination) in (0..nodes).flat_map(|source| [(source, 0), (0, source)]).filter(|(s, d)| s != d) {
            let (mut distance, mut position, mut goal) = (0, source, destination);
            for side in &sides {
                let ahead = (goal % side + side - position % side) % side;
                distance += ahead.min(side - ahead);
                (position, goal) = (position / side, goal / side);
            }
            prop_assert_eq!(network.route(NodeId(source), NodeId(destination)).len() as u32, distance + 2);
        }
    }

    #[test]
    fn no_description_makes_it_panic(
        text in "[a-z_.=\\[\\]{}\" 0-9\n-]{0,200}",
        topology in topology(),
        cut in any::<prop::sample::Index>(),
    ) {
        let good = format!("{topology}\n{REST}");
        let part: String = good.chars().take(cut.index(good.len())).collect();
        for text in [text.clone(), part, format!("{topology}\n{text}\n{REST}")] {
            let _ = Description::parse(&text, "any.toml").and_then(|description| description.resolve());
        }
    }
}
