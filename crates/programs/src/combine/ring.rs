//! All-reduce round a ring.

use endpoint::{Endpoint, Message, Result};
use quantities::Rank;

use super::blocks::Blocks;
use super::operator::combined;
use super::{Combine, Together};
use crate::pieces::Gathered;
use crate::shift::Shift;

/// Combines the `word`s of all ranks of a group; every rank ends with the result. The n blocks of the data go once round the
/// ring of ranks to be combined, and once more to be known.
///
/// ```text
///   step i        rank p sends block p - i to p + 1, which adds its own      n - 1 steps, p in 0..n, modulo n
///                 now rank p has the result of block p + 1
///   step i        rank p sends block p + 1 - i to p + 1                      n - 1 steps
/// ```
///
/// n ranks, s bytes: 2 n (n - 1) messages of s / n. Under LogGP, without what combining costs, T = 2 (n - 1) (o + L + o) +
/// 2 s (n - 1) / n G: the least bytes that there can be, in many steps.
///
/// All ranks end with the same bytes, as one of them has made each block.
///
/// Source: Patarasuk and Yuan, "Bandwidth optimal all-reduce algorithms for clusters of workstations", Journal of Parallel
/// and Distributed Computing 69(2), 2009.
///
/// # Errors
/// When the operator does not fit the data, and what sending and receiving can end with.
pub async fn ring<E: Endpoint, C: Combine>(endpoint: &E, together: &Together<'_, C>, word: &mut Message) -> Result<()> {
    let Some(me) = together.place(endpoint, word)? else { return Ok(()) };
    let n = together.group.len();
    if n == 1 {
        return Ok(());
    }
    let blocks = Blocks::of(together.operator, word, n);
    let trade = together.trade(Shift::new(Rank(me), 1, n));
    let before = |block: u32| block.checked_sub(1).unwrap_or(n - 1);

    let (mut block, mut passing) = (me, blocks.cut(word, me));
    for _ in 1..n {
        let received = trade.carry_out(endpoint, passing).await?;
        block = before(block);
        passing = combined(together.operator, &received, &blocks.cut(word, block))?;
    }
    let mut known = Gathered::default();
    for _ in 1..n {
        known.put(block, passing.clone());
        passing = trade.carry_out(endpoint, passing).await?;
        block = before(block);
    }
    known.put(block, passing);
    *word = known.joined();
    Ok(())
}
