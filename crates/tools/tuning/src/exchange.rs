//! Exchanges of messages: what is to be sent, and the properties of its schedules.

use collectives::all_to_all::Irregular;
use collectives::schedule::{Measures, Pattern, Rule, Schedule};
use experiment::catalogue::Exchange;
use experiment::{Error, Provenance};
use formats::input::InputFile;
use formats::traffic_matrix::TrafficMatrix;
use machines::model::Machine;
use quantities::Bytes;
use serde_json::{Value, json};

use crate::planner::{Bound, busiest};

/// The default size of a message.
pub const DEFAULT_SIZE: Bytes = Bytes(256);
/// A decomposition is made by default only for patterns with at most this many messages.
const MOST_MESSAGES_TO_DECOMPOSE: usize = 20_000;

/// The messages to be sent.
#[derive(Clone, Debug)]
pub struct Messages {
    /// Their title.
    pub title: String,
    /// Which rank sends how much to which.
    pub pattern: Pattern,
    /// The size of each message, if they are a complete exchange.
    pub complete: Option<Bytes>,
    /// The file that they come from.
    pub file: Option<InputFile>,
}

impl Messages {
    /// The messages of a matrix read from a file, which contains the sizes or only marks that something is sent.
    ///
    /// # Errors
    /// If a size was requested although the matrix has sizes.
    pub fn of_matrix(
        title: String,
        (matrix, file): (TrafficMatrix, InputFile),
        requested: Option<Bytes>,
    ) -> Result<Messages, Error> {
        if let (true, Some(bytes)) = (matrix.has_sizes, requested) {
            return Err(Error::parameter("bytes", bytes, "none, as the matrix says how many bytes each message has"));
        }
        Ok(Messages { title, pattern: matrix.pattern, complete: None, file: Some(file) })
    }

    /// The messages of a complete exchange.
    ///
    /// # Errors
    /// Too few or too many ranks.
    pub fn complete(ranks: u32, bytes: Bytes) -> Result<Messages, Error> {
        let pattern = Pattern::complete(ranks, bytes)?;
        Ok(Messages { title: "an all-to-all".to_owned(), pattern, complete: Some(bytes), file: None })
    }

    /// Random messages: this many millionths of those of a complete exchange.
    ///
    /// # Errors
    /// Too few or too many ranks.
    pub fn random(ranks: u32, millionths: u64, bytes: Bytes, seed: u64) -> Result<Messages, Error> {
        let pattern = Pattern::random(ranks, millionths, bytes, seed)?;
        Ok(Messages { title: format!("random messages (seed {seed})"), pattern, complete: None, file: None })
    }

    /// `provenance` with the file that they come from, if any.
    pub fn read_by(&self, mut provenance: Provenance) -> Provenance {
        self.file.iter().for_each(|file| provenance.read(file.clone()));
        provenance
    }

    /// The schedule of `algorithm`.
    ///
    /// # Errors
    /// If the algorithm is for complete exchanges and this is none.
    pub fn schedule(&self, algorithm: Exchange) -> Result<Schedule, Error> {
        if let Some(schedule) = algorithm.schedule(&self.pattern) {
            return Ok(schedule);
        }
        match (algorithm, self.complete) {
            (Exchange::Forwarding(algorithm), Some(bytes)) => Ok(algorithm.schedule(self.pattern.ranks(), bytes)?),
            _ => {
                let found = format!("{} for {}", algorithm.name(), self.title);
                Err(Error::parameter("algorithm", found, "an algorithm for any messages, or an all-to-all"))
            }
        }
    }

    /// The algorithms for arbitrary messages whose schedules are made by default.
    pub fn algorithms(&self) -> impl Iterator<Item = Exchange> {
        let few = self.pattern.messages().len() <= MOST_MESSAGES_TO_DECOMPOSE;
        let for_any = |algorithm: &Exchange| !matches!(algorithm, Exchange::Forwarding(_));
        let quick = move |algorithm: &Exchange| few || *algorithm != Exchange::Irregular(Irregular::Birkhoff);
        Exchange::all().into_iter().filter(for_any).filter(quick)
    }
}

/// The name of a schedule.
#[derive(Clone, Debug)]
pub enum Name {
    /// That of the algorithm that made it.
    Algorithm(&'static str),
    /// That of its file.
    File(String),
}

impl Name {
    /// The name as text.
    pub fn text(&self) -> &str {
        match self {
            Name::Algorithm(name) => name,
            Name::File(name) => name,
        }
    }
}

/// The properties of a schedule.
#[derive(Clone, Debug)]
pub struct ScheduleSummary {
    /// Its name.
    pub name: Name,
    /// The number of ranks.
    pub ranks: u32,
    /// What may happen in a step.
    pub rule: Rule,
    /// Its measures.
    pub measures: Measures,
    /// How many ranks each branch below the root of a tree has.
    pub branch: u32,
    /// For each step, how many messages go through the root.
    pub crossings: Vec<usize>,
    /// The lower bound on the time of any schedule of these messages, on the given machine.
    pub bound: Option<Bound>,
}

impl ScheduleSummary {
    /// The properties of `schedule`, for a tree with `branch` ranks in each branch below the root.
    pub fn new(name: Name, schedule: &Schedule, branch: u32) -> ScheduleSummary {
        let (ranks, rule) = (schedule.ranks, schedule.rule);
        let (measures, crossings) = (schedule.measures(), schedule.root_crossings(branch));
        ScheduleSummary { name, ranks, rule, measures, branch, crossings, bound: None }
    }

