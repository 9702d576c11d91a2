//! Lower bounds on what messages cost on a network of routers, whatever its topology.

use quantities::{Bytes, Duration, Rate};

use super::super::{LeastTimes, RankTraffic};
use crate::model::{Channel, ChannelId, FlitNetwork, NodeCosts, Protocol, SendMode};

/// The least that the processors of a rank have to do.
pub(super) fn least_work(
    network: &FlitNetwork,
    node: &NodeCosts,
    sent: RankTraffic,
    received: RankTraffic,
) -> Duration {
    let for_each = |cost: Duration, count: u64| cost.picoseconds().saturating_mul(count);
    let packets = |it: RankTraffic| it.bytes.div_ceil(network.packet.payload.0).max(it.messages);
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
    Duration::from_picoseconds(program.max(communication))
}

/// The least times of an empty message.
pub(super) fn least_times(network: &FlitNetwork, node: &NodeCosts) -> LeastTimes {
    let &NodeCosts { processor_send, processor_receive, message_send, packet_send, .. } = node;
    let wire = on_the_wire(network, Bytes(0));
    let taken = node.packet_receive + taking(node);
    let send = processor_send.max(message_send + packet_send).picoseconds().max(wire);
    let receive = processor_receive.max(taken).picoseconds().max(wire);
    let ends = processor_send + message_send + packet_send + taken + processor_receive;
    let time = Duration::from_picoseconds;
    LeastTimes { gap: time(send.min(receive)), latency: time(ends.picoseconds().saturating_add(wire)) }
}

/// The least time of this much through the channel of a node.
pub(super) fn least_transfer(network: &FlitNetwork, node: &NodeCosts, bytes: Bytes) -> Duration {
    let processors = node.processor_send + node.processor_receive;
    Duration::from_picoseconds(processors.picoseconds().saturating_add(on_the_wire(network, bytes)))
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
