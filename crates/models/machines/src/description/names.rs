//! The fields of each table of a description: where a misplaced field belongs, and how a table is written.

use quantities::reading::fields_of;
use serde::de::DeserializeOwned;

use super::fields::{
    Channels, ControlNetwork, Ethernet, Faults, Fields, Line, LogGp, Memory, Messaging, Node, Packet, Routers, Routing,
    Switching, Trunk,
};
use crate::topology::{Kind, Topology};

/// A table of a description.
pub(crate) struct Table {
    /// Its path; of a table of a topology, what follows the topology's own.
    path: &'static str,
    /// The name of its type.
    type_name: fn() -> &'static str,
    /// The names of its fields.
    names: fn() -> Vec<String>,
    /// An example of its value.
    example: Option<&'static str>,
}

impl Table {
    /// The table that is read as a `T`.
    pub(crate) const fn of<T: DeserializeOwned>(path: &'static str, example: Option<&'static str>) -> Table {
        Table { path, type_name: std::any::type_name::<T>, names: of::<T>, example }
    }
}

/// The tables before those of topologies; the tables most often meant come first.
const FIRST: &[Table] = &[
    Table::of::<Fields>("", None),
    Table::of::<Channels>("channels", Some("{ rate = \"1 GB/s\" }")),
    Table::of::<Routers>("routers", Some("{ routing_delay = \"100 ns\" }")),
    Table::of::<Routing>("routing", Some("{ rule = \"up-down\" }")),
    Table::of::<Switching>("switching", Some("{ mode = \"wormhole\" }")),
    Table::of::<Packet>("packet", Some("{ payload = \"128 B\", header = \"2 B\" }")),
    Table::of::<Node>("node", Some("{ processor_send = \"5 us\" }")),
    Table::of::<Topology>("topology", Some("{ mesh = { columns = 4, rows = 4 } }")),
];

/// The tables after those of topologies.
const LAST: &[Table] = &[
    Table::of::<ControlNetwork>("control_network", Some("{ latency = \"1 us\", rate = \"10 MB/s\" }")),
    Table::of::<LogGp>("loggp", Some("{ nodes = 8, L = \"2500 ns\", o = \"1500 ns\", g = \"1 us\" }")),
    Table::of::<Ethernet>("ethernet", None),
    Table::of::<Faults>("ethernet.faults", Some("{ loss = 0.01 }")),
    Table::of::<Messaging>("ethernet.messaging", Some("{ window = 16 }")),
    Table::of::<Memory>("ethernet.memory", Some("{ processes = 4 }")),
    Table::of::<Trunk>("ethernet.trunk", None),
    Table::of::<Line>("channels.nodes", Some("{ rate = \"1 GB/s\" }")),
    Table::of::<Line>("channels.injection", None),
    Table::of::<Line>("channels.ejection", None),
    Table::of::<Line>("channels.global", None),
];

/// All tables, each with its path.
fn tables() -> impl Iterator<Item = (String, &'static Table)> {
    let own = |table: &'static Table| (table.path.to_string(), table);
    let of_kind =
        |kind: &'static Kind| kind.tables.iter().map(|table| (format!("topology.{}{}", kind.name, table.path), table));
    FIRST.iter().map(own).chain(Topology::KINDS.iter().flat_map(of_kind)).chain(LAST.iter().map(own))
}

/// The names of the fields of `T`.
fn of<T: DeserializeOwned>() -> Vec<String> {
    fields_of::<T>().iter().map(|name| name.to_string()).collect()
}

/// The names of the fields of a table.
pub(super) fn of_table(table: &str) -> Vec<String> {
    tables().find(|(path, _)| path == table).map(|(_, table)| (table.names)()).unwrap_or_default()
}

/// The paths of all fields that are called `name`.
pub(super) fn places(name: &str) -> Vec<String> {
    all().into_iter().filter(|(known, _)| known == name).map(|(_, path)| path).collect()
}

/// The same, or if there are none, the paths of the fields whose names are nearest to `name` in spelling.
pub(super) fn places_like(name: &str) -> Vec<String> {
    let exact = places(name);
    if !exact.is_empty() {
        return exact;
    }
    let all = all();
    quantities::nearest(name, all.iter().map(|(known, _)| known.as_str())).map(places).unwrap_or_default()
}

/// The likeliest of `paths`, which are those of fields with the same name as a misplaced one in `table`: those within
/// the table, else those of the description itself, else all.
pub(super) fn most_likely(table: &str, paths: Vec<String>) -> Vec<String> {
    let inner = format!("{table}.");
    let kept =
        |keep: &dyn Fn(&String) -> bool| paths.iter().filter(|path| keep(path)).cloned().collect::<Vec<String>>();
    let within = if table.is_empty() { Vec::new() } else { kept(&|path| path.starts_with(&inner)) };
    let outside = kept(&|path| !path.contains('.'));
    match (within.is_empty(), outside.is_empty()) {
        (false, _) => within,
        (_, false) => outside,
        _ => paths,
    }
}

/// The name and the path of every field.
fn all() -> Vec<(String, String)> {
    tables().flat_map(|(path, table)| paths(&path, (table.names)()).collect::<Vec<_>>()).collect()
}

/// The fields of a table, each with its path.
fn paths(table: &str, names: Vec<String>) -> impl Iterator<Item = (String, String)> {
    let path = move |name: &str| if table.is_empty() { name.to_string() } else { format!("{table}.{name}") };
    names.into_iter().map(move |name| (name.clone(), path(&name)))
}

/// An example of a value of the type with this name.
pub(crate) fn example(of: &str) -> Option<&'static str> {
    let is_of = |table: &Table| (table.type_name)().rsplit("::").next() == Some(of);
    tables().filter(|(_, table)| is_of(table)).find_map(|(_, table)| table.example)
}

#[cfg(test)]
mod tests {
    use super::{most_likely, places, places_like, tables};

    #[test]
    fn the_fields_of_every_table_are_known() {
        for (path, table) in tables() {
            let least = if path == "topology.star" { 1 } else { 2 };
            let names = (table.names)();
            assert!(names.len() >= least && names.iter().all(|name| !name.is_empty()), "{path}: {names:?}");
        }
    }

    #[test]
    fn a_misplaced_field_is_found() {
        assert_eq!(places("processor_send"), ["node.processor_send"]);
        assert_eq!(places_like("procesor_send"), ["node.processor_send"]);
        assert_eq!(most_likely("topology.graph", places("nodes")), ["topology.graph.routers[0].nodes"]);
        assert_eq!(most_likely("channels", places("routers")), ["routers"]);
        assert!(most_likely("", places("rate")).len() > 4);
        assert_eq!(places("global_links"), ["topology.dragonfly.global_links"]);
        assert_eq!(places_like("colour"), [""; 0]);
    }
}
