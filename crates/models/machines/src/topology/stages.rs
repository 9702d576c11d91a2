//! Clos networks, meshes of them, and k-ary n-trees: levels of routers above the nodes.
//!
//! With arity k, a Clos network of height 1 is a router with k nodes. One of height h joins k of height h - 1 by
//! k^(h-1) routers: external channel i of each leads to router i. Channel e of a network's k^(h-1) top routers is the
//! (e mod k)th of router e / k. A k-ary n-tree is the Clos network of height n, with a link rate for each level. It can
//! have fewer than k networks of height n - 1 below its top level, s of them: its top routers, as many as before, then
//! have s channels down, and it has s k^(n-1) nodes. And it can be narrower: if the routers of a level have w channels
//! up instead of k, there are w/k times as many routers in the level above.
//!
//! A mesh of Clos(h, r) has k^r clusters, Clos networks of height h - r, row by row. The top routers with number t of
//! all clusters form a mesh, layer t. So there are k^(h-r-1) layers: one for MoC(3, 2), four for MoC(3, 1).
//!
//! Routers are numbered from the lowest level up, and within a level by cluster; nodes by cluster and then by router.
//! Links are made from the lowest level up, router by router, and then those of the layers of the mesh, each router's
//! to the east and to the south. So the input ports of a router are: from below, from above, from the north, the west,
//! the east and the south.

use super::regions::Stretches;
use super::{
    ChannelClass, MOST_CHANNELS, MOST_NODES, MOST_ROUTERS, NOWHERE, Plan, PlannedTopology, ejection, power, within,
};
use crate::error::Fault;
use crate::model::{ChannelId, Regions, RouterId};

/// Index of the channel to the next router of a row of a layer.
const EAST: usize = 0;
/// Index of the channel to the one before.
const WEST: usize = 1;
/// Index of the channel to the next router of a column of a layer.
const SOUTH: usize = 2;
/// Index of the channel to the one before.
const NORTH: usize = 3;

/// Levels of routers, and the channels between them.
#[derive(Debug)]
pub(crate) struct Levels {
    /// Channels down of a router below the top level.
    pub arity: u32,
    /// Channels down of a top router.
    pub subtrees: u32,
    pub nodes: u32,
    /// Channels up of a router of each level but the top, the lowest first.
    pub parents: Vec<u32>,
    /// Routers of each level.
    pub levels: Vec<u32>,
    /// The channels up of every router but the top ones.
    pub up: Vec<ChannelId>,
    /// `arity` places of every router; the last ones of a top router may be empty.
    pub down: Vec<ChannelId>,
    pub mesh: Option<LayeredMesh>,
}

/// The layers of mesh that join the clusters.
#[derive(Clone, Debug)]
pub(crate) struct LayeredMesh {
    /// Column and row of every cluster.
    places: Vec<(u32, u32)>,
    /// For every top router, its channels by direction.
    out: Vec<[ChannelId; 4]>,
}

impl LayeredMesh {
    pub(crate) fn new(columns: u32, clusters: u32, out: Vec<[ChannelId; 4]>) -> LayeredMesh {
        LayeredMesh { places: (0..clusters).map(|cluster| (cluster % columns, cluster / columns)).collect(), out }
    }

    /// How many top routers it joins.
    pub(crate) fn routers(&self) -> usize {
        self.out.len()
    }

    /// The channel from top router `top` of cluster `current` towards cluster `target`.
    #[inline]
    pub(crate) fn step(&self, top: usize, current: u32, target: u32) -> ChannelId {
        let (current, target) = (self.places[current as usize], self.places[target as usize]);
        let way = if current.0 != target.0 {
            if target.0 > current.0 { EAST } else { WEST }
        } else if target.1 > current.1 {
            SOUTH
        } else {
            NORTH
        };
        self.out[top][way]
    }
}

/// Clusters of levels of routers.
pub(super) struct Shape {
    pub arity: u32,
    /// Levels of routers in a cluster.
    pub height: u32,
    /// Channels up from a router of each level except the top: the arity, or fewer.
    pub parents: Vec<u32>,
    /// Channels down from a top router: the arity, or fewer.
    pub subtrees: u32,
    pub columns: u32,
    pub rows: u32,
    /// Whether links are described level by level.
    pub by_level: bool,
}

