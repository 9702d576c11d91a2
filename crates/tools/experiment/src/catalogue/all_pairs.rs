//! Every rank exchanges messages with every other, round after round.

use programs::benchmarks;
use quantities::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{Entry, Size};
use crate::{Error, Prepared, Ready, Site, within};

/// Every node exchanges messages with every other.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct AllPairs {
    /// Size of a message.
    bytes: Size,
    /// How often every node sends to every other.
    #[serde(deserialize_with = "within::number::<1, { u64::MAX }, _, _>")]
    #[schemars(range(min = 1))]
    rounds: u32,
    /// The order in which a node sends to the others; if left out, shift, or in-turn where a send waits until the
    /// receiver asks for the message.
    #[serde(skip_serializing_if = "Option::is_none")]
    order: Option<PartnerOrder>,
}

/// In which order a node goes through the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PartnerOrder {
    Shift,
    ExclusiveOr,
    Linear,
    Shuffled,
    InTurn,
}

impl PartnerOrder {
    const fn all() -> [PartnerOrder; 5] {
        use PartnerOrder::{ExclusiveOr, InTurn, Linear, Shift, Shuffled};
        [Shift, ExclusiveOr, Linear, Shuffled, InTurn]
    }

    const fn name(self) -> &'static str {
        match self {
            PartnerOrder::Shift => "shift",
            PartnerOrder::ExclusiveOr => "exclusive-or",
            PartnerOrder::Linear => "linear",
            PartnerOrder::Shuffled => "shuffled",
            PartnerOrder::InTurn => "in-turn",
        }
    }

    const fn about(self) -> &'static str {
        match self {
            PartnerOrder::Shift => "In step i node p sends to (p + i) mod N",
            PartnerOrder::ExclusiveOr => "In step i node p exchanges with p xor i; N must be a power of two",
            PartnerOrder::Linear => "First node 0, then 1, up to N - 1, for all nodes alike",
            PartnerOrder::Shuffled => "As shift, in a random order of nodes and steps",
            PartnerOrder::InTurn => {
                "Node 0 sends to all others, then node 1, and so on; a node's turn comes when it has the messages of those before"
            }
        }
    }

    const fn order(self, seed: u64) -> benchmarks::PartnerOrder {
        match self {
            PartnerOrder::Shift => benchmarks::PartnerOrder::Shift,
            PartnerOrder::ExclusiveOr => benchmarks::PartnerOrder::ExclusiveOr,
            PartnerOrder::Linear => benchmarks::PartnerOrder::Linear,
            PartnerOrder::Shuffled => benchmarks::PartnerOrder::Shuffled { seed },
            PartnerOrder::InTurn => benchmarks::PartnerOrder::InTurn,
        }
    }
}

quantities::written_by_name!(PartnerOrder);

impl Default for AllPairs {
    fn default() -> AllPairs {
        AllPairs { bytes: Size(Bytes(1024)), rounds: 32, order: None }
    }
}

impl Entry for AllPairs {
    const NAME: &'static str = "all-pairs";
    const EXAMPLES: &'static str =
        "Example:\n  maquette run all-pairs --machine moc-2-1 --bytes 128 --order shuffled --seed 7";

    fn prepare(&self, site: &mut Site<'_>) -> Result<Box<dyn Ready>, Error> {
        let AllPairs { bytes: Size(bytes), rounds, order } = *self;
        let ranks = site.ranks()?;
        // Where nobody has its send over before the other end receives, only turns do not end in a deadlock.
        let usual = if site.waits_for_receivers(bytes) { PartnerOrder::InTurn } else { PartnerOrder::Shift };
        let order = order.unwrap_or(usual);
        let parameters = json!({"bytes": bytes.0, "rounds": rounds, "order": order.name()});
        let program = benchmarks::AllPairs { bytes, rounds, order: order.order(site.seed) };
        let messages = (u64::from(ranks) * u64::from(ranks - 1)).checked_mul(rounds.into());
        let mut prepared = Prepared::new(program, ranks, parameters).expecting(messages);
        prepared.notes.draws = order == PartnerOrder::Shuffled;
        Ok(Box::new(prepared))
    }
}
