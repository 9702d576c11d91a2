//! What is told of a schedule that can't go on, and of messages that nobody received.

use endpoint::Error;
use programs::goal::{GoalRank, OperationId, OperationKind, Schedule};
use quantities::Rank;

use super::simulation::Simulation;

/// As many waiting operations are named one by one; the others are counted.
const NAMED: usize = 8;

/// A message that was sent and that no receive took.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Unreceived {
    /// Who sent it.
    pub from: Rank,
    /// To whom.
    pub to: Rank,
    /// With which tag.
    pub tag: u32,
    /// The line of its send.
    pub line: u32,
}

impl Simulation<'_> {
    /// The messages that no receive took, by receiver, then by sender and tag.
    pub(super) fn unreceived(&self) -> Vec<Unreceived> {
        let of = |to: Rank| {
            let waiting = self.rank(to).into_iter().flat_map(|state| state.matching.waiting());
            waiting.map(move |waiting| Unreceived {
                from: waiting.from,
                to,
                tag: waiting.tag,
                line: self.line(waiting.from, self.sender_of(waiting.message)),
            })
        };
        (0..self.schedule.size()).map(Rank).flat_map(of).collect()
    }

    /// The deadlock that the simulation has ended in, if it has.
    pub(super) fn deadlock(&self) -> Option<Error> {
        deadlock(self.schedule, |rank| self.rank(rank).map(|state| &state.goal), &self.unreceived())
    }

    /// The line of an operation in the text.
    fn line(&self, rank: Rank, operation: OperationId) -> u32 {
        self.schedule.block(rank).operation(operation).line
    }
}

/// The deadlock that a schedule has ended in, if some operation of a rank has not finished.
pub(crate) fn deadlock<'a>(
    schedule: &Schedule,
    goal: impl Fn(Rank) -> Option<&'a GoalRank<'a>>,
    unreceived: &[Unreceived],
) -> Option<Error> {
    let mut named = Vec::new();
    let (mut waiting, mut not_started) = (0, 0);
    for (rank, block) in schedule.busy_ranks() {
        let Some(goal) = goal(rank).filter(|goal| !goal.is_done()) else { continue };
        for id in goal.under_way() {
            waiting += 1;
            if named.len() < NAMED {
                let operation = block.operation(id);
                named.push(format!("rank {rank} waits in line {} {}", operation.line, reason(operation.kind)));
            }
        }
        not_started += goal.not_started().count();
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
        text.push_str(&format!(
            "; {} not received, the first from rank {from} to rank {to} with tag {tag} (line {line})",
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
