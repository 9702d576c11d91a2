//! A rank's endpoint within a communicator: ranks are those of the group, and its messages match no others.

use endpoint::{Endpoint, Error, Message, Received, Result, Source, Tag, Tags};
use quantities::{Duration, Rank, Time};

use crate::Group;

/// A rank's endpoint for one collective of a communicator.
#[derive(Clone, Copy, Debug)]
pub(super) struct Communicator<'a, E> {
    endpoint: &'a E,
    group: &'a Group,
    /// The place of this rank in the group.
    me: Rank,
    tag: Tag,
}

impl<'a, E: Endpoint> Communicator<'a, E> {
    /// The endpoint in `group` of the rank of `endpoint`; its messages have `tag`.
    ///
    /// # Errors
    /// If the rank is not in the group.
    pub(super) fn new(endpoint: &'a E, group: &'a Group, tag: Tag) -> Result<Communicator<'a, E>> {
        let stranger = || Error::Unfit(format!("rank {} is not in its communicator", endpoint.rank()));
        let me = Rank(group.place_of(endpoint.rank()).ok_or_else(stranger)?);
        Ok(Communicator { endpoint, group, me, tag })
    }

    fn rank_of(&self, member: Rank) -> Result<Rank> {
        let size = self.group.len();
        if member.0 < size { Ok(self.group.rank_at(member.0)) } else { Err(Error::NoSuchRank { rank: member, size }) }
    }

    /// A received message, with its source as a rank of the group.
    fn within(&self, received: Received) -> Received {
        let from = self.group.place_of(received.from).map_or(received.from, Rank);
        Received { from, ..received }
    }
}

impl<E: Endpoint> Endpoint for Communicator<'_, E> {
    fn rank(&self) -> Rank {
        self.me
    }

    fn size(&self) -> u32 {
        self.group.len()
    }

    fn now(&self) -> Time {
        self.endpoint.now()
    }

    async fn send_tagged(&self, to: Rank, _: Tag, message: Message) -> Result<()> {
        self.endpoint.send_tagged(self.rank_of(to)?, self.tag, message).await
    }

    async fn receive_matching(&self, from: Source, _: Tags, deadline: Option<Time>) -> Result<Received> {
        let from = match from {
            Source::Rank(from) => Source::Rank(self.rank_of(from)?),
            Source::Any => Source::Any,
        };
        self.endpoint.receive_matching(from, Tags::Only(self.tag), deadline).await.map(|received| self.within(received))
    }

    async fn sendrecv_tagged(&self, to: Rank, _: Tag, message: Message, from: Rank, _: Tags) -> Result<Received> {
        let (to, from, tags) = (self.rank_of(to)?, self.rank_of(from)?, Tags::Only(self.tag));
        self.endpoint.sendrecv_tagged(to, self.tag, message, from, tags).await.map(|received| self.within(received))
    }

    async fn compute(&self, work: Duration) {
        self.endpoint.compute(work).await;
    }

    async fn sleep_until(&self, time: Time) {
        self.endpoint.sleep_until(time).await;
    }

    async fn multicast(&self, _: Message) -> Result<()> {
        Err(Error::Unfit("a communicator has no hardware to broadcast by".to_owned()))
    }

    async fn receive_multicast(&self, _: Rank) -> Result<Message> {
        Err(Error::Unfit("a communicator has no hardware to broadcast by".to_owned()))
    }
}
