//! Sweeps, from Python.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use experiment::Experiment;
use experiment::journal::Journal;
use experiment::sweep::{Axis, Row, Sweep as Swept};
use formats::interrupt;
use formats::output::{WholeFile, files};
use pyo3::exceptions::{PySystemExit, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::command::unless_interrupted;
use crate::errors::of_experiment;
use crate::tuning::cores;

/// An experiment that runs with all combinations of some values, and the points finished so far.
#[pyclass(frozen, module = "maquette._maquette")]
pub struct Sweep {
    swept: Arc<Swept>,
    rows: Arc<Mutex<Vec<Row>>>,
    journal: Arc<Mutex<Option<Journal>>>,
}

/// The sweep that a command line asks for, with the program's name first: the sweep as JSON, and the file for its
/// table.
///
/// # Errors
/// `SystemExit` with the exit status, if the line is wrong, which has been reported, or asks for help.
#[pyfunction]
pub fn sweep_to_run(arguments: Vec<OsString>) -> PyResult<(String, Option<PathBuf>)> {
    let sweep = command_line::sweep_to_run(arguments).map_err(PySystemExit::new_err)?;
    Ok((sweep.json, sweep.out))
}

fn wrong(error: impl ToString) -> PyErr {
    PyValueError::new_err(error.to_string())
}

#[pymethods]
impl Sweep {
    /// The sweep over `axes` of the experiment in the file `path` or with these fields, both in JSON. Finished points
    /// are kept next to the file `out`, if there is one.
    #[new]
    fn new(path: Option<PathBuf>, fields: Option<&str>, axes: &str, out: Option<PathBuf>) -> PyResult<Sweep> {
        files::forget();
        let base = match (path, fields) {
            (Some(path), _) => Experiment::read(&path),
            (None, fields) => Experiment::from_fields(serde_json::from_str(fields.unwrap_or("{}")).map_err(wrong)?),
        };
        let axes: Vec<Axis> = serde_json::from_str(axes).map_err(wrong)?;
        let swept = base.and_then(|base| Swept::new(base, axes)).map_err(|error| of_experiment(&error))?;
        let opened = out.map(|out| Journal::open(&out, &swept)).transpose().map_err(|error| of_experiment(&error))?;
        let (mut journal, rows) = opened.unzip();
        // Until it runs, a sweep in Python keeps no other from the same file: a notebook makes it again and again.
        journal.iter_mut().for_each(Journal::release);
        Ok(Sweep {
            swept: Arc::new(swept),
            rows: Arc::new(Mutex::new(rows.unwrap_or_default())),
            journal: Arc::new(Mutex::new(journal)),
        })
    }

    /// The sweep as JSON: an experiment, and the axes over which it is swept.
    fn json(&self) -> String {
        self.swept.json().to_string()
    }

    /// The number of points.
    #[getter]
    fn points(&self) -> usize {
        self.swept.points()
    }

    /// The number of finished points.
    #[getter]
    fn done(&self) -> usize {
        self.rows.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    /// The remaining points, in order.
    fn left(&self) -> Vec<usize> {
        let mut is_done = vec![false; self.points()];
        self.rows.lock().unwrap_or_else(PoisonError::into_inner).iter().for_each(|row| is_done[row.point] = true);
        (0..self.points()).filter(|&point| !is_done[point]).collect()
    }

    /// Runs some points on all cores, and keeps their results; ends early on a signal, with what its handler raised.
    fn run(&self, py: Python<'_>, points: Vec<usize>) -> PyResult<()> {
        let (swept, rows, journal) = (Arc::clone(&self.swept), Arc::clone(&self.rows), Arc::clone(&self.journal));
        let work = move || {
            interrupt::forget();
            let failed = Mutex::new(None);
            let report_row = |row: &Row| {
                rows.lock().unwrap_or_else(PoisonError::into_inner).push(row.clone());
                let mut journal = journal.lock().unwrap_or_else(PoisonError::into_inner);
                if let Some(Err(error)) = journal.as_mut().map(|journal| journal.add(row)) {
                    failed.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
                }
            };
            swept.run_all(&points, cores(), interrupt::flag(), &report_row);
            failed.into_inner().unwrap_or_else(PoisonError::into_inner)
        };
        match unless_interrupted(py, work)? {
            Some(error) => Err(of_experiment(&error)),
            None => Ok(()),
        }
    }

    /// The results of some points, a JSON object each; nothing is kept.
    fn rows_of(&self, py: Python<'_>, points: Vec<usize>) -> PyResult<Vec<String>> {
        let swept = Arc::clone(&self.swept);
        let work = move || points.into_iter().map(|point| swept.run(point)).collect::<Vec<Row>>();
        let rows = unless_interrupted(py, work)?;
        rows.iter().map(|row| serde_json::to_string(row).map_err(wrong)).collect()
    }

    /// Keeps rows computed elsewhere.
    fn keep(&self, rows: Vec<String>) -> PyResult<()> {
        for row in rows {
            let row: Row = serde_json::from_str(&row).map_err(wrong)?;
            let mut journal = self.journal.lock().unwrap_or_else(PoisonError::into_inner);
            journal.as_mut().map_or(Ok(()), |journal| journal.add(&row)).map_err(|error| of_experiment(&error))?;
            self.rows.lock().unwrap_or_else(PoisonError::into_inner).push(row);
        }
        Ok(())
    }

    /// Keeps other sweeps from writing the same file, until `release`.
    fn hold(&self) -> PyResult<()> {
        let mut journal = self.journal.lock().unwrap_or_else(PoisonError::into_inner);
        journal.as_mut().map_or(Ok(()), Journal::hold).map_err(|error| of_experiment(&error))
    }

    /// Lets other sweeps write the same file, until this one runs again.
    fn release(&self) {
        self.journal.lock().unwrap_or_else(PoisonError::into_inner).iter_mut().for_each(Journal::release);
    }

    /// The table of the finished points, as an Arrow stream.
    fn stream<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let mut bytes = Vec::new();
        let rows = self.rows.lock().unwrap_or_else(PoisonError::into_inner);
        self.swept.write_arrow(&rows, true, &mut bytes)?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Writes the table to a file that ends in `.csv` or `.arrow`.
    fn write(&self, path: PathBuf) -> PyResult<()> {
        let rows = self.rows.lock().unwrap_or_else(PoisonError::into_inner);
        let mut bytes = Vec::new();
        match path.extension().and_then(|ending| ending.to_str()) {
            Some("csv") => self.swept.write_csv(&rows, &mut bytes)?,
            Some("arrow") => self.swept.write_arrow(&rows, false, &mut bytes)?,
            _ => {
                return Err(wrong(format!(
                    "out: found {}; allowed is a name that ends in .csv, .arrow or .parquet",
                    path.display()
                )));
            }
        }
        let written = WholeFile::create(&path).and_then(|file| file.fill(&bytes));
        written.map_err(|error| of_experiment(&error.into()))
    }

    /// Removes what was kept on disk, once the table is written.
    fn conclude(&self) -> PyResult<()> {
        let journal = self.journal.lock().unwrap_or_else(PoisonError::into_inner).take();
        journal.map_or(Ok(()), Journal::remove).map_err(|error| of_experiment(&error))
    }
}
