//! Sweeps: an experiment repeated with different values.
//!
//! A sweep has axes: fields of the experiment, each with a list of values. Its points are all combinations, with the
//! last axis changing fastest. The result of a point depends on nothing but the point, so the table is the same
//! whatever thread works on which point, and in which order.

mod inputs;
mod one_job;

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};

use formats::input::InputFile;
use formats::output::{Cell, Cells, Kind};
use machines::model::Machine;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use virtual_worlds::stop::Stop;

use crate::catalogue::{Choice, descriptions};
use crate::parallel::{self, Watch};
use crate::{Error, Experiment, FinishedRun, Job, MachineChoice, Provenance};

/// The result columns of the table.
const FOUND: [(&str, Kind); 5] = [
    ("makespan_ps", Kind::Signed64),
    ("messages", Kind::Unsigned64),
    ("packets", Kind::Unsigned64),
    ("mean_blocking_ps", Kind::Signed64),
    ("error", Kind::Text),
];

/// The fields of an experiment that can be swept, beside those of its machine and the parameters of its programs.
const FIELDS: [&str; 5] = ["machine", "seed", "engine", "ranks", "placement"];

/// The most points of a sweep.
pub const MOST_POINTS: usize = 10_000_000;

/// A field of an experiment, and the values that it takes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Axis {
    /// `machine`, `seed`, `ranks`, `placement`, `engine`, a parameter of the program, one of these or the start of a
    /// single job, as in `job.NAME.bytes`, or a field of the machine's description with a `.` in it.
    pub name: String,
    /// The values, in this order.
    pub values: Vec<Value>,
}

/// An experiment that runs with all combinations of some values.
#[derive(Debug)]
pub struct Sweep {
    base: Experiment,
    axes: Vec<Axis>,
    /// The files that its points read.
    files: Vec<InputFile>,
    /// Machines already loaded, by how they were requested.
    machines: Mutex<BTreeMap<String, Arc<Machine>>>,
}

/// The result of a point.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// The point, from 0.
    pub point: usize,
    /// When the last rank was done. [ps]
    pub makespan_ps: Option<u64>,
    /// Messages that programs sent.
    pub messages: Option<u64>,
    /// Packets that the network carried, if it is one of flits.
    pub packets: Option<u64>,
    /// The mean time for which the headers of a packet were blocked, if the network is one of flits. [ps]
    pub mean_blocking_ps: Option<u64>,
    /// Why there are no results.
    pub error: Option<String>,
}

impl Row {
    fn of(point: usize, ended: &FinishedRun) -> Row {
        let answer = &ended.answer;
        let has_flits = ended.machine.network().is_some();
        Row {
            point,
            makespan_ps: Some(answer.makespan().picoseconds()),
            messages: Some(answer.messages),
            packets: has_flits.then_some(answer.packets),
            mean_blocking_ps: has_flits.then(|| answer.mean_blocking().picoseconds()),
            error: None,
        }
    }

    fn failed(point: usize, error: &Error) -> Row {
        let hint = error.hint().map(|hint| format!("; {hint}")).unwrap_or_default();
        let error = Some(format!("{error}{hint}"));
        Row { point, makespan_ps: None, messages: None, packets: None, mean_blocking_ps: None, error }
    }
}

impl Sweep {
    /// The sweep of `base` over `axes`.
    ///
    /// # Errors
    /// An axis that is not a field of the experiment, is given twice, or has no values; a value that is not allowed;
    /// too many points; a file that can't be read.
    pub fn new(base: Experiment, axes: Vec<Axis>) -> Result<Sweep, Error> {
        for (place, Axis { name, values }) in axes.iter().enumerate() {
            let wrong = |problem: &str| Error::Value { parameter: name.clone(), problem: problem.to_owned() };
            if axes[..place].iter().any(|before| before.name == *name) {
                return Err(wrong("found twice; allowed is each axis once"));
            }
            if values.is_empty() {
                return Err(wrong("found no values; allowed is one or more"));
            }
            values.iter().try_for_each(|value| set(&mut base.clone(), name, value))?;
        }
        let points = axes.iter().try_fold(1_usize, |points, axis| points.checked_mul(axis.values.len()));
        if points.is_none_or(|points| points > MOST_POINTS) {
            let found = axes.iter().map(|axis| axis.values.len().to_string()).collect::<Vec<String>>().join(" x ");
            return Err(Error::parameter("over", format!("{found} points"), format!("{MOST_POINTS} points at most")));
        }
        let sweep = Sweep { base, axes, files: Vec::new(), machines: Mutex::default() };
        let files = inputs::check(&sweep.experiment(0)?, &sweep.axes)?;
        Ok(Sweep { files, ..sweep })
    }

