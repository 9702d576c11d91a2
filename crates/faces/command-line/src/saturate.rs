//! `maquette saturate`: the load at which a network saturates.

use std::path::PathBuf;

use ::machines::model::Machine;
use clap::Args;
use serde_json::json;
use virtual_worlds::flit::traffic::{Effort, Known, Load, Point, Search, Span, Verdict, check};

use super::choice::choice;
use super::failure::Failure;
use super::progress::Spinner;
use super::quantity::whole;
use super::traffic::Traffic;
use super::{CommandOutput, cores};
use experiment::EngineName as Engine;
use experiment::Provenance;
use experiment::open_loop::{deadlock, latency, network, search_json};
use formats::interrupt;
use formats::output::WholeFile;
use report::terminal::{Side, columns};
use report::{Axis, LineChart, Mark, Measure, Page, Series};

/// The widest bar of the drawing. [letters]
const BAR: f64 = 40.0;

/// Find the load at which a network saturates, and draw latency over load.
///
/// Loads are run until the highest that the network carries and the lowest that it does not are close. Each has the
/// verdict of `run traffic`. Loads that could not be distinguished from saturation within their budget lie between the
/// two and are listed. Ctrl-C ends the search early; what was found by then is printed.
#[derive(Args, Debug)]
#[command(
    after_help = "Example:\n  maquette saturate --machine booksim-mesh-8x8 --set buffers=4 --chart saturation.html"
)]
pub(super) struct Arguments {
    #[command(flatten)]
    traffic: Traffic,
    /// How close the two loads must be, as a share of the upper one.
    #[arg(long, value_name = "SHARE", default_value_t = 0.01, value_parser = precision)]
    precision: f64,
    /// The simulation engine; both give the same times.
    #[arg(long, value_name = "ENGINE", default_value = "fast", value_parser = choice::<Engine>())]
    engine: Engine,
    /// How many loads are run at the same time; as many as there are cores, if left out. The result does not depend on
    /// it.
    #[arg(long, value_name = "N", value_parser = whole(1..=u16::MAX))]
    threads: Option<u16>,
    /// Write a page with the chart to FILE.
    #[arg(long, value_name = "FILE")]
    chart: Option<PathBuf>,
}

/// Reads a share that is more than nothing and less than the whole.
fn precision(text: &str) -> Result<f64, String> {
    let allowed = "allowed is 0.0001 to 0.5";
    let share: f64 = text.parse().map_err(|_| allowed.to_string())?;
    if (0.0001..=0.5).contains(&share) { Ok(share) } else { Err(allowed.to_string()) }
}

impl Arguments {
    pub(super) fn execute(self, as_json: bool) -> Result<CommandOutput, Failure> {
        let machine = self.traffic.machine()?;
        let (network, traffic) = (network(&machine)?, self.traffic.open_loop(self.engine));
        let load = traffic.load(1.0)?;
        let experiment = traffic.provenance("saturate", &machine, json!({"precision": self.precision}))?;
        check(network, &load).map_err(experiment::Error::from)?;
        let chart = self.chart.as_deref().map(WholeFile::create).transpose()?;
        let spinner = Spinner::with_message("running the first loads");
        let show_known =
            |known: Known| spinner.show(format!("{} loads run, saturation {}", known.runs, span(&known.span)));
        let effort = Effort { precision: self.precision, threads: self.threads.map_or_else(cores, usize::from) };
        let search = traffic.search(network, &effort, &show_known, interrupt::flag())?;
        drop(spinner);
        if let Some(how) = deadlock(&search) {
            return Err(Failure::Program(endpoint::Error::Deadlock(how.to_string())));
        }
        if let Some(file) = chart {
            file.fill(page(&machine, &load, &search, &experiment).html().as_bytes())?;
        }
        let text = if as_json {
            super::json(&experiment.added_to(search_json(&machine, &load, &search)))
        } else {
            text(&machine, &load, &search, &experiment)
        };
        Ok(CommandOutput { text, status: if search.interrupted { interrupt::status() } else { 0 } })
    }
}

