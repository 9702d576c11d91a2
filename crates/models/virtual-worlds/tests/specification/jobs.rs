//! Several jobs on one machine: each as by itself where nothing is shared, and otherwise the same in both engines.

use collectives::all_to_all::{CompleteExchange, Pairwise};
use collectives::broadcast::{BinomialBroadcast, HardwareBroadcast};
use endpoint::{Endpoint, Error, Message, Needs, Program, Result, Source, Tags, World, join};
use machines::model::{ChannelId, Interconnect, Machine, NodeId};
use maquette_virtual_worlds::Simulated;
use maquette_virtual_worlds::answer::Answer;
use maquette_virtual_worlds::flit::traffic::{Load, Pattern};
use maquette_virtual_worlds::flit::world::{EngineKind, Options};
use maquette_virtual_worlds::jobs::placement::{Allocation, Placement};
use maquette_virtual_worlds::jobs::{Background, BackgroundSources, Job, JobRun, JobsRun, Placed};
use programs::benchmarks::{AllPairs, PartnerOrder, UnequalDist};
use proptest::prelude::*;
use quantities::{Bytes, Duration, Rank, Time};
use replay::goal::{Player, Schedule};

/// The programs that jobs run.
#[derive(Clone, Copy, Debug)]
enum Work {
    Pairwise(Bytes),
    AllToAll(Bytes),
    Broadcast(Bytes),
    UnequalDist(Bytes),
    /// Rank 0 takes a message from every other rank, in any order.
    Gather(Bytes),
    /// Around a ring, where sends and receives overlap.
    Ring(Bytes),
    /// The same with short messages, this many times.
    Rings(u32),
    /// Broadcasts on the control network.
    Hardware(Bytes),
    Compute(Duration),
    /// Rank 1 waits for rank 0, which does not send.
    Stuck,
}

impl Program for Work {
    /// When the rank ended, on the job's own clock.
    type Output = Time;

    const NEEDS: Needs = Needs::EVERYTHING;

    async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<Time> {
        match *self {
            Work::Pairwise(bytes) => {
                CompleteExchange::new(Pairwise::in_turns(), bytes).run(endpoint).await.map(drop)?
            }
            Work::AllToAll(bytes) => {
                AllPairs { bytes, rounds: 1, order: PartnerOrder::Shift }.run(endpoint).await.map(drop)?
            }
            Work::Broadcast(bytes) => {
                BinomialBroadcast { root: Rank(0), message: Message::of_size(bytes) }.run(endpoint).await.map(drop)?;
            }
            Work::UnequalDist(bytes) => UnequalDist { bytes, messages: 3 }.run(endpoint).await.map(drop)?,
            Work::Gather(bytes) => gather(endpoint, bytes).await?,
            Work::Ring(bytes) => ring(endpoint, bytes).await?,
            Work::Rings(times) => {
                for _ in 0..times {
                    ring(endpoint, Bytes(8)).await?;
                }
            }
            Work::Hardware(bytes) => {
                HardwareBroadcast { root: Rank(0), message: Message::of_size(bytes) }.run(endpoint).await.map(drop)?;
            }
            Work::Compute(work) => endpoint.compute(work).await,
            Work::Stuck => {
                if endpoint.rank() == Rank(1) {
                    endpoint.receive(Rank(0)).await?;
                }
            }
        }
        Ok(endpoint.now())
    }
}

async fn gather<E: Endpoint>(endpoint: &E, bytes: Bytes) -> Result<()> {
    if endpoint.rank() != Rank(0) {
        return endpoint.send(Rank(0), Message::of_size(bytes)).await;
    }
    let mut seen = vec![false; endpoint.size() as usize];
    for _ in 1..endpoint.size() {
        let received = endpoint.receive_matching(Source::Any, Tags::Any, None).await?;
        assert!(!std::mem::replace(&mut seen[received.from.0 as usize], true), "rank {} twice", received.from);
    }
    let late = endpoint.receive_any(Some(endpoint.now() + Duration::from_nanoseconds(10))).await;
    assert_eq!(late, Err(Error::Deadline(endpoint.now())));
    Ok(())
}

async fn ring<E: Endpoint>(endpoint: &E, bytes: Bytes) -> Result<()> {
    let (Rank(me), size) = (endpoint.rank(), endpoint.size());
    if size == 1 {
        return Ok(());
    }
    let (next, before) = (Rank((me + 1) % size), Rank((me + size - 1) % size));
    let (sent, received) = join(endpoint.send(next, Message::of_size(bytes)), endpoint.receive(before)).await;
    sent.and(received.map(drop))
}

