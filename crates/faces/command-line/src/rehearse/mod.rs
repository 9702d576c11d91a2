//! `maquette rehearse`: predicts the times of programs on a machine, then measures them, and says how good the
//! predictions were.

mod fit;
mod folder;
mod measured_before;
mod measuring;
mod over_mpi;
mod over_udp;
mod plan;
mod text;

use std::path::PathBuf;

use clap::Args;
use serde::{Deserialize, Serialize};
use tuning::rehearsal::{Judgement, Pass, Question, Rehearsal, Repeated};

use super::CommandOutput;
use super::failure::Failure;
use super::launch::Options;
use super::progress::Bar;
use experiment::Provenance;
use fit::{fit, predict};
use folder::Folder;
use measured_before::MeasuredBefore;
use measuring::Measuring;
use over_udp::OverUdp;
use plan::Plan;

/// Predict how long programs take on a machine, then measure them there, and compare.
///
/// FILE.toml names a description, what of it is to be fitted, a few small programs to fit it to, and programs whose
/// times are predicted. The first are measured on the hosts, and the description is fitted to them. The predictions are
/// written to FOLDER with their hash, before anything of them is measured. Then the hosts run what was predicted: the
/// outcome, and a page with it, are written to FOLDER. The regret of a prediction is the time of the algorithm
/// predicted to be the fastest over that of the one that is. Runs in which a rank lost its processor to another process
/// do not count; if the file has a reference program, it tells the states of the computer apart: there is a fit in
/// each, and runs in any other state do not count. All errors are said twice, over all runs and over those that count.
/// The exit status is 1 if more than a third do not: then nothing is decided.
///
/// With --mpi, all of this is done by rank 0 of those that mpiexec has started, and the others run what it tells them
/// to.
#[derive(Args, Debug)]
#[command(arg_required_else_help = true, mut_arg("repeat", |argument| argument.hide(true)))]
#[command(
    override_usage = "maquette rehearse <--local N|--hosts FILE|--mpi|--measured FOLDER> --out FOLDER [OPTIONS] FILE.toml",
    after_help = "Examples:\n  maquette rehearse --local 4 --out first rehearsal.toml\n  \
                  maquette rehearse --hosts hosts.txt --control 10.0.0.1:0 --out second rehearsal.toml\n  \
                  mpiexec -n 8 maquette rehearse --mpi --out third rehearsal.toml\n  \
                  maquette rehearse --measured first --out again rehearsal.toml\n\n\
                  rehearsal.toml:\n  \
                  machine.name = \"my/cluster.toml\"\n  \
                  fit.\"node.processor_send\" = \"1us..200us\"\n\n  \
                  [[measure]]\n  ranks = 2\n  program.ping-pong = { bytes = 64 }\n  over.bytes = [64, \"4 KiB\", \"64 KiB\"]\n\n  \
                  [[predict]]\n  program.broadcast = { bytes = 64 }\n  \
                  over = { ranks = [3, 4], algorithm = [\"binomial\", \"linear\"], bytes = [64, \"4 KiB\"] }"
)]
pub(super) struct Arguments {
    #[command(flatten)]
    options: Options,
    /// Where to write what was fitted, predicted and measured: a folder that is not there, or has no predictions.
    #[arg(long, value_name = "FOLDER")]
    out: PathBuf,
    /// Measure nothing, and take the times that the rehearsal in this folder has measured: what this version makes of
    /// them, which is no prediction, as they are known.
    #[arg(long, value_name = "FOLDER", conflicts_with_all = ["local", "hosts", "mpi"])]
    measured: Option<PathBuf>,
    /// What is rehearsed.
    #[arg(value_name = "FILE.toml")]
    file: PathBuf,
}

