//! What is best on a machine, and what its parameters are.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use collectives::Collective;
use collectives::postal::{Alpha, Lambda};
use experiment::Error;
use formats::input::InputFile;
use formats::interrupt;
use formats::traffic_matrix::{self, TrafficMatrix, csv};
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use quantities::Bytes;
use tuning::benchmark::Site;
use tuning::calibrate::{self as calibration, Calibration, CalibrationError, Measurement, Parameter, TimesError};
use tuning::planner::{self, BUDGET, Question, ranks_on};
use tuning::theory::Theory;

use crate::command::unless_interrupted;
use crate::errors::{of_experiment, of_program};
use crate::machine::Machine;
use crate::request::{duration, if_given, size, whole};

/// The name in errors of a text that Python hands over.
const FROM_PYTHON: &str = "the matrix";

/// The contents of a file: its path, or the text itself.
#[derive(FromPyObject)]
pub enum FileOrText {
    Path(PathBuf),
    Text(Vec<u8>),
}

impl FileOrText {
    /// Its name.
    pub fn title(&self) -> String {
        match self {
            FileOrText::Path(path) => path.display().to_string(),
            FileOrText::Text(_) => FROM_PYTHON.to_owned(),
        }
    }

    /// The matrix of bytes in it.
    pub fn matrix(&self, entry: Bytes) -> Result<(TrafficMatrix, InputFile), Error> {
        Ok(match self {
            FileOrText::Path(path) => traffic_matrix::read(path, entry)?,
            FileOrText::Text(text) => (csv::parse(FROM_PYTHON, text)?, InputFile::new(Path::new(FROM_PYTHON), text)),
        })
    }

    /// The measured times in it.
    fn times(&self, nodes: u32) -> Result<(Vec<Measurement>, InputFile), TimesError> {
        match self {
            FileOrText::Path(path) => calibration::read(path, nodes),
            FileOrText::Text(text) => {
                let name = "the times";
                Ok((calibration::parse(name, text, nodes)?, InputFile::new(Path::new(name), text)))
            }
        }
    }
}

/// The default number of threads.
pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, NonZeroUsize::get)
}

/// The question to the planner: the operation, ranks, bytes, a matrix, the budget in millions; the placement of ranks
/// and its seed.
type QuestionArguments<'py> =
    (String, Bound<'py, PyAny>, Bound<'py, PyAny>, Option<FileOrText>, Option<f64>, Option<String>, Option<u64>);

/// The fastest algorithm on `machine`, as JSON.
#[pyfunction]
pub fn plan(py: Python<'_>, machine: &Machine, asked: QuestionArguments<'_>) -> PyResult<String> {
    let (operation, ranks, bytes, matrix, budget, placement, seed) = asked;
    let (ranks, bytes) = (if_given("ranks", &ranks, whole)?, if_given("bytes", &bytes, size)?);
    let budget = budget.map_or(BUDGET, |millions| millions * 1e6);
    let (model, lambda) = (Arc::clone(&machine.model), machine.choice.postal.map(|postal| postal.lambda));
    let work = move || {
        interrupt::forget();
        let matrix = matrix.map(|matrix| matrix.matrix(bytes.unwrap_or(Bytes(1)))).transpose()?;
        let has_sizes = matrix.as_ref().is_some_and(|(matrix, _)| matrix.has_sizes);
        if let (true, Some(bytes)) = (has_sizes, bytes) {
            return Err(Error::parameter("bytes", bytes, "none, as the matrix says how many bytes each message has"));
        }
        let ranks = ranks_on(&model, ranks, matrix.as_ref().map(|(matrix, _)| matrix.pattern.ranks()))?;
        let (matrix, file) = matrix.unzip();
        let question = question(&operation, ranks, bytes, matrix)?;
        question.check_on(&model)?;
        let effort = planner::Effort {
            budget,
            exhaustive: false,
            lambda,
            progress: &|_, _| {},
            interrupted: interrupt::flag(),
            threads: cores(),
        };
        let provenance = question.provenance(&model, budget, file.as_ref(), has_sizes);
        let (nodes, provenance) = planner::placed(&model, placement.as_deref(), ranks, seed, provenance)?;
        let plan = planner::plan(&question, &Site { machine: &model, ranks, nodes: &nodes }, &effort)?;
        Ok(plan.json(&question, &model, &provenance)?.to_string())
    };
    unless_interrupted(py, work)?.map_err(|error| of_experiment(&error))
}

