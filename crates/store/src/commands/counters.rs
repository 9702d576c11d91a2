//! Commands on values that are numbers.

use super::{CommandResult, Context, Failure, integer};
use crate::large::MaybeShared;
use crate::record::Record;
use crate::resp::Arguments;
use crate::resp::number::{self, Infinite, Written};

pub(super) fn incr(context: &mut Context<'_>, arguments: Arguments<'_>) -> CommandResult {
    add(context, arguments.get(1), 1)
}

pub(super) fn decr(context: &mut Context<'_>, arguments: Arguments<'_>) -> CommandResult {
    add(context, arguments.get(1), -1)
}

pub(super) fn incr_by(context: &mut Context<'_>, arguments: Arguments<'_>) -> CommandResult {
    add(context, arguments.get(1), integer(arguments.get(2))?)
}

pub(super) fn decr_by(context: &mut Context<'_>, arguments: Arguments<'_>) -> CommandResult {
    let amount = integer(arguments.get(2))?.checked_neg();
    let amount = amount.ok_or_else(|| Failure::Message("ERR decrement would overflow".to_owned()))?;
    add(context, arguments.get(1), amount)
}

fn add(context: &mut Context<'_>, key: &[u8], amount: i64) -> CommandResult {
    let before = context.bucket.peek(key, context.now).map_or(Ok(0), |record| integer(&record.value()))?;
    let sum = before.checked_add(amount).ok_or(Failure::Overflow)?;
    store(context, key, Written::of(sum).as_bytes());
    context.reply.integer(sum);
    Ok(())
}

/// Stores a number under a key, which expires when it did before.
fn store(context: &mut Context<'_>, key: &[u8], written: &[u8]) {
    context.bucket.edit(key, written.len(), 0, written, context.now);
}

pub(super) fn incr_by_float(context: &mut Context<'_>, arguments: Arguments<'_>) -> CommandResult {
    let before = context.bucket.peek(arguments.get(1), context.now).map_or(MaybeShared::Borrowed(b"0"), Record::value);
    let sum = number::sum(&before, arguments.get(2)).ok_or(Failure::NotANumber)?;
    let infinite = |Infinite| Failure::Message("ERR increment would produce NaN or Infinity".to_owned());
    let sum = sum.map_err(infinite)?;
    store(context, arguments.get(1), sum.as_bytes());
    context.reply.bulk(sum.as_bytes());
    Ok(())
}
