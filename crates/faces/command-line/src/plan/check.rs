//! `maquette plan check`: how good are the planner's picks?

use std::ffi::OsString;

use ::machines::model::Machine;
use clap::Args;
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::progress::Bar;
use crate::quantity::whole;
use crate::settings::noted;
use crate::{CommandOutput, cores, unless_interrupted};
use experiment::Provenance;
use experiment::parallel::{Watch, map};
use formats::interrupt;
use report::terminal::{Side, columns, rounded};
use tuning::planner::check::{Case, CaseResult, Places};
use tuning::planner::{BUDGET, Effort};

/// How near to the best a pick has to be.
const NEAR: f64 = 0.05;

/// Compare the planner's picks with the best of all algorithms, over random questions.
///
/// Machine, operation, number of ranks (at most 64), sizes and patterns are drawn. Each question is planned as usual;
/// then all that the plan has not run is run. A pick is good if it takes at most 5% longer than the best of all. Exit
/// status 1 when one is not. Ctrl-C ends it early, and keeps what is done.
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  maquette plan check --cases 200 --seed 1")]
pub(super) struct Arguments {
    /// How many questions.
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = whole(1..=100_000_u64))]
    cases: u64,
    /// The seed that they are drawn with.
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
    /// The machines to ask about: presets or descriptions. May be given more than once. If left out, all presets, and
    /// the postal model with random lambdas.
    #[arg(long = "machine", value_name = "NAME|FILE")]
    machines: Vec<OsString>,
    /// How much a plan may run, in millions of packets times channels that they cross; with 0 all picks are by
    /// estimates.
    #[arg(long, value_name = "MILLIONS", default_value_t = (BUDGET / 1e6) as u32, value_parser = whole(0..=u32::MAX))]
    budget: u32,
    /// How many questions are dealt with at once; as many as there are cores, if left out.
    #[arg(long, value_name = "N", value_parser = whole(1..=u16::MAX))]
    threads: Option<u16>,
}

/// A question and the result.
type AnsweredQuestion = (String, CaseResult);

impl Arguments {
    pub(super) fn execute(self, as_json: bool) -> Result<CommandOutput, Failure> {
        let places = self.places()?;
        let experiment = self.experiment(&places);
        let numbers: Vec<u64> = (0..self.cases).collect();
        let bar = Bar::new();
        let progress =
            |done: usize, _| bar.show(done as f64 / self.cases as f64, format!("{done} of {} questions", self.cases));
        let threads = self.threads.map_or_else(cores, usize::from);
        let watch = Watch { progress: &progress, interrupted: interrupt::flag(), threads };
        let answered = map(&numbers, &watch, |&number| self.answer(&places, number));
        drop(bar);
        // Questions not asked, or not answered, before an interruption are None.
        let answered = answered.into_iter().flatten().filter_map(Result::transpose);
        let answered = answered.collect::<endpoint::Result<Vec<AnsweredQuestion>>>()?;
        if answered.is_empty() {
            return Err(Failure::Interrupted);
        }
        let text = if as_json { json(&answered, &experiment) } else { text(&answered, self.cases, &experiment) };
        let missed = answered.iter().any(|(_, checked)| checked.loss() > NEAR);
        Ok(CommandOutput { text, status: if interrupt::requested() { interrupt::status() } else { i32::from(missed) } })
    }

    fn experiment(&self, places: &Places) -> Provenance {
        let machines: Vec<&str> = places.machines.iter().map(|machine| machine.name.as_str()).collect();
        let parameters = json!({
            "cases": self.cases, "machines": machines, "postal_model": places.postal, "budget_millions": self.budget,
        });
        let mut experiment = Provenance::of("plan check").seeded(self.seed, true).given(parameters);
        experiment.mark_random();
        places.machines.iter().for_each(|machine| experiment.add_machine(machine));
        experiment
    }

