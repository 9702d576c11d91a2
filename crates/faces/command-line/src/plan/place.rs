//! On what it is planned, and with how much work.

use std::ffi::OsString;

use ::machines::model::{Machine, NodeId};
use clap::Args;
use collectives::postal::Lambda;
use serde_json::json;

use crate::cores;
use crate::failure::Failure;
use crate::quantity::whole;
use crate::settings::Settings;
use experiment::Provenance;
use experiment::postal_clock::{exact_step, postal_machine};
use tuning::planner::{BUDGET, placed, ranks_on};

/// On what it is planned, and with how much work.
#[derive(Args, Debug)]
pub(super) struct Place {
    /// A preset (`maquette machines` lists them) or a description: a name with a `/` in it or with the ending `.toml`.
    #[arg(long, value_name = "NAME|FILE", required_unless_present = "lambda", conflicts_with = "lambda")]
    machine: Option<OsString>,
    /// Instead of a machine, the postal model: the latency of a message as a multiple of the time that it keeps its
    /// sender busy; a number such as 1.8 or 9/5.
    #[arg(long, value_name = "L")]
    lambda: Option<Lambda>,
    #[command(flatten)]
    settings: Settings,
    /// How many ranks take part; all nodes of the machine, or as many as the traffic has, if left out.
    #[arg(long, value_name = "N", alias = "nodes", value_parser = whole(0..=u32::MAX))]
    ranks: Option<u32>,
    /// On which nodes ranks run: in-order, random, contiguous-switches, contiguous-groups, scattered-switches,
    /// scattered-groups, or a list such as 0-7,12; in order, if left out.
    #[arg(long, value_name = "PLACEMENT")]
    placement: Option<String>,
    /// The seed that a random placement is drawn with; 1, if left out.
    #[arg(long, value_name = "SEED")]
    seed: Option<u64>,
    /// How much may be run, in millions of packets times channels that they cross; the rest is run in part, or
    /// estimated.
    #[arg(long, value_name = "MILLIONS", default_value_t = (BUDGET / 1e6) as u32, value_parser = whole(0..=u32::MAX))]
    budget: u32,
    /// How many algorithms are run at once; as many as there are cores, if left out. The result does not depend on it.
    #[arg(long, value_name = "N", value_parser = whole(1..=u16::MAX))]
    threads: Option<u16>,
    /// Run every algorithm to its end, however long that takes.
    #[arg(long, conflicts_with = "budget")]
    exhaustive: bool,
}

impl Place {
    /// The machine, and how many ranks take part; a traffic matrix may have `of_traffic`.
    pub(super) fn machine(&self, of_traffic: Option<u32>) -> Result<(Machine, u32), Failure> {
        let machine = match (&self.machine, self.lambda) {
            (Some(name), _) => self.settings.load(name)?,
            (None, Some(_)) if self.settings.first().is_some() => {
                let found = self.settings.first().unwrap_or_default();
                return Err(Failure::argument("--set", found, "nothing with --lambda, which has no such field"));
            }
            (None, Some(lambda)) => postal_machine(lambda, exact_step(lambda))?,
            (None, None) => {
                return Err(Failure::argument("--machine", "nothing", "a machine, or --lambda for the postal model"));
            }
        };
        let ranks = ranks_on(&machine, self.ranks, of_traffic)?;
        Ok((machine, ranks))
    }

    /// The node of each of `ranks` ranks on `machine`, and `provenance` with the placement; no nodes if rank n is on
    /// node n.
    pub(super) fn placed(
        &self,
        machine: &Machine,
        ranks: u32,
        provenance: Provenance,
    ) -> Result<(Vec<NodeId>, Provenance), Failure> {
        let provenance = if self.exhaustive { provenance.given(json!({"exhaustive": true})) } else { provenance };
        Ok(placed(machine, self.placement.as_deref(), ranks, self.seed, provenance)?)
    }

    /// Whether everything is run to its end.
    pub(super) fn exhaustive(&self) -> bool {
        self.exhaustive
    }

    /// The most work, in packets times channels.
    pub(super) fn budget(&self) -> f64 {
        f64::from(self.budget) * 1e6
    }

    /// The latency of the postal model, if that is meant.
    pub(super) fn lambda(&self) -> Option<Lambda> {
        self.lambda
    }

    pub(super) fn threads(&self) -> usize {
        self.threads.map_or_else(cores, usize::from)
    }
}
