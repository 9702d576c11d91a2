//! The two engines follow the same rules: on any network, with any buffers, rates, latencies and packets, every packet
//! has the same times in both, to the picosecond, and every count is the same.

use std::sync::Arc;

use crate::random_networks::{Case, cases};
use machines::model::{FlitNetwork, Interconnect, NodeId};
use maquette_virtual_worlds::flit::network::Injection;
use maquette_virtual_worlds::flit::network::fast::Fast;
use maquette_virtual_worlds::flit::network::reference::Reference;
use maquette_virtual_worlds::flit::network::replay::{ReplayOutcome, carry};
use proptest::prelude::*;
use quantities::{Bytes, Duration, Time};

fn sorted_log(outcome: ReplayOutcome) -> Vec<maquette_virtual_worlds::answer::PacketRecord> {
    let mut log = outcome.recorder.log.unwrap_or_default();
    log.sort_by_key(|packet| (packet.delivered, packet.destination));
    log
}

fn agree(case: &Case) -> Result<(), TestCaseError> {
    let reference = carry::<Reference>(&case.network, case.seed, true, &case.orders);
    let fast = carry::<Fast>(&case.network, case.seed, true, &case.orders);
    prop_assert_eq!(&fast.stuck, &reference.stuck);
    let all_arrived = reference.stuck.is_empty();
    prop_assert!(all_arrived || case.may_deadlock, "stuck: {:?}", reference.stuck);
    if all_arrived {
        prop_assert_eq!(&fast.recorder.statistics, &reference.recorder.statistics);
        prop_assert_eq!(reference.recorder.statistics.packets, case.orders.len() as u64);
    }
    prop_assert_eq!(sorted_log(fast), sorted_log(reference));
    Ok(())
}

/// The number of cases in a normal run; `MAQUETTE_CASES` sets another number.
fn how_many() -> u32 {
    #[allow(clippy::disallowed_methods, reason = "the number of cases is the tester's choice, no result depends on it")]
    std::env::var("MAQUETTE_CASES").ok().and_then(|number| number.parse().ok()).unwrap_or(10_000)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: how_many(), failure_persistence: None, max_shrink_iters: 20_000, ..ProptestConfig::default() })]

    #[test]
    fn every_packet_has_the_same_times_in_both_engines(case in cases()) {
        agree(&case)?;
    }
}

/// Three nodes of a star send to a fourth at one instant: port 0, that of node 0, goes first.
#[test]
fn round_robin_begins_at_port_0() {
    let text = "[topology.star]\nnodes = 4\n[channels]\nflit_time = \"1 ns\"\nbuffers = 64\n[routers]\nrouting_delay = \"1 ns\"\n\
                arbitration = \"round-robin\"\n[packet]\npayload = 8\nheader = 1\nflit = 1\n";
    let machine = machines::Description::parse(text, "test.toml").unwrap().resolve().unwrap();
    let Interconnect::Flits(network) = &machine.interconnect else { unreachable!("it has a topology") };
    let order = |source: u32| Injection {
        source: NodeId(source),
        destination: NodeId(3),
        bytes: Bytes(8),
        flits: 9,
        token: u64::from(source),
    };
    let orders: Vec<(Time, Injection)> = [2, 1, 0].map(|source| (Time::ZERO, order(source))).to_vec();
    for outcome in [carry::<Fast>(network, 1, true, &orders), carry::<Reference>(network, 1, true, &orders)] {
        let sources: Vec<u32> = sorted_log(outcome).iter().map(|packet| packet.source.0).collect();
        assert_eq!(sources, [0, 1, 2]);
    }
}

