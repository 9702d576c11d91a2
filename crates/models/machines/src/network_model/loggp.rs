//! The LogGP model: no contention.

use serde_json::{Value, json};

use super::NetworkModel;
use crate::facts::Facts;
use crate::model::LogGp;

impl NetworkModel for LogGp {
    fn facts(&self, nodes: u32) -> Facts {
        Facts { nodes, routers: 0, channels: 0, network: None }
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
