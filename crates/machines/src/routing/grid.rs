//! Dimension order on meshes and tori with one node at each router: along the first dimension (the row), then along the
//! second (the column), and so on.
//!
//! On a torus a header takes the shorter way round; of two equal ways, the one ahead from even places and the one back
//! from odd ones, so that both are used alike. Round a ring of more than four routers packets could wait for each other
//! for ever. So there are two virtual channels: a packet takes virtual channel 0 until it has crossed the end of the ring,
//! between the last place and the first, and virtual channel 1 behind it.
//!
//! ```text
//!      place     0 ---- 1 ---- 2 ---- 3 ---- 4 ---- 5 --+        from 4 to 1, ahead:
//!                ^                                      |          4 -> 5  virtual channel 0
//!                +------------ end of the ring ---------+          5 -> 0  virtual channel 0
//!                                                                  0 -> 1  virtual channel 1
//! ```
//!
//! On virtual channel 0 nothing goes on beyond the end of the ring, and on virtual channel 1 nothing crosses it: neither
//! closes a cycle, and no packet goes back from 1 to 0 in the same dimension. A packet that does not cross the end may take
//! either, for all of its way in the dimension: from even places 0, from odd ones 1.
//!
//! Source: Dally and Seitz, "Deadlock-Free Message Routing in Multiprocessor Interconnection Networks" (1987).

use crate::model::{ChannelId, NodeId};
use crate::routing::{Header, RouteState, RouterView, Step};
use crate::topology::ejection;

/// In place of a channel that does not exist.
pub(crate) const NOWHERE: ChannelId = ChannelId(u32::MAX);
/// The longest ring round which the shorter ways alone close no cycle.
const SAFE_RING: u32 = 4;

/// Dimension order on a grid of routers, each with its node.
#[derive(Clone, Debug)]
pub struct Grid {
    sides: Vec<u32>,
    wraps: bool,
    virtual_channels: u32,
    /// For every router, its place in each dimension.
    places: Vec<u32>,
    /// For every router and dimension, the channel ahead and the channel back.
    out: Vec<ChannelId>,
}

impl Grid {
    pub(crate) fn new(sides: Vec<u32>, wraps: bool, places: Vec<u32>, out: Vec<ChannelId>) -> Grid {
        let virtual_channels = if wraps && sides.iter().any(|&side| side > SAFE_RING) { 2 } else { 1 };
        Grid { sides, wraps, virtual_channels, places, out }
    }

    /// Whether it is a torus.
    pub(crate) fn wraps(&self) -> bool {
        self.wraps
    }

    pub(crate) fn virtual_channels(&self) -> u32 {
        self.virtual_channels
    }

    /// The phase is twice the number of the dimension, from 1, and one more where the way in it crosses the end of the ring.
    #[inline]
    pub(super) fn step<N: ?Sized>(&self, view: &RouterView<'_, N>, state: &mut RouteState) -> Step<'_> {
        let RouterView { at, header: Header { destination, .. }, .. } = *view;
        let dimensions = self.sides.len();
        let current = at.0 as usize * dimensions;
        let target = destination.0 as usize * dimensions;
        for dimension in 0..dimensions {
            let (from, to) = (self.places[current + dimension], self.places[target + dimension]);
            if from == to {
                continue;
            }
            let ahead = self.ahead(from, to, self.sides[dimension]);
            if self.virtual_channels > 1 {
                let crosses = ahead == (to < from);
                let phase = 2 * (dimension as u16 + 1);
                if state.phase & !1 != phase {
                    state.phase = phase + u16::from(crosses);
                    state.virtual_channel = if crosses { 0 } else { (from % 2) as u16 };
                } else if state.phase & 1 == 1 && !crosses {
                    state.virtual_channel = 1;
                }
            }
            return Step::Only(self.out[2 * (current + dimension) + usize::from(!ahead)]);
        }
        Step::Only(ejection(destination.0))
    }

    /// Whether the way from `from` to `to` leads ahead.
    #[inline]
    fn ahead(&self, from: u32, to: u32, side: u32) -> bool {
        if !self.wraps {
            return to > from;
        }
        let forward = if to > from { to - from } else { to + side - from };
        2 * forward < side || (2 * forward == side && from.is_multiple_of(2))
    }

    /// On a torus, for each dimension, the nodes of the ring through node 0. A packet that has turned into a dimension
    /// never turns back into an earlier one: so what waits in a cycle is in one dimension, in one ring of it, and all
    /// rings of a dimension are alike.
    pub(crate) fn rings(&self) -> Vec<Vec<NodeId>> {
        if !self.wraps {
            return Vec::new();
        }
        let mut stride = 1;
        let mut rings = Vec::new();
        for &side in &self.sides {
            rings.push((0..side).map(|place| NodeId(place * stride)).collect());
            stride *= side;
        }
        rings
    }
}
