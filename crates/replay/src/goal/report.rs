//! Reports a schedule that can't go on, and messages that nobody received.

use endpoint::{Error, Received, Result, Unexpected};
use quantities::Rank;

use super::{Operation, OperationId, OperationKind, Schedule};

/// At most this many waiting operations are named one by one; the others are counted.
const NAMED: usize = 8;

/// A message that was sent but that no receive took.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Unreceived {
    /// The sender.
    pub from: Rank,
    /// The receiver.
    pub to: Rank,
    /// Its tag.
    pub tag: u32,
    /// The line of its send.
    pub line: u32,
}

/// The messages that no receive took, with their lines. Those that were not sent by requests are left out.
pub(super) fn unreceived(schedule: &Schedule, unexpected: &[Unexpected]) -> Vec<Unreceived> {
    let of_schedule = |message: &Unexpected| {
        let &Unexpected { from, to, tag, request } = message;
        let line = schedule.block(from).operation(OperationId(request?)).line;
        Some(Unreceived { from, to, tag: tag.0, line })
    };
    unexpected.iter().filter_map(of_schedule).collect()
}

/// Checks that a receive of rank `to` has room for the message that it got.
pub(super) fn check_room(schedule: &Schedule, receive: Operation, to: Rank, got: Received) -> Result<()> {
    let OperationKind::Receive { size, .. } = receive.kind else { return Ok(()) };
    let place = || format!("{}: {}", schedule.file(), schedule.place(&receive));
    got.fitting(to, size).map(drop).map_err(|error| Error::Mismatch(format!("{}: {error}", place())))
}

/// The deadlock in which a schedule has ended, if some operation is under way.
pub(super) fn deadlock(
    schedule: &Schedule,
    is_under_way: impl Fn(Rank, OperationId) -> bool,
    is_waiting: impl Fn(Rank, OperationId) -> bool,
    unreceived: &[Unreceived],
) -> Option<Error> {
    let mut named = Vec::new();
    let (mut waiting, mut not_started) = (0, 0);
    for (rank, block) in schedule.busy_ranks() {
        for (id, operation) in (0..).map(OperationId).zip(block.operations()) {
            not_started += usize::from(is_waiting(rank, id));
            if !is_under_way(rank, id) {
                continue;
            }
            waiting += 1;
            if named.len() < NAMED {
                let place = schedule.place(&operation);
                named.push(format!("rank {rank} waits in {place} {}", reason(operation.kind)));
            }
        }
    }
    if waiting == 0 {
        return None;
    }
    let mut text = format!("{}: {}", schedule.file(), named.join(", "));
    if waiting > named.len() {
        text.push_str(&format!("; {} more operations wait too", waiting - named.len()));
    }
    if not_started > 0 {
        text.push_str(&format!(
            "; because of them {} not begun",
            counted(not_started, "operation has", "operations have")
        ));
    }
    if let Some(first) = unreceived.first() {
        let Unreceived { from, to, tag, line } = first;
        let unit = if schedule.has_lines() { "line" } else { "operation" };
        text.push_str(&format!(
            "; {} not received, the first from rank {from} to rank {to} with tag {tag} ({unit} {line})",
            counted(unreceived.len(), "message was", "messages were"),
        ));
    }
    Some(Error::Deadlock(text))
}

fn counted(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// What an operation that has started waits for.
fn reason(kind: OperationKind) -> String {
    match kind {
        OperationKind::Calculate(_) => "for its processor".to_owned(),
        OperationKind::Send { to, .. } => format!("for rank {to} to receive its message"),
        OperationKind::Receive { from, tag, .. } => {
            let from = from.map_or("anyone".to_owned(), |rank| format!("rank {rank}"));
            let tag = tag.map_or("any tag".to_owned(), |tag| format!("tag {tag}"));
            format!("for a message from {from} with {tag}")
        }
    }
}
