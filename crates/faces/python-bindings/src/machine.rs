//! A machine, resolved once for all runs on it.

use std::sync::Arc;

use experiment::{FigurePage, MachineChoice};
use formats::output::files;
use machines::export;
use machines::model::Machine as Model;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::command::unless_interrupted;
use crate::errors::of_experiment;

/// A resolved machine, and the choice that named it.
#[pyclass(frozen, module = "maquette._maquette")]
pub struct Machine {
    pub choice: MachineChoice,
    pub model: Arc<Model>,
}

/// A page with a bar chart and the table behind it: title and lead, the labels of the two axes, the bars, the table.
#[pyfunction]
pub fn figure_page(
    heading: (String, String),
    axes: [String; 2],
    bars: Vec<(String, f64)>,
    head: Vec<String>,
    rows: Vec<Vec<String>>,
) -> String {
    let (title, lead) = heading;
    FigurePage { title, lead, axes, bars, head, rows }.html()
}

#[pymethods]
impl Machine {
    /// The machine given by `choice`, as JSON: the fields of a machine in an experiment.
    #[staticmethod]
    fn load(py: Python<'_>, choice: &str) -> PyResult<Machine> {
        let choice: MachineChoice =
            serde_json::from_str(choice).map_err(|error| PyValueError::new_err(error.to_string()))?;
        let work = move || {
            files::forget();
            choice.load().map(|model| Machine { choice, model: Arc::new(model) })
        };
        unless_interrupted(py, work)?.map_err(|error| of_experiment(&error))
    }

    #[getter]
    fn name(&self) -> &str {
        &self.model.name
    }

    #[getter]
    fn about(&self) -> &str {
        &self.model.about
    }

    #[getter]
    fn nodes(&self) -> u32 {
        self.model.nodes
    }

    /// The machine with a map, as a page.
    fn html(&self) -> String {
        experiment::machine_page(&self.model)
    }

    /// Everything that a world knows about it, as JSON.
    fn json(&self) -> String {
        export::json(&self.model)
    }
}
