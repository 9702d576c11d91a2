//! When the sends of a machine are over.

use endpoint::{Endpoint, Message, Result};
use quantities::Rank;

use crate::Group;
use crate::shift::Shift;

/// When the sends of a machine are over: an algorithm in which ranks send to each other in rings has to know.
///
/// Everybody may send first where a send is over without its receiver, and loses time otherwise. Where a send waits for its
/// receiver, some must receive first; an algorithm that is told so works in any world.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Sends {
    /// A send is over when the message has left, or even before.
    #[default]
    Early,
    /// A send is over when the receiving program has taken the message.
    Synchronous,
}

/// What one rank does when every rank sends to one other and receives from one other.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sendrecv {
    /// To whom it sends.
    to: Rank,
    /// From whom it receives.
    from: Rank,
    /// Whether it sends before it receives.
    sends_first: bool,
}

impl Sendrecv {
    /// What a rank does in a shift of the places of `group`.
    pub(crate) fn along(shift: Shift, group: &Group, sends: Sends) -> Sendrecv {
        let (to, from) = (group.rank_at(shift.to.0), group.rank_at(shift.from.0));
        Sendrecv { to, from, sends_first: sends == Sends::Early || shift.sends_first }
    }

    /// What place `me` of `group` does in an exchange with place `partner`: where sends are synchronous, the lower one
    /// receives first.
    pub(crate) fn between(me: u32, partner: u32, group: &Group, sends: Sends) -> Sendrecv {
        let rank = group.rank_at(partner);
        Sendrecv { to: rank, from: rank, sends_first: sends == Sends::Early || me > partner }
    }

    /// Sends `message` and gives what it receives.
    pub(crate) async fn carry_out<E: Endpoint>(self, endpoint: &E, message: Message) -> Result<Message> {
        if self.sends_first {
            endpoint.send(self.to, message).await?;
            return endpoint.receive(self.from).await;
        }
        let received = endpoint.receive(self.from).await?;
        endpoint.send(self.to, message).await?;
        Ok(received)
    }
}