/// A machine with this topology, on which messages cost their nodes something.
fn machine(topology: &str) -> Machine {
    let text = format!(
        "{topology}\n[channels]\nrate = \"1 GB/s\"\nbuffers = 80\ncredit_latency = \"2 ns\"\n[routers]\nrouting_delay = \"5 ns\"\n\
         [packet]\npayload = 64\nheader = 4\nflit = 4\n[node]\nprocessor_send = \"30 ns\"\nprocessor_receive = \"20 ns\"\n\
         message_send = \"10 ns\"\npacket_send = \"3 ns\"\npacket_receive = \"2 ns\"\nsend = \"non-blocking\"\n"
    );
    machines::Description::parse(&text, "test.toml").unwrap().resolve().unwrap()
}

const MESH: &str = "[topology.mesh]\ncolumns = 4\nrows = 4";

fn on(machine: &Machine, engine: EngineKind) -> Simulated<'_> {
    Simulated::new(machine, Options { engine, seed: 5, packet_log: true, timeline: true, ..Options::default() })
}

fn job(name: &str, program: Work, nodes: impl IntoIterator<Item = u32>) -> Job<Work> {
    Job { name: name.to_owned(), program, nodes: nodes.into_iter().map(NodeId).collect(), start: Time::ZERO }
}

fn starting(job: Job<Work>, nanoseconds: u64) -> Job<Work> {
    Job { start: Time::ZERO + Duration::from_nanoseconds(nanoseconds), ..job }
}

fn load(rate: f64) -> Load {
    Load { pattern: Pattern::Uniform, rate, packet: 9, seed: 3 }
}

fn everywhere(rate: f64) -> Background {
    Background { load: load(rate), sources: BackgroundSources::All }
}

const ENGINES: [EngineKind; 2] = [EngineKind::Fast, EngineKind::Reference];

/// Everything on which both engines must agree.
fn summary(run: &JobsRun<Time>) -> String {
    format!("{:?} {:?}", run.jobs, run.answer)
}

/// With dimension-order routing, traffic within one row of a mesh shares no channel with traffic within another.
#[test]
fn jobs_that_share_no_channel_take_exactly_as_long_as_alone() {
    let machine = machine(MESH);
    let jobs = [
        job("a", Work::Pairwise(Bytes(500)), 0..4),
        job("b", Work::AllToAll(Bytes(300)), [7, 5, 6]),
        job("c", Work::Gather(Bytes(90)), 8..16),
    ];
    for engine in ENGINES {
        let world = on(&machine, engine);
        let run = world.run_jobs(&jobs, None).unwrap();
        for (job, beside) in jobs.iter().zip(&run.jobs) {
            let alone = world.run_alone(job).unwrap();
            assert_eq!(beside, &alone, "{}", job.name);
            assert_eq!(beside.slowdown(&alone), Some(1.0));
        }
        let finish: Vec<Time> = run.jobs[1].finish.clone();
        assert_eq!([7, 5, 6].map(|node| run.answer.finish[node]).to_vec(), finish);
        assert_eq!(run.answer.finish[4], Time::ZERO);
    }
}

/// Whatever one job does, another on the same nodes in rank order does what a plain run does.
#[test]
fn one_job_in_order_is_a_plain_run() {
    for topology in [MESH, "[topology.fat_tree]\narity = 4\nlevels = 2\n[routing]\nselection = \"random\""] {
        let machine = machine(topology);
        for work in [Work::Pairwise(Bytes(500)), Work::UnequalDist(Bytes(200)), Work::Ring(Bytes(5_000))] {
            let world = on(&machine, EngineKind::Fast);
            let jobs = world.run_jobs(&[job("a", work, 0..8)], None).unwrap();
            let (results, answer) = world.run(8, &work).unwrap();
            assert_eq!((&jobs.jobs[0].results, format!("{:?}", jobs.answer)), (&results, format!("{answer:?}")));
        }
    }
}

/// Two jobs whose messages cross the same channels slow each other down.
#[test]
fn jobs_that_share_channels_slow_each_other() {
    let machine = machine(MESH);
    let jobs = [job("a", Work::Ring(Bytes(20_000)), [0, 3]), job("b", Work::Ring(Bytes(20_000)), [1, 2])];
    for engine in ENGINES {
        let world = on(&machine, engine);
        let run = world.run_jobs(&jobs, None).unwrap();
        let slowdown = |index: usize| run.jobs[index].slowdown(&world.run_alone(&jobs[index]).unwrap()).unwrap();
        assert!(slowdown(0) > 1.3 && slowdown(1) > 1.3, "{} and {}", slowdown(0), slowdown(1));
    }
}

