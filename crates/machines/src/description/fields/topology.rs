//! The fields that say how routers and nodes are connected.

use quantities::{Duration, Rate};
use schemars::JsonSchema;
use serde::de::Error;
use serde::{Deserialize, Deserializer};

/// How routers and nodes are connected: exactly one of these.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Topology {
    /// A Clos network.
    pub clos: Option<Clos>,
    /// Clos networks joined in a mesh.
    pub mesh_of_clos: Option<MeshOfClos>,
    /// A mesh of any number of dimensions with one node at each router.
    pub mesh: Option<Grid>,
    /// A torus of any number of dimensions with one node at each router.
    pub torus: Option<Grid>,
    /// A k-ary n-tree.
    pub fat_tree: Option<FatTree>,
    /// Groups of routers, each linked with every other.
    pub dragonfly: Option<Dragonfly>,
    /// One router with all nodes.
    pub star: Option<Star>,
    /// Any list of routers and links.
    pub graph: Option<Graph>,
}

/// A Clos network of `height` levels of routers with `arity` channels down and as many up: `arity^height` nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Clos {
    /// Levels of routers, from 1.
    pub height: u32,
    /// The paper's k: nodes of a router of the lowest level. From 2.
    #[serde(default = "four")]
    pub arity: u32,
}

/// A Clos network of `height`, the top `mesh_stages` of whose levels are replaced by a mesh.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MeshOfClos {
    /// The paper's h: levels of the Clos network before the mesh takes their place.
    pub height: u32,
    /// The paper's r: levels that the mesh takes the place of, fewer than `height`.
    pub mesh_stages: u32,
    /// The paper's k: nodes of a router of the lowest level. From 2.
    #[serde(default = "four")]
    pub arity: u32,
    /// Clusters in a row of the mesh; with `rows`, instead of the nearly square mesh of `arity^mesh_stages` clusters.
    pub columns: Option<u32>,
    /// Rows of clusters in the mesh.
    pub rows: Option<u32>,
}

/// Routers in `rows` of `columns`, each with its node; or in as many dimensions as there are `sides`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Grid {
    /// Routers in a row; with `rows`.
    pub columns: Option<u32>,
    /// Rows; with `columns`.
    pub rows: Option<u32>,
    /// Routers along each dimension, instead of `columns` and `rows`.
    pub sides: Option<Vec<u32>>,
}

/// A k-ary n-tree: `arity^levels` nodes under `levels` levels of routers, or fewer if fewer `subtrees` hang under the top.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FatTree {
    /// Children of a router. From 2.
    pub arity: u32,
    /// Levels of routers, from 1.
    pub levels: u32,
    /// Children of a router of the top level, 1 to `arity`; `arity` if left out. There are then
    /// `subtrees * arity^(levels - 1)` nodes.
    pub subtrees: Option<u32>,
    /// Channels up of a router of level 1, of level 2, and so on, each 1 to `arity`; `arity` if left out. Fewer make a tree
    /// that narrows towards its top.
    #[serde(default)]
    pub parents: Vec<u32>,
    /// The rates of the links between levels 1 and 2, 2 and 3, and so on, where they differ from that of `channels`.
    #[serde(default)]
    pub rates: Vec<Rate>,
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

/// One router with all nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Star {
    /// How many nodes.
    pub nodes: u32,
}

/// Any list of routers and links. Nodes are numbered in the order of their routers.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Graph {
    /// The routers.
    pub routers: Vec<GraphRouter>,
    /// The links between them.
    #[serde(default)]
    pub links: Vec<GraphLink>,
}

/// A router of a graph.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GraphRouter {
    /// Its name, which must be unique.
    pub name: String,
    /// How many nodes it has.
    #[serde(default)]
    pub nodes: u32,
    /// Where it is drawn, in units of a router's box; in a row by default.
    #[serde(default, deserialize_with = "optional_two")]
    pub position: Option<[f32; 2]>,
}

/// A link of a graph: a channel each way.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GraphLink {
    /// The names of the routers that it joins.
    #[serde(deserialize_with = "two")]
    pub between: [String; 2],
    /// Bytes per second, where it differs from that of `channels`.
    pub rate: Option<Rate>,
    /// Time of a flit, instead of a rate.
    pub flit_time: Option<Duration>,
    /// Time on the wire.
    pub wire_latency: Option<Duration>,
    /// Time until a slot that a flit has left can be taken again.
    pub credit_latency: Option<Duration>,
    /// Slots for flits at the far end.
    pub buffers: Option<u32>,
}

/// Reads a list of exactly two: the reader of arrays leaves what comes after unread.
fn two<'de, T: Deserialize<'de>, D: Deserializer<'de>>(from: D) -> Result<[T; 2], D::Error> {
    let list = Vec::<T>::deserialize(from)?;
    let length = list.len();
    list.try_into().map_err(|_| D::Error::invalid_length(length, &"a list of two"))
}

fn optional_two<'de, T: Deserialize<'de>, D: Deserializer<'de>>(from: D) -> Result<Option<[T; 2]>, D::Error> {
    two(from).map(Some)
}

fn four() -> u32 {
    4
}
