//! `maquette measure lambda`: the postal model's t0 and lambda over message size.

use std::ffi::OsString;
use std::path::PathBuf;

use ::machines::model::{Interconnect, Machine};
use clap::Args;
use programs::measure::{Experiment, MOST_PARTNERS, MOST_SAMPLES, Measured};
use quantities::{Bytes, Rank};
use serde_json::json;

use super::text::Outcome;
use crate::failure::Failure;
use crate::progress::Bar;
use crate::quantity::whole;
use crate::settings::Settings;
use crate::sizes::{Sizes, sizes};
use crate::{CommandOutput, cores};
use experiment::parallel::{Watch, map};
use formats::interrupt;
use formats::output::WholeFile;
use tuning::latency::{MeasureError, Survey};

/// Measure t0 and lambda, the two parameters of the postal model, over message size.
///
/// A rank sends to k others, one after the other. In the first experiment the last of them answers, and it takes
/// T = t0 (k - 1 + 2 lambda); in the second it sends to all others as well, and it takes T = 2 t0 (k - 1 + lambda).
/// Both are run with several k and several draws of partners, and lines are fitted to the times. What follows a figure
/// after +- is half the width of its interval of 95% confidence.
#[derive(Args, Debug)]
#[command(
    after_help = "Example:\n  maquette measure lambda --machine parsytec-cc-64 --bytes 8..65536 --report lambda.html"
)]
pub(super) struct Arguments {
    /// A preset (`maquette machines` lists them) or a description: a name with a `/` in it or with the ending `.toml`.
    #[arg(long, value_name = "NAME|FILE")]
    machine: OsString,
    #[command(flatten)]
    settings: Settings,
    /// Sizes of messages: the powers of two in a range, `8..64KiB`, or a list, `0,100,1000`.
    #[arg(long, value_name = "SIZES", default_value = "8..65536", value_parser = sizes)]
    bytes: Sizes,
    /// How many of the machine's nodes take part, from node 0; all, if left out.
    #[arg(long, value_name = "N", value_parser = whole(0..=u32::MAX))]
    nodes: Option<u32>,
    /// Who sends first.
    #[arg(long, value_name = "RANK", default_value_t = 0, value_parser = whole(0..=u32::MAX))]
    from: u32,
    /// The largest k, how many ranks are sent to; 8 or as many as there are, if left out.
    #[arg(long, value_name = "K", value_parser = whole(2..=MOST_PARTNERS))]
    partners: Option<u32>,
    /// How often partners are drawn for each k.
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = whole(1..=MOST_DRAWS))]
    draws: u32,
    /// The seed of draws and other random choices.
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
    /// How many experiments are run at once; as many as there are cores, if left out. The result does not depend on it.
    #[arg(long, value_name = "N", value_parser = whole(1..=u16::MAX))]
    threads: Option<u16>,
    /// Write a page with charts to FILE.
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
}

/// The most draws: with the most partners their times can still be fitted.
const MOST_DRAWS: u32 = MOST_SAMPLES as u32 / MOST_PARTNERS;
/// The largest k, if it is not given.
const DEFAULT_PARTNERS: u32 = 8;

impl Arguments {
    pub(super) fn execute(self, as_json: bool) -> Result<CommandOutput, Failure> {
        let machine = self.settings.load(&self.machine)?;
        let survey = self.survey(&machine)?;
        let report = self.report.as_deref().map(WholeFile::create).transpose()?;
        let threads = self.threads.map_or_else(cores, usize::from);
        let rows = measure(&machine, survey, &self.bytes.0, threads)?;
        let experiment = self.experiment(&machine, survey);
        let interrupted = rows.len() < self.bytes.0.len();
        let outcome = Outcome { machine, experiment, survey, interrupted, rows };
        if let Some(file) = report {
            file.fill(outcome.page().html().as_bytes())?;
        }
        let text = if as_json { outcome.json() } else { outcome.text() };
        Ok(CommandOutput { text, status: if outcome.interrupted { interrupt::status() } else { 0 } })
    }

