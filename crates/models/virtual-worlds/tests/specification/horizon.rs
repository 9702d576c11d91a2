//! No clock wraps: a run that lasts longer than can be counted is an error in every world, with a message that says so.

use endpoint::{Endpoint, Error, Message, Needs, Program, Result, World};
use machines::model::{Interconnect, Machine};
use maquette_virtual_worlds::answer::Answer;
use maquette_virtual_worlds::ethernet::world::EthernetWorld;
use maquette_virtual_worlds::flit::world::{EngineKind, NetworkWorld, Options};
use maquette_virtual_worlds::loggp::Clock;
use proptest::prelude::*;
use quantities::{Bytes, Duration, Rank, Time};
use replay::goal::{RunGoal, Schedule};

const DAY: Duration = Duration::from_microseconds(86_400_000_000);
/// One machine of each kind; with flits, a torus with virtual channels and a network of worms.
const MACHINES: [&str; 4] = ["loggp", "torus-512", "moc-3-1", "dp-smp-8"];

/// `run` in every world, and with every engine that a machine can use.
fn in_every_world<T>(name: &str, run: impl Fn(&Machine, Option<EngineKind>) -> T) -> Vec<T> {
    let machine = machines::load(name).unwrap();
    match machine.interconnect {
        Interconnect::Flits(_) => {
            [EngineKind::Fast, EngineKind::Reference].map(|engine| run(&machine, Some(engine))).into()
        }
        _ => vec![run(&machine, None)],
    }
}

fn ran<P: Program>(machine: &Machine, engine: Option<EngineKind>, program: &P) -> Result<Answer> {
    let run = match (&machine.interconnect, engine) {
        (Interconnect::LogGp(model), _) => Clock::new(*model).run(2, program),
        (Interconnect::Ethernet(_), _) => EthernetWorld::new(machine, 1).run(2, program),
        (Interconnect::Flits(_), engine) => {
            let options = Options { engine: engine.unwrap_or_default(), ..Options::default() };
            NetworkWorld::new(machine, options).run(2, program)
        }
    };
    run.map(|(_, answer)| answer)
}

fn assert_beyond_horizon(outcome: &Result<Answer>, machine: &str) {
    match outcome {
        Err(Error::Unfit(why)) => {
            assert!(why.contains("106 days") && why.contains("that picoseconds can count"), "{machine}: {why}");
        }
        other => panic!("{machine}: {:?}", other.as_ref().map(Answer::makespan)),
    }
}

/// Rank 0 computes this often and this long, then sends; rank 1 receives.
struct Computes(u32, Duration);

impl Program for Computes {
    const NEEDS: Needs = Needs::ANY_SOURCE;
    type Output = ();

    async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<()> {
        if endpoint.rank() == Rank(1) {
            return endpoint.receive(Rank(0)).await.map(drop);
        }
        for _ in 0..self.0 {
            endpoint.compute(self.1).await;
        }
        endpoint.send(Rank(1), Message::of_size(Bytes(100))).await
    }
}

#[test]
fn computations_that_sum_to_too_much_are_an_error_in_every_world() {
    // One computation that is too long by itself, and several that are too long together; each sum modulo 2^64 is
    // small.
    let wraps = Duration::from_picoseconds(u64::MAX - DAY.picoseconds() + 1);
    for name in MACHINES {
        for program in [Computes(1, Duration::LONGEST), Computes(2, wraps)] {
            for outcome in in_every_world(name, |machine, engine| ran(machine, engine, &program)) {
                assert_beyond_horizon(&outcome, name);
            }
        }
    }
}

#[test]
fn times_that_can_be_counted_are_counted() {
    for name in ["loggp", "torus-512", "moc-3-1"] {
        for outcome in in_every_world(name, |machine, engine| ran(machine, engine, &Computes(10, DAY * 10))) {
            let makespan = outcome.unwrap().makespan();
            let late = makespan.since(Time::ZERO + DAY * 100);
            assert!(!late.is_zero() && late < Duration::from_microseconds(10_000), "{name}: {makespan}");
        }
    }
}

/// Rank 0 waits until a time, for nothing; rank 1 ends.
struct Waits(Time);

impl Program for Waits {
    const NEEDS: Needs = Needs::ANY_SOURCE;
    type Output = ();

    async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<()> {
        if endpoint.rank() == Rank(0) { endpoint.receive_any(Some(self.0)).await.map(drop) } else { Ok(()) }
    }
}