/// The question, for `ranks` ranks.
fn question(
    operation: &str,
    ranks: u32,
    bytes: Option<Bytes>,
    matrix: Option<TrafficMatrix>,
) -> Result<Question, Error> {
    let collective = quantities::by_name(operation, Collective::ALL, |collective| collective.name());
    let collective = collective.map_err(|problem| Error::Value { parameter: "operation".to_owned(), problem })?;
    let (name, shape) = (collective.name(), collective.shape());
    let sends_nothing = shape.blocks(1) == 0;
    if let Some(bytes) = bytes.filter(|_| sends_nothing) {
        return Err(Error::parameter("bytes", bytes, format!("none, as {name} has no data")));
    }
    let bytes = bytes.unwrap_or(if sends_nothing { Bytes(0) } else { Bytes(1024) });
    match matrix {
        Some(matrix) if shape.is_exchange() => Ok(Question::Irregular(matrix.pattern)),
        Some(_) => {
            let exchanges = Collective::ALL.iter().filter(|collective| collective.shape().is_exchange());
            let exchanges: Vec<&str> = exchanges.map(|collective| collective.name()).collect();
            let allowed = format!("one for {}", exchanges.join(", "));
            Err(Error::parameter("traffic", format!("a matrix for {name}"), allowed))
        }
        None => Ok(Question::Listed { collective, ranks, bytes }),
    }
}

/// Fits fields of the description of `machine` to measured times: returns the result, as JSON, and the fitted
/// description.
#[pyfunction]
pub fn calibrate(
    py: Python<'_>,
    machine: &Machine,
    times: FileOrText,
    fit: Vec<String>,
    evaluations: u32,
) -> PyResult<(String, String)> {
    let parameters = fit.iter().map(|text| Parameter::parse(text)).collect::<Result<Vec<Parameter>, _>>();
    let parameters = parameters.map_err(|error| PyValueError::new_err(format!("fit: {error}")))?;
    let (choice, model) = (machine.choice.clone(), Arc::clone(&machine.model));
    let work = move || {
        interrupt::forget();
        let description = choice.describe().map_err(|error| of_experiment(&error))?;
        let (measurements, file) = times.times(model.nodes).map_err(|error| of_times(&error))?;
        let calibration = Calibration { description, parameters, measurements };
        let provenance = calibration.provenance(&model, evaluations, file);
        let effort =
            calibration::Effort { evaluations, threads: cores(), interrupted: interrupt::flag(), progress: &|_| {} };
        let outcome = calibration.fit(&effort).map_err(of_calibration)?;
        let fitted = calibration.fitted_text(&outcome).map_err(of_calibration)?;
        Ok((calibration.json(&model.name, &outcome, &provenance).to_string(), fitted))
    };
    unless_interrupted(py, work)?
}

fn of_times(error: &TimesError) -> PyErr {
    let text = error.to_string();
    if error.is_unreadable() { PyOSError::new_err(text) } else { PyValueError::new_err(text) }
}

fn of_calibration(error: CalibrationError) -> PyErr {
    match error {
        CalibrationError::Machine(error) => of_experiment(&Error::Machine(error)),
        CalibrationError::Program { line, cause } => {
            let error = of_program(&cause);
            PyErr::new::<PyValueError, _>(format!("the times, line {line}: {error}"))
        }
        other => PyValueError::new_err(other.to_string()),
    }
}

/// The results of the postal model for `nodes` nodes, as JSON.
#[pyfunction]
pub fn postal(lambda: &str, nodes: Bound<'_, PyAny>, alpha: Option<&str>, t0: Bound<'_, PyAny>) -> PyResult<String> {
    let wrong = |name: &'static str, error: String| PyValueError::new_err(format!("{name}: {error}"));
    let lambda = lambda.parse::<Lambda>().map_err(|error| wrong("lambda_", error.to_string()))?;
    let alpha = alpha.map(str::parse::<Alpha>).transpose().map_err(|error| wrong("alpha", error.to_string()))?;
    let theory = Theory::of(lambda, whole("nodes", &nodes)?, alpha, if_given("t0", &t0, duration)?);
    Ok(theory.map_err(|error| PyValueError::new_err(error.to_string()))?.json().to_string())
}
