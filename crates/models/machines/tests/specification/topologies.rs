//! The sizes and links of the topologies, as the papers give them.

use std::collections::BTreeSet;
use std::sync::Arc;

use maquette_machines::Description;
use maquette_machines::model::{ChannelEnd, FlitNetwork, Interconnect, Regions, RouterId};

fn network(text: &str) -> FlitNetwork {
    let rest = "\n[channels]\nrate = \"10 MB/s\"\n[routers]\nrouting_delay = \"100 ns\"\n[packet]\npayload = 128\nheader = 2\n";
    let description = Description::parse(&format!("{text}{rest}"), "test.toml").unwrap();
    match description.resolve().unwrap().interconnect {
        Interconnect::Flits(network) => Arc::unwrap_or_clone(network),
        Interconnect::LogGp(_) | Interconnect::Ethernet(_) => unreachable!(),
    }
}

fn mesh_of_clos(height: u32, stages: u32) -> FlitNetwork {
    network(&format!("[topology.mesh_of_clos]\nheight = {height}\nmesh_stages = {stages}"))
}

/// Links between routers of the mesh, each counted once.
fn mesh_links(network: &FlitNetwork) -> usize {
    let in_mesh = |place: ChannelEnd| match place {
        ChannelEnd::Router(RouterId(router)) => network.routers[router as usize].mesh_index.is_some(),
        ChannelEnd::Node(_) => false,
    };
    network.channels.iter().filter(|channel| in_mesh(channel.from) && in_mesh(channel.to)).count() / 2
}

