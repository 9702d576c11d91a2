//! Transactions: several requests executed as one.

use super::{CommandResult, Context, Failure, Flag, Invocation, apply, make_room};
use crate::connection::Transaction;
use crate::resp::{Arguments, OwnedArguments};

pub(super) fn multi(context: &mut Context<'_>, _: Arguments<'_>) -> CommandResult {
    if context.session.transaction.is_some() {
        return Err(Failure::Message("ERR MULTI calls can not be nested".to_owned()));
    }
    context.session.transaction = Some(Transaction::default());
    context.session.client.queued.set(Some(0));
    context.reply.ok();
    Ok(())
}

/// Queues a request until EXEC.
pub(super) fn queue(context: &mut Context<'_>, arguments: Arguments<'_>) -> CommandResult {
    let most = context.node.settings.limits.request;
    let Some(transaction) = &mut context.session.transaction else { return Ok(()) };
    let request = OwnedArguments::from(arguments);
    transaction.size += request.size();
    if transaction.size > most {
        transaction.is_broken = true;
        transaction.requests.clear();
        return Err(Failure::Message(format!("ERR transaction larger than {most} bytes")));
    }
    transaction.requests.push(request);
    context.session.client.queued.set(Some(transaction.requests.len()));
    context.reply.simple("QUEUED");
    Ok(())
}

/// Ends the transaction.
fn end(context: &mut Context<'_>, command: &str) -> Result<Transaction, Failure> {
    let transaction = context.session.transaction.take();
    let transaction = transaction.ok_or_else(|| Failure::Message(format!("ERR {command} without MULTI")))?;
    context.session.client.queued.set(None);
    Ok(transaction)
}

pub(super) fn discard(context: &mut Context<'_>, _: Arguments<'_>) -> CommandResult {
    end(context, "DISCARD")?;
    context.session.unwatch(context.bucket);
    context.reply.ok();
    Ok(())
}

/// Why a transaction is not even begun: one of its requests needs room, and there is none.
pub(crate) fn lacks_room(context: &mut Context<'_>, requests: &[OwnedArguments]) -> CommandResult {
    let needs_room = |request: &OwnedArguments| Invocation::of(request.borrowed()).has(Flag::NeedsRoom);
    if !requests.iter().any(needs_room) {
        return Ok(());
    }
    make_room(context)
        .map_err(|failure| Failure::Message(format!("EXECABORT Transaction discarded because of: {failure}")))
}

pub(super) fn exec(context: &mut Context<'_>, _: Arguments<'_>) -> CommandResult {
    let transaction = end(context, "EXEC")?;
    if let Err(failure) = lacks_room(context, &transaction.requests) {
        context.session.unwatch(context.bucket);
        return Err(failure);
    }
    let (bucket, now) = (&mut *context.bucket, context.now);
    // Keys that were another member's when they were watched have moved since.
    let is_unchanged = context.session.stamped.is_empty()
        && context.session.watched.iter().all(|(key, seen)| bucket.seen(key, now) == *seen);
    context.session.unwatch(context.bucket);
    if transaction.is_broken {
        return Err(Failure::Message("EXECABORT Transaction discarded because of previous errors.".to_owned()));
    }
    if !is_unchanged {
        context.reply.null_array();
        return Ok(());
    }
    context.reply.array(transaction.requests.len());
    transaction.requests.iter().for_each(|request| apply(context, request));
    Ok(())
}

pub(super) fn watch(context: &mut Context<'_>, arguments: Arguments<'_>) -> CommandResult {
    if context.session.transaction.is_some() {
        return Err(Failure::Message("ERR WATCH inside MULTI is not allowed".to_owned()));
    }
    for key in arguments.from(1) {
        if context.session.watched.iter().all(|(watched, _)| **watched != *key) {
            let seen = context.bucket.watch(key, context.now);
            context.session.watched.push((key.into(), seen));
        }
    }
    context.session.count_watches();
    context.reply.ok();
    Ok(())
}

pub(super) fn unwatch(context: &mut Context<'_>, _: Arguments<'_>) -> CommandResult {
    context.session.unwatch(context.bucket);
    context.reply.ok();
    Ok(())
}
