//! The critical path of runs whose longest chain is known by hand, and properties of the path of any run: its steps
//! follow each other without a gap from beginning to end, and their parts sum to the makespan to the picosecond.

use std::future::Future;

use endpoint::{Endpoint, Message, Needs, Program, Result, World, join};
use machines::model::Machine;
use maquette_virtual_worlds::Simulated;
use maquette_virtual_worlds::critical_path::{Cause, CriticalPath, Parts, Step, Stretch};
use maquette_virtual_worlds::flit::world::Options;
use programs::benchmarks::{AllPairs, EqualDist, PartnerOrder, PingPong, UnequalDist};
use proptest::prelude::*;
use quantities::{Bytes, Duration, Rank, Time};

const OPTIONS: Options = Options {
    engine: maquette_virtual_worlds::flit::world::EngineKind::Fast,
    seed: 1,
    packet_log: false,
    timeline: true,
    stop: maquette_virtual_worlds::stop::Stop::NEVER,
};

fn nanoseconds(count: u64) -> Duration {
    Duration::from_nanoseconds(count)
}

/// o = 7 ns, L = 100 ns, g = 5 ns, G = 1 ns a byte, except where `more` changes them.
fn contention_free(more: &[(&str, &str)]) -> Machine {
    let settings = [("o", "7 ns"), ("L", "100 ns"), ("g", "5 ns"), ("G", "1 ns")];
    machine("loggp", &[&settings, more].concat())
}

fn machine(name: &str, settings: &[(&str, &str)]) -> Machine {
    let settings: Vec<(String, String)> =
        settings.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
    machines::load_with(name, &settings).unwrap_or_else(|error| panic!("{error}"))
}

/// The critical path of a run, after checking that it has no gap and that its parts sum to the makespan.
fn path<P: Program>(machine: &Machine, ranks: u32, program: &P) -> CriticalPath {
    let (results, answer) =
        Simulated::new(machine, OPTIONS).run(ranks, program).unwrap_or_else(|error| panic!("{error}"));
    assert!(results.iter().all(Result::is_ok));
    let path = CriticalPath::of(machine, OPTIONS, &answer).unwrap().expect("a timeline was recorded");
    let mut time = Time::ZERO;
    for step in &path.steps {
        assert_eq!((step.start, step.parts.sum()), (time, step.length()), "{step:?}");
        time = step.end;
    }
    assert_eq!((time, path.parts().sum()), (answer.makespan(), answer.makespan().since(Time::ZERO)));
    path
}

/// The steps in a few words: `0 compute 50`.
fn in_words(path: &CriticalPath) -> Vec<String> {
    let word = |step: &Step| {
        let length = step.length().picoseconds() as f64 / 1e3;
        let ends = match step.cause {
            Cause::Message { from, to, .. } => format!("{from}-{to}"),
            Cause::Computing | Cause::Waiting => step.rank.to_string(),
        };
        format!("{ends} {} {length}", step.cause.name())
    };
    path.steps.iter().map(word).collect()
}

/// A program that is the same closure on every rank.
struct Ranks<F>(F);

trait Runs {
    fn run<E: Endpoint>(&self, endpoint: &E) -> impl Future<Output = Result<()>>;
}

impl<R: Runs> Program for Ranks<R> {
    type Output = ();
    const NEEDS: Needs = Needs::OVERLAP.and(Needs::MULTICAST);

    async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<()> {
        self.0.run(endpoint).await
    }
}

/// Rank 0 computes and sends `bytes` to rank 1, which computes for some time before it asks for them, and computes
/// afterwards.
struct Hands {
    first: u64,
    bytes: u64,
    meanwhile: u64,
    then: u64,
}

impl Runs for Hands {
    async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<()> {
        if endpoint.rank() == Rank(0) {
            endpoint.compute(nanoseconds(self.first)).await;
            return endpoint.send(Rank(1), Message::of_size(Bytes(self.bytes))).await;
        }
        endpoint.compute(nanoseconds(self.meanwhile)).await;
        endpoint.receive(Rank(0)).await?;
        endpoint.compute(nanoseconds(self.then)).await;
        Ok(())
    }
}

