//! The routing rule of a machine, and whether it can serve the topology.

use crate::description::fields::Rule;
use crate::error::{Fault, Problem};
use crate::model::NodeId;
use crate::routing::neighbours::Neighbours;
use crate::routing::next_hops::MOST_BYTES;
use crate::routing::{Routing, next_hops, shortest_path, up_down};
use crate::topology::Plan;
use quantities::Bytes;

/// The rule, requested or the topology's own, made ready. The default of a torus is dimension order if several virtual channels share
/// its channels, and up*/down* if there is only one.
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
    let own = match (rule, own) {
        // A grid is connected, and its ways follow from places: nothing has to be looked up.
        (Rule::DimensionOrder, Some(own @ Routing::Grid(_))) => return Ok((rule, own)),
        (_, own) => own,
    };
    let neighbours = Neighbours::of(plan);
    connected(plan, &neighbours)?;
    let routing = match (rule, own) {
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
            up_down::next_hops(plan, &neighbours).map(Routing::UpDown).ok_or_else(|| unserved(too_large()))?
        }
        (Rule::ShortestPath, _) => {
            small_enough(plan, &neighbours).map_err(unserved)?;
            shortest_path::next_hops(plan, &neighbours)
                .map(Routing::ShortestPath)
                .ok_or_else(|| unserved(too_large()))?
        }
    };
    Ok((rule, routing))
}

/// Why there is no table, if that shows only while it is filled.
fn too_large() -> String {
    format!(
        "its table of next hops takes more than {}, as routers with many links have many sets of equally good channels",
        Bytes(MOST_BYTES)
    )
}

/// Checks, before memory for a table is taken, that there is enough.
fn small_enough(plan: &Plan, neighbours: &Neighbours) -> Result<(), String> {
    let bytes = next_hops::most_bytes(plan, neighbours);
    if bytes > MOST_BYTES {
        let routers = plan.routers.len();
        let bytes = Bytes(bytes.div_ceil(1 << 20) << 20);
        let most = Bytes(MOST_BYTES);
        return Err(format!(
            "its table of next hops for {routers} routers could take {bytes} of memory, and at most {most} are taken"
        ));
    }
    // Memory that is not available now will not be later: it is requested as a whole, and returned before it is used.
    if Vec::<u8>::new().try_reserve_exact(bytes as usize).is_err() {
        return Err(format!("there is no memory for its table of next hops, which could take {bytes} bytes"));
    }
    Ok(())
}

/// Checks that there is a path between any two nodes. Every link has a channel each way, so one search is enough.
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
            Err(Fault::value("topology", found, "links that join all nodes, each { between = [\"a\", \"b\"] }"))
        }
    }
}
