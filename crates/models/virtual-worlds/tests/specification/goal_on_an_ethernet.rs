//! A GOAL schedule on an Ethernet takes as long as the same program does.

use endpoint::{Error, World};
use maquette_virtual_worlds::answer::Answer;
use maquette_virtual_worlds::ethernet::world::EthernetWorld;
use programs::benchmarks::PingPong;
use quantities::{Bytes, Rank};
use replay::goal::{RunGoal, Schedule};

fn schedule(text: &str) -> Schedule {
    Schedule::parse("test.goal", text.as_bytes()).unwrap()
}

fn ran(settings: &[(&str, &str)], text: &str) -> Result<Answer, Error> {
    let settings: Vec<_> = settings.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
    let machine = machines::load_with("dp-smp-8", &settings).unwrap();
    EthernetWorld::new(&machine, 1).with_timeline().run_goal(&schedule(text)).map(|ran| ran.answer)
}

const PING_PONG: &str = "num_ranks 2
rank 0 {
  ping: send 5000b to 1 tag 3
  pong: recv 5000b from 1 tag 4
  pong requires ping
}
rank 1 {
  ping: recv 5000b from -1 tag -1
  pong: send 5000b to 0 tag 4
  pong requires ping
}";

#[test]
fn a_round_trip_takes_as_long_as_the_program() {
    let machine = machines::load("dp-smp-8").unwrap();
    let program = PingPong { first: Rank(0), second: Rank(1), bytes: Bytes(5_000), rounds: 1 };
    let (_, program) = EthernetWorld::new(&machine, 1).run(2, &program).unwrap();
    let goal = ran(&[], PING_PONG).unwrap();
    let [goal_us, program_us] = [goal.makespan(), program.makespan()].map(|time| time.picoseconds() as f64 / 1e6);
    assert!((goal_us / program_us - 1.0_f64).abs() < 0.02, "{goal_us} us, as a program {program_us}");
    assert_eq!((goal.messages, goal.timeline.unwrap().messages.len()), (2, 2));
}

#[test]
fn lost_packets_are_sent_again() {
    let answer = ran(&[("loss", "0.3")], PING_PONG).unwrap();
    assert!(answer.ethernet.unwrap().dropped.lost > 0);
}

/// Messages are taken by tag, whatever the order in which they arrive.
#[test]
fn tags_decide_which_receive_takes_a_message() {
    let text = "num_ranks 2
rank 0 {
  a: send 10b to 1 tag 1
  b: send 20b to 1 tag 2
  b requires a
}
rank 1 {
  second: recv 20b from 0 tag 2
  first: recv 10b from 0 tag 1
  first requires second
}";
    let timeline = ran(&[], text).unwrap().timeline.unwrap();
    let sizes: Vec<u64> = timeline.messages.iter().map(|message| message.size.0).collect();
    assert_eq!(sizes, [20, 10]);
}

#[test]
fn processors_of_one_rank_calculate_side_by_side() {
    let text = |processor| {
        format!(
            "num_ranks 1\nrank 0 {{\ncalc 700 cpu 0\na: calc 500 cpu {processor}\nb: calc 20 cpu {processor}\nb requires a\n}}"
        )
    };
    assert_eq!(ran(&[], &text(0)).unwrap().makespan().picoseconds(), 1_220_000);
    assert_eq!(ran(&[], &text(1)).unwrap().makespan().picoseconds(), 700_000);
}

#[test]
fn a_receive_that_never_comes_names_rank_and_line() {
    let text = "num_ranks 2\nrank 0 {\nsend 8b to 1 tag 1\n}\nrank 1 {\nrecv 8b from 0 tag 2\n}";
    let Err(Error::Deadlock(error)) = ran(&[], text) else { panic!("it waits for ever") };
    assert!(error.contains("rank 1 waits in line 6 for a message from rank 0 with tag 2"), "{error}");
}
