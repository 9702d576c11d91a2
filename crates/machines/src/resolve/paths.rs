//! Which rule of routing a machine has, and whether it can serve the topology.

use crate::description::fields::Rule;
use crate::error::{Fault, Problem};
use crate::model::NodeId;
use crate::routing::neighbours::Neighbours;
use crate::routing::{Routing, next_hops, shortest_path, up_down};
use crate::topology::Plan;
use quantities::Bytes;

/// The most that a table of next hops may take: enough for every pair of 32,768 routers, whatever their links. [B]
const MOST_TABLE: u64 = 2 << 30;

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
    let neighbours = Neighbours::of(plan);
    connected(plan, &neighbours)?;
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
            small_enough(plan, &neighbours).map_err(unserved)?;
            Routing::UpDown(up_down::next_hops(plan, &neighbours))
        }
        (Rule::ShortestPath, _) => {
            small_enough(plan, &neighbours).map_err(unserved)?;
            Routing::ShortestPath(shortest_path::next_hops(plan, &neighbours))
        }
    };
    Ok((rule, routing))
}

/// Checks, before the memory for a table is taken, that it would do.
fn small_enough(plan: &Plan, neighbours: &Neighbours) -> Result<(), String> {
    let bytes = next_hops::most_bytes(plan, neighbours);
    if bytes > MOST_TABLE {
        let most = Bytes(MOST_TABLE);
        let gibibytes = bytes.div_ceil(1 << 30);
        return Err(format!(
            "its table of next hops for {} routers could take {gibibytes} GiB of memory, and at most {most} are taken",
            plan.routers.len()
        ));
    }
    // What is not there now will not be there later: it is asked for as a whole, and given back before it is used.
    if Vec::<u8>::new().try_reserve_exact(bytes as usize).is_err() {
        return Err(format!("there is no memory for its table of next hops, which could take {bytes} bytes"));
    }
    Ok(())
}

/// Checks that there is a way between any two nodes. Every link has a channel each way, so one search is enough.
fn connected(plan: &Plan, neighbours: &Neighbours) -> Result<(), Fault> {
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
