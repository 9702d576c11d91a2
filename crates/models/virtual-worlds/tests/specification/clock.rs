//! The clock world against the conformance suite, closed forms and hand-calculated times.

use collectives::all_to_all::{CompleteExchange, Pairwise};
use collectives::broadcast::BinomialBroadcast;
use endpoint::{Endpoint, Error, Message, Needs, Program, Result, Source, Tag, Tags, World, conformance};
use machines::model::LogGp;
use maquette_virtual_worlds::answer::{Activity, Answer};
use maquette_virtual_worlds::loggp::Clock;
use programs::benchmarks::{AllPairs, EqualDist, PartnerOrder, PingPong, UnequalDist};
use quantities::{Bytes, Duration, Rank, Time};

const fn picoseconds(count: u64) -> Duration {
    Duration::from_picoseconds(count)
}

/// Numbers that no sum of others equals by chance.
const MODEL: LogGp = LogGp {
    latency: picoseconds(100_000),
    overhead: picoseconds(7_000),
    gap: picoseconds(5_000),
    gap_per_byte: picoseconds(30),
    overhead_per_byte: picoseconds(2),
    rendezvous: None,
};

/// o + L + o + (s-1) G: a message from the call of `send` to the end of `receive`.
fn one_way(size: u64) -> u64 {
    7_000 + 100_000 + 7_000 + size.saturating_sub(1) * 30
}

#[test]
fn it_passes_the_conformance_suite() {
    conformance::world(|_| Clock::new(MODEL));
    conformance::overlapping_world(|_| Clock::new(MODEL));
    conformance::requests_world(|_| Clock::new(MODEL));
    conformance::world(|_| Clock::new(MODEL).on_arrival());
    conformance::overlapping_world(|_| Clock::new(MODEL).on_arrival());
    conformance::requests_world(|_| Clock::new(MODEL).on_arrival());
}

#[test]
fn it_passes_the_conformance_suite_when_every_send_waits_for_its_receiver() {
    conformance::world(|_| Clock::new(LogGp { rendezvous: Some(Bytes(0)), ..MODEL }));
    conformance::overlapping_world(|_| Clock::new(LogGp { rendezvous: Some(Bytes(0)), ..MODEL }));
}

#[test]
fn it_passes_the_conformance_suite_when_nothing_costs_anything() {
    let zero = Duration::ZERO;
    let free = LogGp {
        latency: zero,
        overhead: zero,
        gap: zero,
        gap_per_byte: zero,
        overhead_per_byte: zero,
        rendezvous: None,
    };
    conformance::world(|_| Clock::new(free));
    conformance::overlapping_world(|_| Clock::new(free));
}

#[test]
fn a_round_of_ping_pong_takes_two_messages() {
    for size in [0, 1, 2, 1000] {
        let program = PingPong { first: Rank(2), second: Rank(0), bytes: Bytes(size), rounds: 3 };
        let (times, answer) = Clock::new(MODEL).run(4, &program).unwrap();
        assert_eq!(times[2], Ok(vec![picoseconds(2 * one_way(size)); 3]));
        assert_eq!(answer.messages, 6);
        assert_eq!(answer.finish[1], Time::ZERO);
        assert_eq!(answer.makespan().picoseconds(), 6 * one_way(size));
    }
}

#[test]
fn a_binomial_broadcast_takes_the_logarithm_of_the_ranks() {
    for (ranks, rounds) in [(1, 0), (2, 1), (3, 2), (4, 2), (5, 3), (64, 6), (1000, 10)] {
        let program = BinomialBroadcast { root: Rank(ranks / 2), message: Message::from(b"seven b".to_vec()) };
        let model = LogGp { overhead_per_byte: Duration::ZERO, gap_per_byte: Duration::ZERO, ..MODEL };
        let (words, answer) = Clock::new(model).run(ranks, &program).unwrap();
        assert!(words.iter().all(|word| word.as_ref() == Ok(&program.message)));
        // Along the critical path the root's own sends overlap with the wires: the last leaf of the deepest chain.
        let deepest = rounds * one_way(1);
        assert!(answer.makespan().picoseconds() <= deepest, "{ranks} ranks");
        if ranks.is_power_of_two() {
            assert_eq!(answer.makespan().picoseconds(), deepest, "{ranks} ranks");
        }
        assert_eq!(answer.messages, u64::from(ranks) - 1);
    }
}

