//! Fields changed from a command line: `buffers=4`, `node.processor_send=5us`.

use std::collections::BTreeSet;

use toml::{Table, Value};

use super::fields::Fields;
use super::names;
use crate::error::Problem;
use crate::topology::{Kind, Topology};

/// Short names for fields that are set often.
const SHORT: &[(&str, &str)] = &[
    ("buffers", "channels.buffers"),
    ("rate", "channels.rate"),
    ("flit_time", "channels.flit_time"),
    ("wire_latency", "channels.wire_latency"),
    ("credit_latency", "channels.credit_latency"),
    ("virtual_channels", "channels.virtual_channels"),
    ("routing_delay", "routers.routing_delay"),
    ("arbitration", "routers.arbitration"),
    ("rule", "routing.rule"),
    ("layer", "routing.selection"),
    ("selection", "routing.selection"),
    ("waits_for", "routing.waits_for"),
    ("idle_when", "routing.idle_when"),
    ("routing", "routing.rule"),
    ("switching", "switching.mode"),
    ("mode", "switching.mode"),
    ("per_packet", "switching.per_packet"),
    ("payload", "packet.payload"),
    ("header", "packet.header"),
    ("flit", "packet.flit"),
    ("send", "node.send"),
    ("protocol", "node.protocol"),
    ("piggyback", "node.piggyback"),
    ("eager", "node.eager"),
    ("reconstruction", "node.reconstruction"),
];

/// The same for the LogGP model.
const SHORT_OF_LOGGP: &[(&str, &str)] = &[
    ("nodes", "loggp.nodes"),
    ("L", "loggp.latency"),
    ("o", "loggp.overhead"),
    ("g", "loggp.gap"),
    ("G", "loggp.gap_per_byte"),
    ("O", "loggp.overhead_per_byte"),
    ("S", "loggp.rendezvous"),
];

/// The same for a switched Ethernet.
const SHORT_OF_ETHERNET: &[(&str, &str)] = &[
    ("nodes", "ethernet.nodes"),
    ("rate", "ethernet.rate"),
    ("bucket", "ethernet.bucket"),
    ("bucket_delay", "ethernet.bucket_delay"),
    ("bucket_carry", "ethernet.bucket_carry"),
    ("wire_latency", "ethernet.wire_latency"),
    ("switch_latency", "ethernet.switch_latency"),
    ("switch_copy", "ethernet.switch_copy"),
    ("queue", "ethernet.queue"),
    ("payload", "ethernet.payload"),
    ("transmit_ring", "ethernet.transmit_ring"),
    ("receive_ring", "ethernet.receive_ring"),
    ("send", "ethernet.send"),
    ("receive", "ethernet.receive"),
    ("handover", "ethernet.handover"),
    ("wake", "ethernet.wake"),
    ("timer", "ethernet.timer"),
    ("block", "ethernet.block"),
    ("interrupt", "ethernet.interrupt"),
    ("cold", "ethernet.cold"),
    ("cold_each", "ethernet.cold_each"),
    ("processors", "ethernet.processors"),
    ("copy", "ethernet.copy"),
    ("call_send", "ethernet.call_send"),
    ("call_receive", "ethernet.call_receive"),
    ("broadcast_each", "ethernet.broadcast_each"),
    ("loss", "ethernet.faults.loss"),
    ("burst_begins", "ethernet.faults.burst_begins"),
    ("burst_ends", "ethernet.faults.burst_ends"),
    ("duplicated", "ethernet.faults.duplicated"),
    ("delayed", "ethernet.faults.delayed"),
    ("delay", "ethernet.faults.delay"),
    ("header", "ethernet.messaging.header"),
    ("envelope", "ethernet.messaging.envelope"),
    ("datagram", "ethernet.messaging.datagram"),
    ("window", "ethernet.messaging.window"),
    ("repeat", "ethernet.messaging.repeat"),
    ("probe", "ethernet.messaging.probe"),
    ("batch", "ethernet.messaging.batch"),
    ("push_first", "ethernet.messaging.push_first"),
    ("push_second", "ethernet.messaging.push_second"),
    ("pushed_buffer", "ethernet.messaging.pushed_buffer"),
    ("send_queue", "ethernet.messaging.send_queue"),
    ("broadcast", "ethernet.messaging.broadcast"),
    ("first_timeout", "ethernet.messaging.first_timeout"),
    ("least_timeout", "ethernet.messaging.least_timeout"),
    ("most_timeout", "ethernet.messaging.most_timeout"),
    ("report_packets", "ethernet.messaging.report_packets"),
    ("broadcast_report_packets", "ethernet.messaging.broadcast_report_packets"),
    ("report_delay", "ethernet.messaging.report_delay"),
    ("patience", "ethernet.messaging.patience"),
];

