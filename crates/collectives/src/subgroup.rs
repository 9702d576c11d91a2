//! A rank's endpoint within a group of ranks, as MPI has communicators: ranks are places in the group, and its messages
//! match no others.

use endpoint::{Endpoint, Error, Message, Received, Result, Source, Tag, Tags};
use quantities::{Duration, Rank, Time};

use crate::Group;

/// A rank's endpoint within a group. Its ranks are the places in the group, so that whatever runs on it runs among the
/// ranks of the group in their order: all ranks of a program that runs over a subset, or over all ranks in another
/// order.
#[derive(Clone, Copy, Debug)]
pub struct Subgroup<'a, E> {
    endpoint: &'a E,
    group: &'a Group,
    /// The place of this rank in the group.
    me: Rank,
    /// The tag of all its messages, whatever tag is asked for; none, if they have that tag.
    tag: Option<Tag>,
}

impl<'a, E: Endpoint> Subgroup<'a, E> {
    /// The endpoint in `group` of the rank of `endpoint`; its messages have `tag`, if one is given, and match no
    /// others.
    ///
    /// # Errors
    /// If the rank is not in the group.
    pub fn new(endpoint: &'a E, group: &'a Group, tag: Option<Tag>) -> Result<Subgroup<'a, E>> {
        let stranger = || Error::Unfit(format!("rank {} is not in its group", endpoint.rank()));
        let me = Rank(group.place_of(endpoint.rank()).ok_or_else(stranger)?);
        Ok(Subgroup { endpoint, group, me, tag })
    }

    fn rank_of(&self, member: Rank) -> Result<Rank> {
        let size = self.group.len();
        if member.0 < size { Ok(self.group.rank_at(member.0)) } else { Err(Error::NoSuchRank { rank: member, size }) }
    }

    /// What a receive asks for, with its source as a rank of the program.
    fn outside(&self, from: Source, tags: Tags) -> Result<(Source, Tags)> {
        let from = match from {
            Source::Rank(from) => Source::Rank(self.rank_of(from)?),
            Source::Any => Source::Any,
        };
        Ok((from, self.tag.map_or(tags, Tags::Only)))
    }

    /// A received message, with its source as a rank of the group.
    fn within(&self, received: Received) -> Received {
        let from = self.group.place_of(received.from).map_or(received.from, Rank);
        Received { from, ..received }
    }
}

impl<E: Endpoint> Endpoint for Subgroup<'_, E> {
    fn rank(&self) -> Rank {
        self.me
    }

    fn size(&self) -> u32 {
        self.group.len()
    }

    fn now(&self) -> Time {
        self.endpoint.now()
    }

    async fn send_tagged(&self, to: Rank, tag: Tag, message: Message) -> Result<()> {
        self.endpoint.send_tagged(self.rank_of(to)?, self.tag.unwrap_or(tag), message).await
    }

    async fn receive_matching(&self, from: Source, tags: Tags, deadline: Option<Time>) -> Result<Received> {
        let (from, tags) = self.outside(from, tags)?;
        self.endpoint.receive_matching(from, tags, deadline).await.map(|received| self.within(received))
    }

    async fn probe(&self, from: Source, tags: Tags, deadline: Option<Time>) -> Result<Received> {
        let (from, tags) = self.outside(from, tags)?;
        self.endpoint.probe(from, tags, deadline).await.map(|received| self.within(received))
    }

    async fn sendrecv_tagged(&self, to: Rank, tag: Tag, message: Message, from: Rank, tags: Tags) -> Result<Received> {
        let (to, from) = (self.rank_of(to)?, self.rank_of(from)?);
        let (tag, tags) = self.tag.map_or((tag, tags), |tag| (tag, Tags::Only(tag)));
        self.endpoint.sendrecv_tagged(to, tag, message, from, tags).await.map(|received| self.within(received))
    }

    async fn compute(&self, work: Duration) {
        self.endpoint.compute(work).await;
    }

    async fn sleep_until(&self, time: Time) {
        self.endpoint.sleep_until(time).await;
    }

    async fn multicast(&self, _: Message) -> Result<()> {
        Err(Error::Unfit("a group has no hardware to broadcast by".to_owned()))
    }

    async fn receive_multicast(&self, _: Rank) -> Result<Message> {
        Err(Error::Unfit("a group has no hardware to broadcast by".to_owned()))
    }
}
