//! Rules of routing that no description names, for networks made by hand.

use std::sync::Arc;

use machines::model::{ChannelEnd, ChannelId, FlitNetwork, RouterId};
use machines::routing::{NetworkView, OwnRule, RouteState, RouterView, Routing, Step};

/// One output channel for each router and node of destination: `next[router * nodes + destination]`.
#[derive(Debug)]
pub struct Table {
    nodes: u32,
    next: Vec<ChannelId>,
}

impl Table {
    pub fn routing(nodes: u32, next: Vec<ChannelId>) -> Routing {
        Routing::Own(Arc::new(Table { nodes, next }))
    }
}

impl OwnRule for Table {
    fn step(&self, view: &RouterView<'_, dyn NetworkView + '_>, _: &mut RouteState) -> Step<'_> {
        Step::Only(self.next[(view.at.0 * self.nodes + view.header.destination.0) as usize])
    }
}

/// Where every router is linked with every other: by way of a router drawn at random, if fewer packets are on that way
/// than on the direct one. The detour takes virtual channel 0 and then 1, the direct way 1.
#[derive(Debug)]
pub struct LessLoaded {
    routers: u32,
    /// For every router, its channel to every other.
    links: Vec<ChannelId>,
    /// For every node, its router and the channel from there.
    homes: Vec<(RouterId, ChannelId)>,
}

const TO_DETOUR: u16 = 1;
const DIRECT: u16 = 2;

impl LessLoaded {
    pub fn of(network: &FlitNetwork) -> LessLoaded {
        let routers = network.routers.len() as u32;
        let mut links = vec![ChannelId(u32::MAX); (routers * routers) as usize];
        for (number, channel) in (0..).zip(&network.channels) {
            if let (ChannelEnd::Router(from), ChannelEnd::Router(to)) = (channel.from, channel.to) {
                links[(from.0 * routers + to.0) as usize] = ChannelId(number);
            }
        }
        let home = |&ejection: &ChannelId| match network.channels[ejection.0 as usize].from {
            ChannelEnd::Router(home) => (home, ejection),
            ChannelEnd::Node(_) => unreachable!("a router is before each node"),
        };
        LessLoaded { routers, links, homes: network.ejection.iter().map(home).collect() }
    }

    fn link(&self, from: u32, to: u32) -> ChannelId {
        self.links[(from * self.routers + to) as usize]
    }

    /// One of the routers that are neither.
    fn other(&self, view: &RouterView<'_, dyn NetworkView + '_>, home: u32) -> u32 {
        let mut other = view.draw_for_packet(u64::from(self.routers) - 2) as u32;
        for taken in [view.at.0.min(home), view.at.0.max(home)] {
            other += u32::from(other >= taken);
        }
        other
    }
}

impl OwnRule for LessLoaded {
    fn virtual_channels(&self) -> u32 {
        2
    }

    fn step(&self, view: &RouterView<'_, dyn NetworkView + '_>, state: &mut RouteState) -> Step<'_> {
        let RouterId(at) = view.at;
        let (RouterId(home), ejection) = self.homes[view.header.destination.0 as usize];
        if at == home {
            return Step::Only(ejection);
        }
        let direct = RouteState { phase: DIRECT, through: 0, virtual_channel: 1 };
        if state.phase == 0 {
            let through = self.other(view, home);
            // That of another router as this one sees it.
            let rest = view.packets(self.link(through, home), 1);
            let detour = view.packets(self.link(at, through), 0) + rest;
            let straight = self.link(at, home);
            let is_better = view.is_idle(straight) || view.at_most(view.packets(straight, 1), detour);
            *state = if is_better { direct } else { RouteState { phase: TO_DETOUR, through, virtual_channel: 0 } };
        } else if state.phase == TO_DETOUR && at == state.through {
            *state = direct;
        }
        Step::Only(self.link(at, if state.phase == TO_DETOUR { state.through } else { home }))
    }
}