/// Node 3 keeps node 2 busy, so that packets that node 0 sends there remain in the buffers of their path, whose first
/// channel is free again. Then node 0 sends to node 3: where that channel counts as idle, the packet takes it and
/// waits; where it must be empty, the packet goes the other way.
#[test]
fn a_free_channel_with_a_full_buffer_is_idle_only_where_it_need_not_be_empty() {
    let destinations = |idle_when: &str| {
        let text = format!(
            "[topology.fat_tree]\narity = 2\nlevels = 2\n[channels]\nflit_time = \"1 ns\"\nbuffers = 64\n\
             [routers]\nrouting_delay = \"1 ns\"\n[routing]\nselection = \"idle-fixed\"\nidle_when = \"{idle_when}\"\n\
             [packet]\npayload = 999\nheader = 1\nflit = 1\n"
        );
        let machine = machines::Description::parse(&text, "test.toml").unwrap().resolve().unwrap();
        let Interconnect::Flits(network) = &machine.interconnect else { unreachable!("it has a topology") };
        let order = |at: u64, source: u32, destination: u32, flits: u32| {
            let bytes = Bytes(u64::from(flits) - 1);
            let (source, destination, token) = (NodeId(source), NodeId(destination), at);
            (Time::from_picoseconds(at * 1_000), Injection { source, destination, bytes, flits, token })
        };
        let orders = [order(0, 3, 2, 1_000), order(5, 0, 2, 100), order(300, 0, 3, 9)];
        let of = |outcome| sorted_log(outcome).iter().map(|packet| packet.destination.0).collect::<Vec<u32>>();
        let found = of(carry::<Reference>(network, 1, true, &orders));
        assert_eq!(of(carry::<Fast>(network, 1, true, &orders)), found);
        found
    };
    assert_eq!(destinations("free"), [2, 2, 3]);
    assert_eq!(destinations("empty"), [3, 2, 2]);
}

/// A packet of node 6 that may go up to either of two routers finds neither idle: at one an earlier packet is still in
/// the buffer, and at the other a packet leaves the buffer at this very instant, which makes the fast engine look at
/// that channel again. It gets the channel of the lower number.
#[test]
fn a_header_that_waits_for_any_channel_gets_the_first_in_both_engines() {
    let text = "[topology.fat_tree]\narity = 3\nlevels = 2\nparents = [2]\n\
                [channels]\nflit_time = \"3 ps\"\nbuffers = 40\nvirtual_channels = 2\ncredit_latency = \"1 ps\"\n\
                [routers]\nrouting_delay = \"1 ps\"\narbitration = \"round-robin\"\n\
                [routing]\nselection = \"idle-fixed\"\nidle_when = \"empty\"\nwaits_for = \"any\"\n\
                [switching]\nmode = \"store-and-forward\"\n[packet]\npayload = 39\nheader = 1\nflit = 1\n";
    let machine = machines::Description::parse(text, "test.toml").unwrap().resolve().unwrap();
    let Interconnect::Flits(network) = &machine.interconnect else { unreachable!("it has a topology") };
    let mut network = FlitNetwork::clone(network);
    for channel in network.channels.iter_mut().filter(|channel| channel.virtual_channels == 1) {
        channel.credit_latency = Duration::ZERO;
    }
    network.routers[4].routing_delay = Duration::from_picoseconds(6);
    let network = Arc::new(network);
    let order = |source: u32, destination: u32, flits: u32, token: u64| {
        let (source, destination, bytes) = (NodeId(source), NodeId(destination), Bytes(u64::from(flits) - 1));
        (Time::ZERO, Injection { source, destination, bytes, flits, token })
    };
    let orders = [order(6, 4, 25, 1), order(6, 2, 5, 2), order(6, 2, 21, 3)];
    let upward = |outcome| {
        let hops = sorted_log(outcome).into_iter().map(|packet| packet.hops[1].channel.0);
        hops.collect::<Vec<u32>>()
    };
    let reference = upward(carry::<Reference>(&network, 1, true, &orders));
    assert_eq!(reference, [28, 26, 26]);
    assert_eq!(upward(carry::<Fast>(&network, 1, true, &orders)), reference);
}
