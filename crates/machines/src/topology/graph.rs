//! An arbitrary list of routers and links, as the description gives it. The links of a router are in the order of the list.

use std::collections::BTreeMap;

use super::{Layout, Line, MOST_CHANNELS, MOST_NODES, MOST_ROUTERS, Plan, within};
use crate::description::fields::{Graph, GraphRouter};
use crate::error::{Fault, Problem};
use crate::model::RouterId;
use crate::resolve::check_length;

const FIELD: &str = "topology.graph";

/// Lays out the graph.
pub(crate) fn build(graph: &Graph) -> Result<Layout, Fault> {
    let nodes = graph.routers.iter().map(|router| u64::from(router.nodes)).sum();
    within(&format!("{FIELD}.routers"), "routers", graph.routers.len() as u64, MOST_ROUTERS)?;
    within(&format!("{FIELD}.routers"), "nodes", nodes, MOST_NODES)?;
    let channels = 2 * (nodes + graph.links.len() as u64);
    within(&format!("{FIELD}.links"), "channels", channels, MOST_CHANNELS)?;
    let mut plan = Plan::default();
    let mut numbers: BTreeMap<&str, RouterId> = BTreeMap::new();
    for (index, router) in graph.routers.iter().enumerate() {
        let number = plan.router(router.name.clone(), position(router, index)?, None);
        let field = || format!("{FIELD}.routers[{index}].name");
        check_length(field, &router.name)?;
        if router.name.is_empty() || numbers.insert(&router.name, number).is_some() {
            return Err(Fault::value(field(), format!("`{}`", router.name), "a name that no other router has"));
        }
    }
    for (index, router) in graph.routers.iter().enumerate() {
        (0..router.nodes).for_each(|_| plan.node(RouterId(index as u32)));
    }
    for (index, link) in graph.links.iter().enumerate() {
        let field = format!("{FIELD}.links[{index}].between");
        let end = |name: &String| find(&numbers, name, &field);
        let (near, far) = (end(&link.between[0])?, end(&link.between[1])?);
        if near == far {
            return Err(Fault::value(field, format!("`{}` twice", link.between[0]), "two different routers"));
        }
        plan.link(near, far, Line::Link(index as u32));
    }
    Ok(Layout { plan, geometry: None })
}

fn position(router: &GraphRouter, index: usize) -> Result<(f32, f32), Fault> {
    let [x, y] = router.position.unwrap_or([index as f32, 0.0]);
    if x.is_finite() && y.is_finite() {
        return Ok((x, y));
    }
    Err(Fault::value(format!("{FIELD}.routers[{index}].position"), format!("[{x}, {y}]"), "two finite numbers"))
}

fn find(numbers: &BTreeMap<&str, RouterId>, name: &str, field: &str) -> Result<RouterId, Fault> {
    /// More names than this are no help in a message.
    const SHOWN: usize = 20;
    numbers.get(name).copied().ok_or_else(|| {
        let mut known: Vec<String> = numbers.keys().map(|name| name.to_string()).collect();
        let nearest = quantities::nearest(name, numbers.keys().copied()).map(str::to_string);
        if known.len() > SHOWN {
            known.truncate(SHOWN);
            known.extend(nearest);
        }
        Fault::new(
            field,
            Problem::UnknownName { what: "router", found: name.to_string(), known, elsewhere: Vec::new() },
        )
    })
}
