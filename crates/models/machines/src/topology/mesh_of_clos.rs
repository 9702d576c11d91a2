//! Clos networks joined in a mesh.

use schemars::JsonSchema;
use serde::Deserialize;

use super::stages::{Shape, build, check, usual_arity};
use super::{MOST_NODES, PlannedTopology, Row, power, within};
use crate::description::Table;
use crate::error::{Fault, Problem};

const FIELD: &str = "topology.mesh_of_clos";

/// A Clos network of `height`, the top `mesh_stages` of whose levels are replaced by a mesh.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MeshOfClos {
    /// The paper's h: levels of the Clos network before the mesh takes their place.
    pub height: u32,
    /// The paper's r: levels that the mesh takes the place of, fewer than `height`.
    pub mesh_stages: u32,
    /// The paper's k: nodes of a router of the lowest level. From 2.
    #[serde(default = "usual_arity")]
    pub arity: u32,
    /// Clusters in a row of the mesh; with `rows`, instead of the nearly square mesh of `arity^mesh_stages` clusters.
    pub columns: Option<u32>,
    /// Rows of clusters in the mesh.
    pub rows: Option<u32>,
}

impl Row for MeshOfClos {
    const ABOUT: &'static str = "Clos networks joined in a mesh.";
    const TABLES: &'static [Table] = &[Table::of::<MeshOfClos>("", Some("{ height = 2, mesh_stages = 1 }"))];
    const SHORT: &'static [&'static str] = &["columns", "rows", "height"];
    const WITH_GROUPS: Option<&'static str> = Some("a mesh of Clos networks");

    fn lay_out(&self) -> Result<PlannedTopology, Fault> {
        if self.mesh_stages >= self.height {
            let allowed = format!("fewer than the height, {}", self.height);
            return Err(Fault::value(format!("{FIELD}.mesh_stages"), self.mesh_stages, allowed));
        }
        let (columns, rows) = match (self.columns, self.rows) {
            (Some(columns), Some(rows)) => (columns, rows),
            (None, None) => near_square(self.arity, self.mesh_stages)?,
            _ => {
                let missing = "one of `columns` and `rows`, which go together,".to_string();
                return Err(Fault::new(FIELD, Problem::Missing { missing }));
            }
        };
        for (field, side) in [("columns", columns), ("rows", rows)] {
            within(&format!("{FIELD}.{field}"), field, u64::from(side), MOST_NODES)?;
        }
        let height = self.height - self.mesh_stages;
        check(FIELD, "height", self.arity, height, self.arity, u64::from(columns) * u64::from(rows))?;
        let busiest = columns.min(3).saturating_sub(1) + rows.min(3).saturating_sub(1);
        if busiest > self.arity {
            let found = format!("{columns} x {rows} clusters, whose routers need {busiest} channels for the mesh");
            let allowed = format!("a mesh that takes at most the {} channels a router has above", self.arity);
            return Err(Fault::value(FIELD, found, allowed));
        }
        Ok(build(&Shape { columns, rows, ..Shape::wide(self.arity, height) }))
    }
}

/// The sides of the mesh of `arity^stages` clusters that is nearest to a square, the longer first.
fn near_square(arity: u32, stages: u32) -> Result<(u32, u32), Fault> {
    let clusters = power(arity, stages);
    within("topology.mesh_of_clos.mesh_stages", "clusters", clusters, MOST_NODES)?;
    let clusters = clusters as u32;
    let rows = (1..=clusters.isqrt()).rev().find(|rows| clusters.is_multiple_of(*rows)).unwrap_or(1);
    Ok((clusters / rows, rows))
}
