//! LCS: the longest common subsequence of two values.

use super::{CommandResult, Context, Failure, integer, is};
use crate::large::MaybeShared;
use crate::record::Record;
use crate::resp::Arguments;

/// Redis has a table with this many bytes for each pair of bytes, and refuses values for which it would be too large.
/// [B]
const CELL: usize = 4;

/// What LCS is to return.
#[derive(Default)]
struct Options {
    only_length: bool,
    places: bool,
    /// Places of shorter matches are left out.
    least_match: i64,
    with_length: bool,
}

impl Options {
    fn read(arguments: Arguments<'_>) -> Result<Options, Failure> {
        let (mut options, mut rest) = (Options::default(), arguments.from(3));
        while let Some(option) = rest.next() {
            match option {
                _ if is(option, "len") => options.only_length = true,
                _ if is(option, "idx") => options.places = true,
                _ if is(option, "withmatchlen") => options.with_length = true,
                _ if is(option, "minmatchlen") => {
                    options.least_match = integer(rest.next().ok_or(Failure::Syntax)?)?;
                }
                _ => return Err(Failure::Syntax),
            }
        }
        if options.only_length && options.places {
            let text = "ERR If you want both the length and indexes, please just use IDX.";
            return Err(Failure::Message(text.to_owned()));
        }
        Ok(options)
    }
}

/// A part that two values have in common: where it begins in each, and its length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Match {
    a: usize,
    b: usize,
    length: usize,
}

/// A longest common subsequence of two values, from its end to its beginning.
#[derive(Debug, Default, PartialEq, Eq)]
struct Common {
    length: usize,
    matches: Vec<Match>,
}

/// Finds a longest common subsequence, and its parts if they are wanted, by the recurrence over the beginnings of both
/// values:
///
/// ```text
///   L(i, j) = L(i - 1, j - 1) + 1                   if a and b have the same byte there
///             max(L(i - 1, j), L(i, j - 1))         otherwise
/// ```
///
/// Two rows of lengths are kept, and one bit of each pair of beginnings: whether the former is the larger one, so that
/// the way back goes there.
///
/// Source: Wagner and Fischer, "The string-to-string correction problem", JACM 21 (1974).
fn longest_common(a: &[u8], b: &[u8], wants_matches: bool) -> Common {
    let width = b.len() + 1;
    let mut shorter = vec![0_u64; if wants_matches { (a.len() * width).div_ceil(64) } else { 0 }];
    let (mut before, mut row) = (vec![0_u32; width], vec![0_u32; width]);
    for (i, of_a) in a.iter().enumerate() {
        for (j, of_b) in b.iter().enumerate() {
            let (without_a, without_b) = (before[j + 1], row[j]);
            row[j + 1] = if of_a == of_b { before[j] + 1 } else { without_a.max(without_b) };
            if wants_matches && without_a > without_b {
                let bit = i * width + j;
                shorter[bit / 64] |= 1 << (bit % 64);
            }
        }
        std::mem::swap(&mut before, &mut row);
    }
    let mut common = Common { length: before[b.len()] as usize, matches: Vec::new() };
    let (mut i, mut j, mut is_contiguous) = (a.len(), b.len(), false);
    while wants_matches && i > 0 && j > 0 {
        let bit = (i - 1) * width + j - 1;
        if a[i - 1] == b[j - 1] {
            (i, j) = (i - 1, j - 1);
            match common.matches.last_mut().filter(|_| is_contiguous) {
                Some(last) => *last = Match { a: i, b: j, length: last.length + 1 },
                None => common.matches.push(Match { a: i, b: j, length: 1 }),
            }
            is_contiguous = true;
        } else {
            is_contiguous = false;
            if shorter[bit / 64] >> (bit % 64) & 1 == 1 { i -= 1 } else { j -= 1 }
        }
    }
    common
}

pub(super) fn longest_common_subsequence(context: &mut Context<'_>, arguments: Arguments<'_>) -> CommandResult {
    let options = Options::read(arguments)?;
    let now = context.now;
    let a = context.bucket.get(arguments.get(1), now).map(Record::value).map(MaybeShared::into_shared);
    let b = context.bucket.get(arguments.get(2), now).map(Record::value).map(MaybeShared::into_shared);
    let (a, b) = (a.as_deref().unwrap_or_default(), b.as_deref().unwrap_or_default());
    let cells = (a.len() as u128 + 1) * (b.len() as u128 + 1);
    if cells * CELL as u128 > context.node.settings.limits.argument as u128 {
        let text = "ERR Insufficient memory, transient memory for LCS exceeds proto-max-bulk-len";
        return Err(Failure::Message(text.to_owned()));
    }
    let Common { length, matches } = longest_common(a, b, !options.only_length);
    let reply = &mut *context.reply;
    if options.only_length {
        reply.count(length as u64);
    } else if options.places {
        let shown = matches.iter().filter(|of| of.length as i64 >= options.least_match);
        reply.map(2);
        reply.bulk(b"matches");
        reply.array(shown.clone().count());
        for Match { a, b, length } in shown {
            reply.array(if options.with_length { 3 } else { 2 });
            for start in [a, b] {
                reply.array(2);
                reply.count(*start as u64);
                reply.count((start + length - 1) as u64);
            }
            if options.with_length {
                reply.count(*length as u64);
            }
        }
        reply.bulk(b"len");
        reply.count(length as u64);
    } else {
        let parts: Vec<&[u8]> = matches.iter().rev().map(|of| &a[of.a..of.a + of.length]).collect();
        reply.bulk(&parts.concat());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The length by its definition.
    fn length(a: &[u8], b: &[u8]) -> usize {
        match (a.split_first(), b.split_first()) {
            (Some((x, rest_a)), Some((y, rest_b))) if x == y => 1 + length(rest_a, rest_b),
            (Some((_, rest_a)), Some((_, rest_b))) => length(rest_a, b).max(length(a, rest_b)),
            _ => 0,
        }
    }

    fn text() -> impl Strategy<Value = Vec<u8>> {
        prop::collection::vec(b'a'..b'd', 0..9)
    }

    proptest! {
        #[test]
        fn matches_are_common_to_both_in_order_and_as_long_as_can_be((a, b) in (text(), text())) {
            let common = longest_common(&a, &b, true);
            prop_assert_eq!(common.length, length(&a, &b));
            prop_assert_eq!(longest_common(&a, &b, false).length, common.length);
            prop_assert_eq!(common.matches.iter().map(|of| of.length).sum::<usize>(), common.length);
            for of in &common.matches {
                prop_assert_eq!(&a[of.a..of.a + of.length], &b[of.b..of.b + of.length]);
            }
            for pair in common.matches.windows(2) {
                prop_assert!(pair[1].a + pair[1].length <= pair[0].a && pair[1].b + pair[1].length <= pair[0].b);
            }
        }
    }
}
