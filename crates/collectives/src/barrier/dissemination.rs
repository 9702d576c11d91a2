//! A barrier by dissemination.

use endpoint::{Endpoint, Message, Program, Result};
use quantities::Bytes;

use super::Algorithm;
use crate::all_reduce::Combine;
use crate::catalogue::{Cost, Entry, Stretch, halvings};
use crate::postal::Lambda;
use crate::shift::Shift;
use crate::{BlockAlgorithm, Blocks, Call};

/// The shifts of a dissemination barrier among `size` ranks: by 1, 2, 4, up to the largest power of two below `size`.
pub(crate) fn distances(size: u32) -> impl Iterator<Item = u32> {
    std::iter::successors(Some(1_u32), |distance| distance.checked_mul(2)).take_while(move |&distance| distance < size)
}

/// Dissemination barrier: in round k every rank tells the rank 2^k places further on that it, and all ranks that it has
/// heard from, have arrived. After ceil(log2 P) rounds every rank has heard from all.
///
/// ```text
///   round 1     0 -> 1 -> 2 -> 3 -> 4 -> 0
///   round 2     0 -> 2 -> 4 -> 1 -> 3 -> 0        P = 5
///   round 3     0 -> 4 -> 3 -> 2 -> 1 -> 0
/// ```
///
/// P ceil(log2 P) empty messages. Under LogGP T = ceil(log2 P) (o + L + o).
///
/// Source: Hensgen, Finkel and Manber, "Two algorithms for barrier synchronization", International Journal of Parallel
/// Programming 17(1), 1988.
///
/// # Errors
/// Those of sending and receiving.
pub async fn dissemination<E: Endpoint>(endpoint: &E) -> Result<()> {
    for distance in distances(endpoint.size()) {
        let Shift { to, from } = Shift::new(endpoint.rank(), distance, endpoint.size());
        endpoint.sendrecv(to, Message::default(), from).await?;
    }
    Ok(())
}

/// [`dissemination`] as a program, repeated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dissemination {
    /// The number of repetitions.
    pub times: u32,
}

impl Program for Dissemination {
    type Output = ();

    async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<()> {
        for _ in 0..self.times {
            dissemination(endpoint).await?;
        }
        Ok(())
    }
}

/// [`dissemination`] in the catalogue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ByDissemination;

impl BlockAlgorithm for ByDissemination {
    type All = Algorithm;
    const ENTRIES: &'static [Entry<Algorithm>] = &[Entry::plain(
        "dissemination",
        "Every node signals to one twice as far in every round",
        "ceil(log2 n) (o + L + o)",
        |_| Ok(ByDissemination.into()),
    )];

    async fn run<E: Endpoint, C: Combine>(&self, endpoint: &E, _: &Call<'_, C>, _: &mut Blocks<'_>) -> Result<()> {
        dissemination(endpoint).await
    }

    fn cost(&self, _: Lambda, ranks: u32, _: Bytes) -> Cost {
        let steps = f64::from(halvings(ranks));
        Cost::of(f64::from(ranks) * steps, Bytes(0), vec![Stretch::of(0.0, steps, Bytes(0))])
    }
}
