//! Programs for real: all ranks in this process, each with UDP sockets of its own.

use std::cell::RefCell;
use std::sync::atomic::Ordering;

use endpoint::Error as ProgramError;
use experiment::catalogue::Choice;
use experiment::{DEFAULT_SEED, Experiment, MachineChoice};
use formats::interrupt;
use launch::rank::Running;
use launch::wire::{JsonText, Record};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use real_worlds::UdpWorld;
use serde_json::{Map, Value};
use virtual_worlds::answer::Answer;

use crate::collectives::Collectives;
use crate::command::unless_interrupted;
use crate::errors::{of_experiment, of_program};
use crate::program::PythonProgram;
use crate::request::{if_given, large, whole};
use crate::run::{first_raised, stop_of_this_thread};
use crate::signals;

/// Runs a program in Python on `ranks` ranks; `begin` begins a rank of it. Returns what each has returned.
#[pyfunction]
pub fn launch_own<'py>(
    py: Python<'py>,
    begin: Bound<'py, PyAny>,
    ranks: Bound<'py, PyAny>,
    seed: Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyList>> {
    let (ranks, seed) = (whole("local", &ranks)?, if_given("seed", &seed, large)?.unwrap_or(DEFAULT_SEED));
    let collectives = Collectives::for_real(seed);
    let raised = RefCell::default();
    let stop = stop_of_this_thread();
    let program = PythonProgram { begin, raised: &raised, stop, collectives: &collectives };
    let should_continue = || signals::should_continue() && !stop.load(Ordering::Relaxed);
    let ran = UdpWorld::default().run_while(&should_continue, ranks, &program);
    if let Some(error) = signals::raised() {
        return Err(error);
    }
    let ended = ran.as_ref().err().map(|error| experiment::Error::Program(error.clone()));
    if let Some(error) = first_raised(py, raised.into_inner(), ended.as_ref())? {
        return Err(error);
    }
    let returned = ran.and_then(|results| results.into_iter().collect::<endpoint::Result<Vec<Py<PyAny>>>>());
    PyList::new(py, returned.map_err(|error| of_program(&error))?)
}

/// Runs a program in Python as one rank, while the others run elsewhere; `begin` begins it. The record has its return
/// value, as JSON or, if that is impossible, as its Python representation.
pub fn run_as_rank(begin: Bound<'_, PyAny>, seed: u64, rank: &mut Running) -> PyResult<Record> {
    let py = begin.py();
    let collectives = Collectives::for_one_rank(seed);
    let raised = RefCell::default();
    let program = PythonProgram { begin, raised: &raised, stop: stop_of_this_thread(), collectives: &collectives };
    rank.set_should_continue(signals::should_continue);
    let ran = rank.run_returning(rank.size(), None, &program);
    if let Some(error) = signals::raised() {
        return Err(error);
    }
    let ended = ran.as_ref().err().map(|error| experiment::Error::Program(error.clone()));
    if let Some(error) = first_raised(py, raised.into_inner(), ended.as_ref())? {
        return Err(error);
    }
    let (record, returned) = ran.map_err(|error| of_program(&error))?;
    let returned = returned.map(|value| as_json(value.bind(py))).transpose()?;
    Ok(Record { returned, ..record })
}

/// The longest value that a rank sends back. [B]
const LONGEST_VALUE: usize = 3 << 20;

/// A value as JSON, with every digit that Python gives its numbers, or, if that is impossible, as its Python
/// representation.
fn as_json(value: &Bound<'_, PyAny>) -> PyResult<JsonText> {
    let text = match dumped(value)? {
        Some(text) => text,
        None => {
            let shown: String = value.repr()?.extract()?;
            JsonText::new(Value::from(shown).to_string()).map_err(|error| PyValueError::new_err(error.to_string()))?
        }
    };
    let length = text.text().len();
    if length > LONGEST_VALUE {
        return Err(PyValueError::new_err(format!(
            "found a returned value of {length} bytes as text; allowed are {LONGEST_VALUE}, as it is sent to the launcher: write what \
             is larger to a file"
        )));
    }
    Ok(text)
}

/// The JSON text of a value, if JSON has one for it.
fn dumped(value: &Bound<'_, PyAny>) -> PyResult<Option<JsonText>> {
    let form = PyDict::new(value.py());
    form.set_item("ensure_ascii", false)?;
    form.set_item("separators", (",", ":"))?;
    let text = value.py().import("json")?.call_method("dumps", (value,), Some(&form));
    let text = text.and_then(|text| text.extract::<String>());
    Ok(text.ok().and_then(|text| JsonText::new(text).ok()))
}

/// Runs the program of the catalogue called `name` on `ranks` ranks, with `parameters` in JSON. Returns its results, as
/// JSON.
#[pyfunction]
pub fn launch_named(
    py: Python<'_>,
    name: &str,
    parameters: &str,
    ranks: Bound<'_, PyAny>,
    seed: Bound<'_, PyAny>,
) -> PyResult<String> {
    let (ranks, seed) = (whole("local", &ranks)?, if_given("seed", &seed, large)?);
    let parameters = serde_json::from_str(parameters).map_err(|error| PyValueError::new_err(error.to_string()))?;
    let choice = Choice::named(name, parameters).map_err(|error| of_experiment(&error))?;
    let mut experiment = Experiment { seed, ..Experiment::of(choice, MachineChoice::default()) };
    experiment.jobs.iter_mut().for_each(|job| job.ranks = Some(ranks));
    let work = move || {
        interrupt::forget();
        let job = experiment.prepare_for_real(ranks)?.into_job();
        let should_continue = || !interrupt::requested();
        let results = UdpWorld::default().run_while(&should_continue, ranks, &job.program)?;
        let outputs = results.into_iter().collect::<Result<Vec<_>, ProgramError>>()?;
        let found = (job.derive_findings)(outputs, &Answer::default());
        let found: Map<String, Value> = found.into_iter().map(|it| (it.key.to_owned(), it.value)).collect();
        Ok::<String, experiment::Error>(Value::Object(found).to_string())
    };
    unless_interrupted(py, work)?.map_err(|error| of_experiment(&error))
}
