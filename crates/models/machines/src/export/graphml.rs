//! GraphML, which NetworkX, Gephi and yEd read.

use std::fmt::Write;

use super::end;
use crate::model::Machine;

/// Attributes: name, what it belongs to, type.
const KEYS: [(&str, &str, &str); 11] = [
    ("kind", "node", "string"),
    ("name", "node", "string"),
    ("x", "node", "double"),
    ("y", "node", "double"),
    ("channel", "edge", "int"),
    ("input_port", "edge", "int"),
    ("flit_time_ps", "edge", "long"),
    ("wire_latency_ps", "edge", "long"),
    ("credit_latency_ps", "edge", "long"),
    ("buffer_slots", "edge", "int"),
    ("virtual_channels", "edge", "int"),
];

/// The machine as a directed graph: an edge for each channel.
pub fn graphml(machine: &Machine) -> String {
    let mut text = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    text.push_str("<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">\n");
    for (name, what, kind) in KEYS {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "  <key id=\"{name}\" for=\"{what}\" attr.name=\"{name}\" attr.type=\"{kind}\"/>");
    }
    let _ = writeln!(text, "  <graph id=\"{}\" edgedefault=\"directed\">", escaped(&machine.name));
    if !machine.source.settings.is_empty() {
        let _ = writeln!(text, "    <desc>{}</desc>", escaped(&machine.title()));
    }
    for node in 0..machine.nodes {
        let values = [("kind", "node".to_string()), ("name", node.to_string())];
        let _ = writeln!(text, "    <node id=\"n{node}\">{}</node>", data(&values));
    }
    if let Some(network) = machine.network() {
        for (number, router) in network.routers.iter().enumerate() {
            let values = [
                ("kind", "router".to_string()),
                ("name", router.name.clone()),
                ("x", router.position.0.to_string()),
                ("y", router.position.1.to_string()),
            ];
            let _ = writeln!(text, "    <node id=\"r{number}\">{}</node>", data(&values));
        }
        for (number, channel) in network.channels.iter().enumerate() {
            let values = [
                ("channel", number.to_string()),
                ("input_port", channel.input_port.to_string()),
                ("flit_time_ps", channel.flit_time.picoseconds().to_string()),
                ("wire_latency_ps", channel.wire_latency.picoseconds().to_string()),
                ("credit_latency_ps", channel.credit_latency.picoseconds().to_string()),
                ("buffer_slots", channel.buffer.to_string()),
                ("virtual_channels", channel.virtual_channels.to_string()),
            ];
            let (from, to) = (end(channel.from), end(channel.to));
            let _ = writeln!(text, "    <edge source=\"{from}\" target=\"{to}\">{}</edge>", data(&values));
        }
    }
    text.push_str("  </graph>\n</graphml>\n");
    text
}

fn data(values: &[(&str, String)]) -> String {
    values.iter().map(|(key, value)| format!("<data key=\"{key}\">{}</data>", escaped(value))).collect()
}

/// The text with XML's special characters escaped, and without characters that XML cannot hold at all.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\t' | '\n' | '\r' => out.push(' '),
            control if control.is_control() => {}
            '\u{fffe}' | '\u{ffff}' => {}
            other => out.push(other),
        }
    }
    out
}
