//! `maquette run traffic`: packets injected at a given rate, whether or not the network keeps up.

use std::cmp::Reverse;

use clap::Args;
use machines::model::{FlitNetwork, Machine};
use quantities::Duration;
use serde_json::json;
use virtual_worlds::flit::traffic::{Distribution, Estimate, Evidence, Load, Phase, Progress, TrafficOutcome, Verdict};

use super::summary::section;
use crate::CommandOutput;
use crate::choice::choice;
use crate::failure::Failure;
use crate::progress::Spinner;
use crate::traffic::Traffic;
use experiment::EngineName as Engine;
use experiment::Provenance;
use experiment::open_loop::{network, outcome_json, verdict};
use experiment::place;
use formats::interrupt;
use report::terminal::{Side, columns};

/// How many of the busiest channels the text shows.
const SHOWN: usize = 5;

/// Offer a network packets at a given rate: latency, accepted throughput.
///
/// A cycle is the time in which a node can send a flit. After a warm-up, the packets that are born during the
/// measurement count; traffic continues until the last of them has arrived.
///
/// A load is stable if, with 95% confidence from the means of 32 batches, what arrives is within 1% of what is offered,
/// neither the backlog nor the latency has a trend over the batches, and the mean latency is below the limit; it is
/// saturated if one of these is certainly not so. As long as neither is certain, another measurement follows, twice as
/// long. A load that is not decided within the budget, or in the requested measurement, is reported as not decided.
/// docs/NETWORK.md has the bounds. The exit status is 1 unless the load is stable.
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  maquette run traffic --machine booksim-mesh-8x8 --pattern transpose --rate 0.1")]
pub(crate) struct Arguments {
    #[command(flatten)]
    traffic: Traffic,
    /// How much each node sends: 1 is all that its channel carries. [flits/node/cycle]
    #[arg(long, value_name = "RATE")]
    rate: f64,
    /// The simulation engine; both give the same times.
    #[arg(long, value_name = "ENGINE", default_value = "fast", value_parser = choice::<Engine>())]
    engine: Engine,
}

impl Arguments {
    pub(super) fn execute(self, as_json: bool) -> Result<CommandOutput, Failure> {
        let machine = self.traffic.machine()?;
        let (network, traffic) = (network(&machine)?, self.traffic.open_loop(self.engine));
        let load = traffic.load(self.rate)?;
        let experiment = traffic.provenance("run traffic", &machine, json!({"rate": self.rate}))?;
        let spinner = Spinner::new();
        let mut watch = |progress: Progress| {
            spinner.show(progress_text(progress));
            !interrupt::requested()
        };
        let outcome = traffic.run(network, self.rate, &mut watch)?;
        drop(spinner);
        let status = match &outcome.verdict {
            Verdict::Interrupted => return Err(Failure::Interrupted),
            Verdict::Deadlocked(how) => return Err(Failure::Program(endpoint::Error::Deadlock(how.clone()))),
            Verdict::Stable => 0,
            Verdict::Saturated(_) | Verdict::Undecided => 1,
        };
        let text = if as_json {
            crate::json(&experiment.added_to(outcome_json(&machine, &load, &outcome)))
        } else {
            text(&machine, network, &load, &outcome, &experiment)
        };
        Ok(CommandOutput { text, status })
    }
}

fn progress_text(progress: Progress) -> String {
    let phase = match progress.phase {
        Phase::WarmUp => "warm-up",
        Phase::Measurement => "measurement",
        Phase::Drain => "drain",
    };
    format!("{phase}, {} cycles", progress.cycles)
}

fn text(
    machine: &Machine,
    network: &FlitNetwork,
    load: &Load,
    outcome: &TrafficOutcome,
    experiment: &Provenance,
) -> String {
    let Load { pattern, rate, packet, .. } = load;
    let mut text = format!("{pattern} traffic on {} (rate {rate}, packet {packet} flits)\n", machine.name);
    text += &format!("{}\n", experiment.line());
    let mut rows = vec![
        ["verdict".to_string(), verdict(&outcome.verdict)],
        ["offered".to_string(), format!("{:.5} flits/node/cycle", outcome.offered)],
        ["accepted".to_string(), format!("{:.5} flits/node/cycle", outcome.accepted)],
    ];
    rows.extend(outcome.evidence.iter().flat_map(evidence));
    rows.extend([
        ["cycle".to_string(), format!("{}, in which a node can send a flit", outcome.cycle)],
        ["cycles".to_string(), format!("{} warm-up, {} measured", outcome.warmed_up, outcome.measured)],
    ]);
    text += &columns([Side::Left, Side::Left], &rows);
    if let Some(packets) = &outcome.packets {
        text += &format!("\n{} packets, {:.2} channels each\n", packets.latency.count, packets.hops);
        text += &latencies(outcome.cycle, &packets.latency, &packets.network_latency);
    }
    text + &busiest(network, outcome)
}

/// The evidence for the verdict.
fn evidence(evidence: &Evidence) -> [[String; 2]; 2] {
    let percent = |Estimate { value, margin }| {
        // Adding zero turns a negative zero, which looks odd, into zero.
        let rounded = (1e4 * value).round() / 1e2 + 0.0;
        format!("{rounded:.2}% \u{b1} {:.2}%", 100.0 * margin)
    };
    let growth = format!(
        "backlog {}, latency {} during the measurement",
        percent(evidence.backlog_growth),
        percent(evidence.latency_growth)
    );
    [
        ["deficit".to_string(), format!("{} of the offered rate", percent(evidence.deficit))],
        ["growth".to_string(), growth],
    ]
}

/// A table of latencies in cycles.
fn latencies(cycle: Duration, whole: &Distribution, network: &Distribution) -> String {
    let mut rows =
        vec![["latency [cycles]", "mean", "least", "50%", "90%", "95%", "99%", "99.9%", "most"].map(String::from)];
    let cycles = |picoseconds: f64| format!("{:.1}", picoseconds / cycle.picoseconds() as f64);
    let of = |length: Duration| cycles(length.picoseconds() as f64);
    for (name, spread) in [("from birth", whole), ("in the network", network)] {
        let [p50, p90, p95, p99, p999] = spread.percentiles.map(|(_, length)| of(length));
        let (mean, least, most) = (cycles(spread.mean), of(spread.least), of(spread.most));
        rows.push([name.to_string(), mean, least, p50, p90, p95, p99, p999, most]);
    }
    let mut sides = [Side::Right; 9];
    sides[0] = Side::Left;
    columns(sides, &rows)
}

fn busiest(network: &FlitNetwork, outcome: &TrafficOutcome) -> String {
    let mut used: Vec<(usize, f64)> = outcome.utilisation.iter().copied().enumerate().collect();
    used.retain(|(_, share)| *share > 0.0);
    // Shares of flits in thousandths of a percent: equal ones stay in the order of their numbers.
    used.sort_by_key(|(_, share)| Reverse((share * 1e5) as u64));
    let row = |&(id, share): &(usize, f64)| {
        let ends = network.channels[id];
        let way = format!("{} to {}", place(network, ends.from), place(network, ends.to));
        [id.to_string(), way, format!("{:.1}%", 100.0 * share)]
    };
    let rows: Vec<[String; 3]> = used.iter().take(SHOWN).map(row).collect();
    section("busiest channels", [Side::Right, Side::Left, Side::Right], ["id", "from and to", "busy"], rows)
}
