//! Which output channel a header asks for: one file a rule.

pub mod deadlock;
pub(crate) mod dragonfly;
pub(crate) mod grid;
pub(crate) mod neighbours;
pub(crate) mod next_hops;
mod packed;
mod selection;
pub(crate) mod shortest_path;
pub(crate) mod stages;
pub(crate) mod up_down;
mod view;

pub use dragonfly::Dragonfly;
pub use grid::Grid;
pub use next_hops::NextHops;
pub use selection::{IdleWhen, Selection, WaitsFor};
pub use stages::Stages;
pub use view::{AtRest, Header, Load, NetworkView, RouteState, RouterView};

use std::fmt;
use std::sync::Arc;

use crate::model::ChannelId;

/// What a header may ask for at a router, by the virtual channel that its [`RouteState`] says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step<'a> {
    /// The one output channel.
    Only(ChannelId),
    /// Any of these output channels; `fixed` is the index of the one that the source always takes.
    Choose {
        /// The allowed output channels, in port order.
        options: &'a [ChannelId],
        /// Which of them the deterministic rule takes.
        fixed: usize,
    },
}

impl Step<'_> {
    /// The only channel, or the one that belongs to the source.
    #[inline]
    pub fn fixed(&self) -> ChannelId {
        match self {
            Step::Only(channel) => *channel,
            Step::Choose { options, fixed } => options[*fixed],
        }
    }

    /// All of them.
    #[inline]
    pub fn options(&self) -> &[ChannelId] {
        match self {
            Step::Only(channel) => std::slice::from_ref(channel),
            Step::Choose { options, .. } => options,
        }
    }
}

/// The rule by which headers find their way.
#[derive(Clone, Debug)]
pub enum Routing {
    /// A rule of the caller's own.
    Own(Arc<dyn OwnRule>),
    /// A shortest path, on any graph.
    ShortestPath(NextHops),
    /// Dimension order on a mesh or a torus.
    Grid(Grid),
    /// Up, across and down in levels of routers and layers of mesh.
    Stages(Stages),
    /// From group to group of a dragonfly.
    Dragonfly(Dragonfly),
    /// Never up after down, on any graph.
    UpDown(NextHops),
}

impl Routing {
    /// What the rule is called.
    pub fn name(&self) -> &'static str {
        match self {
            Routing::Own(_) => "own",
            Routing::ShortestPath(_) => "shortest-path",
            Routing::Grid(_) => "dimension-order",
            Routing::Stages(_) => "clos",
            Routing::Dragonfly(dragonfly) if dragonfly.detours() => "valiant",
            Routing::Dragonfly(_) => "minimal",
            Routing::UpDown(_) => "up-down",
        }
    }

    /// How many virtual channels the rule needs.
    pub fn virtual_channels(&self) -> u32 {
        match self {
            Routing::Grid(grid) => grid.virtual_channels(),
            Routing::Dragonfly(dragonfly) => dragonfly.virtual_channels(),
            Routing::Own(rule) => rule.virtual_channels(),
            Routing::ShortestPath(_) | Routing::Stages(_) | Routing::UpDown(_) => 1,
        }
    }

    /// How many ways packets have that depend on a number drawn for each; 1 if the rule draws none.
    pub fn choices(&self) -> u64 {
        match self {
            Routing::Dragonfly(dragonfly) => dragonfly.choices(),
            _ => 1,
        }
    }

    /// What a header may ask for at a router that sees `view`, and what its packet carries on in `state`.
    #[inline]
    pub fn step<N: NetworkView>(&self, view: &RouterView<'_, N>, state: &mut RouteState) -> Step<'_> {
        match self {
            Routing::Own(rule) => rule.step(&view.of_any_network(), state),
            Routing::Grid(grid) => grid.step(view, state),
            Routing::Stages(stages) => stages.step(view),
            Routing::Dragonfly(dragonfly) => dragonfly.step(view, state),
            Routing::ShortestPath(next_hops) | Routing::UpDown(next_hops) => next_hops.step(view),
        }
    }
}

/// A rule of the caller's own, for a network that is made or changed by hand.
pub trait OwnRule: fmt::Debug + Send + Sync {
    /// How many virtual channels it needs.
    fn virtual_channels(&self) -> u32 {
        1
    }

    /// As [`Routing::step`].
    fn step(&self, view: &RouterView<'_, dyn NetworkView + '_>, state: &mut RouteState) -> Step<'_>;
}
