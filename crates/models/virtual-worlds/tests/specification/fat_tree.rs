//! Fat trees with fewer subtrees, where each header draws its way up: 32 nodes, as in small machines of this kind.

use endpoint::World;
use machines::model::{ChannelEnd, FlitNetwork, Interconnect};
use maquette_virtual_worlds::flit::world::{EngineKind, NetworkWorld, Options};
use programs::benchmarks::{AllPairs, PartnerOrder};
use quantities::Bytes;

const TREE: &str = r#"
    [topology.fat_tree]
    arity = 4
    levels = 3
    subtrees = 2
    rates = ["10 MB/s", "5 MB/s"]
    [channels]
    rate = "20 MB/s"
    [routers]
    routing_delay = "500 ns"
    [routing]
    selection = "random"
    [packet]
    payload = "16 B"
    header = "4 B"
    flit = "4 B"
"#;

#[test]
fn packets_spread_over_all_ways_up_in_both_engines() {
    let machine = machines::Description::parse(TREE, "tree.toml").unwrap().resolve().unwrap();
    let Interconnect::Flits(network) = &machine.interconnect else { unreachable!("the tree has routers") };
    let all = AllPairs { bytes: Bytes(64), rounds: 1, order: PartnerOrder::Shift };
    let answers = [EngineKind::Fast, EngineKind::Reference]
        .map(|engine| NetworkWorld::new(&machine, Options { engine, ..Options::default() }).run(32, &all).unwrap().1);
    assert_eq!(answers[0].finish, answers[1].finish);
    assert_eq!(answers[0].channels, answers[1].channels);
    for answer in &answers {
        assert_eq!(answer.packets, 32 * 31 * 4);
        let unused = network.channels.iter().zip(&answer.channels).filter(|(_, used)| used.packets == 0).count();
        assert_eq!(unused, 0, "every way up and down carries something");
        assert_eq!(climbing(network, answer.channels.iter().map(|used| used.packets), 8..16), 32 * 16 * 4);
    }
}

/// Packets that went up from the routers of one level.
fn climbing(network: &FlitNetwork, packets: impl Iterator<Item = u64>, level: std::ops::Range<u32>) -> u64 {
    let above = |place: ChannelEnd| matches!(place, ChannelEnd::Router(router) if router.0 >= level.end);
    let within = |place: ChannelEnd| matches!(place, ChannelEnd::Router(router) if level.contains(&router.0));
    let channels = network.channels.iter().zip(packets);
    channels.filter(|(channel, _)| within(channel.from) && above(channel.to)).map(|(_, packets)| packets).sum()
}
