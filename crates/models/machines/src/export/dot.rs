//! Graphviz: `neato -n` or `dot` draws it.

use std::fmt::Write;

use super::end;
use crate::model::Machine;

/// The machine as a Graphviz graph: routers as boxes, nodes as circles, a line for the two channels of a link.
pub fn dot(machine: &Machine) -> String {
    let mut text = format!("graph {} {{\n", quoted(&machine.name));
    if !machine.source.settings.is_empty() {
        let _ = writeln!(text, "  label={};", quoted(&machine.title()));
    }
    for node in 0..machine.nodes {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "  n{node} [shape=circle, label={}];", quoted(&node.to_string()));
    }
    if let Some(network) = machine.network() {
        for (number, router) in network.routers.iter().enumerate() {
            let (x, y) = router.position;
            let label = quoted(&router.name);
            // Graphviz measures upwards, and in points.
            let _ = writeln!(text, "  r{number} [shape=box, label={label}, pos=\"{},{}!\"];", x * 72.0, -y * 72.0);
        }
        // Channels come in pairs, one each way; the first of each stands for both.
        for channel in network.channels.iter().step_by(2) {
            let _ = writeln!(text, "  {} -- {};", end(channel.from), end(channel.to));
        }
    }
    text.push_str("}\n");
    text
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n"))
}