    /// The same, with the lower bound on `machine`.
    pub fn on(self, machine: Option<&Machine>) -> ScheduleSummary {
        let Measures { most_messages_of_a_rank, most_bytes_of_a_rank, .. } = self.measures;
        let bound = |machine| busiest(machine, u64::from(most_messages_of_a_rank), most_bytes_of_a_rank);
        ScheduleSummary { bound: machine.map(bound), ..self }
    }

    /// How many times as long as the busiest rank's bytes the steps take, if the ranks stay in step and only bytes
    /// count.
    pub fn stretch(&self) -> f64 {
        let least = self.measures.most_bytes_of_a_rank.0;
        if least == 0 { 1.0 } else { self.measures.bytes_in_step.0 as f64 / least as f64 }
    }

    /// The most messages through the root in a step.
    pub fn most_crossings(&self) -> usize {
        self.crossings.iter().copied().max().unwrap_or(0)
    }

    /// The properties as a JSON object.
    pub fn json(&self) -> Value {
        let key = match self.name {
            Name::Algorithm(_) => "algorithm",
            Name::File(_) => "file",
        };
        json!({
            key: self.name.text(),
            "ranks": self.ranks,
            "rule": self.rule.name(),
            "steps": self.measures.steps,
            "carrying_steps": self.measures.carrying_steps,
            "least_steps": self.measures.least_steps,
            "messages": self.measures.messages,
            "transfers": self.measures.transfers,
            "total_bytes": self.measures.bytes.0,
            "bytes_in_step": self.measures.bytes_in_step.0,
            "most_bytes_of_a_rank": self.measures.most_bytes_of_a_rank.0,
            "branch": self.branch,
            "root_crossings": self.crossings,
            "lower_bound_ps": self.bound.as_ref().map(|bound| bound.time.picoseconds()),
        })
    }
}

/// How many of `ranks` ranks each branch below the root has in a tree like the CM-5's, with four branches a router: the
/// largest power of four below their number.
pub fn usual_branch(ranks: u32) -> u32 {
    std::iter::successors(Some(1_u32), |branch| branch.checked_mul(4)).take_while(|&it| it < ranks).last().unwrap_or(1)
}

/// How many ranks each branch below the root of the tree of `machine` has.
///
/// # Errors
/// If the network of the machine is not a tree, or it has fewer nodes than there are `ranks`.
pub fn branch_of(machine: &Machine, ranks: u32) -> Result<u32, Error> {
    let branch = root_branch(machine)?;
    if ranks > machine.nodes {
        let found = format!("{} with {} nodes", machine.name, machine.nodes);
        return Err(Error::parameter("machine", found, format!("a machine with at least {ranks} nodes, one a rank")));
    }
    Ok(branch)
}

/// How many nodes each branch below the root of the tree of `machine` has.
///
/// # Errors
/// If the network of the machine is not a tree.
pub fn root_branch(machine: &Machine) -> Result<u32, Error> {
    use machines::model::Interconnect::{Ethernet, Flits, LogGp};
    let branch = match &machine.interconnect {
        Flits(network) => network.branch(),
        LogGp(_) | Ethernet(_) => None,
    };
    let allowed = "a machine whose network is a tree: [topology.fat_tree] or clos";
    branch.ok_or_else(|| Error::parameter("machine", machine.name.as_str(), allowed))
}

/// The result of a check.
#[derive(Clone, Debug)]
pub struct CheckResult {
    /// What holds if nothing is wrong.
    pub right: &'static str,
    /// What is wrong.
    pub wrong: Option<String>,
}

/// Checks a schedule of `pattern`; only its steps if messages are forwarded, since then no pattern describes what it
/// moves.
pub fn check(schedule: &Schedule, pattern: Option<&Pattern>) -> CheckResult {
    let (right, checked) = match (pattern, schedule.rule) {
        (Some(pattern), Rule::OneEach) => {
            let right = "every message is sent once; no rank sends or receives twice in a step";
            (right, schedule.check(pattern))
        }
        (Some(pattern), Rule::ManyToOne) => {
            let right = "every message is sent once; in each step one rank receives, and none sends twice";
            (right, schedule.check(pattern))
        }
        (Some(pattern), Rule::ManyToMany) => {
            ("every message is sent once; in each step everything is begun at once", schedule.check(pattern))
        }
        (None, _) => {
            let right = "no rank sends or receives twice in a step; where forwarded messages end is not checked";
            (right, schedule.check_steps())
        }
    };
    CheckResult { right, wrong: checked.err().map(|error| error.to_string()) }
}
