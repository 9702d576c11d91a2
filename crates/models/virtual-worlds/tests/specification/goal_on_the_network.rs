//! A GOAL schedule on a simulated machine takes as long as the same program does.

use endpoint::{Error, World};
use maquette_virtual_worlds::flit::world::{EngineKind, NetworkWorld, Options};
use programs::benchmarks::PingPong;
use quantities::{Bytes, Rank, Time};
use replay::goal::{RunGoal, Schedule};

const PING_PONG: &str = "num_ranks 2
rank 0 {
  ping: send 500b to 1 tag 3
  pong: recv 500b from 1 tag 4
  pong requires ping
}
rank 1 {
  ping: recv 500b from -1 tag -1
  pong: send 500b to 0 tag 4
  pong requires ping
}";

fn schedule(text: &str) -> Schedule {
    Schedule::parse("test.goal", text.as_bytes()).unwrap()
}

fn makespan(machine: &str, engine: EngineKind, text: &str) -> Time {
    let machine = machines::load(machine).unwrap();
    let options = Options { engine, ..Options::default() };
    NetworkWorld::new(&machine, options).run_goal(&schedule(text)).unwrap().answer.makespan()
}

#[test]
fn a_round_trip_takes_as_long_as_the_program() {
    for name in ["moc-3-2", "parsytec-cc-16", "parsytec-gcel-16", "fat-tree-1024"] {
        let machine = machines::load(name).unwrap();
        let program = PingPong { first: Rank(0), second: Rank(1), bytes: Bytes(500), rounds: 1 };
        let world = NetworkWorld::new(&machine, Options::default());
        let (_, answer) = world.run(2, &program).unwrap();
        assert_eq!(makespan(name, EngineKind::Fast, PING_PONG), answer.makespan(), "{name}");
        assert_eq!(makespan(name, EngineKind::Reference, PING_PONG), answer.makespan(), "{name}");
    }
}

#[test]
fn processors_of_one_rank_compute_side_by_side() {
    let text = |processor| {
        format!(
            "num_ranks 1\nrank 0 {{\ncalc 700 cpu 0\na: calc 500 cpu {processor}\nb: calc 20 cpu {processor}\nb requires a\n}}"
        )
    };
    assert_eq!(makespan("moc-2-1", EngineKind::Fast, &text(0)).picoseconds(), 1_220_000);
    assert_eq!(makespan("moc-2-1", EngineKind::Fast, &text(1)).picoseconds(), 700_000);
}

#[test]
fn a_started_operation_is_enough_for_irequires() {
    let text = "num_ranks 1\nrank 0 {\na: calc 700 cpu 0\nb: calc 500 cpu 1\nb irequires a\n}";
    assert_eq!(makespan("moc-2-1", EngineKind::Fast, text).picoseconds(), 700_000);
}

#[test]
fn a_receive_that_never_comes_names_rank_and_line() {
    let machine = machines::load("moc-2-1").unwrap();
    let text = "num_ranks 2\nrank 0 {\nsend 8b to 1 tag 1\n}\nrank 1 {\nrecv 8b from 0 tag 2\n}";
    let error = NetworkWorld::new(&machine, Options::default()).run_goal(&schedule(text)).unwrap_err();
    let Error::Deadlock(report) = error else { panic!("{error}") };
    assert!(report.contains("rank 1 waits in line 6 for a message from rank 0 with tag 2"), "{report}");
}

#[test]
fn more_ranks_than_nodes_are_refused() {
    let machine = machines::load("moc-2-1").unwrap();
    let error = NetworkWorld::new(&machine, Options::default()).run_goal(&schedule("num_ranks 17")).unwrap_err();
    assert_eq!(error.to_string(), "17 ranks do not fit on moc-2-1, which has 16 nodes");
}

#[test]
fn a_message_of_absurd_size_is_refused() {
    let machine = machines::load("moc-2-1").unwrap();
    let text = "num_ranks 2\nrank 0 {\nsend 1099511627776b to 1\n}\nrank 1 {\nrecv 8b from 0\n}";
    let error = NetworkWorld::new(&machine, Options::default()).run_goal(&schedule(text)).unwrap_err();
    assert_eq!(error.to_string(), "a message of 1024 GiB: the network carries at most 2 GiB");
}
