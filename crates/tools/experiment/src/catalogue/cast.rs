//! Content from one rank to all others, as `maquette cast` sends files.

use programs::cast;
use quantities::{Bytes, Rank, counted};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::json;

use super::size::share;
use super::{Entry, Size};
use crate::site::LARGEST_MESSAGE;
use crate::{Error, Finding, Prepared, Ready, Site};

/// Send content from node 0 to all others as `maquette cast` sends files: by hardware broadcast, and only what somebody
/// lacks.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Cast {
    /// Size of the content.
    bytes: Size,
    /// The share of the pieces, each 1 MiB, that all receivers have at first, as after a transfer that was interrupted:
    /// from 0 to 1, rounded to whole pieces.
    have: Share,
}

/// A share, from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(transparent)]
#[schemars(inline, extend("x-value" = "SHARE", "type" = ["number", "string"], "minimum" = 0, "maximum" = 1))]
struct Share(f64);

impl<'de> Deserialize<'de> for Share {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Share, D::Error> {
        share(from, 0.0, 1.0, "allowed is a number from 0 to 1").map(Share)
    }
}

impl Default for Cast {
    fn default() -> Cast {
        Cast { bytes: Size(Bytes(1024)), have: Share(0.0) }
    }
}

impl Entry for Cast {
    const NAME: &'static str = "cast";
    const EXAMPLES: &'static str = "The nodes say what they have, node 0 broadcasts the other pieces, and each is checked by its hash, and all \
         together by another. Hashing takes no time on a model.\n\nExamples:\n  \
         maquette run cast --machine dp-smp-8 --bytes 1MiB\n  \
         maquette run cast --machine cm5-32 --bytes 16MiB --have 0.5";

    fn prepare(&self, site: &mut Site<'_>) -> Result<Box<dyn Ready>, Error> {
        let Cast { bytes: Size(bytes), have: Share(have) } = *self;
        let ranks = site.ranks()?;
        let length = usize::try_from(bytes.0).map_err(|_| Error::parameter("bytes", bytes, LARGEST_MESSAGE))?;
        let program = cast::Cast::new(cast::Cast::content(length), have)
            .map_err(|error| Error::parameter("bytes", bytes, error))?;
        let pieces = program.pieces().len();
        if have > 0.0 && program.known() == 0 {
            let allowed = format!("0, or a share that makes at least one of the {} of 1 MiB", counted(pieces, "piece"));
            return Err(Error::parameter("have", have, allowed));
        }
        let parameters = json!({"bytes": bytes.0, "have": have});
        let mut prepared = Prepared::new(program, ranks, parameters);
        prepared.notes.first = Some(Rank(0));
        Ok(Box::new(prepared.with_findings(move |ends, _| {
            let sent = ends.iter().map(|end| end.came).max().unwrap_or(0);
            vec![Finding {
                name: "pieces",
                text: format!("{sent} of {pieces} sent"),
                key: "pieces",
                value: json!({"all": pieces, "sent": sent}),
            }]
        })))
    }
}
