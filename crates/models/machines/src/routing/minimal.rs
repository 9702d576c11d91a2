//! Dragonflies, minimally: from group to group over the one link, or over one of the links, that joins them.
//!
//! Along a local link to the router of the group that has the global link, along that, and along a local link to the
//! router of the destination.
//!
//! ```text
//!     local 0     global 0     local 1
//! ```
//!
//! The numbers are the virtual channels. They rise from left to right, so that nothing waits in a cycle. Within a group
//! a packet takes one local link, by the last virtual channel.
//!
//! Source: Kim, Dally, Scott and Abts, "Technology-Driven, Highly-Scalable Dragonfly Topology" (2008), section 4.1.

use super::deadlock::{self, VirtualChannel};
use super::{Ground, NetworkView, PacketHeader, RouteState, RouterView, Row, Step};
use crate::model::{FlitNetwork, RouterId};
use crate::topology::{Groups, ejection};

/// From group to group.
#[derive(Clone, Debug)]
pub struct Minimal(Groups);

impl Row for Minimal {
    const ABOUT: &'static str = "In a dragonfly over the links that join two groups; needs two virtual channels.";

    fn is_usual(ground: &Ground<'_>) -> bool {
        ground.geometry::<Groups>().is_some()
    }

    fn prepare(ground: &mut Ground<'_>) -> Result<Minimal, String> {
        ground.take_geometry().map(Minimal).ok_or("it is for `dragonfly`; `up-down` is for all".into())
    }

    fn virtual_channels(&self) -> u32 {
        if self.0.count() == 1 { 1 } else { 2 }
    }

    fn cycle(&self, network: &FlitNetwork) -> Option<Vec<VirtualChannel>> {
        deadlock::cycle_if_small(network)
    }

    #[inline]
    fn step<N: NetworkView>(&self, view: &RouterView<'_, N>, state: &mut RouteState) -> Step<'_> {
        let RouterView { at: RouterId(at), header: PacketHeader { destination, .. }, .. } = *view;
        let home = self.0.home(destination);
        if home == at {
            return Step::Only(ejection(destination.0));
        }
        let target = self.0.group(home);
        if self.0.group(at) == target {
            state.virtual_channel = self.virtual_channels() as u16 - 1;
            return Step::Only(self.0.within(at, home));
        }
        Step::Only(self.0.towards(at, target, home))
    }
}