#[test]
fn a_pairwise_exchange_takes_a_step_for_each_partner() {
    for ranks in [1, 2, 7, 16] {
        let program = CompleteExchange::new(Pairwise::at_once(), Bytes(10));
        let (received, answer) = Clock::new(MODEL).run(ranks, &program).unwrap();
        let steps = u64::from(ranks) - 1;
        assert!(received.iter().all(|bytes| *bytes == Ok(Bytes(10 * steps))));
        // o + (s-1) O to send, the rest of the way after o, and the receiver's o + (s-1) G.
        assert!(answer.finish.iter().all(|finish| finish.picoseconds() == steps * one_way(10)), "{answer:?}");
    }
    // If the lower rank of each pair receives before it sends, its message comes after the other's.
    let (_, answer) = Clock::new(MODEL).run(2, &CompleteExchange::new(Pairwise::in_turns(), Bytes(10))).unwrap();
    assert_eq!(answer.makespan().picoseconds(), 2 * one_way(10));
}

#[test]
fn the_benchmarks_send_as_many_messages_as_in_the_study() {
    for ranks in [2, 4, 16, 64] {
        let world = Clock::new(MODEL);
        for order in
            [PartnerOrder::Shift, PartnerOrder::ExclusiveOr, PartnerOrder::Linear, PartnerOrder::Shuffled { seed: 1 }]
        {
            let (results, answer) = world.run(ranks, &AllPairs::of_size(Bytes(8), order)).unwrap();
            assert!(results.iter().all(Result::is_ok), "{order:?}");
            assert_eq!(answer.messages, 32 * u64::from(ranks) * u64::from(ranks - 1));
        }
        let rounds = u64::from(4096 / ranks);
        let (_, equal) = world.run(ranks, &EqualDist::of_size(Bytes(8))).unwrap();
        let (_, unequal) = world.run(ranks, &UnequalDist::of_size(Bytes(8))).unwrap();
        for answer in [equal, unequal] {
            assert_eq!(answer.messages, 4096);
            assert_eq!(answer.makespan().picoseconds(), 2 * rounds * one_way(8));
        }
    }
}

#[test]
fn a_program_that_does_not_fit_its_ranks_reports_why() {
    let world = Clock::new(MODEL);
    let first = |(results, _): (Vec<Result<()>>, Answer)| results.into_iter().next().unwrap().unwrap_err().to_string();
    let odd = first(world.run(5, &EqualDist::of_size(Bytes(8))).unwrap());
    assert_eq!(odd, "equal-dist pairs its ranks: it needs an even number of them, not 5");
    let many = first(world.run(8192, &UnequalDist::of_size(Bytes(8))).unwrap());
    assert_eq!(many, "unequal-dist shares 4096 messages out among its ranks: it needs at most 4096 of them, not 8192");
    let no_power = first(world.run(6, &AllPairs::of_size(Bytes(8), PartnerOrder::ExclusiveOr)).unwrap());
    assert_eq!(no_power, "all-pairs in exclusive-or order needs a number of ranks that is a power of two, not 6");
    let alone = PingPong { first: Rank(1), second: Rank(1), bytes: Bytes(1), rounds: 1 };
    assert!(matches!(&world.run(2, &alone).unwrap().0[0], Err(Error::Unfit(_))));
    let beyond = PingPong { first: Rank(0), second: Rank(2), bytes: Bytes(1), rounds: 1 };
    assert_eq!(world.run(2, &beyond).unwrap().0[0], Err(Error::NoSuchRank { rank: Rank(2), size: 2 }));
}

/// Rank 0 sends twice at once; rank 1 computes, then receives twice.
struct TwoInARow {
    bytes: Bytes,
}

impl Program for TwoInARow {
    type Output = Vec<Time>;
    async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<Vec<Time>> {
        let mut times = Vec::new();
        if endpoint.rank() == Rank(1) {
            endpoint.compute(picoseconds(150_000)).await;
        }
        for _ in 0..2 {
            if endpoint.rank() == Rank(0) {
                endpoint.send(Rank(1), Message::of_size(self.bytes)).await?;
            } else {
                endpoint.receive(Rank(0)).await?;
            }
            times.push(endpoint.now());
        }
        Ok(times)
    }
}

