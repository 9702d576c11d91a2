//! Each rank takes turns with a fixed partner.

use endpoint::Program;
use programs::benchmarks::{self, BothBegin, Pairs};
use quantities::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::any::Member;
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
    /// Which partner of a pair sends first.
    begins: Begins,
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
    /// Which partner of a pair sends first.
    begins: Begins,
}

/// Which partner of a pair sends first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Begins {
    Lower,
    Both,
}

impl Begins {
    const fn all() -> [Begins; 2] {
        [Begins::Lower, Begins::Both]
    }

    const fn name(self) -> &'static str {
        match self {
            Begins::Lower => "lower",
            Begins::Both => "both",
        }
    }

    const fn about(self) -> &'static str {
        match self {
            Begins::Lower => "The lower of the two, while the other waits",
            Begins::Both => {
                "Both at once, as in the Mesh of Clos study; sends must not wait until the receiver asks for the message"
            }
        }
    }

    /// Prepares `program` to run on the ranks of `site`.
    fn prepare<P>(self, program: P, site: &mut Site<'_>) -> Result<Box<dyn Ready>, Error>
    where
        P: Pairs + Member + Program<Output = ()> + Send + 'static,
        BothBegin<P>: Member + Program<Output = ()>,
    {
        let (bytes, messages) = (program.bytes(), program.messages());
        let parameters = json!({"bytes": bytes.0, "messages": messages, "begins": self.name()});
        let (ranks, messages) = (site.ranks()?, Some(messages.into()));
        Ok(match self {
            Begins::Lower => Box::new(Prepared::new(program, ranks, parameters).expecting(messages)),
            Begins::Both => Box::new(Prepared::new(BothBegin(program), ranks, parameters).expecting(messages)),
        })
    }
}

quantities::written_by_name!(Begins);

impl Default for EqualDist {
    fn default() -> EqualDist {
        EqualDist { bytes: Size(Bytes(1024)), messages: 4096, begins: Begins::Lower }
    }
}

impl Default for UnequalDist {
    fn default() -> UnequalDist {
        UnequalDist { bytes: Size(Bytes(1024)), messages: 4096, begins: Begins::Lower }
    }
}

impl Entry for EqualDist {
    const NAME: &'static str = "equal-dist";
    const EXAMPLES: &'static str = "Node p of N has partner (N/2 + p) mod N.\n\n\
                                    Example:\n  maquette run equal-dist --machine moc-3-2 --bytes 2KiB --set buffers=1\n  \
                                    maquette run equal-dist --machine moc-3-2 --begins both";

    fn prepare(&self, site: &mut Site<'_>) -> Result<Box<dyn Ready>, Error> {
        let EqualDist { bytes: Size(bytes), messages, begins } = *self;
        begins.prepare(benchmarks::EqualDist { bytes, messages }, site)
    }
}

impl Entry for UnequalDist {
    const NAME: &'static str = "unequal-dist";
    const EXAMPLES: &'static str = "Node p of N has partner N - 1 - p.\n\n\
         Example:\n  maquette run unequal-dist --machine parsytec-gcel-64 --nodes 16 --bytes 256";

    fn prepare(&self, site: &mut Site<'_>) -> Result<Box<dyn Ready>, Error> {
        let UnequalDist { bytes: Size(bytes), messages, begins } = *self;
        begins.prepare(benchmarks::UnequalDist { bytes, messages }, site)
    }
}
