//! The costs of messages at the nodes, and the LogGP model in place of a network.

use quantities::{Bytes, Duration, Rate};

use super::{bounded, missing};
use crate::description::fields::{self, Fields};
use crate::error::Fault;
use crate::model::{Acknowledged, ControlNetwork, Interconnect, LogGp, NodeCosts, Protocol, SendMode};
use crate::topology::{MOST_NODES, within};

/// The longest time for one byte.
pub(super) const LONGEST_BYTE: Duration = Duration::from_microseconds(1_000);

/// The slowest rate: anything less would only be a mistyped unit.
const SLOWEST: Rate = Rate::from_bits_per_second(8_000);

/// The costs of a node.
pub(super) fn costs(node: &fields::Node) -> Result<NodeCosts, Fault> {
    let times = [
        ("processor_send", node.processor_send),
        ("processor_receive", node.processor_receive),
        ("message_send", node.message_send),
        ("message_receive", node.message_receive),
        ("packet_send", node.packet_send),
        ("packet_receive", node.packet_receive),
        ("system_message", node.system_message),
        ("cold_send", node.cold_send),
        ("cold_receive", node.cold_receive),
        ("reconstruction", node.reconstruction),
    ];
    for (name, time) in times {
        bounded(&format!("node.{name}"), time)?;
    }
    rate_at_least_slowest("node.copy_rate", node.copy_rate)?;
    rate_at_least_slowest("node.copy_out_rate", node.copy_out_rate)?;
    rate_at_least_slowest("node.packet_rate", node.packet_rate)?;
    Ok(NodeCosts {
        processor_send: node.processor_send,
        processor_receive: node.processor_receive,
        message_send: node.message_send,
        message_receive: node.message_receive,
        packet_send: node.packet_send,
        packet_receive: node.packet_receive,
        system_message: node.system_message,
        cold_send: node.cold_send,
        cold_receive: node.cold_receive,
        packet_rate: node.packet_rate,
        copy_rate: node.copy_rate,
        copy_out_rate: node.copy_out_rate.or(node.copy_rate),
        reconstruction: node.reconstruction,
        waits_for_departure: node.waits_for_departure,
        send: send(node)?,
        protocol: protocol(node)?,
    })
}

fn rate_at_least_slowest(field: &str, rate: Option<Rate>) -> Result<(), Fault> {
    match rate {
        Some(rate) if rate < SLOWEST => Err(Fault::value(field, rate, "1 kB/s or more")),
        _ => Ok(()),
    }
}

fn protocol(node: &fields::Node) -> Result<Protocol, Fault> {
    let usual = if node.piggyback.is_some() { fields::Protocol::SetUp } else { fields::Protocol::Eager };
    let protocol = node.protocol.unwrap_or(usual);
    if let Some(piggyback) = node.piggyback
        && protocol != fields::Protocol::SetUp
    {
        return Err(Fault::value("node.piggyback", piggyback, "none unless node.protocol is \"set-up\""));
    }
    if let Some(eager) = node.eager
        && protocol != fields::Protocol::Rendezvous
    {
        return Err(Fault::value("node.eager", eager, "none unless node.protocol is \"rendezvous\""));
    }
    Ok(match protocol {
        fields::Protocol::Eager => Protocol::Eager,
        fields::Protocol::SetUp => Protocol::SetUp { piggyback: node.piggyback.unwrap_or(Bytes(0)) },
        fields::Protocol::Rendezvous => Protocol::Rendezvous { eager: node.eager },
    })
}

/// The network for broadcasts.
pub(super) fn control_network(fields: &fields::ControlNetwork) -> Result<ControlNetwork, Fault> {
    rate_at_least_slowest("control_network.rate", Some(fields.rate))?;
    Ok(ControlNetwork {
        latency: bounded("control_network.latency", fields.latency)?,
        rate: fields.rate,
        overhead: bounded("control_network.overhead", fields.overhead)?,
    })
}

fn send(node: &fields::Node) -> Result<SendMode, Fault> {
    match (node.send, node.acknowledged) {
        (fields::Send::Synchronous, acknowledged) => Ok(SendMode::Synchronous {
            acknowledged: match acknowledged.unwrap_or_default() {
                fields::Acknowledged::OnArrival => Acknowledged::OnArrival,
                fields::Acknowledged::OnReceive => Acknowledged::OnReceive,
            },
        }),
        (_, Some(_)) => {
            let allowed = "no acknowledgement unless node.send is \"synchronous\"";
            Err(Fault::value("node.acknowledged", "an acknowledgement", allowed))
        }
        (fields::Send::Blocking, None) => Ok(SendMode::Blocking),
        (fields::Send::NonBlocking, None) => Ok(SendMode::NonBlocking),
    }
}

/// Checks that a description in which `table` has everything that counts has no table that only a network of flits
/// needs.
pub(super) fn no_other_table(fields: &Fields, table: &str) -> Result<(), Fault> {
    let needless = [
        (fields.channels.is_some(), "channels"),
        (fields.routers.is_some(), "routers"),
        (fields.packet.is_some(), "packet"),
        (fields.routing != fields::Routing::default(), "routing"),
        (fields.switching != fields::Switching::default(), "switching"),
        (fields.node != fields::Node::default(), "node"),
        (fields.control_network.is_some(), "control_network"),
    ];
    match needless.iter().find(|pair| pair.0) {
        Some((_, other)) => {
            Err(Fault::value(*other, format!("`{other}`"), format!("only `{table}`: it has all the costs that count")))
        }
        None => Ok(()),
    }
}

/// The LogGP model: no topology, and nothing that would need one.
pub(super) fn loggp(fields: &Fields, loggp: &fields::LogGp) -> Result<(u32, Interconnect), Fault> {
    no_other_table(fields, "loggp")?;
    within("loggp.nodes", "nodes", u64::from(loggp.nodes), MOST_NODES)?;
    for (name, time) in [("gap_per_byte", loggp.gap_per_byte), ("overhead_per_byte", loggp.overhead_per_byte)] {
        if time > LONGEST_BYTE {
            return Err(Fault::value(format!("loggp.{name}"), time, format!("at most {LONGEST_BYTE}")));
        }
    }
    let costs = LogGp {
        latency: bounded("loggp.latency", loggp.latency)?,
        overhead: bounded("loggp.overhead", loggp.overhead)?,
        gap: bounded("loggp.gap", loggp.gap)?,
        gap_per_byte: loggp.gap_per_byte,
        overhead_per_byte: loggp.overhead_per_byte,
        rendezvous: loggp.rendezvous,
    };
    if loggp.rendezvous == Some(Bytes(0)) {
        return Err(missing("loggp.rendezvous", "a size of 1 B or more"));
    }
    Ok((loggp.nodes, Interconnect::LogGp(costs)))
}
