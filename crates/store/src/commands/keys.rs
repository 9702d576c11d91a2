//! Commands on keys, whatever their values.

use super::{CommandResult, Context, Failure, integer, is};
use crate::record::Record;
use crate::resp::{Arguments, number};

/// Replies with the number of keys for which a condition holds.
fn count<'a>(
    context: &mut Context<'_>,
    arguments: Arguments<'a>,
    mut holds: impl FnMut(&mut Context<'_>, &'a [u8]) -> bool,
) -> CommandResult {
    let count = arguments.from(1).filter(|key| holds(context, key)).count();
    context.reply.count(count as u64);
    Ok(())
}

pub(super) fn del(context: &mut Context<'_>, arguments: Arguments<'_>) -> CommandResult {
    count(context, arguments, |context, key| context.bucket.remove(key, context.now))
}

pub(super) fn exists(context: &mut Context<'_>, arguments: Arguments<'_>) -> CommandResult {
    count(context, arguments, |context, key| context.bucket.exists(key, context.now))
}

pub(super) fn touch(context: &mut Context<'_>, arguments: Arguments<'_>) -> CommandResult {
    count(context, arguments, |context, key| context.bucket.get(key, context.now).is_some())
}

pub(super) fn kind(context: &mut Context<'_>, arguments: Arguments<'_>) -> CommandResult {
    let is_there = context.bucket.exists(arguments.get(1), context.now);
    context.reply.simple(if is_there { "string" } else { "none" });
    Ok(())
}

/// Copies the value and the expiry of one key to another. Returns whether it did.
fn copy_value(context: &mut Context<'_>, from: &[u8], to: &[u8], replaces: bool) -> Result<bool, Failure> {
    let now = context.now;
    context.bucket.peek(from, now).ok_or(Failure::NoSuchKey)?;
    if !replaces && context.bucket.peek(to, now).is_some() {
        return Ok(false);
    }
    Ok(context.bucket.copy(from, to, now))
}

pub(super) fn rename(context: &mut Context<'_>, arguments: Arguments<'_>) -> CommandResult {
    let (from, to) = (arguments.get(1), arguments.get(2));
    copy_value(context, from, to, true)?;
    if from != to {
        context.bucket.remove(from, context.now);
    }
    context.reply.ok();
    Ok(())
}

pub(super) fn renamenx(context: &mut Context<'_>, arguments: Arguments<'_>) -> CommandResult {
    let copied = copy_value(context, arguments.get(1), arguments.get(2), false)?;
    if copied {
        context.bucket.remove(arguments.get(1), context.now);
    }
    context.reply.integer(i64::from(copied));
    Ok(())
}

pub(super) fn copy(context: &mut Context<'_>, arguments: Arguments<'_>) -> CommandResult {
    let (from, to, mut replaces) = (arguments.get(1), arguments.get(2), false);
    let mut rest = arguments.from(3);
    while let Some(option) = rest.next() {
        if is(option, "replace") {
            replaces = true;
        } else if is(option, "db") {
            check_database(rest.next().ok_or(Failure::Syntax)?)?;
        } else {
            return Err(Failure::Syntax);
        }
    }
    if from == to {
        return Err(Failure::Message("ERR source and destination objects are the same".to_owned()));
    }
    let copied = match copy_value(context, from, to, replaces) {
        Err(Failure::NoSuchKey) => false,
        outcome => outcome?,
    };
    context.reply.integer(i64::from(copied));
    Ok(())
}

/// Checks that a database is number 0.
pub(super) fn check_database(number: &[u8]) -> CommandResult {
    if integer(number)? == 0 { Ok(()) } else { Err(Failure::Database) }
}

pub(super) fn move_key(_: &mut Context<'_>, arguments: Arguments<'_>) -> CommandResult {
    check_database(arguments.get(2))?;
    Err(Failure::Message("ERR source and destination objects are the same".to_owned()))
}

/// How often RANDOMKEY draws a key, since one may have expired.
const DRAWS: usize = 100;

pub(super) fn randomkey(context: &mut Context<'_>, _: Arguments<'_>) -> CommandResult {
    let Context { bucket, node, now, reply, .. } = context;
    let drawn = (0..DRAWS).find_map(|_| bucket.random(node.draw()).filter(|record| !record.is_over(*now)));
    let found = drawn.or_else(|| bucket.records(*now).next());
    reply.bulk_or_null(found.map(Record::key));
    Ok(())
}

/// The longest value that Redis stores together with its header. [B]
const EMBEDDED: usize = 44;

pub(super) fn encoding(context: &mut Context<'_>, arguments: Arguments<'_>) -> CommandResult {
    let name = context.bucket.peek(arguments.get(2), context.now).map(|record| match &*record.value() {
        value if number::integer(value).is_some() => "int",
        value if value.len() <= EMBEDDED => "embstr",
        _ => "raw",
    });
    context.reply.bulk_or_null(name.map(str::as_bytes));
    Ok(())
}

/// Replies with a number of a record, or null if there is none.
fn reply_with(context: &mut Context<'_>, key: &[u8], number: impl Fn(&Record) -> u64) -> CommandResult {
    match context.bucket.peek(key, context.now).map(number) {
        Some(number) => context.reply.count(number),
        None => context.reply.null(),
    }
    Ok(())
}

pub(super) fn idle_time(context: &mut Context<'_>, arguments: Arguments<'_>) -> CommandResult {
    let now = context.now;
    reply_with(context, arguments.get(2), |record| record.idle(now))
}

pub(super) fn reference_count(context: &mut Context<'_>, arguments: Arguments<'_>) -> CommandResult {
    reply_with(context, arguments.get(2), |_| 1)
}

pub(super) fn frequency(context: &mut Context<'_>, arguments: Arguments<'_>) -> CommandResult {
    if context.bucket.peek(arguments.get(2), context.now).is_none() {
        context.reply.null();
        return Ok(());
    }
    Err(Failure::Message(
        "ERR An LFU maxmemory policy is not selected, access frequency not tracked. Please note that when switching \
         between policies at runtime LRU and LFU data will take some time to adjust."
            .to_owned(),
    ))
}
