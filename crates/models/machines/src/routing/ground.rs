//! What a rule of routing is made ready for.

use std::any::Any;
use std::cell::OnceCell;

use super::neighbours::Neighbours;
use crate::topology::{Plan, PlannedTopology};

/// A topology laid out, and how many virtual channels share each channel between its routers.
pub(crate) struct Ground<'a> {
    pub plan: &'a Plan,
    pub virtual_channels: u32,
    geometry: Option<Box<dyn Any>>,
    neighbours: OnceCell<Neighbours>,
}

impl<'a> Ground<'a> {
    /// That of a layout, of which it takes the geometry.
    pub(crate) fn of(layout: &'a mut PlannedTopology, virtual_channels: u32) -> Ground<'a> {
        let geometry = layout.geometry.take();
        Ground { plan: &layout.plan, virtual_channels, geometry, neighbours: OnceCell::new() }
    }

    /// Whether its topology has a regular form, and so joins all its nodes.
    pub(crate) fn is_regular(&self) -> bool {
        self.geometry.is_some()
    }

    /// The form of the topology, if it is of this kind.
    pub(crate) fn geometry<G: 'static>(&self) -> Option<&G> {
        self.geometry.as_ref()?.downcast_ref()
    }

    /// The same, for the rule to keep.
    pub(crate) fn take_geometry<G: 'static>(&mut self) -> Option<G> {
        let of_kind = self.geometry.take_if(|geometry| geometry.is::<G>())?;
        of_kind.downcast().ok().map(|geometry| *geometry)
    }

    pub(crate) fn neighbours(&self) -> &Neighbours {
        self.neighbours.get_or_init(|| Neighbours::of(self.plan))
    }
}
