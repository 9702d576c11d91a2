//! Open-loop traffic: the engines agree, offered loads are accepted, and loads past saturation are reported.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use machines::facts::zero_load;
use machines::model::{FlitNetwork, Interconnect, NodeId};
use maquette_virtual_worlds::flit::network::fast::Fast;
use maquette_virtual_worlds::flit::network::reference::Reference;
use maquette_virtual_worlds::flit::traffic::{
    Effort, Load, Parameter, Pattern, Phase, Sign, TrafficOutcome, Verdict, Windows, check, run, search,
};
use quantities::Duration;

const FREE: Windows = Windows { warm_up: None, measure: None, budget: None, latency_limit: None };

const PATTERNS: [Pattern; 8] = [
    Pattern::Uniform,
    Pattern::Transpose,
    Pattern::BitComplement,
    Pattern::BitReverse,
    Pattern::Shuffle,
    Pattern::Tornado,
    Pattern::Neighbour,
    Pattern::HotSpot { node: NodeId(5), fraction: 0.1 },
];

fn network(machine: &str, settings: &[(&str, &str)]) -> Arc<FlitNetwork> {
    let settings: Vec<(String, String)> =
        settings.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
    match machines::load_with(machine, &settings).unwrap().interconnect {
        Interconnect::Flits(network) => network,
        Interconnect::LogGp(_) | Interconnect::Ethernet(_) => unreachable!(),
    }
}

fn load(pattern: Pattern, rate: f64, packet: u32) -> Load {
    Load { pattern, rate, packet, seed: 1 }
}

fn fast(network: &Arc<FlitNetwork>, load: &Load, windows: &Windows) -> TrafficOutcome {
    run::<Fast>(network, load, windows, &mut |_| true).unwrap()
}

/// On meshes, Clos networks that prefer idle links, networks whose nodes store packets; at low loads, near saturation
/// and past it.
#[test]
fn both_engines_find_the_same() {
    let windows = Windows { warm_up: Some(2_000), measure: Some(3_000), budget: None, latency_limit: None };
    for machine in ["booksim-mesh-8x8", "moc-2-1", "parsytec-cc-16", "parsytec-gcel-16"] {
        let network = network(machine, &[]);
        let packet = network.packet.flits(quantities::Bytes(8));
        for pattern in PATTERNS {
            for rate in [0.01, 0.15, 0.9] {
                let load = load(pattern, rate, packet);
                let by_flits = run::<Reference>(&network, &load, &windows, &mut |_| true).unwrap();
                assert_eq!(fast(&network, &load, &windows), by_flits, "{machine}, {load:?}");
            }
        }
    }
}

#[test]
fn at_low_load_packets_take_as_long_as_alone() {
    let network = network("booksim-mesh-8x8", &[]);
    let outcome = fast(&network, &load(Pattern::BitComplement, 0.0005, 16), &FREE);
    assert_eq!(outcome.verdict, Verdict::Stable);
    let packets = outcome.packets.unwrap();
    // The nearest opposite nodes are in the middle.
    let nearest = zero_load(&network, &network.route(NodeId(27), NodeId(36)), 16);
    let farthest = zero_load(&network, &network.route(NodeId(0), NodeId(63)), 16);
    assert_eq!((packets.latency.least, packets.network_latency.least), (nearest, nearest));
    assert!(packets.latency.mean > nearest.picoseconds() as f64);
    assert!(packets.latency.percentiles[0].1 <= farthest && packets.latency.most >= farthest);
    // Over x: 7, 5, 3 and 1 steps, and as many over y; plus the two channels of the nodes.
    assert!((packets.hops - 10.0).abs() < 0.3, "{}", packets.hops);
    assert!((outcome.offered / 0.0005 - 1.0).abs() < 0.05 && (outcome.accepted / outcome.offered - 1.0).abs() < 0.02);
}

#[test]
fn utilisation_is_the_load_of_each_channel() {
    let network = network("booksim-mesh-8x8", &[("buffers", "16")]);
    let windows = Windows { measure: Some(100_000), ..FREE };
    let outcome = fast(&network, &load(Pattern::Neighbour, 0.2, 4), &windows);
    assert_eq!(outcome.verdict, Verdict::Stable);
    assert_eq!(outcome.cycle, Duration::from_nanoseconds(1));
    // Every node sends to one other and receives from one: its own channels carry the load, and those to the east carry
    // one node's packets each.
    let own = network.injection.iter().chain(&network.ejection).map(|channel| outcome.utilisation[channel.0 as usize]);
    assert!(own.into_iter().all(|share| (share - 0.2).abs() < 0.02), "{:?}", outcome.utilisation);
    let east = network.route(NodeId(0), NodeId(1))[1].0 as usize;
    assert!((outcome.utilisation[east] - 0.2).abs() < 0.02);
}

