//! Clos networks, k-ary n-trees and meshes of Clos networks: up to the lowest common level, along a layer of the mesh
//! if the destination is in another cluster, and down.
//!
//! Down, there is one way. Up, every channel leads there: a choice. The source's own is the one of its digit of the
//! level, so that the nodes below a router share its channels evenly, in turn where there are fewer. In a mesh of Clos networks the choices together
//! are the choice of the layer.

use crate::model::ChannelId;
use crate::routing::{Header, RouterView, Step};

/// Index of the channel to the next router of a row of a layer.
pub(crate) const EAST: usize = 0;
/// Index of the channel to the one before.
pub(crate) const WEST: usize = 1;
/// Index of the channel to the next router of a column of a layer.
pub(crate) const SOUTH: usize = 2;
/// Index of the channel to the one before.
pub(crate) const NORTH: usize = 3;

/// Up, across and down.
#[derive(Clone, Debug)]
pub struct Stages {
    arity: usize,
    height: usize,
    /// For every router, where it stands.
    places: Vec<Place>,
    /// For every level but the top one, the channels up of a router.
    parents: Vec<u32>,
    /// The channels up of every router but the top ones.
    up: Vec<ChannelId>,
    /// `arity` places of every router; the last ones of a top router may be empty.
    down: Vec<ChannelId>,
    /// For every node, level by level, the number of the Clos network of this height that it is in, and its digit:
    /// which of the parts of that network it is in.
    digits: Vec<(u32, u32)>,
    mesh: Option<LayeredMesh>,
}

/// Where a router stands.
#[derive(Clone, Copy, Debug)]
struct Place {
    /// Its level less one.
    level: u32,
    /// The number of the Clos network of this height that it is a top router of.
    network: u32,
    /// Its first channel up.
    up: u32,
}

/// How many there are of everything.
#[derive(Debug)]
pub(crate) struct Sizes {
    /// Channels down of a router below the top level.
    pub arity: u32,
    /// Channels down of a top router.
    pub subtrees: u32,
    pub nodes: u32,
    /// Channels up of a router of each level but the top, the lowest first.
    pub parents: Vec<u32>,
    /// Routers of each level.
    pub levels: Vec<u32>,
}

/// The channels between the routers.
#[derive(Debug)]
pub(crate) struct Channels {
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

    /// The channel from top router `top` of cluster `current` towards cluster `target`.
    #[inline]
    fn step(&self, top: usize, current: u32, target: u32) -> ChannelId {
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

impl Stages {
    /// Levels of routers of those `sizes`, joined by `channels`.
    pub(crate) fn new(sizes: Sizes, channels: Channels) -> Stages {
        let Sizes { arity, subtrees, nodes, parents, levels } = sizes;
        let height = levels.len();
        let mut places = Vec::with_capacity(levels.iter().sum::<u32>() as usize);
        let (mut tops, mut up) = (1, 0);
        for (level, &size) in (0..).zip(&levels) {
            let own = parents.get(level as usize).copied().unwrap_or(0);
            places.extend((0..size).map(|number| Place { level, network: number / tops, up: up + number * own }));
            up += size * own;
            tops *= own;
        }
        let mut digits = Vec::with_capacity(nodes as usize * height);
        for node in 0..nodes {
            let mut part = node;
            for level in 1..=height {
                let parts = if level == height { subtrees } else { arity };
                digits.push((part / parts, part % parts));
                part /= parts;
            }
        }
        let Channels { up, down, mesh } = channels;
        Stages { arity: arity as usize, height, places, parents, up, down, digits, mesh }
    }

    /// How many nodes are in each of the parts that only the top level joins, where there is one cluster.
    pub(crate) fn branch(&self) -> Option<u32> {
        let nodes = self.digits.len() / self.height;
        let branches =
            self.digits.iter().skip(self.height - 1).step_by(self.height).map(|&(_, digit)| digit + 1).max()?;
        self.mesh.is_none().then_some(nodes as u32 / branches)
    }

    #[inline]
    pub(super) fn step<N: ?Sized>(&self, view: &RouterView<'_, N>) -> Step<'_> {
        let RouterView { at, header: Header { source, destination, .. }, .. } = *view;
        let router = at.0 as usize;
        let Place { level, network, up } = self.places[router];
        let level = level as usize;
        let (target, digit) = self.digits[destination.0 as usize * self.height + level];
        if target == network {
            return Step::Only(self.down[router * self.arity + digit as usize]);
        }
        if level + 1 < self.height {
            let parents = self.parents[level];
            let options = &self.up[up as usize..][..parents as usize];
            let (_, own) = self.digits[source.0 as usize * self.height + level];
            return Step::Choose { options, fixed: (own % parents) as usize };
        }
        match &self.mesh {
            Some(mesh) => {
                let top = router - (self.places.len() - mesh.out.len());
                Step::Only(mesh.step(top, network, target))
            }
            // One cluster's top routers are above every node: they always lead down.
            None => Step::Only(self.down[router * self.arity + digit as usize]),
        }
    }
}
