//! Which fields each table of a description has: where a misplaced one belongs, and how a table is written.

use serde::de::DeserializeOwned;

use super::fields::{
    Channels, Clos, ControlNetwork, Dragonfly, Ethernet, FatTree, Faults, Fields, Graph, Grid, Line, LogGp, MeshOfClos,
    Messaging, Node, Packet, Routers, Routing, Star, Switching, Topology,
};

/// Every table and the names of its fields, those first that are meant most often.
const TABLES: &[(&str, fn() -> Vec<String>)] = &[
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
    ("control_network", of::<ControlNetwork>),
    ("loggp", of::<LogGp>),
    ("ethernet", of::<Ethernet>),
    ("ethernet.faults", of::<Faults>),
    ("ethernet.messaging", of::<Messaging>),
    ("channels.nodes", of::<Line>),
    ("channels.injection", of::<Line>),
    ("channels.ejection", of::<Line>),
    ("channels.global", of::<Line>),
];

/// The names of the fields of `T`: a reader that meets a field that it does not know tells all that it knows.
fn of<T: DeserializeOwned>() -> Vec<String> {
    let unknown = toml::from_str::<T>("\"\" = 0").err();
    let quoted = |message: &str| message.split('`').skip(3).step_by(2).map(str::to_string).collect();
    unknown.map(|error| quoted(error.message())).unwrap_or_default()
}

/// The names of the fields of a table.
pub(super) fn of_table(table: &str) -> Vec<String> {
    TABLES.iter().find(|known| known.0 == table).map(|known| known.1()).unwrap_or_default()
}

/// The paths of all fields that are called `name`; of those nearest to it in spelling, where none is.
pub(super) fn places(name: &str) -> Vec<String> {
    let all: Vec<(String, String)> = TABLES.iter().flat_map(|(table, names)| paths(table, names())).collect();
    let of_name = |name: &str| all.iter().filter(|(known, _)| known == name).map(|(_, path)| path.clone()).collect();
    let exact: Vec<String> = of_name(name);
    if !exact.is_empty() {
        return exact;
    }
    quantities::nearest(name, all.iter().map(|(known, _)| known.as_str())).map(of_name).unwrap_or_default()
}

/// The fields of a table, each with its path.
fn paths(table: &str, names: Vec<String>) -> impl Iterator<Item = (String, String)> {
    let path = move |name: &str| if table.is_empty() { name.to_string() } else { format!("{table}.{name}") };
    names.into_iter().map(move |name| (name.clone(), path(&name)))
}

/// How a value of the type with this name is written.
pub(super) fn example(of: &str) -> Option<&'static str> {
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
        "Messaging" => "{ window = 16 }",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::{TABLES, places};

    #[test]
    fn every_table_tells_its_fields() {
        for (table, names) in TABLES {
            let least = if *table == "topology.star" { 1 } else { 2 };
            assert!(names().len() >= least && names().iter().all(|name| !name.is_empty()), "{table}: {:?}", names());
        }
    }

    #[test]
    fn a_misplaced_field_is_found() {
        assert_eq!(places("processor_send"), ["node.processor_send"]);
        assert_eq!(places("procesor_send"), ["node.processor_send"]);
        assert_eq!(places("global_links"), ["topology.dragonfly.global_links"]);
        assert_eq!(places("colour"), [""; 0]);
    }
}
