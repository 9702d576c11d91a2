//! The routing rule of a machine, and whether it can serve the topology.

use crate::error::{Fault, Problem};
use crate::model::{FlitNetwork, NodeId};
use crate::routing::deadlock::VirtualChannel;
use crate::routing::{Ground, Routing, Rule};
use crate::topology::PlannedTopology;

const FIELD: &str = "routing.rule";

/// The rule, requested or the topology's own, made ready.
pub(super) fn routing(
    rule: Option<Rule>,
    layout: &mut PlannedTopology,
    virtual_channels: u32,
) -> Result<(Rule, Routing), Fault> {
    let mut ground = Ground::of(layout, virtual_channels);
    let none = || Fault::new(FIELD, Problem::Missing { missing: "a rule for this topology".to_string() });
    let rule = rule.or_else(|| Rule::usual(&ground)).ok_or_else(none)?;
    if !ground.is_regular() {
        connected(&ground)?;
    }
    let unserved = |reason| Fault::new(FIELD, Problem::Unserved { rule: rule.name().to_string(), reason });
    Ok((rule, rule.prepare(&mut ground).map_err(unserved)?))
}

/// Checks that the routing rule is free of deadlock, by what packets wait for.
pub(super) fn no_deadlock(rule: Rule, network: &FlitNetwork) -> Result<(), Fault> {
    let Some(cycle) = network.routing.cycle(network) else { return Ok(()) };
    let virtual_channels = network.virtual_channels();
    let in_words = |&(channel, virtual_channel): &VirtualChannel| match virtual_channels {
        1 => network.channel_name(channel),
        _ => format!("{} by virtual channel {virtual_channel}", network.channel_name(channel)),
    };
    let cycle = cycle.iter().map(in_words).collect();
    let needed = Some(network.routing.virtual_channels()).filter(|needed| *needed > virtual_channels);
    let rule = rule.name().to_string();
    Err(Fault::new(FIELD, Problem::Deadlock { rule, cycle, virtual_channels: needed }))
}

/// Checks that there is a path between any two nodes. Every link has a channel each way, so one search is enough.
fn connected(ground: &Ground<'_>) -> Result<(), Fault> {
    let (plan, neighbours) = (ground.plan, ground.neighbours());
    let mut reached = vec![false; neighbours.routers()];
    let start = plan.homes[0].0 as usize;
    reached[start] = true;
    let mut ahead = vec![start];
    while let Some(router) = ahead.pop() {
        for &(_, to) in neighbours.out(router) {
            if !std::mem::replace(&mut reached[to], true) {
                ahead.push(to);
            }
        }
    }
    match plan.homes.iter().position(|home| !reached[home.0 as usize]) {
        None => Ok(()),
        Some(node) => {
            let NodeId(node) = NodeId(node as u32);
            let home = &plan.routers[plan.homes[node as usize].0 as usize].name;
            let found = format!("no way from node 0 to node {node} at `{home}`");
            Err(Fault::value("topology", found, "links that join all nodes, each { between = [\"a\", \"b\"] }"))
        }
    }
}
