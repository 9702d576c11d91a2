//! Rates, latencies, buffers, packets and costs of nodes, in words.

use ::machines::model::{
    Acknowledged, Arbitration, Channel, ControlNetwork, FlitNetwork, NodeCosts, PacketFormat, Protocol, SendMode,
    Switching,
};
use ::machines::routing::{IdleWhen, WaitsFor};
use quantities::{Bytes, Duration};

use super::row;
use report::terminal::{bytes_per_second, counted};

/// What makes channels alike: everything except where they lead.
type Kind = (Duration, Duration, Duration, u32, u32);

fn kind(channel: &Channel) -> Kind {
    let Channel { flit_time, wire_latency, credit_latency, buffer, virtual_channels, .. } = *channel;
    (flit_time, wire_latency, credit_latency, buffer, virtual_channels)
}

/// The channels of a network, like ones in one row; the packets; the routers.
pub(super) fn network(network: &FlitNetwork) -> Vec<[String; 2]> {
    let mut kinds: Vec<(Kind, usize)> = Vec::new();
    for channel in &network.channels {
        match kinds.iter_mut().find(|known| known.0 == kind(channel)) {
            Some((_, count)) => *count += 1,
            None => kinds.push((kind(channel), 1)),
        }
    }
    let names = std::iter::once("each channel").chain(std::iter::repeat(""));
    let several = kinds.len() > 1;
    let mut rows: Vec<[String; 2]> = kinds
        .into_iter()
        .zip(names)
        .map(|((kind, count), name)| {
            let these = if several { format!("{count} of them: ") } else { String::new() };
            row(name, these + &channel(kind, network.packet.flit))
        })
        .collect();
    let PacketFormat { payload, header, flit } = network.packet;
    rows.push(row("packets", format!("up to {payload} after {header} of header, in flits of {flit}")));
    rows.push(row("each router", router(network)));
    rows
}

fn channel((flit_time, wire_latency, credit_latency, buffer, virtual_channels): Kind, flit: Bytes) -> String {
    let rate = bytes_per_second(flit.0 as f64 / flit_time.picoseconds() as f64 * 1e12);
    let buffers = match virtual_channels {
        1 => format!("a buffer of {}", counted(buffer, "flit")),
        several => format!("{several} buffers of {}", counted(buffer, "flit")),
    };
    format!("{rate}, a flit in {flit_time}; wire {wire_latency}, credit back {credit_latency}; {buffers}")
}

fn router(network: &FlitNetwork) -> String {
    let delay = network.routers.first().map_or(Duration::ZERO, |router| router.routing_delay);
    let arbitration = match network.arbitration {
        Arbitration::FirstCome => "first-come",
        Arbitration::RoundRobin => "round-robin",
    };
    let selection = network.selection.name();
    let waits = match network.waits_for {
        WaitsFor::Chosen => "",
        WaitsFor::Any => ", the first to fall free",
    };
    let idle = match network.idle_when {
        IdleWhen::Free => "",
        IdleWhen::Empty => ", idle when the far buffer is empty",
    };
    let switching = match network.switching {
        Switching::Wormhole => "wormhole".to_string(),
        Switching::VirtualCutThrough => "virtual cut-through".to_string(),
        Switching::StoreAndForward => "store-and-forward".to_string(),
        Switching::Software { per_packet } => format!("store-and-forward in software, {per_packet} per packet"),
    };
    format!("routes a header in {delay}; {switching}, {arbitration} arbitration, {selection} selection{waits}{idle}")
}

/// The costs of messages at the nodes.
pub(super) fn node(costs: &NodeCosts) -> Vec<[String; 2]> {
    let side = |processor: Duration, message: Duration, packet: Duration| {
        format!("processor {processor} per message; communication processor {message} per message, {packet} per packet")
    };
    let mut rows = vec![
        row("to send", side(costs.processor_send, costs.message_send, costs.packet_send)),
        row("to receive", side(costs.processor_receive, costs.message_receive, costs.packet_receive)),
    ];
    let copies = match (costs.copy_rate, costs.copy_out_rate) {
        (Some(rate), Some(out)) if rate == out => Some(format!("the processor copies at {rate}")),
        (None, Some(out)) => Some(format!("the processor copies what it receives at {out}")),
        (Some(rate), Some(out)) => {
            Some(format!("the processor copies what it sends at {rate}, what it receives at {out}"))
        }
        (_, None) => None,
    };
    let moves = costs.packet_rate.map(|rate| format!("the communication processor moves packets at {rate}"));
    let departs =
        costs.waits_for_departure.then(|| "each packet of a message waits until the last has left".to_string());
    let rebuilds = (!costs.reconstruction.is_zero())
        .then(|| format!("{} more for a message whose packets come out of order", costs.reconstruction));
    let system = (!costs.system_message.is_zero()).then(|| format!("{} for a system message", costs.system_message));
    let is_cold = !(costs.cold_send + costs.cold_receive).is_zero();
    let cold = is_cold.then(|| {
        format!("{} before a rank's first send, {} before its first receive", costs.cold_send, costs.cold_receive)
    });
    let names = std::iter::once("besides").chain(std::iter::repeat(""));
    rows.extend(
        names
            .zip([copies, moves, departs, rebuilds, system, cold].into_iter().flatten())
            .map(|(name, it)| row(name, it)),
    );
    rows.push(row("a send", format!("{}; {}", over(costs.send), across(costs.protocol))));
    rows
}

/// When a send is over.
fn over(send: SendMode) -> &'static str {
    match send {
        SendMode::Synchronous { acknowledged: Acknowledged::OnArrival } => "completes when the message has arrived",
        SendMode::Synchronous { acknowledged: Acknowledged::OnReceive } => "completes when the program has received it",
        SendMode::Blocking => "completes when the last packet has left",
        SendMode::NonBlocking => "completes when it is set up",
    }
}

/// The protocol of a message.
fn across(protocol: Protocol) -> String {
    match protocol {
        Protocol::Eager => "data packets at once".to_string(),
        Protocol::SetUp { piggyback } => format!("a set-up packet first, with messages of up to {piggyback} on it"),
        Protocol::Rendezvous { eager: None } => "announced first".to_string(),
        Protocol::Rendezvous { eager: Some(size) } => format!("announced first above {size}"),
    }
}

/// The network for broadcasts.
pub(super) fn control_network(costs: &ControlNetwork) -> [String; 2] {
    let ControlNetwork { latency, rate, overhead } = costs;
    row("control network", format!("broadcasts at {rate}, {latency} later everywhere; {overhead} of a processor"))
}
