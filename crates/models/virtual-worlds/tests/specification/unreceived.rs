//! Messages that no rank receives are reported in every world.

use endpoint::{Endpoint, Message, Needs, Program, Result, World};
use machines::model::{Interconnect, LogGp, Machine};
use maquette_virtual_worlds::answer::{Answer, Unreceived};
use maquette_virtual_worlds::ethernet::world::EthernetWorld;
use maquette_virtual_worlds::flit::world::{EngineKind, NetworkWorld, Options};
use maquette_virtual_worlds::loggp::Clock;
use quantities::{Bytes, Rank};
use replay::goal::{self, RunGoal, Schedule};

fn network(machine: &Machine, engine: EngineKind) -> NetworkWorld<'_> {
    NetworkWorld::new(machine, Options { engine, ..Options::default() })
}

fn loggp() -> LogGp {
    let Interconnect::LogGp(model) = machines::load("loggp").unwrap().interconnect else { panic!("it is LogGP") };
    model
}

/// Ranks 0 and 1 each send rank 2 this many messages of this size; it receives one from each.
struct TooMany {
    messages: u64,
    size: Bytes,
}

impl Program for TooMany {
    type Output = ();
    async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<()> {
        if endpoint.rank() == Rank(2) {
            endpoint.receive(Rank(1)).await?;
            return endpoint.receive(Rank(0)).await.map(drop);
        }
        for _ in 0..self.messages {
            endpoint.send(Rank(2), Message::of_size(self.size)).await?;
        }
        Ok(())
    }
}

/// The same, in order of time.
struct InOrder(TooMany);

impl Program for InOrder {
    type Output = ();
    const NEEDS: Needs = Needs::ANY_SOURCE;
    async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<()> {
        self.0.run(endpoint).await
    }
}

fn left(messages: u64) -> Vec<Unreceived> {
    [0, 1].map(|from| Unreceived { from: Rank(from), to: Rank(2), messages }).into()
}

#[test]
fn of_a_program_on_a_network() {
    // The last one announces its messages, and its sends are over before that; the one before it does not wait for
    // receivers either.
    for (name, size) in [("fat-tree-1024", 100), ("delta", 100), ("torus-512", 100), ("torus-512", 100_000)] {
        let machine = machines::load(name).unwrap();
        for engine in [EngineKind::Fast, EngineKind::Reference] {
            let program = TooMany { messages: 4, size: Bytes(size) };
            let (_, answer) = network(&machine, engine).run(3, &program).unwrap();
            assert_eq!(answer.unreceived, left(3), "{name}, {size} B");
            let program = TooMany { messages: 1, size: Bytes(size) };
            let (_, answer) = network(&machine, engine).run(3, &program).unwrap();
            assert_eq!(answer.unreceived, [], "{name}, {size} B");
        }
    }
}

#[test]
fn of_a_program_under_loggp_whether_it_asks_for_anyone_or_not() {
    // Few messages of a rank are in a list, many are sorted.
    for messages in [1, 4, 100] {
        let program = TooMany { messages, size: Bytes(8) };
        let expected = if messages == 1 { Vec::new() } else { left(messages - 1) };
        let (_, answer) = Clock::new(loggp()).run(3, &program).unwrap();
        assert_eq!(answer.unreceived, expected);
        let (_, answer) = Clock::new(loggp()).run(3, &InOrder(program)).unwrap();
        assert_eq!(answer.unreceived, expected);
    }
}

#[test]
fn of_a_program_on_an_ethernet() {
    let machine = machines::load("dp-smp-8").unwrap();
    for (messages, expected) in [(1, Vec::new()), (4, left(3))] {
        let program = TooMany { messages, size: Bytes(5_000) };
        let (_, answer) = EthernetWorld::new(&machine, 1).run(3, &program).unwrap();
        assert_eq!(answer.unreceived, expected);
    }
}

/// Rank 0 broadcasts twice; rank 1 receives both, and rank 2 one.
struct Broadcasts;

impl Program for Broadcasts {
    const NEEDS: Needs = Needs::MULTICAST;
    type Output = ();
    async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<()> {
        for number in 0..2 {
            match endpoint.rank() {
                Rank(0) => endpoint.multicast(Message::of_size(Bytes(100))).await?,
                Rank(2) if number == 1 => {}
                _ => endpoint.receive_multicast(Rank(0)).await.map(drop)?,
            }
        }
        Ok(())
    }
}

#[test]
fn of_broadcasts_in_hardware() {
    let expected = [Unreceived { from: Rank(0), to: Rank(2), messages: 1 }];
    let ethernet = machines::load("dp-smp-8").unwrap();
    let (_, answer) = EthernetWorld::new(&ethernet, 1).run(3, &Broadcasts).unwrap();
    assert_eq!(answer.unreceived, expected);
    let cm5 = machines::load("cm5-32").unwrap();
    assert!(cm5.control_network.is_some());
    for engine in [EngineKind::Fast, EngineKind::Reference] {
        let (_, answer) = network(&cm5, engine).run(3, &Broadcasts).unwrap();
        assert_eq!(answer.unreceived, expected);
    }
}

const SCHEDULE: &str = "num_ranks 2
rank 0 {
  a: send 5000b to 1 tag 1
  b: send 5000b to 1 tag 2
  c: send 5000b to 1 tag 3
}
rank 1 {
  a: recv 5000b from 0 tag 2
}
";

#[test]
fn of_a_schedule_with_tags_and_lines_the_same_in_all_worlds() {
    let schedule = Schedule::parse("test.goal", SCHEDULE.as_bytes()).unwrap();
    let (ethernet, flits) = (machines::load("dp-smp-8").unwrap(), machines::load("fat-tree-1024").unwrap());
    let runs = [
        Clock::new(loggp()).on_arrival().run_goal(&schedule),
        EthernetWorld::new(&ethernet, 1).run_goal(&schedule),
        network(&flits, EngineKind::Fast).run_goal(&schedule),
        network(&flits, EngineKind::Reference).run_goal(&schedule),
    ];
    let message = |tag, line| goal::Unreceived { from: Rank(0), to: Rank(1), tag, line };
    for run in runs {
        let run = run.unwrap();
        assert_eq!(run.unreceived, [message(1, 3), message(3, 5)]);
        let Answer { unreceived, .. } = run.answer;
        assert_eq!(unreceived, [Unreceived { from: Rank(0), to: Rank(1), messages: 2 }]);
    }
}