/// A job that starts after another has ended takes as long as alone; one that starts while it runs does not. Its ranks'
/// clocks begin with it.
#[test]
fn a_job_can_start_later() {
    let machine = machine(MESH);
    let first = job("first", Work::Ring(Bytes(20_000)), [0, 3]);
    for engine in ENGINES {
        let world = on(&machine, engine);
        let alone = world.run_alone(&first).unwrap().makespan();
        let second = || job("second", Work::Ring(Bytes(20_000)), [1, 2]);
        let second_alone = world.run_alone(&second()).unwrap();
        let beside = |start| {
            let run = world.run_jobs(&[first.clone(), Job { start, ..second() }], None).unwrap();
            assert_eq!(run.jobs[1].start, start);
            run
        };
        let after = beside(Time::ZERO + alone);
        assert_eq!(after.jobs[1].results, second_alone.results);
        assert_eq!((after.jobs[0].makespan(), after.jobs[1].makespan()), (alone, second_alone.makespan()));
        assert_eq!(after.answer.makespan(), Time::ZERO + alone + second_alone.makespan());
        let amidst = beside(Time::from_picoseconds(alone.picoseconds() / 2));
        assert!(amidst.jobs[0].makespan() > alone && amidst.jobs[1].makespan() > second_alone.makespan());
        let spans = &amidst.answer.timeline.as_ref().unwrap().spans;
        let first_span =
            spans.iter().filter(|span| [Rank(1), Rank(2)].contains(&span.rank)).map(|span| span.start).min();
        assert_eq!(first_span, Some(amidst.jobs[1].start));
    }
}

/// Where nodes forward packets in software, a job starts on time even if its node's processor has packets to forward.
#[test]
fn a_job_starts_in_time_on_a_node_that_forwards() {
    let machine = machine(&format!("[switching]\nmode = \"software\"\nper_packet = \"100 ns\"\n{MESH}"));
    let jobs = [
        job("through", Work::Ring(Bytes(5_000)), [0, 2]),
        starting(job("late", Work::Compute(Duration::ZERO), [1]), 3_333),
    ];
    for engine in ENGINES {
        let run = on(&machine, engine).run_jobs(&jobs, None).unwrap();
        // Its processor has packets to forward before and after that.
        assert!(run.jobs[1].finish[0] > run.jobs[1].start && run.jobs[0].finish[1] > run.jobs[1].finish[0]);
        let timeline = run.answer.timeline.unwrap();
        let start = timeline.spans.iter().find(|span| span.rank == Rank(1)).map(|span| span.start);
        assert_eq!(start, Some(Time::ZERO + Duration::from_nanoseconds(3_333)));
    }
}

/// Ranks take messages only of their own job, from any rank, until deadlines, and broadcasts on one control network.
#[test]
fn jobs_broadcast_and_receive_from_anyone_among_themselves() {
    let mut machine = machine(MESH);
    machine.control_network = machines::load("cm5-32").unwrap().control_network;
    assert!(machine.control_network.is_some());
    let jobs = [
        job("a", Work::Hardware(Bytes(40)), [3, 1, 2]),
        job("b", Work::Hardware(Bytes(80)), [9, 0]),
        starting(job("c", Work::Gather(Bytes(700)), [4, 12, 8]), 500),
        job("d", Work::Gather(Bytes(70)), [6, 5]),
    ];
    for engine in ENGINES {
        let world = on(&machine, engine);
        let run = world.run_jobs(&jobs, None).unwrap();
        assert!(run.jobs.iter().flat_map(|job| &job.results).all(Result::is_ok), "{:?}", run.jobs);
        assert!(run.answer.unreceived.is_empty(), "{:?}", run.answer.unreceived);
        // One network carries both broadcasts, one after the other.
        let alone: Vec<JobRun<Time>> = jobs.iter().map(|job| world.run_alone(job).unwrap()).collect();
        assert!(run.jobs[0].makespan() > alone[0].makespan() || run.jobs[1].makespan() > alone[1].makespan());
    }
}

