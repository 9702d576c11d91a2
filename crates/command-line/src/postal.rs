//! `maquette postal`: what the postal model says of a broadcast and of an all-reduce.

use clap::Args;
use programs::postal::{
    Alpha, AlphaRange, AlphaTable, Delay, Entry, Lambda, Splitting, Steps, alpha_for_all, beta, break_even,
    broadcast_time, gamma, predicted_time,
};
use quantities::Duration;
use serde_json::{Value, json};

use super::failure::Failure;
use super::quantity::duration;
use super::{CommandOutput, json};
use experiment::Provenance;
use report::terminal::{Side, columns, rounded};

/// The most nodes: as many as the LogGP machine has.
const MOST_NODES: i64 = 1 << 20;
/// As many entries of a look-up table are shown to a person.
const SHOWN: usize = 40;

/// Say what the postal model says: how fast a broadcast can be, and which trees are.
///
/// In the postal model every node can send a message and receive another at once; a sender is done with a message after the
/// time t0, a step, and its receiver has it lambda steps after it was sent.
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  maquette postal --lambda 1.8 --nodes 64 --alpha 0.58")]
pub(super) struct Arguments {
    /// The latency of a message in steps: a number such as 1.8, or a fraction such as 9/5.
    #[arg(long, value_name = "L")]
    lambda: Lambda,
    /// How many nodes take part.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..=MOST_NODES))]
    nodes: u32,
    /// Also say how long the tree takes in which a source always keeps this share of its nodes, from 0.5 to under 1.
    #[arg(long, value_name = "SHARE")]
    alpha: Option<Alpha>,
    /// How long a step is; then times are given in seconds, too.
    #[arg(long, value_name = "TIME", value_parser = duration)]
    t0: Option<Duration>,
}

/// What is said.
struct Theory {
    experiment: Provenance,
    lambda: Lambda,
    nodes: u64,
    t0: Option<Duration>,
    lower_bound: Steps,
    /// Trees by name, with their times.
    trees: Vec<(String, Steps)>,
    range: Option<AlphaRange>,
    for_all: Option<(Alpha, Alpha)>,
    table: AlphaTable,
}

impl Arguments {
    pub(super) fn execute(self, as_json: bool) -> Result<CommandOutput, Failure> {
        let Arguments { lambda, nodes, alpha, t0 } = self;
        let (nodes_asked, nodes) = (nodes, u64::from(nodes));
        let table = AlphaTable::new(lambda, nodes);
        let tree = |splitting: Splitting| predicted_time(lambda, nodes, &splitting);
        let mut trees = vec![
            ("lambda tree".to_string(), tree(Splitting::Table(table.clone()))),
            ("binomial tree".to_string(), tree(Splitting::BINOMIAL)),
        ];
        trees.extend(alpha.map(|alpha| (format!("alpha {alpha}"), tree(Splitting::Fixed(alpha)))));
        let experiment = Provenance::of("postal").among(nodes_asked).given(json!({
            "lambda": lambda.to_string(),
            "alpha": alpha.map(Alpha::as_f64),
            "t0_ps": t0.map(Duration::picoseconds),
        }));
        let theory = Theory {
            experiment,
            lambda,
            nodes,
            t0,
            lower_bound: broadcast_time(lambda, nodes),
            trees,
            range: AlphaRange::new(lambda, nodes),
            for_all: alpha_for_all(lambda, nodes),
            table,
        };
        theory.check_times()?;
        Ok(if as_json { json(&theory.experiment.beside(theory.json())) } else { theory.text() }.into())
    }
}

impl Theory {
    /// Whether all times can be told.
    fn check_times(&self) -> Result<(), Failure> {
        let Some(t0) = self.t0 else { return Ok(()) };
        let census = [Delay::Receive, Delay::Send].map(|delay| delay.time(self.lambda, self.nodes));
        let times = self.trees.iter().map(|(_, time)| *time).chain(census).chain([self.lower_bound]);
        match times.max().filter(|longest| longest.of(t0) == Duration::LONGEST) {
            Some(longest) => {
                let allowed = format!("{longest} steps of it that picoseconds can count, 213 days");
                Err(Failure::argument("--t0", t0, allowed))
            }
            None => Ok(()),
        }
    }

