//! Published results, reproduced.

use formats::interrupt;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use studies::{PaperName, Watch};

use crate::command::unless_interrupted;
use crate::errors::MaquetteError;
use crate::tuning::cores;

/// Reproduces the claims of these papers: returns the outcome of each as a line of JSON, and the report.
#[pyfunction]
pub fn reproduce(py: Python<'_>, papers: Vec<String>) -> PyResult<(String, String)> {
    let named = |name: &String| quantities::by_name(name, &PaperName::all(), PaperName::name);
    let papers = papers.iter().map(named).collect::<Result<Vec<PaperName>, String>>();
    let papers = papers.map_err(|error| PyValueError::new_err(format!("papers: {error}")))?;
    let reproduced = unless_interrupted(py, move || {
        interrupt::forget();
        let watch = Watch { progress: &|_| {}, interrupted: interrupt::flag(), threads: cores() };
        studies::reproduce(&papers, &watch, None, &|_| {})
            .map(|reproduction| (reproduction.json_lines(), reproduction.html))
    })?;
    reproduced.map_err(|error| MaquetteError::new_err(error.to_string()))
}
