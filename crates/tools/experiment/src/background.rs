//! Background traffic beside programs.

use machines::model::NodeId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use virtual_worlds::flit::traffic::{Load, Pattern};
use virtual_worlds::jobs::{Background, BackgroundSources};

use crate::{Error, within};

/// The default share of packets that go to a hot spot in particular.
pub const DEFAULT_HOT_FRACTION: f64 = 0.1;

/// Traffic beside the jobs, from the beginning until the last of them has ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct BackgroundTraffic {
    /// The pattern: which node sends to which.
    pub pattern: PatternName,
    /// The node that a hot spot is at; 0, if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hot_node: Option<u32>,
    /// The share of packets that go to the hot spot specifically; 0.1, if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hot_fraction: Option<f64>,
    /// How much each node sends: 1 is all that its channel carries. [flits/node/cycle]
    pub rate: f64,
    /// The length of a packet, header included. [flits]
    #[serde(deserialize_with = "within::number::<1, { u64::MAX }, _, _>")]
    #[schemars(range(min = 1))]
    pub packet: u32,
    /// Whether only nodes without a rank send it.
    pub from_idle_nodes: bool,
}

impl Default for BackgroundTraffic {
    fn default() -> BackgroundTraffic {
        BackgroundTraffic {
            pattern: PatternName::Uniform,
            hot_node: None,
            hot_fraction: None,
            rate: 0.0,
            packet: 16,
            from_idle_nodes: false,
        }
    }
}

/// The traffic pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PatternName {
    /// To any node, all equally likely.
    Uniform,
    /// From row y, column x to row x, column y.
    Transpose,
    /// To the node whose binary digits are the opposite.
    BitComplement,
    /// To the node whose binary digits are reversed.
    BitReverse,
    /// To the node whose binary digits are rotated by one.
    Shuffle,
    /// Nearly half way around in every dimension.
    Tornado,
    /// To the next in every dimension.
    Neighbour,
    /// Some of them to one node, the others as with uniform.
    HotSpot,
}

impl PatternName {
    /// All of them.
    pub const fn all() -> [PatternName; 8] {
        use PatternName::{BitComplement, BitReverse, HotSpot, Neighbour, Shuffle, Tornado, Transpose, Uniform};
        [Uniform, Transpose, BitComplement, BitReverse, Shuffle, Tornado, Neighbour, HotSpot]
    }

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            PatternName::Uniform => "uniform",
            PatternName::Transpose => "transpose",
            PatternName::BitComplement => "bit-complement",
            PatternName::BitReverse => "bit-reverse",
            PatternName::Shuffle => "shuffle",
            PatternName::Tornado => "tornado",
            PatternName::Neighbour => "neighbour",
            PatternName::HotSpot => "hot-spot",
        }
    }

    /// A line that explains it.
    pub const fn about(self) -> &'static str {
        match self {
            PatternName::Uniform => "To any node, all equally likely",
            PatternName::Transpose => "From row y, column x to row x, column y",
            PatternName::BitComplement => "To the node whose binary digits are the opposite",
            PatternName::BitReverse => "To the node whose binary digits are in reverse",
            PatternName::Shuffle => "To the node whose binary digits are rotated by one",
            PatternName::Tornado => "Nearly half way round in every dimension",
            PatternName::Neighbour => "To the next in every dimension",
            PatternName::HotSpot => "Some of them to one node, the others as with uniform",
        }
    }

    /// The pattern, with a hot spot if it has one.
    ///
    /// # Errors
    /// If a hot spot is given for a pattern without one.
    pub fn pattern(self, hot_node: Option<u32>, hot_fraction: Option<f64>) -> Result<Pattern, Error> {
        let given = [("hot_node", hot_node.is_some()), ("hot_fraction", hot_fraction.is_some())];
        if let Some((name, _)) = given.iter().find(|given| given.1 && self != PatternName::HotSpot) {
            let found = format!("a hot spot with {} traffic", self.name());
            return Err(Error::parameter(name, found, "none but with the pattern hot-spot"));
        }
        Ok(match self {
            PatternName::Uniform => Pattern::Uniform,
            PatternName::Transpose => Pattern::Transpose,
            PatternName::BitComplement => Pattern::BitComplement,
            PatternName::BitReverse => Pattern::BitReverse,
            PatternName::Shuffle => Pattern::Shuffle,
            PatternName::Tornado => Pattern::Tornado,
            PatternName::Neighbour => Pattern::Neighbour,
            PatternName::HotSpot => Pattern::HotSpot {
                node: NodeId(hot_node.unwrap_or(0)),
                fraction: hot_fraction.unwrap_or(DEFAULT_HOT_FRACTION),
            },
        })
    }
}

quantities::written_by_name!(PatternName);

impl BackgroundTraffic {
    /// The traffic on a network, with random choices determined by `seed`.
    ///
    /// # Errors
    /// If a hot spot is given for a pattern without one.
    pub(crate) fn background(&self, seed: u64) -> Result<Background, Error> {
        let pattern = self.pattern.pattern(self.hot_node, self.hot_fraction)?;
        let load = Load { pattern, rate: self.rate, packet: self.packet, seed };
        let sources = if self.from_idle_nodes { BackgroundSources::Idle } else { BackgroundSources::All };
        Ok(Background { load, sources })
    }
}
