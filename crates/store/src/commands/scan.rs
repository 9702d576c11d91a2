//! Commands that go through all keys.

use super::pattern::matches;
use super::{Context, Failure, Outcome, integer, is};
use crate::record::Record;
use crate::resp::Arguments;

pub(super) fn keys(context: &mut Context<'_>, arguments: Arguments<'_>) -> Outcome {
    let pattern = arguments.get(1);
    let found: Vec<&[u8]> =
        context.bucket.records(context.now).map(Record::key).filter(|key| matches(pattern, key)).collect();
    context.reply.array(found.len());
    found.iter().for_each(|key| context.reply.bulk(key));
    Ok(())
}

/// How many keys SCAN visits by default.
const COUNT: u64 = 10;

/// The arguments of a SCAN.
pub(crate) struct Wanted<'a> {
    /// The place to go on from.
    pub(crate) cursor: u64,
    /// The pattern that keys have to match.
    pub(crate) pattern: Option<&'a [u8]>,
    count: u64,
    /// Whether keys of strings are wanted; all values are strings.
    pub(crate) strings: bool,
}

impl<'a> Wanted<'a> {
    pub(crate) fn read(arguments: Arguments<'a>) -> Result<Wanted<'a>, Failure> {
        let cursor = std::str::from_utf8(arguments.get(1)).ok().and_then(|cursor| cursor.parse().ok());
        let cursor = cursor.ok_or_else(|| Failure::Told("ERR invalid cursor".to_owned()))?;
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
}

/// The cursor is the place to go on from, in the order in which splits divide the keys: so it stays valid while the table grows or shrinks.
pub(super) fn scan(context: &mut Context<'_>, arguments: Arguments<'_>) -> Outcome {
    let wanted = Wanted::read(arguments)?;
    let mut found: Vec<Box<[u8]>> = Vec::new();
    let next = context.bucket.scan(wanted.cursor, wanted.count, context.now, |record| {
        if wanted.strings && wanted.pattern.is_none_or(|pattern| matches(pattern, record.key())) {
            found.push(record.key().into());
        }
    });
    context.reply.array(2);
    context.reply.bulk(next.unwrap_or(0).to_string().as_bytes());
    context.reply.array(found.len());
    found.iter().for_each(|key| context.reply.bulk(key));
    Ok(())
}