#[test]
fn on_a_contention_free_machine_jobs_take_exactly_as_long_as_alone() {
    let machine = machines::load("loggp").unwrap();
    let world = Simulated::new(&machine, Options { timeline: true, ..Options::default() });
    let jobs = [
        job("a", Work::Pairwise(Bytes(500)), 0..8),
        starting(job("b", Work::Gather(Bytes(70_000)), [20, 9, 8, 31]), 2_000),
        starting(job("c", Work::Broadcast(Bytes(3)), 10..15), 1),
    ];
    let run = world.run_jobs(&jobs, None).unwrap();
    for (job, beside) in jobs.iter().zip(&run.jobs) {
        assert_eq!(beside, &world.run_alone(job).unwrap());
    }

    /// The same for a program whose ranks run ahead of each other.
    struct Ahead;
    impl Program for Ahead {
        type Output = Time;
        async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<Time> {
            AllPairs { bytes: Bytes(10), rounds: 2, order: PartnerOrder::Shift }.run(endpoint).await?;
            Ok(endpoint.now())
        }
    }
    let start = Time::from_picoseconds(12_345);
    let later = Job { name: "later".to_owned(), program: Ahead, nodes: [4, 2, 7].map(NodeId).to_vec(), start };
    let (alone, answer) = world.run(3, &Ahead).unwrap();
    let run = world.run_alone(&later).unwrap();
    assert_eq!(run.results, alone);
    assert_eq!(run.makespan(), answer.makespan().since(Time::ZERO));
}

#[test]
fn jobs_run_on_an_ethernet() {
    let machine = machines::load("dp-smp-8").unwrap();
    let world = Simulated::new(&machine, Options { seed: 1, ..Options::default() });

    /// One operation after the other.
    struct Exchange;
    impl Program for Exchange {
        type Output = Time;
        const NEEDS: Needs = Needs::MULTICAST;
        async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<Time> {
            CompleteExchange::new(Pairwise::in_turns(), Bytes(4_000)).run(endpoint).await?;
            Ok(endpoint.now())
        }
    }
    let job = |nodes: &[u32], start| {
        let nodes = nodes.iter().copied().map(NodeId).collect();
        Job { name: "exchange".to_owned(), program: Exchange, nodes, start }
    };
    let jobs = [job(&[0, 5], Time::ZERO), job(&[2, 7, 1, 3], Time::from_picoseconds(70_000_000))];
    let run = world.run_jobs(&jobs, None).unwrap();
    // A switch's output queues belong to the receivers, so jobs share nothing.
    for (job, beside) in jobs.iter().zip(&run.jobs) {
        assert_eq!(beside, &world.run_alone(job).unwrap());
    }

    let broadcast = [job_of_all("a", 0..2), job_of_all("b", 2..4)];
    let run = world.run_jobs(&broadcast, None).unwrap();
    let error = run.jobs[0].results[0].as_ref().unwrap_err().to_string();
    assert!(error.contains("only a job that has all of them can broadcast"), "{error}");
    let run = world.run_jobs(&[job_of_all("a", 0..4)], None).unwrap();
    assert!(run.jobs[0].results.iter().all(Result::is_ok));
}

fn job_of_all(name: &str, nodes: std::ops::Range<u32>) -> Job<HardwareBroadcast> {
    let program = HardwareBroadcast { root: Rank(0), message: Message::of_size(Bytes(100)) };
    Job { name: name.to_owned(), program, nodes: nodes.map(NodeId).collect(), start: Time::ZERO }
}

/// More and more background packets beside an exchange on a mesh. Measured with seeds 1 to 5.
#[test]
fn background_traffic_slows_a_job() {
    let machine = machine(MESH);
    let jobs = [job("a", Work::AllToAll(Bytes(2_000)), [0, 3, 12, 15, 5, 10])];
    let world = Simulated::new(&machine, Options::default());
    let alone = world.run_alone(&jobs[0]).unwrap();
    let mut before = 1.0;
    for rate in [0.1, 0.2, 0.4, 0.6, 0.9] {
        let slowdown = |seed| {
            let background = Background { load: Load { seed, ..load(rate) }, sources: BackgroundSources::All };
            let run = world.run_jobs(&jobs, Some(&background)).unwrap();
            let statistics = run.answer.background.unwrap();
            assert_eq!(statistics.until, run.answer.makespan());
            assert!(0 < statistics.delivered && statistics.delivered <= statistics.offered);
            // Births are nearly a Poisson process: 16 nodes, one flit of 4 bytes in 4 ns.
            let expected = 16.0 * rate / 9.0 * statistics.until.picoseconds() as f64 / 4_000.0;
            assert!(
                (statistics.offered as f64 - expected).abs() < 5.0 * expected.sqrt(),
                "{statistics:?}, not {expected}"
            );
            run.jobs[0].slowdown(&alone).unwrap()
        };
        let mean = (1..=5).map(slowdown).sum::<f64>() / 5.0;
        assert!(mean > before, "{mean} times at {rate}, {before} times at less");
        before = mean;
    }
    assert!(before > 1.5, "{before}");
}

