//! Commands on values.

use std::ops::Range;

use super::expiry::{Unit, expiry_after};
use super::{CommandResult, Context, Failure, integer, is};
use crate::large::MaybeShared;
use crate::record::{Milliseconds, Record};
use crate::resp::Arguments;

pub(super) fn get(context: &mut Context<'_>, arguments: Arguments<'_>) -> CommandResult {
    let found = context.bucket.get(arguments.get(1), context.now).map(Record::value);
    context.reply.value_or_null(found);
    Ok(())
}

/// The new expiry of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Expiry {
    Never,
    Kept,
    At(Milliseconds),
}

/// The options of SET and GETEX.
struct Options {
    expiry: Option<Expiry>,
    /// Set only if the key exists, or only if it does not.
    only_if: Option<bool>,
    gives_old: bool,
}

impl Options {
    /// Reads options; `words` are those that are allowed beside those of time.
    fn read(
        arguments: Arguments<'_>,
        first: usize,
        words: &[&str],
        now: Milliseconds,
        command: &'static str,
    ) -> Result<Options, Failure> {
        let mut options = Options { expiry: None, only_if: None, gives_old: false };
        let (mut rest, mut time) = (arguments.from(first), None);
        while let Some(option) = rest.next() {
            let word = words.iter().find(|word| is(option, word));
            let expiry = match word {
                Some(&"nx") if options.only_if != Some(true) => {
                    options.only_if = Some(false);
                    continue;
                }
                Some(&"xx") if options.only_if != Some(false) => {
                    options.only_if = Some(true);
                    continue;
                }
                Some(&"get") => {
                    options.gives_old = true;
                    continue;
                }
                Some(&"keepttl") => Expiry::Kept,
                Some(&"persist") => Expiry::Never,
                Some(_) => return Err(Failure::Syntax),
                None => {
                    let unit = Unit::of_option(option).ok_or(Failure::Syntax)?;
                    let amount = rest.next().ok_or(Failure::Syntax)?;
                    time = Some((amount, unit));
                    Expiry::Kept
                }
            };
            if options.expiry.replace(expiry).is_some() {
                return Err(Failure::Syntax);
            }
        }
        // Options that exclude each other are reported before an error in one of them.
        if let Some((amount, unit)) = time {
            options.expiry = Some(Expiry::At(positive_expiry(amount, unit, now, command)?));
        }
        Ok(options)
    }
}

/// When a key expires after a positive amount of time; other amounts are refused.
fn positive_expiry(
    amount: &[u8],
    unit: Unit,
    now: Milliseconds,
    command: &'static str,
) -> Result<Milliseconds, Failure> {
    match integer(amount)? {
        amount if amount > 0 => expiry_after(amount, unit, now).ok_or(Failure::ExpireTime(command)),
        _ => Err(Failure::ExpireTime(command)),
    }
}

pub(super) fn set(context: &mut Context<'_>, arguments: Arguments<'_>) -> CommandResult {
    let (key, value, now) = (arguments.get(1), arguments.value(2), context.now);
    if arguments.len() == 3 {
        context.bucket.set(key, value, None, now);
        context.reply.ok();
        return Ok(());
    }
    let options = Options::read(arguments, 3, &["nx", "xx", "get", "keepttl"], now, "set")?;
    let old = context.bucket.peek(key, now);
    let (was_there, before) = (old.is_some(), old.and_then(Record::expiry));
    let stores = options.only_if.is_none_or(|wanted| wanted == was_there);
    if options.gives_old {
        context.reply.value_or_null(old.map(Record::value));
    } else if stores {
        context.reply.ok();
    } else {
        context.reply.null();
    }
    if stores {
        let expiry = match options.expiry.unwrap_or(Expiry::Never) {
            Expiry::Never => None,
            Expiry::Kept => before,
            Expiry::At(expiry) => Some(expiry),
        };
        context.bucket.set(key, value, expiry, now);
    }
    Ok(())
}

fn set_for(context: &mut Context<'_>, arguments: Arguments<'_>, unit: Unit, command: &'static str) -> CommandResult {
    let expiry = positive_expiry(arguments.get(2), unit, context.now, command)?;
    context.bucket.set(arguments.get(1), arguments.value(3), Some(expiry), context.now);
    context.reply.ok();
    Ok(())
}

pub(super) fn setex(context: &mut Context<'_>, arguments: Arguments<'_>) -> CommandResult {
    set_for(context, arguments, Unit::Seconds, "setex")
}

pub(super) fn psetex(context: &mut Context<'_>, arguments: Arguments<'_>) -> CommandResult {
    set_for(context, arguments, Unit::Milliseconds, "psetex")
}

pub(super) fn setnx(context: &mut Context<'_>, arguments: Arguments<'_>) -> CommandResult {
    let (key, now) = (arguments.get(1), context.now);
    let is_new = context.bucket.peek(key, now).is_none();
    if is_new {
        context.bucket.set(key, arguments.value(2), None, now);
    }
    context.reply.integer(i64::from(is_new));
    Ok(())
}

pub(super) fn getset(context: &mut Context<'_>, arguments: Arguments<'_>) -> CommandResult {
    get(context, arguments)?;
    context.bucket.set(arguments.get(1), arguments.value(2), None, context.now);
    Ok(())
}

pub(super) fn getdel(context: &mut Context<'_>, arguments: Arguments<'_>) -> CommandResult {
    get(context, arguments)?;
    context.bucket.remove(arguments.get(1), context.now);
    Ok(())
}

