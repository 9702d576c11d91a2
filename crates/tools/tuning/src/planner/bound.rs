//! Lower bounds on the time of every candidate.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fmt;

use collectives::schedule::{Pattern, Transfer};
use machines::facts::{bits_per_second_across, halvings};
use machines::model::{
    Channel, ChannelId, Ethernet, FlitNetwork, Interconnect, LogGp, Machine, NodeCosts, Protocol, SendMode,
};
use quantities::{Bytes, Duration, Rank, Rate};

use super::Question;
use crate::benchmark::Site;

/// A frame without payload, as it is on the wire: padded to 64 bytes, plus 8 bytes before it. [B]
const SHORTEST_FRAME: u64 = 72;
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
    let Interconnect::Flits(network) = &site.machine.interconnect else { return Vec::new() };
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
                |blocks: u64| Traffic::of(others.min(1).min(blocks.max(u64::from(bytes.0 == 0))), size(blocks));
            let receiving = processors(machine, Traffic::default(), traffic(least.received));
            let sending = processors(machine, traffic(least.sent), Traffic::default());
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
    let own = Traffic::of(messages, all);
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

/// The data that a rank sends, or receives.
#[derive(Clone, Copy, Debug, Default)]
struct Traffic {
    messages: u64,
    /// [B]
    bytes: u64,
}

impl Traffic {
    /// This many bytes in at least `messages` messages.
    fn of(messages: u64, Bytes(bytes): Bytes) -> Traffic {
        Traffic { messages, bytes }
    }
}

/// The bound from the processors of a pattern's busiest rank.
fn busiest_processors(machine: &Machine, pattern: &Pattern) -> Bound {
    let traffic = |messages: u32, Bytes(bytes): Bytes| Traffic { messages: u64::from(messages), bytes };
    let each = pattern.degrees().into_iter().zip(pattern.loads());
    let each =
        each.map(|(messages, bytes)| processors(machine, traffic(messages.0, bytes.0), traffic(messages.1, bytes.1)));
    each.fold(Bound { time: Duration::ZERO, reason: Reason::Processors }, larger)
}

/// The bound from the processors of a rank, each of which does one thing after another.
fn processors(machine: &Machine, sent: Traffic, received: Traffic) -> Bound {
    let for_each = |cost: Duration, messages: u64| cost.picoseconds().saturating_mul(messages);
    let time = match &machine.interconnect {
        Interconnect::LogGp(LogGp { overhead, .. }) => for_each(*overhead, sent.messages + received.messages),
        Interconnect::Ethernet(Ethernet { send, receive, copy, memory: Some(memory), .. }) => {
            // Each message goes over the wire or through memory, whichever costs less.
            let copied = for_each((*copy).min(memory.copy), sent.bytes);
            let taken = for_each((*receive).min(memory.receive), received.messages);
            for_each((*send).min(memory.send), sent.messages).saturating_add(taken).saturating_add(copied)
        }
        Interconnect::Ethernet(Ethernet { send, receive, copy, payload, memory: None, .. }) => {
            let frames = |it: Traffic| it.bytes.div_ceil(payload.0).max(it.messages);
            let copied = for_each(*copy, sent.bytes.saturating_add(received.bytes));
            for_each(*send, frames(sent)).saturating_add(for_each(*receive, frames(received))).saturating_add(copied)
        }
        Interconnect::Flits(network) => {
            let node = &machine.node;
            let packets = |it: Traffic| it.bytes.div_ceil(network.packet.payload.0).max(it.messages);
            // A message carried by the packet that sets up its communication costs its receiver only that packet.
            let rides = matches!(node.protocol, Protocol::SetUp { .. });
            let taken = if rides { received.messages } else { packets(received) };
            let bytes = Bytes(sent.bytes.saturating_add(received.bytes));
            let at_rate = |rate: Option<Rate>, bytes: Bytes, pieces: u64| {
                // The time for each piece is rounded, by at most half a picosecond.
                rate.map_or(0, |rate| rate.time_of(bytes).picoseconds().saturating_sub(pieces))
            };
            let set_up = for_each(node.processor_send, sent.messages).saturating_add(at_rate(
                node.copy_rate,
                Bytes(sent.bytes),
                sent.messages + 1,
            ));
            let taken_out = for_each(node.processor_receive, received.messages).saturating_add(at_rate(
                node.copy_out_rate,
                Bytes(received.bytes),
                received.messages + 1,
            ));
            // While a send waits the processor is free for other operations of the rank, but the last to be set up is
            // over only after its wait.
            let last_wait = for_each(waiting(node), sent.messages.min(1));
            let program = set_up.saturating_add(taken_out.max(last_wait));
            let moved = if rides { Bytes(0) } else { bytes };
            let communication = for_each(node.message_send, sent.messages)
                .saturating_add(for_each(node.packet_send, packets(sent)))
                .saturating_add(for_each(node.packet_receive, taken))
                .saturating_add(for_each(taking(node), received.messages))
                .saturating_add(at_rate(node.packet_rate, moved, packets(sent) + packets(received) + 1));
            program.max(communication)
        }
    };
    Bound { time: Duration::from_picoseconds(time), reason: Reason::Processors }
}

/// How long at least a send waits, in addition to its set-up: until the message has left, or has arrived and a system
/// message says so.
fn waiting(node: &NodeCosts) -> Duration {
    let left = node.message_send + node.packet_send;
    match node.send {
        SendMode::Synchronous { .. } => left + node.packet_receive + taking(node) + node.system_message * 2,
        SendMode::Blocking => left,
        SendMode::NonBlocking => Duration::ZERO,
    }
}

