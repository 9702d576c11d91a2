//! JSON with every channel and cost, enough to run a packet log through another simulator. All times in picoseconds.

use quantities::{Bytes, Duration};
use serde::Serialize;
use serde_json::{Value, json};

use super::network;
use crate::model::{
    Acknowledged, Arbitration, BroadcastProtocol, Channel, Ethernet, Faults, FlitNetwork, Interconnect, LogGp, Machine,
    Memory, Messaging, NodeCosts, Place, Protocol, Repeat, Router, SendMode, Switching, Trunk,
};

/// An end of a channel: `{"node": 3}` or `{"router": 0}`.
#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
enum End {
    Node(u32),
    Router(u32),
}

impl From<Place> for End {
    fn from(place: Place) -> End {
        match place {
            Place::Node(node) => End::Node(node.0),
            Place::Router(router) => End::Router(router.0),
        }
    }
}

#[derive(Serialize)]
struct ChannelRow {
    id: usize,
    from: End,
    to: End,
    input_port: u32,
    flit_time_ps: u64,
    bits_per_second: u64,
    wire_latency_ps: u64,
    credit_latency_ps: u64,
    buffer_slots: u32,
    virtual_channels: u32,
}

#[derive(Serialize)]
struct RouterRow<'a> {
    id: usize,
    name: &'a str,
    routing_delay_ps: u64,
    x: f32,
    y: f32,
    mesh_index: Option<u32>,
}

/// The machine as one JSON object.
pub fn json(machine: &Machine) -> String {
    let mut object = json!({
        "name": machine.name,
        "about": machine.about,
        "nodes": machine.nodes,
        "node": costs(&machine.node),
        "description": machine.source.description,
        "blake3": machine.source.blake3,
        "set": machine.source.settings,
    });
    if let Some(control) = &machine.control_network {
        object["control_network"] = json!({
            "latency_ps": control.latency.picoseconds(),
            "bits_per_second": control.rate.bits_per_second(),
            "overhead_ps": control.overhead.picoseconds(),
        });
    }
    if let Some(network) = network(machine) {
        object["network"] = of_network(network);
    }
    if let Interconnect::LogGp(model) = &machine.interconnect {
        object["loggp"] = loggp(model);
    }
    if let Interconnect::Ethernet(model) = &machine.interconnect {
        object["ethernet"] = ethernet(model);
        if let Some(model) = &model.trunk {
            object["ethernet"]["trunk"] = trunk(model);
        }
        if let Some(model) = &model.memory {
            object["ethernet"]["memory"] = memory(model);
        }
    }
    let mut text = object.to_string();
    text.push('\n');
    text
}

fn of_network(network: &FlitNetwork) -> Value {
    let channels: Vec<ChannelRow> =
        network.channels.iter().enumerate().map(|it| channel(it, network.packet.flit)).collect();
    let routers: Vec<RouterRow<'_>> = network.routers.iter().enumerate().map(router).collect();
    let ids = |list: &[crate::model::ChannelId]| list.iter().map(|channel| channel.0).collect::<Vec<u32>>();
    json!({
        "channels": channels,
        "routers": routers,
        "injection": ids(&network.injection),
        "ejection": ids(&network.ejection),
        "sides": network.sides,
        "routing": network.routing.name(),
        "selection": network.selection.name(),
        "waits_for": network.waits_for.name(),
        "idle_when": network.idle_when.name(),
        "switching": switching(network.switching),
        "arbitration": match network.arbitration {
            Arbitration::FirstCome => "first-come",
            Arbitration::RoundRobin => "round-robin",
        },
        "packet": {
            "payload_bytes": network.packet.payload.0,
            "header_bytes": network.packet.header.0,
            "flit_bytes": network.packet.flit.0,
        },
    })
}

/// The rate of a channel that a flit of this size crosses in `flit_time`, rounded.
fn bits_per_second(flit: Bytes, flit_time: Duration) -> u64 {
    let bits = u128::from(flit.0) * 8_000_000_000_000;
    let time = u128::from(flit_time.picoseconds().max(1));
    u64::try_from((bits + time / 2) / time).unwrap_or(u64::MAX)
}

