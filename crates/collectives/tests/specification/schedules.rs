//! Schedules of any pattern: they are correct, and following them brings every message to its receiver.

use crate::worlds;
use endpoint::{Endpoint, Message, Needs, Program, Result, World};
use machines::model::LogGp;
use maquette_collectives::all_to_all::{Irregular, all_at_once, irregular};
use maquette_collectives::schedule::{
    OverlappedSchedule, Pacing, Pattern, RankSchedule, Rule, Schedule, ScheduleError, Scheduled, SendReceiveOrder,
    Transfer, follow,
};
use proptest::prelude::*;
use quantities::{Bytes, Duration, Rank};
use replay::goal::{self, RunGoal};
use virtual_worlds::loggp::Clock;

/// Any pattern of at most `ranks` ranks.
fn patterns(ranks: u32) -> impl Strategy<Value = Pattern> {
    (1..=ranks, 0..=100_u64).prop_flat_map(|(ranks, percent)| {
        let entry = (0..100_u64, 1..40_u64).prop_map(move |(drawn, bytes)| if drawn < percent { bytes } else { 0 });
        prop::collection::vec(entry, (ranks * ranks) as usize).prop_map(move |mut bytes| {
            (0..ranks as usize).for_each(|rank| bytes[rank * (ranks as usize + 1)] = 0);
            Pattern::new(ranks, bytes).unwrap()
        })
    })
}

/// Bytes that differ for each pair of ranks.
fn content(from: Rank, to: Rank, size: Bytes) -> Vec<u8> {
    (0..size.0).map(|index| (u64::from(from.0) * 37 + u64::from(to.0) * 11 + index * 5) as u8).collect()
}

/// Follows a schedule with real messages; a rank ends with what it took.
struct Delivery<'test> {
    pattern: &'test Pattern,
    ranks: Vec<RankSchedule>,
    pacing: Pacing,
}

impl Program for Delivery<'_> {
    type Output = Vec<(Rank, Vec<u8>)>;

    const NEEDS: Needs = Needs::OVERLAP;

    async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<Self::Output> {
        let me = endpoint.rank();
        let mut taken = Vec::new();
        let message_for = |to| Message::from(content(me, to, self.pattern.bytes(me, to)));
        let take = |from, message: Message| taken.push((from, message.content().map_or(Vec::new(), |it| it.to_vec())));
        follow(endpoint, &self.ranks[me.0 as usize], self.pacing, message_for, take).await?;
        taken.sort();
        Ok(taken)
    }
}

