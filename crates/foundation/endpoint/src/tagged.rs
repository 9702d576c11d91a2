//! An endpoint whose messages have a tag of their own, so that they don't match those that the program itself sends: in
//! MPI, a communicator's context serves this purpose.

use quantities::splitmix64::{GAMMA, mix64};
use quantities::{Bytes, Duration, Rank, Time};

use crate::{Endpoint, Error, Message, Received, Result, Source, Tag, Tags};

/// A rank's endpoint that uses one tag for all messages, whatever tag is asked for.
#[derive(Clone, Copy, Debug)]
pub struct Tagged<'run, E> {
    endpoint: &'run E,
    tag: Tag,
    /// What the ranks of a collective must agree on, in words, if tags are compared.
    agreed: Option<&'run str>,
}

impl<'run, E: Endpoint> Tagged<'run, E> {
    /// An endpoint whose messages have `tag` and match no others.
    pub fn new(endpoint: &'run E, tag: Tag) -> Tagged<'run, E> {
        Tagged { endpoint, tag, agreed: None }
    }

    /// An endpoint for one call of a collective between ranks that can't be compared otherwise: the tag is a digest of
    /// `agreed`, what the ranks must agree on, and of the `size` of its message if they must agree on that. The first
    /// message of a rank that calls something else is an error, but for one case of 65,536, and costs no more than any
    /// other.
    pub fn of_collective(endpoint: &'run E, agreed: &'run str, size: Option<Bytes>) -> Tagged<'run, E> {
        Tagged { endpoint, tag: Tag::of_collective(digest(agreed, size)), agreed: Some(agreed) }
    }

    /// The messages that a receive takes.
    fn tags(&self) -> Tags {
        if self.agreed.is_some() { Tags::OfCollectives } else { Tags::Only(self.tag) }
    }

    /// Checks that a message belongs to the collective that this rank has called.
    fn check(&self, received: Received) -> Result<Received> {
        let Some(agreed) = self.agreed.filter(|_| received.tag != self.tag) else { return Ok(received) };
        let (me, other) = (self.rank(), received.from);
        Err(Error::Mismatch(format!(
            "rank {me} calls {agreed}, where rank {other} calls another collective, or one with another algorithm, root, operator or size; \
             allowed is the same at every rank"
        )))
    }
}

/// A digest, which is the same in every process. It need not withstand anyone: ranks trust each other.
fn digest(agreed: &str, size: Option<Bytes>) -> u16 {
    let size = size.map_or([0; 9], |size| {
        let mut bytes = [1; 9];
        bytes[1..].copy_from_slice(&size.0.to_le_bytes());
        bytes
    });
    let all = agreed.bytes().chain(size);
    (all.fold(0, |digest, byte| mix64(digest ^ u64::from(byte)).wrapping_add(GAMMA)) >> 48) as u16
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
        self.endpoint.receive_matching(from, self.tags(), deadline).await.and_then(|received| self.check(received))
    }

    async fn probe(&self, from: Source, _: Tags, deadline: Option<Time>) -> Result<Received> {
        self.endpoint.probe(from, self.tags(), deadline).await.and_then(|received| self.check(received))
    }

    async fn sendrecv_tagged(&self, to: Rank, _: Tag, message: Message, from: Rank, _: Tags) -> Result<Received> {
        let received = self.endpoint.sendrecv_tagged(to, self.tag, message, from, self.tags()).await;
        received.and_then(|received| self.check(received))
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
