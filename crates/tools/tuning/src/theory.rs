//! The results of the postal model for a broadcast and an all-reduce, as data.

use collectives::postal::{
    Alpha, AlphaRange, AlphaTable, Delay, Entry, Lambda, Splitting, Steps, alpha_for_all, beta, break_even,
    broadcast_time, gamma, predicted_time,
};
use experiment::{Error, Provenance};
use quantities::{Duration, Time};
use serde_json::{Value, json};

/// The most nodes: as many as the LogGP machine has.
pub const MOST_NODES: u32 = 1 << 20;

/// The results of the postal model.
#[derive(Clone, Debug)]
pub struct Theory {
    /// The question.
    pub provenance: Provenance,
    /// The latency of a message in steps.
    pub lambda: Lambda,
    /// How many nodes take part.
    pub nodes: u64,
    /// The length of a step, if known.
    pub t0: Option<Duration>,
    /// The lower bound on the time of a broadcast.
    pub lower_bound: Steps,
    /// Trees by name, with their times.
    pub trees: Vec<(String, Steps)>,
    /// The shares that a source can keep so that the tree is optimal.
    pub range: Option<AlphaRange>,
    /// The shares that are optimal for any number of nodes up to these.
    pub for_all: Option<(Alpha, Alpha)>,
    /// The optimal share for each number of nodes.
    pub table: AlphaTable,
}

impl Theory {
    /// The results for `nodes` nodes; also for a tree in which a source always keeps the share `alpha`; and also in
    /// seconds, if a step is `t0`.
    ///
    /// # Errors
    /// Too few or too many nodes; a `t0` with which a time can't be represented.
    pub fn of(lambda: Lambda, nodes: u32, alpha: Option<Alpha>, t0: Option<Duration>) -> Result<Theory, Error> {
        if !(2..=MOST_NODES).contains(&nodes) {
            return Err(Error::parameter("nodes", nodes, format!("2 to {MOST_NODES}")));
        }
        let provenance = Provenance::of("postal").among(nodes).given(json!({
            "lambda": lambda.to_string(),
            "alpha": alpha.map(Alpha::as_f64),
            "t0_ps": t0.map(Duration::picoseconds),
        }));
        let nodes = u64::from(nodes);
        let table = AlphaTable::new(lambda, nodes);
        let tree = |splitting: Splitting| predicted_time(lambda, nodes, &splitting);
        let mut trees = vec![
            ("lambda tree".to_owned(), tree(Splitting::Table(table.clone()))),
            ("binomial tree".to_owned(), tree(Splitting::BINOMIAL)),
        ];
        trees.extend(alpha.map(|alpha| (format!("alpha {alpha}"), tree(Splitting::Fixed(alpha)))));
        let theory = Theory {
            provenance,
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
        Ok(theory)
    }

    /// Checks that all times can be represented.
    fn check_times(&self) -> Result<(), Error> {
        let Some(t0) = self.t0 else { return Ok(()) };
        let census = [Delay::Receive, Delay::Send].map(|delay| delay.time(self.lambda, self.nodes));
        let times = self.trees.iter().map(|(_, time)| *time).chain(census).chain([self.lower_bound]);
        match times.max().filter(|longest| longest.of(t0) == Duration::LONGEST) {
            Some(longest) => {
                let allowed = format!("{longest} steps of it that picoseconds can count, {} days", Time::NEVER.days());
                Err(Error::parameter("t0", t0, allowed))
            }
            None => Ok(()),
        }
    }

    /// The results as a JSON object, with the question.
    pub fn json(&self) -> Value {
        let lambda = self.lambda;
        let entries = self.table.entries();
        let entry = |(entry, from): (&Entry, u64)| {
            let [least, alpha, most] = [entry.least, entry.alpha(), entry.most].map(Alpha::as_f64);
            json!({"from": from, "to": entry.up_to, "alpha": alpha, "least": least, "most": most})
        };
        let object = json!({
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
        });
        self.provenance.added_to(object)
    }
}

/// The smallest number of nodes for each entry.
pub fn first_nodes(entries: &[Entry]) -> impl Iterator<Item = u64> {
    std::iter::once(2).chain(entries.iter().map(|entry| entry.up_to + 1))
}

/// The name of a way to take a census.
pub const fn name(delay: Delay) -> &'static str {
    match delay {
        Delay::Receive => "delay-receive",
        Delay::Send => "delay-send",
    }
}
