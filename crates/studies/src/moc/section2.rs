//! Section 2: what the networks are made of.

use machines::model::{FlitNetwork, Machine, Place};

use super::StudyOfMoc;
use super::simulate::{model, network};
use crate::{Check, Drawing, Gap, Judgement, check};
use report::{Cell, Table};

/// Channels of a router, each way.
const PORTS: usize = 8;
/// Nodes on a router, at most.
const NODES_ON_A_ROUTER: usize = 4;

/// The study.
pub const STUDY: StudyOfMoc = StudyOfMoc {
    place: "section 2",
    title: "the networks",
    claims: &["moc.sec2.topologies"],
    jobs: Vec::new,
    judge: |_, _| judge(found),
    draw: |_| draw(),
};

/// What a network must be made of.
struct Expected {
    preset: &'static str,
    what: &'static str,
    nodes: usize,
    routers: usize,
    /// Routers that are part of the mesh.
    in_mesh: usize,
    /// Channels between routers of the mesh that lie in different places of it, both ways counted.
    mesh_channels: usize,
}

/// The networks of the paper. A mesh of 2x2 has 4 links, one of 4x4 has 24; each is a channel each way, in as many
/// layers as the mesh has.
const EXPECTED: [Expected; 4] = [
    Expected {
        preset: "moc-2-1",
        what: "2x2 mesh of 4-node routers",
        nodes: 16,
        routers: 4,
        in_mesh: 4,
        mesh_channels: 8,
    },
    Expected {
        preset: "moc-3-2",
        what: "4x4 mesh of 4-node routers",
        nodes: 64,
        routers: 16,
        in_mesh: 16,
        mesh_channels: 48,
    },
    Expected {
        preset: "moc-3-1",
        what: "2x2 mesh of 16-node Clos clusters, four channels wide",
        nodes: 64,
        routers: 32,
        in_mesh: 16,
        mesh_channels: 32,
    },
    Expected {
        preset: "parsytec-cc-16",
        what: "Clos of height 2: a 1x1 mesh",
        nodes: 16,
        routers: 8,
        in_mesh: 0,
        mesh_channels: 0,
    },
];

/// What a network is made of.
struct Found {
    nodes: usize,
    routers: usize,
    in_mesh: usize,
    mesh_channels: usize,
    most_ports: usize,
    most_nodes: usize,
}

fn count(machine: &Machine, network: &FlitNetwork) -> Found {
    let mesh = |place: Place| match place {
        Place::Router(router) => network.routers[router.0 as usize].mesh_index,
        Place::Node(_) => None,
    };
    let between = network.channels.iter().filter(|channel| mesh(channel.from).is_some() && mesh(channel.to).is_some());
    let outputs = |router: usize, to_node: bool| {
        let leaves = |place| matches!(place, Place::Router(id) if id.0 as usize == router);
        let wanted = |place| !to_node || matches!(place, Place::Node(_));
        network.channels.iter().filter(|channel| leaves(channel.from) && wanted(channel.to)).count()
    };
    let most = |to_node| (0..network.routers.len()).map(|router| outputs(router, to_node)).max().unwrap_or(0);
    Found {
        nodes: machine.nodes as usize,
        routers: network.routers.len(),
        in_mesh: network.routers.iter().filter(|router| router.mesh_index.is_some()).count(),
        mesh_channels: between.count(),
        most_ports: most(false),
        most_nodes: most(true),
    }
}

fn found(expected: &Expected) -> Result<Found, Gap> {
    let failed = |why: String| Gap::Failed(expected.preset.to_string(), why);
    let machine = model(expected.preset).map_err(failed)?;
    Ok(count(&machine, network(&machine).map_err(failed)?))
}

fn judge(found: impl Fn(&Expected) -> Result<Found, Gap>) -> Result<Judgement, Gap> {
    let mut checks: Vec<Check> = Vec::new();
    for expected in &EXPECTED {
        let found = found(expected)?;
        let preset = expected.preset;
        let ours = [found.nodes, found.routers, found.in_mesh, found.mesh_channels];
        let theirs = [expected.nodes, expected.routers, expected.in_mesh, expected.mesh_channels];
        let same = ours == theirs;
        let [nodes, routers, in_mesh, channels] = ours;
        let says = format!(
            "{preset}, {}: {nodes} nodes, {routers} routers, {in_mesh} of them in the mesh, {channels} channels between \
             places of the mesh; expected {theirs:?}",
            expected.what
        );
        checks.push(check(same, says));
        let says = format!(
            "{preset}: at most {} channels and {} nodes on a router; allowed {PORTS} and {NODES_ON_A_ROUTER}",
            found.most_ports, found.most_nodes
        );
        checks.push(check(found.most_ports <= PORTS && found.most_nodes <= NODES_ON_A_ROUTER, says));
    }
    let held = checks.iter().filter(|check| check.holds).count();
    Ok(Judgement::in_words(format!("{held} of {} counts as the paper defines them", checks.len()), checks))
}

fn draw() -> Result<Option<Drawing>, Gap> {
    let mut table =
        Table::with_head(&["preset", "what it is", "nodes", "routers", "of these in the mesh", "channels in the mesh"]);
    for expected in &EXPECTED {
        let found = found(expected)?;
        let numbers = [found.nodes, found.routers, found.in_mesh, found.mesh_channels];
        let mut row = vec![Cell::Words(expected.preset.to_string()), Cell::Words(expected.what.to_string())];
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

    /// Which networks a fault in what was found is seen at: one for the counts, one for the limits.
    fn failing(fault: fn(&mut Found)) -> usize {
        let faulty = |expected: &Expected| {
            let mut found = found(expected)?;
            fault(&mut found);
            Ok(found)
        };
        judge(faulty).unwrap().checks.iter().filter(|check| !check.holds).count()
    }

    #[test]
    fn a_network_of_other_parts_is_missed() {
        assert_eq!(failing(|_| {}), 0);
        let faults: [fn(&mut Found); 6] = [
            |found| found.nodes += 1,
            |found| found.routers -= 1,
            |found| found.in_mesh += 1,
            |found| found.mesh_channels += 2,
            |found| found.most_ports = 9,
            |found| found.most_nodes = 5,
        ];
        assert_eq!(faults.map(failing), [4; 6]);
    }
}
