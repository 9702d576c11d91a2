//! `maquette plan`: which algorithm is the quickest here?

use std::path::PathBuf;

use ::machines::model::Machine;
use clap::{Args, Subcommand};
use programs::postal::Lambda;
use programs::schedule::Order;
use quantities::{Bytes, Duration};
use serde_json::{Value, json};

use super::failure::Failure;
use super::progress::Bar;
use super::schedule_file::ScheduleFile;
use super::settings::Settings;
use super::sizes::size;
use super::terminal::{Side, columns, rounded};
use super::{Said, cores};
use crate::interrupt;
use crate::planner::{BUDGET, Plan, PlanWatch, Prediction, Question, Source, plan};
use crate::postal_clock::{exact_step, postal_machine};
use crate::simulate::waits_for_receivers;
use crate::traffic_matrix;

/// Say which algorithm is the quickest on a machine, by how much, and how far it is from the best there can be.
///
/// Every candidate is run on the machine's model, the most promising first, until a budget of work is used up. What is left
/// is estimated without contention, and said to be. Exit status 130 when it was interrupted: then more is estimated.
#[derive(Args, Debug)]
#[command(arg_required_else_help = true, disable_help_subcommand = true)]
#[command(after_help = "Example:\n  maquette plan broadcast --machine delta --ranks 64 --bytes 512")]
pub(super) struct Arguments {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Plan a broadcast: one rank has a message, and all shall have it.
    #[command(after_help = "Example:\n  maquette plan broadcast --machine delta --ranks 64 --bytes 512")]
    Broadcast(Collective),
    /// Plan a global combine (all-reduce): every rank has data, and all shall have their sum or the like.
    #[command(after_help = "Example:\n  maquette plan combine --lambda 1.3 --ranks 1000")]
    Combine(Collective),
    /// Plan an exchange: every rank has a message for every other, or for those that a traffic matrix says.
    #[command(after_help = "Example:\n  maquette plan exchange --machine cm5-32 --traffic halo.csv --write halo.goal")]
    Exchange(Exchange),
}

/// On what it shall be planned.
#[derive(Args, Debug)]
struct On {
    /// A preset (`maquette machines` lists them) or a description: a name with a `/` in it or with the ending `.toml`.
    #[arg(long, value_name = "NAME|FILE", required_unless_present = "lambda", conflicts_with = "lambda")]
    machine: Option<String>,
    /// In place of a machine, the postal model: a message is there so many times as long after it was sent as its sender
    /// needs for it; a number such as 1.8 or 9/5.
    #[arg(long, value_name = "L")]
    lambda: Option<Lambda>,
    #[command(flatten)]
    settings: Settings,
    /// How many ranks take part; all nodes of the machine, or as many as the traffic has, if left out.
    #[arg(long, value_name = "N")]
    ranks: Option<u32>,
    /// How much may be run, in millions of packets times channels that they cross; the rest is estimated.
    #[arg(long, value_name = "MILLIONS", default_value_t = (BUDGET / 1e6) as u32)]
    budget: u32,
}

/// A broadcast or a combine.
#[derive(Args, Debug)]
struct Collective {
    #[command(flatten)]
    on: On,
    /// Size of the message, or of what a rank has.
    #[arg(long, value_name = "B", default_value = "1024", value_parser = size)]
    bytes: Bytes,
}

/// An exchange.
#[derive(Args, Debug)]
struct Exchange {
    #[command(flatten)]
    on: On,
    /// Size of the message that every rank has for every other.
    #[arg(long, value_name = "B", value_parser = size, required_unless_present = "traffic")]
    bytes: Option<Bytes>,
    /// What each rank has for each other, a square matrix of bytes: FILE.csv, FILE.mtx (Matrix Market) or FILE.npy.
    #[arg(long, value_name = "FILE", conflicts_with = "bytes")]
    traffic: Option<PathBuf>,
    /// Write the schedule of the quickest to FILE.json (for `maquette run schedule`), FILE.goal (for `maquette run goal` and
    /// LogGOPSim) or FILE.xml (for MSCCL).
    #[arg(long, value_name = "FILE", requires = "traffic")]
    write: Option<PathBuf>,
}

impl Arguments {
    pub(super) fn execute(self, as_json: bool) -> Result<Said, Failure> {
        match self.what {
            What::Broadcast(Collective { on, bytes }) => {
                let (machine, ranks, budget) = on.prepare(None)?;
                said(&Question::Broadcast { ranks, bytes }, &machine, budget, None, as_json)
            }
            What::Combine(Collective { on, bytes }) => {
                let (machine, ranks, budget) = on.prepare(None)?;
                said(&Question::Combine { ranks, bytes }, &machine, budget, None, as_json)
            }
            What::Exchange(Exchange { on, bytes, traffic, write }) => {
                let pattern = traffic.map(|path| traffic_matrix::read(&path, Bytes(1))).transpose()?;
                let (machine, ranks, budget) = on.prepare(pattern.as_ref().map(|found| found.pattern.ranks()))?;
                let question = match pattern {
                    Some(found) => Question::Irregular(found.pattern),
                    None => Question::Complete { ranks, bytes: bytes.unwrap_or_default() },
                };
                said(&question, &machine, budget, write, as_json)
            }
        }
    }
}

