//! Section 2: the composition of the networks.

use machines::model::{ChannelEnd, FlitNetwork, Machine};

use super::StudyOfMoc;
use super::simulate::{model, network};
use crate::{Claims, Drawing, Findings, MissingAnswer};
use report::{Cell, Table};

/// The study.
pub const STUDY: StudyOfMoc = StudyOfMoc {
    place: "section 2",
    title: "the networks",
    claims: &["moc.sec2.topologies"],
    jobs: Vec::new,
    judge: |_, _| judge(found),
    draw: |_: &Claims, _| draw(),
};

/// The networks of the paper, and their descriptions. claims.toml has their required composition: a mesh of 2x2 has 4
/// links, one of 4x4 has 24; each is a channel each way, in as many layers as the mesh has.
const NETWORKS: [(&str, &str); 4] = [
    ("moc-2-1", "2x2 mesh of 4-node routers"),
    ("moc-3-2", "4x4 mesh of 4-node routers"),
    ("moc-3-1", "2x2 mesh of 16-node Clos clusters, four channels wide"),
    ("parsytec-cc-16", "Clos of height 2: a 1x1 mesh"),
];

/// The composition of a network.
struct Composition {
    nodes: usize,
    routers: usize,
    /// Routers that are part of the mesh.
    in_mesh: usize,
    /// Channels between routers at different positions of the mesh, both directions counted.
    mesh_channels: usize,
    /// The most channels of a router, each way.
    most_ports: usize,
    /// The most nodes on a router.
    most_nodes: usize,
}

fn count(machine: &Machine, network: &FlitNetwork) -> Composition {
    let mesh = |place: ChannelEnd| match place {
        ChannelEnd::Router(router) => network.routers[router.0 as usize].mesh_index,
        ChannelEnd::Node(_) => None,
    };
    let between = network.channels.iter().filter(|channel| mesh(channel.from).is_some() && mesh(channel.to).is_some());
    let outputs = |router: usize, to_node: bool| {
        let leaves = |place| matches!(place, ChannelEnd::Router(id) if id.0 as usize == router);
        let wanted = |place| !to_node || matches!(place, ChannelEnd::Node(_));
        network.channels.iter().filter(|channel| leaves(channel.from) && wanted(channel.to)).count()
    };
    let most = |to_node| (0..network.routers.len()).map(|router| outputs(router, to_node)).max().unwrap_or(0);
    Composition {
        nodes: machine.nodes as usize,
        routers: network.routers.len(),
        in_mesh: network.routers.iter().filter(|router| router.mesh_index.is_some()).count(),
        mesh_channels: between.count(),
        most_ports: most(false),
        most_nodes: most(true),
    }
}

fn found(preset: &str) -> Result<Composition, MissingAnswer> {
    let failed = |why: String| MissingAnswer::Failed(preset.to_string(), why);
    let machine = model(preset).map_err(failed)?;
    Ok(count(&machine, network(&machine).map_err(failed)?))
}

fn judge(found: impl Fn(&str) -> Result<Composition, MissingAnswer>) -> Result<Findings, MissingAnswer> {
    let mut networks = Vec::new();
    for (preset, _) in NETWORKS {
        networks.push((preset, found(preset)?));
    }
    let each = |count: fn(&Composition) -> usize| {
        let cases = networks.iter().map(|(preset, found)| ((*preset).to_string(), count(found) as f64));
        cases.collect::<Vec<_>>()
    };
    Ok(Findings::counted(|holding, of| format!("{holding} of {of} counts as the paper defines them").into())
        .with("nodes", each(|found| found.nodes))
        .with("routers", each(|found| found.routers))
        .with("in_mesh", each(|found| found.in_mesh))
        .with("mesh_channels", each(|found| found.mesh_channels))
        .with("channels_of_a_router", each(|found| found.most_ports))
        .with("nodes_on_a_router", each(|found| found.most_nodes)))
}

fn draw() -> Result<Option<Drawing>, MissingAnswer> {
    let mut table = Table::with_head(&[
        "preset",
        "description",
        "nodes",
        "routers",
        "of these in the mesh",
        "channels in the mesh",
    ]);
    for (preset, what) in NETWORKS {
        let found = found(preset)?;
        let numbers = [found.nodes, found.routers, found.in_mesh, found.mesh_channels];
        let mut row = vec![Cell::Words(preset.to_string()), Cell::Words(what.to_string())];
        row.extend(numbers.iter().map(|number| Cell::Number(number.to_string())));
        table.rows.push(row);
    }
    let caption =
        "What the descriptions resolve to. A channel goes one way; every link of the mesh has two.".to_string();
    Ok(Some(Drawing { legend: None, panels: vec![table.draw()], caption }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::failing;

    /// The conditions that fail with a fault in the findings.
    fn with(fault: fn(&mut Composition)) -> Vec<String> {
        let faulty = |preset: &str| {
            let mut found = found(preset)?;
            fault(&mut found);
            Ok(found)
        };
        failing(&super::super::paper(), STUDY.claims[0], judge(faulty).unwrap())
    }

    #[test]
    fn a_network_of_other_parts_is_missed() {
        assert_eq!(with(|_| {}), [""; 0]);
        assert_eq!(with(|found| found.nodes += 1), ["nodes"]);
        assert_eq!(with(|found| found.routers -= 1), ["routers"]);
        assert_eq!(with(|found| found.in_mesh += 1), ["in_mesh"]);
        assert_eq!(with(|found| found.mesh_channels += 2), ["mesh_channels"]);
        assert_eq!(with(|found| found.most_ports = 9), ["channels_of_a_router"]);
        assert_eq!(with(|found| found.most_nodes = 5), ["nodes_on_a_router"]);
    }
}
