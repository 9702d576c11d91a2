//! Scheduling of the processors of one computer, where nodes are its processes.

use std::collections::VecDeque;

use quantities::{Duration, Rank};

/// Processors that nodes share. A node keeps one until it has nothing to do; nodes that wait for one get it in the
/// order in which they asked, as processes of one priority do.
#[derive(Debug)]
pub(super) struct Processors {
    /// How many processors are idle.
    idle: u32,
    has_one: Vec<bool>,
    /// What interrupts have taken of the processor that each node has.
    stolen: Vec<Duration>,
    /// Whether nodes share processors.
    shared: bool,
    waiting: VecDeque<Rank>,
    /// How often nodes got a processor.
    turns: u64,
    /// Which of these was the last of each node; zero before its first.
    last_turn: Vec<u64>,
}

impl Processors {
    /// `shared` processors for all `nodes`; one for each, if none are shared.
    pub(super) fn new(shared: Option<u32>, nodes: u32) -> Processors {
        Processors {
            idle: shared.unwrap_or(nodes),
            has_one: vec![false; nodes as usize],
            stolen: vec![Duration::ZERO; nodes as usize],
            shared: shared.is_some(),
            waiting: VecDeque::new(),
            turns: 0,
            last_turn: vec![0; nodes as usize],
        }
    }

    /// Whether a node has a processor, or gets one at once. If not, it is queued.
    pub(super) fn take(&mut self, node: Rank) -> bool {
        if !self.has_one(node) && self.idle > 0 {
            self.idle -= 1;
            self.give(node);
        }
        if !self.has_one(node) && !self.waiting.contains(&node) {
            self.waiting.push_back(node);
        }
        self.has_one(node)
    }

    /// Whether a node has a processor.
    pub(super) fn has_one(&self, node: Rank) -> bool {
        self.has_one[node.0 as usize]
    }

    /// How many processors are idle.
    pub(super) fn idle(&self) -> u32 {
        self.idle
    }

    /// Whether a node neither has a processor nor waits for one.
    pub(super) fn is_blocked(&self, node: Rank) -> bool {
        !self.has_one[node.0 as usize] && !self.waiting.contains(&node)
    }

    /// Releases the processor of a node that has nothing to do. Returns the node that gets it next.
    pub(super) fn release(&mut self, node: Rank) -> Option<Rank> {
        if !std::mem::take(&mut self.has_one[node.0 as usize]) {
            return None;
        }
        self.stolen[node.0 as usize] = Duration::ZERO;
        self.pass_on()
    }

    /// An interrupt that lasts `length` occupies an idle processor; returns whether there is one. If not, it takes that
    /// time from the node that has lost the least to interrupts since it got its processor. Where nodes do not share
    /// processors, interrupts are nobody's.
    pub(super) fn interrupt(&mut self, length: Duration) -> bool {
        if !self.shared {
            return false;
        }
        if self.idle > 0 {
            self.idle -= 1;
            return true;
        }
        let running = (0..self.has_one.len()).filter(|&node| self.has_one[node]);
        if let Some(node) = running.min_by_key(|&node| self.stolen[node]) {
            self.stolen[node] += length;
        }
        false
    }

    /// An interrupt gives up the processor that was idle before it. Returns the node that gets it next.
    pub(super) fn end_interrupt(&mut self) -> Option<Rank> {
        self.pass_on()
    }

    /// What interrupts have taken of a node's processor since it last asked.
    pub(super) fn take_stolen(&mut self, node: Rank) -> Duration {
        std::mem::take(&mut self.stolen[node.0 as usize])
    }

    /// Gives a processor to the next node that waits for one.
    fn pass_on(&mut self) -> Option<Rank> {
        let next = self.waiting.pop_front();
        match next {
            Some(next) => self.give(next),
            None => self.idle += 1,
        }
        next
    }

    fn give(&mut self, node: Rank) {
        self.turns += 1;
        self.has_one[node.0 as usize] = true;
        self.last_turn[node.0 as usize] = self.turns;
    }

    /// How many others have got a processor since a node last got one.
    pub(super) fn others_since(&self, node: Rank) -> u64 {
        let last = self.last_turn[node.0 as usize];
        self.last_turn.iter().filter(|&&turn| turn > last).count() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LENGTH: Duration = Duration::from_microseconds(5);

    #[test]
    fn an_interrupt_occupies_an_idle_processor() {
        let mut processors = Processors::new(Some(1), 2);
        assert!(processors.interrupt(LENGTH));
        assert!(!processors.take(Rank(0)));
        assert_eq!(processors.end_interrupt(), Some(Rank(0)));
        assert_eq!(processors.take_stolen(Rank(0)), Duration::ZERO);
    }

    #[test]
    fn others_are_counted_once_since_a_node_last_had_a_processor() {
        let turns = [1, 0, 2, 1, 2, 1].map(Rank);
        let mut processors = Processors::new(Some(1), 4);
        for node in turns {
            assert!(processors.take(node));
            processors.release(node);
        }
        assert_eq!([0, 1, 2, 3].map(|node| processors.others_since(Rank(node))), [2, 0, 1, 3]);
    }

    #[test]
    fn without_an_idle_processor_interrupts_take_their_time_from_nodes_in_turn() {
        let mut processors = Processors::new(Some(2), 3);
        assert!(processors.take(Rank(0)) && processors.take(Rank(2)));
        (0..3).for_each(|_| assert!(!processors.interrupt(LENGTH)));
        assert_eq!([0, 1, 2].map(|node| processors.take_stolen(Rank(node))), [LENGTH * 2, Duration::ZERO, LENGTH]);
        // What a node has lost is over when it gives up its processor.
        processors.interrupt(LENGTH);
        processors.release(Rank(0));
        assert_eq!(processors.take_stolen(Rank(0)), Duration::ZERO);
    }
}