/// Fields that exclude each other: setting one replaces the other.
const REPLACEMENTS: [(&str, &str); 8] = [
    ("rate", "flit_time"),
    ("flit_time", "rate"),
    ("latency", "L"),
    ("overhead", "o"),
    ("gap", "g"),
    ("gap_per_byte", "G"),
    ("overhead_per_byte", "O"),
    ("rendezvous", "S"),
];

/// The other name of a field that has two, or the field that can replace it.
pub(super) fn replacement_for(name: &str) -> Option<&'static str> {
    REPLACEMENTS.iter().find(|pair| pair.0 == name).map(|pair| pair.1)
}

/// The short names for a description, each with the path of its field.
fn short(fields: &Fields) -> Vec<(&'static str, String)> {
    if fields.ethernet.is_some() {
        return SHORT_OF_ETHERNET.iter().map(|&(name, path)| (name, path.to_string())).collect();
    }
    let own = topology(fields);
    // A name that is also one of the LogGP model is the topology's if it has this field.
    let is_own = |name: &str| own.is_some_and(|kind| kind.short.contains(&name));
    let of_loggp = |name: &str| SHORT_OF_LOGGP.iter().any(|pair| pair.0 == name);
    let of_topologies =
        Topology::KINDS.iter().flat_map(|kind| kind.short).filter(|name| is_own(name) || !of_loggp(name));
    let kind = own.map_or("*", |kind| kind.name);
    let of_topologies = of_topologies.map(|&name| (name, format!("topology.{kind}.{name}")));
    let of_loggp = SHORT_OF_LOGGP.iter().filter(|pair| !is_own(pair.0));
    let fixed = |&(name, path): &(&'static str, &str)| (name, path.to_string());
    let mut short: Vec<_> = SHORT.iter().map(fixed).chain(of_topologies).chain(of_loggp.map(fixed)).collect();
    let mut known = BTreeSet::new();
    short.retain(|(name, _)| known.insert(*name));
    short
}

/// The path of the field that `name` refers to.
pub(super) fn path(name: &str, fields: &Fields) -> Result<String, Problem> {
    let name = name.trim();
    let short = short(fields);
    let long = short.iter().find(|pair| pair.0 == name).map_or(name, |pair| pair.1.as_str());
    // Letters of the LogGP model are also allowed in the long form.
    let long = match long.strip_prefix("loggp.") {
        Some(letter) => SHORT_OF_LOGGP.iter().find(|pair| pair.0 == letter).map_or(long, |pair| pair.1),
        None => long,
    };
    if !long.contains('.') && !["name", "about"].contains(&long) {
        let known: Vec<String> = short.iter().map(|pair| pair.0.to_string()).collect();
        let exists = |path: &String| path.contains('.') && !path.contains('[') && absent_table(path, fields).is_none();
        let elsewhere = names::places_like(name).into_iter().filter(exists).collect();
        return Err(Problem::UnknownName { what: "setting", found: name.to_string(), known, elsewhere });
    }
    if long.split('.').any(|part| part.trim().is_empty()) {
        return Err(Problem::Text("a field's path has names with points between them, `channels.buffers`".to_string()));
    }
    match absent_table(long, fields) {
        Some(table) => Err(absent(long, table, fields)),
        None => Ok(long.to_string()),
    }
}

/// The table of this path that the machine does not have because it has another in its place: a machine has one
/// topology, or one model instead of all of them.
fn absent_table<'a>(path: &'a str, fields: &Fields) -> Option<&'a str> {
    let first = path.split('.').next().unwrap_or_default();
    let second =
        path.strip_prefix(first).and_then(|rest| rest.strip_prefix('.')).and_then(|rest| rest.split('.').next());
    let is_there = match (first, second, topology(fields)) {
        ("loggp", ..) => fields.loggp.is_some(),
        ("ethernet", ..) => fields.ethernet.is_some(),
        ("topology", None, _) => true,
        ("topology", Some("*"), None) => false,
        ("topology", Some(kind), Some(own)) if Topology::KINDS.iter().any(|known| known.name == kind) => {
            kind == own.name
        }
        ("topology", Some(_), None) => fields.loggp.is_none() && fields.ethernet.is_none(),
        _ => true,
    };
    let table = match (first, second) {
        ("topology", Some(kind)) if kind != "*" => &path[..first.len() + 1 + kind.len()],
        _ => first,
    };
    (!is_there).then_some(table)
}