/// The processes on which programs are measured.
trait Processes {
    /// Checks that a program can run on them.
    fn check(&self, purpose: Purpose, question: &Question) -> Result<(), Failure>;
    /// Runs a program `warm_up` times, and `runs` times more; returns the latter.
    fn pass(&mut self, purpose: Purpose, question: &Question, warm_up: u32, runs: u32) -> Result<Pass, Failure>;
    /// The provenance of a rehearsal, completed with the facts about them.
    fn complete_provenance(&mut self, provenance: Provenance) -> Provenance;
}

/// What a program is measured for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Purpose {
    Fit,
    Comparison,
}

impl Arguments {
    pub(super) fn execute(self, as_json: bool) -> Result<CommandOutput, Failure> {
        if self.options.mpi {
            return over_mpi::on_all_ranks(&self.options, |processes| self.rehearse(processes, as_json));
        }
        if let Some(folder) = &self.measured {
            return self.rehearse(&mut MeasuredBefore::read(folder)?, as_json);
        }
        let mut processes = OverUdp::new(self.options.clone())?;
        self.rehearse(&mut processes, as_json)
    }

    fn rehearse(&self, processes: &mut dyn Processes, as_json: bool) -> Result<CommandOutput, Failure> {
        if self.options.repeat != 1 {
            return Err(Failure::argument("--repeat", self.options.repeat, "none: the file says it, with `repeat`"));
        }
        let (rehearsal, file) = Rehearsal::read(&self.file)?;
        let plan = Plan::new(&rehearsal, processes, self.measured.is_some())?;
        let folder = Folder::new(&self.out)?;
        let bar = Bar::new();
        let reference = plan.reference.as_ref().filter(|_| plan.runs_reference);
        let mut measuring = Measuring::new(processes, plan.repetitions, reference, &bar);
        let (measured, states) = measuring.measure_for_fit(&plan)?;
        let fits = fit(&plan, &measured, states.as_ref(), &bar)?;
        let predictions = predict(&fits, &plan, &bar)?;
        let hash = folder.write_predictions(&predictions)?;
        let (compared, again) =
            measuring.measure_for_comparison(&predictions, &plan.to_predict, &measured, states.as_ref())?;
        // What was measured before is the same each time it is read.
        let again = if self.measured.is_some() { Vec::new() } else { again };
        let repeated = measured.iter().zip(&again).filter_map(|(before, again)| Repeated::new(before, again)).collect();
        let unusual = measuring.unusual;
        drop(bar);
        let mut provenance = Provenance::of("rehearse").given(plan.repetitions_json(&hash));
        provenance.read(file);
        let provenance = processes.complete_provenance(provenance);
        let report = text::RehearsalReport {
            fits: &fits,
            fitted_to: &measured,
            hash: &hash,
            judgement: &Judgement::of(compared, repeated),
            unusual: &unusual,
            measured: self.measured.as_deref(),
        };
        folder.write_outcome(&report, &provenance)?;
        let text = if as_json { super::json(&report.json(&provenance)) } else { report.text(&self.out, &provenance) };
        Ok(CommandOutput { text, status: i32::from(!report.judgement.is_decided) })
    }
}

/// Checks that a program has at most `count` ranks, and says who has so many.
fn at_most(question: &Question, count: u32, source: &str) -> Result<(), Failure> {
    if question.ranks <= count {
        return Ok(());
    }
    let found = format!("{} for `{}`", question.ranks, question.what);
    Err(Failure::argument("ranks", found, format!("1 to {count}, {source}")))
}

/// The facts about a fit, in words.
fn fit_text(outcome: &tuning::calibrate::CalibrationOutcome) -> Vec<(String, String)> {
    let value = |estimate: &tuning::calibrate::Estimate| {
        let error = estimate.confidence.map(|half| format!(" \u{b1} {}", estimate.parameter.text_of_error(half)));
        let bound = if estimate.at_bound { ", at an end of its range" } else { "" };
        (estimate.parameter.name.clone(), format!("{}{}{bound}", estimate.text, error.unwrap_or_default()))
    };
    outcome.estimates.iter().map(value).collect()
}