    fn experiment(&self, machine: &Machine, survey: Survey) -> experiment::Provenance {
        let Survey { ranks, source, partners, draws, seed } = survey;
        let bytes: Vec<u64> = self.bytes.0.iter().map(|bytes| bytes.0).collect();
        let parameters = json!({"bytes": bytes, "from": source.0, "partners": partners, "draws": draws});
        let mut experiment = experiment::Provenance::of("measure lambda").on(machine).among(ranks).seeded(seed, true);
        experiment.mark_random();
        experiment.given(parameters)
    }

    /// The survey that runs the experiments, if it is possible.
    fn survey(&self, machine: &Machine) -> Result<Survey, Failure> {
        let allowed = || format!("3 to {}, the nodes of {}", machine.nodes, machine.name);
        if machine.nodes < 3 {
            let found = format!("{} with {} nodes", machine.name, machine.nodes);
            return Err(Failure::argument("--machine", found, "a machine with at least 3 nodes"));
        }
        let ranks = match (self.nodes, &machine.interconnect) {
            (Some(nodes), _) if nodes < 3 || nodes > machine.nodes => {
                return Err(Failure::argument("--nodes", nodes, allowed()));
            }
            (Some(nodes), _) => nodes,
            (None, Interconnect::Flits(_) | Interconnect::Ethernet(_)) => machine.nodes,
            // All of its nodes are equally far from each other: a few are as good as all.
            (None, Interconnect::LogGp(_)) => machine.nodes.min(self.from.max(MOST_PARTNERS).saturating_add(1)),
        };
        let partners = self.partners.unwrap_or(DEFAULT_PARTNERS.min(ranks - 1));
        if partners >= ranks {
            let allowed = format!("2 to {}, the ranks besides the one that sends first", ranks - 1);
            return Err(Failure::argument("--partners", partners, allowed));
        }
        if self.from >= ranks {
            return Err(Failure::argument("--from", self.from, format!("0 to {}", ranks - 1)));
        }
        Ok(Survey { ranks, source: Rank(self.from), partners, draws: self.draws, seed: self.seed })
    }
}

/// The results of both experiments for a size.
pub(super) struct Row {
    pub(super) bytes: Bytes,
    pub(super) one_answer: Measured,
    pub(super) all_answered: Measured,
}

/// The measurements for each size, up to an interruption.
fn measure(machine: &Machine, survey: Survey, sizes: &[Bytes], threads: usize) -> Result<Vec<Row>, Failure> {
    let both = |&bytes| [Experiment::OneAnswer, Experiment::AllAnswered].map(|experiment| (experiment, bytes));
    let pieces: Vec<(Experiment, Bytes)> = sizes.iter().flat_map(both).collect();
    let bar = Bar::new();
    let progress =
        |done: usize, _| bar.show(done as f64 / pieces.len() as f64, format!("{done} of {} experiments", pieces.len()));
    let watch = Watch { progress: &progress, interrupted: interrupt::flag(), threads };
    let measured = map(&pieces, &watch, |&(experiment, bytes)| survey.measure(machine, experiment, bytes));
    drop(bar);
    let mut rows = Vec::new();
    for (&bytes, both) in sizes.iter().zip(measured.chunks_exact(2)) {
        let [Some(one_answer), Some(all_answered)] = both else { break };
        rows.push(Row { bytes, one_answer: one_answer.clone()?, all_answered: all_answered.clone()? });
    }
    if rows.is_empty() { Err(Failure::Interrupted) } else { Ok(rows) }
}

impl From<MeasureError> for Failure {
    fn from(error: MeasureError) -> Failure {
        match error {
            MeasureError::Program(cause) => Failure::Program(cause),
            MeasureError::Fit { .. } => Failure::Measure(error),
        }
    }
}