#[test]
fn a_load_past_saturation_is_reported_early() {
    let network = network("booksim-mesh-8x8", &[]);
    let outcome = fast(&network, &load(Pattern::Uniform, 0.9, 16), &FREE);
    assert_eq!(outcome.verdict, Verdict::Saturated(Sign::Latency));
    assert!(outcome.cycles <= 3_000 && outcome.packets.is_none());
    let outcome = fast(&network, &load(Pattern::Uniform, 0.25, 16), &FREE);
    assert!(matches!(outcome.verdict, Verdict::Saturated(_)) && outcome.cycles <= 20_000, "{}", outcome.cycles);
}

/// A load that the network does not carry for long is not called stable because a short measurement does not show it:
/// at 0.182 flits per node and cycle 0.7% are not accepted, at 0.18 the mean latency reaches 500 cycles in 300,000.
#[test]
fn loads_just_past_saturation_are_not_stable() {
    let network = network("booksim-mesh-8x8", &[]);
    for (rate, budget) in [(0.18, 200_000), (0.184, 400_000), (0.19, 400_000)] {
        let windows = Windows { budget: Some(budget), ..FREE };
        let outcome = fast(&network, &load(Pattern::Uniform, rate, 16), &windows);
        assert!(matches!(outcome.verdict, Verdict::Saturated(_) | Verdict::Undecided), "{rate}: {:?}", outcome.verdict);
        assert!(outcome.cycles <= budget || outcome.verdict == Verdict::Undecided, "{rate}: {} cycles", outcome.cycles);
    }
}

/// Below saturation there is a verdict, and the closer the load is to saturation, the later.
#[test]
fn measurements_go_on_until_they_decide() {
    let network = network("booksim-mesh-8x8", &[]);
    let outcomes = [0.1, 0.174].map(|rate| fast(&network, &load(Pattern::Uniform, rate, 16), &FREE));
    for outcome in &outcomes {
        assert_eq!(outcome.verdict, Verdict::Stable, "{:?}", outcome.evidence);
        let evidence = outcome.evidence.unwrap();
        assert!(evidence.deficit.value.abs() + evidence.deficit.margin < 0.01, "{evidence:?}");
    }
    assert!(outcomes[1].measured > 2 * outcomes[0].measured);
}

#[test]
fn a_load_that_the_budget_does_not_decide_is_undecided() {
    let network = network("booksim-mesh-8x8", &[]);
    let windows = Windows { budget: Some(60_000), ..FREE };
    let outcome = fast(&network, &load(Pattern::Uniform, 0.178, 16), &windows);
    assert_eq!(outcome.verdict, Verdict::Undecided);
    assert!(outcome.packets.is_some() && outcome.evidence.is_some());
    let short = Windows { warm_up: Some(1_000), measure: Some(20), ..FREE };
    assert_eq!(fast(&network, &load(Pattern::Uniform, 0.1, 16), &short).verdict, Verdict::Undecided);
}

/// However long a run is asked for, time does not overflow: the run ends when it is told to.
#[test]
fn windows_without_end_can_be_asked_for() {
    let network = network("moc-2-1", &[]);
    let windows = Windows { warm_up: Some(u64::MAX), measure: Some(u64::MAX), ..FREE };
    let mut watch = |progress: maquette_virtual_worlds::flit::traffic::Progress| progress.cycles < 5_000;
    let outcome = run::<Fast>(&network, &load(Pattern::Uniform, 0.05, 20), &windows, &mut watch).unwrap();
    assert_eq!(outcome.verdict, Verdict::Interrupted);
}

#[test]
fn the_same_seed_gives_the_same_and_another_another() {
    let network = network("moc-2-1", &[]);
    let of_seed = |seed| fast(&network, &Load { seed, ..load(Pattern::Uniform, 0.05, 20) }, &FREE);
    assert_eq!(of_seed(3), of_seed(3));
    assert!(of_seed(3) != of_seed(4));
}

