//! A switched Ethernet.

use quantities::{Bytes, Duration};
use serde_json::{Value, json};

use super::NetworkModel;
use crate::facts::Facts;
use crate::model::{BroadcastProtocol, Ethernet, Faults, Memory, Messaging, Repeat, Trunk};

impl NetworkModel for Ethernet {
    fn is_random(&self) -> bool {
        self.faults != Faults::NONE
    }

    /// The switches, and a wire in each direction, including those between the switches. Processes of one node share
    /// its wires.
    fn facts(&self, nodes: u32) -> Facts {
        let trunks = usize::from(self.trunk.is_some());
        let channels = 2 * (nodes.div_ceil(self.processes()) as usize + trunks);
        Facts { nodes, routers: 1 + trunks, channels, network: None }
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