    /// The machines that are named, or all presets.
    fn places(&self) -> Result<Places, Failure> {
        let presets = || ::machines::presets().into_iter().map(|preset| preset.name.into()).collect();
        let names = if self.machines.is_empty() { presets() } else { self.machines.clone() };
        let machines = names.into_iter().map(load).collect::<Result<Vec<Machine>, Failure>>()?;
        if let Some(machine) = machines.iter().find(|machine| machine.nodes < 2) {
            let found = format!("{} with {} nodes", machine.name, machine.nodes);
            return Err(Failure::argument("--machine", found, "a machine with at least 2 nodes"));
        }
        Ok(Places { machines, postal: self.machines.is_empty() })
    }

    /// A question, and how good the pick for it is; nothing if interrupted before that was known.
    fn answer(&self, places: &Places, number: u64) -> endpoint::Result<Option<AnsweredQuestion>> {
        let case = Case::drawn(self.seed, number, places)?;
        let effort = Effort {
            budget: f64::from(self.budget) * 1e6,
            lambda: case.lambda,
            exhaustive: false,
            progress: &|_, _| {},
            interrupted: interrupt::flag(),
            threads: 1,
        };
        Ok(case.check(&effort)?.map(|checked| (case.to_string(), checked)))
    }
}

fn text(answered: &[AnsweredQuestion], cases: u64, experiment: &Provenance) -> String {
    let questions = answered.len();
    let mut worst: Vec<&AnsweredQuestion> = answered.iter().filter(|(_, checked)| checked.loss() > 0.0).collect();
    worst.sort_by(|one, other| other.1.loss().total_cmp(&one.1.loss()));
    let mut rows = vec![["longer by", "question", "pick", "time", "best", "time"].map(str::to_string)];
    for (question, checked) in worst.iter().take(10) {
        rows.push([
            format!("{:.2}%", 100.0 * checked.loss()),
            question.clone(),
            checked.pick.clone(),
            rounded(checked.time),
            checked.best.clone(),
            rounded(checked.least),
        ]);
    }
    let mut text = format!("{}\n", experiment.line());
    if !worst.is_empty() {
        let sides = [Side::Right, Side::Left, Side::Left, Side::Right, Side::Left, Side::Right];
        text += &format!("{}\n", columns(sides, &rows));
    }
    let near = answered.iter().filter(|(_, checked)| checked.loss() <= NEAR).count();
    let best = answered.len() - worst.len();
    let (simulated, all): (usize, usize) =
        answered.iter().fold((0, 0), |sums, (_, it)| (sums.0 + it.simulated, sums.1 + it.candidates));
    text += &format!(
        "{near} of {questions} picks are within {:.0}% of the best algorithm, {best} are the best.\n",
        100.0 * NEAR
    );
    let times: Vec<f64> = answered.iter().map(|(_, checked)| checked.planned_in.as_secs_f64()).collect();
    let longest = times.iter().copied().fold(0.0, f64::max);
    text += &format!(
        "The planner ran {simulated} of {all} algorithms; a plan took {:.2} s on average, {longest:.2} s at most.\n",
        times.iter().sum::<f64>() / questions as f64
    );
    if interrupt::requested() {
        text += &format!("Interrupted: these are {questions} of {cases} questions.\n");
    }
    text
}

fn json(answered: &[AnsweredQuestion], experiment: &Provenance) -> String {
    let case = |(question, checked): &AnsweredQuestion| {
        json!({
            "question": question,
            "pick": checked.pick,
            "pick_ps": checked.time.picoseconds(),
            "best": checked.best,
            "best_ps": checked.least.picoseconds(),
            "loss": checked.loss(),
            "algorithms": checked.candidates,
            "simulated": checked.simulated,
            "lower_bound_ps": checked.bound.picoseconds(),
        })
    };
    crate::json(&experiment.added_to(json!({
        "cases": answered.iter().map(case).collect::<Vec<Value>>(),
        "within_5_percent": answered.iter().filter(|(_, checked)| checked.loss() <= NEAR).count(),
    })))
}

/// The machine called `name`, or described in the file of that name.
fn load(name: OsString) -> Result<Machine, Failure> {
    let name = noted(&name)?;
    unless_interrupted(move || Ok(::machines::load(&name)?))
}
