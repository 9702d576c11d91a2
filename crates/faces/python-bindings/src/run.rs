//! Runs and their results.

use std::cell::RefCell;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use collectives::agreement::Unfinished;
use experiment::catalogue::Choice;
use experiment::{EngineName, Error, Experiment, FigureName, OwnProgram, Recording, TableName};
use formats::output::files;
use machines::model::Machine as Model;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};
use quantities::{Duration, Rank, Time};
use serde_json::{Map, Value};
use virtual_worlds::jobs::placement::Placement;
use virtual_worlds::stop::Stop;

use crate::collectives::Collectives;
use crate::command::unless_interrupted;
use crate::errors::{of_experiment, of_program};
use crate::machine::Machine;
use crate::program::{PythonProgram, RaisedException};
use crate::request::{if_given, large, whole};

/// The result of a run.
#[pyclass(frozen, module = "maquette._maquette")]
pub struct Ended {
    ended: experiment::FinishedRun,
}

impl Ended {
    /// When each rank ended, on the clock of the run.
    fn finish(&self) -> &[Time] {
        match &self.ended.jobs[..] {
            [only] => &only.finish,
            _ => &self.ended.answer.finish,
        }
    }
}

#[pymethods]
impl Ended {
    #[getter]
    fn program(&self) -> &str {
        &self.ended.program
    }

    #[getter]
    fn machine(&self) -> &str {
        &self.ended.machine.name
    }

    #[getter]
    fn makespan_ps(&self) -> u64 {
        self.ended.answer.makespan().picoseconds()
    }

    /// The makespan in words.
    #[getter]
    fn makespan(&self) -> String {
        Duration::from_picoseconds(self.makespan_ps()).to_string()
    }

    #[getter]
    fn finish_ps(&self) -> Vec<u64> {
        self.finish().iter().map(|time| time.picoseconds()).collect()
    }

    #[getter]
    fn nodes(&self) -> Vec<u32> {
        let answer = &self.ended.answer;
        match &self.ended.jobs[..] {
            [] => (0..answer.finish.len() as u32).map(|rank| answer.node_of(Rank(rank)).0).collect(),
            jobs => jobs.iter().flat_map(|job| job.nodes.clone()).collect(),
        }
    }

    #[getter]
    fn messages(&self) -> u64 {
        self.ended.answer.messages
    }

    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.ended.warnings.clone()
    }

    /// The results of the programs, as a JSON object.
    fn found_json(&self) -> String {
        let of_jobs = self.ended.jobs.iter().flat_map(|job| &job.findings);
        let findings = self.ended.findings.iter().chain(of_jobs);
        let found: Map<String, Value> =
            findings.map(|finding| (finding.key.to_owned(), finding.value.clone())).collect();
        Value::Object(found).to_string()
    }

    /// The whole result, as a JSON object.
    fn json(&self) -> String {
        self.ended.json().to_string()
    }

    /// A short page of its pictures, fewer if no timeline was recorded.
    fn html(&self, py: Python<'_>) -> PyResult<String> {
        py.detach(|| self.ended.excerpt()).map_err(|error| of_experiment(&error))
    }

    /// Writes the page with its pictures to the file `path`, if a timeline was recorded; returns whether it was.
    fn write_report(&self, py: Python<'_>, path: PathBuf) -> PyResult<bool> {
        if self.ended.answer.timeline.is_none() {
            return Ok(false);
        }
        files::forget();
        py.detach(|| self.ended.write_page(&path)).map_err(|error| of_experiment(&error))?;
        Ok(true)
    }

    /// A figure for a slide, as SVG: the one called `name`, or the one that says most. None if it needs a timeline, which
    /// was not recorded.
    fn figure(&self, py: Python<'_>, name: Option<&str>) -> PyResult<Option<String>> {
        let by_name = |name| quantities::by_name(name, &FigureName::all(), FigureName::name);
        let name = name.map(by_name).transpose();
        let name = name.map_err(|error| PyValueError::new_err(format!("figure: {error}")))?;
        if self.ended.answer.timeline.is_none() && name != Some(FigureName::Map) {
            return Ok(None);
        }
        py.detach(|| self.ended.figure(name)).map(Some).map_err(|error| of_experiment(&error))
    }

    /// The table called `name`, as an Arrow stream; None if it was not recorded.
    fn table<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let name = quantities::by_name(name, &TableName::all(), TableName::name);
        let name = name.map_err(|error| PyValueError::new_err(format!("table: {error}")))?;
        let stream = py.detach(|| self.ended.table(name)).map_err(|error| of_experiment(&error))?;
        Ok(stream.map(|stream| PyBytes::new(py, &stream)))
    }
}

