//! A schedule as a program, for worlds whose ranks do one thing after the other.

use std::collections::VecDeque;
use std::sync::Arc;

use endpoint::{Endpoint, Error, Message, Needs, Program, Result};
use quantities::{Bytes, Rank};

use super::{GoalRank, OperationId, OperationKind, Ready, Schedule};

/// How long the tag is with which a message begins. [B]
const TAG: usize = 4;

/// A schedule, played by one sequential program a rank.
///
/// ```text
///     while there is something left:
///         give the messages that have come to the receives that were begun, the oldest first
///         begin the next operation that can begin:
///             send, calc     are done with when they return
///             recv           waits among those that were begun
///         if none can: wait for a message from anyone
/// ```
///
/// A message begins with its tag, so none is shorter than 4 B. Of two operations that could go on at once, one does: so a rank whose
/// processor, network interface and receives work side by side in the worlds that know schedules takes longer here.
#[derive(Clone, Debug)]
pub struct Play {
    /// What every rank does.
    pub schedule: Arc<Schedule>,
}

/// A rank, and what of its messages is still to be matched.
struct Player<'schedule> {
    rank: GoalRank<'schedule>,
    ready: VecDeque<Ready>,
    /// The receives that have begun, in this order.
    posted: Vec<OperationId>,
    /// The messages that no receive has taken, in the order in which they came: who sent them, with which tag.
    early: Vec<(Rank, u32)>,
}

impl Program for Play {
    const NEEDS: Needs = Needs::ANY_SOURCE;
    type Output = ();

    async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<()> {
        let mut ready = Vec::new();
        let rank = GoalRank::new(self.schedule.block(endpoint.rank()), &mut ready);
        let mut player = Player { rank, ready: ready.into(), posted: Vec::new(), early: Vec::new() };
        loop {
            player.take_what_is_there(endpoint).await?;
            match player.ready.pop_front() {
                Some(next) => player.begin(endpoint, next.operation).await?,
                None if player.rank.is_done() => return Ok(()),
                None => player.take(endpoint, &endpoint.receive_any(None).await?),
            }
        }
    }
}

impl Player<'_> {
    /// Takes the messages that have come, if a receive waits for any.
    async fn take_what_is_there<E: Endpoint>(&mut self, endpoint: &E) -> Result<()> {
        while !self.posted.is_empty() {
            match endpoint.receive_any(Some(endpoint.now())).await {
                Ok(received) => self.take(endpoint, &received),
                Err(Error::Deadline(_)) => break,
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    async fn begin<E: Endpoint>(&mut self, endpoint: &E, operation: OperationId) -> Result<()> {
        let mut ready = Vec::new();
        self.rank.started(operation, endpoint.now(), &mut ready);
        self.ready.extend(ready);
        match self.rank.block().operation(operation).kind {
            OperationKind::Calculate(work) => endpoint.compute(work).await,
            OperationKind::Send { to, size, tag } => endpoint.send(to, tagged(tag, size)).await?,
            OperationKind::Receive { .. } => {
                let place = self.early.iter().position(|&message| self.takes(operation, message));
                let Some(place) = place else {
                    self.posted.push(operation);
                    return Ok(());
                };
                self.early.remove(place);
            }
        }
        self.finish(endpoint, operation);
        Ok(())
    }

    fn take<E: Endpoint>(&mut self, endpoint: &E, (from, message): &(Rank, Message)) {
        let message = (*from, tag_of(message));
        match self.posted.iter().position(|&receive| self.takes(receive, message)) {
            Some(place) => {
                let receive = self.posted.remove(place);
                self.finish(endpoint, receive);
            }
            None => self.early.push(message),
        }
    }

    fn finish<E: Endpoint>(&mut self, endpoint: &E, operation: OperationId) {
        let mut ready = Vec::new();
        self.rank.finished(operation, endpoint.now(), &mut ready);
        self.ready.extend(ready);
    }

    /// Whether that receive takes a message of this sender with this tag.
    fn takes(&self, receive: OperationId, (sender, its_tag): (Rank, u32)) -> bool {
        match self.rank.block().operation(receive).kind {
            OperationKind::Receive { from, tag, .. } => {
                from.is_none_or(|from| from == sender) && tag.is_none_or(|tag| tag == its_tag)
            }
            OperationKind::Calculate(_) | OperationKind::Send { .. } => false,
        }
    }
}

fn tagged(tag: u32, size: Bytes) -> Message {
    Message::that_begins(tag.to_be_bytes().to_vec(), size)
}

fn tag_of(message: &Message) -> u32 {
    let tag = message.content().and_then(|content| content.first_chunk::<TAG>());
    tag.map_or(0, |tag| u32::from_be_bytes(*tag))
}
