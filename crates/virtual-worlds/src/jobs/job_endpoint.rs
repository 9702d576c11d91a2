//! A rank of a job on a machine that other jobs use, too.

use endpoint::{Endpoint, Error, Message, Received, Result, Source, Tag, Tags, check_partner};
use machines::model::NodeId;
use quantities::{Duration, Rank, Time};

use super::program::Jobs;

/// The endpoint of a machine's node, where ranks are those of a job and time begins with it.
///
/// A node has one rank, and a rank sends to ranks of its own job only. So whatever comes to a node is of its job.
#[derive(Debug)]
pub(super) struct JobEndpoint<'run, E, P> {
    pub(super) endpoint: &'run E,
    pub(super) jobs: &'run Jobs<'run, P>,
    /// The nodes of the job's ranks.
    pub(super) nodes: &'run [NodeId],
    pub(super) rank: Rank,
    /// When the job starts, on the machine's clock.
    pub(super) start: Duration,
}

impl<E: Endpoint, P> JobEndpoint<'_, E, P> {
    /// The node of another rank.
    fn node_of(&self, other: Rank) -> Result<Rank> {
        check_partner(self.rank, other, self.size())?;
        Ok(Rank(self.nodes[other.0 as usize].0))
    }

    /// The rank of a node of this job.
    fn rank_on(&self, node: Rank) -> Rank {
        self.jobs.seat(node).map_or(node, |seat| seat.rank)
    }

    /// What the machine says, in terms of the job.
    fn of_job(&self, error: Error) -> Error {
        match error {
            Error::Deadline(time) => Error::Deadline(Time::ZERO + time.since(Time::ZERO + self.start)),
            Error::Lost(node) => Error::Lost(self.rank_on(node)),
            other => other,
        }
    }
}

impl<E: Endpoint, P> Endpoint for JobEndpoint<'_, E, P> {
    fn rank(&self) -> Rank {
        self.rank
    }

    fn size(&self) -> u32 {
        self.nodes.len() as u32
    }

    fn now(&self) -> Time {
        Time::ZERO + self.endpoint.now().since(Time::ZERO + self.start)
    }

    async fn send_tagged(&self, to: Rank, tag: Tag, message: Message) -> Result<()> {
        let node = self.node_of(to)?;
        self.endpoint.send_tagged(node, tag, message).await.map_err(|error| self.of_job(error))
    }

    async fn receive_matching(&self, from: Source, tags: Tags, deadline: Option<Time>) -> Result<Received> {
        let from = match from {
            Source::Rank(from) => Source::Rank(self.node_of(from)?),
            Source::Any => Source::Any,
        };
        let deadline = deadline.map(|deadline| deadline + self.start);
        let received = self.endpoint.receive_matching(from, tags, deadline).await;
        let Received { from, tag, message } = received.map_err(|error| self.of_job(error))?;
        Ok(Received { from: self.rank_on(from), tag, message })
    }

    async fn compute(&self, work: Duration) {
        self.endpoint.compute(work).await;
    }

    async fn sleep_until(&self, time: Time) {
        self.endpoint.sleep_until(time + self.start).await;
    }

    async fn multicast(&self, message: Message) -> Result<()> {
        self.jobs.check_multicast()?;
        self.endpoint.multicast(message).await.map_err(|error| self.of_job(error))
    }

    async fn receive_multicast(&self, from: Rank) -> Result<Message> {
        self.jobs.check_multicast()?;
        let node = self.node_of(from)?;
        self.endpoint.receive_multicast(node).await.map_err(|error| self.of_job(error))
    }
}
