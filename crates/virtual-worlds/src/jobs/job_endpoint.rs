//! A rank of a job on a machine that other jobs use, too.

use std::task::{Poll, Waker};

use endpoint::{
    Begun, Endpoint, Error, Event, Handles, Message, Operation, Outcome, Passage, Pending, Received, Report, Request,
    Result, Source, Tag, Tags, check_partner,
};
use machines::model::NodeId;
use quantities::{Duration, Rank, Time};

use super::program::Jobs;

/// The endpoint of a machine's node, where ranks are those of a job and time begins with it.
///
/// A node has one rank, and a rank sends to ranks of its own job only. So whatever comes to a node is of its job.
pub(super) struct JobEndpoint<'run, E, P> {
    pub(super) endpoint: &'run E,
    /// The node's operations, if the machine knows them by handle.
    pub(super) handles: Option<&'run dyn Handles>,
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

    /// What is asked of the machine, in its terms.
    fn of_machine(&self, operation: Operation) -> Result<Operation> {
        Ok(match operation {
            Operation::Send { to, tag, message } => Operation::Send { to: self.node_of(to)?, tag, message },
            Operation::Receive { from: Source::Rank(from), tags, deadline } => {
                let (from, deadline) = (Source::Rank(self.node_of(from)?), deadline.map(|it| it + self.start));
                Operation::Receive { from, tags, deadline }
            }
            Operation::Receive { from: Source::Any, tags, deadline } => {
                Operation::Receive { from: Source::Any, tags, deadline: deadline.map(|it| it + self.start) }
            }
            Operation::Sleep(until) => Operation::Sleep(until + self.start),
            Operation::Compute(work) => Operation::Compute(work),
            Operation::Multicast(message) => {
                self.jobs.check_multicast()?;
                Operation::Multicast(message)
            }
            Operation::ReceiveMulticast(from) => {
                self.jobs.check_multicast()?;
                Operation::ReceiveMulticast(self.node_of(from)?)
            }
        })
    }

    /// A time on the machine's clock, on that of the job.
    fn time_of_job(&self, time: Time) -> Time {
        Time::ZERO + time.since(Time::ZERO + self.start)
    }

    /// What came of an operation on the machine, in terms of the job.
    fn result_of_job(&self, result: Result<Outcome>) -> Result<Outcome> {
        match result {
            Ok(Outcome::Received(Received { from, tag, message }, Passage { sent, arrived })) => {
                let received = Received { from: self.rank_on(from), tag, message };
                let passage = Passage { sent: self.time_of_job(sent), arrived: self.time_of_job(arrived) };
                Ok(Outcome::Received(received, passage))
            }
            Ok(Outcome::Done) => Ok(Outcome::Done),
            Err(error) => Err(self.of_job(error)),
        }
    }

    /// What has happened on the machine, in terms of the job.
    fn event_of_job(&self, event: Event) -> Event {
        match event {
            Event::Started => Event::Started,
            Event::Over(result) => Event::Over(self.result_of_job(result)),
        }
    }

    /// What the machine says, in terms of the job.
    fn of_job(&self, error: Error) -> Error {
        match error {
            Error::Deadline(time) => Error::Deadline(self.time_of_job(time)),
            Error::Lost(node) => Error::Lost(self.rank_on(node)),
            other => other,
        }
    }
}

impl<E: Endpoint, P> Handles for JobEndpoint<'_, E, P> {
    fn begin(&self, operation: Operation, waker: &Waker) -> Result<u32> {
        let handles = self.handles.ok_or_else(no_handles)?;
        handles.begin(self.of_machine(operation)?, waker).map_err(|error| self.of_job(error))
    }

    fn poll_outcome(&self, handle: u32, waker: &Waker) -> Poll<Result<Outcome>> {
        let Some(handles) = self.handles else { return Poll::Ready(Err(no_handles())) };
        handles.poll_outcome(handle, waker).map(|result| self.result_of_job(result))
    }

    fn free(&self, handle: u32) {
        if let Some(handles) = self.handles {
            handles.free(handle);
        }
    }
}

fn no_handles() -> Error {
    Error::Unfit("the world knows no operations by handle".to_owned())
}

impl<E: Endpoint, P> Endpoint for JobEndpoint<'_, E, P> {
    fn rank(&self) -> Rank {
        self.rank
    }

    fn size(&self) -> u32 {
        self.nodes.len() as u32
    }

    fn now(&self) -> Time {
        self.time_of_job(self.endpoint.now())
    }

    async fn send_tagged(&self, to: Rank, tag: Tag, message: Message) -> Result<()> {
        if self.handles.is_some() {
            return Pending::new(self, Operation::Send { to, tag, message }).await.map(drop);
        }
        let node = self.node_of(to)?;
        self.endpoint.send_tagged(node, tag, message).await.map_err(|error| self.of_job(error))
    }

    async fn receive_matching(&self, from: Source, tags: Tags, deadline: Option<Time>) -> Result<Received> {
        if self.handles.is_some() {
            return Pending::new(self, Operation::Receive { from, tags, deadline }).await?.received();
        }
        let from = match from {
            Source::Rank(from) => Source::Rank(self.node_of(from)?),
            Source::Any => Source::Any,
        };
        let deadline = deadline.map(|deadline| deadline + self.start);
        let received = self.endpoint.receive_matching(from, tags, deadline).await;
        let Received { from, tag, message } = received.map_err(|error| self.of_job(error))?;
        Ok(Received { from: self.rank_on(from), tag, message })
    }

    async fn sendrecv_tagged(&self, to: Rank, tag: Tag, message: Message, from: Rank, tags: Tags) -> Result<Received> {
        let (to, source) = (self.node_of(to)?, self.node_of(from)?);
        let received = self.endpoint.sendrecv_tagged(to, tag, message, source, tags).await;
        Ok(Received { from, ..received.map_err(|error| self.of_job(error))? })
    }

    async fn compute(&self, work: Duration) {
        self.endpoint.compute(work).await;
    }

    async fn sleep_until(&self, time: Time) {
        self.endpoint.sleep_until(time + self.start).await;
    }

    fn handles(&self) -> Option<&dyn Handles> {
        self.handles.map(|_| self as &dyn Handles)
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

    fn start(&self, request: Request) -> Result<Begun> {
        let (operation, not_before) = (self.of_machine(request.operation)?, request.not_before + self.start);
        self.endpoint.start(Request { operation, not_before, ..request }).map_err(|error| self.of_job(error))
    }

    async fn wait_any(&self) -> Result<Report> {
        let Report { number, at, event } = self.endpoint.wait_any().await.map_err(|error| self.of_job(error))?;
        Ok(Report { number, at: self.time_of_job(at), event: self.event_of_job(event) })
    }
}
