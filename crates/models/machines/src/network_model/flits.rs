//! A network of routers, simulated to the flit.

mod bounds;
mod words;

use std::sync::Arc;

use quantities::{Bytes, Duration};
use serde::Serialize;
use serde_json::{Value, json};

use super::{LeastTimes, NetworkModel, RankTraffic};
use crate::facts::{self, Facts};
use crate::model::{
    Acknowledged, Arbitration, Channel, ChannelEnd, ChannelId, FlitNetwork, NodeCosts, NodeId, Protocol, Router,
    SendMode, Switching,
};

impl NetworkModel for Arc<FlitNetwork> {
    fn flits(&self) -> Option<&Arc<FlitNetwork>> {
        Some(self)
    }

    fn is_random(&self) -> bool {
        self.selection.is_random() || self.routing.choices() > 1
    }

    fn payload(&self) -> Option<Bytes> {
        Some(self.packet.payload)
    }

    fn switch_of(&self, node: NodeId) -> Option<u32> {
        Some(self.home(node).0)
    }

    fn nodes_per_group(&self) -> Option<u32> {
        self.group
    }

    fn copy_time(&self, node: &NodeCosts, size: Bytes) -> Duration {
        node.copy_rate.map_or(Duration::ZERO, |rate| rate.time_of(size))
    }

    fn processor_work(&self, node: &NodeCosts, size: Bytes) -> [Duration; 2] {
        let copied_out = node.copy_out_rate.map_or(Duration::ZERO, |rate| rate.time_of(size));
        [node.processor_send + self.copy_time(node, size), node.processor_receive + copied_out]
    }

    fn waits_for_receivers(&self, node: &NodeCosts, size: Bytes) -> bool {
        let announced = match node.protocol {
            Protocol::Rendezvous { eager } => eager.is_none_or(|most| size > most),
            Protocol::Eager | Protocol::SetUp { .. } => false,
        };
        match node.send {
            SendMode::Synchronous { acknowledged: Acknowledged::OnReceive } => true,
            SendMode::Synchronous { acknowledged: Acknowledged::OnArrival } | SendMode::Blocking => announced,
            SendMode::NonBlocking => false,
        }
    }

    fn holds_processor(&self, node: &NodeCosts, _size: Option<Bytes>) -> bool {
        node.send == SendMode::NonBlocking
    }

    fn send_without_waiting(&mut self, node: &mut NodeCosts) -> bool {
        let waits = node.send == SendMode::Synchronous { acknowledged: Acknowledged::OnReceive };
        if waits {
            node.send = SendMode::Synchronous { acknowledged: Acknowledged::OnArrival };
        }
        waits
    }

    fn least_work(&self, node: &NodeCosts, sent: RankTraffic, received: RankTraffic) -> Duration {
        bounds::least_work(self, node, sent, received)
    }

    fn least_times(&self, node: &NodeCosts) -> LeastTimes {
        bounds::least_times(self, node)
    }

    fn least_transfer(&self, node: &NodeCosts, bytes: Bytes) -> Duration {
        bounds::least_transfer(self, node, bytes)
    }

    fn facts(&self, nodes: u32) -> Facts {
        let network = (nodes > 1).then(|| facts::of_network(self));
        Facts { nodes, routers: self.routers.len(), channels: self.channels.len(), network }
    }

    fn in_words(&self, node: &NodeCosts) -> Vec<(&'static str, String)> {
        words::in_words(self, node)
    }

    fn json(&self) -> (&'static str, Value) {
        let channels: Vec<ChannelRow> =
            self.channels.iter().enumerate().map(|it| channel(it, self.packet.flit)).collect();
        let routers: Vec<RouterRow<'_>> = self.routers.iter().enumerate().map(router).collect();
        let ids = |list: &[ChannelId]| list.iter().map(|channel| channel.0).collect::<Vec<u32>>();
        let all = json!({
            "channels": channels,
            "routers": routers,
            "injection": ids(&self.injection),
            "ejection": ids(&self.ejection),
            "sides": self.sides,
            "routing": self.routing.name(),
            "selection": self.selection.name(),
            "waits_for": self.waits_for.name(),
            "idle_when": self.idle_when.name(),
            "switching": switching(self.switching),
            "arbitration": match self.arbitration {
                Arbitration::FirstCome => "first-come",
                Arbitration::RoundRobin => "round-robin",
            },
            "packet": {
                "payload_bytes": self.packet.payload.0,
                "header_bytes": self.packet.header.0,
                "flit_bytes": self.packet.flit.0,
            },
        });
        ("network", all)
    }
}

/// An end of a channel: `{"node": 3}` or `{"router": 0}`.
#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
enum End {
    Node(u32),
    Router(u32),
}

impl From<ChannelEnd> for End {
    fn from(place: ChannelEnd) -> End {
        match place {
            ChannelEnd::Node(node) => End::Node(node.0),
            ChannelEnd::Router(router) => End::Router(router.0),
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
