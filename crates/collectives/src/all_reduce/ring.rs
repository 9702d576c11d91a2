//! All-reduce round a ring.

use endpoint::{Endpoint, Message, Needs, Result};
use quantities::Bytes;

use super::algorithm::{Algorithm, AllReduceAlgorithm};
use super::blocks::Blocks;
use super::operator::combined;
use super::{AllReduceContext, Combine};
use crate::catalogue::{Cost, Entry, Stretch, part};
use crate::pieces::Gathered;
use crate::postal::Lambda;
use crate::shift::Shift;

/// Combines the `message`s of all ranks of a group; every rank ends with the result. The n blocks of the data go once
/// round the ring of ranks to be combined, and once more to be distributed.
///
/// ```text
///   step i        rank p sends block p - i to p + 1, which adds its own      n - 1 steps, p in 0..n, modulo n
///                 now rank p has the result of block p + 1
///   step i        rank p sends block p + 1 - i to p + 1                      n - 1 steps
/// ```
///
/// n ranks, s bytes: 2 n (n - 1) messages of s / n. Under LogGP, without the cost of combining, T = 2 (n - 1) (o + L +
/// o) + 2 s (n - 1) / n G: the fewest possible bytes, in many steps.
///
/// All ranks end with the same bytes, as each block is computed by one of them.
///
/// Source: Patarasuk and Yuan, "Bandwidth optimal all-reduce algorithms for clusters of workstations", Journal of
/// Parallel and Distributed Computing 69(2), 2009.
///
/// # Errors
/// When the operator does not fit the data, and the errors of sending and receiving.
pub async fn ring<E: Endpoint, C: Combine>(
    endpoint: &E,
    context: &AllReduceContext<'_, C>,
    message: &mut Message,
) -> Result<()> {
    let Some(me) = context.place(endpoint, message)? else { return Ok(()) };
    let n = context.group.len();
    if n == 1 {
        return Ok(());
    }
    let blocks = Blocks::of(context.operator, message, n);
    let Shift { to, from } = Shift::of_places(me, 1, context.group);
    let before = |block: u32| block.checked_sub(1).unwrap_or(n - 1);

    let (mut block, mut passing) = (me, blocks.cut(message, me));
    for _ in 1..n {
        let received = endpoint.sendrecv(to, passing, from).await?;
        block = before(block);
        passing = combined(context.operator, &received, &blocks.cut(message, block))?;
    }
    let mut known = Gathered::default();
    for _ in 1..n {
        known.put(block, passing.clone());
        passing = endpoint.sendrecv(to, passing, from).await?;
        block = before(block);
    }
    known.put(block, passing);
    *message = known.joined();
    Ok(())
}

/// [`ring`] in the catalogue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ring;

impl AllReduceAlgorithm for Ring {
    const ENTRIES: &'static [Entry<Algorithm>] = &[Entry {
        name: "ring",
        about: "Blocks go twice round the ring of all nodes",
        formula: "2 (n - 1) (o + L + o) + 2 s (n - 1) / n G",
        parameters: &[],
        needs: Needs::NOTHING,
        make: |_| Ok(Ring.into()),
    }];

    async fn run<E: Endpoint, C: Combine>(
        &self,
        endpoint: &E,
        context: &AllReduceContext<'_, C>,
        message: &mut Message,
    ) -> Result<()> {
        ring(endpoint, context, message).await
    }

    fn cost(&self, _: Lambda, ranks: u32, bytes: Bytes) -> Cost {
        let n = f64::from(ranks);
        let chain = vec![Stretch::of(0.0, 2.0 * (n - 1.0), part(bytes, u64::from(ranks)))];
        Cost { messages: n * (2.0 * n), bytes: n * (2.0 * n) * (1.0 / n) * bytes.0 as f64, to_next_rank: true, chain }
    }
}
