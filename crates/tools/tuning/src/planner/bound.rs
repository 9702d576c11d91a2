//! Lower bounds on the time of every candidate.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fmt;

use collectives::schedule::{Pattern, Transfer};
use machines::facts::{bits_per_second_across, halvings};
use machines::model::Machine;
use machines::network_model::{LeastTimes, RankTraffic, SharedWire};
use quantities::{Bytes, Duration, Rank, Rate};

use super::Question;
use crate::benchmark::Site;

/// The most channels of a network whose cuts are worked out for a plan.
const MOST_CHANNELS: usize = 1 << 16;

/// A lower bound, and its reason.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bound {
    /// The least time.
    pub time: Duration,
    /// Why.
    pub reason: Reason,
}

/// Why there is a lower bound.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Reason {
    /// Each message informs one more rank, and takes at least as long as an empty one.
    Dissemination {
        /// How many ranks have to be informed.
        ranks: u32,
    },
    /// The busiest rank sends, or receives, this many messages one after another.
    Messages {
        /// How many.
        messages: u64,
    },
    /// The work of the processors of the busiest rank for the messages that it sends and receives.
    Processors,
    /// What the busiest rank sends, or receives, must go through its channel.
    Channel {
        /// How much that is. [B]
        bytes: Bytes,
    },
    /// What the ranks of a node send to those of others, or receive from them, must go over the wire that they share.
    Wire {
        /// How much that is. [B]
        bytes: Bytes,
    },
    /// What one half of the nodes needs of the other must go over the channels between them.
    Bisection {
        /// How much that is. [B]
        bytes: Bytes,
        /// How the nodes were halved.
        halved: &'static str,
    },
    /// The machine broadcasts in hardware.
    Hardware,
}

impl fmt::Display for Reason {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::Dissemination { ranks } => write!(out, "each message informs one more of {ranks} ranks"),
            Reason::Messages { messages: 1 } => write!(out, "one message of the busiest rank"),
            Reason::Messages { messages } => write!(out, "{messages} messages of the busiest rank"),
            Reason::Processors => write!(out, "processor time of the busiest rank for its messages"),
            Reason::Channel { bytes } => write!(out, "{bytes} through the channel of the busiest rank"),
            Reason::Wire { bytes } => write!(out, "{bytes} over the wire of a node"),
            Reason::Bisection { bytes, halved } => {
                write!(out, "{bytes} between the halves of the machine, halved {halved}")
            }
            Reason::Hardware => write!(out, "broadcast in hardware"),
        }
    }
}

/// The largest of the bounds known for `question` on the nodes of `site`.
pub(super) fn on(question: &Question, site: &Site<'_>) -> Bound {
    let bound = of(question, site.machine);
    // What the machine does in hardware goes over no channel.
    if site.machine.control_network.is_some() && uses_hardware(question) {
        return bound;
    }
    across(question, site).into_iter().fold(bound, larger)
}

/// The bounds from what must go from one half of the nodes to the other, for several ways of halving them: whatever
/// goes between two sets of nodes goes through the narrowest cut between them.
fn across(question: &Question, site: &Site<'_>) -> Vec<Bound> {
    let Some(network) = site.machine.network() else { return Vec::new() };
    if network.channels.len() > MOST_CHANNELS {
        return Vec::new();
    }
    let ranks = question.ranks();
    let bound = |(halved, order): (&'static str, Vec<usize>)| {
        let half = &order[..order.len() / 2];
        let mut is_beside = vec![false; order.len()];
        half.iter().for_each(|&node| is_beside[node] = true);
        let is_beside = |rank: u32| is_beside[site.node_of(Rank(rank)).0 as usize];
        let bytes = Bytes(bytes_between(question, &is_beside));
        let rate = Rate::from_bits_per_second(bits_per_second_across(network, half));
        (bytes.0 > 0 && ranks > 1)
            .then(|| Bound { time: rate.time_of(bytes), reason: Reason::Bisection { bytes, halved } })
    };
    halvings(network).into_iter().filter_map(bound).collect()
}

