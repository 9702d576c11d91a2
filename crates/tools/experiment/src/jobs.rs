//! Several jobs running at the same time on one machine, on separate nodes, with background traffic.

use machines::model::{Machine, NodeId};
use quantities::{Duration, Time};
use serde_json::{Value, json};
use virtual_worlds::answer::Answer;
use virtual_worlds::flit::world::Options;
use virtual_worlds::jobs::placement::{Allocation, Placement, PlacementError};
use virtual_worlds::jobs::{self, Background, JobRun, JobsRun};

use crate::catalogue::{AnyOutput, AnyProgram};
use crate::prepared::{AnyJob, DeriveAny};
use crate::simulate::simulated;
use crate::{Error, Experiment, Finding, Job, Notes, Ready, Site};

/// A job that has been placed on a machine, and can begin.
pub(crate) struct PlacedJob {
    pub(crate) name: String,
    pub(crate) program: &'static str,
    pub(crate) ready: Box<dyn Ready>,
    nodes: Vec<NodeId>,
    start: Time,
    /// Its parameters, as they are reported.
    pub(crate) parameters: Value,
}

/// A job that has ended.
#[derive(Clone, Debug)]
pub struct FinishedJob {
    /// Its name.
    pub name: String,
    /// The name of its program.
    pub program: String,
    /// What was known about it before it ran.
    pub notes: Notes,
    /// Its findings.
    pub findings: Vec<Finding>,
    /// The node of each rank.
    pub nodes: Vec<u32>,
    /// When it began.
    pub start: Time,
    /// When each rank ended.
    pub finish: Vec<Time>,
    /// From its beginning until its last rank had ended.
    pub makespan: Duration,
    /// How long it takes alone on the same nodes, if requested.
    pub alone: Option<Duration>,
}

impl FinishedJob {
    /// How many times as long as alone it took.
    pub fn slowdown(&self) -> Option<f64> {
        let alone = self.alone.filter(|alone| !alone.is_zero())?;
        Some(self.makespan.picoseconds() as f64 / alone.picoseconds() as f64)
    }
}

impl<'run> From<&'run FinishedJob> for report::run::Job<'run> {
    fn from(job: &'run FinishedJob) -> report::run::Job<'run> {
        let FinishedJob { name, program, nodes, start, makespan, .. } = job;
        report::run::Job { name, program, nodes, start: *start, makespan: *makespan }
    }
}

impl From<PlacementError> for Error {
    fn from(error: PlacementError) -> Error {
        let found = format!("{} of `{}`", error.found, error.placement);
        Error::parameter("placement", found, error.allowed)
    }
}

impl Experiment {
    /// Creates the programs of all jobs.
    pub(crate) fn programs(&self, site: &mut Site<'_>) -> Result<Vec<Box<dyn Ready>>, Error> {
        let create = |job: &Job| {
            site.requested_ranks = job.ranks;
            job.program.prepare(site)
        };
        self.jobs.iter().map(create).collect()
    }

    /// Places the programs of the jobs on `machine`, one after another.
    pub(crate) fn place(&self, programs: Vec<Box<dyn Ready>>, machine: &Machine) -> Result<Vec<PlacedJob>, Error> {
        let mut allocation = Allocation::new(machine);
        let mut placed = Vec::new();
        for (number, (job, ready)) in (0u64..).zip(self.jobs.iter().zip(programs)) {
            let Job { program, placement, start, .. } = job;
            let nodes = nodes_of(placement, ready.ranks(), &mut allocation, self.seed().wrapping_add(number))?;
            let start = start.unwrap_or_default();
            let name = job.called(number);
            let parameters = json!({
                "name": name,
                "program": program.name(),
                "parameters": ready.notes().parameters,
                "ranks": ready.ranks(),
                "placement": placement.to_string(),
                "start": start.to_string(),
            });
            placed.push(PlacedJob {
                name,
                program: program.name(),
                ready,
                nodes,
                start: Time::ZERO + start,
                parameters,
            });
        }
        Ok(placed)
    }
}

/// The nodes of a program that has `machine` to itself: none if its ranks are on nodes in order.
pub(crate) fn nodes_of_only(
    placement: &Placement,
    ranks: u32,
    machine: &Machine,
    seed: u64,
) -> Result<Vec<NodeId>, Error> {
    if placement.is_usual(ranks) {
        return Ok(Vec::new());
    }
    nodes_of(placement, ranks, &mut Allocation::new(machine), seed)
}

/// The nodes of the ranks of a program that is placed so, taken from those that are free.
fn nodes_of(placement: &Placement, ranks: u32, free: &mut Allocation<'_>, seed: u64) -> Result<Vec<NodeId>, Error> {
    let machine = free.machine();
    if machine.model().is_without_contention() && !placement.is_usual(ranks) {
        let allowed = format!("in-order, as on {} no node is nearer than another", machine.name);
        return Err(Error::parameter("placement", placement, allowed));
    }
    Ok(free.place(placement, ranks, seed)?)
}

/// Runs the `placed` jobs together with the `background` traffic; then, if requested, each of them alone.
pub(crate) fn run(
    placed: Vec<PlacedJob>,
    background: Option<&Background>,
    alone: bool,
    (machine, options): (&Machine, Options),
) -> Result<(Vec<FinishedJob>, Answer), Error> {
    let mut programs: Vec<jobs::Job<AnyProgram>> = Vec::new();
    let mut rest: Vec<(&'static str, Notes, DeriveAny)> = Vec::new();
    for PlacedJob { name, program, ready, nodes, start, .. } in placed {
        let notes = ready.notes().clone();
        let AnyJob { program: any, derive_findings } = ready.into_job();
        programs.push(jobs::Job { name, program: any, nodes, start });
        rest.push((program, notes, derive_findings));
    }
    let world = simulated(machine, options);
    let JobsRun { jobs: ran, answer } = world.run_jobs(&programs, background)?;
    let mut ended = Vec::new();
    for ((job, ran), (program, notes, derive_findings)) in programs.iter().zip(ran).zip(rest) {
        let alone = if alone { Some(time_alone(machine, options, job)?) } else { None };
        let makespan = ran.makespan();
        let JobRun { results, start, finish } = ran;
        let outputs = results.into_iter().collect::<endpoint::Result<Vec<AnyOutput>>>()?;
        // A program's findings are in its own time.
        let own = finish.iter().map(|time| Time::ZERO + time.since(start)).collect();
        let findings = derive_findings(outputs, &Answer { finish: own, ..Answer::default() });
        let nodes = job.nodes.iter().map(|node| node.0).collect();
        ended.push(FinishedJob {
            name: job.name.clone(),
            program: program.to_owned(),
            notes,
            findings,
            nodes,
            start,
            finish,
            makespan,
            alone,
        });
    }
    Ok((ended, answer))
}

/// How long a job takes with the machine to itself.
fn time_alone(machine: &Machine, options: Options, job: &jobs::Job<AnyProgram>) -> Result<Duration, Error> {
    let options = Options { packet_log: false, timeline: false, ..options };
    Ok(simulated(machine, options).run_alone(job)?.makespan())
}
