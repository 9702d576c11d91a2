//! A rank of a job on a machine shared with other jobs.

use std::task::{Poll, Waker};

use endpoint::{
    Endpoint, Error, Event, Handles, Message, Operation, Outcome, Passage, Pending, Received, Report, Request, Result,
    Source, StartStatus, Tag, Tags, check_partner,
};
use machines::model::NodeId;
use quantities::{Duration, Rank, Time};

use super::program::Jobs;

/// Translates between the ranks and times of a job and those of the machine, as seen by a rank of the job.
///
/// A node has one rank, and a rank sends only to ranks of its own job. So everything that arrives at a node belongs to
/// its job.
pub(super) struct Translation<'run, P> {
    pub(super) jobs: &'run Jobs<'run, P>,
    /// The nodes of the job's ranks.
    pub(super) nodes: &'run [NodeId],
    pub(super) rank: Rank,
    /// When the job starts, on the machine's clock.
    pub(super) start: Duration,
}

impl<P> Translation<'_, P> {
    /// The node of another rank.
    fn node_of(&self, other: Rank) -> Result<Rank> {
        check_partner(self.rank, other, self.nodes.len() as u32)?;
        Ok(Rank(self.nodes[other.0 as usize].0))
    }

    /// A source, in the machine's terms.
    fn source_of(&self, from: Source) -> Result<Source> {
        match from {
            Source::Rank(from) => self.node_of(from).map(Source::Rank),
            Source::Any => Ok(Source::Any),
        }
    }

    /// The rank of a node of this job.
    fn rank_on(&self, node: Rank) -> Rank {
        self.jobs.seat(node).map_or(node, |seat| seat.rank)
    }

    /// An operation of the job, in the machine's terms.
    fn of_machine(&self, operation: Operation) -> Result<Operation> {
        Ok(match operation {
            Operation::Send { to, tag, message } => Operation::Send { to: self.node_of(to)?, tag, message },
            Operation::Receive { from, tags, deadline } => {
                Operation::Receive { from: self.source_of(from)?, tags, deadline: deadline.map(|it| it + self.start) }
            }
            Operation::Probe { from, tags, deadline } => {
                Operation::Probe { from: self.source_of(from)?, tags, deadline: deadline.map(|it| it + self.start) }
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

    /// A time on the machine's clock, converted to the job's clock.
    fn time_of_job(&self, time: Time) -> Time {
        Time::ZERO + time.since(Time::ZERO + self.start)
    }

    /// The result of an operation on the machine, in the job's terms.
    fn result_of_job(&self, result: Result<Outcome>) -> Result<Outcome> {
        match result {
            Ok(Outcome::Received(Received { from, tag, message }, Passage { sent, arrived })) => {
                let received = Received { from: self.rank_on(from), tag, message };
                let passage = Passage { sent: self.time_of_job(sent), arrived: self.time_of_job(arrived) };
                Ok(Outcome::Received(received, passage))
            }
            Ok(Outcome::Probed(received)) => {
                Ok(Outcome::Probed(Received { from: self.rank_on(received.from), ..received }))
            }
            Ok(Outcome::Done) => Ok(Outcome::Done),
            Err(error) => Err(self.of_job(error)),
        }
    }

    /// An event on the machine, in the job's terms.
    fn event_of_job(&self, event: Event) -> Event {
        match event {
            Event::Started => Event::Started,
            Event::Completed(result) => Event::Completed(self.result_of_job(result)),
        }
    }

    /// An error of the machine, in the job's terms.
    fn of_job(&self, error: Error) -> Error {
        match error {
            Error::Deadline(time) => Error::Deadline(self.time_of_job(time)),
            Error::Lost(node) => Error::Lost(self.rank_on(node)),
            other => other,
        }
    }
}

/// A rank's operations by handle, on a machine that also identifies operations by handle.
struct JobHandles<'run, P> {
    translation: &'run Translation<'run, P>,
    node: &'run dyn Handles,
}

impl<P> Handles for JobHandles<'_, P> {
    fn begin(&self, operation: Operation, waker: &Waker) -> Result<u32> {
        let of_machine = self.translation.of_machine(operation)?;
        self.node.begin(of_machine, waker).map_err(|error| self.translation.of_job(error))
    }

    fn poll_outcome(&self, handle: u32, waker: &Waker) -> Poll<Result<Outcome>> {
        self.node.poll_outcome(handle, waker).map(|result| self.translation.result_of_job(result))
    }

    fn free(&self, handle: u32) {
        self.node.free(handle);
    }
}

/// The endpoint of a machine's node, where ranks are those of a job and time begins with the job.
pub(super) struct JobEndpoint<'run, E, P> {
    node: &'run E,
    translation: &'run Translation<'run, P>,
    handles: Option<JobHandles<'run, P>>,
}

