//! Scheduling of the processors of one computer, where nodes are its processes.

use std::collections::VecDeque;

use quantities::Rank;

/// Processors that nodes share. A node keeps one until it has nothing to do; nodes that wait for one get it in the order in which they
/// asked, as processes of one priority do.
#[derive(Debug)]
pub(super) struct Processors {
    /// How many processors are idle.
    idle: u32,
    has_one: Vec<bool>,
    waiting: VecDeque<Rank>,
}

impl Processors {
    /// `shared` processors for all `nodes`; one for each, if none are shared.
    pub(super) fn new(shared: Option<u32>, nodes: u32) -> Processors {
        Processors { idle: shared.unwrap_or(nodes), has_one: vec![false; nodes as usize], waiting: VecDeque::new() }
    }

    /// Whether a node has a processor, or gets one at once. If not, it is queued.
    pub(super) fn take(&mut self, node: Rank) -> bool {
        let has_one = &mut self.has_one[node.0 as usize];
        if !*has_one && self.idle > 0 {
            self.idle -= 1;
            *has_one = true;
        }
        if !*has_one && !self.waiting.contains(&node) {
            self.waiting.push_back(node);
        }
        *has_one
    }

    /// Releases the processor of a node that has nothing to do. Returns the node that gets it next.
    pub(super) fn release(&mut self, node: Rank) -> Option<Rank> {
        if !std::mem::take(&mut self.has_one[node.0 as usize]) {
            return None;
        }
        let next = self.waiting.pop_front();
        match next {
            Some(next) => self.has_one[next.0 as usize] = true,
            None => self.idle += 1,
        }
        next
    }
}
