//! A schedule as GOAL text.

use std::fmt::Write;

use quantities::Rank;

use super::follow::Operation;
use super::{Action, Pacing, Rule, Schedule, SendReceiveOrder};
use crate::barrier;
use crate::shift::Shift;

impl Schedule {
    /// The schedule as GOAL text: for each rank its sends and receives, each of which waits for those before it, and
    /// between them the messages of `pacing`; a send and a receive that go at once do not wait for each other, nor do
    /// any if they are overlapped, nor those of a step in which everything is begun at once. The tag of a message is
    /// the number of its step, from 1, among those that carry messages; those of the pacing have tag 0.
    pub fn to_goal(&self, pacing: Pacing, order: SendReceiveOrder) -> String {
        let mut text = format!("num_ranks {}\n", self.ranks);
        for (rank, schedule) in self.by_rank(order).iter().enumerate() {
            let mut block = Block::default();
            if self.rule == Rule::ManyToMany {
                let steps = schedule.actions.chunk_by(|one, next| one.step == next.step);
                steps.for_each(|step| {
                    // Receives are begun first, as where the schedule is followed.
                    let (sends, receives) = step.iter().partition::<Vec<&Action>, _>(|action| action.sends);
                    block.at_once(&receives.into_iter().chain(sends).map(goal_of).collect::<Vec<String>>());
                });
            } else if pacing == Pacing::Overlapped {
                let (sends, receives) = schedule.actions.iter().partition::<Vec<_>, _>(|action| action.sends);
                block.in_turn(&sends);
                block.in_turn(&receives);
            } else {
                schedule.operations(pacing).for_each(|operation| block.add(operation, rank as u32, self.ranks));
            }
            if block.operations > 0 {
                let _ = write!(text, "\nrank {rank} {{\n{}}}\n", block.text);
            }
        }
        text
    }
}

/// The operations of one rank: each waits for those before it, except that the two halves of a sendrecv don't wait for
/// each other.
#[derive(Default)]
struct Block {
    text: String,
    operations: usize,
    /// The numbers of the operations that the next one waits for.
    last: Vec<usize>,
}

impl Block {
    fn add(&mut self, operation: Operation<'_>, rank: u32, ranks: u32) {
        match operation {
            Operation::Confirm { to, from } => {
                let send = to.map(|to| format!("send 0b to {to} tag 0"));
                let receive = from.map(|from| format!("recv 0b from {from} tag 0"));
                self.at_once(&send.into_iter().chain(receive).collect::<Vec<String>>());
            }
            Operation::Send(action) | Operation::Receive(action) => self.at_once(&[goal_of(action)]),
            Operation::Sendrecv(send, receive) => self.at_once(&[goal_of(send), goal_of(receive)]),
            Operation::Barrier => {
                for distance in barrier::distances(ranks) {
                    let Shift { to, from } = Shift::new(Rank(rank), distance, ranks);
                    self.at_once(&[format!("send 0b to {to} tag 0"), format!("recv 0b from {from} tag 0")]);
                }
            }
        }
    }

    /// Adds actions each of which waits for the one before it, and for nothing else.
    fn in_turn(&mut self, actions: &[&Action]) {
        self.last.clear();
        actions.iter().for_each(|action| self.at_once(&[goal_of(action)]));
    }

    /// Adds operations that begin together.
    fn at_once(&mut self, operations: &[String]) {
        let first = self.operations + 1;
        for operation in operations {
            self.operations += 1;
            let number = self.operations;
            // Writing to a string can't fail.
            let _ = writeln!(self.text, "l{number}: {operation}");
            for before in &self.last {
                let _ = writeln!(self.text, "l{number} requires l{before}");
            }
        }
        self.last = (first..=self.operations).collect();
    }
}

/// An action, without its label.
fn goal_of(action: &Action) -> String {
    let verb = if action.sends { ("send", "to") } else { ("recv", "from") };
    let (bytes, partner, tag) = (action.bytes.0, action.partner, action.step + 1);
    format!("{} {bytes}b {} {partner} tag {tag}", verb.0, verb.1)
}
