//! A message from one rank to all others.

use endpoint::{Endpoint, Error as ProgramError, Message, Needs, Program, Result as ProgramResult};
use programs::broadcast::{self, HardwareBroadcast};
use programs::catalogue::{Catalogue, Parameter};
use programs::postal::{Alpha, Lambda};
use quantities::{Bytes, Duration, Rank};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::collective::{Collective, Named, RankOrder, Setup};
use super::{Entry, Member, Size};
use crate::{Error, Prepared, Ready, Site};

/// Broadcast a message from one node to all others.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Broadcast {
    /// Size of the message.
    bytes: Size,
    /// The tree; if left out, lambda-tree where a lambda or an alpha is given, otherwise binomial.
    #[serde(skip_serializing_if = "Option::is_none")]
    algorithm: Option<Named<broadcast::Algorithm>>,
    /// The latency of a message in steps of t0, a number such as 1.8 or 9/5: that of the postal model, or the one for which a tree on a
    /// machine is built. None on a machine, if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    lambda: Option<Lambda>,
    /// The duration of a step, after which a sender is done with a message. In the postal model a microsecond, if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    t0: Option<Duration>,
    /// In a tree by splitting, the share of its nodes that a source keeps for itself, from 0.5 to under 1; if left out, from the
    /// look-up table for lambda.
    #[serde(skip_serializing_if = "Option::is_none")]
    alpha: Option<Alpha>,
    /// Size of a segment, for pipeline and segmented-tree; 4 KiB, if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    segment: Option<Size>,
    /// The root: the source of the broadcast.
    root: Rank,
    /// The order of the other ranks.
    #[schemars(extend("x-value" = "ORDER"))]
    order: RankOrder,
}

impl Default for Broadcast {
    fn default() -> Broadcast {
        Broadcast {
            bytes: Size(Bytes(1024)),
            algorithm: None,
            lambda: None,
            t0: None,
            alpha: None,
            segment: None,
            root: Rank(0),
            order: RankOrder::Cyclic,
        }
    }
}

impl Entry for Broadcast {
    const NAME: &'static str = "broadcast";
    const EXAMPLES: &'static str = "Examples:\n  maquette run broadcast --machine delta --nodes 64 --bytes 512 --algorithm lambda-tree --alpha 0.58\n  \
         maquette run broadcast --lambda 1.8 --nodes 64";
    const IN_POSTAL_MODEL: bool = true;

    fn prepare(&self, site: &mut Site) -> Result<Box<dyn Ready>, Error> {
        let (algorithm, setup) = self.algorithm(site)?;
        let Size(bytes) = self.bytes;
        let message = site.message(bytes);
        if algorithm.entry().needs.multicast() {
            setup.check_unordered(algorithm.name())?;
            let program = HardwareBroadcast { root: setup.group.source(), message: message.clone() };
            return Ok(reaching(program, message, algorithm.messages(setup.ranks), setup));
        }
        let (bound, messages) = (setup.lower_bound(), algorithm.messages(setup.ranks));
        let group = setup.group.clone();
        let program = broadcast::Broadcast { algorithm, group, message: message.clone() };
        let mut prepared = reached(program, message, messages, setup);
        prepared.derive_findings = Box::new(move |_, _| bound.into_iter().collect());
        Ok(Box::new(prepared))
    }
}

impl Broadcast {
    /// The algorithm, made from its parameters, and who takes part.
    pub(super) fn algorithm(&self, site: &Site) -> Result<(broadcast::Algorithm, Setup), Error> {
        let &Broadcast { bytes: Size(bytes), algorithm, lambda, t0, alpha, segment, root, order } = self;
        let segment = segment.map(|Size(bytes)| bytes);
        let mut setup = Collective { bytes, root, order, lambda, t0, alpha, segment }.setup(site)?;
        let by_share = setup.inputs.lambda.is_some() || alpha.is_some();
        let usual = if by_share { "lambda-tree" } else { "binomial" };
        let entry = algorithm.map(|Named(entry)| entry).or_else(|| broadcast::Algorithm::by_name(usual));
        let entry = entry.ok_or_else(|| Error::parameter("algorithm", usual, "an algorithm"))?;
        if segment.is_some() && !entry.parameters.contains(&Parameter::Segment) {
            let allowed = format!("none, as {} does not cut messages", entry.name);
            return Err(Error::parameter("segment", "a size", allowed));
        }
        if segment == Some(Bytes(0)) {
            return Err(Error::parameter("segment", Bytes(0), "1 B or more"));
        }
        let algorithm = setup.algorithm(entry)?;
        Ok((algorithm, setup))
    }
}

/// A program of which it is known what every rank ends with.
pub struct Reaches<P> {
    program: P,
    expected: Message,
}

impl<P: Program<Output = Message>> Program for Reaches<P> {
    type Output = Message;
    const NEEDS: Needs = P::NEEDS;

    async fn run<E: Endpoint>(&self, endpoint: &E) -> ProgramResult<Message> {
        self.program.run(endpoint).await
    }

    fn check(&self, rank: Rank, found: &Message) -> ProgramResult<()> {
        let differs = || ProgramError::Network(format!("rank {rank} has got something else than was sent"));
        if *found == self.expected { Ok(()) } else { Err(differs()) }
    }
}

fn reached<P: Program<Output = Message>>(
    program: P,
    expected: Message,
    messages: Option<u64>,
    setup: Setup,
) -> Prepared<Reaches<P>> {
    let draws = setup.draws();
    let program = Reaches { program, expected };
    let mut prepared = Prepared::new(program, setup.ranks, Value::Object(setup.parameters)).expecting(messages);
    prepared.notes.first = Some(setup.group.source());
    prepared.notes.draws = draws;
    prepared
}

fn reaching<P: Program<Output = Message> + Send + 'static>(
    program: P,
    expected: Message,
    messages: Option<u64>,
    setup: Setup,
) -> Box<dyn Ready>
where
    Reaches<P>: Member<Output = Message>,
{
    Box::new(reached(program, expected, messages, setup))
}
