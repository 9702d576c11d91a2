//! Meshes and tori of any number of dimensions, with one node at each router.
//!
//! Node and router n are at position n mod s1 of the first dimension, n / s1 mod s2 of the second, and so on, where s1,
//! s2, ... are the sides; in two dimensions these are column and row. Every router in turn has a link ahead in each
//! dimension (to the east, to the south, ...). So the input ports of an inner router of a 2-D mesh are: its node, from
//! the north, from the west, from the east, from the south. The links that close the rings of a torus are made with the
//! other links of the last router of the ring; a ring of two has one link, not two.

use std::fmt::Write;

use schemars::JsonSchema;
use serde::Deserialize;

use super::regions::Stretches;
use super::{ChannelClass, MOST_NODES, NOWHERE, Plan, PlannedTopology, within};
use crate::description::Table;
use crate::error::{Fault, Problem};
use crate::model::{ChannelId, Regions, RouterId};

/// The most dimensions.
const MOST_SIDES: u64 = 8;
/// The longest ring of a torus: whether packets can deadlock around it is worked out position by position.
const LONGEST_RING: u64 = 4096;

/// Routers in `rows` of `columns`, each with its node; or in as many dimensions as there are `sides`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Grid {
    /// Routers in a row; with `rows`.
    pub columns: Option<u32>,
    /// Rows; with `columns`.
    pub rows: Option<u32>,
    /// Routers along each dimension, instead of `columns` and `rows`.
    pub sides: Option<Vec<u32>>,
}

/// Its table.
pub(super) const TABLES: &[Table] = &[Table::of::<Grid>("", Some("{ columns = 4, rows = 4 }"))];
/// Its fields that can be set by their name alone.
pub(super) const SHORT: &[&str] = &["columns", "rows", "sides"];

/// Lets a row that is written as a grid have its schema, under its name.
macro_rules! has_schema_of_grid {
    ($row:ident) => {
        impl schemars::JsonSchema for $row {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                <Grid as schemars::JsonSchema>::schema_name()
            }

            fn schema_id() -> std::borrow::Cow<'static, str> {
                <Grid as schemars::JsonSchema>::schema_id()
            }

            fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
                <Grid as schemars::JsonSchema>::json_schema(generator)
            }
        }
    };
}
pub(super) use has_schema_of_grid;

/// A grid of routers, each with its node.
#[derive(Clone, Debug)]
pub(crate) struct GridPlan {
    pub sides: Vec<u32>,
    /// Whether it is a torus.
    pub wraps: bool,
    /// For every router, its place in each dimension.
    pub places: Vec<u32>,
    /// For every router and dimension, the channel ahead and the channel back.
    pub out: Vec<ChannelId>,
}

/// Lays out a mesh, or a torus if it `wraps`.
pub(super) fn build(shape: &Grid, wraps: bool) -> Result<PlannedTopology, Fault> {
    let name = if wraps { "torus" } else { "mesh" };
    let sides = sides(shape, name, if wraps { LONGEST_RING } else { MOST_NODES })?;
    let mut plan = Plan { sides: sides.clone(), ..Plan::default() };
    let places = places(&sides);
    for (number, place) in places.chunks_exact(sides.len()).enumerate() {
        plan.router(named(name, place), position(place, &sides), Some(number as u32));
    }
    plan.regions = regions(&sides, &places);
    (0..plan.routers.len() as u32).for_each(|node| plan.node(RouterId(node)));
    let out = link(&mut plan, &places, wraps);
    Ok(PlannedTopology { plan, geometry: Some(Box::new(GridPlan { sides, wraps, places, out })) })
}

/// The name of a router: `mesh (3, 2)`.
fn named(grid: &str, place: &[u32]) -> String {
    let mut name = format!("{grid} (");
    for (index, coordinate) in place.iter().enumerate() {
        let separator = if index == 0 { "" } else { ", " };
        // A text takes whatever is written to it.
        let _ = write!(name, "{separator}{coordinate}");
    }
    name.push(')');
    name.shrink_to_fit();
    name
}

