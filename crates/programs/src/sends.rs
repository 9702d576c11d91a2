//! When the sends of a machine are over.

use endpoint::{Endpoint, Message, Result};
use quantities::Rank;

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
pub(crate) struct Trade {
    /// To whom it sends.
    pub(crate) to: Rank,
    /// From whom it receives.
    pub(crate) from: Rank,
    /// Whether it sends before it receives.
    pub(crate) sends_first: bool,
}

impl Trade {
    /// Sends `message` and gives what it receives.
    pub(crate) async fn carry_out<E: Endpoint>(self, here: &E, message: Message) -> Result<Message> {
        if self.sends_first {
            here.send(self.to, message).await?;
            return here.receive(self.from).await;
        }
        let received = here.receive(self.from).await?;
        here.send(self.to, message).await?;
        Ok(received)
    }
}