#[test]
fn no_background_traffic_is_exactly_none() {
    let machine = machine(MESH);
    let jobs = [job("a", Work::AllToAll(Bytes(2_000)), [0, 3, 12, 15]), job("b", Work::Ring(Bytes(900)), [5, 6])];
    for engine in ENGINES {
        let world = on(&machine, engine);
        let (with, without) =
            (world.run_jobs(&jobs, Some(&everywhere(0.0))).unwrap(), world.run_jobs(&jobs, None).unwrap());
        let statistics = with.answer.background.unwrap();
        assert_eq!((statistics.offered, statistics.delivered, statistics.mean_latency), (0, 0, None));
        let none = JobsRun { jobs: with.jobs, answer: Answer { background: None, ..with.answer } };
        assert_eq!(summary(&none), summary(&without));
    }
}

/// Traffic from idle nodes only does not use the injection channels of the nodes that jobs use.
#[test]
fn background_traffic_can_come_from_idle_nodes_only() {
    let machine = machine(MESH);
    let jobs = [job("a", Work::AllToAll(Bytes(2_000)), [0, 3, 12, 15])];
    let Interconnect::Flits(network) = &machine.interconnect else { panic!("it has a network") };
    for sources in [BackgroundSources::All, BackgroundSources::Idle] {
        let background = Background { load: load(0.3), sources };
        let run = on(&machine, EngineKind::Fast).run_jobs(&jobs, Some(&background)).unwrap();
        let alone = on(&machine, EngineKind::Fast).run_jobs(&jobs, None).unwrap();
        let packets = |run: &JobsRun<Time>, node: usize| {
            let ChannelId(channel) = network.injection[node];
            run.answer.channels[channel as usize].packets
        };
        for node in [0, 3, 12, 15] {
            let more = packets(&run, node) - packets(&alone, node);
            assert_eq!(more > 0, sources == BackgroundSources::All, "{more} packets of node {node}");
            assert_eq!(run.answer.ranks[node].packets, alone.answer.ranks[node].packets);
        }
        assert!([1, 2, 4, 5].iter().all(|&node| packets(&run, node) > 0));
        // Packets born and not injected count as offered; those injected are carried to the end.
        let of_traffic = run.answer.packets - alone.answer.packets;
        let statistics = run.answer.background.unwrap();
        assert!(statistics.delivered <= of_traffic && of_traffic <= statistics.offered, "{statistics:?} {of_traffic}");
    }
}

/// However much traffic a node has, each message of its program waits behind at most one packet of it: if it waited
/// behind the backlog, every message would wait longer than all those sent before it.
#[test]
fn a_backlog_of_background_traffic_does_not_hold_a_program_for_ever() {
    let machine = machine("[topology.star]\nnodes = 3");
    let jobs = [job("a", Work::Rings(200), [0, 1])];
    let world = on(&machine, EngineKind::Fast);
    let alone = world.run_alone(&jobs[0]).unwrap();
    let load = Load { pattern: Pattern::HotSpot { node: NodeId(2), fraction: 1.0 }, ..load(1.0) };
    let background = Background { load, sources: BackgroundSources::All };
    let run = world.run_jobs(&jobs, Some(&background)).unwrap();
    let statistics = run.answer.background.unwrap();
    assert!(statistics.offered > 2 * statistics.delivered, "{statistics:?}");
    let slowdown = run.jobs[0].slowdown(&alone).unwrap();
    assert!((1.5..20.0).contains(&slowdown), "{slowdown}");
}

/// Where background traffic takes all of a processor, its program would wait for ever.
#[test]
fn a_processor_that_only_forwards_is_an_error() {
    let machine = machine(&format!("[switching]\nmode = \"software\"\nper_packet = \"50 ns\"\n{MESH}"));
    let jobs = [job("a", Work::Compute(Duration::from_microseconds(1)), [5, 10])];
    for engine in ENGINES {
        let world = Simulated::new(&machine, Options { engine, ..Options::default() });
        let to_node_5 = |rate| {
            let load = Load { pattern: Pattern::HotSpot { node: NodeId(5), fraction: 1.0 }, ..load(rate) };
            world.run_jobs(&jobs, Some(&Background { load, sources: BackgroundSources::Idle }))
        };
        assert!(to_node_5(0.01).is_ok());
        let error = to_node_5(0.9).unwrap_err().to_string();
        assert!(error.contains("would never end: its processor forwards packets all the time"), "{error}");
    }
}

#[test]
fn the_same_run_gives_the_same_and_another_seed_another() {
    let machine = machine(MESH);
    let jobs = [job("a", Work::AllToAll(Bytes(2_000)), [0, 3, 12, 15]), job("b", Work::Ring(Bytes(900)), [5, 6])];
    let run = |seed| {
        let background = Background { load: Load { seed, ..load(0.4) }, sources: BackgroundSources::All };
        summary(&on(&machine, EngineKind::Fast).run_jobs(&jobs, Some(&background)).unwrap())
    };
    assert_eq!(run(1), run(1));
    assert_ne!(run(1), run(2));
}