/// The sides, given by `columns` and `rows` or as a list.
fn sides(shape: &Grid, name: &str, longest: u64) -> Result<Vec<u32>, Fault> {
    let table = format!("topology.{name}");
    let missing = |what: &str| Fault::new(&table, Problem::Missing { missing: what.to_string() });
    let sides = match (shape.columns, shape.rows, &shape.sides) {
        (None, None, Some(sides)) => sides.clone(),
        (Some(columns), Some(rows), None) => {
            for (field, side) in [("columns", columns), ("rows", rows)] {
                within(&format!("{table}.{field}"), field, u64::from(side), longest)?;
            }
            vec![columns, rows]
        }
        (None, None, None) => return Err(missing("`sides` (or `columns` and `rows`)")),
        (Some(_), None, None) => return Err(missing("`rows`, which goes with `columns`,")),
        (None, Some(_), None) => return Err(missing("`columns`, which goes with `rows`,")),
        (_, _, Some(_)) => {
            let allowed = "`sides`, or `columns` and `rows`";
            return Err(Fault::value(table, "`sides` beside `columns` or `rows`", allowed));
        }
    };
    within(&format!("{table}.sides"), "sides", sides.len() as u64, MOST_SIDES)?;
    for (index, &side) in sides.iter().enumerate() {
        within(&format!("{table}.sides[{index}]"), "routers in a side", u64::from(side), longest)?;
    }
    let nodes = sides.iter().fold(1, |nodes: u64, &side| nodes.saturating_mul(u64::from(side)));
    within(&table, "nodes", nodes, MOST_NODES)?;
    Ok(sides)
}

/// The position of every router, one coordinate for each dimension.
fn places(sides: &[u32]) -> Vec<u32> {
    let routers: u32 = sides.iter().product();
    let mut places = Vec::with_capacity(routers as usize * sides.len());
    for router in 0..routers {
        let mut rest = router;
        for &side in sides {
            places.push(rest % side);
            rest /= side;
        }
    }
    places
}

/// Where a router is drawn: the first dimension to the right, the second down, and the others in blocks, to the right
/// and down in turn, with a free box between blocks.
fn position(place: &[u32], sides: &[u32]) -> (f32, f32) {
    let mut position = [0, 0];
    let mut extent = [1, 1];
    for (dimension, (&place, &side)) in place.iter().zip(sides).enumerate() {
        let across = dimension % 2;
        position[across] += place * extent[across];
        extent[across] = extent[across] * side + 1;
    }
    (position[0] as f32, position[1] as f32)
}

/// Regions are tiles: as long as they are too many, two neighbours become one along the dimension that has most.
fn regions(sides: &[u32], places: &[u32]) -> Regions {
    let mut cuts: Vec<Stretches> = sides.iter().map(|&side| Stretches { count: side, length: 1 }).collect();
    let numbers = |cuts: &[Stretches]| cuts.iter().map(|cut| cut.number()).collect::<Vec<u32>>();
    while numbers(&cuts).iter().map(|&number| u64::from(number)).product::<u64>() > u64::from(Regions::MOST) {
        if let Some(most) = cuts.iter_mut().rev().max_by_key(|cut| cut.number()) {
            *most = Stretches::of(most.count, most.number().div_ceil(2));
        }
    }
    let mut regions = Regions::default();
    let numbers = numbers(&cuts);
    for tile in self::places(&numbers).chunks_exact(sides.len()) {
        let words: Vec<String> = cuts.iter().zip(tile).map(|(cut, &number)| cut.words(number)).collect();
        regions.add(format!("({})", words.join(", ")), position(tile, &numbers));
    }
    let tile_of = |place: &[u32]| {
        let along = place.iter().zip(&cuts).rev();
        along.fold(0, |tile, (&place, cut)| tile * cut.number() + place / cut.length)
    };
    regions.of_router = places.chunks_exact(sides.len()).map(tile_of).collect();
    regions
}

/// Makes the links; returns for every router and dimension its channel ahead and its channel back.
fn link(plan: &mut Plan, places: &[u32], wraps: bool) -> Vec<ChannelId> {
    let sides = plan.sides.clone();
    let mut out = vec![NOWHERE; 2 * places.len()];
    for router in 0..plan.routers.len() {
        let mut stride = 1;
        for (dimension, &side) in sides.iter().enumerate() {
            let place = places[router * sides.len() + dimension];
            let next = if place + 1 < side {
                Some(router + stride)
            } else {
                (wraps && side > 2).then(|| router - place as usize * stride)
            };
            if let Some(next) = next {
                let (away, home) = plan.link(RouterId(router as u32), RouterId(next as u32), ChannelClass::Network);
                out[2 * (router * sides.len() + dimension)] = away;
                out[2 * (next * sides.len() + dimension) + 1] = home;
            }
            stride *= side as usize;
        }
    }
    if wraps {
        close_pairs(&mut out, &sides);
    }
    out
}

/// In a ring of two, both directions lead over the one link.
fn close_pairs(out: &mut [ChannelId], sides: &[u32]) {
    for (ways, &side) in out.chunks_exact_mut(2).zip(sides.iter().cycle()) {
        if side == 2 {
            let only = if ways[0] == NOWHERE { ways[1] } else { ways[0] };
            ways.fill(only);
        }
    }
}
