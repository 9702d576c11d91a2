//! `maquette rehearse`: predicts the times of programs on a machine, then measures them, and says how good the predictions were.

mod folder;
mod measured_before;
mod over_mpi;
mod over_udp;
mod text;

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::time::SystemTime;

use ::machines::model::Machine;
use clap::Args;
use quantities::Duration;
use report::terminal::counted;
use serde_json::json;
use tuning::calibrate::{Effort, Outcome};
use tuning::launched::Repetitions;
use tuning::rehearsal::{
    Comparison, Judgement, MeasuredProgram, Pass, Prediction, Predictions, Question, Rehearsal, Repeated, Runs,
    calibration, reasons, usual_reference,
};

use super::failure::Failure;
use super::launch::Options;
use super::progress::Bar;
use super::{CommandOutput, cores};
use experiment::Provenance;
use experiment::parallel::{Watch, map};
use folder::Folder;
use formats::interrupt;
use launch::wire::{Record, times};
use measured_before::MeasuredBefore;
use over_udp::OverUdp;

/// How often at most the measured times are simulated, each time with other values.
const EVALUATIONS: u32 = 2_000;

/// How often the reference program runs to warm up, and how often then.
const REFERENCE_RUNS: u32 = 9;

/// Predict how long programs take on a machine, then measure them there, and compare.
///
/// FILE.toml names a description, what of it is to be fitted, a few small programs to fit it to, and programs whose times are predicted.
/// The first are measured on the hosts, and the description is fitted to them. The predictions are written to FOLDER with their hash,
/// before anything of them is measured. Then the hosts run what was predicted: the outcome, and a page with it, are written to FOLDER. The regret
/// of a prediction is the time of the algorithm predicted to be the fastest over that of the one that is. Runs in which a rank lost its processor to another
/// process are left out.
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Purpose {
    Fit,
    Comparison,
}

/// A rehearsal that is about to begin: everything that a user can get wrong has been checked.
struct Ready<'a> {
    processes: &'a mut dyn Processes,
    repetitions: Repetitions,
    /// The program that runs between all others, unless they were measured before.
    reference: Option<Question>,
    folder: Folder,
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
        let description = rehearsal.machine.describe()?;
        let parameters = rehearsal.parameters()?;
        let (to_measure, to_predict) = (rehearsal.to_measure()?, rehearsal.to_predict()?);
        check(Purpose::Fit, &to_measure, processes)?;
        check(Purpose::Comparison, &to_predict, processes)?;
        let reference = rehearsal.reference()?;
        let tolerance = reference.as_ref().map(|reference| reference.1);
        let reference = reference.map(|reference| reference.0).filter(|_| self.measured.is_none());
        check(Purpose::Fit, reference.as_slice(), processes)?;
        let repetitions = rehearsal.repetitions()?;
        calibration(description.clone(), parameters.clone(), (&[], repetitions)).check_parameters()?;
        enough(to_measure.len(), parameters.len())?;
        check_predictable(&to_predict, &description.clone().resolve()?)?;
        let mut ready = Ready { processes, repetitions, reference, folder: Folder::new(&self.out)? };
        let bar = Bar::new();
        let mut measured = ready.measure_to_fit(&to_measure, &bar)?;
        let usual = usual_reference(measured.iter().map(|program| &program.1)).zip(tolerance);
        measured.iter_mut().for_each(|program| leave_out_other_states(&mut program.1, usual));
        let calibration = calibration(description, parameters, (&measured, repetitions));
        let fitted = calibration.fit(&effort(&|progress| text::show_fit(&bar, EVALUATIONS, progress)))?;
        let predictions = predict(&calibration.fitted_text(&fitted)?, (&to_predict, repetitions), &bar)?;
        let hash = ready.folder.write_predictions(&predictions)?;
        let (compared, again) = ready.compare_all((&to_predict, &to_measure), (&predictions, usual), &bar)?;
        // What was measured before is the same each time it is read.
        let again = if self.measured.is_some() { Vec::new() } else { again };
        let repeated = measured.iter().zip(&again).filter_map(|(before, again)| Repeated::new(before, again)).collect();
        drop(bar);
        let judgement = Judgement::of(compared, repeated);
        let mut provenance = Provenance::of("rehearse").given(json!({ "repeat": rehearsal.repeat, "warm_up": rehearsal.warm_up, "passes": rehearsal.passes, "blake3": hash }));
        provenance.read(file);
        let provenance = ready.processes.complete_provenance(provenance);
        let report = text::RehearsalReport {
            calibration: &calibration,
            fitted: &fitted,
            fitted_to: &measured,
            hash: &hash,
            judgement: &judgement,
            measured: self.measured.as_deref(),
        };
        ready.folder.write_outcome(&report, &provenance)?;
        Ok(if as_json { super::json(&report.json(&provenance)) } else { report.text(&self.out, &provenance) }.into())
    }
}

/// The runs after the first `warm_up` that the ranks of a program recorded.
fn pass_of(records: &[Record], warm_up: u32) -> Pass {
    let first = warm_up as usize;
    let times_ps: Vec<u64> = times(records).into_iter().skip(first).map(Duration::picoseconds).collect();
    let was_preempted = |run: usize| records.iter().any(|it| it.preempted.get(run).is_some_and(|&times| times > 0));
    let disturbed = (0..times_ps.len()).filter(|run| was_preempted(first + run)).collect();
    Pass { times_ps, disturbed, ..Pass::default() }
}

