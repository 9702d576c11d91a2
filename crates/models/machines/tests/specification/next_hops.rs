//! Tables of next hops: routers with very many links, and tables that would not fit.

use std::sync::Arc;

use maquette_machines::model::{ChannelEnd, FlitNetwork, Interconnect, NodeId, RouterId};
use maquette_machines::routing::{AtRest, RouteState, Step};
use maquette_machines::{Description, Error};

fn described(rule: &str, routers: &str, links: &str) -> Result<Arc<FlitNetwork>, Error> {
    let text = format!(
        "[channels]\nrate = \"1 GB/s\"\n[routers]\nrouting_delay = \"1 ns\"\n[packet]\npayload = \"8 B\"\nheader = \"1 B\"\n\
         [routing]\nrule = \"{rule}\"\n[topology.graph]\nrouters = [{routers}]\nlinks = [{links}]\n"
    );
    match Description::parse(&text, "graph.toml")?.resolve()?.interconnect {
        Interconnect::Flits(network) => Ok(network),
        _ => panic!("a graph is a network of flits"),
    }
}

fn routers(count: usize) -> String {
    (0..count).map(|router| format!("{{ name = \"r{router}\", nodes = 1 }}, ")).collect()
}

fn link(one: usize, other: usize) -> String {
    format!("{{ between = [\"r{one}\", \"r{other}\"] }}, ")
}

/// How many channels the path between two nodes has at least and at most, over all choices allowed at each router.
fn lengths(network: &FlitNetwork, source: u32, destination: u32) -> (usize, usize) {
    let (source, destination) = (NodeId(source), NodeId(destination));
    let mut ahead = vec![(network.injection[source.0 as usize], 1)];
    let (mut least, mut most) = (usize::MAX, 0);
    while let Some((channel, length)) = ahead.pop() {
        let ChannelEnd::Router(at) = network.channels[channel.0 as usize].to else {
            (least, most) = (least.min(length), most.max(length));
            continue;
        };
        let rest = AtRest { chance: 0 };
        let step = network.routing.step(&rest.view(at, source, destination), &mut RouteState::default());
        let options = step.options();
        ahead.extend([options[0], options[options.len() - 1]].map(|next| (next, length + 1)));
    }
    (least, most)
}

#[test]
fn a_router_with_many_links_leads_everywhere() {
    // Two routers in the middle, each linked with every other: two equally good paths between those.
    let links: String = (2..200).map(|router| link(0, router) + &link(1, router)).collect();
    for rule in ["up-down", "shortest-path"] {
        let network = described(rule, &routers(200), &links).unwrap();
        for (source, destination) in [(2, 199), (199, 2), (70, 140), (0, 100), (100, 1), (66, 67)] {
            let expected = if source.min(destination) < 2 { 3 } else { 4 };
            assert_eq!(lengths(&network, source, destination), (expected, expected), "{rule} {source} {destination}");
        }
    }
}

#[test]
fn a_hundred_links_side_by_side_are_a_hundred_choices() {
    let links: String = (0..100).map(|_| link(0, 1)).collect();
    let network = described("up-down", &routers(2), &links).unwrap();
    let view = AtRest { chance: 0 }.view(RouterId(0), NodeId(0), NodeId(1));
    let Step::Choose { options, fixed } = network.routing.step(&view, &mut RouteState::default()) else {
        panic!("there is a choice");
    };
    assert_eq!((options.len(), fixed), (100, 0));
    assert!(options.windows(2).all(|pair| pair[0] < pair[1]));
}

#[test]
fn a_table_that_would_not_fit_is_refused_at_once() {
    let links: String = (1..100_000).map(|router| link(router - 1, router)).collect();
    let error = described("up-down", &routers(100_000), &links).unwrap_err().to_string();
    assert!(error.contains("its table of next hops for 100000 routers could take 4769 MiB of memory"), "{error}");
}
