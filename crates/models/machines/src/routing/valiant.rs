//! Dragonflies by Valiant's rule: minimally to a group drawn at random, and from there minimally to the destination's.
//! This spreads traffic that would all take one link.
//!
//! ```text
//!     local 0     global 0     local 1     global 1     local 2
//! ```
//!
//! The numbers are the virtual channels: each leg has its own, and the last local link the last one. They rise from
//! left to right, so that nothing waits in a cycle. Within a group a packet takes one local link, by the last virtual
//! channel.
//!
//! Sources: Kim, Dally, Scott and Abts, "Technology-Driven, Highly-Scalable Dragonfly Topology" (2008), section 4.2;
//! Valiant, "A Scheme for Fast Parallel Communication" (1982), here with groups in the place of nodes.

use super::deadlock::{self, VirtualChannel};
use super::{Ground, NetworkView, PacketHeader, RouteState, RouterView, Row, Step};
use crate::model::{FlitNetwork, RouterId};
use crate::topology::{Groups, ejection};

/// The virtual channel of the last local link.
const LAST: u16 = 2;

/// The phases of a packet's way.
const AT_SOURCE: u16 = 0;
const TO_DETOUR: u16 = 1;
const FROM_DETOUR: u16 = 2;

/// By way of a group drawn at random.
#[derive(Clone, Debug)]
pub struct Valiant(Groups);

impl Row for Valiant {
    const ABOUT: &'static str = "In a dragonfly through a group drawn at random; needs three virtual channels.";

    fn prepare(ground: &mut Ground<'_>) -> Result<Valiant, String> {
        let groups: Groups = ground.take_geometry().ok_or("it is for `dragonfly`; `up-down` is for all")?;
        if groups.count() < 3 {
            return Err("there is no third group to go through".into());
        }
        Ok(Valiant(groups))
    }

    fn virtual_channels(&self) -> u32 {
        u32::from(LAST) + 1
    }

    fn choices(&self) -> u64 {
        u64::from(self.0.count()) - 2
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
        let (group, target) = (self.0.group(at), self.0.group(home));
        if group == target {
            state.virtual_channel = LAST;
            return Step::Only(self.0.within(at, home));
        }
        if state.phase == AT_SOURCE {
            *state = RouteState { phase: TO_DETOUR, through: self.detour(group, target, view), virtual_channel: 0 };
        } else if state.phase == TO_DETOUR && group == state.through {
            *state = RouteState { phase: FROM_DETOUR, through: 0, virtual_channel: 1 };
        }
        let towards = if state.phase == TO_DETOUR { state.through } else { target };
        Step::Only(self.0.towards(at, towards, home))
    }
}

impl Valiant {
    /// The group that a packet goes through: any but its first and its last.
    fn detour<N: NetworkView>(&self, first: u32, last: u32, view: &RouterView<'_, N>) -> u32 {
        let mut group = view.draw_for_packet(self.choices()) as u32;
        for taken in [first.min(last), first.max(last)] {
            group += u32::from(group >= taken);
        }
        group
    }
}