/// A deadlock is reported with the job and its own ranks, whatever else goes on.
#[test]
fn a_deadlock_names_the_job_and_its_ranks() {
    let machine = machine(MESH);
    let jobs = [job("halo", Work::Pairwise(Bytes(10)), 0..4), starting(job("stuck", Work::Stuck, [9, 7]), 100)];
    let expected = "deadlock: rank 1 of job `stuck` waits for a message from rank 0 of job `stuck`";
    for engine in ENGINES {
        for background in [None, Some(everywhere(0.2))] {
            let error = on(&machine, engine).run_jobs(&jobs, background.as_ref()).unwrap_err();
            assert_eq!(error.to_string(), expected);
        }
    }
    for name in ["loggp", "dp-smp-8"] {
        let machine = machines::load(name).unwrap();
        let jobs =
            [job("stuck", Work::Stuck, [4, 3]), starting(job("other", Work::Compute(Duration::ZERO), [1, 0]), 100)];
        let error = Simulated::new(&machine, Options::default()).run_jobs(&jobs, None).unwrap_err();
        assert_eq!(error.to_string(), expected, "{name}");
    }
}

#[test]
fn jobs_that_do_not_fit_are_refused() {
    let machine = machine(MESH);
    let error = |jobs: &[Job<Work>], background: Option<&Background>| {
        on(&machine, EngineKind::Fast).run_jobs(jobs, background).unwrap_err().to_string()
    };
    let work = Work::Compute(Duration::ZERO);
    let twice = [job("a", work, 0..4), job("b", work, [5, 2])];
    assert_eq!(error(&twice, None), "node 2 has rank 2 of job `a` and rank 1 of job `b`, where it can have one");
    assert_eq!(error(&[job("a", work, [16])], None), "rank 0 of job `a` on node 16: there are 16 nodes");
    assert_eq!(error(&[job("a", work, [])], None), "job `a` has no ranks, where it must have one");
    let one = [job("a", work, 0..4)];
    let expected =
        "background traffic: rate: found 1.5; allowed is 0.000001 to 1, all that an injection channel carries";
    assert_eq!(error(&one, Some(&everywhere(1.5))), expected);
    let long = Background { load: Load { packet: 99, ..load(0.0) }, ..everywhere(0.0) };
    let expected = "background traffic: packet: found 99 flits; allowed is 1 to 17 flits, the packets of the machine";
    assert_eq!(error(&one, Some(&long)), expected);
    let loggp = machines::load("loggp").unwrap();
    let error = Simulated::new(&loggp, Options::default()).run_jobs(&one, Some(&everywhere(0.1))).unwrap_err();
    let expected = "background traffic: found loggp, which has no network of flits; allowed is a machine that has one";
    assert_eq!(error.to_string(), expected);
}

/// Up to three jobs on a machine, and background traffic.
#[derive(Clone, Debug)]
struct Case {
    topology: &'static str,
    /// Program, placement, ranks, start in ns.
    jobs: Vec<(Work, &'static str, u32, u64)>,
    background: Option<Background>,
    seed: u64,
}

const TOPOLOGIES: [&str; 5] = [
    MESH,
    "[topology.fat_tree]\narity = 4\nlevels = 2\n[routing]\nselection = \"idle-random\"",
    "[topology.mesh_of_clos]\nheight = 2\nmesh_stages = 1\n[routing]\nselection = \"random\"",
    "[topology.dragonfly]\nnodes = 2\nrouters = 2\nglobal_links = 2\ngroups = 4\n[routing]\nrule = \"up-down\"",
    "[switching]\nmode = \"software\"\nper_packet = \"9 ns\"\n[topology.torus]\ncolumns = 4\nrows = 4\n[routing]\nrule = \"up-down\"",
];

fn works() -> impl Strategy<Value = Work> {
    let bytes = prop_oneof![Just(0u64), 1u64..200, 200u64..3_000].prop_map(Bytes);
    (bytes, 0..6u32).prop_map(|(bytes, which)| match which {
        0 => Work::Pairwise(bytes),
        1 => Work::AllToAll(bytes),
        2 => Work::Broadcast(bytes),
        3 => Work::UnequalDist(bytes),
        4 => Work::Gather(bytes),
        _ => Work::Ring(bytes),
    })
}

fn cases() -> impl Strategy<Value = Case> {
    let placement = prop_oneof![3 => Just("random"), 1 => Just("scattered-switches"), 1 => Just("contiguous-switches")];
    let start = prop_oneof![2 => Just(0u64), 1 => 1u64..20_000];
    let jobs = prop::collection::vec((works(), placement, prop_oneof![Just(2u32), Just(4)], start), 1..4);
    let rate = prop_oneof![1 => Just(None), 2 => (0.01f64..1.0).prop_map(Some)];
    let sources = prop_oneof![Just(BackgroundSources::All), Just(BackgroundSources::Idle)];
    let background = (rate, 1u32..18, any::<u64>(), sources).prop_map(|(rate, packet, seed, sources)| {
        rate.map(|rate| Background { load: Load { pattern: Pattern::Uniform, rate, packet, seed }, sources })
    });
    (prop::sample::select(&TOPOLOGIES[..]), jobs, background, any::<u64>())
        .prop_map(|(topology, jobs, background, seed)| Case { topology, jobs, background, seed })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 250, failure_persistence: None, ..ProptestConfig::default() })]

    /// Jobs that share channels, with any placement and any traffic: both engines return the same, to the picosecond.
    #[test]
    fn both_engines_agree_on_jobs(case in cases()) {
        agree_on(&case)?;
    }
}