/// The least that must go between the ranks beside and the others, in the direction in which it is more. [B]
fn bytes_between(question: &Question, is_beside: &dyn Fn(u32) -> bool) -> u64 {
    let ranks = question.ranks();
    let beside = (0..ranks).filter(|&rank| is_beside(rank)).count() as u32;
    match question {
        Question::Listed { collective, bytes, .. } => {
            collective.shape().least_between(beside, ranks).saturating_mul(bytes.0)
        }
        Question::Irregular(pattern) => {
            let each_way = |way: bool| {
                let crosses = |message: &&Transfer| is_beside(message.from.0) == way && is_beside(message.to.0) != way;
                pattern.messages().iter().filter(crosses).map(|message| message.bytes.0).sum::<u64>()
            };
            each_way(true).max(each_way(false))
        }
    }
}

/// Whether the machine's own broadcast can do it.
fn uses_hardware(question: &Question) -> bool {
    match question {
        Question::Listed { collective, .. } => collective.summaries().iter().any(|it| it.needs.multicast()),
        Question::Irregular(_) => false,
    }
}

/// The largest of the bounds known for `question` wherever its ranks are.
pub(super) fn of(question: &Question, machine: &Machine) -> Bound {
    let least = Least::of(machine);
    let ranks = question.ranks();
    let others = u64::from(ranks.saturating_sub(1));
    let bounds = match question {
        Question::Listed { collective, bytes, .. } => {
            let (shape, size) = (collective.shape(), |blocks: u64| Bytes(blocks.saturating_mul(bytes.0)));
            let least = shape.least_traffic(ranks);
            // Blocks may be forwarded together: that a rank has one for each other does not mean that it sends as many.
            let traffic =
                |blocks: u64| traffic_of(others.min(1).min(blocks.max(u64::from(bytes.0 == 0))), size(blocks));
            let receiving = processors(machine, RankTraffic::default(), traffic(least.received));
            let sending = processors(machine, traffic(least.sent), RankTraffic::default());
            let both = processors(machine, traffic(least.of_one.sent), traffic(least.of_one.received));
            let most = size(least.received.max(least.sent));
            let of_node = |beside: u64| size(shape.least_between(beside as u32, ranks)).0;
            [wire(machine, ranks, of_node), channel(machine, ranks, most), larger(larger(receiving, sending), both)]
        }
        Question::Irregular(pattern) => {
            let messages = u64::from(pattern.most_messages_of_a_rank());
            let bytes = pattern.most_bytes_of_a_rank();
            [busiest(machine, messages, bytes), busiest_processors(machine, pattern), least.dissemination(1)]
        }
    };
    let informed = match question {
        Question::Irregular(_) => 1,
        Question::Listed { collective, .. } => collective.shape().least_traffic(ranks).ranks,
    };
    let bound = bounds.into_iter().fold(least.dissemination(informed), larger);
    match by_hardware(machine, question.bytes()).filter(|_| uses_hardware(question)) {
        Some(time) if time < bound.time => Bound { time, reason: Reason::Hardware },
        _ => bound,
    }
}

/// The time of a broadcast in hardware, if there is one: only the machine itself has it.
pub(super) fn by_hardware(machine: &Machine, bytes: Bytes) -> Option<Duration> {
    let network = machine.control_network.as_ref()?;
    Some(network.overhead * 2 + network.latency + network.rate.time_of(bytes))
}

/// The same if every message goes straight from its sender to its receiver.
pub(super) fn without_forwarding(question: &Question, machine: &Machine) -> Bound {
    let &Question::Listed { collective, ranks, bytes } = question else { return of(question, machine) };
    if !collective.shape().is_exchange() {
        return of(question, machine);
    }
    let messages = u64::from(ranks.saturating_sub(1));
    let all = Bytes(messages.saturating_mul(bytes.0));
    let own = traffic_of(messages, all);
    larger(busiest(machine, messages, all), processors(machine, own, own))
}

/// The least time of a rank that sends, or receives, this many messages with this many bytes.
pub fn busiest(machine: &Machine, messages: u64, bytes: Bytes) -> Bound {
    let ranks = if messages == 0 { 1 } else { 2 };
    larger(Least::of(machine).one_by_one(messages), channel(machine, ranks, bytes))
}