/// Asserts that every rank ends with the messages that the pattern has for it, in every world.
fn brings_every_message(pattern: &Pattern, schedule: &Schedule, pacing: Pacing, order: SendReceiveOrder) {
    let program = Delivery { pattern, ranks: schedule.by_rank(order), pacing };
    for (world, ended) in worlds::everywhere(pattern.ranks(), &program) {
        let ended = ended.unwrap_or_else(|error| panic!("{world}, {pacing:?}: {error}\n{}", schedule.table(120)));
        for (to, taken) in (0..).map(Rank).zip(ended) {
            let wanted = pattern.messages().iter().filter(|message| message.to == to);
            let wanted: Vec<_> = wanted.map(|&Transfer { from, bytes, .. }| (from, content(from, to, bytes))).collect();
            assert_eq!(taken, Ok(wanted), "{world}, {pacing:?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn all_at_once_every_message_comes_in_every_world(pattern in patterns(13)) {
        let schedule = all_at_once(&pattern);
        prop_assert_eq!(schedule.check(&pattern), Ok(()));
        brings_every_message(&pattern, &schedule, Pacing::FreeRunning, SendReceiveOrder::Sendrecv);
        let read = goal::Schedule::parse("all.goal", schedule.to_goal(Pacing::FreeRunning, SendReceiveOrder::Sendrecv).as_bytes());
        let (clock, read) = (Clock::new(worlds::MODEL), read.unwrap());
        let (_, answer) = clock.run(pattern.ranks(), &OverlappedSchedule::new(&schedule)).unwrap();
        prop_assert_eq!(clock.run_goal(&read).unwrap().answer.finish, answer.finish);
    }

    #[test]
    fn following_a_schedule_brings_every_message_to_its_receiver_in_every_world(pattern in patterns(13)) {
        for algorithm in Irregular::all() {
            let schedule = algorithm.schedule(&pattern);
            prop_assert_eq!(schedule.check(&pattern), Ok(()), "{}", algorithm.name());
            for pacing in Pacing::all() {
                brings_every_message(&pattern, &schedule, pacing, SendReceiveOrder::Alternating);
                brings_every_message(&pattern, &schedule, pacing, SendReceiveOrder::Sendrecv);
            }
        }
    }
}

proptest! {
    #[test]
    fn a_schedule_is_read_back_as_it_was_written(pattern in patterns(20)) {
        for algorithm in Irregular::all() {
            let schedule = algorithm.schedule(&pattern);
            prop_assert_eq!(Schedule::from_json("schedule.json", schedule.to_json().as_bytes()), Ok(schedule));
        }
        let schedule = all_at_once(&pattern);
        prop_assert_eq!(Schedule::from_json("schedule.json", schedule.to_json().as_bytes()), Ok(schedule));
    }

    #[test]
    fn no_schedule_takes_less_than_the_busiest_rank(pattern in patterns(20)) {
        let schedules = Irregular::all().map(|algorithm| algorithm.schedule(&pattern));
        for schedule in schedules.into_iter().chain([all_at_once(&pattern)]) {
            let measures = schedule.measures();
            prop_assert!(measures.bytes_in_step >= pattern.most_bytes_of_a_rank(), "{:?}", schedule);
            prop_assert!(measures.transfers_in_step >= u64::from(pattern.most_messages_of_a_rank()), "{:?}", schedule);
            prop_assert!(measures.carrying_steps >= measures.least_steps as usize, "{:?}", schedule);
            prop_assert_eq!(measures.most_messages_of_a_rank, pattern.most_messages_of_a_rank());
        }
    }

    #[test]
    fn the_best_schedule_stretches_no_more_than_any_other(pattern in patterns(20)) {
        let stretch = |schedule: &Schedule| {
            let measures = schedule.measures();
            let ratio = |sum: u64, least: u64| sum as f64 / least.max(1) as f64;
            ratio(measures.transfers_in_step, measures.most_messages_of_a_rank.into())
                + ratio(measures.bytes_in_step.0, measures.most_bytes_of_a_rank.0)
        };
        let (best, schedule) = Irregular::best(&pattern);
        prop_assert_eq!(schedule.check(&pattern), Ok(()));
        prop_assert_eq!(&schedule, &best.schedule(&pattern));
        for other in Irregular::all() {
            prop_assert!(stretch(&schedule) <= stretch(&other.schedule(&pattern)), "{best:?}, {other:?}");
        }
    }

    #[test]
    fn edge_colouring_takes_as_many_steps_as_the_busiest_rank_has_messages(pattern in patterns(40)) {
        let schedule = irregular::edge_colouring(&pattern);
        prop_assert_eq!(schedule.check(&pattern), Ok(()));
        prop_assert_eq!(schedule.steps.len(), pattern.most_messages_of_a_rank() as usize);
        prop_assert_eq!(schedule.measures().carrying_steps, schedule.steps.len());
    }

    #[test]
    fn birkhoffs_steps_take_no_longer_than_the_busiest_ranks_bytes(pattern in patterns(20)) {
        let schedule = irregular::birkhoff(&pattern);
        prop_assert_eq!(schedule.check(&pattern), Ok(()));
        prop_assert_eq!(schedule.measures().bytes_in_step, pattern.most_bytes_of_a_rank());
        prop_assert!(schedule.steps.len() <= pattern.messages().len() + 2 * pattern.ranks() as usize);
    }

    #[test]
    fn largest_first_keeps_to_its_bounds(pattern in patterns(20)) {
        let schedule = irregular::largest_first(&pattern);
        prop_assert!(schedule.steps.len() < 2 * pattern.most_messages_of_a_rank().max(1) as usize);
        let most = pattern.most_bytes_of_a_rank().0;
        for (number, transfer) in (1..).zip(&schedule.steps).flat_map(|(number, step)| step.iter().map(move |it| (number, it))) {
            prop_assert!(transfer.bytes.0 * (number + 1) <= 2 * most);
        }
    }

    #[test]
    fn greedy_never_leaves_two_free_that_have_a_message_for_each_other(pattern in patterns(20)) {
        let schedule = irregular::greedy(&pattern);
        for (number, step) in schedule.steps.iter().enumerate() {
            let busy = |rank| step.iter().any(|transfer| transfer.from == rank || transfer.to == rank);
            let later = schedule.steps[number + 1..].iter().flatten();
            prop_assert!(later.into_iter().all(|transfer| busy(transfer.from) || busy(transfer.to)));
        }
    }

    #[test]
    fn a_schedule_is_right_goal_that_sends_each_message_once(pattern in patterns(12)) {
        let schedule = irregular::greedy(&pattern);
        for (pacing, order) in Pacing::all().into_iter().flat_map(|pacing| [(pacing, SendReceiveOrder::Alternating), (pacing, SendReceiveOrder::Sendrecv)]) {
            let text = schedule.to_goal(pacing, order);
            let read = goal::Schedule::parse("schedule.goal", text.as_bytes()).unwrap();
            let mut sent: Vec<Transfer> = Vec::new();
            for (from, block) in read.busy_ranks() {
                for operation in block.operations() {
                    match operation.kind {
                        goal::OperationKind::Send { to, size: bytes, tag } if tag > 0 => sent.push(Transfer { from, to, bytes }),
                        _ => {}
                    }
                }
            }
            sent.sort();
            prop_assert_eq!(&sent, pattern.messages());
            let model = LogGp { rendezvous: Some(Bytes(0)), ..worlds::MODEL };
            let world = Clock::new(model).on_arrival();
            prop_assert!(world.run_goal(&read).is_ok());
            let of_goal = Clock::new(model).run_goal(&read).unwrap().answer;
            let (ranks, clock) = (pattern.ranks(), Clock::new(model));
            let (_, of_schedule) = match pacing {
                Pacing::Overlapped => clock.run(ranks, &OverlappedSchedule::new(&schedule)).unwrap(),
                _ => clock.run(ranks, &Scheduled::in_order(&schedule, pacing, order)).unwrap(),
            };
            prop_assert_eq!(of_goal.finish, of_schedule.finish, "{:?}, {:?}", pacing, order);
        }
    }

    #[test]
    fn a_schedules_pattern_is_what_it_was_made_of(pattern in patterns(20)) {
        prop_assert_eq!(irregular::greedy(&pattern).pattern(), Ok(pattern));
    }
}

/// A transfer of 8 bytes.
fn of_8(from: u32, to: u32) -> Transfer {
    Transfer { from: Rank(from), to: Rank(to), bytes: Bytes(8) }
}

#[test]
fn mistakes_in_a_schedule_are_reported_with_step_and_ranks() {
    let pattern = Pattern::of_messages(4, vec![of_8(0, 1), of_8(1, 0), of_8(2, 1)]).unwrap();
    let cases: [(&[&[Transfer]], &str); 9] = [
        (&[&[of_8(0, 1), of_8(1, 0)]], "2 -> 1 is never sent"),
        (&[&[of_8(0, 1), of_8(1, 0), of_8(2, 1)]], "step 1: rank 1 receives twice, from 0 and from 2"),
        (&[&[of_8(0, 1)], &[of_8(2, 1), of_8(2, 3)]], "step 2: rank 2 sends twice, to 1 and to 3"),
        (&[&[of_8(0, 1)], &[], &[of_8(3, 3)]], "step 3: rank 3 sends to itself"),
        (&[&[of_8(0, 7)]], "step 1: 0 -> 7 names rank 7; there are 4 ranks, from 0"),
        (&[&[of_8(0, 3)]], "step 1: 0 -> 3 is not in the pattern"),
        (&[&[of_8(0, 1)], &[of_8(0, 1)]], "step 2: 0 -> 1 carries 16 B; the pattern has 8 B for it, once"),
        (
            &[&[of_8(0, 1), of_8(1, 0)], &[Transfer { bytes: Bytes(3), ..of_8(2, 1) }]],
            "2 -> 1 carries 3 B in all; the pattern has 8 B for it",
        ),
        (&[], "0 -> 1 is never sent"),
    ];
    for (steps, wrong) in cases {
        let schedule = Schedule::new(4, steps.iter().map(|step| step.to_vec()).collect());
        assert_eq!(schedule.check(&pattern).unwrap_err().to_string(), wrong);
    }
    let linear = |steps| Schedule::with_rule(4, Rule::ManyToOne, steps);
    assert_eq!(linear(vec![vec![of_8(0, 1), of_8(2, 1)], vec![of_8(1, 0)]]).check(&pattern), Ok(()));
    assert_eq!(
        linear(vec![vec![of_8(0, 1), of_8(1, 0)]]).check(&pattern).unwrap_err().to_string(),
        "step 1: ranks 1 and 0 receive; in a linear schedule only one does"
    );
    let at_once = |steps| Schedule::with_rule(4, Rule::ManyToMany, steps);
    assert_eq!(at_once(vec![vec![of_8(0, 1), of_8(1, 0), of_8(2, 1)]]).check(&pattern), Ok(()));
    assert_eq!(
        at_once(vec![vec![of_8(0, 1), of_8(0, 1)]]).check(&pattern).unwrap_err().to_string(),
        "step 1: rank 0 sends twice, to 1 and to 1"
    );
    let others = ScheduleError::Ranks { schedule: 4, pattern: 3 };
    assert_eq!(Schedule::new(4, Vec::new()).check(&Pattern::new(3, vec![0; 9]).unwrap()), Err(others));
}

#[test]
fn a_linear_step_takes_as_long_as_its_receiver_needs_for_all_messages() {
    let of = |from, bytes| Transfer { from: Rank(from), to: Rank(0), bytes: Bytes(bytes) };
    let pattern = Pattern::of_messages(3, vec![of(1, 7), of(2, 5)]).unwrap();
    let measures = irregular::linear(&pattern).measures();
    assert_eq!((measures.carrying_steps, measures.least_steps, measures.most_messages_of_a_rank), (1, 1, 2));
    assert_eq!((measures.bytes_in_step, measures.transfers_in_step), (Bytes(12), 2));
}

#[test]
fn a_permutation_goes_in_one_step_by_the_best_schedule() {
    let ring = Pattern::of_messages(5, (0..5).map(|from| of_8(from, (from + 2) % 5)).collect()).unwrap();
    let (best, schedule) = Irregular::best(&ring);
    assert_eq!((best, schedule.steps.len()), (Irregular::EdgeColouring, 1));
    assert_eq!(irregular::greedy(&ring).steps.len(), 3);
}

#[test]
fn a_message_in_parts_is_one_message_to_those_who_follow_the_schedule() {
    let part = |from, to, bytes| Transfer { bytes: Bytes(bytes), ..of_8(from, to) };
    let steps = vec![vec![part(0, 1, 3), part(1, 0, 8)], vec![part(0, 1, 1), part(2, 0, 5)], vec![part(0, 1, 4)]];
    let schedule = Schedule::new(3, steps);
    let pattern = Pattern::of_messages(3, vec![part(0, 1, 8), part(1, 0, 8), part(2, 0, 5)]).unwrap();
    assert_eq!(schedule.check(&pattern), Ok(()));
    for pacing in Pacing::all() {
        brings_every_message(&pattern, &schedule, pacing, SendReceiveOrder::Alternating);
    }
}

#[test]
fn messages_of_no_bytes_are_sent_too() {
    let empty = |from, to| Transfer { bytes: Bytes(0), ..of_8(from, to) };
    let pattern = Pattern::of_messages(4, vec![empty(0, 1), empty(1, 2), empty(2, 0), of_8(3, 0)]).unwrap();
    for algorithm in Irregular::all() {
        let schedule = algorithm.schedule(&pattern);
        assert_eq!(schedule.check(&pattern), Ok(()));
        assert_eq!(schedule.measures().messages, 4);
        brings_every_message(&pattern, &schedule, Pacing::ReceiverConfirmed, SendReceiveOrder::Alternating);
    }
}

#[test]
fn what_a_rank_has_for_itself_is_no_message_and_is_copied_before_anything_else() {
    let pattern = Pattern::new(2, vec![7, 8, 0, 9]).unwrap();
    assert_eq!(
        (pattern.messages(), pattern.own(Rank(0)), pattern.own_in_all()),
        (&[of_8(0, 1)][..], Bytes(7), Bytes(16))
    );
    assert_eq!(pattern.loads(), [(Bytes(8), Bytes(0)), (Bytes(0), Bytes(8))]);
    let schedule = irregular::greedy(&pattern);
    assert_eq!(schedule.measures().messages, 1);
    let clock = Clock::new(worlds::MODEL);
    let ends = |copies: &[u64]| {
        let copies = copies.iter().map(|&copy| Duration::from_nanoseconds(copy)).collect();
        let program = Scheduled::new(&schedule, Pacing::FreeRunning).copying(copies);
        clock.run(2, &program).unwrap().1.finish
    };
    let (before, after) = (ends(&[]), ends(&[1_000, 0]));
    assert_eq!(after[0], before[0] + Duration::from_nanoseconds(1_000));
    assert!(after[1] > before[1], "the receiver waits for the sender, which copies first");
}

#[test]
fn a_pattern_that_is_none_is_refused() {
    let cases = [
        (Pattern::new(0, Vec::new()), "a pattern has 1 to 16384 ranks, not 0"),
        (Pattern::new(20_000, Vec::new()), "a pattern has 1 to 16384 ranks, not 20000"),
        (Pattern::new(2, vec![0; 3]), "a pattern of 2 ranks has 4 entries, not 3"),
        (Pattern::of_messages(2, vec![of_8(1, 1)]), "rank 1 sends 8 B to itself, which is no message"),
        (
            Pattern::new(2, vec![u64::MAX, 1, 1, 9]),
            "the messages of a pattern are at most 18446744073709551615 bytes together",
        ),
        (
            Pattern::new(3, vec![0, u64::MAX, 1, 0, 0, 0, 0, 0, 0]),
            "the messages of a pattern are at most 18446744073709551615 bytes together",
        ),
        (Pattern::of_messages(2, vec![of_8(0, 2)]), "rank 2 does not exist; there are 2"),
        (Pattern::of_messages(2, vec![of_8(0, 1), of_8(0, 1)]), "rank 0 has two messages for rank 1"),
        (Pattern::complete(16_384, Bytes(1)), "a pattern has at most 67108864 messages, not 268419072"),
        (Pattern::random(4, 1_000_001, Bytes(1), 1), "a density is from 0 to 1, not 1000001 millionths"),
    ];
    for (pattern, wrong) in cases {
        assert_eq!(pattern.unwrap_err().to_string(), wrong);
    }
}

#[test]
fn a_random_pattern_has_the_density_that_was_asked_for() {
    for (millionths, messages) in [(0, 0), (100_000, 99), (250_000, 248), (1_000_000, 992)] {
        let pattern = Pattern::random(32, millionths, Bytes(256), 7).unwrap();
        assert_eq!(pattern.messages().len(), messages);
    }
    let of_seed = |seed| Pattern::random(32, 250_000, Bytes(256), seed).unwrap();
    assert_eq!(of_seed(1), of_seed(1));
    assert_ne!(of_seed(1), of_seed(2));
}

#[test]
fn a_text_that_is_no_schedule_is_refused() {
    let text = |steps: &str| {
        format!("{{\"format\": \"maquette-schedule-1\", \"ranks\": 3, \"rule\": \"one-each\",\n\"steps\": {steps}}}")
    };
    let cases = [
        (String::new(), "a.json:1:1: found the end of the file; allowed is the rest of a schedule"),
        ("[]".into(), "a.json:1:2: invalid length 0, expected an object with `format`, `ranks`, `rule` and `steps`"),
        (text("[[{\"from\": 0}]]"), "a.json:2:22: the field `to` is missing"),
        (text("[[{\"from\": 0, \"too\": 1}]]"), "a.json:2:28: there is no field `too`; the fields are from, to, bytes"),
        (
            text("[[{\"from\": 0, \"to\": 1, \"bytes\": -1}]]"),
            "a.json:2:43: invalid value: integer `-1`, expected a whole number from 0 on",
        ),
        (
            text("[[{\"from\": 0, \"to\": 3, \"bytes\": 1}]]"),
            "a.json:2:11: step 1: 0 -> 3 names rank 3; there are 3 ranks, from 0",
        ),
        (
            text("[[{\"from\": 0, \"to\": 1, \"bytes\": 1}, {\"from\": 2, \"to\": 1, \"bytes\": 1}]]"),
            "a.json:2:11: step 1: rank 1 receives twice, from 0 and from 2",
        ),
        (
            text("[]").replace("one-each", "any"),
            "a.json:1:55: rule: found \"any\"; allowed is \"one-each\", \"many-to-one\" or \"many-to-many\"",
        ),
        (text("[]").replace('3', "0"), "a.json:1:44: ranks: found 0; allowed is 1 to 16384"),
        (
            text("[]").replace("-1\"", "-2\""),
            "a.json:1:12: format: found \"maquette-schedule-2\"; allowed is \"maquette-schedule-1\"",
        ),
        (
            text(
                "[[{\"from\": 0, \"to\": 1, \"bytes\": 18446744073709551615}], [{\"from\": 0, \"to\": 1, \"bytes\": 1}]]",
            ),
            "a.json:2:10: steps: found more than 18446744073709551615 bytes in all transfers together; allowed is that many",
        ),
    ];
    for (text, wrong) in cases {
        assert_eq!(Schedule::from_json("a.json", text.as_bytes()).unwrap_err().to_string(), wrong, "{text}");
    }
}

#[test]
fn the_nearest_name_is_suggested() {
    let text = "{\"format\": \"maquette-schedule-1\", \"ranks\": 3, \"rule\": \"one-each\", \"steps\": []}";
    let meant = |from: &str, to: &str| {
        let text = text.replace(from, to);
        Schedule::from_json("a.json", text.as_bytes()).unwrap_err().meant
    };
    assert_eq!(meant("\"rule\"", "\"rules\""), Some("rule".to_owned()));
    assert_eq!(meant("one-each", "one-eech"), Some("one-each".to_owned()));
    assert_eq!(meant("one-each", "anything"), None);
}