#[test]
fn a_late_message_puts_its_sender_on_the_path() {
    let path = path(&contention_free(&[]), 2, &Ranks(Hands { first: 50, bytes: 11, meanwhile: 60, then: 20 }));
    assert_eq!(in_words(&path), ["0 compute 50", "0-1 message 124", "1 compute 20"]);
    // An empty message takes o + L + o, and ten bytes after the first 10 G.
    let message =
        Parts { overhead: nanoseconds(14), latency: nanoseconds(100), bandwidth: nanoseconds(10), ..Parts::default() };
    assert_eq!(path.steps[1].parts, message);
    assert_eq!(path.parts(), Parts { computing: nanoseconds(70), ..message });
}

#[test]
fn a_message_that_was_there_leaves_the_path_on_its_receiver() {
    let path = path(&contention_free(&[]), 2, &Ranks(Hands { first: 50, bytes: 11, meanwhile: 300, then: 20 }));
    assert_eq!(in_words(&path), ["1 compute 300", "0-1 receive 17", "1 compute 20"]);
    let receive = Parts { overhead: nanoseconds(7), bandwidth: nanoseconds(10), ..Parts::default() };
    assert_eq!(path.steps[1].parts, receive);
}

#[test]
fn a_sender_that_waits_for_its_receiver_puts_that_on_the_path() {
    /// Rank 0 sends, and then computes longer than rank 1, which asks late.
    struct Late;
    impl Runs for Late {
        async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<()> {
            if endpoint.rank() == Rank(0) {
                endpoint.send(Rank(1), Message::of_size(Bytes(1))).await?;
                endpoint.compute(nanoseconds(1000)).await;
                return Ok(());
            }
            endpoint.compute(nanoseconds(400)).await;
            endpoint.receive(Rank(0)).await.map(drop)
        }
    }
    let waiting = path(&contention_free(&[("S", "1 B")]), 2, &Ranks(Late));
    assert_eq!(in_words(&waiting), ["1 compute 400", "0 compute 1000"]);
    let going_on = path(&contention_free(&[]), 2, &Ranks(Late));
    assert_eq!(in_words(&going_on), ["0-1 send 7", "0 compute 1000"]);
    // On a network, the sender learns this from an acknowledgement.
    let cm5 = machine("cm5-32", &[]);
    let released = path(&cm5, 2, &Ranks(Hands { first: 0, bytes: 16, meanwhile: 1_000_000, then: 0 }));
    assert!(matches!(
        released.steps[..],
        [
            Step { cause: Cause::Computing, rank: Rank(1), .. },
            Step { cause: Cause::Message { stretch: Stretch::Releasing | Stretch::Receiving, .. }, .. }
        ]
    ));
    assert!(released.parts().contention.is_zero(), "{released:?}");
}

#[test]
fn a_message_hidden_behind_computing_leaves_the_computing_on_the_path() {
    /// Rank 0 sends and computes at once; rank 1 receives and computes at once, ten times as long.
    struct Hiding(u64);
    impl Runs for Hiding {
        async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<()> {
            let sends = endpoint.rank() == Rank(0);
            let compute = async { endpoint.compute(nanoseconds(if sends { self.0 / 10 } else { self.0 })).await };
            if sends {
                return join(endpoint.send(Rank(1), Message::of_size(Bytes(1))), compute).await.0;
            }
            join(endpoint.receive(Rank(0)), compute).await.0.map(drop)
        }
    }
    let hidden = path(&contention_free(&[]), 2, &Ranks(Hiding(500)));
    // The message arrives after 107 ns, and is taken when rank 1 has computed.
    assert_eq!(in_words(&hidden), ["1 compute 500", "0-1 receive 7"]);
    let seen = path(&contention_free(&[]), 2, &Ranks(Hiding(50)));
    assert_eq!(in_words(&seen), ["0-1 message 114"]);
}

#[test]
fn two_messages_through_one_interface_contend_for_it() {
    /// Ranks 1 and 2 send 101 bytes each to rank 0 at the same time.
    struct TwoToOne;
    impl Runs for TwoToOne {
        async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<()> {
            if endpoint.rank() != Rank(0) {
                return endpoint.send(Rank(0), Message::of_size(Bytes(101))).await;
            }
            endpoint.receive(Rank(1)).await?;
            endpoint.receive(Rank(2)).await.map(drop)
        }
    }
    // The second is taken g + 100 G = 105 ns, or o + 100 G = 107 ns after the first, whichever is later, and had
    // arrived long before.
    let path = path(&contention_free(&[("g", "20 ns")]), 3, &Ranks(TwoToOne));
    assert_eq!(in_words(&path), ["1-0 message 214", "2-0 receive 120"]);
    let second = Parts {
        overhead: nanoseconds(7),
        bandwidth: nanoseconds(100),
        contention: nanoseconds(13),
        ..Parts::default()
    };
    assert_eq!(path.steps[1].parts, second);
}

