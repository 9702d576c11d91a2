//! The presets in both engines, compared with what is published of the present-day machines that they stand for.

use std::sync::Arc;

use endpoint::World;
use machines::model::{FlitNetwork, Interconnect, NodeId};
use maquette_virtual_worlds::flit::network::Injection;
use maquette_virtual_worlds::flit::network::fast::Fast;
use maquette_virtual_worlds::flit::network::reference::Reference;
use maquette_virtual_worlds::flit::network::replay::carry;
use maquette_virtual_worlds::flit::world::{NetworkWorld, Options};
use programs::benchmarks::PingPong;
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use quantities::{Bytes, Rank, Time};

type Settings = &'static [(&'static str, &'static str)];

const AS_IT_IS: Settings = &[];

fn load(name: &str, settings: Settings) -> machines::model::Machine {
    let settings: Vec<_> = settings.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
    machines::load_with(name, &settings).unwrap()
}

/// The network of every preset that has one, and the dragonfly's with detours.
fn networks() -> Vec<(String, Arc<FlitNetwork>)> {
    let presets = machines::presets().into_iter().map(|preset| (preset.name.to_string(), load(preset.name, AS_IT_IS)));
    let detours = load("slingshot-1024", &[("rule", "valiant"), ("virtual_channels", "3")]);
    let network = |(name, machine): (String, machines::model::Machine)| match machine.interconnect {
        Interconnect::Flits(network) => Some((name, network)),
        Interconnect::LogGp(_) | Interconnect::Ethernet(_) => None,
    };
    presets.chain([("slingshot-1024 by Valiant's rule".to_string(), detours)]).filter_map(network).collect()
}

/// A packet: when, in units of the time of a full packet over a channel; source, destination, message bytes.
type Sending = (u64, u32, u32, u64);

/// Up to eighty packets, among few nodes or all.
fn traffic() -> impl Strategy<Value = (u32, Vec<Sending>)> {
    let among = prop_oneof![Just(3u32), Just(24), Just(u32::MAX)];
    (among, 0u64..20).prop_flat_map(|(among, span)| {
        let sending = (0..=span, any::<u32>(), any::<u32>(), prop_oneof![Just(u64::MAX), any::<u64>()]);
        (Just(among), prop::collection::vec(sending, 1..80))
    })
}

fn orders(network: &Arc<FlitNetwork>, among: u32, sendings: &[Sending]) -> Vec<(Time, Injection)> {
    let nodes = network.injection.len() as u32;
    // Few nodes are spread over the machine, so that their packets meet within it.
    let apart = (nodes / among.min(nodes)).max(1);
    let node = |number: u32| NodeId(number % among.min(nodes) * apart);
    let payload = network.packet.payload;
    let whole = network.channels[network.injection[0].0 as usize].flit_time * u64::from(network.packet.flits(payload));
    let order = |(token, &(time, source, destination, bytes)): (usize, &Sending)| {
        let bytes = Bytes(if bytes == u64::MAX { payload.0 } else { bytes % (payload.0 + 1) });
        let flits = network.packet.flits(bytes);
        let (source, destination) = (node(source), node(destination));
        (Time::ZERO + whole * time, Injection { source, destination, bytes, flits, token: token as u64 })
    };
    let mut orders: Vec<(Time, Injection)> =
        sendings.iter().enumerate().map(order).filter(|(_, order)| order.source != order.destination).collect();
    orders.sort_by_key(|&(time, _)| time);
    orders
}

#[test]
fn on_every_preset_both_engines_carry_random_traffic_alike() {
    for (name, network) in networks() {
        let mut runner = TestRunner::new(ProptestConfig { cases: 12, failure_persistence: None, ..Default::default() });
        let agree = |(among, sendings): (u32, Vec<Sending>)| {
            let orders = orders(&network, among, &sendings);
            let fast = carry::<Fast>(&network, 1, true, &orders);
            let reference = carry::<Reference>(&network, 1, true, &orders);
            prop_assert!(fast.stuck.is_empty() && reference.stuck.is_empty());
            prop_assert_eq!(fast.end, reference.end);
            prop_assert_eq!(&fast.recorder.statistics, &reference.recorder.statistics);
            let [fast, reference] = [fast, reference].map(|outcome| {
                let mut log = outcome.recorder.log.unwrap_or_default();
                log.sort_by_key(|packet| (packet.delivered, packet.destination));
                log
            });
            prop_assert_eq!(fast, reference);
            Ok(())
        };
        runner.run(&traffic(), agree).unwrap_or_else(|error| panic!("{name}: {error}"));
    }
}

/// Half of a round trip between two nodes. [s]
fn one_way(machine: &str, settings: Settings, (first, second): (u32, u32), bytes: u64) -> f64 {
    let machine = load(machine, settings);
    let program = PingPong { first: Rank(first), second: Rank(second), bytes: Bytes(bytes), rounds: 1 };
    let world = NetworkWorld::new(&machine, Options::default());
    let (_, answer) = world.run(machine.nodes, &program).unwrap();
    answer.makespan().seconds() / 2.0
}

/// MPI's processor costs are left out: a Put uses only the interfaces.
const PUT: Settings = &[("node.processor_send", "0 ns"), ("node.processor_receive", "0 ns")];

/// The presets say where each figure was published.
#[test]
fn short_messages_take_about_the_published_time() {
    // Preset, its settings, nodes, bytes, microseconds, tolerance.
    let table = [
        // RDMA of 1 byte on an Azure HBv3, by Microsoft; in this test from one leaf switch to another.
        ("infiniband-128", AS_IT_IS, (0, 127), 1, 1.2, 0.10),
        // The latency that LUMI's operators expect of MPI; in this test between two switches of a group.
        ("slingshot-1024", AS_IT_IS, (0, 16), 8, 1.6, 0.10),
        // A Put of 8 bytes to a neighbour (Ajima et al.).
        ("torus-512", PUT, (0, 1), 8, 0.49, 0.03),
        // The kernel's TCP over 10 Gbit/s Ethernet, as measured by a user.
        ("ethernet-128", AS_IT_IS, (0, 1), 1500, 17.8, 0.05),
    ];
    for (machine, settings, nodes, bytes, published, tolerance) in table {
        let found = one_way(machine, settings, nodes, bytes) * 1e6;
        assert!((found / published - 1.0).abs() <= tolerance, "{machine}: {found:.3} us, not {published} us");
    }
}

#[test]
fn long_messages_reach_about_the_published_rate() {
    // Preset, nodes, Gbit/s, tolerance.
    let table = [
        // One way on an Azure HBv3, by Microsoft.
        ("infiniband-128", (0, 127), 192.0, 0.03),
        // The rate of a port.
        ("slingshot-1024", (0, 1023), 200.0, 0.05),
        // 93 % of a link of 6.8 GB/s (Ajima et al.).
        ("torus-512", (0, 511), 0.93 * 6.8 * 8.0, 0.01),
        // A port of 25 Gbit/s, where TCP carries 1,460 bytes in the 1,538 that a frame takes.
        ("ethernet-128", (0, 127), 25.0 * 1460.0 / 1538.0, 0.01),
    ];
    const BYTES: u64 = 16 << 20;
    for (machine, nodes, published, tolerance) in table {
        let found = BYTES as f64 * 8e-9 / one_way(machine, AS_IT_IS, nodes, BYTES);
        assert!((found / published - 1.0).abs() <= tolerance, "{machine}: {found:.1} Gbit/s, not {published:.1}");
    }
}
