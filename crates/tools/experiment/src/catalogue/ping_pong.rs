//! Two ranks send a message there and back.

use programs::benchmarks;
use quantities::{Bytes, Duration, Rank};
use report::terminal::rounded;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{Entry, Size};
use crate::{Error, Finding, Prepared, Ready, Site, within};

/// Send a message there and back between two nodes: how long does it take?
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct PingPong {
    /// Size of the message.
    bytes: Size,
    /// The rank that sends first.
    from: Rank,
    /// The rank that replies; the last, if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    to: Option<Rank>,
    /// How often the message goes there and back.
    #[serde(deserialize_with = "within::number::<1, { u64::MAX }, _, _>")]
    #[schemars(range(min = 1))]
    rounds: u32,
}

impl Default for PingPong {
    fn default() -> PingPong {
        PingPong { bytes: Size(Bytes(1024)), from: Rank(0), to: None, rounds: 1 }
    }
}

impl Entry for PingPong {
    const NAME: &'static str = "ping-pong";
    const EXAMPLES: &'static str = "Example:\n  maquette run ping-pong --machine parsytec-cc-16 --bytes 64 --to 15";

    fn prepare(&self, site: &mut Site<'_>) -> Result<Box<dyn Ready>, Error> {
        let PingPong { bytes: Size(bytes), from, to, rounds } = *self;
        let ranks = site.ranks()?;
        let to = to.unwrap_or(Rank(ranks - 1));
        Site::check_rank("from", from, ranks)?;
        Site::check_rank("to", to, ranks)?;
        let parameters = json!({"bytes": bytes.0, "from": from.0, "to": to.0, "rounds": rounds});
        let program = benchmarks::PingPong { first: from, second: to, bytes, rounds };
        let prepared = Prepared::new(program, ranks, parameters).expecting(Some(2 * u64::from(rounds)));
        Ok(Box::new(
            prepared
                .with_findings(move |times, _| vec![round_trip(times.get(from.0 as usize).map_or(&[], Vec::as_slice))]),
        ))
    }
}

/// The time of a round, or the least and the most.
fn round_trip(times: &[Duration]) -> Finding {
    let text = match (times.iter().min(), times.iter().max()) {
        (Some(least), Some(most)) if least < most => format!("{} to {}", rounded(*least), rounded(*most)),
        (Some(only), _) => rounded(*only),
        _ => "none".to_owned(),
    };
    let value = json!(times.iter().map(|time| time.picoseconds()).collect::<Vec<u64>>());
    Finding { name: "round trip", text, key: "round_trips_ps", value }
}
