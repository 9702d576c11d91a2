//! JSON with every channel and cost, enough to run a packet log through another simulator. All times in picoseconds.

use serde_json::{Value, json};

use crate::model::{Acknowledged, Machine, NodeCosts, Protocol, SendMode};

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
    let (name, model) = machine.interconnect.model().json();
    object[name] = model;
    let mut text = object.to_string();
    text.push('\n');
    text
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