pub(super) fn getex(context: &mut Context<'_>, arguments: Arguments<'_>) -> CommandResult {
    let (key, now) = (arguments.get(1), context.now);
    let options = Options::read(arguments, 2, &["persist"], now, "getex")?;
    get(context, arguments)?;
    match options.expiry {
        Some(Expiry::At(expiry)) if expiry <= now => drop(context.bucket.remove(key, now)),
        Some(Expiry::At(expiry)) => drop(context.bucket.set_expiry(key, Some(expiry), now)),
        Some(Expiry::Never) => drop(context.bucket.set_expiry(key, None, now)),
        Some(Expiry::Kept) | None => {}
    }
    Ok(())
}

pub(super) fn mget(context: &mut Context<'_>, arguments: Arguments<'_>) -> CommandResult {
    context.reply.array(arguments.len() - 1);
    for key in arguments.from(1) {
        let found = context.bucket.get(key, context.now).map(Record::value);
        context.reply.value_or_null(found);
    }
    Ok(())
}

/// Keys, each with the value that follows it.
fn pairs<'a>(
    arguments: Arguments<'a>,
    command: &str,
) -> Result<impl Iterator<Item = (&'a [u8], MaybeShared<'a>)>, Failure> {
    if arguments.len().is_multiple_of(2) {
        return Err(Failure::Arity(command.to_owned()));
    }
    let keys = (1..arguments.len()).step_by(2);
    Ok(keys.map(move |key| (arguments.get(key), arguments.value(key + 1))))
}

pub(super) fn mset(context: &mut Context<'_>, arguments: Arguments<'_>) -> CommandResult {
    for (key, value) in pairs(arguments, "mset")? {
        context.bucket.set(key, value, None, context.now);
    }
    context.reply.ok();
    Ok(())
}

pub(super) fn msetnx(context: &mut Context<'_>, arguments: Arguments<'_>) -> CommandResult {
    let now = context.now;
    let all_new = pairs(arguments, "msetnx")?.all(|(key, _)| context.bucket.peek(key, now).is_none());
    if all_new {
        pairs(arguments, "msetnx")?.for_each(|(key, value)| context.bucket.set(key, value, None, now));
    }
    context.reply.integer(i64::from(all_new));
    Ok(())
}

pub(super) fn strlen(context: &mut Context<'_>, arguments: Arguments<'_>) -> CommandResult {
    let length = context.bucket.get(arguments.get(1), context.now).map_or(0, Record::value_length);
    context.reply.count(length as u64);
    Ok(())
}

pub(super) fn append(context: &mut Context<'_>, arguments: Arguments<'_>) -> CommandResult {
    let (key, added, now) = (arguments.get(1), arguments.get(2), context.now);
    let there = context.bucket.peek(key, now).map(Record::value_length);
    let before = there.unwrap_or(0);
    let length = fitting(context, before, added.len())?;
    if there.is_some() {
        context.bucket.edit(key, length, before, added, now);
    } else {
        context.bucket.set(key, arguments.value(2), None, now);
    }
    context.reply.count(length as u64);
    Ok(())
}

/// The end of a range of `length` bytes from `start`, if a value may be that long.
pub(super) fn fitting(context: &Context<'_>, start: usize, length: usize) -> Result<usize, Failure> {
    start.checked_add(length).filter(|&end| end <= context.node.settings.limits.argument).ok_or(Failure::TooLong)
}

pub(super) fn setrange(context: &mut Context<'_>, arguments: Arguments<'_>) -> CommandResult {
    let (key, added, now) = (arguments.get(1), arguments.get(3), context.now);
    let offset = usize::try_from(integer(arguments.get(2))?).map_err(|_| Failure::Offset)?;
    let before = context.bucket.peek(key, now).map_or(0, Record::value_length);
    if added.is_empty() {
        context.reply.count(before as u64);
        return Ok(());
    }
    let end = fitting(context, offset, added.len())?;
    let length = before.max(end);
    context.bucket.edit(key, length, offset, added, now);
    context.reply.count(length as u64);
    Ok(())
}

pub(super) fn getrange(context: &mut Context<'_>, arguments: Arguments<'_>) -> CommandResult {
    let (first, last) = (integer(arguments.get(2))?, integer(arguments.get(3))?);
    let value = context.bucket.get(arguments.get(1), context.now).map_or(MaybeShared::Borrowed(&[]), Record::value);
    context.reply.value(value.part(part(value.len(), first, last)));
    Ok(())
}

/// The part of a value of this length from the first byte to the last, inclusive; negative positions count from the
/// end.
fn part(length: usize, first: i64, last: i64) -> Range<usize> {
    let length = length as i64;
    let place = |place: i64| if place < 0 { (length + place).max(0) } else { place };
    if first < 0 && last < 0 && first > last {
        return 0..0;
    }
    let (first, last) = (place(first), place(last).min(length - 1));
    if first > last { 0..0 } else { first as usize..last as usize + 1 }
}

#[cfg(test)]
mod tests {
    #[test]
    fn parts_of_a_value() {
        let value = "This is a string";
        let part = |first, last| &value[super::part(value.len(), first, last)];
        assert_eq!(part(0, 3), "This");
        assert_eq!(part(-3, -1), "ing");
        assert_eq!(part(0, -1), value);
        assert_eq!(part(10, 100), "string");
        assert_eq!(part(i64::MIN, i64::MAX), value);
        assert_eq!(part(5, 2), "");
        assert!(super::part(0, 0, -1).is_empty());
    }
}