impl Shape {
    /// One cluster, as wide at the top as at the bottom.
    pub fn wide(arity: u32, height: u32) -> Shape {
        let parents = vec![arity; height as usize - 1];
        Shape { arity, height, parents, subtrees: arity, columns: 1, rows: 1, by_level: false }
    }
    fn clusters(&self) -> u32 {
        self.columns * self.rows
    }
    /// Top routers of one of the networks of height `level` within the clusters.
    fn tops_of_network(&self, level: u32) -> u32 {
        self.parents[..level as usize - 1].iter().product()
    }
    /// Networks of height `level` within all clusters.
    fn networks(&self, level: u32) -> u32 {
        if level == self.height { self.clusters() } else { self.nodes() / power(self.arity, level) as u32 }
    }
    /// Top routers of one cluster.
    fn width(&self) -> u32 {
        self.tops_of_network(self.height)
    }
    /// Routers of one cluster's widest level.
    fn widest(&self) -> u32 {
        (1..=self.height).map(|level| self.level_size(level) / self.clusters()).max().unwrap_or(1)
    }
    /// Top routers of all clusters.
    fn tops(&self) -> u32 {
        self.clusters() * self.width()
    }
    /// Routers of one level of all clusters.
    fn level_size(&self, level: u32) -> u32 {
        self.networks(level) * self.tops_of_network(level)
    }
    fn nodes(&self) -> u32 {
        self.clusters() * power(self.arity, self.height - 1) as u32 * self.subtrees
    }
    /// Nodes, or channels down, of a router of the lowest level.
    fn nodes_of_router(&self) -> u32 {
        if self.height == 1 { self.subtrees } else { self.arity }
    }
    /// Nodes of a cluster of a mesh; for a cluster that stands alone, of each network below its root, if there are any.
    fn group(&self) -> Option<u32> {
        let below = || (self.height > 1).then(|| self.nodes() / self.subtrees);
        if self.clusters() > 1 { Some(self.nodes() / self.clusters()) } else { below() }
    }
    fn routers(&self) -> u32 {
        (1..=self.height).map(|level| self.level_size(level)).sum()
    }
    /// Router of `number` within its level, the lowest of which is level 1.
    fn router(&self, level: u32, number: u32) -> RouterId {
        RouterId((1..level).map(|below| self.level_size(below)).sum::<u32>() + number)
    }
}

/// Checks that everything about clusters of `height` levels can be counted.
pub(super) fn check(
    field: &str,
    height_field: &str,
    arity: u32,
    height: u32,
    subtrees: u32,
    clusters: u64,
) -> Result<(), Fault> {
    if !(2..=1024).contains(&arity) {
        return Err(Fault::value(format!("{field}.arity"), arity, "2 to 1024"));
    }
    if height < 1 {
        return Err(Fault::value(format!("{field}.{height_field}"), height, "1 or more"));
    }
    if !(1..=arity).contains(&subtrees) {
        return Err(Fault::value(format!("{field}.subtrees"), subtrees, format!("1 to {arity}, the arity")));
    }
    let tops = power(arity, height - 1).saturating_mul(clusters);
    let nodes = tops.saturating_mul(u64::from(subtrees));
    within(field, "nodes", nodes, MOST_NODES)?;
    let levels = u64::from(height);
    within(field, "routers", tops + nodes / u64::from(arity) * (levels - 1), MOST_ROUTERS)?;
    within(field, "channels", 2 * nodes * levels + 4 * nodes, MOST_CHANNELS)
}

/// Lays out levels of this shape.
pub(super) fn build(shape: &Shape) -> PlannedTopology {
    let mut plan = Plan { group: shape.group(), ..Plan::default() };
    for level in 1..=shape.height {
        for number in 0..shape.level_size(level) {
            let (name, position, mesh_index) = describe(shape, level, number);
            plan.router(name, position, mesh_index);
        }
    }
    plan.regions = if shape.clusters() > 1 { regions_of_clusters(shape) } else { regions_of_levels(shape) };
    for node in 0..shape.nodes() {
        plan.node(shape.router(1, node / shape.nodes_of_router()));
    }
    let (up, down) = link_levels(&mut plan, shape);
    let mesh = (shape.clusters() > 1).then(|| link_layers(&mut plan, shape));
    let levels = Levels {
        arity: shape.arity,
        subtrees: shape.subtrees,
        nodes: shape.nodes(),
        parents: shape.parents.clone(),
        levels: (1..=shape.height).map(|level| shape.level_size(level)).collect(),
        up,
        down,
        mesh,
    };
    PlannedTopology { plan, geometry: Some(Box::new(levels)) }
}

/// Name, position and number within the mesh of a router.
fn describe(shape: &Shape, level: u32, number: u32) -> (String, (f32, f32), Option<u32>) {
    let width = shape.level_size(level) / shape.clusters();
    let (cluster, within) = (number / width, number % width);
    let (column, row) = (cluster % shape.columns, cluster / shape.columns);
    // One box is left free between clusters; the top level is drawn above the others, and each in their middle.
    let widest = shape.widest();
    let x = (column * (widest + 1)) as f32 + centred(within, width, widest);
    let y = row * (shape.height + 1) + shape.height - level;
    let position = if shape.height == 1 { (column as f32, row as f32) } else { (x, y as f32) };
    let top = level == shape.height && shape.clusters() > 1;
    let mesh_index = top.then(|| within * shape.clusters() + cluster);
    let name = match (top, shape.height, shape.clusters()) {
        (true, 1, _) => format!("mesh ({column}, {row})"),
        (true, _, _) => format!("layer {within} mesh ({column}, {row})"),
        (false, _, 1) => format!("level {level} router {within}"),
        (false, _, _) => format!("cluster {cluster} level {level} router {within}"),
    };
    (name, position, mesh_index)
}

