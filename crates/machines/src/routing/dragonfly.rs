//! Dragonflies: from group to group over the one global link, or over one of the links, that joins them.
//!
//! *Minimal*: along a local link to the router of the group that has the global link, along that, and along a local link
//! to the router of the destination. *Valiant*: first so to a group drawn at random, then from there to the destination's;
//! this spreads traffic that would all take one link.
//!
//! ```text
//!     local 0     global 0     local 1                               minimal: two virtual channels
//!     local 0     global 0     local 1     global 1     local 2      Valiant: three
//! ```
//!
//! The numbers are the virtual channels: each leg has its own, and the last local link the last one. They rise from left to
//! right, so that nothing waits in a cycle. Within a group a packet takes one local link, by the last virtual channel.
//!
//! Where several links join two groups, packets take that of their destination: the router's number modulo the links.
//!
//! Sources: Kim, Dally, Scott and Abts, "Technology-Driven, Highly-Scalable Dragonfly Topology" (2008), sections 4.1 and
//! 4.2; Valiant, "A Scheme for Fast Parallel Communication" (1982), here with groups in the place of nodes.

use crate::model::{ChannelId, RouterId};
use crate::routing::{Header, NetworkView, RouteState, RouterView, Step};
use crate::topology::ejection;

/// The phases of a packet that takes a detour.
const AT_SOURCE: u16 = 0;
const TO_DETOUR: u16 = 1;
const FROM_DETOUR: u16 = 2;

/// The sizes of a dragonfly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    /// p, the nodes of a router.
    pub nodes: u32,
    /// a, the routers of a group.
    pub routers: u32,
    /// h, the links of a router to other groups.
    pub global_links: u32,
    /// g.
    pub groups: u32,
}

impl Shape {
    /// How many links join two groups.
    pub(crate) fn rounds(&self) -> u32 {
        match self.groups {
            1 => 0,
            groups => self.routers * self.global_links / (groups - 1),
        }
    }

    /// The group where link `link` of `group` leads, and the number that it has there.
    pub(crate) fn other_end(&self, group: u32, link: u32) -> (u32, u32) {
        let others = self.groups - 1;
        let (round, ahead) = (link / others, link % others);
        ((group + others - ahead) % self.groups, round * others + others - 1 - ahead)
    }

    /// The link of `group` that leads to `other` in a round.
    fn link_to(&self, group: u32, other: u32, round: u32) -> u32 {
        let others = self.groups - 1;
        round * others + (group + others - other) % self.groups
    }
}

/// From group to group.
#[derive(Clone, Debug)]
pub struct Dragonfly {
    shape: Shape,
    /// How many links join two groups.
    rounds: u32,
    /// Whether packets take their way through a group drawn at random.
    detours: bool,
    /// For every router, its channel to each router of its group.
    local: Vec<ChannelId>,
    /// For every router, its channels to other groups.
    global: Vec<ChannelId>,
}

impl Dragonfly {
    pub(crate) fn new(shape: Shape, local: Vec<ChannelId>, global: Vec<ChannelId>) -> Dragonfly {
        Dragonfly { shape, rounds: shape.rounds(), detours: false, local, global }
    }

    /// The same with Valiant's rule; nothing if there is no third group to go through.
    pub(crate) fn with_detours(self) -> Option<Dragonfly> {
        (self.shape.groups > 2).then_some(Dragonfly { detours: true, ..self })
    }

    pub(crate) fn detours(&self) -> bool {
        self.detours
    }

    pub(crate) fn virtual_channels(&self) -> u32 {
        match (self.shape.groups, self.detours) {
            (1, _) => 1,
            (_, false) => 2,
            (_, true) => 3,
        }
    }

    /// Between how many groups to go through a packet has the choice.
    pub(crate) fn choices(&self) -> u64 {
        if self.detours { u64::from(self.shape.groups) - 2 } else { 1 }
    }

    #[inline]
    pub(super) fn step<N: NetworkView + ?Sized>(&self, view: &RouterView<'_, N>, state: &mut RouteState) -> Step<'_> {
        let RouterView { at: RouterId(at), header: Header { destination, .. }, .. } = *view;
        let Shape { nodes, routers, global_links, .. } = self.shape;
        let home = destination.0 / nodes;
        if home == at {
            return Step::Only(ejection(destination.0));
        }
        let local = |router: u32| Step::Only(self.local[(at * routers + router) as usize]);
        let (group, target) = (at / routers, home / routers);
        if group == target {
            state.virtual_channel = self.virtual_channels() as u16 - 1;
            return local(home % routers);
        }
        if self.detours && state.phase == AT_SOURCE {
            *state = RouteState { phase: TO_DETOUR, through: self.detour(group, target, view), virtual_channel: 0 };
        }
        if state.phase == TO_DETOUR && group == state.through {
            *state = RouteState { phase: FROM_DETOUR, through: 0, virtual_channel: 1 };
        }
        let towards = if state.phase == TO_DETOUR { state.through } else { target };
        let link = self.shape.link_to(group, towards, home % self.rounds);
        if link / global_links == at % routers {
            return Step::Only(self.global[(at * global_links + link % global_links) as usize]);
        }
        local(link / global_links)
    }

    /// The group that a packet goes through: any but its first and its last.
    fn detour<N: NetworkView + ?Sized>(&self, first: u32, last: u32, view: &RouterView<'_, N>) -> u32 {
        let mut group = view.draw_for_packet(self.choices()) as u32;
        for taken in [first.min(last), first.max(last)] {
            group += u32::from(group >= taken);
        }
        group
    }
}
