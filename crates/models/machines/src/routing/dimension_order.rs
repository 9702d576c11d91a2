//! Dimension order on meshes and tori with one node at each router: along the first dimension (the row), then along the
//! second (the column), and so on.
//!
//! On a torus a header takes the shorter way round; of two equal ways, the one ahead from even places and the one back
//! from odd ones, so that both are used alike. Round a ring of more than four routers packets could wait for each other
//! for ever. So there are two virtual channels: a packet takes virtual channel 0 until it has crossed the end of the
//! ring, between the last place and the first, and virtual channel 1 behind it.
//!
//! ```text
//!      place     0 ---- 1 ---- 2 ---- 3 ---- 4 ---- 5 --+        from 4 to 1, ahead:
//!                ^                                      |          4 -> 5  virtual channel 0
//!                +------------ end of the ring ---------+          5 -> 0  virtual channel 0
//!                                                                  0 -> 1  virtual channel 1
//! ```
//!
//! On virtual channel 0 nothing goes on beyond the end of the ring, and on virtual channel 1 nothing crosses it:
//! neither closes a cycle, and no packet goes back from 1 to 0 in the same dimension. A packet that does not cross the
//! end may take either, for all of its way in the dimension: from even places 0, from odd ones 1.
//!
//! Source: Dally and Seitz, "Deadlock-Free Message Routing in Multiprocessor Interconnection Networks" (1987).

use super::deadlock::{self, VirtualChannel};
use super::{Ground, NetworkView, PacketHeader, RouteState, RouterView, Row, Step};
use crate::model::{FlitNetwork, NodeId};
use crate::topology::{GridPlan, ejection};

/// The longest ring round which the shorter ways alone close no cycle.
const SAFE_RING: u32 = 4;

/// Dimension order on a grid of routers, each with its node.
#[derive(Clone, Debug)]
pub struct DimensionOrder {
    grid: GridPlan,
    virtual_channels: u32,
}

impl Row for DimensionOrder {
    const ABOUT: &'static str = "First along the row, then along the column, and so on: for meshes and tori. A torus with a \
                                 side of over 4 needs two virtual channels for it.";

    fn is_usual(ground: &Ground<'_>) -> bool {
        ground.geometry::<GridPlan>().is_some_and(|grid| !grid.wraps || ground.virtual_channels > 1)
    }

    fn prepare(ground: &mut Ground<'_>) -> Result<DimensionOrder, String> {
        let grid = ground
            .take_geometry::<GridPlan>()
            .ok_or("it is for `mesh` and `torus`; `clos` is for the networks with levels, `up-down` for all")?;
        let virtual_channels = if grid.wraps && grid.sides.iter().any(|&side| side > SAFE_RING) { 2 } else { 1 };
        Ok(DimensionOrder { grid, virtual_channels })
    }

    fn virtual_channels(&self) -> u32 {
        self.virtual_channels
    }

    fn cycle(&self, network: &FlitNetwork) -> Option<Vec<VirtualChannel>> {
        self.rings().iter().find_map(|ring| deadlock::cycle_among(network, ring))
    }

    /// The phase is twice the number of the dimension, from 1, and one more where the way in it crosses the end of the
    /// ring.
    #[inline]
    fn step<N: NetworkView>(&self, view: &RouterView<'_, N>, state: &mut RouteState) -> Step<'_> {
        let RouterView { at, header: PacketHeader { destination, .. }, .. } = *view;
        let GridPlan { sides, places, out, .. } = &self.grid;
        let dimensions = sides.len();
        let current = at.0 as usize * dimensions;
        let target = destination.0 as usize * dimensions;
        for dimension in 0..dimensions {
            let (from, to) = (places[current + dimension], places[target + dimension]);
            if from == to {
                continue;
            }
            let ahead = self.ahead(from, to, sides[dimension]);
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
            return Step::Only(out[2 * (current + dimension) + usize::from(!ahead)]);
        }
        Step::Only(ejection(destination.0))
    }
}

impl DimensionOrder {
    /// Whether the way from `from` to `to` leads ahead.
    #[inline]
    fn ahead(&self, from: u32, to: u32, side: u32) -> bool {
        if !self.grid.wraps {
            return to > from;
        }
        let forward = if to > from { to - from } else { to + side - from };
        2 * forward < side || (2 * forward == side && from.is_multiple_of(2))
    }

    /// On a torus, for each dimension, the nodes of the ring through node 0. A packet that has turned into a dimension
    /// never turns back into an earlier one: so what waits in a cycle is in one dimension, in one ring of it, and all
    /// rings of a dimension are alike.
    fn rings(&self) -> Vec<Vec<NodeId>> {
        if !self.grid.wraps {
            return Vec::new();
        }
        let mut stride = 1;
        let mut rings = Vec::new();
        for &side in &self.grid.sides {
            rings.push((0..side).map(|place| NodeId(place * stride)).collect());
            stride *= side;
        }
        rings
    }
}
