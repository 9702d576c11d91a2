//! A simulated run: progress while it goes on, then what came out.

use std::path::Path;

use experiment::{Ended, Experiment};
use formats::interrupt;
use formats::output::WholeFile;
use virtual_worlds::stop::Stop;

use super::progress::Shown;
use super::summary;
use crate::failure::{Failure, warn};
use crate::{CommandOutput, working};

/// Runs `experiment` and says what came out.
pub(super) fn run(experiment: Experiment, as_json: bool) -> Result<CommandOutput, Failure> {
    let run = working("prepares the run", move || Ok(experiment.prepare()?))?;
    let (progress, mut shown) = Shown::new(run.expected_messages());
    let stop = Stop::NEVER.telling(progress);
    let ended = interrupt::unless_requested_while(move || run.run(stop), || shown.look());
    drop(shown);
    let ended: Ended = ended.ok_or(Failure::Interrupted)??;
    ended.warnings.iter().for_each(|warning| warn(warning));
    Ok(summary::said(&ended, as_json).into())
}

/// Writes `experiment` to the file `path`, for others to run.
pub(super) fn write(experiment: &Experiment, path: &Path) -> Result<CommandOutput, Failure> {
    let text = experiment.to_toml().map_err(|error| Failure::argument("--write-experiment", error, "other values"))?;
    let file = WholeFile::create(path)?;
    file.fill(text.as_bytes())?;
    Ok(format!("The experiment is in {}.\n", path.display()).into())
}