fn times_of(model: LogGp, bytes: u64) -> Vec<Vec<u64>> {
    let (results, _) = Clock::new(model).run(2, &TwoInARow { bytes: Bytes(bytes) }).unwrap();
    let plain = |times: Vec<Time>| times.into_iter().map(Time::picoseconds).collect();
    results.into_iter().map(|result| plain(result.unwrap())).collect()
}

#[test]
fn gaps_hold_the_second_message_up_on_both_sides() {
    // Sent at 0: processor until 7000 + 100 x 2 = 7200, interface until 5000 + 100 x 30 = 8000. Sent at 8000.
    // Arrives at 107000: taken at 150000, received at 150000 + 7000 + 3000, interface until 150000 + 8000.
    assert_eq!(times_of(MODEL, 101), [[7_200, 15_200], [160_000, 170_000]]);
    // With a gap of 20000 the second one waits for the interface: 150000 + 23000, then 7000 + 3000.
    let model = LogGp { gap: picoseconds(20_000), ..MODEL };
    assert_eq!(times_of(model, 101), [[7_200, 30_200], [160_000, 183_000]]);
}

#[test]
fn a_send_from_the_rendezvous_size_on_waits_for_its_receiver() {
    let model = LogGp { rendezvous: Some(Bytes(101)), ..MODEL };
    assert_eq!(times_of(model, 100)[0], times_of(MODEL, 100)[0]);
    // The first is taken at 150000; the second is sent then, arrives at 257000, and is received at 257000 + 10000.
    assert_eq!(times_of(model, 101), [[150_000, 257_000], [160_000, 267_000]]);
}

#[test]
fn two_ranks_that_send_to_each_other_and_wait_are_a_deadlock() {
    struct SendFirst(u64);
    impl Program for SendFirst {
        type Output = ();
        async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<()> {
            let other = Rank(endpoint.rank().0 ^ 1);
            endpoint.send(other, Message::of_size(Bytes(self.0))).await?;
            endpoint.receive(other).await.map(drop)
        }
    }
    let model = LogGp { rendezvous: Some(Bytes(1000)), ..MODEL };
    assert!(Clock::new(model).run(4, &SendFirst(999)).is_ok());
    let error = Clock::new(model).run(4, &SendFirst(1000)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "deadlock: rank 0 waits for rank 1 to receive its message, rank 1 waits for rank 0 to receive its message; \
         2 more ranks wait too"
    );
}

/// A program that receives from named ranks only, run as if it might receive from any rank, and so in order of time.
struct InOrder<P>(P);

impl<P: Program> Program for InOrder<P> {
    const NEEDS: Needs = Needs::ANY_SOURCE;
    type Output = P::Output;
    async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<P::Output> {
        self.0.run(endpoint).await
    }
}

#[test]
fn running_ahead_and_running_in_order_take_the_same_time() {
    fn compare<P: Program<Output: PartialEq + std::fmt::Debug>>(world: Clock, ranks: u32, program: P) {
        let (ahead, ahead_answer) = world.run(ranks, &program).unwrap();
        let (in_order, in_order_answer) = world.run(ranks, &InOrder(program)).unwrap();
        assert_eq!(ahead, in_order);
        assert_eq!(ahead_answer.finish, in_order_answer.finish);
        assert_eq!(ahead_answer.messages, in_order_answer.messages);
        assert_eq!(ahead_answer.ranks, in_order_answer.ranks);
        assert_eq!(ahead_answer.timeline.unwrap().spans, in_order_answer.timeline.unwrap().spans);
    }
    for gap in [5_000, 50_000] {
        for rendezvous in [None, Some(Bytes(100))] {
            let world = Clock::new(LogGp { gap: picoseconds(gap), rendezvous, ..MODEL }).with_timeline();
            compare(world, 12, AllPairs { bytes: Bytes(99), rounds: 2, order: PartnerOrder::Shuffled { seed: 5 } });
            compare(world, 16, CompleteExchange::new(Pairwise::in_turns(), Bytes(0)));
            compare(world, 9, CompleteExchange::new(Pairwise::in_turns(), Bytes(100)));
            compare(world, 37, BinomialBroadcast { root: Rank(7), message: Message::of_size(Bytes(1000)) });
            compare(world, 8, EqualDist { bytes: Bytes(100), messages: 64 });
            compare(world, 2, TwoInARow { bytes: Bytes(5000) });
            compare(world, 50, ManyToOne);
        }
    }
}

