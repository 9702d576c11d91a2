//! Dimension order on meshes and tori with one node at each router: along the row, then along the column.
//!
//! On a torus a header takes the shorter way round; of two equal ways, the one to the east or to the south.

use crate::model::{ChannelId, NodeId, RouterId};
use crate::routing::Step;
use crate::topology::ejection;

/// Index of the channel to the next router of the row.
pub(crate) const EAST: usize = 0;
/// Index of the channel to the one before.
pub(crate) const WEST: usize = 1;
/// Index of the channel to the next router of the column.
pub(crate) const SOUTH: usize = 2;
/// Index of the channel to the one before.
pub(crate) const NORTH: usize = 3;
/// In place of a channel that does not exist.
pub(crate) const NOWHERE: ChannelId = ChannelId(u32::MAX);

/// Dimension order on a grid of routers, each with its node.
#[derive(Clone, Debug)]
pub struct Grid {
    columns: u32,
    rows: u32,
    wraps: bool,
    /// Column and row of every router.
    places: Vec<(u32, u32)>,
    out: Vec<[ChannelId; 4]>,
}

impl Grid {
    pub(crate) fn new(columns: u32, rows: u32, wraps: bool, out: Vec<[ChannelId; 4]>) -> Grid {
        let places = (0..columns * rows).map(|router| (router % columns, router / columns)).collect();
        Grid { columns, rows, wraps, places, out }
    }

    #[inline]
    pub(super) fn step(&self, at: RouterId, destination: NodeId) -> Step<'_> {
        let here = self.places[at.0 as usize];
        let there = self.places[destination.0 as usize];
        let out = &self.out[at.0 as usize];
        let channel = if here.0 != there.0 {
            out[if self.ahead(here.0, there.0, self.columns) { EAST } else { WEST }]
        } else if here.1 != there.1 {
            out[if self.ahead(here.1, there.1, self.rows) { SOUTH } else { NORTH }]
        } else {
            ejection(destination.0)
        };
        Step::Only(channel)
    }

    /// Whether the way from `here` to `there` leads ahead.
    #[inline]
    fn ahead(&self, here: u32, there: u32, side: u32) -> bool {
        if !self.wraps {
            return there > here;
        }
        let forward = if there > here { there - here } else { there + side - here };
        2 * forward <= side
    }

    /// The channels of a ring that packets can hold and wait for all the way round: on a torus with a side of four or
    /// more, some packet goes two steps ahead from every router of the ring.
    pub(crate) fn ring(&self) -> Option<Vec<ChannelId>> {
        if !self.wraps {
            return None;
        }
        if self.columns > 3 {
            return Some((0..self.columns).map(|x| self.out[x as usize][EAST]).collect());
        }
        let down = |y: u32| self.out[(y * self.columns) as usize][SOUTH];
        (self.rows > 3).then(|| (0..self.rows).map(down).collect())
    }
}
