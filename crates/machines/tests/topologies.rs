//! The sizes and links of the topologies, as the papers give them.

use maquette_machines::Description;
use maquette_machines::model::{FlitNetwork, Interconnect, Place, RouterId};

fn network(text: &str) -> FlitNetwork {
    let rest = "\n[channels]\nrate = \"10 MB/s\"\n[routers]\nrouting_delay = \"100 ns\"\n[packet]\npayload = 128\nheader = 2\n";
    let description = Description::parse(&format!("{text}{rest}"), "test.toml").unwrap();
    match description.resolve().unwrap().interconnect {
        Interconnect::Flits(network) => network,
        Interconnect::LogGp(_) => unreachable!(),
    }
}

fn mesh_of_clos(height: u32, stages: u32) -> FlitNetwork {
    network(&format!("[topology.mesh_of_clos]\nheight = {height}\nmesh_stages = {stages}"))
}

/// Links between routers of the mesh, each counted once.
fn mesh_links(network: &FlitNetwork) -> usize {
    let in_mesh = |place: Place| match place {
        Place::Router(RouterId(router)) => network.routers[router as usize].mesh_index.is_some(),
        Place::Node(_) => false,
    };
    network.channels.iter().filter(|channel| in_mesh(channel.from) && in_mesh(channel.to)).count() / 2
}

fn channels_at(network: &FlitNetwork, router: u32) -> usize {
    network.channels.iter().filter(|channel| channel.to == Place::Router(RouterId(router))).count()
}

#[test]
fn mesh_of_clos_as_in_section_2() {
    // (h, r), nodes, routers, links of the mesh.
    let table = [((2, 1), 16, 4, 4), ((3, 2), 64, 16, 24), ((3, 1), 64, 32, 16), ((2, 0), 16, 8, 0)];
    for ((height, stages), nodes, routers, links) in table {
        let network = mesh_of_clos(height, stages);
        assert_eq!(network.injection.len(), nodes, "nodes of MoC({height}, {stages})");
        assert_eq!(network.routers.len(), routers, "routers of MoC({height}, {stages})");
        assert_eq!(mesh_links(&network), links, "mesh links of MoC({height}, {stages})");
        for router in 0..routers as u32 {
            assert!(channels_at(&network, router) <= 8, "routers have eight channels");
        }
    }
}
