//! What is known about a sweep before its first point runs: the digests of its files, and whether its machines have the
//! swept fields.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use formats::input::{self, DigestingReader, InputFile};
use quantities::Bytes;
use serde_json::Value;

use super::{Axis, one_job, parameters_of, set};
use crate::catalogue::{Choice, Description, descriptions};
use crate::{Error, Experiment, FilePath, MachineChoice};

/// The longest file of which a digest is taken.
const LONGEST: Bytes = Bytes(1 << 40);

/// Checks that each axis can be applied to the experiment `first`, the one at the first point; returns the files that
/// the points read, sorted by path.
///
/// # Errors
/// A machine that does not exist; a field that none of the machines has; a file that can't be read.
pub(super) fn check(first: &Experiment, axes: &[Axis]) -> Result<Vec<InputFile>, Error> {
    let machines = machines_of(first, axes)?;
    machines.iter().try_for_each(check_existence)?;
    check_settings(&machines)?;
    let mut files = Files::default();
    machines.iter().try_for_each(|machine| files.of_machine(machine))?;
    files.of_programs(first)?;
    let descriptions = descriptions();
    let is_path = |axis: &str| {
        let name = if one_job::is_named(axis) { axis.rsplit('.').next().unwrap_or(axis) } else { axis };
        let of_first = |it: &&Description| first.jobs.iter().any(|job| job.program.name() == it.name);
        descriptions.iter().filter(of_first).flat_map(|it| &it.parameters).any(|it| it.is_path && it.name == name)
    };
    // No other parameter changes which files are read.
    for Axis { name, values } in axes.iter().filter(|axis| is_path(&axis.name)) {
        for value in values {
            let mut experiment = first.clone();
            set(&mut experiment, name, value)?;
            files.of_programs(&experiment)?;
        }
    }
    Ok(files.read.into_values().collect())
}

/// The machines of a sweep, with the settings of its first point; none where real ranks run it.
fn machines_of(first: &Experiment, axes: &[Axis]) -> Result<Vec<MachineChoice>, Error> {
    let Some(axis) = axes.iter().find(|axis| axis.name == "machine") else {
        let is_given = first.machine != MachineChoice::default();
        return Ok(is_given.then(|| first.machine.clone()).into_iter().collect());
    };
    let mut machines: Vec<MachineChoice> = Vec::new();
    for value in &axis.values {
        let mut experiment = first.clone();
        set(&mut experiment, &axis.name, value)?;
        machines.push(experiment.machine);
    }
    Ok(machines)
}

/// Checks that there is such a machine, whatever is set.
fn check_existence(machine: &MachineChoice) -> Result<(), Error> {
    let unchanged = MachineChoice { set: Vec::new(), ..machine.clone() };
    if unchanged.postal.is_some() { unchanged.load().map(drop) } else { unchanged.describe().map(drop) }
}

/// Checks that one of the `machines` has all fields that are set; otherwise, the error is that of the first.
fn check_settings(machines: &[MachineChoice]) -> Result<(), Error> {
    let mut unset = None;
    for machine in machines.iter().filter(|machine| !machine.set.is_empty()) {
        match machine.describe() {
            Err(error) => _ = unset.get_or_insert(error),
            Ok(_) => return Ok(()),
        }
    }
    unset.map_or(Ok(()), Err)
}

/// The files that were read, by path.
#[derive(Default)]
struct Files {
    read: BTreeMap<PathBuf, InputFile>,
}

impl Files {
    /// The description of a machine, if it is in a file.
    fn of_machine(&mut self, machine: &MachineChoice) -> Result<(), Error> {
        match machine.name.as_deref().filter(|name| machines::is_file_name(name)) {
            Some(path) => self.add(path, || digest(path)),
            None => Ok(()),
        }
    }

    /// The files of the programs of an experiment.
    fn of_programs(&mut self, experiment: &Experiment) -> Result<(), Error> {
        for program in experiment.jobs.iter().map(|job| &job.program) {
            let paths = paths_of(program);
            for path in &paths {
                match program {
                    Choice::Trace(trace) => self.add(path, || trace.digest())?,
                    _ => self.add(path, || digest(path))?,
                }
            }
        }
        Ok(())
    }

    fn add(&mut self, path: &Path, digest: impl FnOnce() -> Result<InputFile, Error>) -> Result<(), Error> {
        if !self.read.contains_key(path) {
            self.read.insert(path.to_path_buf(), digest()?);
        }
        Ok(())
    }
}

/// The paths among the parameters of a program.
fn paths_of(program: &Choice) -> Vec<FilePath> {
    let parameters = parameters_of(program);
    if !parameters.values().any(Value::is_string) {
        return Vec::new();
    }
    let description = descriptions().into_iter().find(|it| it.name == program.name());
    let names = description.into_iter().flat_map(|it| it.parameters).filter(|parameter| parameter.is_path);
    names.filter_map(|parameter| serde_json::from_value(parameters.get(&parameter.name)?.clone()).ok()).collect()
}

/// The digest of the plain file `path`.
fn digest(path: &Path) -> Result<InputFile, Error> {
    let unreadable = |cause| Error::Unreadable { path: path.to_path_buf(), cause };
    if path.exists() && !path.is_file() {
        let reason = "it is not a plain file, and every point of a sweep reads it";
        return Err(unreadable(io::Error::new(io::ErrorKind::InvalidInput, reason)));
    }
    let mut content = DigestingReader::new(input::open(path, LONGEST).map_err(unreadable)?);
    io::copy(&mut content, &mut io::sink()).map_err(unreadable)?;
    Ok(InputFile::digested(path, &content))
}