fn larger(one: Bound, other: Bound) -> Bound {
    if other.time > one.time { other } else { one }
}

/// This many bytes in at least `messages` messages.
fn traffic_of(messages: u64, Bytes(bytes): Bytes) -> RankTraffic {
    RankTraffic { messages, bytes }
}

/// The bound from the processors of a pattern's busiest rank.
fn busiest_processors(machine: &Machine, pattern: &Pattern) -> Bound {
    let traffic = |messages: u32, Bytes(bytes): Bytes| RankTraffic { messages: u64::from(messages), bytes };
    let each = pattern.degrees().into_iter().zip(pattern.loads());
    let each =
        each.map(|(messages, bytes)| processors(machine, traffic(messages.0, bytes.0), traffic(messages.1, bytes.1)));
    each.fold(Bound { time: Duration::ZERO, reason: Reason::Processors }, larger)
}

/// The bound from the processors of a rank, each of which does one thing after another.
fn processors(machine: &Machine, sent: RankTraffic, received: RankTraffic) -> Bound {
    let time = machine.model().least_work(&machine.node, sent, received);
    Bound { time, reason: Reason::Processors }
}

/// Lower bounds on the times of messages, from those of an empty one.
struct Least {
    /// From the start of one message of a rank to the start of the next. [ps]
    gap: u64,
    /// From the start of sending to the end of receiving. [ps]
    latency: u64,
}

impl Least {
    fn of(machine: &Machine) -> Least {
        let LeastTimes { gap, latency } = machine.model().least_times(&machine.node);
        Least { gap: gap.picoseconds(), latency: latency.picoseconds() }
    }

    /// All ranks have been informed, starting from one; each of them informs others from then on:
    ///
    /// ```text
    ///   a rank informed at t has informed another at t + latency, t + latency + gap, t + latency + 2 gap, ...
    /// ```
    ///
    /// In the postal model that is T(n).
    fn dissemination(&self, ranks: u32) -> Bound {
        let reason = Reason::Dissemination { ranks };
        let mut next = BinaryHeap::from([Reverse(self.latency)]);
        let mut time = 0;
        for _ in 1..ranks {
            let Some(Reverse(informed)) = next.pop() else { break };
            next.push(Reverse(informed.saturating_add(self.latency)));
            next.push(Reverse(informed.saturating_add(self.gap)));
            time = informed;
        }
        Bound { time: Duration::from_picoseconds(time), reason }
    }

    /// This many messages of one rank.
    fn one_by_one(&self, messages: u64) -> Bound {
        let reason = Reason::Messages { messages };
        let gaps = self.gap.saturating_mul(messages.saturating_sub(1));
        let time = if messages == 0 { 0 } else { gaps.saturating_add(self.latency) };
        Bound { time: Duration::from_picoseconds(time), reason }
    }
}

/// The bytes between the ranks of a node and all others, `of` so many ranks of that node, over the wire that these
/// share; no time where ranks share no wire, or are all on one node.
fn wire(machine: &Machine, ranks: u32, of: impl Fn(u64) -> u64) -> Bound {
    let none = Bound { time: Duration::ZERO, reason: Reason::Wire { bytes: Bytes(0) } };
    let Some(SharedWire { processes, rate, at_once }) = machine.model().shared_wire() else { return none };
    if ranks <= processes {
        return none;
    }
    // However ranks are placed, some node has at least as many as on the mean, and none more than it has processes.
    let on_busiest = ranks.div_ceil(machine.nodes / processes)..=processes;
    let ends = [*on_busiest.start(), *on_busiest.end()].map(|beside| of(u64::from(beside)));
    let bytes = Bytes(ends[0].min(ends[1]));
    let time = rate.time_of(Bytes(bytes.0.saturating_sub(at_once.0)));
    Bound { time, reason: Reason::Wire { bytes } }
}

/// This many bytes through the channel of one of `ranks`, in the largest possible messages and packets.
fn channel(machine: &Machine, ranks: u32, bytes: Bytes) -> Bound {
    let reason = Reason::Channel { bytes };
    if ranks <= 1 {
        return Bound { time: Duration::ZERO, reason };
    }
    Bound { time: machine.model().least_transfer(&machine.node, bytes), reason }
}
