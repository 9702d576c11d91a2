//! Running jobs, beside each other or alone.

use endpoint::{Error, Program, Result, World};
use machines::model::{Interconnect, NodeId};
use quantities::{Rank, Time};

use super::program::{Jobs, Seat};
use super::{Background, BackgroundSources, Job, JobRun, JobsRun};
use crate::Simulated;
use crate::answer::{Answer, BackgroundStatistics, Run};
use crate::flit::traffic::{self, Load};
use crate::flit::world::unfit_traffic;

impl Simulated<'_> {
    /// Runs `jobs` beside each other, and beside `background` traffic if there is any, until the last has ended.
    ///
    /// # Errors
    /// [`Error::Unfit`] if a node holds two ranks or does not exist, a job has no ranks, or the machine can't carry the
    /// traffic; otherwise as for one program. A deadlock names the ranks and their jobs.
    pub fn run_jobs<P: Program>(&self, jobs: &[Job<P>], background: Option<&Background>) -> Result<JobsRun<P::Output>> {
        if let [Job { program, nodes, start: Time::ZERO, .. }] = jobs
            && nodes.iter().zip(0..).all(|(node, rank)| node.0 == rank)
            && !nodes.is_empty()
        {
            // Ranks are nodes, so nothing has to be translated.
            let ranks = nodes.len() as u32;
            let (results, answer) = self.run_with_background(ranks, program, background, |node| node.0 < ranks)?;
            let run = JobRun { results, start: Time::ZERO, finish: answer.finish.clone() };
            return Ok(JobsRun { jobs: vec![run], answer });
        }
        let on_ethernet = matches!(self.machine.interconnect, Interconnect::Ethernet(_));
        let program = Jobs::new(jobs, self.machine.nodes, on_ethernet)?;
        let is_used = |NodeId(node)| program.seat(Rank(node)).is_some();
        let (results, mut answer) = self.run_with_background(program.nodes(), &program, background, is_used)?;
        let job_of = |node: Rank| program.seat(node).map(|seat| seat.job);
        // A broadcast goes to every node, but is meant for those of its job.
        answer.unreceived.retain(|message| job_of(message.from) == job_of(message.to));
        Ok(JobsRun { jobs: by_job(&program, jobs, results, &answer.finish), answer })
    }

    /// Runs `job` by itself, on the same nodes, without other jobs and background traffic.
    ///
    /// # Errors
    /// As [`Simulated::run_jobs`].
    pub fn run_alone<P: Program>(&self, job: &Job<P>) -> Result<JobRun<P::Output>> {
        let JobsRun { mut jobs, .. } = self.run_jobs(std::slice::from_ref(job), None)?;
        jobs.pop().ok_or_else(|| Error::Unfit("a run of one job has brought none".to_owned()))
    }

    /// Runs `program` beside `background` traffic, if there is any.
    fn run_with_background<P: Program>(
        &self,
        ranks: u32,
        program: &P,
        background: Option<&Background>,
        is_used: impl Fn(NodeId) -> bool,
    ) -> Run<P::Output> {
        let Some(Background { load, sources }) = background else { return self.run(ranks, program) };
        let Interconnect::Flits(network) = &self.machine.interconnect else {
            let name = &self.machine.name;
            let reason = format!(
                "background traffic: found {name}, which has no network of flits; allowed is a machine that has one"
            );
            return Err(Error::Unfit(reason));
        };
        if load.rate == 0.0 {
            traffic::check(network, &Load { rate: traffic::LOWEST_RATE, ..*load }).map_err(unfit_traffic)?;
            let (results, answer) = self.run(ranks, program)?;
            let none = BackgroundStatistics { until: answer.makespan(), ..BackgroundStatistics::default() };
            return Ok((results, Answer { background: Some(none), ..answer }));
        }
        let sends = |node| *sources == BackgroundSources::All || !is_used(node);
        self.network().run_with_background(ranks, program, load, sends)
    }
}

/// The result of each job's ranks, and when they ended.
fn by_job<P, T>(
    program: &Jobs<'_, P>,
    jobs: &[Job<P>],
    results: Vec<Result<Option<T>>>,
    finish: &[Time],
) -> Vec<JobRun<T>> {
    let mut of_job: Vec<Vec<(Rank, Result<T>)>> = jobs.iter().map(|_| Vec::new()).collect();
    for (node, result) in (0..).map(Rank).zip(results) {
        if let (Some(Seat { job, rank }), Some(result)) = (program.seat(node), result.transpose()) {
            of_job[job as usize].push((rank, result));
        }
    }
    let finish_of = |node: &NodeId| finish[node.0 as usize];
    let run = |(job, mut results): (&Job<P>, Vec<(Rank, Result<T>)>)| {
        results.sort_by_key(|(rank, _)| *rank);
        let results = results.into_iter().map(|(_, result)| result).collect();
        JobRun { results, start: job.start, finish: job.nodes.iter().map(finish_of).collect() }
    };
    jobs.iter().zip(of_job).map(run).collect()
}
