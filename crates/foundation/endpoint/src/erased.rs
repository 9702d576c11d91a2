//! An endpoint of any type, for code that can't be compiled anew for each: programs of many types that run side by
//! side, or programs in another language.

use std::fmt;
use std::future::Future;
use std::pin::Pin;

use quantities::{Duration, Rank, Time};

use crate::{
    Endpoint, Error, Handles, Message, Operation, Outcome, Pending, Received, Report, Request, Result, Source,
    StartStatus, Tag, Tags,
};

/// A future in a box: an operation of an [`Erased`] endpoint costs one where its world has no [`Handles`].
type Boxed<'run, T> = Pin<Box<dyn Future<Output = T> + 'run>>;

/// The part of an endpoint that does not depend on its type.
trait AnyEndpoint {
    fn rank(&self) -> Rank;
    fn size(&self) -> u32;
    fn now(&self) -> Time;
    fn handles(&self) -> Option<&dyn Handles>;
    fn carry_out(&self, operation: Operation) -> Boxed<'_, Result<Option<Received>>>;
    fn sendrecv_tagged(&self, to: Rank, tag: Tag, message: Message, from: Rank, tags: Tags) -> BoxedReceive<'_>;
    fn start(&self, request: Request) -> Result<StartStatus>;
    fn wait_any(&self) -> Boxed<'_, Result<Report>>;
}

/// A receive in a box.
type BoxedReceive<'run> = Boxed<'run, Result<Received>>;

impl<E: Endpoint> AnyEndpoint for E {
    fn rank(&self) -> Rank {
        Endpoint::rank(self)
    }

    fn size(&self) -> u32 {
        Endpoint::size(self)
    }

    fn now(&self) -> Time {
        Endpoint::now(self)
    }

    fn handles(&self) -> Option<&dyn Handles> {
        Endpoint::handles(self)
    }

    fn carry_out(&self, operation: Operation) -> Boxed<'_, Result<Option<Received>>> {
        Box::pin(Endpoint::carry_out(self, operation))
    }

    fn sendrecv_tagged(&self, to: Rank, tag: Tag, message: Message, from: Rank, tags: Tags) -> BoxedReceive<'_> {
        Box::pin(Endpoint::sendrecv_tagged(self, to, tag, message, from, tags))
    }

    fn start(&self, request: Request) -> Result<StartStatus> {
        Endpoint::start(self, request)
    }

    fn wait_any(&self) -> Boxed<'_, Result<Report>> {
        Box::pin(Endpoint::wait_any(self))
    }
}

/// An endpoint whose type is not known to its user.
#[derive(Clone, Copy)]
pub struct Erased<'run>(&'run dyn AnyEndpoint);

impl<'run> Erased<'run> {
    /// Erases the type of `endpoint`.
    pub fn new<E: Endpoint>(endpoint: &'run E) -> Erased<'run> {
        Erased(endpoint)
    }

    /// Carries out a send or a receive, by handle where possible.
    async fn operate(&self, operation: Operation) -> Result<Option<Received>> {
        match self.0.handles() {
            Some(handles) => Pending::new(handles, operation).await.map(Outcome::into_received),
            None => self.0.carry_out(operation).await,
        }
    }
}

impl fmt::Debug for Erased<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_tuple("Erased").field(&self.0.rank()).finish()
    }
}

impl Endpoint for Erased<'_> {
    fn rank(&self) -> Rank {
        self.0.rank()
    }

    fn size(&self) -> u32 {
        self.0.size()
    }

    fn now(&self) -> Time {
        self.0.now()
    }

    async fn send_tagged(&self, to: Rank, tag: Tag, message: Message) -> Result<()> {
        self.operate(Operation::Send { to, tag, message }).await.map(drop)
    }

    async fn receive_matching(&self, from: Source, tags: Tags, deadline: Option<Time>) -> Result<Received> {
        self.operate(Operation::Receive { from, tags, deadline }).await?.ok_or_else(Error::without_message)
    }

    async fn probe(&self, from: Source, tags: Tags, deadline: Option<Time>) -> Result<Received> {
        self.operate(Operation::Probe { from, tags, deadline }).await?.ok_or_else(Error::without_message)
    }

    async fn sendrecv_tagged(&self, to: Rank, tag: Tag, message: Message, from: Rank, tags: Tags) -> Result<Received> {
        self.0.sendrecv_tagged(to, tag, message, from, tags).await
    }

    async fn compute(&self, work: Duration) {
        // An endpoint keeps the error of a computation to itself.
        let _ = self.0.carry_out(Operation::Compute(work)).await;
    }

    async fn sleep_until(&self, time: Time) {
        let _ = self.0.carry_out(Operation::Sleep(time)).await;
    }

    async fn multicast(&self, message: Message) -> Result<()> {
        self.0.carry_out(Operation::Multicast(message)).await.map(drop)
    }

    async fn receive_multicast(&self, from: Rank) -> Result<Message> {
        let received = self.0.carry_out(Operation::ReceiveMulticast(from)).await?;
        received.map(|received| received.message).ok_or_else(Error::without_message)
    }

    async fn carry_out(&self, operation: Operation) -> Result<Option<Received>> {
        self.0.carry_out(operation).await
    }

    fn start(&self, request: Request) -> Result<StartStatus> {
        self.0.start(request)
    }

    async fn wait_any(&self) -> Result<Report> {
        self.0.wait_any().await
    }

    fn handles(&self) -> Option<&dyn Handles> {
        self.0.handles()
    }
}
