//! What holds for every topology of every size.

use std::collections::BTreeSet;

use maquette_machines::Description;
use maquette_machines::model::{ChannelId, FlitNetwork, Interconnect, NodeId, Place};
use maquette_machines::routing::Step;
use maquette_machines::routing::deadlock::dependency_cycle;
use proptest::prelude::*;

const REST: &str =
    "[channels]\nrate = \"10 MB/s\"\n[routers]\nrouting_delay = \"1 ns\"\n[packet]\npayload = 8\nheader = 1\n";

fn read(text: &str) -> Option<FlitNetwork> {
    let description = Description::parse(&format!("{text}\n{REST}"), "test.toml").unwrap();
    match description.resolve().ok()?.interconnect {
        Interconnect::Flits(network) => Some(network),
        Interconnect::LogGp(_) => None,
    }
}

/// A connected graph: every router but the first has a link to one before it, and there are some links more.
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
        (2..4u32, 1..3u32)
            .prop_map(|(h, r)| format!("[topology.mesh_of_clos]\nheight = {h}\nmesh_stages = {}", r.min(h - 1))),
        (1..3u32, side.clone(), side.clone()).prop_map(|(h, c, r)| {
            format!("[topology.mesh_of_clos]\nheight = {h}\nmesh_stages = 0\ncolumns = {c}\nrows = {r}")
        }),
        (side.clone(), side.clone()).prop_map(|(c, r)| format!("[topology.mesh]\ncolumns = {c}\nrows = {r}")),
        (side.clone(), side).prop_map(|(c, r)| format!("[topology.torus]\ncolumns = {c}\nrows = {r}")),
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
    ]
}

/// Follows a packet, taking at each choice the option that `pick` says.
fn arrives(network: &FlitNetwork, source: NodeId, destination: NodeId, mut pick: usize) -> Vec<ChannelId> {
    let mut route = vec![network.injection[source.0 as usize]];
    loop {
        assert!(route.len() <= network.channels.len(), "it goes round");
        match network.channels[route[route.len() - 1].0 as usize].to {
            Place::Node(node) => {
                assert_eq!(node, destination);
                return route;
            }
            Place::Router(at) => {
                let next = match network.routing.step(at, source, destination) {
                    Step::Only(channel) | Step::Virtual { channel, .. } => channel,
                    Step::Choose { options, fixed } => {
                        assert!(fixed < options.len());
                        pick = pick.wrapping_mul(31).wrapping_add(7);
                        options[pick % options.len()]
                    }
                };
                assert_eq!(network.channels[next.0 as usize].from, Place::Router(at));
                route.push(next);
            }
        }
    }
}

proptest! {
    #[test]
    fn channels_are_in_pairs_and_ports_are_unique(text in topology()) {
        let network = read(&text).unwrap();
        let mut ports = BTreeSet::new();
        for (number, channel) in network.channels.iter().enumerate() {
            let reverse = &network.channels[number ^ 1];
            prop_assert_eq!((reverse.from, reverse.to), (channel.to, channel.from));
            prop_assert!(ports.insert((channel.to, channel.input_port)), "two channels at one port");
        }
        for (node, (&into, &out)) in network.injection.iter().zip(&network.ejection).enumerate() {
            let node = Place::Node(NodeId(node as u32));
            prop_assert_eq!(network.channels[into.0 as usize].from, node);
            prop_assert_eq!(network.channels[out.0 as usize].to, node);
        }
        for place in network.channels.iter().map(|channel| channel.to) {
            let inputs = network.channels.iter().filter(|channel| channel.to == place).count() as u32;
            prop_assert!((0..inputs).all(|port| ports.contains(&(place, port))), "ports without a gap");
        }
    }

    #[test]
    fn packets_arrive_and_cannot_deadlock(text in topology(), rule in rule(), pick in any::<usize>()) {
        let Some(network) = read(&format!("{rule}{text}")) else { return Ok(()) };
        prop_assert_eq!(dependency_cycle(&network), None);
        let nodes = network.injection.len() as u32;
        for source in (0..nodes).map(NodeId) {
            for destination in (0..nodes).map(NodeId).filter(|destination| *destination != source) {
                let route = arrives(&network, source, destination, pick);
                prop_assert_eq!(network.route(source, destination).len(), route.len(), "all choices are as long");
                let once: BTreeSet<ChannelId> = route.iter().copied().collect();
                prop_assert_eq!(once.len(), route.len(), "no channel twice");
            }
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