fn channels_at(network: &FlitNetwork, router: u32) -> usize {
    network.channels.iter().filter(|channel| channel.to == ChannelEnd::Router(RouterId(router))).count()
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

#[test]
fn a_mesh_of_one_cluster_is_a_pure_clos_network() {
    let (mesh, clos) = (mesh_of_clos(2, 0), network("[topology.clos]\nheight = 2"));
    assert_eq!(mesh.channels, clos.channels);
    assert!(mesh.routers.iter().all(|router| router.mesh_index.is_none()));
}

#[test]
fn the_fat_mesh_is_four_channels_wide() {
    let network = mesh_of_clos(3, 1);
    let cluster = |router: RouterId| network.routers[router.0 as usize].mesh_index.map(|index| index % 4);
    let mut between = [[0; 4]; 4];
    for channel in &network.channels {
        if let (ChannelEnd::Router(from), ChannelEnd::Router(to)) = (channel.from, channel.to)
            && let (Some(from), Some(to)) = (cluster(from), cluster(to))
        {
            between[from as usize][to as usize] += 1;
        }
    }
    assert_eq!(between, [[0, 4, 4, 0], [4, 0, 0, 4], [4, 0, 0, 4], [0, 4, 4, 0]]);
}

#[test]
fn every_lower_router_of_a_clos_network_reaches_every_router_above() {
    let network = network("[topology.clos]\nheight = 2");
    for lower in 0..4 {
        let above: Vec<ChannelEnd> = network
            .channels
            .iter()
            .filter(|channel| {
                channel.from == ChannelEnd::Router(RouterId(lower)) && matches!(channel.to, ChannelEnd::Router(_))
            })
            .map(|channel| channel.to)
            .collect();
        assert_eq!(above, (4..8).map(|upper| ChannelEnd::Router(RouterId(upper))).collect::<Vec<ChannelEnd>>());
    }
}

#[test]
fn levels_of_a_fat_tree_have_rates_of_their_own() {
    let network = network("[topology.fat_tree]\narity = 2\nlevels = 3\nrates = [\"20 MB/s\", \"40 MB/s\"]");
    let times: Vec<u64> = network.channels.iter().map(|channel| channel.flit_time.picoseconds()).collect();
    let count = |time: u64| times.iter().filter(|found| **found == time).count();
    assert_eq!((count(100_000), count(50_000), count(25_000)), (16, 16, 16));
}

/// 4-ary trees of levels, subtrees: nodes, routers, links between routers, channels down from a top router.
#[test]
fn a_fat_tree_can_have_fewer_subtrees() {
    let table = [
        ((3, 2), 32, 8 + 8 + 16, 32 + 32, 2),
        ((4, 2), 128, 3 * 32 + 64, 3 * 128, 2),
        ((2, 3), 12, 3 + 4, 12, 3),
        ((1, 3), 3, 1, 0, 3),
        ((3, 4), 64, 48, 128, 4),
    ];
    for ((levels, subtrees), nodes, routers, links, down) in table {
        let network = network(&format!("[topology.fat_tree]\narity = 4\nlevels = {levels}\nsubtrees = {subtrees}"));
        assert_eq!((network.injection.len(), network.routers.len()), (nodes, routers), "{levels}, {subtrees}");
        assert_eq!(network.channels.len(), 2 * (nodes + links), "{levels}, {subtrees}");
        assert_eq!(channels_at(&network, routers as u32 - 1), down, "{levels}, {subtrees}");
    }
}

/// A tree that narrows: levels, subtrees, parents; nodes, routers, links between routers, channels that one half of the
/// nodes share to the other half.
#[test]
fn a_fat_tree_can_narrow_towards_its_top() {
    let table = [
        ((3, 2, "[2, 2]"), 32, 8 + 4 + 4, 16 + 8, 4),
        ((4, 4, "[2, 2, 4]"), 256, 64 + 32 + 16 + 16, 128 + 64 + 64, 32),
        ((2, 4, "[1]"), 16, 4 + 1, 4, 2),
        ((2, 4, "[4]"), 16, 4 + 4, 16, 8),
    ];
    for ((levels, subtrees, parents), nodes, routers, links, bisection) in table {
        let text = format!(
            "[topology.fat_tree]\narity = 4\nlevels = {levels}\nsubtrees = {subtrees}\nparents = {parents}\n[channels]\n\
             rate = \"20 MB/s\"\n[routers]\nrouting_delay = \"100 ns\"\n[packet]\npayload = 128\nheader = 2\n"
        );
        let machine = Description::parse(&text, "tree.toml").unwrap().resolve().unwrap();
        let Interconnect::Flits(network) = &machine.interconnect else { unreachable!("a tree has routers") };
        assert_eq!((network.injection.len(), network.routers.len()), (nodes, routers), "{text}");
        assert_eq!(network.channels.len(), 2 * (nodes + links), "{text}");
        let facts = maquette_machines::facts(&machine).network.unwrap();
        assert_eq!((facts.diameter, facts.bisection.unwrap().channels), (2 * levels, bisection), "{text}");
    }
}

/// At full bisection half of the nodes can send to the other half at once.
#[test]
fn a_fat_tree_with_fewer_subtrees_has_its_full_bisection() {
    for (levels, subtrees, nodes) in [(3, 2, 32), (2, 2, 8), (4, 2, 128), (3, 4, 64)] {
        let text = format!(
            "[topology.fat_tree]\narity = 4\nlevels = {levels}\nsubtrees = {subtrees}\n[channels]\nrate = \"10 MB/s\"\n\
             [routers]\nrouting_delay = \"100 ns\"\n[packet]\npayload = 128\nheader = 2\n"
        );
        let machine = Description::parse(&text, "tree.toml").unwrap().resolve().unwrap();
        let facts = maquette_machines::facts(&machine).network.unwrap();
        let bisection = facts.bisection.unwrap();
        assert_eq!((facts.diameter, bisection.channels, bisection.exact), (2 * levels, nodes / 2, true));
    }
}

/// Nodes of a router, routers of a group, global links, groups: nodes, links within groups, links between two groups.
#[test]
fn groups_of_a_dragonfly_are_joined_alike() {
    let table = [
        ((4, 8, 4, None), 1056, 33 * 28, 1),
        ((2, 4, 2, None), 72, 9 * 6, 1),
        ((2, 4, 2, Some(5)), 40, 5 * 6, 2),
        ((1, 3, 2, Some(4)), 12, 4 * 3, 2),
        ((3, 4, 0, None), 12, 6, 0),
        ((1, 1, 3, None), 4, 0, 1),
    ];
    for ((nodes, routers, links, groups), all_nodes, local, between) in table {
        let groups = groups.map(|count| format!("groups = {count}\n")).unwrap_or_default();
        let network = network(&format!(
            "[routing]\nrule = \"up-down\"\n[topology.dragonfly]\nnodes = {nodes}\nrouters = {routers}\n\
             global_links = {links}\n{groups}"
        ));
        let case = format!("p = {nodes}, a = {routers}, h = {links}, {groups}");
        let count = network.routers.len() / routers;
        assert_eq!(network.injection.len(), all_nodes, "{case}");
        assert_eq!(network.channels.len(), 2 * (all_nodes + local + count * (count - 1) / 2 * between), "{case}");
        let mut joined = vec![0; count * count];
        for channel in &network.channels {
            if let (ChannelEnd::Router(from), ChannelEnd::Router(to)) = (channel.from, channel.to) {
                joined[from.0 as usize / routers * count + to.0 as usize / routers] += 1;
            }
        }
        for (index, found) in joined.into_iter().enumerate() {
            let own = index / count == index % count;
            assert_eq!(found, if own { 2 * local / count } else { between }, "{case}");
        }
        let most = nodes + routers - 1 + links;
        assert!((0..network.routers.len()).all(|router| channels_at(&network, router as u32) <= most), "{case}");
    }
}

#[test]
fn links_and_the_channels_of_nodes_can_differ() {
    let text = r#"
        [topology.graph]
        routers = [{ name = "a", nodes = 1 }, { name = "b", nodes = 1 }]
        links = [{ between = ["a", "b"], flit_time = "7 ns", buffers = 3, wire_latency = "2 ns" }]
        [channels.ejection]
        credit_latency = "9 ns"
        [channels.nodes]
        rate = "5 MB/s"
    "#;
    let network = network(text);
    let found: Vec<(u64, u64, u64, u32)> = network
        .channels
        .iter()
        .map(|channel| {
            let times = [channel.flit_time, channel.wire_latency, channel.credit_latency];
            let [flit, wire, credit] = times.map(|time| time.picoseconds());
            (flit, wire, credit, channel.buffer)
        })
        .collect();
    let (into, out, link) = ((200_000, 0, 0, 1), (200_000, 0, 9_000, 1), (7_000, 2_000, 0, 3));
    assert_eq!(found, [into, out, into, out, link, link]);
}

/// The nodes of a branch below the root, for trees and for networks that are none.
#[test]
fn the_branches_below_the_root_are_known() {
    for (topology, branch) in [
        ("[topology.fat_tree]\narity = 4\nlevels = 3\nsubtrees = 2", Some(16)),
        ("[topology.fat_tree]\narity = 4\nlevels = 4\nparents = [2, 2, 4]", Some(64)),
        ("[topology.clos]\narity = 4\nheight = 1", Some(1)),
        ("[topology.mesh_of_clos]\narity = 4\nheight = 3\nmesh_stages = 1", None),
        ("[topology.mesh]\nsides = [4, 4]", None),
    ] {
        assert_eq!(network(topology).branch(), branch, "{topology}");
    }
}

/// A group of a dragonfly, a pod of a tree, a module of a mesh of Clos networks; other topologies have none.
#[test]
fn the_groups_of_a_topology_are_known() {
    for (topology, group) in [
        ("[routing]\nrule = \"up-down\"\n[topology.dragonfly]\nnodes = 2\nrouters = 4\nglobal_links = 2", Some(8)),
        ("[topology.fat_tree]\narity = 4\nlevels = 3\nsubtrees = 2", Some(16)),
        ("[topology.fat_tree]\narity = 4\nlevels = 1", None),
        ("[topology.clos]\nheight = 3", Some(16)),
        ("[topology.mesh_of_clos]\nheight = 3\nmesh_stages = 1", Some(16)),
        ("[topology.mesh_of_clos]\nheight = 3\nmesh_stages = 2", Some(4)),
        ("[topology.torus]\nsides = [4, 4]", None),
        ("[topology.star]\nnodes = 8", None),
    ] {
        assert_eq!(network(topology).group, group, "{topology}");
    }
}

/// Every topology says which routers belong together: a drawing of however many routers has regions that a person can
/// take in, each with a name of its own, some routers, and a place of its own.
#[test]
fn the_regions_of_a_topology_are_few_and_have_all_routers() {
    for topology in [
        "[topology.mesh]\nsides = [8, 8]",
        "[topology.mesh]\nsides = [100, 37]",
        "[topology.torus]\nsides = [8, 8, 8]",
        "[topology.torus]\nsides = [3, 5, 7, 9]",
        "[topology.mesh_of_clos]\nheight = 3\nmesh_stages = 1",
        "[topology.mesh_of_clos]\nheight = 5\nmesh_stages = 4",
        "[topology.clos]\nheight = 3",
        "[topology.fat_tree]\narity = 2\nlevels = 11",
        "[topology.fat_tree]\narity = 16\nlevels = 3\nsubtrees = 8\nparents = [8, 4]",
        "[routing]\nrule = \"up-down\"\n[topology.dragonfly]\nnodes = 2\nrouters = 16\nglobal_links = 8",
        "[topology.star]\nnodes = 8",
        "[topology.graph]\nrouters = [{ name = \"a\", nodes = 1 }, { name = \"b\" }]\nlinks = [{ between = [\"a\", \"b\"] }]",
    ] {
        let network = network(topology);
        let Regions { list, of_router } = &network.regions;
        assert!(list.len() <= Regions::MOST as usize, "{topology}: {}", list.len());
        assert_eq!(of_router.len(), network.routers.len(), "{topology}");
        let used: BTreeSet<u32> = of_router.iter().copied().collect();
        assert_eq!(used, (0..list.len() as u32).collect(), "{topology}: each has routers");
        let names: BTreeSet<&str> = list.iter().map(|region| region.name.as_str()).collect();
        let places: BTreeSet<[u32; 2]> =
            list.iter().map(|region| [region.position.0.to_bits(), region.position.1.to_bits()]).collect();
        assert_eq!([names.len(), places.len()], [list.len(); 2], "{topology}");
    }
}
