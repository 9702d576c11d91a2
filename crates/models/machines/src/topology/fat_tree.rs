//! A k-ary n-tree.

use quantities::Rate;
use schemars::JsonSchema;
use serde::Deserialize;

use super::stages::{Shape, build, check};
use super::{OwnLine, OwnLines, PlannedTopology, Row};
use crate::description::{Table, fields};
use crate::error::Fault;

const FIELD: &str = "topology.fat_tree";

/// A k-ary n-tree: `arity^levels` nodes under `levels` levels of routers, or fewer if fewer `subtrees` hang under the
/// top.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FatTree {
    /// Children of a router. From 2.
    pub arity: u32,
    /// Levels of routers, from 1.
    pub levels: u32,
    /// Children of a router of the top level, 1 to `arity`; `arity` if left out. There are then
    /// `subtrees * arity^(levels - 1)` nodes.
    pub subtrees: Option<u32>,
    /// Channels up of a router of level 1, of level 2, and so on, each 1 to `arity`; `arity` if left out. Fewer make a
    /// tree that narrows towards its top.
    #[serde(default)]
    pub parents: Vec<u32>,
    /// The rates of the links between levels 1 and 2, 2 and 3, and so on, where they differ from that of `channels`.
    #[serde(default)]
    pub rates: Vec<Rate>,
}

impl Row for FatTree {
    const ABOUT: &'static str = "A k-ary n-tree.";
    const TABLES: &'static [Table] = &[Table::of::<FatTree>("", Some("{ arity = 4, levels = 2 }"))];
    const SHORT: &'static [&'static str] = &["subtrees"];
    const WITH_GROUPS: Option<&'static str> = Some("a fat tree");

    fn lines(&self) -> OwnLines<'_> {
        let line = |(index, &rate): (usize, &Rate)| {
            let field = format!("{FIELD}.rates[{index}]");
            OwnLine {
                rate_field: field.clone(),
                field,
                line: fields::Line { rate: Some(rate), ..fields::Line::default() },
            }
        };
        Box::new(self.rates.iter().enumerate().map(line))
    }

    fn lay_out(&self) -> Result<PlannedTopology, Fault> {
        let (arity, height) = (self.arity, self.levels);
        let subtrees = self.subtrees.unwrap_or(arity);
        check(FIELD, "levels", arity, height, subtrees, 1)?;
        for (field, count) in [("rates", self.rates.len()), ("parents", self.parents.len())] {
            if count != 0 && count as u32 != height - 1 {
                let allowed = format!("{}: one for the links above each level but the top", height - 1);
                return Err(Fault::value(format!("{FIELD}.{field}"), format!("{count} {field}"), allowed));
            }
        }
        if let Some(index) = self.parents.iter().position(|parents| !(1..=arity).contains(parents)) {
            let allowed = format!("1 to {arity}, the arity");
            return Err(Fault::value(format!("{FIELD}.parents[{index}]"), self.parents[index], allowed));
        }
        let mut shape = Shape { subtrees, by_level: !self.rates.is_empty(), ..Shape::wide(arity, height) };
        if !self.parents.is_empty() {
            shape.parents.clone_from(&self.parents);
        }
        Ok(build(&shape))
    }
}
