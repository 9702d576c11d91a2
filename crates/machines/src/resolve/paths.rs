//! Which rule of routing a machine has, and whether it can serve the topology.

use crate::description::fields::Rule;
use crate::error::{Fault, Problem};
use crate::model::NodeId;
use crate::routing::neighbours::Neighbours;
use crate::routing::{Routing, UpDown, shortest_path};
use crate::topology::Plan;

/// The most entries of a table of routing: a table for every pair of 4,096 routers.
const MOST_ENTRIES: usize = 1 << 24;

/// The rule, asked for or the topology's own, made ready. A torus has dimension order for its own where several virtual
/// channels share its channels, and up*/down* where there is one.
pub(super) fn routing(
    rule: Option<Rule>,
    plan: &Plan,
    own: Option<Routing>,
    virtual_channels: u32,
) -> Result<(Rule, Routing), Fault> {
    let rule = rule.unwrap_or(match &own {
        Some(Routing::Grid(grid)) if !grid.wraps() || virtual_channels > 1 => Rule::DimensionOrder,
        Some(Routing::Stages(_)) => Rule::Clos,
        Some(Routing::Dragonfly(_)) => Rule::Minimal,
        _ => Rule::UpDown,
    });
    let unserved =
        |reason: String| Fault::new("routing.rule", Problem::Unserved { rule: rule.name().to_string(), reason });
    connected(plan)?;
    let routing = match (rule, own) {
        (Rule::DimensionOrder, Some(own @ Routing::Grid(_))) => own,
        (Rule::DimensionOrder, _) => {
            return Err(unserved(
                "it is for `mesh` and `torus`; `clos` is for the networks with levels, `up-down` for all".into(),
            ));
        }
        (Rule::Clos, Some(own @ Routing::Stages(_))) => own,
        (Rule::Clos, _) => {
            return Err(unserved("it is for `clos`, `mesh_of_clos` and `fat_tree`; `up-down` is for all".into()));
        }
        (Rule::Minimal, Some(own @ Routing::Dragonfly(_))) => own,
        (Rule::Valiant, Some(Routing::Dragonfly(dragonfly))) => match dragonfly.with_detours() {
            Some(dragonfly) => Routing::Dragonfly(dragonfly),
            None => return Err(unserved("there is no third group to go through".into())),
        },
        (Rule::Minimal | Rule::Valiant, _) => {
            return Err(unserved("it is for `dragonfly`; `up-down` is for all".into()));
        }
        (Rule::UpDown, _) => {
            small_enough(plan.routers.len(), plan.routers.len()).map_err(unserved)?;
            Routing::UpDown(UpDown::new(plan))
        }
        (Rule::ShortestPath, _) => {
            small_enough(plan.routers.len(), plan.homes.len()).map_err(unserved)?;
            Routing::Table(shortest_path::table(plan))
        }
    };
    Ok((rule, routing))
}

fn small_enough(routers: usize, columns: usize) -> Result<(), String> {
    match routers.checked_mul(columns) {
        Some(entries) if entries <= MOST_ENTRIES => Ok(()),
        _ => Err(format!("its table would be {routers} x {columns}, and at most {MOST_ENTRIES} entries are kept")),
    }
}

/// Checks that there is a way between any two nodes. Every link has a channel each way, so one search is enough.
fn connected(plan: &Plan) -> Result<(), Fault> {
    let neighbours = Neighbours::of(plan);
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
            Err(Fault::value("topology", found, "links that join all nodes"))
        }
    }
}
