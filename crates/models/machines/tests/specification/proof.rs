//! The search for packets that wait in a cycle follows all that a rule may do, not only what it does in an empty
//! network.

use std::sync::Arc;

use maquette_machines::Description;
use maquette_machines::model::{ChannelEnd, ChannelId, FlitNetwork, Interconnect};
use maquette_machines::routing::deadlock::dependency_cycle;
use maquette_machines::routing::{NetworkView, OwnRule, RouteState, RouterView, Routing, Step};

/// Four routers, each linked with every other, and a node at each. A header goes straight to its destination, or by way
/// of the next router if fewer packets wait there: then by virtual channel 0 and on by this one.
#[derive(Debug)]
struct Detour {
    onward: u16,
    links: Vec<ChannelId>,
    ejection: Vec<ChannelId>,
}

const ROUTERS: u32 = 4;

impl OwnRule for Detour {
    fn virtual_channels(&self) -> u32 {
        2
    }

    fn step(&self, view: &RouterView<'_, dyn NetworkView + '_>, state: &mut RouteState) -> Step<'_> {
        let (at, home) = (view.at.0, view.header.destination.0);
        let link = |to: u32| self.links[(at * ROUTERS + to) as usize];
        if at == home {
            return Step::Only(self.ejection[home as usize]);
        }
        let next = (at + 1) % ROUTERS;
        let is_detour = state.phase == 0 && next != home;
        if is_detour && !view.at_most(view.packets(link(home), 0), view.packets(link(next), 0) * 2) {
            *state = RouteState { phase: 1, through: 0, virtual_channel: 0 };
            return Step::Only(link(next));
        }
        *state = RouteState { phase: 1, through: 0, virtual_channel: self.onward };
        Step::Only(link(home))
    }
}

fn network(onward: u16) -> FlitNetwork {
    let routers: String = (0..ROUTERS).map(|router| format!("{{ name = \"{router}\", nodes = 1 }}, ")).collect();
    let pairs = (0..ROUTERS).flat_map(|one| (0..one).map(move |other| (one, other)));
    let links: String = pairs.map(|(one, other)| format!("{{ between = [\"{one}\", \"{other}\"] }}, ")).collect();
    let text = format!(
        "[topology.graph]\nrouters = [{routers}]\nlinks = [{links}]\n[channels]\nrate = \"1 GB/s\"\nbuffers = 9\n\
         credit_latency = \"1 ns\"\nvirtual_channels = 2\n[switching]\nmode = \"virtual-cut-through\"\n\
         [routers]\nrouting_delay = \"1 ns\"\n[packet]\npayload = 8\nheader = 1\n"
    );
    let Interconnect::Flits(network) = Description::parse(&text, "four.toml").unwrap().resolve().unwrap().interconnect
    else {
        panic!("a graph is a network of flits")
    };
    let mut network = Arc::unwrap_or_clone(network);
    let mut links = vec![ChannelId(u32::MAX); (ROUTERS * ROUTERS) as usize];
    for (number, channel) in (0..).map(ChannelId).zip(&network.channels) {
        if let (ChannelEnd::Router(from), ChannelEnd::Router(to)) = (channel.from, channel.to) {
            links[(from.0 * ROUTERS + to.0) as usize] = number;
        }
    }
    network.routing = Routing::Own(Arc::new(Detour { onward, links, ejection: network.ejection.clone() }));
    network
}

#[test]
fn what_a_rule_does_only_under_load_is_followed() {
    assert_eq!(dependency_cycle(&network(1)), None);
    let cycle = dependency_cycle(&network(0)).unwrap();
    assert!(cycle.iter().all(|(_, virtual_channel)| *virtual_channel == 0), "{cycle:?}");
}
