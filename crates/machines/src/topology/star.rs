//! One router with all nodes: `nodes` inputs, no links.

use super::{Layout, MOST_NODES, Plan, within};
use crate::description::fields::Star;
use crate::error::Fault;

/// Lays out the star.
pub(crate) fn build(star: &Star) -> Result<Layout, Fault> {
    within("topology.star.nodes", "nodes", u64::from(star.nodes), MOST_NODES)?;
    let mut plan = Plan::default();
    let hub = plan.router("hub".to_string(), (0.0, 0.0), None);
    for _ in 0..star.nodes {
        plan.node(hub);
    }
    Ok(Layout { plan, geometry: None })
}
