//! Dragonflies: groups of routers, each router with a link to every other of its group, and links between groups.
//!
//! A group has a routers with p nodes and h global links each. Its global links are numbered from 0 to a h - 1, router
//! by router. With g = a h + 1 groups each link leads to a different group: link k of group i to group i - k - 1 modulo
//! g, where it is link a h - 1 - k (the palm tree arrangement).
//!
//! ```text
//!     p = 1, a = 2, h = 1, g = 3           group 0            group 1            group 2
//!                                       r0 ------ r1       r2 ------ r3       r4 ------ r5
//!     link 0 of a group leads to         |         |        |         |        |         |
//!     the group before it, where         |         +--------+         +--------+         |
//!     it is link 1                       +-----------------------------------------------+
//! ```
//!
//! With fewer groups the links are dealt out in rounds of g - 1, as long as there are whole rounds, so that any two
//! groups have equally many links between them; the remaining links do not exist.
//!
//! Node n is at router n / p, router r in group r / a. The input ports of a router are: from its nodes, from the other
//! routers of its group in their order, from other groups in the order of its own global links, except that those that
//! lead to lower groups come in the order of the groups.
//!
//! Sources: Kim, Dally, Scott and Abts, "Technology-Driven, Highly-Scalable Dragonfly Topology" (2008), section 3; the
//! palm tree is from Camarero, Vallejo and Beivide, "Topological Characterization of Hamming and Dragonfly Networks and
//! Its Implications on Routing" (2014).

use schemars::JsonSchema;
use serde::Deserialize;

use super::regions::{Stretches, on_circle};
use super::{ChannelClass, MOST_CHANNELS, MOST_NODES, MOST_ROUTERS, NOWHERE, Plan, PlannedTopology, Row, within};
use crate::description::Table;
use crate::error::Fault;
use crate::model::{ChannelId, NodeId, Regions, RouterId};

const FIELD: &str = "topology.dragonfly";
/// The most routers of a group, nodes of a router, and global links of a router.
const MOST_OF_EACH: u64 = 1024;

/// The sizes of a dragonfly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Shape {
    /// p, the nodes of a router.
    nodes: u32,
    /// a, the routers of a group.
    routers: u32,
    /// h, the links of a router to other groups.
    global_links: u32,
    /// g.
    groups: u32,
}

impl Shape {
    /// How many links join two groups.
    fn rounds(&self) -> u32 {
        match self.groups {
            1 => 0,
            groups => self.routers * self.global_links / (groups - 1),
        }
    }

    /// The group where link `link` of `group` leads, and the number that it has there.
    fn other_end(&self, group: u32, link: u32) -> (u32, u32) {
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

/// A dragonfly as packets find their way through it.
#[derive(Clone, Debug)]
pub(crate) struct Groups {
    shape: Shape,
    /// How many links join two groups.
    rounds: u32,
    /// For every router, its channel to each router of its group.
    local: Vec<ChannelId>,
    /// For every router, its channels to other groups.
    global: Vec<ChannelId>,
}

impl Groups {
    pub(crate) fn count(&self) -> u32 {
        self.shape.groups
    }

    /// The router of a node.
    #[inline]
    pub(crate) fn home(&self, node: NodeId) -> u32 {
        node.0 / self.shape.nodes
    }

    /// The group of a router.
    #[inline]
    pub(crate) fn group(&self, router: u32) -> u32 {
        router / self.shape.routers
    }

    /// The channel from a router to another of its group.
    #[inline]
    pub(crate) fn within(&self, at: u32, to: u32) -> ChannelId {
        let Shape { routers, .. } = self.shape;
        self.local[(at * routers + to % routers) as usize]
    }

    /// The channel from a router on the way to another group: that way, or to the router of its own group from which it
    /// leads there. Of several links between two groups, packets take that of their destination's router, `home`: its
    /// number modulo the links.
    #[inline]
    pub(crate) fn towards(&self, at: u32, group: u32, home: u32) -> ChannelId {
        let Shape { routers, global_links, .. } = self.shape;
        let link = self.shape.link_to(at / routers, group, home % self.rounds);
        if link / global_links == at % routers {
            return self.global[(at * global_links + link % global_links) as usize];
        }
        self.local[(at * routers + link / global_links) as usize]
    }
}

/// Groups of routers. Within a group every router has a link to every other; `channels.global` says in what the links
/// between groups differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Dragonfly {
    /// p, the nodes of a router.
    pub nodes: u32,
    /// a, the routers of a group.
    pub routers: u32,
    /// h, the links of a router to other groups.
    pub global_links: u32,
    /// g, the groups; `routers * global_links + 1`, the maximum, if left out.
    pub groups: Option<u32>,
}

impl Row for Dragonfly {
    const ABOUT: &'static str = "Groups of routers, each linked with every other.";
    const TABLES: &'static [Table] =
        &[Table::of::<Dragonfly>("", Some("{ nodes = 2, routers = 4, global_links = 2 }"))];
    const SHORT: &'static [&'static str] = &["groups"];
    const HAS_GLOBAL: bool = true;
    const WITH_GROUPS: Option<&'static str> = Some("a dragonfly");

