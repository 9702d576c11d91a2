//! What broadcasts and global combines have in common.

use std::ffi::OsString;

use clap::{Args, ValueEnum};
use programs::catalogue::{Catalogue, Entry, Parameter, Parameters, Untold};
use programs::postal::{Alpha, Lambda, Steps, broadcast_time};
use programs::{Group, Sends};
use quantities::{Bytes, Duration, Rank};
use serde_json::{Map, Value, json};

use super::simulation::{Prepared, RunOptions};
use super::summary::Finding;
use crate::failure::Failure;
use crate::quantity::duration;
use crate::sizes::size;
use crate::terminal::rounded;
use experiment::postal_clock::{exact_step, postal_machine};

/// Who takes part, on what, with how much data.
#[derive(Args, Debug)]
pub(super) struct Collective {
    /// A preset (`maquette machines` lists them) or a description: a name with a `/` in it or with the ending `.toml`. If
    /// left out, the postal model with the latency --lambda: a message takes a step whatever its size, and nothing
    /// contends.
    #[arg(long, value_name = "NAME|FILE")]
    machine: Option<OsString>,
    /// How many of the machine's nodes take part, from node 0; all, if left out.
    #[arg(long, value_name = "N")]
    nodes: Option<u32>,
    /// The latency of a message in steps of t0, a number such as 1.8 or 9/5: that of the postal model, or what a tree for
    /// --machine is made for.
    #[arg(long, value_name = "L")]
    lambda: Option<Lambda>,
    /// How long a step is: after that a sender is done with a message. In the postal model a microsecond, if left out.
    #[arg(long, value_name = "TIME", value_parser = duration)]
    t0: Option<Duration>,
    /// In a tree by splitting, the share of its nodes that a source keeps for itself, from 0.5 to under 1; if left out,
    /// from the look-up table for --lambda.
    #[arg(long, value_name = "SHARE")]
    alpha: Option<Alpha>,
    /// Size of the message.
    #[arg(long, value_name = "B", default_value = "1024", value_parser = size)]
    pub(super) bytes: Bytes,
    /// Who comes first: the source of a broadcast.
    #[arg(long, value_name = "RANK", default_value_t = 0)]
    root: u32,
    /// In which order ranks come after it.
    #[arg(long, value_enum, default_value = "cyclic")]
    order: Order,
    #[command(flatten)]
    options: RunOptions,
}

/// In which order ranks are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Order {
    /// By number from the root on, then from 0: row by row on a mesh.
    Cyclic,
    /// At random, as the seed decides.
    Permuted,
}

/// A run whose algorithm is still to be chosen.
pub(super) struct CollectiveSetup {
    pub(super) prepared: Prepared,
    pub(super) group: Group,
    pub(super) bytes: Bytes,
    /// What the algorithm may be told.
    pub(super) told: Parameters,
    asked_t0: Option<Duration>,
    /// Whether ranks are in another order than that of their numbers.
    is_permuted: bool,
    /// Whether it runs in the postal model itself.
    pub(super) is_postal: bool,
    /// What it was given, to be said again.
    pub(super) parameters: Map<String, Value>,
}

impl Collective {
    /// Checks it.
    pub(super) fn prepare(self) -> Result<CollectiveSetup, Failure> {
        let Collective { machine, nodes, lambda, t0, alpha, bytes, root, order, options } = self;
        if t0.is_some_and(Duration::is_zero) {
            return Err(Failure::argument("--t0", "0", "more than no time"));
        }
        let seed = options.seed();
        let is_postal = machine.is_none();
        let asked_t0 = t0;
        let (mut prepared, t0) = match (machine, lambda) {
            (Some(name), _) => (options.prepare_on(&name, nodes)?, t0),
            (None, Some(lambda)) => {
                let t0 = t0.unwrap_or_else(|| exact_step(lambda));
                (options.prepare_built(postal_machine(lambda, t0)?, nodes)?, Some(t0))
            }
            (None, None) => {
                return Err(Failure::argument("--machine", "nothing", "a machine, or --lambda for the postal model"));
            }
        };
        let group = match order {
            Order::Cyclic => Group::from_source(Rank(root), prepared.ranks)?,
            Order::Permuted => {
                prepared.experiment.draws();
                Group::permuted(Rank(root), prepared.ranks, seed)?
            }
        };
        let mut parameters = Map::new();
        parameters.insert("bytes".to_owned(), json!(bytes.0));
        parameters.insert("root".to_owned(), json!(root));
        if order == Order::Permuted {
            parameters.insert("order".to_owned(), json!("permuted"));
        }
        let is_permuted = order == Order::Permuted;
        let told = Parameters { lambda, t0, alpha, ..Parameters::of(group.len()) };
        Ok(CollectiveSetup { prepared, group, bytes, told, asked_t0, is_postal, is_permuted, parameters })
    }
}