/// Checks that there are enough programs to fit to.
fn enough(programs: usize, fields: usize) -> Result<(), Failure> {
    if programs < fields {
        let allowed = format!("at least {fields}, one for each field");
        return Err(Failure::argument("measure", counted(programs, "program"), allowed));
    }
    Ok(())
}

/// Checks that there will be something to compare with measured times. Fields that are fitted are assumed not
/// to change which programs a machine can run.
fn check_predictable(questions: &[Question], machine: &Machine) -> Result<(), Failure> {
    let mut failed = Vec::new();
    for question in questions {
        let prediction = Prediction::of(question, machine, Repetitions::ONCE);
        if prediction.error.is_none() {
            return Ok(());
        }
        if interrupt::requested() {
            return Err(Failure::Interrupted);
        }
        failed.push(prediction);
    }
    let reasons: Vec<String> =
        reasons(&failed).iter().map(|(reason, count)| format!("{count} of them: {reason}")).collect();
    let found =
        format!("{}, of which none can be predicted ({})", counted(failed.len(), "program"), reasons.join("; "));
    Err(Failure::argument("predict", found, "at least one that the machine of the description can run"))
}

/// Checks that every program can run on these processes.
fn check(purpose: Purpose, questions: &[Question], processes: &dyn Processes) -> Result<(), Failure> {
    for question in questions {
        processes.check(purpose, question)?;
        question.experiment.prepare_for_real(question.ranks)?;
    }
    Ok(())
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

/// The times of the programs, each of which will run repeatedly, on the machine of the description.
fn predict(
    description: &str,
    (questions, repetitions): (&[Question], Repetitions),
    bar: &Bar,
) -> Result<Predictions, Failure> {
    let machine = machines::Description::parse(description, "fitted.toml")?.resolve()?;
    let interrupted: &AtomicBool = interrupt::flag();
    let progress = |done: usize, _| bar.show(done as f64 / questions.len() as f64, "predicting".to_owned());
    let watch = Watch { progress: &progress, interrupted, threads: cores() };
    let made = map(questions, &watch, |question| Prediction::of(question, &machine, repetitions));
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

impl Ready<'_> {
    /// The runs of all programs, each of which has its turn in every pass.
    fn measure_all(&mut self, programs: &[(Purpose, &Question)], bar: &Bar) -> Result<Vec<Runs>, Failure> {
        let mut all = vec![Runs::default(); programs.len()];
        let Repetitions { warm_up, .. } = self.repetitions;
        let passes: Vec<u32> = self.repetitions.runs_of_passes().collect();
        let mut before = self.reference_time()?;
        for (pass, &count) in passes.iter().enumerate() {
            for (place, (&(purpose, question), runs)) in programs.iter().zip(&mut all).enumerate() {
                let done = pass as f64 + place as f64 / programs.len() as f64;
                bar.show(done / passes.len() as f64, format!("running {}", question.what));
                let measured = self.processes.pass(purpose, question, warm_up, count)?;
                let after = self.reference_time()?;
                runs.push(match before.zip(after) {
                    Some((before, after)) => Pass { reference_ps: vec![before, after], ..measured },
                    None => measured,
                });
                before = after;
            }
        }
        Ok(all)
    }

    /// The median time of the reference program, if there is one. [ps]
    fn reference_time(&mut self) -> Result<Option<u64>, Failure> {
        let Some(reference) = &self.reference else { return Ok(None) };
        let mut runs = Runs::default();
        runs.push(self.processes.pass(Purpose::Fit, reference, REFERENCE_RUNS, REFERENCE_RUNS)?);
        Ok(runs.median().map(Duration::picoseconds))
    }

    /// Measures the times to which the description is fitted.
    fn measure_to_fit(&mut self, questions: &[Question], bar: &Bar) -> Result<Vec<MeasuredProgram>, Failure> {
        let programs: Vec<(Purpose, &Question)> = for_purpose(Purpose::Fit, questions).collect();
        Ok(questions.iter().cloned().zip(self.measure_all(&programs, bar)?).collect())
    }

    /// Measures what was predicted, and compares; also what was measured for the fit, once more.
    fn compare_all(
        &mut self,
        (predicted, fitted_to): (&[Question], &[Question]),
        (all, usual): (&Predictions, Option<(Duration, f64)>),
        bar: &Bar,
    ) -> Result<(Vec<Comparison>, Vec<Runs>), Failure> {
        let programs: Vec<(Purpose, &Question)> =
            for_purpose(Purpose::Comparison, predicted).chain(for_purpose(Purpose::Fit, fitted_to)).collect();
        let mut runs = self.measure_all(&programs, bar)?;
        runs.iter_mut().for_each(|runs| leave_out_other_states(runs, usual));
        let again = runs.split_off(predicted.len());
        let compared = all.predictions.iter().zip(runs);
        let compared = compared.filter_map(|(prediction, runs)| Comparison::new(prediction.clone(), runs)).collect();
        Ok((compared, again))
    }
}

/// Leaves out the runs beside which the reference program did not take its usual time, if there is one, within its tolerance.
fn leave_out_other_states(runs: &mut Runs, usual: Option<(Duration, f64)>) {
    if let Some((usual, tolerance)) = usual {
        runs.leave_out_other_states(usual, tolerance);
    }
}

fn for_purpose(purpose: Purpose, questions: &[Question]) -> impl Iterator<Item = (Purpose, &Question)> {
    questions.iter().map(move |question| (purpose, question))
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
