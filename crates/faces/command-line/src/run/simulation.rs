//! A simulated run: progress while it goes on, then the result.

use std::path::{Path, PathBuf};

use experiment::catalogue::descriptions;
use experiment::{Error, Experiment, FinishedRun, Outputs, Run};
use formats::interrupt;
use formats::output::WholeFile;
use virtual_worlds::stop::Stop;

use super::progress::ProgressDisplay;
use super::summary;
use crate::failure::{Failure, warn};
use crate::{CommandOutput, working};

/// Names of MPI that are nearer to another name of ours than to the one that is meant.
const OF_MPI: [(&str, &str); 3] = [("bcast", "broadcast"), ("alltoallv", "all-to-all"), ("reduce", "all-reduce")];

/// The experiment in a file, with further options.
#[derive(Debug)]
pub(crate) struct FileOptions {
    pub(crate) path: PathBuf,
    /// Whether to also run each of its jobs by itself.
    pub(crate) alone: bool,
    /// What to write besides what the file asks for.
    pub(crate) write: Outputs,
}

/// Runs the experiment in a file.
pub(super) fn run_file(options: FileOptions, as_json: bool) -> Result<CommandOutput, Failure> {
    let FileOptions { path, alone, write: Outputs { report, svg, png, figure, critical_path, .. } } = options;
    let mut experiment = read(&path)?;
    experiment.alone |= alone;
    experiment.write.critical_path |= critical_path;
    experiment.write.report = report.or(experiment.write.report);
    experiment.write.svg = svg.or(experiment.write.svg);
    experiment.write.png = png.or(experiment.write.png);
    experiment.write.figure = figure.or(experiment.write.figure);
    let run = working("preparing the run", move || {
        experiment.prepare().map_err(|error| match error {
            // Not an option of the command line, but a field of the file.
            Error::Parameter { name, found, allowed } => {
                let problem = format!("{name}: found {found}; allowed is {allowed}");
                Error::Text { file: path.display().to_string(), place: None, problem }.into()
            }
            other => other.into(),
        })
    })?;
    simulate(run, as_json)
}

/// The experiment in the file `path`.
fn read(path: &Path) -> Result<Experiment, Failure> {
    check_name(path)?;
    Ok(Experiment::read(path)?)
}

/// Checks that `path` is the name of a file, and not a misspelt program.
pub(super) fn check_name(path: &Path) -> Result<(), Failure> {
    if path.extension().is_some_and(|ending| ending == "py") {
        let file = path.display().to_string();
        let allowed = format!("a function in it, such as {file}:farm");
        return Err(Failure::argument(file, "a file of Python without a function", allowed));
    }
    if path.extension().is_some_and(|ending| ending == "goal") {
        let file = path.display().to_string();
        let allowed = format!("the program that runs it: maquette run goal {file}");
        return Err(Failure::argument(file, "a GOAL schedule without a program", allowed));
    }
    if path.extension().is_some() || path.components().count() > 1 || path.exists() {
        return Ok(());
    }
    let names: Vec<&str> = descriptions().iter().map(|program| program.name).chain(["traffic"]).collect();
    let found = path.display().to_string();
    let of_mpi = OF_MPI.iter().find(|(name, _)| found.eq_ignore_ascii_case(name)).map(|(_, ours)| *ours);
    let meant = of_mpi.or_else(|| quantities::nearest(&found, names.iter().copied()));
    let meant = meant.map(|name| format!("; did you mean `{name}`?")).unwrap_or_default();
    let allowed = format!("the file of an experiment, or one of {}{meant}", names.join(", "));
    Err(Failure::argument("PROGRAM", found, allowed))
}

/// Runs `experiment` and reports the result.
pub(super) fn run(experiment: Experiment, as_json: bool) -> Result<CommandOutput, Failure> {
    let run = working("preparing the run", move || Ok(experiment.prepare()?))?;
    simulate(run, as_json)
}

fn simulate(run: Run, as_json: bool) -> Result<CommandOutput, Failure> {
    let (progress, mut shown) = ProgressDisplay::new(run.expected_messages());
    let stop = Stop::NEVER.with_progress(progress);
    let ended = interrupt::unless_requested_while(move || run.run(stop), || shown.update());
    drop(shown);
    let ended: FinishedRun = ended.ok_or(Failure::Interrupted)??;
    ended.warnings.iter().for_each(|warning| warn(warning));
    Ok(summary::summary(&ended, as_json).into())
}

/// Writes `experiment` to the file `path`, to be run later.
pub(super) fn write(experiment: &Experiment, path: &Path) -> Result<CommandOutput, Failure> {
    let text = experiment.to_toml().map_err(|error| Failure::argument("--write-experiment", error, "other values"))?;
    let file = WholeFile::create(path)?;
    file.fill(text.as_bytes())?;
    Ok(format!("The experiment is in {}.\n", path.display()).into())
}
