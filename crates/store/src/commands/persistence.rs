//! Commands on the data on disk.

use super::{CommandResult, Context, Failure, is};
use crate::node::Node;
use crate::resp::Arguments;

/// Why no snapshot can be requested now; none if one can.
pub(crate) fn refuses_snapshot(node: &Node) -> Option<&'static str> {
    match &node.disk {
        None => Some("ERR nothing is kept on disk: the store has no --data"),
        Some(disk) if disk.is_saving || node.wants_snapshot => Some("ERR Background save already in progress"),
        Some(_) => None,
    }
}

/// Requests a snapshot, and replies with this text.
fn begin(context: &mut Context<'_>, text: &str) -> CommandResult {
    if let Some(refusal) = refuses_snapshot(context.node) {
        return Err(Failure::Message(refusal.to_owned()));
    }
    context.node.wants_snapshot = true;
    context.reply.simple(text);
    Ok(())
}

/// Says why no snapshot is made: otherwise the host executes SAVE, and the client waits for the snapshot.
pub(super) fn save(context: &mut Context<'_>, _: Arguments<'_>) -> CommandResult {
    let refusal = refuses_snapshot(context.node);
    Err(refusal.map_or(Failure::InTransaction, |refusal| Failure::Message(refusal.to_owned())))
}

pub(super) fn save_in_background(context: &mut Context<'_>, arguments: Arguments<'_>) -> CommandResult {
    if arguments.len() > 2 || arguments.len() == 2 && !is(arguments.get(1), "schedule") {
        return Err(Failure::Syntax);
    }
    begin(context, "Background saving started")
}

pub(super) fn rewrite_in_background(context: &mut Context<'_>, _: Arguments<'_>) -> CommandResult {
    begin(context, "Background append only file rewriting started")
}

pub(super) fn last_save(context: &mut Context<'_>, _: Arguments<'_>) -> CommandResult {
    let saved = context.node.disk.as_ref().and_then(|disk| disk.saved);
    context.reply.count(saved.unwrap_or(context.node.since) / 1000);
    Ok(())
}