/// Rank 0 sends messages with two tags; rank 1 takes those of one tag from the first on, then those of the other.
struct TwoTags;

impl Program for TwoTags {
    type Output = Vec<(Tag, Bytes)>;
    async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<Self::Output> {
        let tag = |number: u64| Tag(number as u32 % 2);
        let mut taken = Vec::new();
        for number in (0..100).filter(|_| endpoint.rank() == Rank(0)) {
            endpoint.send_tagged(Rank(1), tag(number), Message::of_size(Bytes(number))).await?;
        }
        for wanted in [Tag(1), Tag(0)].into_iter().filter(|_| endpoint.rank() == Rank(1)) {
            for _ in 0..50 {
                let received = endpoint.receive_matching(Source::Rank(Rank(0)), Tags::Only(wanted), None).await?;
                taken.push((received.tag, received.message.size()));
            }
        }
        Ok(taken)
    }
}

#[test]
fn tags_choose_among_few_and_many_messages() {
    let expected: Vec<_> =
        [1, 0].iter().flat_map(|&tag| (0..50).map(move |at| (Tag(tag), Bytes(2 * at + u64::from(tag))))).collect();
    assert_eq!(Clock::new(MODEL).run(2, &TwoTags).unwrap().0[1], Ok(expected.clone()));
    assert_eq!(Clock::new(MODEL).run(2, &InOrder(TwoTags)).unwrap().0[1], Ok(expected));
}

/// Ranks 1 and 2 send to rank 0, which takes any message, with a deadline that passes between the two.
struct Deadlines;

impl Program for Deadlines {
    const NEEDS: Needs = Needs::ANY_SOURCE;
    /// The source of each message, if one came, and when that was known.
    type Output = Vec<(Option<Rank>, u64)>;
    async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<Self::Output> {
        if endpoint.rank() > Rank(0) {
            endpoint.compute(picoseconds(if endpoint.rank() == Rank(1) { 50_000 } else { 0 })).await;
            endpoint.send(Rank(0), Message::of_size(Bytes(1))).await?;
            return Ok(Vec::new());
        }
        let mut seen = Vec::new();
        for deadline in [107_000, 156_999, 157_000] {
            let came = endpoint.receive_any(Some(Time::from_picoseconds(deadline))).await;
            seen.push((came.ok().map(|(from, _)| from), endpoint.now().picoseconds()));
        }
        Ok(seen)
    }
}

#[test]
fn a_message_that_arrives_at_its_deadline_is_in_time() {
    let (results, _) = Clock::new(MODEL).run(3, &Deadlines).unwrap();
    // From rank 2, arriving at 107000 and received o later; nothing by 156999; from rank 1, arriving at 157000.
    assert_eq!(results[0], Ok(vec![(Some(Rank(2)), 114_000), (None, 156_999), (Some(Rank(1)), 164_000)]));
}

/// Every other rank sends two messages to rank 0, which takes them from the last rank first.
struct ManyToOne;

impl Program for ManyToOne {
    type Output = ();
    async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<()> {
        if endpoint.rank() > Rank(0) {
            endpoint.send(Rank(0), Message::of_size(Bytes(1))).await?;
            return endpoint.send(Rank(0), Message::of_size(Bytes(2))).await;
        }
        for from in (1..endpoint.size()).rev().map(Rank) {
            assert_eq!(endpoint.receive(from).await?.size(), Bytes(1));
            assert_eq!(endpoint.receive(from).await?.size(), Bytes(2));
        }
        Ok(())
    }
}

#[test]
fn a_hundred_thousand_senders_to_one_do_not_take_quadratic_time() {
    let (_, answer) = Clock::new(MODEL).run(100_001, &ManyToOne).unwrap();
    assert_eq!(answer.messages, 200_000);
}

/// Rank 0 sends rank 1 so many messages that they are sorted by sender. Rank 1 takes most of them, and goes on when
/// rank 0 has sent as many again, which it learns from rank 2.
struct ManyThenMore;

