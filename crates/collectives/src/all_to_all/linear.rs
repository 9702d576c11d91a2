//! Complete exchange, one receiver per step.

use endpoint::{Endpoint, Message, Program, Result};
use quantities::{Bytes, Rank};

/// Complete exchange in P steps: in step i all others send rank i their message for it, and it receives them one after
/// the other, from the lowest-numbered sender up. `message_for` makes the message for a rank, `take` is called with
/// each message and its sender.
///
/// ```text
///   step       1         2         3                P = 3
///           0 <- 1    1 <- 0    2 <- 0
///           0 <- 2    1 <- 2    2 <- 1
/// ```
///
/// P (P - 1) messages. Where a send waits for its receiver, one message follows the other: T = P (P - 1) (o + L + o +
/// (s-1) G) at worst, under LogGP with messages of s bytes. Where it does not, ranks run ahead.
///
/// Source: CM-5 paper, section 3.1, table 1.
///
/// # Errors
/// Those of sending and receiving.
pub async fn linear<E: Endpoint>(
    endpoint: &E,
    mut message_for: impl FnMut(Rank) -> Message,
    mut take: impl FnMut(Rank, Message),
) -> Result<()> {
    for receiver in (0..endpoint.size()).map(Rank) {
        if receiver != endpoint.rank() {
            endpoint.send(receiver, message_for(receiver)).await?;
            continue;
        }
        for sender in (0..endpoint.size()).map(Rank).filter(|&sender| sender != receiver) {
            take(sender, endpoint.receive(sender).await?);
        }
    }
    Ok(())
}

/// [`linear`] as a program, with messages that are only a size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Linear {
    /// Size of a message. [B]
    pub bytes: Bytes,
}

impl Program for Linear {
    /// Bytes that this rank received.
    type Output = Bytes;

    async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<Bytes> {
        let mut received = 0;
        linear(endpoint, |_| Message::of_size(self.bytes), |_, message| received += message.size().0).await?;
        Ok(Bytes(received))
    }
}
