//! An exchange without a schedule, as a baseline for schedules.

use endpoint::{Endpoint, Error, Message, Program, Result};
use quantities::{Bytes, Rank};

use crate::schedule::{Pattern, Transfer};

/// An exchange without a schedule: each rank sends all its messages, beginning with that for the next rank, and then receives
/// all messages for it, beginning with that of the rank before. As a program, its messages are only a size.
///
/// ```text
///   rank 2 of 4     to 3, to 0, to 1     from 1, from 0, from 3
/// ```
///
/// Only the pattern's messages; under LogGP at least T = o + (D - 1) g + L + o, where D is the most messages that a rank sends or
/// receives. Every rank sends before it receives: in a world in which a send waits for its receiver this deadlocks, unless no rank
/// has to do both.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unscheduled {
    /// For each rank, what it sends, in order.
    sends: Vec<Vec<Transfer>>,
    /// For each rank, the senders that it receives from, in order.
    senders: Vec<Vec<Rank>>,
}

impl Unscheduled {
    /// The messages of `pattern`.
    pub fn new(pattern: &Pattern) -> Unscheduled {
        let ranks = pattern.ranks();
        let mut senders = vec![Vec::new(); ranks as usize];
        for message in pattern.messages() {
            senders[message.to.0 as usize].push(message.from);
        }
        let distance = |from: Rank, to: Rank| (to.0 + ranks - from.0) % ranks;
        let mut sends = Vec::new();
        for (me, senders) in (0..ranks).map(Rank).zip(&mut senders) {
            let mut own = pattern.of_sender(me).to_vec();
            own.sort_unstable_by_key(|message| distance(me, message.to));
            sends.push(own);
            senders.sort_unstable_by_key(|&from| distance(from, me));
        }
        Unscheduled { sends, senders }
    }
}

impl Unscheduled {
    /// Runs the exchange. `message_for` makes the message for a transfer, `take` is called with each message and
    /// its sender.
    ///
    /// # Errors
    /// A number of ranks that differs from the pattern's; the errors of sending and receiving.
    pub async fn exchange<E: Endpoint>(
        &self,
        endpoint: &E,
        mut message_for: impl FnMut(Transfer) -> Message,
        mut take: impl FnMut(Rank, Message),
    ) -> Result<()> {
        let (me, ranks) = (endpoint.rank().0 as usize, self.sends.len());
        let (Some(sends), Some(senders)) = (self.sends.get(me), self.senders.get(me)) else {
            return Err(Error::Unfit(format!("the pattern is of {ranks} ranks, not {}", endpoint.size())));
        };
        for &transfer in sends {
            endpoint.send(transfer.to, message_for(transfer)).await?;
        }
        for &from in senders {
            take(from, endpoint.receive(from).await?);
        }
        Ok(())
    }
}

impl Program for Unscheduled {
    /// Bytes that this rank received.
    type Output = Bytes;

    async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<Bytes> {
        let mut received = 0;
        let of_size = |transfer: Transfer| Message::of_size(transfer.bytes);
        self.exchange(endpoint, of_size, |_, message| received += message.size().0).await?;
        Ok(Bytes(received))
    }
}
