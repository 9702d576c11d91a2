//! An arbitrary list of routers and links, as the description gives it. The links of a router are in the order of the
//! list.

use std::collections::BTreeMap;

use quantities::{Duration, Rate};
use schemars::JsonSchema;
use serde::de::Error;
use serde::{Deserialize, Deserializer};

use super::{
    ChannelClass, MOST_CHANNELS, MOST_NODES, MOST_ROUTERS, OwnLine, OwnLines, Plan, PlannedTopology, Row, layout,
    within,
};
use crate::description::{Table, fields};
use crate::error::{Fault, Problem};
use crate::model::{Regions, RouterId};
use crate::resolve::check_length;

const FIELD: &str = "topology.graph";

/// Any list of routers and links. Nodes are numbered in the order of their routers.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Graph {
    /// The routers.
    pub routers: Vec<GraphRouter>,
    /// The links between them.
    #[serde(default)]
    pub links: Vec<GraphLink>,
}

/// A router of a graph.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GraphRouter {
    /// Its name, which must be unique.
    pub name: String,
    /// How many nodes it has.
    #[serde(default)]
    pub nodes: u32,
    /// Where it is drawn, in units of a router's box. If no router has a position, those that are few links apart are
    /// drawn near each other; if some have, the others are in a row.
    #[serde(default, deserialize_with = "optional_two")]
    pub position: Option<[f32; 2]>,
}

/// A link of a graph: a channel each way.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GraphLink {
    /// The names of the routers that it joins.
    #[serde(deserialize_with = "two")]
    pub between: [String; 2],
    /// Bytes per second, where it differs from that of `channels`.
    pub rate: Option<Rate>,
    /// Time of a flit, instead of a rate.
    pub flit_time: Option<Duration>,
    /// Time on the wire.
    pub wire_latency: Option<Duration>,
    /// Time until a slot that a flit has left can be taken again.
    pub credit_latency: Option<Duration>,
    /// Slots for flits at the far end.
    pub buffers: Option<u32>,
}

/// Reads a list of exactly two: the reader of arrays leaves what comes after unread.
fn two<'de, T: Deserialize<'de>, D: Deserializer<'de>>(from: D) -> Result<[T; 2], D::Error> {
    let list = Vec::<T>::deserialize(from)?;
    let length = list.len();
    list.try_into().map_err(|_| D::Error::invalid_length(length, &"a list of two"))
}

fn optional_two<'de, T: Deserialize<'de>, D: Deserializer<'de>>(from: D) -> Result<Option<[T; 2]>, D::Error> {
    two(from).map(Some)
}

impl Row for Graph {
    const ABOUT: &'static str = "Any list of routers and links.";
    const TABLES: &'static [Table] = &[
        Table::of::<Graph>("", Some("{ routers = [{ name = \"a\", nodes = 2 }] }")),
        Table::of::<GraphRouter>(".routers[0]", Some("{ name = \"a\", nodes = 1 }")),
        Table::of::<GraphLink>(".links[0]", Some("{ between = [\"a\", \"b\"] }")),
    ];

    fn form(within: &str) -> Option<&'static str> {
        const LINK: &str = "a link is written { between = [\"a\", \"b\"] }, with the names of two routers, and can have rate \
                            or flit_time, wire_latency, credit_latency and buffers of its own";
        const ROUTER: &str = "a router is written { name = \"a\", nodes = 1 }, and can have a position = [x, y]";
        const GRAPH: &str = "a graph is written routers = [{ name = \"a\", nodes = 1 }, { name = \"b\", nodes = 1 }], \
                             links = [{ between = [\"a\", \"b\"] }]";
        match within {
            "" => Some(GRAPH),
            rest if rest.starts_with(".links") => Some(LINK),
            rest if rest.starts_with(".routers") => Some(ROUTER),
            _ => None,
        }
    }

    fn lines(&self) -> OwnLines<'_> {
        let line = |(index, link): (usize, &GraphLink)| {
            let GraphLink { rate, flit_time, wire_latency, credit_latency, buffers, .. } = *link;
            let field = format!("{FIELD}.links[{index}]");
            let line = fields::Line { rate, flit_time, wire_latency, credit_latency, buffers };
            OwnLine { rate_field: format!("{field}.rate"), field, line }
        };
        Box::new(self.links.iter().enumerate().map(line))
    }

    fn lay_out(&self) -> Result<PlannedTopology, Fault> {
        let nodes = self.routers.iter().map(|router| u64::from(router.nodes)).sum();
        within(&format!("{FIELD}.routers"), "routers", self.routers.len() as u64, MOST_ROUTERS)?;
        within(&format!("{FIELD}.routers"), "nodes", nodes, MOST_NODES)?;
        let channels = 2 * (nodes + self.links.len() as u64);
        within(&format!("{FIELD}.links"), "channels", channels, MOST_CHANNELS)?;
        let mut plan = Plan::default();
        let mut numbers: BTreeMap<&str, RouterId> = BTreeMap::new();
        for (index, router) in self.routers.iter().enumerate() {
            let number = plan.router(router.name.clone(), given_position(router, index)?, None);
            let field = || format!("{FIELD}.routers[{index}].name");
            check_length(field, &router.name)?;
            if router.name.is_empty() || numbers.insert(&router.name, number).is_some() {
                return Err(Fault::value(field(), format!("`{}`", router.name), "a name that no other router has"));
            }
        }
        for (index, router) in self.routers.iter().enumerate() {
            (0..router.nodes).for_each(|_| plan.node(RouterId(index as u32)));
        }
        for (index, link) in self.links.iter().enumerate() {
            let field = format!("{FIELD}.links[{index}].between");
            let end = |name: &String| find(&numbers, name, &field);
            let (near, far) = (end(&link.between[0])?, end(&link.between[1])?);
            if near == far {
                return Err(Fault::value(field, format!("`{}` twice", link.between[0]), "two different routers"));
            }
            plan.link(near, far, ChannelClass::Own(index as u32));
        }
        if self.routers.iter().all(|router| router.position.is_none()) {
            let places = layout::positions(&plan.neighbours());
            plan.routers.iter_mut().zip(places).for_each(|(router, place)| router.position = place);
        }
        plan.regions = Regions::by_position(&plan.routers);
        Ok(PlannedTopology { plan, geometry: None })
    }
}

fn given_position(router: &GraphRouter, index: usize) -> Result<(f32, f32), Fault> {
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
