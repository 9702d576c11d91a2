//! A mesh.

use serde::Deserialize;

use super::grid::{self, Grid, has_schema_of_grid};
use super::{PlannedTopology, Row};
use crate::description::Table;
use crate::error::Fault;

/// A mesh.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub struct Mesh(Grid);

has_schema_of_grid!(Mesh);

impl Row for Mesh {
    const ABOUT: &'static str = "A mesh of any number of dimensions with one node at each router.";
    const TABLES: &'static [Table] = grid::TABLES;
    const SHORT: &'static [&'static str] = grid::SHORT;

    fn lay_out(&self) -> Result<PlannedTopology, Fault> {
        grid::build(&self.0, false)
    }
}
