//! Each rank takes turns with a fixed partner.

use programs::benchmarks;
use quantities::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{Entry, Size};
use crate::{Error, Prepared, Ready, Site, within};

/// Let each node take turns with a fixed partner, at about the same distance for all.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct EqualDist {
    /// Size of a message.
    bytes: Size,
    /// How many messages all nodes together send.
    #[serde(deserialize_with = "within::number::<1, { u64::MAX }, _, _>")]
    #[schemars(range(min = 1))]
    messages: u32,
}

/// Let each node take turns with a fixed partner, some near and some far.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct UnequalDist {
    /// Size of a message.
    bytes: Size,
    /// How many messages all nodes together send.
    #[serde(deserialize_with = "within::number::<1, { u64::MAX }, _, _>")]
    #[schemars(range(min = 1))]
    messages: u32,
}

impl Default for EqualDist {
    fn default() -> EqualDist {
        EqualDist { bytes: Size(Bytes(1024)), messages: 4096 }
    }
}

impl Default for UnequalDist {
    fn default() -> UnequalDist {
        UnequalDist { bytes: Size(Bytes(1024)), messages: 4096 }
    }
}

impl Entry for EqualDist {
    const NAME: &'static str = "equal-dist";
    const EXAMPLES: &'static str = "Node p of N has partner (N/2 + p) mod N.\n\n\
                                    Example:\n  maquette run equal-dist --machine moc-3-2 --bytes 2KiB --set buffers=1";

    fn prepare(&self, site: &mut Site) -> Result<Box<dyn Ready>, Error> {
        let EqualDist { bytes: Size(bytes), messages } = *self;
        let parameters = json!({"bytes": bytes.0, "messages": messages});
        let prepared = Prepared::new(benchmarks::EqualDist { bytes, messages }, site.ranks()?, parameters);
        Ok(Box::new(prepared.expecting(Some(messages.into()))))
    }
}

impl Entry for UnequalDist {
    const NAME: &'static str = "unequal-dist";
    const EXAMPLES: &'static str = "Node p of N has partner N - 1 - p.\n\n\
         Example:\n  maquette run unequal-dist --machine parsytec-gcel-64 --nodes 16 --bytes 256";

    fn prepare(&self, site: &mut Site) -> Result<Box<dyn Ready>, Error> {
        let UnequalDist { bytes: Size(bytes), messages } = *self;
        let parameters = json!({"bytes": bytes.0, "messages": messages});
        let prepared = Prepared::new(benchmarks::UnequalDist { bytes, messages }, site.ranks()?, parameters);
        Ok(Box::new(prepared.expecting(Some(messages.into()))))
    }
}
