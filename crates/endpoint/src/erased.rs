//! An endpoint of whatever type, for what can't be compiled anew for each: programs of many types that run beside each other, or of
//! another language.

use std::fmt;
use std::future::Future;
use std::pin::Pin;

use quantities::{Duration, Rank, Time};

use crate::{
    Begun, Endpoint, Handles, Message, Operation, Pending, Received, Report, Request, Result, Source, Tag, Tags,
};

/// A future in a box: an operation of an [`Erased`] endpoint costs one where its world knows no [`Handles`].
type Boxed<'run, T> = Pin<Box<dyn Future<Output = T> + 'run>>;

/// What of an endpoint does not depend on its type.
trait AnyEndpoint {
    fn rank(&self) -> Rank;
    fn size(&self) -> u32;
    fn now(&self) -> Time;
    fn handles(&self) -> Option<&dyn Handles>;
    fn send_tagged(&self, to: Rank, tag: Tag, message: Message) -> Boxed<'_, Result<()>>;
    fn receive_matching(&self, from: Source, tags: Tags, deadline: Option<Time>) -> Boxed<'_, Result<Received>>;
    fn sendrecv_tagged(
        &self,
        to: Rank,
        tag: Tag,
        message: Message,
        from: Rank,
        tags: Tags,
    ) -> Boxed<'_, Result<Received>>;
    fn compute(&self, work: Duration) -> Boxed<'_, ()>;
    fn sleep_until(&self, time: Time) -> Boxed<'_, ()>;
    fn multicast(&self, message: Message) -> Boxed<'_, Result<()>>;
    fn receive_multicast(&self, from: Rank) -> Boxed<'_, Result<Message>>;
    fn start(&self, request: Request) -> Result<Begun>;
    fn wait_any(&self) -> Boxed<'_, Result<Report>>;
}

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

    fn send_tagged(&self, to: Rank, tag: Tag, message: Message) -> Boxed<'_, Result<()>> {
        Box::pin(Endpoint::send_tagged(self, to, tag, message))
    }

    fn receive_matching(&self, from: Source, tags: Tags, deadline: Option<Time>) -> Boxed<'_, Result<Received>> {
        Box::pin(Endpoint::receive_matching(self, from, tags, deadline))
    }

    fn sendrecv_tagged(
        &self,
        to: Rank,
        tag: Tag,
        message: Message,
        from: Rank,
        tags: Tags,
    ) -> Boxed<'_, Result<Received>> {
        Box::pin(Endpoint::sendrecv_tagged(self, to, tag, message, from, tags))
    }

    fn compute(&self, work: Duration) -> Boxed<'_, ()> {
        Box::pin(Endpoint::compute(self, work))
    }

    fn sleep_until(&self, time: Time) -> Boxed<'_, ()> {
        Box::pin(Endpoint::sleep_until(self, time))
    }

    fn multicast(&self, message: Message) -> Boxed<'_, Result<()>> {
        Box::pin(Endpoint::multicast(self, message))
    }

    fn receive_multicast(&self, from: Rank) -> Boxed<'_, Result<Message>> {
        Box::pin(Endpoint::receive_multicast(self, from))
    }

    fn start(&self, request: Request) -> Result<Begun> {
        Endpoint::start(self, request)
    }

    fn wait_any(&self) -> Boxed<'_, Result<Report>> {
        Box::pin(Endpoint::wait_any(self))
    }
}

/// An endpoint whose type is not known where it is used.
#[derive(Clone, Copy)]
pub struct Erased<'run>(&'run dyn AnyEndpoint);

impl<'run> Erased<'run> {
    /// That `endpoint`.
    pub fn new<E: Endpoint>(endpoint: &'run E) -> Erased<'run> {
        Erased(endpoint)
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
        match self.0.handles() {
            Some(handles) => Pending::new(handles, Operation::Send { to, tag, message }).await.map(drop),
            None => self.0.send_tagged(to, tag, message).await,
        }
    }

    async fn receive_matching(&self, from: Source, tags: Tags, deadline: Option<Time>) -> Result<Received> {
        match self.0.handles() {
            Some(handles) => Pending::new(handles, Operation::Receive { from, tags, deadline }).await?.received(),
            None => self.0.receive_matching(from, tags, deadline).await,
        }
    }

    async fn sendrecv_tagged(&self, to: Rank, tag: Tag, message: Message, from: Rank, tags: Tags) -> Result<Received> {
        self.0.sendrecv_tagged(to, tag, message, from, tags).await
    }

    async fn compute(&self, work: Duration) {
        self.0.compute(work).await;
    }

    async fn sleep_until(&self, time: Time) {
        self.0.sleep_until(time).await;
    }

    fn handles(&self) -> Option<&dyn Handles> {
        self.0.handles()
    }

    async fn multicast(&self, message: Message) -> Result<()> {
        self.0.multicast(message).await
    }

    async fn receive_multicast(&self, from: Rank) -> Result<Message> {
        self.0.receive_multicast(from).await
    }

    fn start(&self, request: Request) -> Result<Begun> {
        self.0.start(request)
    }

    async fn wait_any(&self) -> Result<Report> {
        self.0.wait_any().await
    }
}
