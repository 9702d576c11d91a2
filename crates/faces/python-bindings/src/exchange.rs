//! Schedules of exchanges.

use std::sync::Arc;

use collectives::schedule::{self, Pacing, SendReceiveOrder, Transfer};
use experiment::catalogue::Exchange;
use experiment::{Error, Provenance};
use formats::output::{ColumnOf, Kind, stream_table};
use machines::model::Machine as Model;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use quantities::Bytes;
use serde_json::json;
use tuning::exchange::{DEFAULT_SIZE, Messages, Name, ScheduleSummary, branch_of, check, usual_branch};

use crate::command::unless_interrupted;
use crate::errors::of_experiment;
use crate::machine::Machine;
use crate::request::{if_given, size, whole};
use crate::tuning::FileOrText;

/// The width of a printed schedule. [characters]
const WIDTH: usize = 100;

/// A schedule of an exchange.
#[pyclass(frozen, module = "maquette._maquette")]
pub struct Schedule {
    schedule: schedule::Schedule,
    messages: Arc<Messages>,
    summary: ScheduleSummary,
    forwards: bool,
    provenance: Provenance,
}

#[pymethods]
impl Schedule {
    /// Its figures, as JSON.
    fn json(&self) -> String {
        let mut object = self.summary.json();
        object["traffic"] = json!(self.messages.title);
        self.provenance.added_to(object).to_string()
    }

    /// Its messages, as an Arrow stream.
    fn stream<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let steps = self.schedule.steps.iter().zip(0u32..);
        let rows = steps.flat_map(|(transfers, step)| transfers.iter().map(move |&transfer| (step, transfer)));
        let mut bytes = Vec::new();
        stream_table(&mut bytes, &TRANSFERS, rows, &self.provenance)?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// What is wrong with it, if anything is.
    fn wrong(&self) -> Option<String> {
        check(&self.schedule, (!self.forwards).then_some(&self.messages.pattern)).wrong
    }

    /// The schedule as a text table, one column per step.
    fn text(&self) -> String {
        self.schedule.table(WIDTH)
    }

    /// The schedule as JSON, for `maquette run schedule`.
    fn to_json(&self) -> String {
        self.schedule.to_json()
    }

    /// The schedule as GOAL text.
    fn to_goal(&self, pacing: &str, order: &str) -> PyResult<String> {
        let pacing = quantities::by_name(pacing, &Pacing::all(), Pacing::name);
        let order = quantities::by_name(order, &SendReceiveOrder::all(), SendReceiveOrder::name);
        let wrong = |name: &'static str| move |error| PyValueError::new_err(format!("{name}: {error}"));
        Ok(self.schedule.to_goal(pacing.map_err(wrong("pacing"))?, order.map_err(wrong("order"))?))
    }

    /// The schedule as MSCCL XML.
    fn to_msccl(&self) -> PyResult<String> {
        let text = self.schedule.to_msccl(self.summary.name.text());
        text.map_err(|error| PyValueError::new_err(format!("{error}; allowed is a schedule that MSCCL XML can hold")))
    }
}

const TRANSFERS: [ColumnOf<(u32, Transfer)>; 4] = [
    ColumnOf("step", Kind::Unsigned32, |(step, _)| (*step).into()),
    ColumnOf("source", Kind::Unsigned32, |(_, transfer)| transfer.from.0.into()),
    ColumnOf("destination", Kind::Unsigned32, |(_, transfer)| transfer.to.0.into()),
    ColumnOf("bytes", Kind::Unsigned64, |(_, transfer)| transfer.bytes.0.into()),
];

/// The messages: a matrix, the ranks of a complete exchange, or the ranks, density in millionths and seed of random
/// ones.
type MessagesArguments<'py> = (Option<FileOrText>, Bound<'py, PyAny>, Option<(u32, u64, u64)>, Bound<'py, PyAny>);

/// The schedules of these messages: that of `algorithm`, or those of all algorithms.
#[pyfunction]
pub fn schedules(
    py: Python<'_>,
    asked: MessagesArguments<'_>,
    algorithm: Option<&str>,
    machine: Option<&Machine>,
    branch: Bound<'_, PyAny>,
) -> PyResult<Vec<Schedule>> {
    let (matrix, complete, random, bytes) = asked;
    let algorithm = algorithm.map(|name| quantities::by_name(name, &Exchange::all(), Exchange::name)).transpose();
    let algorithm = algorithm.map_err(|error| PyValueError::new_err(format!("algorithm: {error}")))?;
    let (complete, branch) = (if_given("complete", &complete, whole)?, if_given("branch", &branch, whole)?);
    let bytes = if_given("bytes", &bytes, size)?;
    let model = machine.map(|machine| Arc::clone(&machine.model));
    let work = move || {
        let each = bytes.unwrap_or(DEFAULT_SIZE);
        let messages = match (matrix, complete, random) {
            (Some(matrix), None, None) => Messages::of_matrix(matrix.title(), matrix.matrix(each)?, bytes),
            (None, Some(ranks), None) => Messages::complete(ranks, each),
            (None, None, Some((ranks, millionths, seed))) => Messages::random(ranks, millionths, each, seed),
            _ => Err(Error::parameter("traffic", "several or nothing", "one of a matrix, complete and random")),
        };
        let question = Question { algorithm, branch, bytes: each, random, model };
        question.schedules(Arc::new(messages?))
    };
    unless_interrupted(py, work)?.map_err(|error| of_experiment(&error))
}

/// The messages and how to schedule them.
struct Question {
    algorithm: Option<Exchange>,
    branch: Option<u32>,
    bytes: Bytes,
    random: Option<(u32, u64, u64)>,
    model: Option<Arc<Model>>,
}

impl Question {
    fn schedules(&self, messages: Arc<Messages>) -> Result<Vec<Schedule>, Error> {
        let ranks = messages.pattern.ranks();
        let branch = match (&self.model, self.branch) {
            (Some(model), None) => branch_of(model, ranks)?,
            (None, branch) => branch.unwrap_or_else(|| usual_branch(ranks)),
            (Some(_), Some(branch)) => {
                return Err(Error::parameter("branch", branch, "none beside a machine, which says it"));
            }
        };
        let all = || messages.algorithms().collect();
        let algorithms: Vec<Exchange> = self.algorithm.map_or_else(all, |algorithm| vec![algorithm]);
        let made = algorithms.into_iter().map(|algorithm| {
            let schedule = messages.schedule(algorithm)?;
            let summary =
                ScheduleSummary::new(Name::Algorithm(algorithm.name()), &schedule, branch).on(self.model.as_deref());
            let provenance = self.provenance(&messages, algorithm);
            let forwards = matches!(algorithm, Exchange::Forwarding(_));
            Ok(Schedule { schedule, messages: Arc::clone(&messages), summary, forwards, provenance })
        });
        made.collect()
    }

    fn provenance(&self, messages: &Messages, algorithm: Exchange) -> Provenance {
        let provenance = Provenance::of("schedule").given(json!({
            "algorithm": algorithm.name(),
            "traffic": messages.title,
            "complete": messages.complete.map(|_| messages.pattern.ranks()),
            "random": self.random.map(|(ranks, millionths, _)| format!("{ranks},{}", millionths as f64 / 10_000.0)),
            "bytes": self.bytes.0,
            "branch": self.branch,
        }));
        let provenance = self.model.iter().fold(provenance, |provenance, model| provenance.on(model));
        let provenance = match self.random {
            Some((_, _, seed)) => provenance.seeded(seed, false),
            None => provenance,
        };
        messages.read_by(provenance)
    }
}