/// Writes a figure, which is SVG, to the file `path`, whose name ends in `.svg` or `.png`.
#[pyfunction]
pub fn write_picture(py: Python<'_>, svg: &str, path: PathBuf) -> PyResult<()> {
    files::forget();
    py.detach(|| experiment::write_picture(svg, &path)).map_err(|error| of_experiment(&error))
}

/// How a program runs, whether of the catalogue or the user's.
struct How {
    ranks: Option<u32>,
    placement: Placement,
    engine: Option<EngineName>,
    seed: Option<u64>,
    recording: Recording,
}

/// What is recorded, as it comes from Python: packets, the timeline.
type RecordingArguments = (bool, bool);

/// How a program runs, as it comes from Python: ranks, placement, engine, seed, recording.
type RunArguments<'py> = (Bound<'py, PyAny>, Option<String>, Option<String>, Bound<'py, PyAny>, RecordingArguments);

impl How {
    fn read((ranks, placement, engine, seed, recorded): RunArguments<'_>) -> PyResult<How> {
        let wrong = |text: String| PyValueError::new_err(text);
        let placement = placement.as_deref().map(str::parse::<Placement>).transpose();
        let by_name = |name: String| quantities::by_name(&name, &EngineName::all(), EngineName::name);
        Ok(How {
            ranks: if_given("ranks", &ranks, whole)?,
            placement: placement.map_err(|error| wrong(error.to_string()))?.unwrap_or_default(),
            engine: engine.map(by_name).transpose().map_err(|error| wrong(format!("engine: {error}")))?,
            seed: if_given("seed", &seed, large)?,
            recording: recording(recorded),
        })
    }
}

fn recording((packets, timeline): RecordingArguments) -> Recording {
    Recording { packets, timeline }
}

/// Runs the program of the catalogue called `name`, with `parameters` in JSON.
#[pyfunction]
pub fn run_named(
    py: Python<'_>,
    name: &str,
    machine: &Machine,
    parameters: &str,
    how: RunArguments<'_>,
) -> PyResult<Ended> {
    let How { ranks, placement, engine, seed, recording } = How::read(how)?;
    let parameters = serde_json::from_str(parameters).map_err(|error| PyValueError::new_err(error.to_string()))?;
    let program = Choice::named(name, parameters).map_err(|error| of_experiment(&error))?;
    let mut experiment = Experiment { engine, seed, ..Experiment::of(program, machine.choice.clone()) };
    for job in &mut experiment.jobs {
        job.ranks = ranks;
        job.placement = placement.clone();
    }
    run_recorded(py, experiment, Some(Arc::clone(&machine.model)), recording)
}

/// Runs the experiment in the file `path`, or with these fields, in JSON.
#[pyfunction]
pub fn run_experiment(
    py: Python<'_>,
    path: Option<PathBuf>,
    fields: Option<&str>,
    recorded: RecordingArguments,
) -> PyResult<Ended> {
    let read = match (path, fields) {
        (Some(path), _) => Experiment::read(&path),
        (None, fields) => {
            let fields = serde_json::from_str(fields.unwrap_or("{}"));
            Experiment::from_fields(fields.map_err(|error| PyValueError::new_err(error.to_string()))?)
        }
    };
    run_recorded(py, read.map_err(|error| of_experiment(&error))?, None, recording(recorded))
}

/// Runs an experiment, on the machine that it names, or on `machine` if that has already been resolved.
fn run_recorded(
    py: Python<'_>,
    experiment: Experiment,
    machine: Option<Arc<Model>>,
    recording: Recording,
) -> PyResult<Ended> {
    let work = move || {
        files::forget();
        let run = match machine {
            Some(machine) => experiment.prepare_on(&machine),
            None => experiment.prepare(),
        };
        run?.recording(recording).run(Stop::NEVER)
    };
    let ended = unless_interrupted(py, work)?;
    ended.map(|ended| Ended { ended }).map_err(|error| of_experiment(&error))
}