    fn text(&self) -> String {
        let Theory { lambda, nodes, .. } = self;
        let mut text = format!("lambda = {lambda}, {nodes} nodes\n{}\n", self.experiment.line());
        let mut rows = vec![
            ["gamma".to_string(), format!("{:.4}, what a broadcast grows by in a step", gamma(*lambda))],
            ["lower bound".to_string(), self.time(self.lower_bound)],
        ];
        rows.extend(self.trees.iter().map(|(name, time)| [name.clone(), self.beside_the_bound(*time)]));
        for delay in [Delay::Receive, Delay::Send] {
            rows.push([format!("census, {}", name(delay)), self.time(delay.time(*lambda, *nodes))]);
        }
        if !lambda.is_whole() {
            let (even, quicker) = (break_even(lambda.floor()), name(Delay::for_latency(*lambda)));
            rows.push(["in the long run".to_string(), format!("{quicker}: lambda breaks even at {even:.3}")]);
        }
        rows.extend(self.range.map(|range| ["alpha".to_string(), optimal(&range)]));
        rows.push(["one alpha for all".to_string(), self.one_for_all()]);
        text += &columns([Side::Left, Side::Left], &rows);
        text += &self.table_text();
        text
    }

    fn time(&self, time: Steps) -> String {
        let in_seconds = self.t0.map(|t0| format!(", {}", rounded(time.of(t0))));
        format!("{time} steps{}", in_seconds.unwrap_or_default())
    }

    fn beside_the_bound(&self, time: Steps) -> String {
        let more = 100.0 * (time.as_f64() / self.lower_bound.as_f64() - 1.0);
        if time == self.lower_bound { self.time(time) } else { format!("{}, {more:.1}% more", self.time(time)) }
    }

    fn one_for_all(&self) -> String {
        match self.for_all {
            Some((least, most)) => {
                format!("{} serves 2 to {} nodes", shares(least.as_f64(), most.as_f64()), self.nodes)
            }
            None => format!("none serves 2 to {} nodes", self.nodes),
        }
    }

    fn table_text(&self) -> String {
        let entries = self.table.entries();
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

    fn json(&self) -> Value {
        let lambda = self.lambda;
        let entries = self.table.entries();
        let entry = |(entry, from): (&Entry, u64)| {
            let [least, alpha, most] = [entry.least, entry.alpha(), entry.most].map(Alpha::as_f64);
            json!({"from": from, "to": entry.up_to, "alpha": alpha, "least": least, "most": most})
        };
        json!({
            "lambda": lambda.as_f64(),
            "u": lambda.scaled(),
            "f": lambda.scale(),
            "nodes": self.nodes,
            "t0_ps": self.t0.map(Duration::picoseconds),
            "gamma": gamma(lambda),
            "beta": beta(lambda),
            "break_even": break_even(lambda.floor()),
            "lower_bound_steps": self.lower_bound.as_f64(),
            "trees": self.trees.iter().map(|(name, time)| json!({"name": name, "steps": time.as_f64()})).collect::<Vec<Value>>(),
            "delay_receive_steps": Delay::Receive.time(lambda, self.nodes).as_f64(),
            "delay_send_steps": Delay::Send.time(lambda, self.nodes).as_f64(),
            "quicker_in_the_long_run": name(Delay::for_latency(lambda)),
            "alpha": self.range.map(|range| json!({
                "least": range.lower().max(0.5),
                "below": range.upper(),
                "kept_least": range.partitions.fewest(),
                "kept_most": range.partitions.most(),
            })),
            "one_alpha_for_all": self.for_all.map(|(least, most)| json!({"least": least.as_f64(), "most": most.as_f64()})),
            "table": entries.iter().zip(first_nodes(entries)).map(entry).collect::<Vec<Value>>(),
        })
    }
}

/// The fewest nodes that each entry is for.
fn first_nodes(entries: &[Entry]) -> impl Iterator<Item = u64> {
    std::iter::once(2).chain(entries.iter().map(|entry| entry.up_to + 1))
}

/// Which alphas are optimal for the nodes of a range.
fn optimal(range: &AlphaRange) -> String {
    let (fewest, most) = (range.partitions.fewest(), range.partitions.most());
    let kept = if fewest == most { fewest.to_string() } else { format!("{fewest} to {most}") };
    let shares = shares(range.lower().max(0.5), range.upper());
    format!("{shares}: the source keeps {kept} of {}", range.partitions.nodes())
}

fn shares(least: f64, most: f64) -> String {
    format!("{least:.4} to {most:.4}")
}

fn name(delay: Delay) -> &'static str {
    match delay {
        Delay::Receive => "delay-receive",
        Delay::Send => "delay-send",
    }
}
