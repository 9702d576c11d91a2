//! 2-D meshes and tori with one node at each router.
//!
//! Node and router n stand in column n mod columns of row n / columns. Every router in turn has its links to the east
//! and to the south, so the input ports of an inner router of a mesh are: its node, from the north, from the west, from
//! the east, from the south. The links that close the rings of a torus are made with the other links of the last router
//! of the row or column; a ring of two has one link, not two.

use super::{Built, Line, MOST_NODES, Plan, within};
use crate::description::fields;
use crate::error::Fault;
use crate::model::{ChannelId, RouterId};
use crate::routing::Routing;
use crate::routing::grid::{EAST, Grid, NORTH, NOWHERE, SOUTH, WEST};

/// Lays out a mesh, or a torus if it `wraps`.
pub(crate) fn build(shape: &fields::Grid, wraps: bool) -> Result<Built, Fault> {
    let name = if wraps { "torus" } else { "mesh" };
    let (columns, rows) = (shape.columns, shape.rows);
    for (field, side) in [("columns", columns), ("rows", rows)] {
        within(&format!("topology.{name}.{field}"), field, u64::from(side), MOST_NODES)?;
    }
    within(&format!("topology.{name}"), "nodes", u64::from(columns) * u64::from(rows), MOST_NODES)?;
    let mut plan = Plan::default();
    for router in 0..columns * rows {
        let (x, y) = (router % columns, router / columns);
        plan.router(format!("{name} ({x}, {y})"), (x as f32, y as f32), Some(router));
    }
    (0..columns * rows).for_each(|node| plan.node(RouterId(node)));
    let out = link(&mut plan, columns, rows, wraps);
    let own_routing = Some(Routing::Grid(Grid::new(columns, rows, wraps, out)));
    Ok(Built { plan, own_routing })
}

/// Makes the links; gives for every router its channels out by direction.
fn link(plan: &mut Plan, columns: u32, rows: u32, wraps: bool) -> Vec<[ChannelId; 4]> {
    let mut out = vec![[NOWHERE; 4]; (columns * rows) as usize];
    let mut join = |here: u32, there: u32, forward: usize, back: usize| {
        let (away, home) = plan.link(RouterId(here), RouterId(there), Line::Network);
        out[here as usize][forward] = away;
        out[there as usize][back] = home;
    };
    for router in 0..columns * rows {
        let (x, y) = (router % columns, router / columns);
        if x + 1 < columns {
            join(router, router + 1, EAST, WEST);
        } else if wraps && columns > 2 {
            join(router, router + 1 - columns, EAST, WEST);
        }
        if y + 1 < rows {
            join(router, router + columns, SOUTH, NORTH);
        } else if wraps && rows > 2 {
            join(router, x, SOUTH, NORTH);
        }
    }
    if wraps {
        close_pairs(&mut out, columns, rows);
    }
    out
}

/// In a ring of two, both directions lead over the one link.
fn close_pairs(out: &mut [[ChannelId; 4]], columns: u32, rows: u32) {
    for ways in out.iter_mut() {
        for (side, forward, back) in [(columns, EAST, WEST), (rows, SOUTH, NORTH)] {
            if side == 2 && ways[forward] == NOWHERE {
                ways[forward] = ways[back];
            } else if side == 2 {
                ways[back] = ways[forward];
            }
        }
    }
}