/// The problem that a setting belongs to a table that the machine does not have.
fn absent(path: &str, table: &str, fields: &Fields) -> Problem {
    let own = match topology(fields) {
        Some(kind) => format!("topology.{}", kind.name),
        None if fields.ethernet.is_some() => "ethernet".to_string(),
        None => "loggp".to_string(),
    };
    let settings: Vec<String> = names::of_table(&own).iter().map(|name| format!("{own}.{name}")).collect();
    let count = if path.ends_with(".nodes") { ", from which the number of its nodes follows" } else { "" };
    let allowed = format!("fields of `{own}`{count}: {}", settings.join(", "));
    Problem::value(format!("a field of `{table}`, which the machine does not have"), allowed)
}

/// Which topology the description has.
fn topology(fields: &Fields) -> Option<&'static Kind> {
    fields.topology.as_ref()?.given().next()
}

/// A problem with the table around the field at this path, if the TOML parser does not name that table.
pub(super) fn in_table(path: &str, problem: Problem) -> Problem {
    match (path.rsplit_once('.'), problem) {
        (Some((table, _)), Problem::Missing { missing }) => {
            let missing = missing.replacen('`', &format!("`{table}."), 1);
            Problem::Missing { missing }
        }
        (_, problem) => problem,
    }
}

/// Writes `value` at `path`, creating the tables on the way.
pub(super) fn change(table: &mut Table, path: &str, value: Value) -> Result<(), Problem> {
    let (tables, last) = path.rsplit_once('.').unwrap_or(("", path));
    let mut inner = table;
    for name in tables.split('.').filter(|name| !name.is_empty()) {
        let entry = inner.entry(name).or_insert_with(|| Value::Table(Table::new()));
        let found = match entry.type_str() {
            kind @ ("array" | "integer") => format!("an {kind}"),
            kind => format!("a {kind}"),
        };
        inner =
            entry.as_table_mut().ok_or_else(|| Problem::value(format!("`{name}`, {found}"), "a table of fields"))?;
    }
    if let Some((_, other)) = REPLACEMENTS.iter().find(|pair| pair.0 == last) {
        inner.remove(*other);
    }
    // Only a synchronous send is acknowledged: with any other kind the preset's acknowledgement is dropped.
    if path == "node.send" && value.as_str() != Some("synchronous") {
        inner.remove("acknowledged");
    }
    inner.insert(last.to_string(), value);
    Ok(())
}

/// The value as TOML if it parses, else as a string: nobody quotes `5us` on a command line.
pub(super) fn parsed(value: &str) -> Value {
    match format!("value = {value}").parse::<Table>() {
        Ok(mut table) if table.len() == 1 => match table.remove("value") {
            None | Some(Value::Datetime(_)) => as_text(value),
            Some(value) => value,
        },
        _ => as_text(value),
    }
}

/// The value as a string, whatever it looks like.
pub(super) fn as_text(value: &str) -> Value {
    Value::String(value.trim().to_string())
}