impl On {
    /// The machine, how many ranks take part, and how much work the plan may take.
    fn prepare(self, from_traffic: Option<u32>) -> Result<(Machine, u32, f64), Failure> {
        let budget = f64::from(self.budget) * 1e6;
        let ranks = match (self.ranks, from_traffic) {
            (Some(ranks), Some(has)) if ranks != has => {
                return Err(Failure::argument("--ranks", ranks, format!("{has}, as many as the traffic has")));
            }
            (ranks, has) => ranks.or(has),
        };
        let machine = match (&self.machine, self.lambda) {
            (Some(name), _) => self.settings.load(name)?,
            (None, Some(lambda)) => postal_machine(lambda, exact_step(lambda))?,
            (None, None) => {
                return Err(Failure::argument("--machine", "nothing", "a machine, or --lambda for the postal model"));
            }
        };
        let is_network = matches!(machine.interconnect, ::machines::model::Interconnect::Flits(_));
        let ranks = ranks.or(is_network.then_some(machine.nodes));
        match ranks {
            Some(ranks) if (1..=machine.nodes).contains(&ranks) => Ok((machine, ranks, budget)),
            other => {
                let found = other.map_or("nothing".to_string(), |ranks| ranks.to_string());
                let allowed = format!("1 to {}, the nodes of {}", machine.nodes, machine.name);
                Err(Failure::argument("--ranks", found, allowed))
            }
        }
    }
}

fn said(
    question: &Question,
    machine: &Machine,
    budget: f64,
    write: Option<PathBuf>,
    as_json: bool,
) -> Result<Said, Failure> {
    let write = write.map(|path| ScheduleFile::create(&path, false)).transpose()?;
    let bar = Bar::new();
    let progress = |done: usize, of: usize| {
        bar.show(done as f64 / of.max(1) as f64, format!("{done} of {of} candidates"));
    };
    let watch = PlanWatch { progress: &progress, interrupted: interrupt::flag(), threads: cores() };
    let plan = plan(question, machine, budget, &watch)?;
    drop(bar);
    if let (Some(file), Some(first)) = (write, plan.predictions.first())
        && let Some((schedule, pacing)) = first.candidate.schedule()
    {
        let waits = waits_for_receivers(machine, question.bytes());
        let order = if waits { Order::Alternating } else { Order::SendFirst };
        let content = file.format.content(schedule, &first.candidate.name, pacing, order)?;
        file.fill(&content)?;
    }
    let text = if as_json { super::json(&object(question, machine, &plan)) } else { text(machine, &plan) };
    Ok(Said { text, status: if plan.interrupted { interrupt::STATUS } else { 0 } })
}

fn percent_over(time: Duration, least: Duration) -> f64 {
    (time.picoseconds() as f64 / (least.picoseconds() as f64).max(1.0) - 1.0) * 100.0
}

fn text(machine: &Machine, plan: &Plan) -> String {
    let Some(first) = plan.predictions.first() else {
        return format!("{} runs none of them.\n", machine.name);
    };
    let mut rows = vec![["algorithm", "time", "longer", "how"].map(str::to_string)];
    for Prediction { candidate, time, source } in &plan.predictions {
        let longer = percent_over(*time, first.time);
        let longer = if longer == 0.0 { String::new() } else { format!("{longer:+.1} %") };
        let how = if *source == Source::Simulated { "simulated" } else { "estimated" };
        rows.push([candidate.name.clone(), rounded(*time), longer, how.to_string()]);
    }
    let mut text = format!("The quickest on {}: {}, {}\n", machine.name, first.candidate.name, rounded(first.time));
    let over = percent_over(first.time, plan.bound.time);
    let reached = match over {
        ..-1.0 => format!("the quickest, which cuts its messages, is {:.1} % below", -over),
        -1.0..0.05 => "which the quickest reaches".to_string(),
        _ => format!("the quickest is {over:.1} % above"),
    };
    text += &format!("Lower bound: {}, {reached}\n", rounded(plan.bound.time));
    text += &format!("  {}\n\n", plan.bound.why);
    text += &columns([Side::Left, Side::Right, Side::Right, Side::Left], &rows);
    for (name, why) in &plan.left_out {
        text += &format!("\nLeft out: {name}: {why}\n");
    }
    text
}

fn object(question: &Question, machine: &Machine, plan: &Plan) -> Value {
    let prediction = |prediction: &Prediction| {
        json!({
            "algorithm": prediction.candidate.name,
            "time_ps": prediction.time.picoseconds(),
            "source": prediction.source,
        })
    };
    json!({
        "machine": machine.name,
        "ranks": question.ranks(),
        "bytes": question.bytes().0,
        "lower_bound_ps": plan.bound.time.picoseconds(),
        "lower_bound_from": plan.bound.why,
        "candidates": plan.predictions.iter().map(prediction).collect::<Vec<Value>>(),
        "left_out": plan.left_out.iter().map(|(name, why)| json!({"algorithm": name, "why": why})).collect::<Vec<Value>>(),
        "interrupted": plan.interrupted,
    })
}
