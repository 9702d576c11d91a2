//! A plan for the collectives of a program: the fastest algorithm for each, size by size.

use collectives::Collective;
use collectives::schedule::Pattern;
use endpoint::Result;
use machines::model::{Machine, NodeId};
use plan_format::{ALL_AT_ONCE, AlgorithmSpec, PlanError, Sizes};
use quantities::Bytes;

use super::{Candidate, Effort, Prediction, Question, plan};
use crate::benchmark::Site;

/// The collectives to plan for.
#[derive(Clone, Debug)]
pub struct PlanRequest {
    /// The collectives of the list.
    pub collectives: Vec<Collective>,
    /// How many ranks take part.
    pub ranks: u32,
    /// The sizes examined, in increasing order. [B]
    pub sizes: Vec<Bytes>,
    /// What ranks send each other in exchanges by a matrix, if known.
    pub matrix: Option<Pattern>,
    /// The node of each rank; if there are none, rank n is on node n.
    pub nodes: Vec<NodeId>,
}

/// The result for one collective and one size.
#[derive(Clone, Debug)]
pub struct Pick {
    /// The question.
    pub question: Question,
    /// The fastest that ranks can do with messages; none if the machine can't run any.
    pub best: Option<Prediction>,
}

/// The fastest algorithm for each collective at each size, in order. `begins` is called with each question before its
/// plan is made, and with how many are done and how many there are.
///
/// # Errors
/// Those of [`plan`].
pub fn picks(
    request: &PlanRequest,
    machine: &Machine,
    effort: &Effort<'_>,
    begins: &dyn Fn(&Question, (usize, usize)),
) -> Result<Vec<Pick>> {
    let ranks = request.ranks;
    let by_size = request.sizes.iter().flat_map(|&bytes| {
        with_exchanges(&request.collectives).map(move |collective| Question::Listed { collective, ranks, bytes })
    });
    let mut questions: Vec<Question> = by_size.chain(request.matrix.clone().map(Question::Irregular)).collect();
    questions.sort_by_key(Question::name);
    let all = questions.len();
    let pick = |(done, question): (usize, Question)| {
        begins(&question, (done, all));
        let planned = plan(&question, &Site { machine, ranks, nodes: &request.nodes }, effort)?;
        // No message-passing library can do what the machine's own network does, and ranks are in its own order.
        let fits = |it: &Candidate| !it.is_hardware() && it.rings().is_none();
        let best = planned.predictions.into_iter().find(|prediction| fits(&prediction.candidate));
        Ok(Pick { question, best })
    };
    questions.into_iter().enumerate().map(pick).collect()
}

/// These collectives, and those in which every rank has a block for every other, which are planned in any case.
pub(super) fn with_exchanges(collectives: &[Collective]) -> impl Iterator<Item = Collective> {
    let exchanges = Collective::ALL.iter().filter(|it| it.shape().is_exchange() && !collectives.contains(it));
    collectives.iter().chain(exchanges).copied()
}

/// The plan that follows from picks.
///
/// A pick applies to sizes near its own: up to the geometric mean of that and the next one; the first from zero on, the
/// last up to its own. Equal picks are merged into one entry.
///
/// # Errors
/// If no plan is for this number of ranks.
pub fn plan_of(picks: &[Pick], machine: &Machine, ranks: u32) -> std::result::Result<plan_format::Plan, PlanError> {
    let of =
        |name: &str| entries(picks.iter().filter(|pick| pick.question.command() == name && pick.bytes().is_some()));
    let matrix = picks.iter().find(|pick| pick.bytes().is_none()).and_then(|pick| pick.best.as_ref());
    let matrix = matrix.map_or_else(|| AlgorithmSpec::name(ALL_AT_ONCE), |best| best.candidate.spec().clone());
    plan_format::Plan::of(
        plan_format::MadeFor {
            machine: machine.name.clone(),
            blake3: Some(machine.source.blake3.clone()).filter(|digest| !digest.is_empty()),
            set: machine.source.settings.clone(),
            ranks,
        },
        plan_format::PlanEntries {
            only_blocking: false,
            listed: plan_format::planned().map(|collective| (collective, of(collective.name()))).collect(),
            all_to_allv: Some(matrix),
        },
    )
}

impl Pick {
    /// Its size; none for an exchange by a matrix. [B]
    pub fn bytes(&self) -> Option<Bytes> {
        match &self.question {
            Question::Irregular(_) => None,
            question => Some(question.bytes()),
        }
    }
}

/// The entries of a plan for the picks of one collective.
fn entries<'a>(picks: impl Iterator<Item = &'a Pick>) -> Vec<AlgorithmSpec> {
    let picks: Vec<(Bytes, &AlgorithmSpec)> =
        picks.filter_map(|pick| Some((pick.bytes()?, pick.best.as_ref()?.candidate.spec()))).collect();
    let mut entries = Vec::new();
    let mut above = None;
    for (place, (bytes, spec)) in picks.iter().enumerate() {
        let next = picks.get(place + 1);
        if next.is_some_and(|(_, next)| next == spec) {
            continue;
        }
        let to = next.map_or(*bytes, |(next, _)| between(*bytes, *next));
        entries.push((*spec).clone().of_sizes(Sizes { above, to: Some(to) }));
        above = Some(to);
    }
    entries
}

/// The geometric mean of two sizes.
fn between(Bytes(one): Bytes, Bytes(other): Bytes) -> Bytes {
    Bytes((u128::from(one) * u128::from(other)).isqrt() as u64)
}