thread_local! {
    /// Stops the run of a program in Python on this thread. There is one such run at a time, since it has the thread to
    /// itself.
    static STOP: &'static AtomicBool = Box::leak(Box::default());
}

/// The flag that stops the run of a program in Python on this thread, reset.
pub fn stop_of_this_thread() -> &'static AtomicBool {
    let stop = STOP.with(|stop| *stop);
    stop.store(false, Ordering::Relaxed);
    stop
}

/// Runs a program in Python with `parameters`, in JSON; `begin` begins a rank of it. Returns the ranks' return values
/// and the result.
#[pyfunction]
pub fn run_own<'py>(
    py: Python<'py>,
    name: String,
    machine: &Machine,
    begin: Bound<'py, PyAny>,
    parameters: &str,
    how: RunArguments<'py>,
) -> PyResult<(Bound<'py, PyList>, Ended)> {
    let How { ranks, placement, engine, seed, recording } = How::read(how)?;
    let parameters = serde_json::from_str(parameters).map_err(|error| PyValueError::new_err(error.to_string()))?;
    let stop = stop_of_this_thread();
    let raised = RefCell::default();
    let experiment = Experiment { engine, seed, ..Experiment::default() };
    let collectives = Collectives::on(&machine.model, &machine.choice, experiment.seed());
    let program = PythonProgram { begin, raised: &raised, stop, collectives: &collectives };
    let own = OwnProgram { name, program, parameters, ranks, placement };
    let run = experiment.prepare_own(own, &machine.model);
    let ran = run.and_then(|run| run.recording(recording).run_returning(Stop::at(stop)));
    if let Some(error) = first_raised(py, raised.into_inner(), ran.as_ref().err())? {
        return Err(error);
    }
    let (results, ended) = ran.map_err(|error| of_experiment(&with_unfinished(error, &collectives)))?;
    let returned = results.into_iter().collect::<endpoint::Result<Vec<Py<PyAny>>>>();
    let returned = returned.map_err(|error| of_program(&error))?;
    Ok((PyList::new(py, returned)?, Ended { ended }))
}

/// A deadlock in which ranks wait in a collective that others have not called says so.
fn with_unfinished(error: Error, collectives: &Collectives<'_>) -> Error {
    let (Error::Program(endpoint::Error::Deadlock(text)), Some(unfinished)) = (&error, collectives.unfinished()) else {
        return error;
    };
    let ranks = |ranks: &[Rank]| {
        const NAMED: usize = 8;
        let named = ranks.iter().take(NAMED).map(Rank::to_string).collect::<Vec<String>>().join(", ");
        let more = ranks.len().saturating_sub(NAMED);
        let more = if more == 0 { String::new() } else { format!(" and {more} more") };
        format!("{} {named}{more}", if ranks.len() == 1 { "rank" } else { "ranks" })
    };
    let Unfinished { what, called, missing } = unfinished;
    let (called, missing) = (ranks(&called), ranks(&missing));
    Error::Program(endpoint::Error::Deadlock(format!(
        "{text}; {called} called {what}, and {missing} did not: allowed is a call by each of its ranks, and among some ranks by \
         endpoint.group([...])"
    )))
}

/// The exception of the first failing rank, with notes on where and when, and on the other ranks.
pub fn first_raised(py: Python<'_>, raised: Vec<RaisedException>, ended: Option<&Error>) -> PyResult<Option<PyErr>> {
    let others = raised.len().saturating_sub(1);
    let Some(RaisedException { rank, time, error }) = raised.into_iter().next() else { return Ok(None) };
    let note = |text: String| error.value(py).call_method1("add_note", (text,)).map(drop);
    note(format!("raised by rank {rank} at {time}"))?;
    if others > 0 {
        note(format!("{others} other {} raised exceptions, too", if others == 1 { "rank" } else { "ranks" }))?;
    }
    if let Some(Error::Program(deadlock @ endpoint::Error::Deadlock(_))) = ended {
        note(deadlock.to_string())?;
    }
    Ok(Some(error))
}
