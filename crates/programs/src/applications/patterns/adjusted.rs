//! Patterns with a given density and mean size.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use quantities::{Bytes, Rank};

use collectives::schedule::{Pattern, PatternError, Transfer};

/// The messages of a pattern, by sender and receiver.
type Messages = BTreeMap<(u32, u32), u64>;

/// Adjusts `pattern`, a halo's, in which every sender also receives, so that its messages are `percent` of those of a
/// complete exchange, rounded, of `mean_bytes` on average:
///
/// 1. Pairs of ranks that have the least for each other are left out, or pairs that have the most partners in common
///    are added, with messages as small as the smallest, until the number of messages is nearest to `percent`. A
///    pattern whose density already rounds to `percent` keeps its messages.
/// 2. All messages are scaled by the same factor and rounded, so that their total matches the mean to the byte.
///
/// # Errors
/// More than 100 percent.
pub fn adjusted(pattern: &Pattern, percent: u32, mean_bytes: u32) -> Result<Pattern, PatternError> {
    if percent > 100 {
        return Err(PatternError::Density(u64::from(percent) * 10_000));
    }
    let ranks = pattern.ranks();
    let sizes = pattern.messages().iter().map(|message| ((message.from.0, message.to.0), message.bytes.0));
    let mut messages: Messages = sizes.collect();
    if (100.0 * pattern.density()).round() as u32 != percent {
        let all_pairs = u64::from(ranks) * u64::from(ranks.saturating_sub(1)) / 2;
        let wanted = (all_pairs * u64::from(percent) + 50) / 100;
        leave_out(&mut messages, wanted as usize);
        put_in(&mut messages, wanted as usize, ranks);
    }
    let total = messages.len() as u64 * u64::from(mean_bytes);
    let scaled = scaled_to(total, messages.values().copied().collect());
    let transfer = |(&(from, to), bytes)| Transfer { from: Rank(from), to: Rank(to), bytes: Bytes(bytes) };
    Pattern::of_messages(ranks, messages.keys().zip(scaled).map(transfer).collect())
}

/// The pairs of ranks that have messages for each other, the lower rank first.
fn pairs(messages: &Messages) -> Vec<(u32, u32)> {
    messages.keys().copied().filter(|&(from, to)| from < to).collect()
}

/// Leaves out the pairs with the fewest bytes until there are `wanted`.
fn leave_out(messages: &mut Messages, wanted: usize) {
    let mut by_size = pairs(messages);
    by_size.sort_by_key(|&(a, b)| messages.get(&(a, b)).unwrap_or(&0) + messages.get(&(b, a)).unwrap_or(&0));
    let too_many = by_size.len().saturating_sub(wanted);
    for &(a, b) in &by_size[..too_many] {
        messages.remove(&(a, b));
        messages.remove(&(b, a));
    }
}

/// Adds pairs with the most partners in common until there are `wanted`.
fn put_in(messages: &mut Messages, wanted: usize, ranks: u32) {
    let there = pairs(messages).len();
    let is_partner = |a: u32, b: u32| messages.contains_key(&(a, b));
    let in_common = |a: u32, b: u32| (0..ranks).filter(|&c| is_partner(a, c) && is_partner(b, c)).count();
    let missing = (0..ranks).flat_map(|a| (a + 1..ranks).map(move |b| (a, b))).filter(|&(a, b)| !is_partner(a, b));
    let mut nearest: Vec<(usize, (u32, u32))> = missing.map(|(a, b)| (in_common(a, b), (a, b))).collect();
    nearest.sort_by_key(|&(common, _)| Reverse(common));
    let smallest = messages.values().copied().min().unwrap_or(1);
    for &(_, (a, b)) in nearest.iter().take(wanted.saturating_sub(there)) {
        messages.insert((a, b), smallest);
        messages.insert((b, a), smallest);
    }
}

/// `sizes` scaled by the same factor to add up to `total`: rounded down, and then one more for those that lost most,
/// the earlier first.
fn scaled_to(total: u64, sizes: Vec<u64>) -> Vec<u64> {
    let sum: u128 = sizes.iter().map(|&size| u128::from(size)).sum();
    if sum == 0 {
        return sizes;
    }
    let exact = |&size: &u64| u128::from(size) * u128::from(total);
    let mut scaled: Vec<u64> = sizes.iter().map(|size| (exact(size) / sum) as u64).collect();
    let mut by_loss: Vec<usize> = (0..sizes.len()).collect();
    by_loss.sort_by_key(|&index| Reverse(exact(&sizes[index]) % sum));
    let short = total - scaled.iter().sum::<u64>();
    for &index in by_loss.iter().take(short as usize) {
        scaled[index] += 1;
    }
    scaled
}
