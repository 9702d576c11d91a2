//! A Clos network.

use schemars::JsonSchema;
use serde::Deserialize;

use super::stages::{Shape, build, check, usual_arity};
use super::{PlannedTopology, Row};
use crate::description::Table;
use crate::error::Fault;

/// A Clos network of `height` levels of routers with `arity` channels down and as many up: `arity^height` nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Clos {
    /// Levels of routers, from 1.
    pub height: u32,
    /// The paper's k: nodes of a router of the lowest level. From 2.
    #[serde(default = "usual_arity")]
    pub arity: u32,
}

impl Row for Clos {
    const ABOUT: &'static str = "A Clos network.";
    const TABLES: &'static [Table] = &[Table::of::<Clos>("", Some("{ height = 2 }"))];
    const SHORT: &'static [&'static str] = &["height"];
    const WITH_GROUPS: Option<&'static str> = Some("a Clos network");

    fn lay_out(&self) -> Result<PlannedTopology, Fault> {
        let (arity, height) = (self.arity, self.height);
        check("topology.clos", "height", arity, height, arity, 1)?;
        Ok(build(&Shape::wide(arity, height)))
    }
}
