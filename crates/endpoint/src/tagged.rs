//! An endpoint whose messages have a tag of their own, so that they don't match those that the program itself sends: in MPI, a
//! communicator's context serves this purpose.

use quantities::{Duration, Rank, Time};

use crate::{Endpoint, Message, Received, Result, Source, Tag, Tags};

/// A rank's endpoint that uses one tag for all messages, whatever tag is asked for.
#[derive(Clone, Copy, Debug)]
pub struct Tagged<'run, E> {
    /// The rank's endpoint.
    pub endpoint: &'run E,
    /// The tag.
    pub tag: Tag,
}

impl<E: Endpoint> Endpoint for Tagged<'_, E> {
    fn rank(&self) -> Rank {
        self.endpoint.rank()
    }

    fn size(&self) -> u32 {
        self.endpoint.size()
    }

    fn now(&self) -> Time {
        self.endpoint.now()
    }

    async fn send_tagged(&self, to: Rank, _: Tag, message: Message) -> Result<()> {
        self.endpoint.send_tagged(to, self.tag, message).await
    }

    async fn receive_matching(&self, from: Source, _: Tags, deadline: Option<Time>) -> Result<Received> {
        self.endpoint.receive_matching(from, Tags::Only(self.tag), deadline).await
    }

    async fn sendrecv_tagged(&self, to: Rank, _: Tag, message: Message, from: Rank, _: Tags) -> Result<Received> {
        self.endpoint.sendrecv_tagged(to, self.tag, message, from, Tags::Only(self.tag)).await
    }

    async fn compute(&self, work: Duration) {
        self.endpoint.compute(work).await;
    }

    async fn sleep_until(&self, time: Time) {
        self.endpoint.sleep_until(time).await;
    }

    async fn multicast(&self, message: Message) -> Result<()> {
        self.endpoint.multicast(message).await
    }

    async fn receive_multicast(&self, from: Rank) -> Result<Message> {
        self.endpoint.receive_multicast(from).await
    }
}