#[test]
fn a_run_reports_its_progress_and_can_be_ended() {
    let network = network("booksim-mesh-8x8", &[]);
    let windows = Windows { warm_up: Some(2_500), measure: Some(2_000), budget: None, latency_limit: None };
    let mut reported = Vec::new();
    let mut watch = |progress: maquette_virtual_worlds::flit::traffic::Progress| {
        reported.push((progress.phase, progress.cycles));
        progress.cycles < 4_000
    };
    let outcome = run::<Fast>(&network, &load(Pattern::Uniform, 0.1, 1), &windows, &mut watch).unwrap();
    assert_eq!(outcome.verdict, Verdict::Interrupted);
    // A warm-up of 2,500 cycles has three periods of at most 1,000, a measurement of 2,000 has 32 batches.
    let expected =
        [(Phase::WarmUp, 834), (Phase::WarmUp, 1_667), (Phase::Measurement, 2_500), (Phase::Measurement, 2_562)];
    assert_eq!(reported[..4], expected);
    assert_eq!(reported.last(), Some(&(Phase::Measurement, 4_000)));
}

#[test]
fn loads_that_do_not_fit_are_refused() {
    let mesh = network("booksim-mesh-8x8", &[]);
    let refused = |network: &Arc<FlitNetwork>, load: &Load| check(network, load).unwrap_err();
    for rate in [0.0, -0.1, 1.1, f64::NAN, f64::INFINITY] {
        assert_eq!(refused(&mesh, &load(Pattern::Uniform, rate, 16)).parameter, Parameter::Rate);
    }
    assert_eq!(refused(&mesh, &load(Pattern::Uniform, 0.1, 0)).parameter, Parameter::Packet);
    let long = refused(&mesh, &load(Pattern::Uniform, 0.1, 5_000)).to_string();
    assert_eq!(long, "packet: found 5000 flits; allowed is 1 to 4097 flits, the packets of the machine");
}

#[test]
fn the_search_finds_saturation_whatever_the_number_of_threads() {
    let network = network("booksim-mesh-8x8", &[]);
    let runs = AtomicUsize::new(0);
    let report = |_| {
        runs.fetch_add(1, Ordering::Relaxed);
    };
    // A load close to saturation would take most of the time: it is left undecided.
    let windows = Windows { budget: Some(200_000), ..FREE };
    let found = |threads| {
        let effort = Effort { precision: 0.05, threads };
        search::<Fast>(&network, &load(Pattern::Uniform, 0.5, 16), &windows, &effort, &report, &AtomicBool::new(false))
            .unwrap()
    };
    let first = found(1);
    assert_eq!(runs.load(Ordering::Relaxed), first.points.len());
    assert_eq!(first, found(3));
    let (stable, saturated) = (first.span.stable.unwrap(), first.span.saturated.unwrap());
    assert!(0.14 < stable && stable <= 0.18 && (0.178..0.2).contains(&saturated), "{:?}", first.span);
    let steps: Vec<f64> = [stable].into_iter().chain(first.undecided()).chain([saturated]).collect();
    let close = |pair: &[f64]| pair[1] - pair[0] <= 0.05 * pair[1];
    assert!(steps.windows(2).all(close), "{steps:?}");
    assert!(first.points.is_sorted_by(|one, other| one.rate < other.rate));
    let accepted = first.overload.unwrap().outcome.accepted;
    assert!((accepted / 0.1893 - 1.0).abs() < 0.03, "{accepted}");
}

#[test]
fn a_search_that_is_ended_keeps_its_results() {
    let network = network("booksim-mesh-8x8", &[]);
    let stop = AtomicBool::new(false);
    let report = |_| stop.store(true, Ordering::Relaxed);
    let effort = Effort { precision: 0.01, threads: 1 };
    let load = load(Pattern::Uniform, 1.0, 16);
    let found = search::<Fast>(&network, &load, &FREE, &effort, &report, &stop).unwrap();
    assert!(found.interrupted && found.points.len() == 1 && found.overload.is_none());
}

/// A star's hub delays packets only at its outputs: neighbours get all that their channels carry.
#[test]
fn a_network_that_carries_everything_has_no_saturation() {
    let text = "[topology.star]\nnodes = 4\n[channels]\nflit_time = \"1 ns\"\nbuffers = 8\n[routers]\nrouting_delay = \"1 ps\"\n\
                [packet]\npayload = 64\nheader = 1\nflit = 1\n";
    let machine = machines::Description::parse(text, "test.toml").unwrap().resolve().unwrap();
    let Interconnect::Flits(network) = &machine.interconnect else { unreachable!() };
    let effort = Effort { precision: 0.01, threads: 2 };
    let load = load(Pattern::Neighbour, 1.0, 1);
    let found = search::<Fast>(network, &load, &FREE, &effort, &|_| (), &AtomicBool::new(false)).unwrap();
    assert_eq!((found.span.stable, found.span.saturated, found.overload), (Some(1.0), None, None));
}
