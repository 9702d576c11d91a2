//! The fields of each table of a description: where a misplaced field belongs, and how a table is written.

use quantities::reading::fields_of;
use serde::de::DeserializeOwned;

use super::fields::{
    Channels, Clos, ControlNetwork, Dragonfly, Ethernet, FatTree, Faults, Fields, Graph, GraphLink, GraphRouter, Grid,
    Line, LogGp, Memory, MeshOfClos, Messaging, Node, Packet, Routers, Routing, Star, Switching, Topology, Trunk,
};

/// The names of a table's fields.
type FieldNames = fn() -> Vec<String>;

/// Every table and the names of its fields; the tables most often meant come first.
const TABLES: &[(&str, FieldNames)] = &[
    ("", of::<Fields>),
    ("channels", of::<Channels>),
    ("routers", of::<Routers>),
    ("routing", of::<Routing>),
    ("switching", of::<Switching>),
    ("packet", of::<Packet>),
    ("node", of::<Node>),
    ("topology", of::<Topology>),
    ("topology.clos", of::<Clos>),
    ("topology.mesh_of_clos", of::<MeshOfClos>),
    ("topology.mesh", of::<Grid>),
    ("topology.torus", of::<Grid>),
    ("topology.fat_tree", of::<FatTree>),
    ("topology.dragonfly", of::<Dragonfly>),
    ("topology.star", of::<Star>),
    ("topology.graph", of::<Graph>),
    ("topology.graph.routers[0]", of::<GraphRouter>),
    ("topology.graph.links[0]", of::<GraphLink>),
    ("control_network", of::<ControlNetwork>),
    ("loggp", of::<LogGp>),
    ("ethernet", of::<Ethernet>),
    ("ethernet.faults", of::<Faults>),
    ("ethernet.messaging", of::<Messaging>),
    ("ethernet.memory", of::<Memory>),
    ("ethernet.trunk", of::<Trunk>),
    ("channels.nodes", of::<Line>),
    ("channels.injection", of::<Line>),
    ("channels.ejection", of::<Line>),
    ("channels.global", of::<Line>),
];

/// The names of the fields of `T`.
fn of<T: DeserializeOwned>() -> Vec<String> {
    fields_of::<T>().iter().map(|name| name.to_string()).collect()
}

/// The names of the fields of a table.
pub(super) fn of_table(table: &str) -> Vec<String> {
    TABLES.iter().find(|known| known.0 == table).map(|known| known.1()).unwrap_or_default()
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

/// The likeliest of `paths`, which are those of fields with the same name as a misplaced one in `table`: those within the table, else
/// those of the description itself, else all.
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
    TABLES.iter().flat_map(|(table, names)| paths(table, names())).collect()
}

/// The fields of a table, each with its path.
fn paths(table: &str, names: Vec<String>) -> impl Iterator<Item = (String, String)> {
    let path = move |name: &str| if table.is_empty() { name.to_string() } else { format!("{table}.{name}") };
    names.into_iter().map(move |name| (name.clone(), path(&name)))
}

/// An example of a value of the type with this name.
pub(crate) fn example(of: &str) -> Option<&'static str> {
    Some(match of {
        "Topology" => "{ mesh = { columns = 4, rows = 4 } }",
        "Clos" => "{ height = 2 }",
        "MeshOfClos" => "{ height = 2, mesh_stages = 1 }",
        "Grid" => "{ columns = 4, rows = 4 }",
        "FatTree" => "{ arity = 4, levels = 2 }",
        "Dragonfly" => "{ nodes = 2, routers = 4, global_links = 2 }",
        "Star" => "{ nodes = 8 }",
        "Graph" => "{ routers = [{ name = \"a\", nodes = 2 }] }",
        "GraphRouter" => "{ name = \"a\", nodes = 1 }",
        "GraphLink" => "{ between = [\"a\", \"b\"] }",
        "Channels" | "Line" => "{ rate = \"1 GB/s\" }",
        "Routers" => "{ routing_delay = \"100 ns\" }",
        "Routing" => "{ rule = \"up-down\" }",
        "Switching" => "{ mode = \"wormhole\" }",
        "Packet" => "{ payload = \"128 B\", header = \"2 B\" }",
        "Node" => "{ processor_send = \"5 us\" }",
        "ControlNetwork" => "{ latency = \"1 us\", rate = \"10 MB/s\" }",
        "LogGp" => "{ nodes = 8, L = \"2500 ns\", o = \"1500 ns\", g = \"1 us\" }",
        "Faults" => "{ loss = 0.01 }",
        "Memory" => "{ processes = 4 }",
        "Messaging" => "{ window = 16 }",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::{TABLES, most_likely, places, places_like};

    #[test]
    fn the_fields_of_every_table_are_known() {
        for (table, names) in TABLES {
            let least = if *table == "topology.star" { 1 } else { 2 };
            assert!(names().len() >= least && names().iter().all(|name| !name.is_empty()), "{table}: {:?}", names());
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
