//! All-reduce by recursive halving and doubling.

use endpoint::{Endpoint, Message, Needs, Result};
use quantities::Bytes;

use super::algorithm::{Algorithm, AllReduceAlgorithm};
use super::blocks::Blocks;
use super::fold::Fold;
use super::operator::combined;
use super::{AllReduceContext, Combine};
use crate::catalogue::{Cost, Entry, Stretch, halvings, part};
use crate::pieces::{joined, piece};
use crate::postal::Lambda;

/// Combines the `message`s of all ranks of a group; every rank ends with the result. First pairs divide up halves, then
/// quarters, of the elements, until each rank has the result of one block; then they collect the blocks in reverse
/// order.
///
/// ```text
///   reduce-scatter     0 <-> 2   1 <-> 3       0 and 1 keep the first half, 2 and 3 the second
///                      0 <-> 1   2 <-> 3       each keeps a quarter, done
///   all-gather         0 <-> 1   2 <-> 3       halves
///                      0 <-> 2   1 <-> 3       all
/// ```
///
/// n ranks, s bytes: 2 n log2 n messages; every rank sends 2 s (n - 1) / n bytes. Under LogGP, without the cost of
/// combining, T = 2 log2 n (o + L + o) + 2 s (n - 1) / n G. If n is not a power of two, some ranks hand their data over
/// first and get the result at the end: two more messages of s.
///
/// All ranks end with the same bytes, as each block is computed by one of them.
///
/// Source: Rabenseifner, "Optimization of collective reduction operations", International Conference on Computational
/// Science, 2004.
///
/// # Errors
/// When the operator does not fit the data, and the errors of sending and receiving.
pub async fn rabenseifner<E: Endpoint, C: Combine>(
    endpoint: &E,
    context: &AllReduceContext<'_, C>,
    message: &mut Message,
) -> Result<()> {
    let Some(me) = context.place(endpoint, message)? else { return Ok(()) };
    let fold = Fold::of(context.group.len());
    if let Some(number) = fold.enter(endpoint, context, me, message).await? {
        let blocks = Blocks::of(context.operator, message, fold.power);
        let mut held = message.clone();
        let mut first = 0; // of the blocks that are held
        let mut bit = fold.power / 2;
        while bit > 0 {
            let partner = number ^ bit;
            let rank = context.group.rank_at(fold.place(partner));
            let middle = blocks.start(first + bit) - blocks.start(first);
            let halves = [piece(&held, 0..middle), piece(&held, middle..held.size().0)];
            let [lower, upper] = halves;
            let (kept, given) = if number < partner { (lower, upper) } else { (upper, lower) };
            let received = endpoint.sendrecv(rank, given, rank).await?;
            let (lower, higher) = if number < partner { (kept, received) } else { (received, kept) };
            held = combined(context.operator, &lower, &higher)?;
            first += number & bit;
            bit /= 2;
        }
        let mut bit = 1;
        while bit < fold.power {
            let partner = number ^ bit;
            let rank = context.group.rank_at(fold.place(partner));
            let received = endpoint.sendrecv(rank, held.clone(), rank).await?;
            held = joined(&if number < partner { [held, received] } else { [received, held] });
            bit *= 2;
        }
        *message = held;
    }
    fold.leave(endpoint, context, me, message).await
}

/// [`rabenseifner`] in the catalogue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rabenseifner;

impl AllReduceAlgorithm for Rabenseifner {
    const ENTRIES: &'static [Entry<Algorithm>] = &[Entry {
        name: "rabenseifner",
        about: "Pairs exchange halves, quarters and so on, and then the other way",
        formula: "2 log2 n (o + L + o) + 2 s (n - 1) / n G where n is a power of two",
        parameters: &[],
        needs: Needs::NOTHING,
        make: |_| Ok(Rabenseifner.into()),
    }];

    async fn run<E: Endpoint, C: Combine>(
        &self,
        endpoint: &E,
        context: &AllReduceContext<'_, C>,
        message: &mut Message,
    ) -> Result<()> {
        rabenseifner(endpoint, context, message).await
    }

    fn cost(&self, _: Lambda, ranks: u32, bytes: Bytes) -> Cost {
        let (n, steps) = (f64::from(ranks), halvings(ranks));
        let chain = (1..=steps).map(|step| Stretch::of(0.0, 2.0, part(bytes, 1 << step))).collect();
        let (messages, share) = (n * (2.0 * f64::from(steps)), 1.0 / f64::from(steps).max(1.0));
        Cost { messages, bytes: messages * share * bytes.0 as f64, chain, ..Cost::default() }
    }
}