    /// How many points it has.
    pub fn points(&self) -> usize {
        self.axes.iter().map(|axis| axis.values.len()).product()
    }

    /// The value of each axis at a point.
    pub fn values(&self, point: usize) -> Vec<&Value> {
        let mut rest = point;
        let mut values: Vec<&Value> = Vec::new();
        for axis in self.axes.iter().rev() {
            values.push(&axis.values[rest % axis.values.len()]);
            rest /= axis.values.len();
        }
        values.reverse();
        values
    }

    /// The experiment at a point.
    ///
    /// # Errors
    /// Values that are not allowed together.
    pub fn experiment(&self, point: usize) -> Result<Experiment, Error> {
        let mut experiment = self.base.clone();
        for (axis, value) in self.axes.iter().zip(self.values(point)) {
            set(&mut experiment, &axis.name, value)?;
        }
        Ok(experiment)
    }

    /// Runs a point.
    pub fn run(&self, point: usize) -> Row {
        let ended = self.experiment(point).and_then(|experiment| {
            let machine = self.machine(&experiment.machine)?;
            experiment.prepare_on(&machine)?.run(Stop::NEVER)
        });
        ended.map_or_else(|error| Row::failed(point, &error), |ended| Row::of(point, &ended))
    }

    /// Runs some points on all cores, until somebody interrupts; `on_row` is called for each.
    pub fn run_all(
        &self,
        points: &[usize],
        threads: usize,
        interrupted: &AtomicBool,
        on_row: &(dyn Fn(&Row) + Sync),
    ) -> Vec<Row> {
        let watch = Watch { progress: &|_, _| {}, interrupted, threads };
        let work = |&point: &usize| {
            let row = self.run(point);
            if !interrupted.load(std::sync::atomic::Ordering::Relaxed) {
                on_row(&row);
            }
            row
        };
        parallel::map(points, &watch, work).into_iter().flatten().collect()
    }

    /// The machine requested, loaded once.
    fn machine(&self, choice: &MachineChoice) -> Result<Arc<Machine>, Error> {
        let key = json!(choice).to_string();
        if let Some(machine) = self.machines.lock().unwrap_or_else(PoisonError::into_inner).get(&key) {
            return Ok(Arc::clone(machine));
        }
        let machine = Arc::new(choice.load()?);
        self.machines.lock().unwrap_or_else(PoisonError::into_inner).insert(key, Arc::clone(&machine));
        Ok(machine)
    }

    /// The sweep as JSON: an equal one has the same rows, if its files are the same.
    pub fn json(&self) -> Value {
        json!({"experiment": self.base, "over": self.axes})
    }

    /// The files that its points read, as they were when it began.
    pub(crate) fn files(&self) -> &[InputFile] {
        &self.files
    }

    /// What is run.
    pub fn provenance(&self) -> Provenance {
        let mut provenance = Provenance::of("sweep").given(self.json());
        self.files.iter().for_each(|file| provenance.read(file.clone()));
        provenance
    }

    /// The table of `rows`, in the order of their points: a column for each axis, then the results. Column names are
    /// unique.
    fn cells<'a>(&'a self, rows: &'a [Row]) -> Cells<'a> {
        let mut columns: Vec<(&str, Kind)> = self.axes.iter().map(|axis| (axis.column(), axis.kind())).collect();
        let axes = columns.len();
        columns.extend(FOUND);
        let whole = |number: Option<u64>| number.map_or(Cell::Missing, Cell::from);
        let mut in_order: Vec<&Row> = rows.iter().collect();
        in_order.sort_by_key(|row| row.point);
        let rows = in_order.into_iter().map(|row| {
            let values = self.values(row.point).into_iter().zip(&columns[..axes]);
            let mut cells: Vec<Cell<'_>> = values.map(|(value, (_, kind))| cell(value, *kind)).collect();
            cells.extend([row.makespan_ps, row.messages, row.packets, row.mean_blocking_ps].map(whole));
            cells.push(row.error.as_deref().map_or(Cell::Missing, Cell::from));
            cells
        });
        let rows = rows.collect();
        Cells { columns, rows }
    }

    /// Writes the table of `rows` to `out` as Arrow: a stream, or a file.
    ///
    /// # Errors
    /// When `out` fails.
    pub fn write_arrow(&self, rows: &[Row], as_stream: bool, out: impl Write) -> io::Result<()> {
        self.cells(rows).write_arrow(out, as_stream, &self.provenance())
    }

    /// Writes the table of `rows` to `out` as CSV.
    ///
    /// # Errors
    /// When `out` fails.
    pub fn write_csv(&self, rows: &[Row], out: impl Write) -> io::Result<()> {
        self.cells(rows).write_csv(out)
    }
}

