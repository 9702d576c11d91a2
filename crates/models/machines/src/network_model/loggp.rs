//! The LogGP model: no contention.

use quantities::{Bytes, Duration};
use serde_json::{Value, json};

use super::{LeastTimes, NetworkModel, RankTraffic};
use crate::facts::Facts;
use crate::model::{LogGp, NodeCosts};

impl NetworkModel for LogGp {
    fn is_without_contention(&self) -> bool {
        true
    }

    fn payload(&self) -> Option<Bytes> {
        None
    }

    fn copy_time(&self, _node: &NodeCosts, size: Bytes) -> Duration {
        self.overhead_per_byte * size.0
    }

    fn processor_work(&self, node: &NodeCosts, size: Bytes) -> [Duration; 2] {
        [self.overhead + self.copy_time(node, size); 2]
    }

    fn waits_for_receivers(&self, _node: &NodeCosts, size: Bytes) -> bool {
        self.rendezvous.is_some_and(|from| size >= from)
    }

    fn holds_processor(&self, node: &NodeCosts, size: Option<Bytes>) -> bool {
        size.is_none_or(|size| !self.waits_for_receivers(node, size))
    }

    fn send_without_waiting(&mut self, _node: &mut NodeCosts) -> bool {
        self.rendezvous.take().is_some()
    }

    fn least_work(&self, _node: &NodeCosts, sent: RankTraffic, received: RankTraffic) -> Duration {
        let messages = sent.messages + received.messages;
        Duration::from_picoseconds(self.overhead.picoseconds().saturating_mul(messages))
    }

    fn least_times(&self, _node: &NodeCosts) -> LeastTimes {
        LeastTimes { gap: self.gap.max(self.overhead), latency: self.latency + self.overhead * 2 }
    }

    fn least_transfer(&self, _node: &NodeCosts, bytes: Bytes) -> Duration {
        // Starting another message costs a gap instead of the time for a byte.
        let data = self.gap_per_byte.min(self.gap).picoseconds().saturating_mul(bytes.0.saturating_sub(1));
        Duration::from_picoseconds(data.saturating_add((self.overhead * 2 + self.latency).picoseconds()))
    }

    fn facts(&self, nodes: u32) -> Facts {
        Facts { nodes, routers: 0, channels: 0, network: None }
    }

    fn in_words(&self, _node: &NodeCosts) -> Vec<(&'static str, String)> {
        let waits = match self.rendezvous {
            Some(size) => format!("{size}, from which a send waits for its receiver"),
            None => "none: no send waits for its receiver".to_owned(),
        };
        vec![
            ("L", format!("{}, latency from end to end", self.latency)),
            ("o", format!("{}, overhead of the processor for a message", self.overhead)),
            ("g", format!("{}, gap between messages", self.gap)),
            ("G", format!("{}, gap between bytes", self.gap_per_byte)),
            ("O", format!("{}, overhead of the processor for a byte", self.overhead_per_byte)),
            ("S", waits),
        ]
    }

    fn json(&self) -> (&'static str, Value) {
        let all = json!({
            "latency_ps": self.latency.picoseconds(),
            "overhead_ps": self.overhead.picoseconds(),
            "gap_ps": self.gap.picoseconds(),
            "gap_per_byte_ps": self.gap_per_byte.picoseconds(),
            "overhead_per_byte_ps": self.overhead_per_byte.picoseconds(),
            "rendezvous_bytes": self.rendezvous.map(|size| size.0),
        });
        ("loggp", all)
    }
}