    fn lay_out(&self) -> Result<PlannedTopology, Fault> {
        let shape = shape(self)?;
        let routers = shape.groups * shape.routers;
        let mut plan = Plan { group: Some(shape.routers * shape.nodes), ..Plan::default() };
        for router in 0..routers {
            let (group, within) = (router / shape.routers, router % shape.routers);
            plan.router(format!("group {group} router {within}"), position(&shape, group, within), None);
        }
        plan.regions = regions(&shape);
        for node in 0..routers * shape.nodes {
            plan.node(RouterId(node / shape.nodes));
        }
        let local = link_routers(&mut plan, &shape);
        let global = link_groups(&mut plan, &shape);
        let groups = Groups { shape, rounds: shape.rounds(), local, global };
        Ok(PlannedTopology { plan, geometry: Some(Box::new(groups)) })
    }
}

/// The checked shape from the description.
fn shape(dragonfly: &Dragonfly) -> Result<Shape, Fault> {
    let Dragonfly { nodes, routers, global_links, groups } = *dragonfly;
    within(&format!("{FIELD}.nodes"), "nodes of a router", u64::from(nodes), MOST_OF_EACH)?;
    within(&format!("{FIELD}.routers"), "routers of a group", u64::from(routers), MOST_OF_EACH)?;
    if u64::from(global_links) > MOST_OF_EACH {
        return Err(Fault::value(format!("{FIELD}.global_links"), global_links, format!("0 to {MOST_OF_EACH}")));
    }
    let most = routers * global_links + 1;
    let groups = groups.unwrap_or(most);
    if !(1..=most).contains(&groups) {
        let allowed = format!("1 to {most}: a group has {} links to others", most - 1);
        return Err(Fault::value(format!("{FIELD}.groups"), groups, allowed));
    }
    let all_routers = u64::from(groups) * u64::from(routers);
    within(FIELD, "routers", all_routers, MOST_ROUTERS)?;
    within(FIELD, "nodes", all_routers * u64::from(nodes), MOST_NODES)?;
    let of_router = 2 * u64::from(nodes) + u64::from(routers) + u64::from(global_links);
    within(FIELD, "channels", all_routers * of_router, MOST_CHANNELS)?;
    Ok(Shape { nodes, routers, global_links, groups })
}

/// Each group is a row of boxes; groups are arranged next to and below each other, in roughly a square.
fn position(shape: &Shape, group: u32, within: u32) -> (f32, f32) {
    let side_by_side = (2 * shape.groups / (shape.routers + 1)).isqrt().max(1);
    let x = group % side_by_side * (shape.routers + 1) + within;
    let y = 2 * (group / side_by_side);
    (x as f32, y as f32)
}

/// Regions are groups, in a circle; or several groups, where there are too many.
fn regions(shape: &Shape) -> Regions {
    let groups = Stretches::of(shape.groups, Regions::MOST);
    let mut regions = Regions::default();
    for number in 0..groups.number() {
        let word = if groups.length == 1 { "group" } else { "groups" };
        regions.add(format!("{word} {}", groups.words(number)), on_circle(number, groups.number()));
    }
    regions.of_router =
        (0..shape.groups * shape.routers).map(|router| router / shape.routers / groups.length).collect();
    regions
}

/// Links each router with every other of its group; returns for every router its channel to each router of the group.
fn link_routers(plan: &mut Plan, shape: &Shape) -> Vec<ChannelId> {
    let routers = shape.routers;
    let mut local = vec![NOWHERE; (shape.groups * routers * routers) as usize];
    for group in 0..shape.groups {
        for near in 0..routers {
            for far in near + 1..routers {
                let (near_id, far_id) = (group * routers + near, group * routers + far);
                let (away, home) = plan.link(RouterId(near_id), RouterId(far_id), ChannelClass::Network);
                local[(near_id * routers + far) as usize] = away;
                local[(far_id * routers + near) as usize] = home;
            }
        }
    }
    local
}

/// Links the groups; returns for every router its channels to other groups.
fn link_groups(plan: &mut Plan, shape: &Shape) -> Vec<ChannelId> {
    let links_of_group = shape.routers * shape.global_links;
    let mut global = vec![NOWHERE; (shape.groups * links_of_group) as usize];
    for group in 0..shape.groups {
        for link in 0..shape.rounds() * (shape.groups - 1) {
            let (other, back) = shape.other_end(group, link);
            if other > group {
                let ends = [(group, link), (other, back)].map(|(group, link)| group * links_of_group + link);
                let [near, far] = ends.map(|link| RouterId(link / shape.global_links));
                let (away, home) = plan.link(near, far, ChannelClass::Global);
                global[ends[0] as usize] = away;
                global[ends[1] as usize] = home;
            }
        }
    }
    global
}