/// Where saturation lies, in words.
fn span(span: &Span) -> String {
    match (span.stable, span.saturated) {
        (Some(stable), Some(saturated)) => format!("between {stable:.5} and {saturated:.5} flits/node/cycle"),
        (None, Some(saturated)) => format!("below {saturated:.5} flits/node/cycle"),
        (Some(stable), None) => format!("above {stable:.5} flits/node/cycle"),
        (None, None) => "not known".to_string(),
    }
}

fn title(machine: &Machine, load: &Load) -> String {
    format!("{} traffic of {}-flit packets on {}", load.pattern, load.packet, machine.name)
}

fn text(machine: &Machine, load: &Load, search: &Search, experiment: &Provenance) -> String {
    let highest =
        search.points.iter().filter_map(|point| latency(&point.outcome)).map(|(mean, _)| mean).fold(0.0, f64::max);
    let mut rows = vec![["rate", "accepted", "latency", "99%", ""].map(str::to_string)];
    for Point { rate, outcome } in &search.points {
        let drawn = match latency(outcome) {
            Some((mean, high)) => {
                let bar = "#".repeat((BAR * mean / highest).round() as usize);
                [format!("{mean:.1}"), format!("{high:.1}"), bar]
            }
            None if outcome.verdict == Verdict::Undecided => [String::new(), String::new(), "not decided".to_string()],
            None => [String::new(), String::new(), "saturated".to_string()],
        };
        let [mean, high, bar] = drawn;
        rows.push([format!("{rate:.5}"), format!("{:.5}", outcome.accepted), mean, high, bar]);
    }
    let table = columns([Side::Right, Side::Right, Side::Right, Side::Right, Side::Left], &rows);
    let mut text = format!("{}\n{}\n{table}\n", title(machine, load), experiment.line());
    text += "Rates in flits/node/cycle; latency from birth to the arrival of the tail, in cycles";
    text += &search.points.first().map_or_else(String::new, |point| format!(" of {}", point.outcome.cycle));
    text += &format!(".\nSaturation is {}.\n", span(&search.span));
    text += &undecided(search);
    if let Some(Point { rate, outcome }) = &search.overload {
        text += &format!("At an offered rate of {rate:.5}, {:.5} is accepted.\n", outcome.accepted);
    }
    if search.interrupted {
        text += "The search was interrupted.\n";
    }
    text
}

/// Which rates near saturation remained undecided, in words.
fn undecided(search: &Search) -> String {
    let rates: Vec<String> = search.undecided().map(|rate| format!("{rate:.5}")).collect();
    match rates.as_slice() {
        [] => String::new(),
        [rate] => format!("The verdict at {rate} was not decided within its budget.\n"),
        [rates @ .., last] => {
            format!("The verdicts at {} and {last} were not decided within their budgets.\n", rates.join(", "))
        }
    }
}

/// A page with the chart.
fn page(machine: &Machine, load: &Load, search: &Search, experiment: &Provenance) -> Page {
    let line = |name: &str, mark, value: fn((f64, f64)) -> f64| Series {
        name: name.to_string(),
        mark,
        points: search.points.iter().filter_map(|point| Some((point.rate, value(latency(&point.outcome)?)))).collect(),
    };
    let chart = LineChart {
        title: "Latency over load".to_string(),
        x: Axis::linear("load [flits/node/cycle]", Measure::Plain).reaching(0.0),
        y: Axis::linear("latency [cycles]", Measure::Plain).reaching(0.0),
        series: vec![line("mean", Mark::full(0), |both| both.0), line("99%", Mark::full(1), |both| both.1)],
        baseline: None,
    };
    let legend = report::legend(&[("mean".to_string(), Mark::full(0)), ("99% of packets".to_string(), Mark::full(1))]);
    Page {
        title: title(machine, load),
        lead: format!("{}. Saturation is {}. {}", machine.about, span(&search.span), experiment.line()),
        sections: vec![legend, chart.draw()],
        foot: "Latency is from birth to the arrival of the tail. A cycle is the time in which a node can send a flit."
            .to_string(),
    }
}