fn channel((id, channel): (usize, &Channel), flit: Bytes) -> ChannelRow {
    ChannelRow {
        id,
        from: channel.from.into(),
        to: channel.to.into(),
        input_port: channel.input_port,
        flit_time_ps: channel.flit_time.picoseconds(),
        bits_per_second: bits_per_second(flit, channel.flit_time),
        wire_latency_ps: channel.wire_latency.picoseconds(),
        credit_latency_ps: channel.credit_latency.picoseconds(),
        buffer_slots: channel.buffer,
        virtual_channels: channel.virtual_channels,
    }
}

fn router((id, router): (usize, &Router)) -> RouterRow<'_> {
    let (x, y) = router.position;
    let routing_delay_ps = router.routing_delay.picoseconds();
    RouterRow { id, name: &router.name, routing_delay_ps, x, y, mesh_index: router.mesh_index }
}

fn switching(switching: Switching) -> Value {
    match switching {
        Switching::Wormhole => json!({"mode": "wormhole"}),
        Switching::VirtualCutThrough => json!({"mode": "virtual-cut-through"}),
        Switching::StoreAndForward => json!({"mode": "store-and-forward"}),
        Switching::Software { per_packet } => {
            json!({"mode": "software", "per_packet_ps": per_packet.picoseconds()})
        }
    }
}

fn costs(node: &NodeCosts) -> Value {
    let (send, acknowledged) = match node.send {
        SendMode::Synchronous { acknowledged: Acknowledged::OnArrival } => ("synchronous", Some("on-arrival")),
        SendMode::Synchronous { acknowledged: Acknowledged::OnReceive } => ("synchronous", Some("on-receive")),
        SendMode::Blocking => ("blocking", None),
        SendMode::NonBlocking => ("non-blocking", None),
    };
    let (protocol, piggyback, eager) = match node.protocol {
        Protocol::Eager => ("eager", None, None),
        Protocol::SetUp { piggyback } => ("set-up", Some(piggyback.0), None),
        Protocol::Rendezvous { eager } => ("rendezvous", None, eager.map(|size| size.0)),
    };
    json!({
        "processor_send_ps": node.processor_send.picoseconds(),
        "processor_receive_ps": node.processor_receive.picoseconds(),
        "message_send_ps": node.message_send.picoseconds(),
        "message_receive_ps": node.message_receive.picoseconds(),
        "packet_send_ps": node.packet_send.picoseconds(),
        "packet_receive_ps": node.packet_receive.picoseconds(),
        "packet_bits_per_second": node.packet_rate.map(|rate| rate.bits_per_second()),
        "system_message_ps": node.system_message.picoseconds(),
        "cold_receive_ps": node.cold_receive.picoseconds(),
        "cold_send_ps": node.cold_send.picoseconds(),
        "copy_bits_per_second": node.copy_rate.map(|rate| rate.bits_per_second()),
        "copy_out_bits_per_second": node.copy_out_rate.map(|rate| rate.bits_per_second()),
        "reconstruction_ps": node.reconstruction.picoseconds(),
        "waits_for_departure": node.waits_for_departure,
        "send": send,
        "acknowledged": acknowledged,
        "protocol": protocol,
        "piggyback_bytes": piggyback,
        "eager_bytes": eager,
    })
}

