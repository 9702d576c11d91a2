//! A program that is not in the catalogue, on a machine.

use std::sync::Arc;

use endpoint::{Program, Result as ProgramResult, World};
use machines::model::Machine;
use serde_json::Value;
use virtual_worlds::Simulated;
use virtual_worlds::flit::world::Options;
use virtual_worlds::jobs::Placed;
use virtual_worlds::jobs::placement::{Allocation, Placement};
use virtual_worlds::stop::Stop;

use crate::prepared::warnings;
use crate::runner::engine_of;
use crate::site::ranks_on;
use crate::spec::DEFAULT_SEED;
use crate::{EngineName, Error, FinishedRun, Notes, Provenance, Recording};

/// A program that is not in the catalogue, and how to run it.
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
    /// The seed of random choices.
    pub seed: Option<u64>,
    /// The engine that moves the flits.
    pub engine: Option<EngineName>,
    /// What to record.
    pub recording: Recording,
}

/// The result of each rank, in order of rank, and of the run.
pub type FinishedPrograms<T> = (Vec<ProgramResult<T>>, FinishedRun);

impl<P: Program> OwnProgram<P> {
    /// Runs it on `machine` until it is over, or `stop` ends it. Judging the ranks' results is left to the caller.
    ///
    /// # Errors
    /// If it can't run; a deadlock.
    pub fn run(self, machine: &Arc<Machine>, stop: Stop) -> Result<FinishedPrograms<P::Output>, Error> {
        let OwnProgram { name, program, parameters, ranks, placement, seed: requested_seed, engine, recording } = self;
        let ranks = ranks_on(machine, ranks)?;
        let engine = engine_of(machine, engine)?;
        let seed = requested_seed.unwrap_or(DEFAULT_SEED);
        let provenance = Provenance::of("run")
            .running(&name)
            .on(machine)
            .with_engine(engine.map(EngineName::name))
            .seeded(seed, requested_seed.is_some())
            .among(ranks)
            .given(parameters);
        let options = Options {
            engine: engine.unwrap_or(EngineName::Fast).kind(),
            seed,
            stop,
            packet_log: recording.packets,
            timeline: recording.timeline,
        };
        let (provenance, nodes) = if placement.is_usual(ranks) {
            (provenance, Vec::new())
        } else {
            (provenance.placed(&placement), Allocation::new(machine).place(&placement, ranks, seed)?)
        };
        let (results, answer) = Placed::new(Simulated::new(machine, options), &nodes).run(ranks, &program)?;
        let ended = FinishedRun {
            machine: Arc::clone(machine),
            program: name,
            provenance,
            notes: Notes::default(),
            findings: Vec::new(),
            jobs: Vec::new(),
            warnings: warnings(&answer),
            answer,
            options,
            critical_path: None,
        };
        Ok((results, ended))
    }
}