impl Axis {
    /// The name of its column: its own, unless a result column has the same name.
    fn column(&self) -> &str {
        match self.name.as_str() {
            "messages" => "given_messages",
            "packets" => "given_packets",
            name => name,
        }
    }

    /// The type of its column.
    fn kind(&self) -> Kind {
        if self.values.iter().all(|value| value.as_u64().is_some()) {
            Kind::Signed64
        } else if self.values.iter().all(Value::is_number) {
            Kind::Float64
        } else {
            Kind::Text
        }
    }
}

fn cell(value: &Value, kind: Kind) -> Cell<'_> {
    match (value, kind) {
        (Value::String(text), _) => text.as_str().into(),
        (value, Kind::Text) => Cell::Text(value.to_string().into()),
        (value, _) => match value.as_u64() {
            Some(whole) => whole.into(),
            None => value.as_f64().map_or(Cell::Missing, Cell::from),
        },
    }
}

/// Sets a field of an experiment.
fn set(experiment: &mut Experiment, name: &str, value: &Value) -> Result<(), Error> {
    let wrong = |error: serde_json::Error| Error::Value { parameter: name.to_owned(), problem: error.to_string() };
    let of = |value: &Value| value.clone();
    match name {
        "machine" => {
            let choice = match value {
                Value::Object(_) => MachineChoice {
                    description: serde_json::from_value(of(value)).map_err(wrong)?,
                    ..MachineChoice::default()
                },
                name => MachineChoice::named(serde_json::from_value::<String>(of(name)).map_err(wrong)?),
            };
            experiment.machine = MachineChoice { set: experiment.machine.set.clone(), ..choice };
        }
        "seed" => experiment.seed = Some(serde_json::from_value(of(value)).map_err(wrong)?),
        "engine" => experiment.engine = Some(serde_json::from_value(of(value)).map_err(wrong)?),
        "ranks" => {
            let ranks = serde_json::from_value(of(value)).map_err(wrong)?;
            experiment.jobs.iter_mut().for_each(|job| job.ranks = Some(ranks));
        }
        "placement" => {
            let placement: virtual_worlds::jobs::placement::Placement =
                serde_json::from_value(of(value)).map_err(wrong)?;
            experiment.jobs.iter_mut().for_each(|job| job.placement = placement.clone());
        }
        field if one_job::is_named(field) => return one_job::set(&mut experiment.jobs, field, value),
        field if field.contains('.') => {
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            let setting = crate::Setting { field: field.to_owned(), value: text };
            experiment.machine.set.push(setting);
        }
        parameter => return set_parameter(&mut experiment.jobs, parameter, value),
    }
    Ok(())
}

/// Sets a parameter of all programs that have it.
fn set_parameter(jobs: &mut [Job], name: &str, value: &Value) -> Result<(), Error> {
    let mut is_known = false;
    for job in jobs.iter_mut() {
        let program = job.program.name();
        let mut parameters = parameters_of(&job.program);
        parameters.insert(name.to_owned(), value.clone());
        match Choice::read(program, parameters.clone()) {
            Some(Ok(choice)) => job.program = choice,
            _ if has(program, name) => job.program = Choice::named(program, parameters)?,
            _ => continue,
        }
        is_known = true;
    }
    if is_known { Ok(()) } else { Err(unknown(jobs, name)) }
}

/// Whether a program has a parameter. Asking takes longer than setting it.
fn has(program: &str, parameter: &str) -> bool {
    descriptions().iter().any(|it| it.name == program && it.has(parameter))
}

/// The error that nothing in an experiment is called `name`.
fn unknown(jobs: &[Job], name: &str) -> Error {
    let mut known: Vec<String> = FIELDS.map(str::to_owned).to_vec();
    let is_there = |program: &str| jobs.iter().any(|job| job.program.name() == program);
    let programs = descriptions().into_iter().filter(|it| is_there(it.name));
    known.extend(programs.flat_map(|it| it.parameters).map(|parameter| parameter.name));
    let program = jobs.first().map_or("the experiment", |job| job.program.name());
    Error::UnknownParameter { program, found: name.to_owned(), known }
}

/// The parameters of a program.
fn parameters_of(program: &Choice) -> Map<String, Value> {
    match json!(program) {
        Value::Object(choice) => {
            choice.into_iter().next().and_then(|(_, it)| it.as_object().cloned()).unwrap_or_default()
        }
        _ => Map::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A column is found by its name.
    #[test]
    fn no_parameter_has_the_name_of_a_result_column() {
        for parameter in descriptions().into_iter().flat_map(|program| program.parameters) {
            let axis = Axis { name: parameter.name, values: Vec::new() };
            assert!(FOUND.iter().all(|(found, _)| *found != axis.column()), "{}", axis.name);
        }
    }
}