fn ethernet(model: &Ethernet) -> Value {
    let Faults { loss, burst_begins, burst_ends, duplicated, delayed, delay } = model.faults;
    json!({
        "bits_per_second": model.rate.bits_per_second(),
        "bucket_bytes": model.bucket.map(|bucket| bucket.0),
        "bucket_delay_ps": model.bucket_delay.picoseconds(),
        "bucket_carry_ps": model.bucket_carry.picoseconds(),
        "wire_latency_ps": model.wire_latency.picoseconds(),
        "switch_latency_ps": model.switch_latency.picoseconds(),
        "switch_copy_ps": model.switch_copy.picoseconds(),
        "queue_bytes": model.queue.0,
        "payload_bytes": model.payload.0,
        "transmit_ring": model.transmit_ring,
        "receive_ring": model.receive_ring,
        "send_ps": model.send.picoseconds(),
        "receive_ps": model.receive.picoseconds(),
        "handover_ps": model.handover.picoseconds(),
        "wake_ps": model.wake.picoseconds(),
        "timer_ps": model.timer.picoseconds(),
        "block_ps": model.block.picoseconds(),
        "interrupt_ps": model.interrupt.picoseconds(),
        "cold_ps": model.cold.picoseconds(),
        "cold_each_ps": model.cold_each.picoseconds(),
        "processors": model.processors,
        "copy_per_byte_ps": model.copy.picoseconds(),
        "call_send_ps": model.call_send.picoseconds(),
        "call_receive_ps": model.call_receive.picoseconds(),
        "broadcast_each_ps": model.broadcast_each.picoseconds(),
        "faults": {
            "loss": loss, "burst_begins": burst_begins, "burst_ends": burst_ends, "duplicated": duplicated,
            "delayed": delayed, "delay_ps": delay.picoseconds(),
        },
        "messaging": messaging(&model.messaging),
    })
}

fn trunk(model: &Trunk) -> Value {
    json!({
        "first_switch": model.first_switch,
        "bits_per_second": model.rate.bits_per_second(),
        "bucket_bytes": model.bucket.map(|bucket| bucket.0),
        "latency_ps": model.latency.picoseconds(),
        "queue_bytes": model.queue.0,
    })
}

fn memory(model: &Memory) -> Value {
    json!({
        "processes": model.processes,
        "send_ps": model.send.picoseconds(),
        "receive_ps": model.receive.picoseconds(),
        "copy_per_byte_ps": model.copy.picoseconds(),
        "cache_bytes": model.cache.map(|cache| cache.0),
        "copy_uncached_per_byte_ps": model.copy_uncached.picoseconds(),
    })
}

/// What the description sets; what it leaves to the messaging crate is null.
fn messaging(model: &Messaging) -> Value {
    let time = |time: Option<Duration>| time.map(Duration::picoseconds);
    let size = |size: Option<Bytes>| size.map(|size| size.0);
    let mut object = json!({
        "header_bytes": size(model.header),
        "envelope_bytes": size(model.envelope),
        "window": model.window,
        "repeat": model.repeat.map(Repeat::name),
        "push_first_bytes": size(model.push_first),
        "push_second_bytes": size(model.push_second),
        "pushed_buffer_bytes": size(model.pushed_buffer),
        "send_queue": model.send_queue,
        "broadcast": model.broadcast.map(BroadcastProtocol::name),
        "first_timeout_ps": time(model.first_timeout),
        "least_timeout_ps": time(model.least_timeout),
        "most_timeout_ps": time(model.most_timeout),
        "report_packets": model.report_packets,
        "broadcast_report_packets": model.broadcast_report_packets,
        "report_delay_ps": time(model.report_delay),
        "patience_ps": time(model.patience),
    });
    if let Some(datagram) = model.datagram {
        object["datagram_bytes"] = json!(datagram.0);
    }
    if let Some(probe) = model.probe {
        object["probe"] = json!(probe.name());
    }
    if let Some(batch) = model.batch {
        object["batch"] = json!(batch);
    }
    object
}

fn loggp(model: &LogGp) -> Value {
    json!({
        "latency_ps": model.latency.picoseconds(),
        "overhead_ps": model.overhead.picoseconds(),
        "gap_ps": model.gap.picoseconds(),
        "gap_per_byte_ps": model.gap_per_byte.picoseconds(),
        "overhead_per_byte_ps": model.overhead_per_byte.picoseconds(),
        "rendezvous_bytes": model.rendezvous.map(|size| size.0),
    })
}