#[test]
fn sleeping_is_waiting() {
    struct Sleeps;
    impl Runs for Sleeps {
        async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<()> {
            endpoint.sleep_until(Time::ZERO + nanoseconds(90)).await;
            endpoint.compute(nanoseconds(10)).await;
            Ok(())
        }
    }
    for name in ["loggp", "moc-2-1", "dp-smp-8"] {
        let path = path(&machine(name, &[]), 1, &Ranks(Sleeps));
        assert_eq!(in_words(&path), ["0 wait 90", "0 compute 10"], "{name}");
    }
}

#[test]
fn alone_on_its_machine_a_ping_pong_has_no_contention() {
    for name in ["loggp", "moc-2-1", "infiniband-128", "cm5-32", "fat-tree-1024", "slingshot-1024"] {
        let path =
            path(&machine(name, &[]), 2, &PingPong { first: Rank(0), second: Rank(1), bytes: Bytes(3000), rounds: 5 });
        let parts = path.parts();
        assert!(parts.contention.is_zero() && parts.waiting.is_zero(), "{name}: {parts:?}");
        assert!(!parts.latency.is_zero() && !parts.bandwidth.is_zero(), "{name}: {parts:?}");
    }
}

#[test]
fn a_broadcast_in_hardware_is_on_the_path() {
    struct Broadcasts;
    impl Runs for Broadcasts {
        async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<()> {
            if endpoint.rank() == Rank(0) {
                endpoint.compute(nanoseconds(50)).await;
                return endpoint.multicast(Message::of_size(Bytes(100))).await;
            }
            endpoint.receive_multicast(Rank(0)).await.map(drop)
        }
    }
    for name in ["cm5-32", "dp-smp-8"] {
        let machine = machine(name, &[]);
        let path = path(&machine, machine.nodes, &Ranks(Broadcasts));
        assert_eq!(path.steps[0].cause, Cause::Computing, "{name}");
        assert!(
            matches!(path.steps[1].cause, Cause::Message { broadcast: true, stretch: Stretch::Whole, .. }),
            "{name}: {path:?}"
        );
        assert!(path.parts().contention.is_zero(), "{name}: {:?}", path.parts());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 120, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_steps_of_a_path_follow_each_other_and_sum_to_the_makespan(
        name in prop::sample::select(vec![
            "loggp", "moc-2-1", "moc-3-2", "infiniband-128", "cm5-32", "fat-tree-1024", "parsytec-gcel-16", "dp-smp-8",
        ]),
        settings in prop::sample::select(vec![
            vec![], vec![("send", "blocking")], vec![("send", "non-blocking")], vec![("S", "100 B")], vec![("g", "3 us")],
        ]),
        (program, bytes, pairs) in (0u8..5, 0u64..3000, 1u32..4),
        seed in any::<u64>(),
    ) {
        let settings: Vec<(String, String)> = settings.iter().map(|(name, value): &(&str, &str)| (name.to_string(), value.to_string())).collect();
        // A setting that the machine does not have is left out.
        let machine = machines::load_with(name, &settings).or_else(|_| machines::load(name)).unwrap();
        let (bytes, ranks) = (Bytes(bytes), 2 * pairs);
        let waits = machine.waits_for_receivers(bytes);
        match if waits { 3 + program % 2 } else { program } {
            0 => path(&machine, ranks, &AllPairs { bytes, rounds: 2, order: PartnerOrder::Shift }),
            1 => path(&machine, ranks, &AllPairs { bytes, rounds: 1, order: PartnerOrder::Shuffled { seed } }),
            2 => path(&machine, ranks, &AllPairs { bytes, rounds: 1, order: PartnerOrder::Linear }),
            3 => path(&machine, ranks, &EqualDist { bytes, messages: 24 }),
            _ => path(&machine, ranks, &UnequalDist { bytes, messages: 24 }),
        };
    }
}
