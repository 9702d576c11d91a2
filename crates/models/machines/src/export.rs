//! Exports a machine for other programs: GraphML, Graphviz, JSON.

mod dot;
mod graphml;
mod json;

pub use dot::dot;
pub use graphml::graphml;
pub use json::json;

use crate::model::ChannelEnd;

/// A short name for an end of a channel: `n3` for node 3, `r0` for router 0.
fn end(place: ChannelEnd) -> String {
    match place {
        ChannelEnd::Node(node) => format!("n{}", node.0),
        ChannelEnd::Router(router) => format!("r{}", router.0),
    }
}
