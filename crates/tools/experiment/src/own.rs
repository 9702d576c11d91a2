//! A program that is not in the catalogue: a user's own.

use endpoint::{Program, Result, World};
use machines::model::{Machine, NodeId};
use serde_json::Value;
use virtual_worlds::Simulated;
use virtual_worlds::flit::world::Options;
use virtual_worlds::jobs::Placed;
use virtual_worlds::jobs::placement::Placement;

use crate::prepared::warnings;
use crate::{Notes, Outcome, Simulates};

/// A program that is not in the catalogue, and where it runs.
#[derive(Clone, Debug)]
pub struct OwnProgram<P> {
    /// Its name in reports.
    pub name: String,
    /// The program.
    pub program: P,
    /// Its parameters: the fields of a JSON object.
    pub parameters: Value,
    /// How many ranks it has; one on each node, by default.
    pub ranks: Option<u32>,
    /// The nodes on which they are placed.
    pub placement: Placement,
}

/// A user's own program that can begin.
pub struct Own<P> {
    program: P,
    ranks: u32,
    notes: Notes,
}

impl<P> Own<P> {
    /// A program of `ranks` ranks.
    pub(crate) fn new(own: OwnProgram<P>, ranks: u32) -> Own<P> {
        let OwnProgram { program, parameters, .. } = own;
        Own { program, ranks, notes: Notes { parameters, ..Notes::default() } }
    }
}

impl<P: Program> Simulates for Own<P> {
    /// The result of each rank, in order of rank. Judging them is left to the caller.
    type Results = Vec<Result<P::Output>>;

    fn ranks(&self) -> u32 {
        self.ranks
    }

    fn notes(&self) -> &Notes {
        &self.notes
    }

    fn simulate(
        self: Box<Self>,
        machine: &Machine,
        nodes: &[NodeId],
        options: Options,
    ) -> Result<(Self::Results, Outcome)> {
        let (results, answer) = Placed::new(Simulated::new(machine, options), nodes).run(self.ranks, &self.program)?;
        Ok((results, Outcome { findings: Vec::new(), warnings: warnings(&answer), answer }))
    }
}