impl<'run, E: Endpoint, P> JobEndpoint<'run, E, P> {
    /// The endpoint of a rank on `node`.
    pub(super) fn new(node: &'run E, translation: &'run Translation<'run, P>) -> JobEndpoint<'run, E, P> {
        JobEndpoint { node, translation, handles: node.handles().map(|node| JobHandles { translation, node }) }
    }

    /// Carries out an operation, by handle where it can be.
    async fn operate(&self, operation: Operation) -> Result<Option<Received>> {
        if let Some(handles) = &self.handles {
            return Pending::new(handles, operation).await.map(Outcome::into_received);
        }
        let received = self.node.carry_out(self.translation.of_machine(operation)?).await;
        let received = received.map_err(|error| self.translation.of_job(error))?;
        Ok(received.map(|received| Received { from: self.translation.rank_on(received.from), ..received }))
    }

    async fn receive_by(&self, operation: Operation) -> Result<Received> {
        self.operate(operation).await?.ok_or_else(Error::without_message)
    }
}

impl<E: Endpoint, P> Endpoint for JobEndpoint<'_, E, P> {
    fn rank(&self) -> Rank {
        self.translation.rank
    }

    fn size(&self) -> u32 {
        self.translation.nodes.len() as u32
    }

    fn now(&self) -> Time {
        self.translation.time_of_job(self.node.now())
    }

    async fn send_tagged(&self, to: Rank, tag: Tag, message: Message) -> Result<()> {
        self.operate(Operation::Send { to, tag, message }).await.map(drop)
    }

    async fn receive_matching(&self, from: Source, tags: Tags, deadline: Option<Time>) -> Result<Received> {
        self.receive_by(Operation::Receive { from, tags, deadline }).await
    }

    async fn probe(&self, from: Source, tags: Tags, deadline: Option<Time>) -> Result<Received> {
        self.receive_by(Operation::Probe { from, tags, deadline }).await
    }

    async fn sendrecv_tagged(&self, to: Rank, tag: Tag, message: Message, from: Rank, tags: Tags) -> Result<Received> {
        let (to, source) = (self.translation.node_of(to)?, self.translation.node_of(from)?);
        let received = self.node.sendrecv_tagged(to, tag, message, source, tags).await;
        Ok(Received { from, ..received.map_err(|error| self.translation.of_job(error))? })
    }

    async fn compute(&self, work: Duration) {
        self.node.compute(work).await;
    }

    async fn sleep_until(&self, time: Time) {
        self.node.sleep_until(time + self.translation.start).await;
    }

    async fn multicast(&self, message: Message) -> Result<()> {
        self.operate(Operation::Multicast(message)).await.map(drop)
    }

    async fn receive_multicast(&self, from: Rank) -> Result<Message> {
        self.receive_by(Operation::ReceiveMulticast(from)).await.map(|received| received.message)
    }

    fn start(&self, request: Request) -> Result<StartStatus> {
        let Translation { start, .. } = *self.translation;
        let (operation, not_before) = (self.translation.of_machine(request.operation)?, request.not_before + start);
        let begun = self.node.start(Request { operation, not_before, ..request });
        begun.map_err(|error| self.translation.of_job(error))
    }

    async fn wait_any(&self) -> Result<Report> {
        let report = self.node.wait_any().await.map_err(|error| self.translation.of_job(error));
        let Report { number, at, event } = report?;
        Ok(Report { number, at: self.translation.time_of_job(at), event: self.translation.event_of_job(event) })
    }

    fn handles(&self) -> Option<&dyn Handles> {
        self.handles.as_ref().map(|handles| handles as &dyn Handles)
    }
}
