//! Published results, reproduced.

use formats::interrupt;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use studies::{PaperName, Watch};

use crate::command::unless_interrupted;
use crate::errors::MaquetteError;
use crate::tuning::cores;

fn named(papers: &[String]) -> PyResult<Vec<PaperName>> {
    let named = |name: &String| quantities::by_name(name, &PaperName::all(), PaperName::name);
    let papers = papers.iter().map(named).collect::<Result<Vec<PaperName>, String>>();
    papers.map_err(|error| PyValueError::new_err(format!("papers: {error}")))
}

/// Reproduces the claims of these papers: returns the outcome of each as a line of JSON, and the report.
#[pyfunction]
pub fn reproduce(py: Python<'_>, papers: Vec<String>) -> PyResult<(String, String)> {
    let papers = named(&papers)?;
    let reproduced = unless_interrupted(py, move || {
        interrupt::forget();
        let watch = Watch { progress: &|_| {}, interrupted: interrupt::flag(), threads: cores() };
        studies::reproduce(&papers, &watch, None, &|_| {})
            .map(|reproduction| (reproduction.json_lines(), reproduction.html))
    })?;
    reproduced.map_err(|error| MaquetteError::new_err(error.to_string()))
}

/// The points of the figures of these papers, each as a line of JSON: how to have it, and the number of the study.
#[pyfunction]
pub fn points(py: Python<'_>, papers: Vec<String>) -> PyResult<String> {
    let papers = named(&papers)?;
    let found = unless_interrupted(py, move || {
        interrupt::forget();
        let watch = Watch { progress: &|_| {}, interrupted: interrupt::flag(), threads: cores() };
        let found: Result<Vec<_>, String> = papers.into_iter().map(|paper| studies::points(paper, &watch)).collect();
        found.and_then(|found| {
            let lines =
                found.iter().flatten().map(|point| serde_json::to_string(point).map_err(|error| error.to_string()));
            lines.collect::<Result<Vec<String>, String>>()
        })
    })?;
    Ok(found.map_err(MaquetteError::new_err)?.join("\n"))
}
