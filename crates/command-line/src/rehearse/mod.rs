//! `maquette rehearse`: predicts the times of programs on a machine, then measures them, and says how good the predictions were.

mod folder;
mod measured_before;
mod measuring;
mod over_mpi;
mod over_udp;
mod plan;
mod text;

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::time::SystemTime;

use clap::Args;
use serde::{Deserialize, Serialize};
use tuning::calibrate::{CalibrationError, Effort, Outcome};
use tuning::rehearsal::{Judgement, Pass, Prediction, Predictions, Question, Rehearsal, Repeated};

use super::failure::Failure;
use super::launch::Options;
use super::progress::Bar;
use super::{CommandOutput, cores};
use experiment::Provenance;
use experiment::parallel::{Watch, map};
use folder::Folder;
use formats::interrupt;
use measured_before::MeasuredBefore;
use measuring::Measuring;
use over_udp::OverUdp;
use plan::Plan;

/// How often at most the measured times are simulated, each time with other values.
const EVALUATIONS: u32 = 2_000;

/// Predict how long programs take on a machine, then measure them there, and compare.
///
/// FILE.toml names a description, what of it is to be fitted, a few small programs to fit it to, and programs whose times are predicted.
/// The first are measured on the hosts, and the description is fitted to them. The predictions are written to FOLDER with their hash,
/// before anything of them is measured. Then the hosts run what was predicted: the outcome, and a page with it, are written to FOLDER. The regret
/// of a prediction is the time of the algorithm predicted to be the fastest over that of the one that is. Runs in which a rank lost its processor to another
/// process are left out, and so are those beside which the reference program of the file, if it has one, took an unusual time.
///
/// With --mpi, all of this is done by rank 0 of those that mpiexec has started, and the others run what it tells them to.
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
    /// Measure nothing, and take the times that the rehearsal in this folder has measured: what this version makes of them, which is no
    /// prediction, as they are known.
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
        let mut measuring = Measuring::new(processes, plan.repetitions, plan.reference.as_ref(), &bar);
        let (measured, usual) = measuring.measure_for_fit(&plan)?;
        let calibration = plan.calibration(&measured);
        let fitted = calibration.fit(&effort(&|progress| text::show_fit(&bar, EVALUATIONS, progress)));
        let fitted = fitted.map_err(too_few_that_count)?;
        let predictions = predict(&calibration.fitted_text(&fitted)?, &plan, &bar)?;
        let hash = folder.write_predictions(&predictions)?;
        let (compared, again) = measuring.measure_for_comparison(&plan, &predictions, usual)?;
        // What was measured before is the same each time it is read.
        let again = if self.measured.is_some() { Vec::new() } else { again };
        let repeated = measured.iter().zip(&again).filter_map(|(before, again)| Repeated::new(before, again)).collect();
        let unusual = measuring.unusual;
        drop(bar);
        let mut provenance = Provenance::of("rehearse").given(plan.repetitions_json(&hash));
        provenance.read(file);
        let provenance = processes.complete_provenance(provenance);
        let report = text::RehearsalReport {
            calibration: &calibration,
            fitted: &fitted,
            fitted_to: &measured,
            hash: &hash,
            judgement: &Judgement::of(compared, repeated),
            unusual: &unusual,
            measured: self.measured.as_deref(),
        };
        folder.write_outcome(&report, &provenance)?;
        Ok(if as_json { super::json(&report.json(&provenance)) } else { report.text(&self.out, &provenance) }.into())
    }
}

/// The error if so many runs do not count that fewer programs were measured for the fit than there are fields.
fn too_few_that_count(error: CalibrationError) -> Failure {
    match error {
        CalibrationError::TooFew { times, parameters } => {
            let found = format!("{times} of the programs with runs that count");
            Failure::argument("measure", found, format!("at least {parameters}, one for each field of `fit`"))
        }
        error => error.into(),
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

/// A fit that uses all cores, until interrupted.
fn effort<'a>(progress: &'a (dyn Fn(tuning::calibrate::Progress) + Sync)) -> Effort<'a> {
    Effort { evaluations: EVALUATIONS, threads: cores(), interrupted: interrupt::flag(), progress }
}

/// The times of the programs to predict on the machine of the description.
fn predict(description: &str, plan: &Plan, bar: &Bar) -> Result<Predictions, Failure> {
    let questions = &plan.to_predict;
    let machine = machines::Description::parse(description, "fitted.toml")?.resolve()?;
    let interrupted: &AtomicBool = interrupt::flag();
    let progress = |done: usize, _| bar.show(done as f64 / questions.len() as f64, "predicting".to_owned());
    let watch = Watch { progress: &progress, interrupted, threads: cores() };
    let made = map(questions, &watch, |question| Prediction::of(question, &machine, plan.repetitions));
    Ok(Predictions {
        version: env!("MAQUETTE_VERSION").to_owned(),
        made_at_s: seconds_since_1970(),
        description: description.to_owned(),
        predictions: made.into_iter().collect::<Option<_>>().ok_or(Failure::Interrupted)?,
    })
}

#[expect(
    clippy::disallowed_methods,
    reason = "it is written down when a prediction was made; nothing simulated follows from it"
)]
fn seconds_since_1970() -> u64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

/// The facts about a fit, in words.
fn fit_text(outcome: &Outcome) -> Vec<(String, String)> {
    let value = |estimate: &tuning::calibrate::Estimate| {
        let error = estimate.confidence.map(|half| format!(" \u{b1} {}", estimate.parameter.text_of_error(half)));
        let bound = if estimate.at_bound { ", at an end of its range" } else { "" };
        (estimate.parameter.name.clone(), format!("{}{}{bound}", estimate.text, error.unwrap_or_default()))
    };
    outcome.estimates.iter().map(value).collect()
}
