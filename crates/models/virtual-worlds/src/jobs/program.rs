//! Several jobs as one program of the machine, whose rank n is node n.

use endpoint::{Endpoint, Error, Needs, Program, Result, Unexpected};
use machines::model::NodeId;
use quantities::{Rank, Time};

use super::Job;
use super::job_endpoint::{JobEndpoint, Translation};

/// Several jobs as one program. Nodes without a rank end immediately.
#[derive(Debug)]
pub(super) struct Jobs<'a, P> {
    jobs: &'a [Job<P>],
    /// For each node up to the highest that is used, the job and rank on it.
    seats: Vec<Option<Seat>>,
    /// Whether every node, those of other jobs included, must receive a node's broadcast.
    broadcasts_bind_all: bool,
    /// Whether errors name the jobs beside their ranks.
    names_jobs: bool,
}

/// A rank of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Seat {
    /// The job's number.
    pub(super) job: u32,
    pub(super) rank: Rank,
}

impl<'a, P> Jobs<'a, P> {
    /// The `jobs` on a machine of `nodes` nodes.
    ///
    /// # Errors
    /// [`Error::Unfit`] if a job has no ranks, or if a node does not exist or holds two ranks.
    pub(super) fn new(jobs: &'a [Job<P>], nodes: u32, broadcasts_bind_all: bool) -> Result<Jobs<'a, P>> {
        let unfit = |reason: String| Err(Error::Unfit(reason));
        let highest = jobs.iter().flat_map(|job| &job.nodes).map(|node| node.0).max();
        let used = highest.map_or(0, |highest| highest.min(nodes) + 1);
        let mut seats: Vec<Option<Seat>> = vec![None; used as usize];
        for (number, job) in (0..).zip(jobs) {
            if job.nodes.is_empty() {
                return unfit(format!("job `{}` has no ranks, where it must have one", job.name));
            }
            for (rank, &NodeId(node)) in (0..).map(Rank).zip(&job.nodes) {
                if node >= nodes {
                    return unfit(format!("rank {rank} of job `{}` on node {node}: there are {nodes} nodes", job.name));
                }
                let seat = Seat { job: number, rank };
                if let Some(Seat { job, rank }) = seats[node as usize].replace(seat) {
                    let (one, other) = (&jobs[job as usize].name, &jobs[number as usize].name);
                    return unfit(format!(
                        "node {node} has rank {rank} of job `{one}` and rank {} of job `{other}`, where it can have one",
                        seat.rank
                    ));
                }
            }
        }
        let alone = jobs.len() == 1 && seats.iter().all(Option::is_some);
        Ok(Jobs { jobs, seats, broadcasts_bind_all: broadcasts_bind_all && !alone, names_jobs: true })
    }

    /// The same, where errors name ranks only.
    pub(super) fn without_names(self) -> Jobs<'a, P> {
        Jobs { names_jobs: false, ..self }
    }

    /// The number of nodes up to the highest that is used.
    pub(super) fn nodes(&self) -> u32 {
        self.seats.len() as u32
    }

    /// The rank on a node.
    pub(super) fn seat(&self, node: Rank) -> Option<Seat> {
        self.seats.get(node.0 as usize).copied().flatten()
    }

    /// Checks that a job can broadcast without the others.
    pub(super) fn check_multicast(&self) -> Result<()> {
        if self.broadcasts_bind_all {
            let reason = "a broadcast on an Ethernet goes to every node up to the highest that is used, each of which must \
                        take it: only a job that has all of them can broadcast";
            return Err(Error::Unfit(reason.to_owned()));
        }
        Ok(())
    }
}

impl<P: Program> Program for Jobs<'_, P> {
    /// Nothing for a node without a rank.
    type Output = Option<P::Output>;

    const NEEDS: Needs = P::NEEDS;

    async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<Option<P::Output>> {
        let Some(Seat { job, rank }) = self.seat(endpoint.rank()) else { return Ok(None) };
        let Job { program, nodes, start, .. } = &self.jobs[job as usize];
        if *start > Time::ZERO {
            endpoint.sleep_until(*start).await;
        }
        let translation = Translation { jobs: self, nodes, rank, start: start.since(Time::ZERO) };
        program.run(&JobEndpoint::new(endpoint, &translation)).await.map(Some)
    }

    fn check(&self, node: Rank, output: &Option<P::Output>) -> Result<()> {
        match (self.seat(node), output) {
            (Some(Seat { job, rank }), Some(output)) => self.jobs[job as usize].program.check(rank, output),
            _ => Ok(()),
        }
    }

    fn name_of(&self, node: Rank) -> String {
        match self.seat(node) {
            Some(Seat { job, rank }) => {
                let Job { name, program, .. } = &self.jobs[job as usize];
                let of_program = program.name_of(rank);
                if self.names_jobs { format!("{of_program} of job `{name}`") } else { of_program }
            }
            None => format!("node {node}"),
        }
    }

    /// The account of the first job that has one.
    fn ended(&self, unexpected: &[Unexpected], deadlock: bool) -> Option<Error> {
        let of_job = |(number, job): (u32, &Job<P>)| {
            let own = |message: &Unexpected| {
                let (from, to) = (self.seat(message.from)?, self.seat(message.to)?);
                let is_own = from.job == number && to.job == number;
                is_own.then_some(Unexpected { from: from.rank, to: to.rank, ..*message })
            };
            let mut own: Vec<Unexpected> = unexpected.iter().filter_map(own).collect();
            own.sort();
            match job.program.ended(&own, deadlock)? {
                Error::Deadlock(text) if self.names_jobs => {
                    Some(Error::Deadlock(format!("job `{}`: {text}", job.name)))
                }
                error => Some(error),
            }
        };
        // Every program is told, since some keep what they are told for later.
        let accounts: Vec<Option<Error>> = (0..).zip(self.jobs).map(of_job).collect();
        accounts.into_iter().flatten().next()
    }
}
