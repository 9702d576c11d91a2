//! Complete exchange in the fewest possible steps, for any number of ranks.

use endpoint::{Endpoint, Needs, Result};
use quantities::{Bytes, Duration, Rank};

use super::Algorithm;
use super::forwarding::{cost, half, places, set_places, step};
use crate::all_reduce::Combine;
use crate::barrier::distances;
use crate::catalogue::{Cost, Entry, Parameter};
use crate::postal::Lambda;
use crate::shift::Shift;
use crate::{BlockAlgorithm, Blocks, Call, of_pair};

/// Complete exchange in ceil(log2 P) steps: a message that has d ranks to go, counted upwards round the ring, moves in
/// the steps of the bits set in d.
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
/// Those of sending and receiving.
async fn bruck<E: Endpoint>(endpoint: &E, reshuffle: Duration, blocks: &mut Blocks<'_>) -> Result<()> {
    let (me, size) = (endpoint.rank(), endpoint.size());
    for bit in distances(size) {
        let Shift { to, from } = Shift::new(me, bit, size);
        let (leaving, coming) = (leaving(me, bit, size), leaving(from, bit, size));
        step(endpoint, blocks, (to, leaving), (from, coming), reshuffle).await?;
    }
    Ok(())
}

/// The blocks that leave a rank in the step of a bit, place by place.
fn leaving(me: Rank, bit: u32, size: u32) -> impl Iterator<Item = u64> + Clone {
    let block = move |to_go: u32| {
        // The lower bits have been gone.
        let from = match to_go & (bit - 1) {
            0 => me,
            gone => Shift::new(me, gone, size).from,
        };
        of_pair(from, Shift::new(from, to_go, size).to, size)
    };
    places(bit, true, set_places(bit, size)).map(block)
}

/// Store and forward in ceil(log2 P) steps, for any number of ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bruck {
    /// How long it takes to copy a byte into a message, or out of one. [ps/B]
    pub reshuffle: Duration,
}

impl BlockAlgorithm for Bruck {
    type All = Algorithm;
    const ENTRIES: &'static [Entry<Algorithm>] = &[Entry {
        name: "bruck",
        about: "For equal messages among all: store and forward in log2 P steps, for any P",
        formula: "ceil(log2 n) (o + L + o + (s n/2 - 1) G + s n reshuffle) at most",
        parameters: &[Parameter::Reshuffle],
        needs: Needs::NOTHING,
        make: |parameters| Ok(Bruck { reshuffle: parameters.reshuffle() }.into()),
    }];

    async fn run<E: Endpoint, C: Combine>(&self, endpoint: &E, _: &Call<'_, C>, blocks: &mut Blocks<'_>) -> Result<()> {
        // In a box, as it takes much more room than the algorithms that forward nothing.
        Box::pin(bruck(endpoint, self.reshuffle, blocks)).await
    }

    fn largest_message(&self, ranks: u32, bytes: Bytes) -> Bytes {
        half(ranks, bytes)
    }

    fn cost(&self, _: Lambda, ranks: u32, bytes: Bytes) -> Cost {
        cost(ranks, bytes)
    }
}