impl Program for ManyThenMore {
    /// The sizes, as rank 1 received them.
    type Output = Vec<u64>;
    async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<Vec<u64>> {
        let mut received = Vec::new();
        match endpoint.rank().0 {
            0 => {
                for size in 0..120 {
                    if size == 60 {
                        endpoint.receive(Rank(1)).await?;
                    }
                    endpoint.send(Rank(1), Message::of_size(Bytes(size))).await?;
                }
                endpoint.send(Rank(2), Message::default()).await?;
            }
            1 => {
                for message in 0..120 {
                    if message == 50 {
                        endpoint.send(Rank(0), Message::default()).await?;
                        endpoint.receive(Rank(2)).await?;
                    }
                    received.push(endpoint.receive(Rank(0)).await?.size().0);
                }
            }
            _ => {
                endpoint.receive(Rank(0)).await?;
                endpoint.send(Rank(1), Message::default()).await?;
            }
        }
        Ok(received)
    }
}

#[test]
fn messages_that_are_sorted_by_sender_are_joined_by_later_ones() {
    let (results, _) = Clock::new(MODEL).run(3, &ManyThenMore).unwrap();
    assert_eq!(results[1], Ok((0..120).collect()));
}

#[test]
fn a_timeline_shows_what_every_rank_did() {
    let world = Clock::new(MODEL).with_timeline();
    let (_, answer) = world.run(2, &TwoInARow { bytes: Bytes(101) }).unwrap();
    let timeline = answer.timeline.unwrap();
    let spans: Vec<_> = timeline
        .spans
        .iter()
        .map(|span| (span.rank.0, span.activity, span.start.picoseconds(), span.end.picoseconds()))
        .collect();
    assert_eq!(
        spans,
        [
            (0, Activity::Send, 0, 7_200),
            (0, Activity::Send, 7_200, 15_200),
            (1, Activity::Compute, 0, 150_000),
            (1, Activity::Receive, 150_000, 160_000),
            (1, Activity::Receive, 160_000, 170_000),
        ]
    );
    assert_eq!(timeline.messages.len(), 2);
    assert_eq!(answer.ranks[0].packets, 2);
}

#[test]
fn a_run_beyond_the_end_of_time_is_an_error() {
    let model = LogGp { latency: picoseconds(u64::MAX - 1), ..MODEL };
    let error = Clock::new(model).run(2, &TwoInARow { bytes: Bytes(u64::MAX) }).unwrap_err();
    assert!(matches!(error, Error::Unfit(_)), "{error}");
}

/// Ranks 1 and 2 are busy for the same time and then send to rank 0, which returns the senders in order of arrival.
struct AtOnce {
    /// How long each of them computes, one computation after the other. [ps]
    computes: [&'static [u64]; 2],
    /// Whether rank 2 begins its send before its computations, which its processor has begun earlier, are over.
    begins_early: bool,
}

impl Program for AtOnce {
    const NEEDS: Needs = Needs::ANY_SOURCE.and(Needs::OVERLAP);
    type Output = Vec<Rank>;

    async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<Vec<Rank>> {
        let message = Message::of_size(Bytes(8));
        match endpoint.rank() {
            Rank(0) => Ok(vec![endpoint.receive_any(None).await?.0, endpoint.receive_any(None).await?.0]),
            Rank(rank) => {
                let computes = async {
                    for &work in self.computes[rank as usize - 1] {
                        endpoint.compute(picoseconds(work)).await;
                    }
                };
                if rank == 2 && self.begins_early {
                    endpoint::join(computes, endpoint.send(Rank(0), message)).await.1?;
                } else {
                    computes.await;
                    endpoint.send(Rank(0), message).await?;
                }
                Ok(Vec::new())
            }
        }
    }
}

/// As the page on GOAL says.
#[test]
fn messages_that_arrive_in_one_instant_come_in_the_order_in_which_their_sends_were_begun() {
    let order = |computes, begins_early| {
        let (results, _) = Clock::new(MODEL).run(3, &AtOnce { computes, begins_early }).unwrap();
        results.into_iter().next().unwrap().unwrap()
    };
    // Begun in one instant: by rank at the beginning, and as long as all do the same.
    assert_eq!(order([&[], &[]], false), [Rank(1), Rank(2)]);
    assert_eq!(order([&[100], &[100]], false), [Rank(1), Rank(2)]);
    // What rank 2 waited for began earlier.
    assert_eq!(order([&[50, 50], &[100]], false), [Rank(2), Rank(1)]);
    // The send of rank 2 began earlier, though its processor took it up in the same instant.
    assert_eq!(order([&[100], &[100]], true), [Rank(2), Rank(1)]);
}
