//! An endpoint whose messages are packed and unpacked.

use endpoint::{Endpoint, Message, Received, Result, Source, Tag, Tags};
use quantities::{Duration, Rank, Time};

/// The endpoint `endpoint`, on which packing a message before it is sent takes `work`, and so does unpacking a received
/// one: it adds to any exchange the packing that figure 3 of the CM-5 paper includes in recursive exchange.
#[derive(Debug)]
pub(super) struct Packed<'endpoint, E> {
    pub(super) endpoint: &'endpoint E,
    /// The time to pack, or unpack, a message. [ps]
    pub(super) work: Duration,
}

impl<E: Endpoint> Endpoint for Packed<'_, E> {
    fn rank(&self) -> Rank {
        self.endpoint.rank()
    }

    fn size(&self) -> u32 {
        self.endpoint.size()
    }

    fn now(&self) -> Time {
        self.endpoint.now()
    }

    async fn send_tagged(&self, to: Rank, tag: Tag, message: Message) -> Result<()> {
        self.endpoint.compute(self.work).await;
        self.endpoint.send_tagged(to, tag, message).await
    }

    async fn receive_matching(&self, from: Source, tags: Tags, deadline: Option<Time>) -> Result<Received> {
        let received = self.endpoint.receive_matching(from, tags, deadline).await?;
        self.endpoint.compute(self.work).await;
        Ok(received)
    }

    async fn probe(&self, from: Source, tags: Tags, deadline: Option<Time>) -> Result<Received> {
        self.endpoint.probe(from, tags, deadline).await
    }

    async fn sendrecv_tagged(&self, to: Rank, tag: Tag, message: Message, from: Rank, tags: Tags) -> Result<Received> {
        self.endpoint.compute(self.work).await;
        let received = self.endpoint.sendrecv_tagged(to, tag, message, from, tags).await?;
        self.endpoint.compute(self.work).await;
        Ok(received)
    }

    async fn multicast(&self, message: Message) -> Result<()> {
        self.endpoint.compute(self.work).await;
        self.endpoint.multicast(message).await
    }

    async fn receive_multicast(&self, from: Rank) -> Result<Message> {
        let message = self.endpoint.receive_multicast(from).await?;
        self.endpoint.compute(self.work).await;
        Ok(message)
    }

    async fn compute(&self, work: Duration) {
        self.endpoint.compute(work).await;
    }
}
