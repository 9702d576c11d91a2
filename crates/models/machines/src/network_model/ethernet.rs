//! A switched Ethernet.

mod words;

use quantities::{Bytes, Duration};
use serde_json::{Value, json};

use super::{LeastTimes, NetworkModel, RankTraffic, SharedWire};
use crate::facts::Facts;
use crate::model::{BroadcastProtocol, Ethernet, Faults, Memory, Messaging, NodeCosts, NodeId, Repeat, Trunk};

/// A frame without payload, as it is on the wire: padded to 64 bytes, plus 8 bytes before it. [B]
const SHORTEST_FRAME: u64 = 72;

impl NetworkModel for Ethernet {
    fn ethernet(&self) -> Option<&Ethernet> {
        Some(self)
    }

    fn is_random(&self) -> bool {
        self.faults != Faults::NONE
    }

    fn payload(&self) -> Option<Bytes> {
        Some(self.payload)
    }

    fn processes(&self) -> u32 {
        Ethernet::processes(self)
    }

    /// There is one. Of those joined by a trunk, jobs know nothing.
    fn switch_of(&self, _node: NodeId) -> Option<u32> {
        Some(0)
    }

    fn copy_time(&self, _node: &NodeCosts, size: Bytes) -> Duration {
        self.copy * size.0
    }

    fn processor_work(&self, node: &NodeCosts, size: Bytes) -> [Duration; 2] {
        let frames = size.0.div_ceil(self.payload.0).max(1);
        [(self.call_send, self.send), (self.call_receive, self.receive)]
            .map(|(call, frame)| call + frame * frames + self.copy_time(node, size))
    }

    /// It completes when the message is in the send queue, unless many are before it.
    fn waits_for_receivers(&self, _node: &NodeCosts, _size: Bytes) -> bool {
        false
    }

    fn holds_processor(&self, _node: &NodeCosts, _size: Option<Bytes>) -> bool {
        true
    }

    fn send_without_waiting(&mut self, _node: &mut NodeCosts) -> bool {
        false
    }

    fn least_work(&self, _node: &NodeCosts, sent: RankTraffic, received: RankTraffic) -> Duration {
        let for_each = |cost: Duration, count: u64| cost.picoseconds().saturating_mul(count);
        let (send, receive, copied) = match &self.memory {
            // Each message goes over the wire or through memory, whichever costs less.
            Some(memory) => (
                for_each(self.send.min(memory.send), sent.messages),
                for_each(self.receive.min(memory.receive), received.messages),
                for_each(self.copy.min(memory.copy), sent.bytes),
            ),
            None => {
                let frames = |it: RankTraffic| it.bytes.div_ceil(self.payload.0).max(it.messages);
                (
                    for_each(self.send, frames(sent)),
                    for_each(self.receive, frames(received)),
                    for_each(self.copy, sent.bytes.saturating_add(received.bytes)),
                )
            }
        };
        Duration::from_picoseconds(send.saturating_add(receive).saturating_add(copied))
    }

    fn least_times(&self, _node: &NodeCosts) -> LeastTimes {
        // If a token bucket takes the place of a wire, a frame may pass at once.
        let on_wire = self.rate.time_of(Bytes(SHORTEST_FRAME));
        let wire = if self.bucket.is_some() { Duration::ZERO } else { on_wire };
        let latency = self.send + (wire + self.wire_latency) * 2 + self.switch_latency + self.receive;
        let gap = wire.min(self.send);
        match self.memory {
            Some(memory) => {
                LeastTimes { gap: gap.min(memory.send), latency: latency.min(memory.send + memory.receive) }
            }
            None => LeastTimes { gap, latency },
        }
    }

    fn least_transfer(&self, _node: &NodeCosts, bytes: Bytes) -> Duration {
        if self.memory.is_some() {
            // Other processes of the node may put all of it into memory, at the same time.
            return Duration::ZERO;
        }
        let at_once = self.bucket.unwrap_or_default();
        self.rate.time_of(Bytes(bytes.0.saturating_sub(at_once.0)))
    }

    fn shared_wire(&self) -> Option<SharedWire> {
        let (processes, at_once) = (Ethernet::processes(self), self.bucket.unwrap_or_default());
        (processes > 1).then_some(SharedWire { processes, rate: self.rate, at_once })
    }

    /// The switches, and a wire in each direction, including those between the switches. Processes of one node share
    /// its wires.
    fn facts(&self, nodes: u32) -> Facts {
        let trunks = usize::from(self.trunk.is_some());
        let channels = 2 * (nodes.div_ceil(self.processes()) as usize + trunks);
        Facts { nodes, routers: 1 + trunks, channels, network: None }
    }

    fn in_words(&self, _node: &NodeCosts) -> Vec<(&'static str, String)> {
        words::in_words(self)
    }

    fn json(&self) -> (&'static str, Value) {
        let Faults { loss, burst_begins, burst_ends, duplicated, delayed, delay } = self.faults;
        let mut all = json!({
            "bits_per_second": self.rate.bits_per_second(),
            "bucket_bytes": self.bucket.map(|bucket| bucket.0),
            "bucket_delay_ps": self.bucket_delay.picoseconds(),
            "bucket_carry_ps": self.bucket_carry.picoseconds(),
            "wire_latency_ps": self.wire_latency.picoseconds(),
            "switch_latency_ps": self.switch_latency.picoseconds(),
            "switch_copy_ps": self.switch_copy.picoseconds(),
            "queue_bytes": self.queue.0,
            "payload_bytes": self.payload.0,
            "transmit_ring": self.transmit_ring,
            "receive_ring": self.receive_ring,
            "send_ps": self.send.picoseconds(),
            "receive_ps": self.receive.picoseconds(),
            "handover_ps": self.handover.picoseconds(),
            "wake_ps": self.wake.picoseconds(),
            "timer_ps": self.timer.picoseconds(),
            "block_ps": self.block.picoseconds(),
            "interrupt_ps": self.interrupt.picoseconds(),
            "cold_ps": self.cold.picoseconds(),
            "cold_each_ps": self.cold_each.picoseconds(),
            "processors": self.processors,
            "copy_per_byte_ps": self.copy.picoseconds(),
            "call_send_ps": self.call_send.picoseconds(),
            "call_receive_ps": self.call_receive.picoseconds(),
            "broadcast_each_ps": self.broadcast_each.picoseconds(),
            "faults": {
                "loss": loss, "burst_begins": burst_begins, "burst_ends": burst_ends, "duplicated": duplicated,
                "delayed": delayed, "delay_ps": delay.picoseconds(),
            },
            "messaging": messaging(&self.messaging),
        });
        if let Some(model) = &self.trunk {
            all["trunk"] = trunk(model);
        }
        if let Some(model) = &self.memory {
            all["memory"] = memory(model);
        }
        ("ethernet", all)
    }
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
