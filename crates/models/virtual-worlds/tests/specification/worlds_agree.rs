//! A program on a machine has the same times with either engine, down to the packet log: with every way to choose a
//! layer, to switch and to send, and with node costs of zero, where many events share an instant.

use endpoint::{Program, World};
use machines::model::Machine;
use maquette_virtual_worlds::answer::Answer;
use maquette_virtual_worlds::flit::world::{EngineKind, NetworkWorld, Options};
use programs::benchmarks::{AllPairs, EqualDist, PartnerOrder, UnequalDist};
use proptest::prelude::*;
use quantities::Bytes;

#[derive(Clone, Debug)]
struct Case {
    machine: &'static str,
    settings: Vec<(&'static str, String)>,
    program: u8,
    bytes: u64,
    ranks: u32,
    seed: u64,
}

const COSTS: [&str; 7] = [
    "node.processor_send",
    "node.processor_receive",
    "node.message_send",
    "node.message_receive",
    "node.packet_send",
    "node.packet_receive",
    "node.system_message",
];

fn settings() -> impl Strategy<Value = Vec<(&'static str, String)>> {
    let chosen =
        prop_oneof![Just("fixed"), Just("random"), Just("round-robin"), Just("idle-fixed"), Just("idle-random")];
    let adaptive = prop_oneof![Just("round-robin"), Just("idle-fixed"), Just("idle-random")];
    let layer = prop_oneof![
        1 => chosen.prop_map(|layer| (layer, "chosen", "free")),
        1 => adaptive.clone().prop_map(|layer| (layer, "any", "free")),
        1 => (adaptive, prop_oneof![Just("chosen"), Just("any")]).prop_map(|(layer, waits)| (layer, waits, "empty")),
    ];
    let buffers = prop_oneof![Just(1u32), 2u32..9, Just(64)];
    let send = prop_oneof![Just("synchronous"), Just("blocking"), Just("non-blocking")];
    let costs = prop_oneof![Just(None), (0u64..200).prop_map(Some)];
    (layer, buffers, send, costs, any::<bool>()).prop_map(|(layer, buffers, send, costs, no_credit_latency)| {
        let mut settings = vec![
            ("layer", layer.0.to_owned()),
            ("waits_for", layer.1.to_owned()),
            ("idle_when", layer.2.to_owned()),
            ("buffers", buffers.to_string()),
            ("send", send.to_owned()),
        ];
        if send == "synchronous" {
            settings.push(("node.acknowledged", "on-arrival".to_owned()));
        }
        if let Some(cost) = costs {
            settings.extend(COSTS.map(|name| (name, format!("{} ns", cost * 100))));
        }
        if no_credit_latency {
            settings.push(("credit_latency", "0 ns".to_owned()));
        }
        settings
    })
}

fn cases() -> impl Strategy<Value = Case> {
    let wormhole = (prop_oneof![Just("moc-2-1"), Just("moc-3-1"), Just("moc-3-2")], settings());
    let others = prop_oneof![
        Just("parsytec-gcel-16"),
        Just("parsytec-cc-16"),
        Just("fat-tree-1024"),
        Just("infiniband-128"),
        Just("slingshot-1024"),
        Just("torus-512"),
        Just("ethernet-128"),
    ]
    .prop_map(|machine| (machine, Vec::new()));
    let machines = prop_oneof![4 => wormhole, 1 => others];
    (machines, 0u8..6, 0u64..700, 2u32..9, any::<u64>()).prop_map(
        |((machine, settings), program, bytes, pairs, seed)| {
            let program =
                if machine == "parsytec-gcel-16" || machine == "parsytec-cc-16" { 4 + program % 2 } else { program };
            Case { machine, settings, program, bytes, ranks: 2 * pairs, seed }
        },
    )
}

fn resolve(case: &Case) -> Machine {
    let settings: Vec<(String, String)> =
        case.settings.iter().map(|(name, value)| (name.to_string(), value.clone())).collect();
    machines::load_with(case.machine, &settings).unwrap_or_else(|error| panic!("{error}"))
}

fn answer(case: &Case, engine: EngineKind) -> Answer {
    let machine = resolve(case);
    let options = Options { engine, seed: case.seed, packet_log: true, ..Options::default() };
    let world = NetworkWorld::new(&machine, options);
    let bytes = Bytes(case.bytes);
    let all_to_all = |order| AllPairs { bytes, rounds: 1, order };
    match case.program {
        0 => run(&world, case.ranks, &all_to_all(PartnerOrder::Shift)),
        1 => run(&world, case.ranks, &all_to_all(PartnerOrder::Shuffled { seed: case.seed })),
        2 => run(&world, case.ranks, &all_to_all(PartnerOrder::Linear)),
        3 => run(&world, case.ranks, &all_to_all(PartnerOrder::InTurn)),
        4 => run(&world, case.ranks, &EqualDist { bytes, messages: 96 }),
        _ => run(&world, case.ranks, &UnequalDist { bytes, messages: 96 }),
    }
}

fn run<P: Program<Output = ()>>(world: &NetworkWorld<'_>, ranks: u32, program: &P) -> Answer {
    let (results, answer) = world.run(ranks, program).unwrap_or_else(|error| panic!("{error}"));
    assert!(results.iter().all(Result::is_ok));
    answer
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_program_has_the_same_times_with_both_engines(case in cases()) {
        let fast = answer(&case, EngineKind::Fast);
        let reference = answer(&case, EngineKind::Reference);
        prop_assert_eq!(&fast.finish, &reference.finish);
        prop_assert_eq!(&fast.packet_log, &reference.packet_log);
        prop_assert_eq!(&fast.channels, &reference.channels);
        prop_assert_eq!(&fast.routers, &reference.routers);
        prop_assert_eq!(&fast.ranks, &reference.ranks);
        prop_assert_eq!((fast.messages, fast.packets, fast.flit_hops), (reference.messages, reference.packets, reference.flit_hops));
    }
}
