//! Open-loop traffic, injected whether or not the network keeps up, and the load at which it saturates.

use std::sync::Arc;

use endpoint::Error as ProgramError;
use experiment::open_loop::{OpenLoop, deadlock, network, outcome_json, search_json};
use experiment::{Error, PatternName, Provenance};
use formats::interrupt;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde_json::{Value, json};
use virtual_worlds::flit::traffic::{Effort, Verdict};

use crate::command::unless_interrupted;
use crate::errors::of_experiment;
use crate::machine::Machine;
use crate::tuning::cores;

/// The offered traffic, from its fields in JSON.
fn read(fields: &str) -> PyResult<OpenLoop> {
    let fields: Value = serde_json::from_str(fields).map_err(|error| PyValueError::new_err(error.to_string()))?;
    if let Some(name) = fields["pattern"].as_str() {
        let known = quantities::by_name(name, &PatternName::all(), PatternName::name);
        known.map_err(|error| PyValueError::new_err(format!("pattern: {error}")))?;
    }
    let offered: OpenLoop = serde_json::from_value(fields).map_err(|error| PyValueError::new_err(error.to_string()))?;
    offered.check().map_err(|error| of_experiment(&error))?;
    Ok(offered)
}

/// The result of offering this to `machine` at `rate`, as JSON.
#[pyfunction]
pub fn traffic(py: Python<'_>, machine: &Machine, rate: f64, fields: &str) -> PyResult<String> {
    let (offered, model) = (read(fields)?, Arc::clone(&machine.model));
    let work = move || {
        interrupt::forget();
        let network = network(&model)?;
        let (load, provenance) =
            (offered.load(rate)?, offered.provenance("run traffic", &model, json!({"rate": rate}))?);
        let outcome = offered.run(network, rate, &mut |_| !interrupt::requested())?;
        match &outcome.verdict {
            Verdict::Deadlocked(how) => Err(Error::Program(ProgramError::Deadlock(how.clone()))),
            _ => Ok(with_provenance(&provenance, outcome_json(&model, &load, &outcome))),
        }
    };
    unless_interrupted(py, work)?.map_err(|error| of_experiment(&error))
}

/// The load at which `machine` saturates, as JSON.
#[pyfunction]
pub fn saturate(py: Python<'_>, machine: &Machine, precision: f64, fields: &str) -> PyResult<String> {
    let (offered, model) = (read(fields)?, Arc::clone(&machine.model));
    let work = move || {
        interrupt::forget();
        if !(0.0001..=0.5).contains(&precision) {
            return Err(Error::parameter("precision", precision, "0.0001 to 0.5"));
        }
        let network = network(&model)?;
        let (load, own) = (offered.load(1.0)?, json!({"precision": precision}));
        let provenance = offered.provenance("saturate", &model, own)?;
        let effort = Effort { precision, threads: cores() };
        let search = offered.search(network, &effort, &|_| {}, interrupt::flag())?;
        match deadlock(&search) {
            Some(how) => Err(Error::Program(ProgramError::Deadlock(how.to_owned()))),
            None => Ok(with_provenance(&provenance, search_json(&model, &load, &search))),
        }
    };
    unless_interrupted(py, work)?.map_err(|error| of_experiment(&error))
}

fn with_provenance(provenance: &Provenance, object: Value) -> String {
    provenance.added_to(object).to_string()
}
