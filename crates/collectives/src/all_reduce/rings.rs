//! All-reduce round several rings at once.

use endpoint::{Endpoint, Error, Message, Needs, Program, Result, Tag, Tagged, join_all};
use quantities::Bytes;

use super::{AllReduceContext, Combine, Sends, ring};
use crate::Group;
use crate::pieces::{block_start, joined, piece};

/// A ring, and how much of the data goes round it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WeightedRing {
    /// All ranks, in the order of the ring.
    pub order: Group,
    /// Its share of the data, relative to those of the other rings. More than zero.
    pub weight: u32,
}

/// Combines the `message`s of all ranks; every rank ends with the result. Each ring takes a part of the data, and all
/// are under way at once, so that links which one ring leaves idle carry another:
///
/// ```text
///   0 - 1     two rings, clockwise and back: each link carries half of the data in each direction
///   |   |
///   3 - 2
/// ```
///
/// R rings of equal weight over separate links, n ranks, s bytes: T = 2 (n - 1) (o + L + o) + 2 s (n - 1) / (n R) G.
///
/// Source: Patarasuk and Yuan, "Bandwidth optimal all-reduce algorithms for clusters of workstations", Journal of
/// Parallel and Distributed Computing 69(2), 2009, for one ring. Libraries for accelerators use several, over separate
/// links (NCCL calls them channels).
///
/// # Errors
/// When the operator does not fit the data, no ring has a weight, and the errors of sending and receiving.
pub async fn rings<E: Endpoint, C: Combine>(
    endpoint: &E,
    operator: &C,
    rings: &[WeightedRing],
    message: &mut Message,
) -> Result<()> {
    let all: u32 = rings.iter().map(|ring| ring.weight).sum();
    if all == 0 {
        return Err(Error::Unfit("an all-reduce round no rings would combine nothing".to_owned()));
    }
    let element = operator.element().max(1);
    let elements = message.size().0 / element;
    let mut before = 0;
    let parts = rings.iter().zip(0..).map(|(WeightedRing { order, weight }, number)| {
        let start = |weight: u32| block_start(elements, all, weight) * element;
        let part = piece(message, start(before)..start(before + weight));
        before += weight;
        async move {
            let (tagged, mut part) = (Tagged::new(endpoint, Tag(number)), part);
            let context = AllReduceContext { group: order, operator, sends: Sends::Early };
            ring(&tagged, &context, &mut part).await.map(|()| part)
        }
    });
    let parts: Vec<_> = parts.collect();
    let combined = join_all(parts).await.into_iter().collect::<Result<Vec<Message>>>()?;
    *message = joined(&combined);
    Ok(())
}

/// [`rings`] as a program, with messages that are only a size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AllReduceByRings<C> {
    /// The rings.
    pub rings: Vec<WeightedRing>,
    /// The operator that combines two messages.
    pub operator: C,
    /// The data of each rank, in order of rank; if there are none, `bytes` that nobody reads.
    pub inputs: Vec<Message>,
    /// The size of a rank's data. [B]
    pub bytes: Bytes,
}

impl<C: Combine> Program for AllReduceByRings<C> {
    /// The result.
    type Output = Message;

    const NEEDS: Needs = Needs::OVERLAP;

    async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<Message> {
        let own = self.inputs.get(endpoint.rank().0 as usize).cloned();
        let mut message = own.unwrap_or(Message::of_size(self.bytes));
        rings(endpoint, &self.operator, &self.rings, &mut message).await?;
        Ok(message)
    }
}
