//! What a machine is: topology, switching, routing, node costs.

pub mod model;
pub mod routing;
