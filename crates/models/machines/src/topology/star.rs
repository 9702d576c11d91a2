//! One router with all nodes: `nodes` inputs, no links.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{MOST_NODES, Plan, PlannedTopology, Row, within};
use crate::description::Table;
use crate::error::Fault;

/// One router with all nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Star {
    /// How many nodes.
    pub nodes: u32,
}

impl Row for Star {
    const ABOUT: &'static str = "One router with all nodes.";
    const TABLES: &'static [Table] = &[Table::of::<Star>("", Some("{ nodes = 8 }"))];
    const SHORT: &'static [&'static str] = &["nodes"];

    fn lay_out(&self) -> Result<PlannedTopology, Fault> {
        within("topology.star.nodes", "nodes", u64::from(self.nodes), MOST_NODES)?;
        let mut plan = Plan::default();
        let hub = plan.router("hub".to_string(), (0.0, 0.0), None);
        plan.regions.of_router.push(0);
        plan.regions.add("hub".to_string(), (0.0, 0.0));
        for _ in 0..self.nodes {
            plan.node(hub);
        }
        Ok(PlannedTopology { plan, geometry: None })
    }
}
