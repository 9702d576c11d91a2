//! Commands that go through all keys.

use linear_hash::Span;

use super::pattern::matches;
use super::{CommandResult, Context, Failure, integer, is};
use crate::record::Record;
use crate::resp::Arguments;
use crate::slot::SLOT_BITS;

pub(super) fn keys(context: &mut Context<'_>, arguments: Arguments<'_>) -> CommandResult {
    let pattern = arguments.get(1);
    let found: Vec<&[u8]> =
        context.bucket.records(context.now).map(Record::key).filter(|key| matches(pattern, key)).collect();
    context.reply.array(found.len());
    found.iter().for_each(|key| context.reply.bulk(key));
    Ok(())
}

/// How many keys SCAN visits by default.
const COUNT: u64 = 10;

/// A cursor has 53 bits, so that clients hold it exactly, even as a signed or a floating-point number: the high bits of
/// the place from which the scan goes on, and the level of the bucket that it is in. Scans pause only where a local
/// bucket begins, and these are of level 44 at most: there are 2^14 servers with up to 2^30 local buckets each.
///
/// ```text
///   63           53 52                             4 3     0
///   |      0       | the highest 49 bits of a place | level |
/// ```
///
/// A place keeps its meaning while the table grows and shrinks, whichever server has the keys from it on: splits divide
/// the keys in the order of places.
const PLACE_BITS: u32 = 49;
const LEVEL_BITS: u32 = 4;

/// The keys that remain of the bucket in which a cursor is; none, if it is no cursor of a scan.
fn rest_at(cursor: u64) -> Option<Span> {
    let (place, level) = (cursor >> LEVEL_BITS, cursor as u32 & ((1 << LEVEL_BITS) - 1));
    let first = place << (u64::BITS - PLACE_BITS);
    (place >> PLACE_BITS == 0).then_some(Span { first, last: first | u64::MAX >> level })
}

/// The cursor at the first place of what remains of a bucket; 0 if nothing remains.
pub(crate) fn cursor_at(rest: Option<Span>) -> u64 {
    let Some(Span { first, last }) = rest else { return 0 };
    let level = (0..=SLOT_BITS).find(|level| first | u64::MAX >> level == last).unwrap_or(0);
    first >> (u64::BITS - PLACE_BITS) << LEVEL_BITS | u64::from(level)
}

/// The arguments of a SCAN.
pub(crate) struct Wanted<'a> {
    cursor: u64,
    /// The pattern that keys have to match.
    pub(crate) pattern: Option<&'a [u8]>,
    count: u64,
    /// Whether keys of strings are wanted; all values are strings.
    pub(crate) strings: bool,
}

impl<'a> Wanted<'a> {
    pub(crate) fn read(arguments: Arguments<'a>) -> Result<Wanted<'a>, Failure> {
        let cursor = std::str::from_utf8(arguments.get(1)).ok().and_then(|cursor| cursor.parse().ok());
        let cursor = cursor.ok_or_else(|| Failure::Message("ERR invalid cursor".to_owned()))?;
        let mut wanted = Wanted { cursor, pattern: None, count: COUNT, strings: true };
        let mut rest = arguments.from(2);
        while let Some(option) = rest.next() {
            let given = rest.next().ok_or(Failure::Syntax)?;
            if is(option, "match") {
                wanted.pattern = Some(given);
            } else if is(option, "count") {
                wanted.count = u64::try_from(integer(given)?).ok().filter(|&count| count > 0).ok_or(Failure::Syntax)?;
            } else if is(option, "type") {
                wanted.strings = is(given, "string");
            } else {
                return Err(Failure::Syntax);
            }
        }
        Ok(wanted)
    }

    /// Whether the scan begins here.
    pub(crate) const fn begins(&self) -> bool {
        self.cursor == 0
    }

    /// The keys from which the scan takes its next ones; none at a number that is no cursor.
    pub(crate) fn rest(&self) -> Option<Span> {
        rest_at(self.cursor)
    }
}

pub(super) fn scan(context: &mut Context<'_>, arguments: Arguments<'_>) -> CommandResult {
    let wanted = Wanted::read(arguments)?;
    let mut found: Vec<Box<[u8]>> = Vec::new();
    let next = wanted.rest().and_then(|rest| {
        let read = context.bucket.scan(rest, wanted.count, context.now, |record| {
            if wanted.strings && wanted.pattern.is_none_or(|pattern| matches(pattern, record.key())) {
                found.push(record.key().into());
            }
        });
        rest.after(read).or_else(|| Span::ALL.after(read))
    });
    context.reply.array(2);
    context.reply.bulk(cursor_at(next).to_string().as_bytes());
    context.reply.array(found.len());
    found.iter().for_each(|key| context.reply.bulk(key));
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Any local bucket at which a scan may pause, of a server of any level or of the whole table.
        #[test]
        fn a_cursor_is_below_2_to_the_53_and_says_what_remains(place: u64, level in 0..=SLOT_BITS, of in 0..=44_u32) {
            let bucket = Span { first: place & !(u64::MAX >> level), last: place | u64::MAX >> level };
            let first = place & !(u64::MAX >> of.max(level));
            let rest = Span { first, last: bucket.last };
            let cursor = cursor_at(Some(rest));
            prop_assert!(cursor < 1 << 53);
            prop_assert_eq!(rest_at(cursor), Some(rest));
            prop_assert!(cursor != 0 || rest == Span::ALL);
        }

        #[test]
        fn any_number_is_read(cursor: u64) {
            let rest = rest_at(cursor);
            prop_assert_eq!(rest.is_some(), cursor < 1 << 53);
            prop_assert!(rest.is_none_or(|rest| rest.first <= rest.last));
        }
    }
}
