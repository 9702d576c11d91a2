//! Largest messages first, each as early as possible.

use std::cmp::Reverse;

use crate::schedule::{Pattern, Schedule, Transfer};

/// Largest-first scheduling: the messages are taken from the largest to the smallest, and each goes in the first step
/// in which its sender is not yet sending and its receiver is not yet receiving.
///
/// ```text
///   for each message i -> j, the largest first (among equals the lowest i, then j):
///       s = the first step in which i does not send and j does not receive
///       i sends to j in step s
/// ```
///
/// So messages of about the same size go in the same step, and few short ones wait for a long one. At most 2 D - 1
/// steps, if no rank sends or receives more than D messages. If none sends or receives more than W bytes, no message of
/// step k has more than 2 W / (k + 1): in each earlier step, its sender or its receiver is busy with a message that is
/// at least as large.
///
/// O(M log M + M D / 64) for M messages.
///
/// Source: the list colouring of Graham, "Bounds on multiprocessing timing anomalies", SIAM Journal on Applied
/// Mathematics 17(2), 1969 (longest processing time first), for steps instead of processors.
pub fn largest_first(pattern: &Pattern) -> Schedule {
    let mut messages: Vec<&Transfer> = pattern.messages().iter().collect();
    messages.sort_by_key(|message| Reverse(message.bytes)); // stable: equal ones keep their order
    let ranks = pattern.ranks() as usize;
    let (mut sending, mut receiving) = (vec![Steps::default(); ranks], vec![Steps::default(); ranks]);
    let mut steps: Vec<Vec<Transfer>> = Vec::new();
    for message in messages {
        let (sender, receiver) = (&mut sending[message.from.0 as usize], &mut receiving[message.to.0 as usize]);
        let step = sender.first_in_neither(receiver);
        sender.insert(step);
        receiver.insert(step);
        if step == steps.len() {
            steps.push(Vec::new());
        }
        steps[step].push(*message);
    }
    Schedule::new(pattern.ranks(), steps)
}

const WORD: usize = u64::BITS as usize;

/// A set of steps, one bit each.
#[derive(Clone, Debug, Default)]
struct Steps(Vec<u64>);

impl Steps {
    fn insert(&mut self, step: usize) {
        if self.0.len() <= step / WORD {
            self.0.resize(step / WORD + 1, 0);
        }
        self.0[step / WORD] |= 1 << (step % WORD);
    }

    fn first_in_neither(&self, other: &Steps) -> usize {
        let word = |steps: &Steps, index| steps.0.get(index).copied().unwrap_or(0);
        let mut index = 0;
        loop {
            let taken = word(self, index) | word(other, index);
            if taken != u64::MAX {
                return index * WORD + taken.trailing_ones() as usize;
            }
            index += 1;
        }
    }
}
