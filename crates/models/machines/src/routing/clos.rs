//! Clos networks, k-ary n-trees and meshes of Clos networks: up to the lowest common level, along a layer of the mesh
//! if the destination is in another cluster, and down.
//!
//! Down, there is one way. Up, every channel leads there: a choice. The source's own is the one of its digit of the
//! level, so that the nodes below a router share its channels evenly, in turn where there are fewer. In a mesh of Clos
//! networks the choices together are the choice of the layer.

use super::deadlock::VirtualChannel;
use super::{Ground, NetworkView, PacketHeader, RouteState, RouterView, Row, Step};
use crate::model::{ChannelId, FlitNetwork};
use crate::topology::{LayeredMesh, Levels};

/// Up, across and down.
#[derive(Clone, Debug)]
pub struct Clos {
    arity: usize,
    height: usize,
    /// For every router, where it stands.
    places: Vec<RouterPlace>,
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
struct RouterPlace {
    /// Its level less one.
    level: u32,
    /// The number of the Clos network of this height that it is a top router of.
    network: u32,
    /// Its first channel up.
    up: u32,
}

impl Row for Clos {
    const ABOUT: &'static str = "Up to the lowest common level, in a mesh of Clos networks along the row and the column, and \
                                 down again.";

    fn is_usual(ground: &Ground<'_>) -> bool {
        ground.geometry::<Levels>().is_some()
    }

    fn prepare(ground: &mut Ground<'_>) -> Result<Clos, String> {
        let levels = ground.take_geometry::<Levels>();
        levels.map(Clos::new).ok_or("it is for `clos`, `mesh_of_clos` and `fat_tree`; `up-down` is for all".into())
    }

    fn branch(&self) -> Option<u32> {
        let nodes = self.digits.len() / self.height;
        let branches =
            self.digits.iter().skip(self.height - 1).step_by(self.height).map(|&(_, digit)| digit + 1).max()?;
        self.mesh.is_none().then_some(nodes as u32 / branches)
    }

    fn is_halved_by_rows(&self) -> bool {
        true
    }

    /// Up and then down closes no cycle, and neither do the rows and then the columns between.
    fn cycle(&self, _: &FlitNetwork) -> Option<Vec<VirtualChannel>> {
        None
    }

    #[inline]
    fn step<N: NetworkView>(&self, view: &RouterView<'_, N>, _: &mut RouteState) -> Step<'_> {
        let RouterView { at, header: PacketHeader { source, destination, .. }, .. } = *view;
        let router = at.0 as usize;
        let RouterPlace { level, network, up } = self.places[router];
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
                let top = router - (self.places.len() - mesh.routers());
                Step::Only(mesh.step(top, network, target))
            }
            // One cluster's top routers are above every node: they always lead down.
            None => Step::Only(self.down[router * self.arity + digit as usize]),
        }
    }
}

impl Clos {
    fn new(levels: Levels) -> Clos {
        let Levels { arity, subtrees, nodes, parents, levels, up, down, mesh } = levels;
        let height = levels.len();
        let mut places = Vec::with_capacity(levels.iter().sum::<u32>() as usize);
        let (mut tops, mut first_up) = (1, 0);
        for (level, &size) in (0..).zip(&levels) {
            let own = parents.get(level as usize).copied().unwrap_or(0);
            places.extend((0..size).map(|number| RouterPlace {
                level,
                network: number / tops,
                up: first_up + number * own,
            }));
            first_up += size * own;
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
        Clos { arity: arity as usize, height, places, parents, up, down, digits, mesh }
    }
}