/// Two ranks on different nodes end their sends at the same time, and the engines process them in different orders.
#[test]
fn both_engines_agree_on_operations_that_end_at_the_same_time() {
    let load = Load { pattern: Pattern::Uniform, rate: 0.5531376234819023, packet: 9, seed: 7351106544258632852 };
    let jobs = vec![
        (Work::Pairwise(Bytes(0)), "random", 2, 0),
        (Work::Pairwise(Bytes(0)), "scattered-switches", 4, 0),
        (Work::Pairwise(Bytes(25)), "random", 4, 0),
    ];
    let background = Some(Background { load, sources: BackgroundSources::All });
    agree_on(&Case { topology: TOPOLOGIES[4], jobs, background, seed: 6220736766992184086 }).unwrap();
}

fn agree_on(case: &Case) -> std::result::Result<(), TestCaseError> {
    let machine = machine(case.topology);
    let mut allocation = Allocation::new(&machine);
    let jobs: Vec<Job<Work>> = (0u64..)
        .zip(&case.jobs)
        .map(|(number, &(program, placement, ranks, start))| {
            let placement: Placement = placement.parse().unwrap();
            let nodes = allocation.place(&placement, ranks, case.seed ^ number).unwrap();
            starting(Job { nodes, ..job(&format!("job {number}"), program, []) }, start)
        })
        .collect();
    let run = |engine| {
        let options = Options { engine, seed: case.seed, packet_log: true, timeline: true, ..Options::default() };
        Simulated::new(&machine, options).run_jobs(&jobs, case.background.as_ref())
    };
    let (fast, reference) = match (run(EngineKind::Fast), run(EngineKind::Reference)) {
        (Ok(fast), Ok(reference)) => (fast, reference),
        // Nodes that forward in software can be starved of all other work.
        (Err(fast), Err(reference)) => {
            prop_assert!(fast.to_string().contains("forwards packets") && case.background.is_some(), "{}", fast);
            prop_assert_eq!(fast, reference);
            return Ok(());
        }
        (fast, reference) => return Err(TestCaseError::fail(format!("{fast:?}, but {reference:?}"))),
    };
    prop_assert_eq!(&fast.jobs, &reference.jobs);
    prop_assert_eq!(fast.answer.background, reference.answer.background);
    prop_assert_eq!(&fast.answer.channels, &reference.answer.channels);
    prop_assert_eq!(summary(&fast), summary(&reference));
    Ok(())
}

/// A rank that takes messages from two others as they arrive, and answers the first after it has computed.
const SCHEDULE: &[u8] = b"num_ranks 3
rank 0 {
l1: recv 3000b from -1 tag 2
l2: recv 8b from 1 tag 1
l3: calc 4000
l4: send 500b to 2 tag 5
l3 requires l1
l4 requires l3
}
rank 1 {
l1: calc 100
l2: send 8b to 0 tag 1
l2 requires l1
}
rank 2 {
l1: send 3000b to 0 tag 2
l2: recv 500b from 0 tag 5
}
";

