//! A network that delays, loses and repeats messages, and servers that pause for a while.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use quantities::splitmix64::Draws;

/// A copy of a message may be late by up to this many times the longest delay.
const LATE: u64 = 20;

/// A sender or receiver: servers and clients are numbered separately.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Node {
    Server(u32),
    Client(u64),
}

/// The delivery guarantee of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delivery {
    /// It arrives once, and after those that the same sender sent to the same receiver before.
    Sure,
    /// None: it may be lost, duplicated or reordered.
    Unsure,
}

/// How bad the network is.
#[derive(Clone, Copy, Debug)]
pub struct Faults {
    /// The longest delay of a message.
    pub delay: u64,
    /// Messages that arrive twice, the second copy usually late. [%]
    pub repeated: u64,
    /// Messages that do not arrive. [%]
    pub lost: u64,
    /// Deliveries at which a server pauses. [%]
    pub stops: u64,
    /// The longest pause. The server keeps its state; about half of the unsure messages that arrive meanwhile are
    /// lost.
    pub stopped: u64,
}

/// A message under way.
struct MessageUnderWay<M> {
    from: Node,
    to: Node,
    delivery: Delivery,
    message: M,
}

/// Messages under way.
pub struct Network<M> {
    faults: Faults,
    draws: Draws,
    sent: u64,
    /// How many messages were lost.
    pub lost: u64,
    /// The arrival times of messages, with their numbers.
    under_way: BinaryHeap<Reverse<(u64, u64)>>,
    messages: BTreeMap<u64, MessageUnderWay<M>>,
    last_arrival: BTreeMap<(Node, Node), u64>,
    stopped_until: BTreeMap<Node, u64>,
}

impl<M: Clone> Network<M> {
    pub fn new(faults: Faults, seed: u64) -> Network<M> {
        Network {
            faults,
            draws: Draws(seed),
            sent: 0,
            lost: 0,
            under_way: BinaryHeap::new(),
            messages: BTreeMap::new(),
            last_arrival: BTreeMap::new(),
            stopped_until: BTreeMap::new(),
        }
    }

    pub fn send(&mut self, now: u64, (from, to): (Node, Node), message: M, delivery: Delivery) {
        let mut arrival = now + 1 + self.draws.below(self.faults.delay);
        if delivery == Delivery::Sure {
            let last = self.last_arrival.entry((from, to)).or_default();
            arrival = arrival.max(*last + 1);
            *last = arrival;
        } else if self.draws.percent(self.faults.lost) {
            self.lost += 1;
            return;
        } else if self.draws.percent(self.faults.repeated) {
            let late = 1 + self.draws.below(LATE * self.faults.delay);
            self.arrives(now + late, MessageUnderWay { from, to, delivery, message: message.clone() });
        }
        self.arrives(arrival, MessageUnderWay { from, to, delivery, message });
    }

    fn arrives(&mut self, at: u64, sent: MessageUnderWay<M>) {
        self.under_way.push(Reverse((at, self.sent)));
        self.messages.insert(self.sent, sent);
        self.sent += 1;
    }

    /// When the next message is delivered. A message to a paused server waits there, in order, or is lost.
    pub fn next_at(&mut self) -> Option<u64> {
        loop {
            let Reverse((at, number)) = *self.under_way.peek()?;
            let MessageUnderWay { to, delivery, .. } = self.messages.get(&number)?;
            let until = self.stopped_until.get(to).copied().unwrap_or(0);
            if at >= until {
                return Some(at);
            }
            self.under_way.pop();
            if *delivery == Delivery::Unsure && self.draws.percent(50) {
                self.messages.remove(&number);
                self.lost += 1;
            } else {
                // Messages that arrive during the pause keep their order: higher numbers arrive later.
                self.under_way.push(Reverse((until, number)));
            }
        }
    }

    /// The next message.
    pub fn receive(&mut self) -> Option<(u64, Node, Node, M)> {
        let at = self.next_at()?;
        let Reverse((_, number)) = self.under_way.pop()?;
        let MessageUnderWay { from, to, message, .. } = self.messages.remove(&number)?;
        if matches!(to, Node::Server(_)) && self.draws.percent(self.faults.stops) {
            self.stopped_until.insert(to, at + 1 + self.draws.below(self.faults.stopped));
        }
        Some((at, from, to, message))
    }
}
