//! All-reduce in which pairs of ranks exchange all their data.

use endpoint::{Endpoint, Message, Needs, Result};
use quantities::Bytes;

use super::algorithm::{Algorithm, AllReduceAlgorithm};
use super::fold::Fold;
use super::operator::combined;
use super::{AllReduceContext, Combine};
use crate::catalogue::{Cost, Entry, Stretch, halvings};
use crate::postal::Lambda;

/// Combines the `message`s of all ranks of a group; every rank ends with the result. In step i, ranks whose numbers
/// differ in bit i exchange what they have combined.
///
/// ```text
///   step 1     0 <-> 1   2 <-> 3   4 <-> 5   6 <-> 7
///   step 2     0 <-> 2   1 <-> 3   4 <-> 6   5 <-> 7
///   step 3     0 <-> 4   1 <-> 5   2 <-> 6   3 <-> 7
/// ```
///
/// n ranks, s bytes: n log2 n messages of s. Under LogGP, without the cost of combining, T = log2 n (o + (s-1) G + L +
/// o). If n is not a power of two, some ranks hand their data over first and get the result at the end: two more
/// messages.
///
/// All ranks end with the same bytes: both ranks of a pair combine the lower one's data with the higher one's.
///
/// Source: Thakur, Rabenseifner and Gropp, "Optimization of collective communication operations in MPICH",
/// International Journal of High Performance Computing Applications 19(1), 2005.
///
/// # Errors
/// When the operator does not fit the data, and the errors of sending and receiving.
pub async fn recursive_doubling<E: Endpoint, C: Combine>(
    endpoint: &E,
    context: &AllReduceContext<'_, C>,
    message: &mut Message,
) -> Result<()> {
    let Some(me) = context.place(endpoint, message)? else { return Ok(()) };
    let fold = Fold::of(context.group.len());
    if let Some(number) = fold.enter(endpoint, context, me, message).await? {
        let mut bit = 1;
        while bit < fold.power {
            let partner = number ^ bit;
            let rank = context.group.rank_at(fold.place(partner));
            let received = endpoint.sendrecv(rank, message.clone(), rank).await?;
            let (lower, higher) = if number < partner { (&*message, &received) } else { (&received, &*message) };
            *message = combined(context.operator, lower, higher)?;
            bit *= 2;
        }
    }
    fold.leave(endpoint, context, me, message).await
}

/// [`recursive_doubling`] in the catalogue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecursiveDoubling;

impl AllReduceAlgorithm for RecursiveDoubling {
    const ENTRIES: &'static [Entry<Algorithm>] = &[Entry {
        name: "recursive-doubling",
        about: "Pairs exchange all that they have",
        formula: "log2 n (o + (s-1) G + L + o) where n is a power of two",
        parameters: &[],
        needs: Needs::NOTHING,
        make: |_| Ok(RecursiveDoubling.into()),
    }];

    async fn run<E: Endpoint, C: Combine>(
        &self,
        endpoint: &E,
        context: &AllReduceContext<'_, C>,
        message: &mut Message,
    ) -> Result<()> {
        recursive_doubling(endpoint, context, message).await
    }

    fn cost(&self, _: Lambda, ranks: u32, bytes: Bytes) -> Cost {
        let steps = f64::from(halvings(ranks));
        Cost::of(f64::from(ranks) * steps, bytes, vec![Stretch::of(0.0, steps, bytes)])
    }
}