/// Requests name ranks and times of their job, wherever its ranks are placed and whenever it starts.
#[test]
fn a_job_plays_a_schedule_as_it_is_played_by_itself() {
    let schedule = Schedule::parse("job.goal", SCHEDULE).unwrap();
    let start = Time::from_picoseconds(7_000_000);
    for machine in [machines::load("loggp").unwrap(), machines::load("dp-smp-8").unwrap()] {
        let world = Simulated::new(&machine, Options::default());
        let (_, by_itself) = world.run(3, &Player::new(&schedule)).unwrap();
        let nodes = [2, 0, 1].map(NodeId).to_vec();
        let job = Job { name: "schedule".to_owned(), program: Player::new(&schedule), nodes, start };
        for _ in 0..2 {
            let JobRun { results, finish, .. } = world.run_alone(&job).unwrap();
            assert!(results.iter().all(Result::is_ok), "{results:?}");
            let took: Vec<Time> = finish.iter().map(|&time| Time::ZERO + time.since(start)).collect();
            assert_eq!(took, by_itself.finish, "{}", machine.name);
        }
    }
}

/// Rank 0 computes on two processors at once, and sends on a third once the first has begun; rank 1 answers from a
/// second interface while it computes.
const SEVERAL_PROCESSORS: &[u8] = b"num_ranks 2
rank 0 {
l1: calc 7000 cpu 0
l2: calc 5000 cpu 1
l3: send 100000b to 1 tag 3 cpu 2
l4: recv 40b from 1 tag 4 cpu 1
l5: calc 900 cpu 0
l2 irequires l1
l3 irequires l2
l5 requires l4
}
rank 1 {
l1: recv 100000b from 0 tag 3
l2: calc 300000 cpu 1
l3: send 40b to 0 tag 4 nic 1
l2 irequires l1
l3 requires l1
l3 irequires l2
}
";

/// A rank of the LogGP model has as many processors as its schedule names, and is notified of starts: also as a job
/// beside another.
#[test]
fn on_a_contention_free_machine_a_job_plays_a_schedule_on_several_processors() {
    let schedule = Schedule::parse("job.goal", SEVERAL_PROCESSORS).unwrap();
    let machine = machines::load("loggp").unwrap();
    let world = Simulated::new(&machine, Options::default());
    let (_, by_itself) = world.run(2, &Player::new(&schedule)).unwrap();
    for start in [Time::ZERO, Time::from_picoseconds(3_000)] {
        let job = |name: &str, nodes: [u32; 2], start| {
            let nodes = nodes.map(NodeId).to_vec();
            Job { name: name.to_owned(), program: Player::new(&schedule), nodes, start }
        };
        let jobs = [job("one", [3, 0], start), job("other", [1, 2], Time::ZERO)];
        let alone = world.run_alone(&jobs[0]).unwrap();
        let JobsRun { jobs: beside, .. } = world.run_jobs(&jobs, None).unwrap();
        assert_eq!(beside[0], alone);
        let took: Vec<Time> = alone.finish.iter().map(|&time| Time::ZERO + time.since(start)).collect();
        assert_eq!(took, by_itself.finish);
    }
}

/// Each processor does one thing at a time; an operation that requires a start begins with it, one that requires an end
/// begins after it.
#[test]
fn on_a_contention_free_machine_processors_of_a_rank_compute_at_once() {
    let machine = machines::load("loggp").unwrap();
    let world = Simulated::new(&machine, Options::default());
    for (processor, requires, nanoseconds) in
        [(1, "irequires", 700), (1, "requires", 1_200), (0, "irequires", 1_200), (0, "requires", 1_200)]
    {
        let text = format!("num_ranks 1\nrank 0 {{\na: calc 700\nb: calc 500 cpu {processor}\nb {requires} a\n}}\n");
        let schedule = Schedule::parse("job.goal", text.as_bytes()).unwrap();
        let (_, answer) = world.run(1, &Player::new(&schedule)).unwrap();
        assert_eq!(answer.makespan(), Time::ZERO + Duration::from_nanoseconds(nanoseconds), "{text}");
    }
}

#[test]
fn the_answer_of_a_placed_program_is_in_its_ranks() {
    let machine = machine(MESH);
    for engine in ENGINES {
        let world = on(&machine, engine);
        let job = job("a", Work::Pairwise(Bytes(500)), [9, 1, 12, 4]);
        let among_jobs = world.run_jobs(std::slice::from_ref(&job), None).unwrap();
        let (results, answer) = Placed::new(world, &job.nodes).run(4, &job.program).unwrap();
        assert_eq!((&results, &answer.finish), (&among_jobs.jobs[0].results, &among_jobs.jobs[0].finish));
        assert_eq!((answer.ranks.len(), answer.ranks[2].packets), (4, among_jobs.answer.ranks[12].packets));
        assert_eq!(answer.nodes, job.nodes);
        let stuck = Placed::new(world, &job.nodes[..2]).run(2, &Work::Stuck).unwrap_err();
        assert_eq!(stuck.to_string(), "deadlock: rank 1 waits for a message from rank 0");
        assert!(Placed::new(world, &job.nodes).run(3, &job.program).is_err());
    }
}
