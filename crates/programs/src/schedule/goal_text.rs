//! A schedule as GOAL text.

use std::fmt::Write;

use super::follow::Operation;
use super::{Pacing, Schedule, SendReceiveOrder};
use crate::barrier;
use crate::shift::Shift;

impl Schedule {
    /// The schedule as GOAL text: for each rank its sends and receives, each of which waits for the one before it, and what
    /// `pacing` asks for between them. A message has the number of its step as tag, from 1, among those that carry messages;
    /// those of the pacing have tag 0.
    pub fn to_goal(&self, pacing: Pacing, order: SendReceiveOrder) -> String {
        let mut text = format!("num_ranks {}\n", self.ranks);
        for (rank, schedule) in self.by_rank(order).iter().enumerate() {
            let mut block = Block::default();
            for operation in schedule.operations(pacing) {
                block.add(operation, rank as u32, self.ranks);
            }
            if block.operations > 0 {
                let _ = write!(text, "\nrank {rank} {{\n{}}}\n", block.text);
            }
        }
        text
    }
}

/// The operations of one rank, one after the other.
#[derive(Default)]
struct Block {
    text: String,
    operations: usize,
}

impl Block {
    fn add(&mut self, operation: Operation<'_>, rank: u32, ranks: u32) {
        match operation {
            Operation::Confirm(partner) => self.line(&format!("send 0b to {partner} tag 0")),
            Operation::AwaitConfirmation(partner) => self.line(&format!("recv 0b from {partner} tag 0")),
            Operation::Act(action) => {
                let verb = if action.sends { ("send", "to") } else { ("recv", "from") };
                let (bytes, partner, tag) = (action.bytes.0, action.partner, action.step + 1);
                self.line(&format!("{} {bytes}b {} {partner} tag {tag}", verb.0, verb.1));
            }
            Operation::Barrier => {
                for distance in barrier::distances(ranks) {
                    let shift = Shift::new(quantities::Rank(rank), distance, ranks);
                    let (send, receive) =
                        (format!("send 0b to {} tag 0", shift.to), format!("recv 0b from {} tag 0", shift.from));
                    let (first, second) = if shift.sends_first { (send, receive) } else { (receive, send) };
                    self.line(&first);
                    self.line(&second);
                }
            }
        }
    }

    fn line(&mut self, operation: &str) {
        self.operations += 1;
        let number = self.operations;
        // Writing to a string can't fail.
        let _ = writeln!(self.text, "l{number}: {operation}");
        if number > 1 {
            let _ = writeln!(self.text, "l{number} requires l{}", number - 1);
        }
    }
}