#[test]
fn a_deadline_that_is_too_late_is_an_error_unless_something_comes_before_it() {
    for name in MACHINES {
        for outcome in in_every_world(name, |machine, engine| ran(machine, engine, &Waits(Time::NEVER))) {
            assert_beyond_horizon(&outcome, name);
        }
        for outcome in in_every_world(name, |machine, engine| ran(machine, engine, &ReceivesInTime)) {
            assert!(outcome.unwrap().makespan() < Time::ZERO + DAY, "{name}");
        }
    }
}

/// Rank 0 would wait for ever, but rank 1 sends.
struct ReceivesInTime;

impl Program for ReceivesInTime {
    const NEEDS: Needs = Needs::ANY_SOURCE;
    type Output = ();

    async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<()> {
        match endpoint.rank() {
            Rank(0) => endpoint.receive_any(Some(Time::NEVER)).await.map(drop),
            _ => endpoint.send(Rank(0), Message::of_size(Bytes(100))).await,
        }
    }
}

fn goal(machine: &Machine, engine: Option<EngineKind>, text: &str) -> Result<Answer> {
    let schedule = Schedule::parse("test.goal", text.as_bytes()).unwrap();
    let ran = match &machine.interconnect {
        Interconnect::LogGp(model) => Clock::new(*model).on_arrival().run_goal(&schedule),
        Interconnect::Ethernet(_) => EthernetWorld::new(machine, 1).run_goal(&schedule),
        Interconnect::Flits(_) => {
            let options = Options { engine: engine.unwrap_or_default(), ..Options::default() };
            NetworkWorld::new(machine, options).run_goal(&schedule)
        }
    };
    ran.map(|ran| ran.answer)
}

#[test]
fn schedules_that_compute_for_too_long_are_an_error_in_every_world() {
    let calculations: String = (0..5).map(|number| format!("  c{number}: calc 9000000000000000\n")).collect();
    let requirements: String = (1..5).map(|number| format!("  c{number} requires c{}\n", number - 1)).collect();
    let text = format!("num_ranks 1\nrank 0 {{\n{calculations}{requirements}}}\n");
    for name in MACHINES {
        for outcome in in_every_world(name, |machine, engine| goal(machine, engine, &text)) {
            assert_beyond_horizon(&outcome, name);
        }
    }
}

/// Each of several receives waits for half of the time that can be counted: their sum can't be counted.
#[test]
fn sums_of_waiting_times_that_are_too_long_are_an_error() {
    let receives: String = (0..8).map(|tag| format!("  r{tag}: recv 8b from 0 tag {tag}\n")).collect();
    let sends: String = (0..8).map(|tag| format!("  s{tag}: send 8b to 1 tag {tag}\n  s{tag} requires c\n")).collect();
    let text = format!("num_ranks 2\nrank 0 {{\n  c: calc 8000000000000000\n{sends}}}\nrank 1 {{\n{receives}}}\n");
    for name in ["loggp", "torus-512", "moc-3-1"] {
        for outcome in in_every_world(name, |machine, engine| goal(machine, engine, &text)) {
            assert_beyond_horizon(&outcome, name);
        }
    }
}

/// Every rank computes until shortly before the end of time, then sends to the next one.
struct LateMessages;

impl Program for LateMessages {
    type Output = ();

    async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<()> {
        let (Rank(me), size) = (endpoint.rank(), endpoint.size());
        endpoint.compute(Time::NEVER.since(Time::ZERO) - Duration::from_nanoseconds(300)).await;
        endpoint.send(Rank((me + 1) % size), Message::of_size(Bytes(1 << 20))).await?;
        endpoint.receive(Rank((me + size - 1) % size)).await.map(drop)
    }
}

#[test]
fn packets_that_would_arrive_after_the_end_of_time_are_an_error() {
    for name in ["torus-512", "fat-tree-1024", "booksim-mesh-8x8", "moc-3-2", "cm5-32"] {
        let machine = machines::load(name).unwrap();
        for engine in [EngineKind::Fast, EngineKind::Reference] {
            let world = NetworkWorld::new(&machine, Options { engine, ..Options::default() });
            assert_beyond_horizon(&world.run(16, &LateMessages).map(|(_, answer)| answer), name);
        }
    }
}

/// What a rank does for a time.
#[derive(Clone, Copy, Debug)]
enum RankStep {
    Computes(Duration),
    Sleeps(Duration),
    /// It waits for a message that does not come.
    Waits(Duration),
}

impl RankStep {
    fn length(self) -> Duration {
        match self {
            RankStep::Computes(length) | RankStep::Sleeps(length) | RankStep::Waits(length) => length,
        }
    }
}