/// The communication processor's cost to receive any message.
fn taking(node: &NodeCosts) -> Duration {
    if matches!(node.protocol, Protocol::SetUp { .. }) { Duration::ZERO } else { node.message_receive }
}

/// Lower bounds on the times of an empty message.
struct Least {
    /// From the start of one message of a rank to the start of the next. [ps]
    gap: u64,
    /// From the start of sending to the end of receiving. [ps]
    latency: u64,
}

impl Least {
    fn of(machine: &Machine) -> Least {
        match &machine.interconnect {
            Interconnect::Flits(network) => {
                let node = &machine.node;
                let NodeCosts { processor_send, processor_receive, message_send, packet_send, .. } = *node;
                let wire = on_the_wire(network, Bytes(0));
                let taken = node.packet_receive + taking(node);
                let send = processor_send.max(message_send + packet_send).picoseconds().max(wire);
                let receive = processor_receive.max(taken).picoseconds().max(wire);
                let ends = processor_send + message_send + packet_send + taken + processor_receive;
                Least { gap: send.min(receive), latency: ends.picoseconds().saturating_add(wire) }
            }
            Interconnect::Ethernet(ethernet) => {
                // If a token bucket takes the place of a wire, a frame may pass at once.
                let on_wire = ethernet.rate.time_of(Bytes(SHORTEST_FRAME));
                let wire = if ethernet.bucket.is_some() { Duration::ZERO } else { on_wire };
                let ends =
                    ethernet.send + (wire + ethernet.wire_latency) * 2 + ethernet.switch_latency + ethernet.receive;
                let gap = wire.min(ethernet.send);
                let (gap, ends) = match ethernet.memory {
                    Some(memory) => (gap.min(memory.send), ends.min(memory.send + memory.receive)),
                    None => (gap, ends),
                };
                Least { gap: gap.picoseconds(), latency: ends.picoseconds() }
            }
            Interconnect::LogGp(LogGp { latency, overhead, gap, .. }) => {
                Least { gap: (*gap).max(*overhead).picoseconds(), latency: (*latency + *overhead * 2).picoseconds() }
            }
        }
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
    let time = |ethernet: &Ethernet| {
        let processes = ethernet.processes();
        if processes == 1 || ranks <= processes {
            return (Duration::ZERO, Bytes(0));
        }
        // However ranks are placed, some node has at least as many as on the mean, and none more than it has processes.
        let on_busiest = ranks.div_ceil(machine.nodes / processes)..=processes;
        let ends = [*on_busiest.start(), *on_busiest.end()].map(|beside| of(u64::from(beside)));
        let bytes = Bytes(ends[0].min(ends[1]));
        let saved = ethernet.bucket.unwrap_or_default();
        (ethernet.rate.time_of(Bytes(bytes.0.saturating_sub(saved.0))), bytes)
    };
    let (time, bytes) = match &machine.interconnect {
        Interconnect::Ethernet(ethernet) => time(ethernet),
        Interconnect::Flits(_) | Interconnect::LogGp(_) => (Duration::ZERO, Bytes(0)),
    };
    Bound { time, reason: Reason::Wire { bytes } }
}

/// This many bytes through the channel of one of `ranks`, in the largest possible messages and packets.
fn channel(machine: &Machine, ranks: u32, bytes: Bytes) -> Bound {
    let reason = Reason::Channel { bytes };
    if ranks <= 1 {
        return Bound { time: Duration::ZERO, reason };
    }
    let time = match &machine.interconnect {
        Interconnect::Flits(network) => {
            let processors = machine.node.processor_send + machine.node.processor_receive;
            processors.picoseconds().saturating_add(on_the_wire(network, bytes))
        }
        // Other processes of the node may put all of it into memory, at the same time.
        Interconnect::Ethernet(Ethernet { memory: Some(_), .. }) => 0,
        Interconnect::Ethernet(ethernet) => {
            let saved = ethernet.bucket.unwrap_or_default();
            ethernet.rate.time_of(Bytes(bytes.0.saturating_sub(saved.0))).picoseconds()
        }
        Interconnect::LogGp(LogGp { latency, overhead, gap, gap_per_byte, .. }) => {
            // Starting another message costs a gap instead of the time for a byte.
            let data = (*gap_per_byte).min(*gap).picoseconds().saturating_mul(bytes.0.saturating_sub(1));
            data.saturating_add((*overhead * 2 + *latency).picoseconds())
        }
    };
    Bound { time: Duration::from_picoseconds(time), reason }
}

/// How long the flits of this many bytes take on the fastest channel of a node, in as few packets as possible. [ps]
fn on_the_wire(network: &FlitNetwork, bytes: Bytes) -> u64 {
    let flit_time = |channel: &ChannelId| {
        let Channel { flit_time, .. } = network.channels[channel.0 as usize];
        flit_time.picoseconds()
    };
    let fastest = network.injection.iter().chain(&network.ejection).map(flit_time).min().unwrap_or(0);
    let packet = &network.packet;
    let packets = bytes.0.div_ceil(packet.payload.0).max(1);
    let headers = packets.saturating_mul(packet.header.0.div_ceil(packet.flit.0));
    headers.saturating_add(bytes.0.div_ceil(packet.flit.0)).saturating_mul(fastest)
}
