//! Complete exchange, one partner a step.

use endpoint::{Endpoint, Message, Program, Result};
use quantities::{Bytes, Rank};

/// Complete exchange in P - 1 steps: in step i every rank sends its message for one other rank and receives one.
/// `message_for` makes the message for a rank, `take` is given each message with its sender.
///
/// With a power of two of ranks the partner in step i is rank xor i, and the two exchange; otherwise rank p sends to
/// (p + i) mod P and receives from (p - i) mod P.
///
/// ```text
///   step       1         2         3                P = 4
///           0 <-> 1   0 <-> 2   0 <-> 3
///           2 <-> 3   1 <-> 3   1 <-> 2
/// ```
///
/// P (P - 1) messages. Under LogGP with messages of s bytes: T = (P - 1) (o + (s-1) G + L + o). Every rank sends before
/// it receives: a world in which a send waits for its receiver ends it as a deadlock.
///
/// Source: Bokhari, "Complete exchange on the iPSC-860", ICASE report 91-4, 1991 (the exclusive-or schedule).
///
/// # Errors
/// What sending and receiving can end with.
pub async fn pairwise<E: Endpoint>(
    here: &E,
    mut message_for: impl FnMut(Rank) -> Message,
    mut take: impl FnMut(Rank, Message),
) -> Result<()> {
    let (Rank(me), size) = (here.rank(), here.size());
    for step in 1..size {
        let (to, from) = if size.is_power_of_two() {
            (me ^ step, me ^ step)
        } else {
            let room = size - step;
            (if me < room { me + step } else { me - room }, if me >= step { me - step } else { me + room })
        };
        here.send(Rank(to), message_for(Rank(to))).await?;
        take(Rank(from), here.receive(Rank(from)).await?);
    }
    Ok(())
}

/// [`pairwise`] as a program, with messages that are only a size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pairwise {
    /// Size of a message. [B]
    pub bytes: Bytes,
}

impl Program for Pairwise {
    /// Bytes that this rank received.
    type Output = Bytes;

    async fn run<E: Endpoint>(&self, here: &E) -> Result<Bytes> {
        let mut received = 0;
        pairwise(here, |_| Message::of_size(self.bytes), |_, message| received += message.size().0).await?;
        Ok(Bytes(received))
    }
}
