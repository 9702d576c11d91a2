//! `maquette postal`: the results of the postal model for a broadcast and for an all-reduce.

use clap::Args;
use collectives::postal::{Alpha, AlphaRange, Delay, Lambda, Steps, break_even, gamma};
use quantities::Duration;

use super::failure::Failure;
use super::quantity::{duration, whole};
use super::{CommandOutput, json};
use report::terminal::{Side, columns, rounded};
use tuning::theory::{MOST_NODES, Theory, first_nodes, name};

/// The most entries of a look-up table that the text shows.
const SHOWN: usize = 40;

/// Compute the fastest broadcast in the postal model, and its trees.
///
/// In the postal model every node can send a message and receive another at the same time. A sender is done with a
/// message after a step of duration t0; the receiver has it lambda steps after the send began.
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  maquette postal --lambda 1.8 --nodes 64 --alpha 0.58")]
pub(super) struct Arguments {
    /// The latency of a message in steps: a number such as 1.8, or a fraction such as 9/5.
    #[arg(long, value_name = "L")]
    lambda: Lambda,
    /// How many nodes take part.
    #[arg(long, value_name = "N", value_parser = whole(2..=MOST_NODES))]
    nodes: u32,
    /// Also show the time of the tree in which a source always keeps this share of its nodes, from 0.5 to under 1.
    #[arg(long, value_name = "SHARE")]
    alpha: Option<Alpha>,
    /// The duration of a step; times are then also given in seconds.
    #[arg(long, value_name = "TIME", value_parser = duration)]
    t0: Option<Duration>,
}

impl Arguments {
    pub(super) fn execute(self, as_json: bool) -> Result<CommandOutput, Failure> {
        let Arguments { lambda, nodes, alpha, t0 } = self;
        let theory = Theory::of(lambda, nodes, alpha, t0)?;
        Ok(if as_json { json(&theory.json()) } else { Text(&theory).text() }.into())
    }
}

/// The output as text.
struct Text<'a>(&'a Theory);

impl Text<'_> {
    fn text(&self) -> String {
        let Theory { lambda, nodes, provenance, lower_bound, trees, range, .. } = self.0;
        let mut text = format!("lambda = {lambda}, {nodes} nodes\n{}\n", provenance.line());
        let mut rows = vec![
            ["gamma".to_string(), format!("{:.4}, the growth of a broadcast per step", gamma(*lambda))],
            ["lower bound".to_string(), self.time(*lower_bound)],
        ];
        rows.extend(trees.iter().map(|(name, time)| [name.clone(), self.beside_the_bound(*time)]));
        for delay in [Delay::Receive, Delay::Send] {
            // The last receive may come earlier than the rounds end.
            let bound = if delay == Delay::Receive { "at most " } else { "" };
            rows.push([
                format!("census, {}", name(delay)),
                format!("{bound}{}", self.time(delay.time(*lambda, *nodes))),
            ]);
        }
        if !lambda.is_whole() {
            let (even, quicker) = (break_even(lambda.floor()), name(Delay::for_latency(*lambda)));
            rows.push(["in the long run".to_string(), format!("{quicker}: lambda breaks even at {even:.3}")]);
        }
        rows.extend(range.as_ref().map(|range| ["alpha".to_string(), optimal(range)]));
        rows.push(["one alpha for all".to_string(), self.one_for_all()]);
        text += &columns([Side::Left, Side::Left], &rows);
        text += &self.table_text();
        text
    }

    fn time(&self, time: Steps) -> String {
        let in_seconds = self.0.t0.map(|t0| format!(", {}", rounded(time.of(t0))));
        format!("{time} steps{}", in_seconds.unwrap_or_default())
    }

    fn beside_the_bound(&self, time: Steps) -> String {
        let more = 100.0 * (time.as_f64() / self.0.lower_bound.as_f64() - 1.0);
        if time == self.0.lower_bound { self.time(time) } else { format!("{}, {more:.1}% more", self.time(time)) }
    }

    fn one_for_all(&self) -> String {
        match self.0.for_all {
            Some((least, most)) => {
                format!("{} serves 2 to {} nodes", shares(least.as_f64(), most.as_f64()), self.0.nodes)
            }
            None => format!("none serves 2 to {} nodes", self.0.nodes),
        }
    }

    fn table_text(&self) -> String {
        let entries = self.0.table.entries();
        let mut rows = vec![["nodes", "alpha", "from", "to"].map(str::to_string)];
        let share = |alpha: Alpha| format!("{:.6}", alpha.as_f64());
        for (entry, from) in entries.iter().zip(first_nodes(entries)).take(SHOWN) {
            let nodes = if from == entry.up_to { from.to_string() } else { format!("{from} to {}", entry.up_to) };
            rows.push([nodes, share(entry.alpha()), share(entry.least), share(entry.most)]);
        }
        let more = match entries.len().saturating_sub(SHOWN) {
            0 => String::new(),
            more => format!("and {more} more, with --json\n"),
        };
        let heading = match entries.len() {
            1 => "1 entry".to_string(),
            entries => format!("{entries} entries"),
        };
        let sides = [Side::Right; 4];
        format!("\nlook-up table of alphas, {heading}\n{}{more}", columns(sides, &rows))
    }
}

/// The alphas that are optimal for the nodes of a range.
fn optimal(range: &AlphaRange) -> String {
    let (fewest, most) = (range.partitions.fewest(), range.partitions.most());
    let kept = if fewest == most { fewest.to_string() } else { format!("{fewest} to {most}") };
    let shares = shares(range.lower().max(0.5), range.upper());
    format!("{shares}: the source keeps {kept} of {}", range.partitions.nodes())
}

fn shares(least: f64, most: f64) -> String {
    format!("{least:.4} to {most:.4}")
}
