//! Complete exchange in the fewest possible steps, for any number of ranks.

use endpoint::{Endpoint, Message, Program, Result};
use quantities::{Bytes, Duration, Rank};

use super::blocks::{Blocks, Places};
use crate::barrier::distances;
use crate::shift::Shift;

/// Complete exchange in ceil(log2 P) steps: a message that has d ranks to go, counted upwards round the ring, moves in
/// the steps of the bits set in d. `message_for` makes the message for a rank, all of `bytes`; `take` is called with
/// each message and its sender.
///
/// ```text
///   step        by      what goes                    P = 6
///     1         1       messages with 1, 3, 5 to go
///     2         2       messages with 2, 3 to go
///     3         4       messages with 4, 5 to go
/// ```
///
/// A rank holds a message in each of P places: at first place d has the message for the rank d further on, at the end
/// the one from the rank d back. In the step of a bit, the messages in places with that bit leave, and the messages
/// received fill them.
///
/// P ceil(log2 P) messages of at most s P/2 bytes, each of which is packed and unpacked at `reshuffle` [ps/B]. Under
/// LogGP T = ceil(log2 P) (o + L + o + (s P/2 - 1) G + s P reshuffle) at most.
///
/// Source: Bruck, Ho, Kipnis, Upfal and Weathersby, "Efficient algorithms for all-to-all communications in multiport
/// message-passing systems", IEEE Transactions on Parallel and Distributed Systems 8(11), 1997, section 3.
///
/// # Errors
/// Messages of different sizes, the errors of sending and receiving.
pub async fn bruck<E: Endpoint>(
    endpoint: &E,
    bytes: Bytes,
    reshuffle: Duration,
    mut message_for: impl FnMut(Rank) -> Message,
    mut take: impl FnMut(Rank, Message),
) -> Result<()> {
    let (Rank(me), size) = (endpoint.rank(), endpoint.size());
    let further = |places: u32| Rank(if places < size - me { me + places } else { places - (size - me) });
    let message = |places| if places == 0 { Message::of_size(bytes) } else { message_for(further(places)) };
    let mut blocks = Blocks::new(bytes, (0..size).map(message).collect())?;
    steps(endpoint, reshuffle, &mut blocks).await?;
    for (places, message) in (0..).zip(blocks.into_messages()).skip(1) {
        take(further(size - places), message);
    }
    Ok(())
}

async fn steps<E: Endpoint>(endpoint: &E, reshuffle: Duration, blocks: &mut Blocks) -> Result<()> {
    for bit in distances(endpoint.size()) {
        let Shift { to, from } = Shift::new(endpoint.rank(), bit, endpoint.size());
        blocks.sendrecv(endpoint, Places { bit, set: true }, to, from, reshuffle).await?;
    }
    Ok(())
}

/// [`bruck`] as a program, with messages that are only a size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bruck {
    /// Size of a message between two ranks. [B]
    pub bytes: Bytes,
    /// How long it takes to copy a byte into a message, or out of one. [ps/B]
    pub reshuffle: Duration,
}

impl Program for Bruck {
    /// Bytes that this rank received, for itself or for others.
    type Output = Bytes;

    async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<Bytes> {
        let mut blocks = Blocks::of_size(self.bytes, endpoint.size());
        steps(endpoint, self.reshuffle, &mut blocks).await?;
        let forwarded: u64 =
            distances(endpoint.size()).map(|bit| blocks.pack(Places { bit, set: true }).size().0).sum();
        Ok(Bytes(forwarded))
    }
}
