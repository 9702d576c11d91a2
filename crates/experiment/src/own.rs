//! A program that is not in the catalogue, on a machine.

use std::sync::Arc;

use endpoint::{Program, Result as ProgramResult, World};
use machines::model::Machine;
use quantities::Time;
use serde_json::{Value, json};
use virtual_worlds::Simulated;
use virtual_worlds::flit::world::Options;
use virtual_worlds::jobs::placement::{Allocation, Placement};
use virtual_worlds::jobs::{self, JobRun, JobsRun};
use virtual_worlds::stop::Stop;

use crate::prepared::warnings;
use crate::runner::engine_of;
use crate::site::ranks_on;
use crate::spec::DEFAULT_SEED;
use crate::{EngineName, Error, FinishedJob, FinishedRun, Notes, Provenance, Recording};

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
        let mut provenance = Provenance::of("run")
            .running(&name)
            .on(machine)
            .with_engine(engine.map(EngineName::name))
            .seeded(seed, requested_seed.is_some())
            .among(ranks)
            .given(parameters);
        if placement == Placement::Random {
            provenance.mark_random();
        }
        let options = Options {
            engine: engine.unwrap_or(EngineName::Fast).kind(),
            seed,
            stop,
            packet_log: recording.packets,
            timeline: recording.timeline,
        };
        let world = Simulated::new(machine, options);
        let (results, jobs, answer) = if placement.is_usual(ranks) {
            let (results, answer) = world.run(ranks, &program)?;
            (results, Vec::new(), answer)
        } else {
            provenance = provenance.given(json!({"placement": placement.to_string()}));
            let nodes = Allocation::new(machine).place(&placement, ranks, seed)?;
            let job = jobs::Job { name: name.clone(), program, nodes, start: Time::ZERO };
            let JobsRun { jobs: mut ran, answer } = world.run_jobs(std::slice::from_ref(&job), None)?;
            let none = || endpoint::Error::Unfit("a run of one job has brought none".to_owned());
            let ran = ran.pop().ok_or_else(none)?;
            let ended = ended(&job, &ran);
            (ran.results, vec![ended], answer)
        };
        let ended = FinishedRun {
            machine: Arc::clone(machine),
            program: name,
            provenance,
            notes: Notes::default(),
            findings: Vec::new(),
            jobs,
            warnings: warnings(&answer),
            answer,
            options,
            critical_path: None,
        };
        Ok((results, ended))
    }
}

/// The record of the job that was placed.
fn ended<P, T>(job: &jobs::Job<P>, ran: &JobRun<T>) -> FinishedJob {
    FinishedJob {
        name: job.name.clone(),
        program: job.name.clone(),
        notes: Notes::default(),
        findings: Vec::new(),
        nodes: job.nodes.iter().map(|node| node.0).collect(),
        start: ran.start,
        finish: ran.finish.clone(),
        makespan: ran.makespan(),
        alone: None,
    }
}