/// Rank 0 does this, rank 1 nothing.
async fn do_all<E: Endpoint>(endpoint: &E, steps: &[RankStep]) -> Result<()> {
    for &step in steps.iter().filter(|_| endpoint.rank() == Rank(0)) {
        match step {
            RankStep::Computes(work) => endpoint.compute(work).await,
            RankStep::Sleeps(length) => endpoint.sleep_until(endpoint.now() + length).await,
            RankStep::Waits(length) => {
                let deadline = endpoint.now() + length;
                assert_eq!(endpoint.receive_any(Some(deadline)).await, Err(Error::Deadline(deadline)));
            }
        }
    }
    Ok(())
}

/// The steps in a world whose ranks take their turns in order of time.
struct Steps(Vec<RankStep>);

impl Program for Steps {
    const NEEDS: Needs = Needs::ANY_SOURCE;
    type Output = ();

    async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<()> {
        do_all(endpoint, &self.0).await
    }
}

/// The same where ranks may run ahead: without waits.
struct StepsAhead(Vec<RankStep>);

impl Program for StepsAhead {
    type Output = ();

    async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<()> {
        let steps: Vec<RankStep> = self
            .0
            .iter()
            .map(|&step| if let RankStep::Waits(length) = step { RankStep::Sleeps(length) } else { step })
            .collect();
        do_all(endpoint, &steps).await
    }
}

/// Lengths that end just before and just after the end of time, alone and together.
fn step() -> impl Strategy<Value = RankStep> {
    let end = Duration::LONGEST.picoseconds();
    let length = prop_oneof![
        0..2_000_000_u64,
        (end / 2 - 1000)..(end / 2 + 1000),
        (end / 3 - 1000)..(end / 3 + 1000),
        (end - 1000)..(end + 1000),
        (u64::MAX - 1000)..=u64::MAX,
        0..u64::MAX,
    ];
    (length, 0..3_usize).prop_map(|(length, kind)| {
        let length = Duration::from_picoseconds(length);
        [RankStep::Computes(length), RankStep::Sleeps(length), RankStep::Waits(length)][kind]
    })
}

/// A run of steps ends after their sum, or says that this is too long; whatever it reports is less than 2^63 ps.
fn assert_ends(outcome: &Result<Answer>, sum: u128, machine: &str) {
    let Ok(answer) = outcome else {
        assert!(sum + u128::from(DAY.picoseconds()) > u128::from(Time::NEVER.picoseconds()), "{machine}: {sum}");
        return assert_beyond_horizon(outcome, machine);
    };
    let end = u128::from(answer.makespan().picoseconds());
    assert!(sum <= end && end < 1 << 63, "{machine}: {end} after {sum}");
    assert!(answer.finish.iter().all(|finish| i64::try_from(finish.picoseconds()).is_ok()), "{machine}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_run_ends_before_the_end_of_time_or_says_so_in_every_world(steps in prop::collection::vec(step(), 1..4)) {
        let sum: u128 = steps.iter().map(|step| u128::from(step.length().picoseconds())).sum();
        let (ordered, ahead) = (Steps(steps.clone()), StepsAhead(steps.clone()));
        let calculations: Vec<String> = steps.iter().zip(0..).map(|(step, number)| {
            let required = if number > 0 { format!("c{number} requires c{}\n", number - 1) } else { String::new() };
            format!("c{number}: calc {}\n{required}", step.length().picoseconds() / 1000)
        }).collect();
        let in_nanoseconds = steps.iter().map(|step| u128::from(step.length().picoseconds() / 1000 * 1000)).sum();
        let text = format!("num_ranks 2\nrank 0 {{\n{}}}\n", calculations.concat());
        for name in MACHINES {
            in_every_world(name, |machine, engine| {
                assert_ends(&ran(machine, engine, &ordered), sum, name);
                assert_ends(&ran(machine, engine, &ahead), sum, name);
                assert_ends(&goal(machine, engine, &text), in_nanoseconds, name);
            });
        }
        let Interconnect::LogGp(model) = machines::load("loggp").unwrap().interconnect else { unreachable!() };
        let on_arrival = Clock::new(model).on_arrival().run(2, &ordered);
        assert_ends(&on_arrival.map(|(_, answer)| answer), sum, "on arrival");
    }
}

/// Two calculations of 9.1e15 ns, each of which can be counted: their sum has the highest bit of 64 set.
#[test]
fn a_sum_that_is_negative_in_64_signed_bits_is_an_error_in_every_world() {
    let text = "num_ranks 1\nrank 0 {\na: calc 9100000000000000\nb: calc 9100000000000000\nb requires a\n}\n";
    for name in MACHINES {
        for outcome in in_every_world(name, |machine, engine| goal(machine, engine, text)) {
            assert_beyond_horizon(&outcome, name);
        }
    }
}
