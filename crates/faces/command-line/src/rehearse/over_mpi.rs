//! Programs measured on the MPI ranks that mpiexec or a batch system has started.
//!
//! ```text
//!     rank 0      reads, fits, predicts, writes | orders: run this on the first n | ... | orders: end, with this status
//!     the others  wait, with almost idle processors | run it if they are among those | ... | end with this status
//! ```

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use experiment::{Experiment, Provenance};
use launch::rank::Running;
use launch::wire::Record;
use launch::{all_gather, broadcast_from_first, receive_from_first};
use quantities::{Duration, Rank};
use real_worlds::{MpiStartError, MpiWorld};
use serde::{Deserialize, Serialize};
use serde_json::json;
use tuning::rehearsal::{Pass, Question};

use super::measuring::pass_of;
use super::{Processes, Purpose, at_most};
use crate::CommandOutput;
use crate::failure::Failure;
use crate::launch::Options;
use crate::launch::over_mpi::{all_begin, begin, end_all};

/// The orders of rank 0 to all others.
#[derive(Serialize, Deserialize)]
enum Order {
    /// The first ranks run a program, again and again.
    Run { experiment: Box<Experiment>, ranks: u32, repeat: u32 },
    /// The rehearsal is over.
    End { status: i32 },
}

/// All MPI ranks, and the groups of them that have run a program together.
pub(super) struct OverMpi {
    all: MpiWorld,
    patience: Option<Duration>,
    /// By their number; None where this rank is not among them.
    parts: BTreeMap<u32, Option<Rc<RefCell<MpiWorld>>>>,
}

/// Has rank 0 rehearse, and the others follow its orders: all end with the same status, and rank 0 reports why.
pub(super) fn on_all_ranks(
    options: &Options,
    rehearse: impl FnOnce(&mut OverMpi) -> Result<CommandOutput, Failure>,
) -> Result<CommandOutput, Failure> {
    let mut ranks = OverMpi { all: begin(options)?, patience: options.patience, parts: BTreeMap::new() };
    let result = if ranks.all.rank() == Rank(0) {
        let result = rehearse(&mut ranks);
        let status = result.as_ref().map_or_else(Failure::status, |output| output.status);
        broadcast_from_first(&mut ranks.all, &Order::End { status })?;
        result
    } else {
        ranks.obey()
    };
    ranks.end()?;
    result
}

impl OverMpi {
    /// Follows the orders of rank 0, to the end.
    fn obey(&mut self) -> Result<CommandOutput, Failure> {
        loop {
            match receive_from_first(&mut self.all)? {
                Order::Run { experiment, ranks, repeat } => match self.take_part(&experiment, ranks, repeat) {
                    Ok(_) => {}
                    // Rank 0 knows this, too, and ends the rehearsal.
                    Err(NotRun::NotStarted(_)) => {}
                    Err(NotRun::NoWorld(failure)) => return Err(failure),
                },
                Order::End { status } => return Ok(CommandOutput { text: String::new(), status }),
            }
        }
    }

    /// Runs a program, if this is one of its ranks; returns what each of them did.
    fn take_part(&mut self, experiment: &Experiment, ranks: u32, repeat: u32) -> Result<Vec<Record>, NotRun> {
        let Some(part) = self.part(ranks).map_err(NotRun::NoWorld)? else { return Ok(Vec::new()) };
        let prepared = experiment.prepare_for_real(ranks).map_err(Failure::from);
        let begins = all_begin(&mut part.borrow_mut(), prepared.as_ref().err());
        let program = prepared.map_err(NotRun::NotStarted)?;
        begins.map_err(NotRun::NotStarted)?;
        let mut running = Running::on_mpi(Rc::clone(&part), repeat);
        let record = program.run(&mut running).unwrap_or_else(|error| end_all(&part.borrow(), &error.into()));
        drop(running);
        let report = all_gather(&mut part.borrow_mut(), &record);
        Ok(report.unwrap_or_else(|error| end_all(&part.borrow(), &error.into())))
    }

    /// The world of the first ranks, which all ranks create together on first use; None if this rank is not among them.
    fn part(&mut self, ranks: u32) -> Result<Option<Rc<RefCell<MpiWorld>>>, Failure> {
        if let Some(part) = self.parts.get(&ranks) {
            return Ok(part.clone());
        }
        let part = self.all.first(ranks).map_err(|error| Failure::Mpi(Box::new(error)))?;
        let part = part.map(|part| Rc::new(RefCell::new(part)));
        self.parts.insert(ranks, part.clone());
        Ok(part)
    }

    /// Finalizes MPI, which all ranks do together.
    fn end(self) -> Result<(), Failure> {
        let worlds = self.parts.into_values().flatten().filter_map(|part| Some(Rc::into_inner(part)?.into_inner()));
        let mut worlds = worlds.chain([self.all]);
        worlds.try_for_each(MpiWorld::end).map_err(|error| Failure::Mpi(Box::new(MpiStartError::from(error))))
    }
}

/// Why a program was not run.
enum NotRun {
    /// One of its ranks cannot begin, and none has.
    NotStarted(Failure),
    /// The library cannot create a world of its ranks.
    NoWorld(Failure),
}

impl Processes for OverMpi {
    fn check(&self, _: Purpose, question: &Question) -> Result<(), Failure> {
        at_most(question, self.all.size(), "as many as mpiexec has started")
    }

    fn pass(&mut self, _: Purpose, question: &Question, warm_up: u32, runs: u32) -> Result<Pass, Failure> {
        let (experiment, ranks, repeat) = (Box::new(question.experiment.clone()), question.ranks, warm_up + runs);
        broadcast_from_first(&mut self.all, &Order::Run { experiment, ranks, repeat })?;
        let records = self.take_part(&question.experiment, ranks, repeat).map_err(|not_run| match not_run {
            NotRun::NotStarted(failure) => failure,
            // The others may be in the middle of creating it.
            NotRun::NoWorld(failure) => end_all(&self.all, &failure),
        })?;
        Ok(pass_of(&records, warm_up))
    }

    fn complete_provenance(&mut self, provenance: Provenance) -> Provenance {
        let patience = self.patience.map(Duration::picoseconds);
        provenance.given(json!({ "mpi_library": self.all.library(), "patience_ps": patience }))
    }
}
