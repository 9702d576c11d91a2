//! Commands about what is kept on disk.

use super::{Context, Failure, Outcome, is};
use crate::resp::Arguments;

/// Has a snapshot made, if anything is kept.
fn save(context: &mut Context<'_>, told: &str) -> Outcome {
    match &context.node.kept {
        None => return Err(Failure::Told("ERR nothing is kept on disk: the store has no --data".to_owned())),
        Some(kept) if kept.is_saving || context.node.wants_snapshot => {
            return Err(Failure::Told("ERR Background save already in progress".to_owned()));
        }
        Some(_) => context.node.wants_snapshot = true,
    }
    context.reply.simple(told);
    Ok(())
}

pub(super) fn save_in_background(context: &mut Context<'_>, arguments: Arguments<'_>) -> Outcome {
    if arguments.len() > 2 || arguments.len() == 2 && !is(arguments.get(1), "schedule") {
        return Err(Failure::Syntax);
    }
    save(context, "Background saving started")
}

pub(super) fn rewrite_in_background(context: &mut Context<'_>, _: Arguments<'_>) -> Outcome {
    save(context, "Background append only file rewriting started")
}

pub(super) fn last_save(context: &mut Context<'_>, _: Arguments<'_>) -> Outcome {
    let saved = context.node.kept.as_ref().and_then(|kept| kept.saved);
    context.reply.count(saved.unwrap_or(context.node.since) / 1000);
    Ok(())
}