/// Where the `number`th of `count` is drawn, above or below a row of `widest`.
fn centred(number: u32, count: u32, widest: u32) -> f32 {
    (number as f32 + 0.5) * widest as f32 / count as f32 - 0.5
}

/// Regions are stretches of a level, as wide as their neighbours above and below allow.
fn regions_of_levels(shape: &Shape) -> Regions {
    /// The most regions of a level: between two levels, there may be a bundle for each pair.
    const MOST_OF_LEVEL: u32 = 8;
    let mut regions = Regions::default();
    for level in 1..=shape.height {
        let cut = Stretches::of(shape.level_size(level), MOST_OF_LEVEL.min(Regions::MOST / shape.height).max(1));
        let first = regions.list.len() as u32;
        for number in 0..cut.number() {
            let place = (centred(number, cut.number(), MOST_OF_LEVEL), 3.0 * (shape.height - level) as f32);
            regions.add(format!("level {level}: {}", cut.words(number)), place);
        }
        regions.of_router.extend((0..shape.level_size(level)).map(|number| first + number / cut.length));
    }
    regions
}

/// Regions are clusters, or rectangles of them, with all their levels.
fn regions_of_clusters(shape: &Shape) -> Regions {
    let most = Regions::MOST.isqrt();
    let [columns, rows] = [shape.columns, shape.rows].map(|side| Stretches::of(side, most));
    let mut regions = Regions::default();
    for row in 0..rows.number() {
        for column in 0..columns.number() {
            let name = format!("clusters ({}, {})", columns.words(column), rows.words(row));
            regions.add(name, (column as f32, row as f32));
        }
    }
    for level in 1..=shape.height {
        let width = shape.level_size(level) / shape.clusters();
        let region = |number: u32| {
            let (column, row) = (number / width % shape.columns, number / width / shape.columns);
            row / rows.length * columns.number() + column / columns.length
        };
        regions.of_router.extend((0..shape.level_size(level)).map(region));
    }
    regions
}

/// Joins the levels; returns every router's channels up and its `arity` channels down (of which a top router may lack
/// some).
fn link_levels(plan: &mut Plan, shape: &Shape) -> (Vec<ChannelId>, Vec<ChannelId>) {
    let arity = shape.arity;
    let mut up = Vec::with_capacity((shape.nodes() * (shape.height - 1)) as usize);
    let mut down = vec![NOWHERE; (shape.routers() * arity) as usize];
    for node in 0..shape.nodes() {
        let (router, digit) = (node / shape.nodes_of_router(), node % shape.nodes_of_router());
        down[(router * arity + digit) as usize] = ejection(node);
    }
    for level in 1..shape.height {
        let (tops, parents) = (shape.tops_of_network(level), shape.parents[level as usize - 1]);
        for number in 0..shape.level_size(level) {
            let (network, top) = (number / tops, number % tops);
            for port in 0..parents {
                let above = shape.router(level + 1, network / arity * tops * parents + top * parents + port);
                let line = if shape.by_level { ChannelClass::Own(level - 1) } else { ChannelClass::Network };
                let (away, home) = plan.link(shape.router(level, number), above, line);
                up.push(away);
                down[(above.0 * arity + network % arity) as usize] = home;
            }
        }
    }
    (up, down)
}

/// Joins the top routers of the clusters in layers.
fn link_layers(plan: &mut Plan, shape: &Shape) -> LayeredMesh {
    let (columns, rows, width) = (shape.columns, shape.rows, shape.width());
    let mut out = vec![[NOWHERE; 4]; shape.tops() as usize];
    for layer in 0..width {
        for cluster in 0..shape.clusters() {
            let mut join = |neighbour: u32, forward: usize, back: usize| {
                let (near, far) = (cluster * width + layer, neighbour * width + layer);
                let (near_id, far_id) = (shape.router(shape.height, near), shape.router(shape.height, far));
                let (away, home) = plan.link(near_id, far_id, ChannelClass::Network);
                out[near as usize][forward] = away;
                out[far as usize][back] = home;
            };
            if cluster % columns + 1 < columns {
                join(cluster + 1, EAST, WEST);
            }
            if cluster / columns + 1 < rows {
                join(cluster + columns, SOUTH, NORTH);
            }
        }
    }
    LayeredMesh::new(columns, shape.clusters(), out)
}

/// The paper's k, where it is left out.
pub(super) fn usual_arity() -> u32 {
    4
}
