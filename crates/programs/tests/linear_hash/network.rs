//! A network that delays and repeats messages, and servers that stop for a while.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

/// Numbers that follow from a seed (SplitMix64).
#[derive(Clone, Debug)]
pub struct Draws(pub u64);

impl Draws {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit.max(1)
    }

    /// True in so many of a hundred cases.
    pub fn percent(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }
}

/// Who sends or receives: servers and clients have numbers of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Node {
    Server(u32),
    Client(u32),
}

/// How bad it is.
#[derive(Clone, Copy, Debug)]
pub struct Faults {
    /// The longest delay of a message.
    pub delay: u64,
    /// Messages that come twice. [%]
    pub repeated: u64,
    /// Deliveries on which a server stops. [%]
    pub stops: u64,
    /// The longest that it is stopped.
    pub stopped: u64,
}

/// Messages under way. Those of one sender to one receiver arrive in the order they were sent.
pub struct Network<M> {
    faults: Faults,
    draws: Draws,
    sent: u64,
    under_way: BinaryHeap<Reverse<(u64, u64)>>,
    messages: BTreeMap<u64, (Node, Node, M)>,
    last_arrival: BTreeMap<(Node, Node), u64>,
    stopped_until: BTreeMap<Node, u64>,
}

impl<M: Clone> Network<M> {
    pub fn new(faults: Faults, seed: u64) -> Network<M> {
        Network {
            faults,
            draws: Draws(seed),
            sent: 0,
            under_way: BinaryHeap::new(),
            messages: BTreeMap::new(),
            last_arrival: BTreeMap::new(),
            stopped_until: BTreeMap::new(),
        }
    }

    pub fn send(&mut self, now: u64, from: Node, to: Node, message: M, may_repeat: bool) {
        let copies = 1 + u64::from(may_repeat && self.draws.percent(self.faults.repeated));
        for _ in 0..copies {
            let arrival = now + 1 + self.draws.below(self.faults.delay);
            let last = self.last_arrival.entry((from, to)).or_default();
            *last = arrival.max(*last + 1);
            self.under_way.push(Reverse((*last, self.sent)));
            self.messages.insert(self.sent, (from, to, message.clone()));
            self.sent += 1;
        }
    }

    /// When the next message arrives.
    pub fn next_at(&self) -> Option<u64> {
        self.under_way.peek().map(|Reverse((at, _))| *at)
    }

    /// The next message; one that comes to a stopped server waits there, in its place.
    pub fn receive(&mut self) -> Option<(u64, Node, Node, M)> {
        loop {
            let Reverse((at, number)) = self.under_way.pop()?;
            let to = self.messages.get(&number)?.1;
            let until = self.stopped_until.get(&to).copied().unwrap_or(0);
            if at < until {
                // All that come while it is stopped keep their order: the later number comes later.
                self.under_way.push(Reverse((until, number)));
                continue;
            }
            if matches!(to, Node::Server(_)) && self.draws.percent(self.faults.stops) {
                self.stopped_until.insert(to, at + 1 + self.draws.below(self.faults.stopped));
            }
            let (from, to, message) = self.messages.remove(&number)?;
            return Some((at, from, to, message));
        }
    }
}
