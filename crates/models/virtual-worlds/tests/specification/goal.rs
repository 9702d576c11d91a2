//! GOAL schedules under LogGP, compared with times calculated by hand, a published time, and a plain model of the same
//! rules.

use crate::plain_goal;
use endpoint::{Endpoint, Error, Message, Program, World};
use machines::model::LogGp;
use maquette_virtual_worlds::answer::Activity;
use maquette_virtual_worlds::loggp::Clock;
use proptest::prelude::*;
use quantities::{Bytes, Duration, Rank};
use replay::goal::{RunGoal, Schedule, Unreceived};

/// LogGOPSim's parameters where none are given: L 2500, o 1500, g 1000, G 6, O 0, all in nanoseconds; up to 65535 bytes
/// no send waits.
const PRESET: LogGp = LogGp {
    latency: Duration::from_nanoseconds(2_500),
    overhead: Duration::from_nanoseconds(1_500),
    gap: Duration::from_nanoseconds(1_000),
    gap_per_byte: Duration::from_nanoseconds(6),
    overhead_per_byte: Duration::ZERO,
    rendezvous: Some(Bytes(65_536)),
};

fn schedule(text: &str) -> Schedule {
    Schedule::parse("test.goal", text.as_bytes()).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// When each rank finishes. [ns]
fn finish(model: LogGp, text: &str) -> Vec<u64> {
    let run =
        Clock::new(model).on_arrival().run_goal(&schedule(text)).unwrap_or_else(|error| panic!("{error}\n{text}"));
    run.answer.finish.iter().map(|time| time.picoseconds() / 1000).collect()
}

/// In round r every rank sends to the one 2^r after it and waits for the one 2^r before it.
fn dissemination(ranks: u32, size: u64) -> String {
    let mut text = format!("num_ranks {ranks}\n");
    for rank in 0..ranks {
        text.push_str(&format!("rank {rank} {{\n"));
        for round in 0..ranks.ilog2() {
            let (to, from) = ((rank + (1 << round)) % ranks, (rank + ranks - (1 << round)) % ranks);
            text.push_str(&format!(
                "s{round}: send {size}b to {to} tag {round}\nr{round}: recv {size}b from {from} tag {round}\n"
            ));
            if round > 0 {
                text.push_str(&format!("s{round} requires r{}\n", round - 1));
            }
        }
        text.push_str("}\n");
    }
    text
}

#[test]
fn a_dissemination_among_16_takes_as_long_as_in_loggopsim() {
    // LogGOPSim's manual: 22000 ns at every rank, with its preset parameters. That is four times o + L + o.
    assert_eq!(finish(PRESET, &dissemination(16, 1)), [22_000; 16]);
    // With 101 bytes each message takes 600 ns longer to take in.
    assert_eq!(finish(PRESET, &dissemination(16, 101)), [24_400; 16]);
}

#[test]
fn schedules_take_as_long_as_calculated_by_hand() {
    let cases: [(&str, &str, &[u64]); 12] = [
        ("nothing", "num_ranks 3\nrank 1 {\n}\n", &[0, 0, 0]),
        ("two calculations share a processor", "num_ranks 1\nrank 0 {\ncalc 100\ncalc 50\n}\n", &[150]),
        ("two processors work at once", "num_ranks 1\nrank 0 {\ncalc 100\ncalc 50 cpu 1\n}\n", &[100]),
        (
            "an operation waits for one on another processor",
            "num_ranks 1\nrank 0 {\na: calc 100\nb: calc 50 cpu 1\nb requires a\n}\n",
            &[150],
        ),
        (
            "an operation waits only until the other one has started",
            "num_ranks 1\nrank 0 {\na: calc 100\nb: calc 50 cpu 1\nb irequires a\n}\n",
            &[100],
        ),
        // The sender: o. The receiver: o + L, then o.
        ("a message", "num_ranks 2\nrank 0 {\nsend 1b to 1\n}\nrank 1 {\nrecv 1b from 0\n}\n", &[1_500, 5_500]),
        // The last byte arrives 100 G after the first.
        (
            "a longer message",
            "num_ranks 2\nrank 0 {\nsend 101b to 1\n}\nrank 1 {\nrecv 101b from 0\n}\n",
            &[1_500, 6_100],
        ),
        // The interface is free after g + 1000 G = 7000; the second message is sent then, and arrives at 11000. The
        // first is taken in from 4000 on, for o + 1000 G = 7500: until then the second one waits.
        (
            "two longer messages keep the interface",
            "num_ranks 2\nrank 0 {\nsend 1001b to 1\nsend 1001b to 1\n}\nrank 1 {\nrecv 1001b from 0\nrecv 1001b from 0\n}\n",
            &[8_500, 19_000],
        ),
        // With interfaces of their own they share only the processor: sent at 0 and 1500, arriving at 4000 and 5500;
        // taken in one after the other, each in o + 1000 G = 7500.
        (
            "two interfaces",
            "num_ranks 2\nrank 0 {\nsend 1001b to 1\nsend 1001b to 1 nic 1\n}\nrank 1 {\nrecv 1001b from 0\nrecv 1001b from 0\n}\n",
            &[3_000, 19_000],
        ),
        // Arrives at 4000, but the processor calculates until 10000; the message is taken in then, and the receive,
        // which was posted at 10000, finishes with it.
        (
            "a calculation holds a message up",
            "num_ranks 2\nrank 0 {\nsend 1b to 1\n}\nrank 1 {\na: calc 10000\nb: recv 1b from 0\nb requires a\n}\n",
            &[1_500, 11_500],
        ),
        // Arrives at 4000, while the processor calculates until 5000: taken in from then on. The receive finds it
        // already there.
        (
            "a message comes before it is asked for",
            "num_ranks 2\nrank 0 {\nsend 1b to 1\n}\nrank 1 {\na: calc 3000\nb: calc 2000\nc: recv 1b from 0\nb requires a\nc requires b\n}\n",
            &[1_500, 6_500],
        ),
        // Arrives at 4000, and is taken in when the calculation is over, from 9000 to 10500 + 65535 x 6. The receive is
        // posted at 9000, too, and takes the message, which ends the send; the calculation after that follows.
        (
            "a send waits for its receiver",
            "num_ranks 2\nrank 0 {\na: send 65536b to 1\nb: calc 100\nb requires a\n}\nrank 1 {\nc: calc 9000\nd: recv 65536b from 0\nd requires c\n}\n",
            &[9_100, 403_710],
        ),
    ];
    for (what, text, expected) in cases {
        assert_eq!(finish(PRESET, text), expected, "{what}");
    }
}

/// For each rank, how long its packets took to leave, and how long its receives waited, summed. [ns]
fn waits(text: &str) -> Vec<(u64, u64)> {
    let run =
        Clock::new(PRESET).on_arrival().run_goal(&schedule(text)).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let nanoseconds = |time: Duration| time.picoseconds() / 1000;
    run.answer.ranks.iter().map(|rank| (nanoseconds(rank.send_away), nanoseconds(rank.receive_idle))).collect()
}

#[test]
fn waiting_times_of_ranks_are_counted() {
    // It has left when the sender's o is over, and arrives at 4000.
    let one = "num_ranks 2\nrank 0 {\nsend 1b to 1\n}\nrank 1 {\nrecv 1b from 0\n}\n";
    assert_eq!(waits(one), [(1_500, 0), (0, 4_000)]);
    // The first has left after o + 1000 G = 7500. The second is ready at 1500, starts at 7000 when the interface is
    // free, and takes as long. They arrive at 4000 and 11000; both receives have waited since 0.
    let two = "num_ranks 2\nrank 0 {\nsend 1001b to 1\nsend 1001b to 1\n}\nrank 1 {\nrecv 1001b from 0\nrecv 1001b from 0\n}\n";
    assert_eq!(waits(two), [(7_500 + 13_000, 0), (0, 4_000 + 11_000)]);
    // It arrives at 4000 while the receiver calculates until 10000: no receive waits for it.
    let late = "num_ranks 2\nrank 0 {\nsend 1b to 1\n}\nrank 1 {\na: calc 10000\nb: recv 1b from 0\nb requires a\n}\n";
    assert_eq!(waits(late), [(1_500, 0), (0, 0)]);
}

/// In each round every rank sends to the next one and then receives from the one before.
struct Round {
    bytes: Bytes,
    rounds: u32,
}

impl Program for Round {
    type Output = ();

    async fn run<E: Endpoint>(&self, endpoint: &E) -> endpoint::Result<()> {
        let (Rank(me), size) = (endpoint.rank(), endpoint.size());
        for _ in 0..self.rounds {
            endpoint.send(Rank((me + 1) % size), Message::of_size(self.bytes)).await?;
            endpoint.receive(Rank((me + size - 1) % size)).await?;
        }
        Ok(())
    }
}

#[test]
fn a_schedule_has_the_same_counts_as_a_program() {
    let (ranks, rounds) = (5, 3);
    for bytes in [1, 100, 5_000] {
        let mut text = format!("num_ranks {ranks}\n");
        for rank in 0..ranks {
            text.push_str(&format!("rank {rank} {{\n"));
            for round in 0..rounds {
                let (to, from) = ((rank + 1) % ranks, (rank + ranks - 1) % ranks);
                text.push_str(&format!("s{round}: send {bytes}b to {to}\nr{round}: recv {bytes}b from {from}\n"));
                text.push_str(&format!("r{round} requires s{round}\n"));
                if round > 0 {
                    text.push_str(&format!("s{round} requires r{}\n", round - 1));
                }
            }
            text.push_str("}\n");
        }
        let as_schedule = Clock::new(PRESET).on_arrival().run_goal(&schedule(&text)).unwrap().answer;
        let program = Round { bytes: Bytes(bytes), rounds };
        let (_, as_program) = Clock::new(PRESET).run(ranks, &program).unwrap();
        assert_eq!(as_schedule.finish, as_program.finish, "{bytes}");
        assert_eq!(as_schedule.ranks, as_program.ranks, "{bytes}");
    }
}

#[test]
fn a_receive_takes_the_first_message_that_matches() {
    // From rank 0 with tag 1, from rank 0 with tag 2, from rank 2 with tag 1, well apart.
    let senders = "num_ranks 3\nrank 0 {\na: send 1b to 1 tag 1\nb: calc 9000\nc: send 1b to 1 tag 2\nb requires a\nc requires b\n}\n\
                   rank 2 {\na: calc 20000\nb: send 1b to 1 tag 1\nb requires a\n}\n";
    // Which message a receive takes shows in when the calculation after it ends: at 5500, 16000 or 25500, and 100 after
    // that.
    for (first, expected) in [
        ("from -1 tag -1", 5_600),
        ("from 0 tag -1", 5_600),
        ("from 0 tag 2", 16_100),
        ("from -1 tag 2", 16_100),
        ("from 2 tag -1", 25_600),
        ("from 2 tag 1", 25_600),
    ] {
        let text = format!("{senders}rank 1 {{\na: recv 1b {first}\nb: calc 100 cpu 1\nb requires a\n}}\n");
        let run = Clock::new(PRESET).on_arrival().with_timeline().run_goal(&schedule(&text)).unwrap();
        let spans = run.answer.timeline.unwrap().spans;
        let end = spans.iter().find(|span| span.rank == Rank(1) && span.activity == Activity::Compute).unwrap().end;
        assert_eq!(end.picoseconds(), expected * 1000, "recv 1b {first}");
        assert_eq!(run.unreceived.len(), 2);
    }
}

#[test]
fn messages_that_no_rank_received_are_reported() {
    let text = "num_ranks 3\nrank 0 {\nsend 1b to 1 tag 4\nsend 1b to 2 tag 5\n}\nrank 2 {\nrecv 1b from 0 tag 5\n}\n";
    let run = Clock::new(PRESET).on_arrival().run_goal(&schedule(text)).unwrap();
    assert_eq!(run.unreceived, [Unreceived { from: Rank(0), to: Rank(1), tag: 4, line: 3 }]);
    assert_eq!(run.answer.messages, 2);
}

#[test]
fn a_schedule_that_cannot_go_on_reports_the_lines_that_wait() {
    let deadlock = |text: &str| match Clock::new(PRESET).on_arrival().run_goal(&schedule(text)) {
        Err(Error::Deadlock(text)) => text,
        other => panic!("expected a deadlock, found {other:?}"),
    };
    assert_eq!(
        deadlock(
            "num_ranks 2\nrank 0 {\nsend 1b to 1 tag 8\n}\nrank 1 {\na: recv 1b from 0 tag 7\nb: calc 1\nb requires a\n}\n"
        ),
        "test.goal: rank 1 waits in line 6 for a message from rank 0 with tag 7; because of them 1 operation has not begun; \
         1 message was not received, the first from rank 0 to rank 1 with tag 8 (line 3)"
    );
    assert_eq!(
        deadlock(
            "num_ranks 2\nrank 0 {\nsend 70000b to 1\n}\nrank 1 {\nrecv 70000b from -1 tag -1\nrecv 1b from -1 tag -1\n}\n"
        ),
        "test.goal: rank 1 waits in line 7 for a message from anyone with any tag"
    );
    // Receives are posted in the order of the lines, whether or not another operation waits for their start.
    assert_eq!(
        deadlock(
            "num_ranks 2\nrank 0 {\nsend 1b to 1\n}\nrank 1 {\na: recv 1b from -1\nrecv 1b from 0\nb: calc 1\nb irequires a\n}\n"
        ),
        "test.goal: rank 1 waits in line 7 for a message from rank 0 with tag 0"
    );
    let many = "recv 1b from 1\n".repeat(20);
    let text = deadlock(&format!("num_ranks 2\nrank 0 {{\n{many}}}\nrank 1 {{\nsend 70000b to 1\n}}\n"));
    assert!(
        text.starts_with(
            "test.goal: rank 0 waits in line 3 for a message from rank 1 with tag 0, rank 0 waits in line 4"
        )
    );
    assert!(text.contains("; 13 more operations wait too; 1 message was not received"), "{text}");
}

#[test]
fn a_run_beyond_the_end_of_time_is_an_error() {
    let text = "num_ranks 1\nrank 0 {\ncalc 9223372036854775\ncalc 9223372036854775\n}\n";
    assert!(matches!(Clock::new(PRESET).on_arrival().run_goal(&schedule(text)), Err(Error::Unfit(_))));
    let text =
        "num_ranks 2\nrank 0 {\nsend 18446744073709551615b to 1\n}\nrank 1 {\nrecv 18446744073709551615b from 0\n}\n";
    assert!(matches!(Clock::new(PRESET).on_arrival().run_goal(&schedule(text)), Err(Error::Unfit(_))));
}

#[test]
fn many_messages_at_once_do_not_take_quadratic_time() {
    let ranks = 300;
    let mut text = format!("num_ranks {ranks}\n");
    for rank in 0..ranks {
        text.push_str(&format!("rank {rank} {{\n"));
        for other in (0..ranks).filter(|&other| other != rank) {
            text.push_str(&format!("send 8b to {other}\nrecv 8b from {other}\n"));
        }
        text.push_str("}\n");
    }
    let run = Clock::new(PRESET).on_arrival().run_goal(&schedule(&text)).unwrap();
    assert_eq!(run.answer.messages, 300 * 299);
    assert!(run.unreceived.is_empty());
    // A hundred thousand messages to one rank, which asks for them from the last to the first.
    let (count, mut text) = (100_000, "num_ranks 2\nrank 0 {\n".to_owned());
    (0..count).for_each(|tag| text.push_str(&format!("send 1b to 1 tag {tag}\n")));
    text.push_str("}\nrank 1 {\nwait: calc 1000000000\n");
    for tag in (0..count).rev() {
        text.push_str(&format!("r{tag}: recv 1b from 0 tag {tag}\nr{tag} requires wait\n"));
    }
    text.push_str("}\n");
    assert!(Clock::new(PRESET).on_arrival().run_goal(&schedule(&text)).unwrap().unreceived.is_empty());
}

/// Operations of one rank, among 3 ranks, of sizes around the one from which sends wait. Receives have room for any of
/// them.
fn items(any: bool) -> impl Strategy<Value = Vec<String>> {
    let size = prop::sample::select(vec![0_u64, 1, 2, 50, 99, 100, 101, 300]);
    let least = if any { -1 } else { 0 };
    let item = prop_oneof![
        (0..400_u64).prop_map(|work| format!("calc {work}")),
        (size, 0..3, 0..2).prop_map(|(size, to, tag)| format!("send {size}b to {to} tag {tag}")),
        (300..302, least..3, least..2).prop_map(|(room, from, tag)| format!("recv {room}b from {from} tag {tag}")),
    ];
    prop::collection::vec(item, 0..10)
}

fn texts() -> impl Strategy<Value = String> {
    let links = prop::collection::vec((0..10_usize, 0..10_usize, any::<bool>()), 0..10);
    any::<bool>().prop_flat_map(move |any| prop::collection::vec((items(any), links.clone()), 3)).prop_map(|ranks| {
        let mut text = "num_ranks 3\n".to_owned();
        for (rank, (items, links)) in ranks.iter().enumerate() {
            text.push_str(&format!("rank {rank} {{\n"));
            (0..).zip(items).for_each(|(number, item): (usize, _)| text.push_str(&format!("l{number}: {item}\n")));
            for &(one, other, only_started) in links {
                if one != other && one.max(other) < items.len() {
                    let verb = if only_started { "irequires" } else { "requires" };
                    text.push_str(&format!("l{} {verb} l{}\n", one.max(other), one.min(other)));
                }
            }
            text.push_str("}\n");
        }
        text
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    /// Random schedules take exactly as long as in a plain model of LogGOPSim's rules, in which every operation that
    /// can't start tries again and lists are searched from end to end; and both find the same deadlocks.
    #[test]
    fn it_agrees_with_a_plain_model(
        text in texts(),
        costs in (0..300_u64, 0..80_u64, 0..80_u64, 0..3_u64, 0..3_u64),
    ) {
        let (latency, overhead, gap, gap_per_byte, overhead_per_byte) = costs;
        let model = LogGp {
            latency: Duration::from_nanoseconds(latency),
            overhead: Duration::from_nanoseconds(overhead),
            gap: Duration::from_nanoseconds(gap),
            gap_per_byte: Duration::from_nanoseconds(gap_per_byte),
            overhead_per_byte: Duration::from_nanoseconds(overhead_per_byte),
            rendezvous: Some(Bytes(100)),
        };
        let schedule = schedule(&text);
        let expected = plain_goal::finish(&model, &schedule);
        match Clock::new(model).on_arrival().run_goal(&schedule) {
            Ok(run) => prop_assert_eq!(Some(run.answer.finish), expected),
            Err(Error::Deadlock(_)) => prop_assert_eq!(expected, None),
            Err(other) => panic!("{other}"),
        }
    }
}

#[test]
fn a_receive_without_room_for_its_message_is_an_error_that_names_ranks_tag_and_sizes() {
    let text = "num_ranks 3\nrank 0 {\nsend 1000b to 2 tag 7\n}\nrank 2 {\nc: calc 5\nr: recv 500b from -1 tag 7\nr requires c\n}\n";
    let expected = "test.goal: line 7: the message of rank 0 to rank 2 with tag 7 has 1000 B, and its receive has room for 500 B; allowed \
                    is at most that";
    for world in [Clock::new(PRESET).on_arrival(), Clock::new(PRESET)] {
        let error = world.run_goal(&schedule(text)).unwrap_err();
        assert_eq!(error, Error::Mismatch(expected.to_owned()));
    }
    let fits = text.replace("recv 500b", "recv 1001b");
    assert!(Clock::new(PRESET).on_arrival().run_goal(&schedule(&fits)).is_ok());
}

/// The senders of the messages that rank 0 takes in, in order, if it takes them in on arrival.
fn senders(text: &str) -> Vec<u32> {
    let ran = Clock::new(PRESET).on_arrival().with_timeline().run_goal(&schedule(text)).unwrap();
    let timeline = ran.answer.timeline.unwrap();
    let received = timeline.spans.iter().filter(|span| span.activity == Activity::Receive && span.rank == Rank(0));
    received.filter_map(|span| span.partner).map(|Rank(from)| from).collect()
}

/// As the page on GOAL says.
#[test]
fn messages_that_arrive_in_one_instant_are_taken_in_in_the_order_in_which_what_their_sends_waited_for_began() {
    let receives = "rank 0 {\nrecv 8b from -1\nrecv 8b from -1\n}\n";
    let at_once = format!("num_ranks 3\n{receives}rank 1 {{\nsend 8b to 0\n}}\nrank 2 {{\nsend 8b to 0\n}}\n");
    assert_eq!(senders(&at_once), [1, 2]);
    // Rank 2 began the last thing that it did before its send at 0 ns, rank 1 at 50 ns.
    let one = "rank 1 {\na: calc 50\nb: calc 50\nb requires a\ns: send 8b to 0\ns requires b\n}\n";
    let other = "rank 2 {\na: calc 100\ns: send 8b to 0\ns requires a\n}\n";
    assert_eq!(senders(&format!("num_ranks 3\n{receives}{one}{other}")), [2, 1]);
}
