//! `maquette machine`: a machine as it is resolved.

use std::ffi::OsString;
use std::fmt::Display;

use clap::Args;
use machines::export;
use machines::facts::{NetworkFacts, Range, ZeroLoad};
use machines::model::{ControlNetwork, Machine};
use machines::{Facts, facts};

use super::CommandOutput;
use super::failure::Failure;
use super::settings::Settings;
use super::working;
use report::terminal::{Side, bytes_per_second, columns};

/// Show a machine as it is simulated: its parts, distances and latencies without load.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  maquette machine moc-3-2 --set buffers=4\n  \
                        maquette machine my/cluster.toml --dot | neato -n -Tsvg > cluster.svg\n  \
                        maquette machine infiniband-128 --toml > my/cluster.toml")]
pub(super) struct Arguments {
    /// A preset (`maquette machines` lists them) or a description: a name with a `/` in it or with the ending `.toml`.
    #[arg(value_name = "NAME|FILE")]
    machine: OsString,
    #[command(flatten)]
    settings: Settings,
    /// Print the network as GraphML, for NetworkX, Gephi or yEd.
    #[arg(long, conflicts_with_all = ["dot", "toml", "json"])]
    graphml: bool,
    /// Print the network for Graphviz.
    #[arg(long, conflicts_with_all = ["toml", "json"])]
    dot: bool,
    /// Print its description in TOML, for editing; that of a preset with its comments.
    #[arg(long, conflicts_with = "json")]
    toml: bool,
}

impl Arguments {
    pub(super) fn execute(self, as_json: bool) -> Result<CommandOutput, Failure> {
        if self.toml {
            return Ok(self.settings.describe(&self.machine)?.text()?.into());
        }
        let machine = self.settings.load(&self.machine)?;
        let text = working("working out what it is like", move || {
            Ok(if as_json {
                export::json(&machine)
            } else if self.graphml {
                export::graphml(&machine)
            } else if self.dot {
                export::dot(&machine)
            } else {
                described(&machine, &facts(&machine))
            })
        })?;
        Ok(text.into())
    }
}

/// A name and its value.
fn row(name: &str, value: impl Display) -> [String; 2] {
    [name.to_string(), value.to_string()]
}

fn described(machine: &Machine, facts: &Facts) -> String {
    let mut rows = vec![row("nodes", facts.nodes)];
    rows.extend(machine.model().in_words(&machine.node).into_iter().map(|(name, value)| row(name, value)));
    rows.extend(facts.network.iter().flat_map(network));
    rows.extend(machine.control_network.iter().map(control_network));
    let mut text = format!("{}\n\n", machine.title());
    text += &columns([Side::Left, Side::Left], &rows);
    if let Some(network) = &facts.network {
        text += "\nTimes through the empty network, from injection to the arrival of the tail:\n";
        text += &zero_load(&network.zero_load);
    }
    text
}

/// The network for broadcasts.
fn control_network(costs: &ControlNetwork) -> [String; 2] {
    let ControlNetwork { latency, rate, overhead } = costs;
    row("control network", format!("broadcasts at {rate}, {latency} later everywhere; {overhead} of a processor"))
}

fn network(facts: &NetworkFacts) -> Vec<[String; 2]> {
    let over = if facts.all_pairs { "over all pairs of nodes" } else { "over a sample of pairs of nodes" };
    let mut rows = vec![
        row("diameter", format!("{} channels, those from and to the nodes included", facts.diameter)),
        row("average distance", format!("{:.3} channels, {over}", facts.average_distance)),
    ];
    if let Some(bisection) = &facts.bisection {
        let rate = bytes_per_second(bisection.bytes_per_second);
        let known = if bisection.exact { "" } else { "; a narrower cut may exist" };
        let how = format!("{} channels one way, {rate}, halved {}{known}", bisection.channels, bisection.halved);
        rows.push(row("bisection", how));
    }
    rows
}

fn zero_load(times: &[ZeroLoad]) -> String {
    let mut rows = vec![["channels", "pairs of nodes", "empty packet", "full packet"].map(str::to_string)];
    for time in times {
        let full = time.full.map_or_else(|| "too long to compute".to_string(), range);
        rows.push([time.channels.to_string(), time.pairs.to_string(), range(time.empty), full]);
    }
    columns([Side::Right; 4], &rows)
}

fn range(range: Range) -> String {
    if range.least == range.most { range.least.to_string() } else { format!("{} to {}", range.least, range.most) }
}