impl CollectiveSetup {
    /// The algorithm that was chosen, or the usual one.
    pub(super) fn chosen<A: Catalogue>(
        &self,
        asked: Option<&'static Entry<A>>,
        usual: &str,
    ) -> Result<&'static Entry<A>, Failure> {
        asked.or_else(|| A::by_name(usual)).ok_or_else(|| {
            let known = format!("one of {}", A::names().join(", "));
            Failure::argument("--algorithm", usual, known)
        })
    }

    /// The algorithm, told what it has to be told. That is said again; what it has made no use of is not allowed.
    pub(super) fn algorithm<A: Catalogue>(&mut self, entry: &Entry<A>) -> Result<A, Failure> {
        let told = &mut self.told;
        let algorithm = (entry.make)(told)
            .map_err(|Untold { parameter, chosen }| untold(parameter, chosen.unwrap_or(entry.name)))?;
        self.check_used(algorithm.name())?;
        let told = &self.told;
        let used = |parameter: Parameter, value: Value| (told.has_used(parameter), parameter.name(), value);
        let values = [
            used(Parameter::Alpha, json!(told.alpha.map(Alpha::as_f64))),
            used(Parameter::Lambda, json!(told.lambda.map(|lambda| lambda.to_string()))),
            used(Parameter::T0, json!(told.t0.map(|t0| t0.to_string()))),
            used(Parameter::Segment, json!(told.segment.map(|segment| segment.0))),
        ];
        for (_, name, value) in values.into_iter().filter(|(used, ..)| *used) {
            self.parameters.insert(name.to_owned(), value);
        }
        self.parameters.insert("algorithm".to_owned(), json!(algorithm.name()));
        Ok(algorithm)
    }

    /// Says whether the algorithm makes use of --alpha, --lambda and --t0, where these were given. In the postal model the latter
    /// two are the machine's.
    fn check_used(&self, algorithm: &str) -> Result<(), Failure> {
        let unused = |parameter| !self.told.has_used(parameter);
        if let Some(alpha) = self.told.alpha.filter(|_| unused(Parameter::Alpha)) {
            return Err(Failure::argument("--alpha", alpha, format!("none, as {algorithm} does not split by shares")));
        }
        if self.is_postal {
            return Ok(());
        }
        if let Some(lambda) = self.told.lambda.filter(|_| unused(Parameter::Lambda)) {
            let allowed = match self.told.alpha {
                Some(_) => "none beside --alpha, by which the tree splits".to_owned(),
                None => format!("none on a machine, as {algorithm} is not made for a latency"),
            };
            return Err(Failure::argument("--lambda", lambda, allowed));
        }
        if let Some(t0) = self.asked_t0.filter(|_| unused(Parameter::T0)) {
            let allowed = format!("none on a machine, as {algorithm} is not made for a step");
            return Err(Failure::argument("--t0", t0, allowed));
        }
        Ok(())
    }

    /// Says whether ranks were to be in an order, where they have none.
    pub(super) fn check_unordered(&self, algorithm: &str) -> Result<(), Failure> {
        if self.is_permuted {
            return Err(Failure::argument(
                "--order",
                "permuted",
                format!("cyclic, as {algorithm} reaches all at once"),
            ));
        }
        Ok(())
    }

    /// When sends are over, for ranks that send each other messages of `size` in rings.
    pub(super) fn sends(&self, size: Option<Bytes>) -> Sends {
        let wait = size.is_some_and(|size| self.prepared.waits_for_receivers(size));
        if wait { Sends::Synchronous } else { Sends::Early }
    }

    /// In the postal model, the least time in which all ranks can hear of the first.
    pub(super) fn lower_bound(&self) -> Option<Finding> {
        let (lambda, t0) = (self.told.lambda.filter(|_| self.is_postal)?, self.told.t0?);
        let bound: Steps = broadcast_time(lambda, u64::from(self.group.len()));
        Some(Finding {
            name: "lower bound",
            text: format!("{}, {bound} steps of {}", rounded(bound.of(t0)), rounded(t0)),
            key: "lower_bound_ps",
            value: json!(bound.of(t0).picoseconds()),
        })
    }
}

/// That an algorithm was not told what it can't do without.
fn untold(parameter: Parameter, algorithm: &str) -> Failure {
    let (option, allowed) = match parameter {
        Parameter::Alpha => ("--alpha", "a share, or --lambda, for a tree by splitting".to_owned()),
        Parameter::Lambda => ("--lambda", format!("a latency, which {algorithm} has to be told")),
        Parameter::T0 => ("--t0", format!("a time, which {algorithm} has to be told")),
        Parameter::Segment => ("--segment", format!("a size, which {algorithm} has to be told")),
    };
    Failure::argument(option, "nothing", allowed)
}
