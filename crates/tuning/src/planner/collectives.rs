//! A plan for the collectives of a program: the quickest of each, size by size.

use endpoint::Result;
use machines::model::Machine;
use plan_format::{POSTED, PlanError, Sizes, Told};
use programs::schedule::Pattern;
use quantities::Bytes;

use super::{Effort, Prediction, Question, plan};

/// For what a plan is made.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// How many ranks take part.
    pub ranks: u32,
    /// The sizes that are looked at, rising. [B]
    pub sizes: Vec<Bytes>,
    /// What ranks have for each other in exchanges by a matrix, where that is known.
    pub matrix: Option<Pattern>,
}

/// What came out for one collective and one size.
#[derive(Clone, Debug)]
pub struct Pick {
    /// What was asked.
    pub question: Question,
    /// The quickest that ranks can do by messages; none, if the machine can't run any.
    pub best: Option<Prediction>,
}

/// The quickest algorithm of each collective at each size, in order.
///
/// # Errors
/// As [`plan`].
pub fn picks(wanted: &Wanted, machine: &Machine, effort: &Effort<'_>) -> Result<Vec<Pick>> {
    let ranks = wanted.ranks;
    let by_size = wanted.sizes.iter().flat_map(|&bytes| {
        [
            Question::Broadcast { ranks, bytes },
            Question::AllReduce { ranks, bytes },
            Question::Complete { ranks, bytes },
        ]
    });
    let mut questions: Vec<Question> = by_size.chain(wanted.matrix.clone().map(Question::Irregular)).collect();
    questions.sort_by_key(Question::name);
    let pick = |question: Question| {
        let planned = plan(&question, machine, effort)?;
        // What the machine's own network does, no library of messages can.
        let best = planned.predictions.into_iter().find(|prediction| !prediction.candidate.is_hardware());
        Ok(Pick { question, best })
    };
    questions.into_iter().map(pick).collect()
}

/// The plan that follows from picks.
///
/// A pick stands for the sizes near its own: up to the geometric mean of that and the next one, the first from nothing on, the last up to its
/// own. Picks that are the same make one entry.
///
/// # Errors
/// A number of ranks that no plan is for.
pub fn plan_of(picks: &[Pick], machine: &Machine, ranks: u32) -> std::result::Result<plan_format::Plan, PlanError> {
    let of =
        |name: &str| entries(picks.iter().filter(|pick| pick.question.command() == name && pick.bytes().is_some()));
    let matrix = picks.iter().find(|pick| pick.bytes().is_none()).and_then(|pick| pick.best.as_ref());
    let matrix = matrix.map_or_else(|| Told::name(POSTED), |best| best.candidate.told().clone());
    plan_format::Plan::of(
        plan_format::MadeFor {
            machine: machine.name.clone(),
            blake3: Some(machine.source.blake3.clone()).filter(|digest| !digest.is_empty()),
            set: machine.source.settings.clone(),
            ranks,
        },
        plan_format::Written {
            broadcast: of("broadcast"),
            all_reduce: of("all-reduce"),
            all_to_all: of("all-to-all"),
            all_to_allv: Some(matrix),
        },
    )
}

impl Pick {
    /// The size that it is for; none for an exchange by a matrix. [B]
    pub fn bytes(&self) -> Option<Bytes> {
        match &self.question {
            Question::Irregular(_) => None,
            question => Some(question.bytes()),
        }
    }
}

/// What is written of the picks of one collective.
fn entries<'a>(picks: impl Iterator<Item = &'a Pick>) -> Vec<Told> {
    let picks: Vec<(Bytes, &Told)> =
        picks.filter_map(|pick| Some((pick.bytes()?, pick.best.as_ref()?.candidate.told()))).collect();
    let mut entries = Vec::new();
    let mut above = None;
    for (place, (bytes, told)) in picks.iter().enumerate() {
        let next = picks.get(place + 1);
        if next.is_some_and(|(_, next)| next == told) {
            continue;
        }
        let to = next.map_or(*bytes, |(next, _)| between(*bytes, *next));
        entries.push((*told).clone().of_sizes(Sizes { above, to: Some(to) }));
        above = Some(to);
    }
    entries
}

/// The geometric mean of two sizes.
fn between(Bytes(one): Bytes, Bytes(other): Bytes) -> Bytes {
    Bytes((u128::from(one) * u128::from(other)).isqrt() as u64)
}
