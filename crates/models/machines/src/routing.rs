//! Which output channel a header asks for: one file a rule, with its row, and one list of all rules.

mod clos;
pub mod deadlock;
mod dimension_order;
mod ground;
mod minimal;
mod neighbours;
mod next_hops;
mod packed;
mod selection;
mod shortest_path;
mod up_down;
mod valiant;
mod view;

pub(crate) use ground::Ground;
pub use selection::{IdleWhen, Selection, WaitsFor};
pub use view::{AtRest, Load, NetworkView, PacketHeader, RouteState, RouterView};

use std::fmt;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::model::{ChannelId, FlitNetwork};
use deadlock::VirtualChannel;

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

/// The row of a rule: the rule made ready for a topology, and what is said of it.
trait Row: Sized {
    /// What it does, in a line or two.
    const ABOUT: &'static str;
    /// Whether it serves every topology, and is free of deadlock there.
    const SERVES_ALL: bool = false;

    /// Whether it is the one taken where none is asked for, and none listed before it is.
    fn is_usual(_: &Ground<'_>) -> bool {
        Self::SERVES_ALL
    }

    /// The rule made ready.
    ///
    /// # Errors
    /// Why it cannot serve the topology.
    fn prepare(ground: &mut Ground<'_>) -> Result<Self, String>;

    /// How many virtual channels it needs.
    fn virtual_channels(&self) -> u32 {
        1
    }

    /// How many ways packets have that depend on a number drawn for each; 1 if the rule draws none.
    fn choices(&self) -> u64 {
        1
    }

    /// How many nodes each branch below the root has, where packets only go up and down a tree.
    fn branch(&self) -> Option<u32> {
        None
    }

    /// Whether the narrowest halving of what it serves is one by numbers, columns or rows.
    fn is_halved_by_rows(&self) -> bool {
        false
    }

    /// A cycle in which packets could wait; none also where the rule is free of deadlock by design.
    fn cycle(&self, network: &FlitNetwork) -> Option<Vec<VirtualChannel>> {
        deadlock::dependency_cycle(network)
    }

    /// As [`Routing::step`].
    fn step<N: NetworkView>(&self, view: &RouterView<'_, N>, state: &mut RouteState) -> Step<'_>;
}

/// Makes the list of all rules, each by its name in descriptions, its file and its row.
macro_rules! rules {
    ($($name:literal: $file:ident::$row:ident,)+) => {
        /// A rule of routing.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
        pub enum Rule {
            $(
                #[doc = concat!("`", $name, "`")]
                #[serde(rename = $name)]
                #[schemars(description = $file::$row::ABOUT)]
                $row,
            )+
        }

        impl Rule {
            /// All of them, in the order in which they are listed.
            const ALL: &'static [Rule] = &[$(Rule::$row,)+];

            /// As it is written.
            pub const fn name(self) -> &'static str {
                match self { $(Rule::$row => $name,)+ }
            }

            /// Whether it serves every topology, and is free of deadlock there.
            pub(crate) const fn serves_all(&self) -> bool {
                match self { $(Rule::$row => $file::$row::SERVES_ALL,)+ }
            }

            /// Whether it is the one taken where none is asked for, and none listed before it is.
            fn is_usual(self, ground: &Ground<'_>) -> bool {
                match self { $(Rule::$row => $file::$row::is_usual(ground),)+ }
            }

            /// The rule made ready, or why it cannot serve the topology.
            pub(crate) fn prepare(self, ground: &mut Ground<'_>) -> Result<Routing, String> {
                match self { $(Rule::$row => $file::$row::prepare(ground).map(Routing::$row),)+ }
            }
        }

        /// The rule by which headers find their way, made ready for a topology.
        #[derive(Clone, Debug)]
        pub enum Routing {
            $(
                #[doc = concat!("`", $name, "`")]
                $row($file::$row),
            )+
            /// A rule of the caller's own.
            Own(Arc<dyn OwnRule>),
        }

        impl Routing {
            /// What the rule is called.
            pub fn name(&self) -> &'static str {
                match self {
                    $(Routing::$row(_) => $name,)+
                    Routing::Own(_) => "own",
                }
            }

            /// How many virtual channels the rule needs.
            pub fn virtual_channels(&self) -> u32 {
                match self {
                    $(Routing::$row(rule) => rule.virtual_channels(),)+
                    Routing::Own(rule) => rule.virtual_channels(),
                }
            }

            /// How many ways packets have that depend on a number drawn for each; 1 if the rule draws none.
            pub fn choices(&self) -> u64 {
                match self {
                    $(Routing::$row(rule) => rule.choices(),)+
                    Routing::Own(_) => 1,
                }
            }

            /// How many nodes each branch below the root has, where packets only go up and down a tree.
            pub(crate) fn branch(&self) -> Option<u32> {
                match self {
                    $(Routing::$row(rule) => rule.branch(),)+
                    Routing::Own(_) => None,
                }
            }

            /// Whether the narrowest halving of what it serves is one by numbers, columns or rows.
            pub(crate) fn is_halved_by_rows(&self) -> bool {
                match self {
                    $(Routing::$row(rule) => rule.is_halved_by_rows(),)+
                    Routing::Own(_) => false,
                }
            }

            /// A cycle in which packets could wait; none also where the rule is free of deadlock by design.
            pub(crate) fn cycle(&self, network: &FlitNetwork) -> Option<Vec<VirtualChannel>> {
                match self {
                    $(Routing::$row(rule) => rule.cycle(network),)+
                    Routing::Own(_) => deadlock::dependency_cycle(network),
                }
            }

            /// What a header may ask for at a router that sees `view`, and what its packet carries on in `state`.
            #[inline]
            pub fn step<N: NetworkView>(&self, view: &RouterView<'_, N>, state: &mut RouteState) -> Step<'_> {
                match self {
                    $(Routing::$row(rule) => rule.step(view, state),)+
                    Routing::Own(rule) => rule.step(&view.of_any_network(), state),
                }
            }
        }
    };
}

rules! {
    "dimension-order": dimension_order::DimensionOrder,
    "clos": clos::Clos,
    "minimal": minimal::Minimal,
    "valiant": valiant::Valiant,
    "up-down": up_down::UpDown,
    "shortest-path": shortest_path::ShortestPath,
}

impl Rule {
    /// The one that is taken where none is asked for.
    pub(crate) fn usual(ground: &Ground<'_>) -> Option<Rule> {
        Rule::ALL.iter().copied().find(|rule| rule.is_usual(ground))
    }

    /// The one that serves every topology, and is free of deadlock there.
    pub(crate) fn of_all() -> Option<Rule> {
        Rule::ALL.iter().copied().find(Rule::serves_all)
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
