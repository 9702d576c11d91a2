//! Sends and receives that are begun together, in the clock world that lets ranks run ahead of each other and in the
//! one that runs in order of time: both must agree, to the picosecond.

use endpoint::{Endpoint, Message, Needs, Program, Result, World};
use machines::model::LogGp;
use maquette_virtual_worlds::answer::Answer;
use maquette_virtual_worlds::loggp::Clock;
use proptest::prelude::*;
use quantities::{Bytes, Duration, Rank, Time};

/// The actions of a rank in a round, in which it sends to one rank and receives from one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Order {
    Sendrecv,
    SendFirst,
    ReceiveFirst,
}

#[derive(Clone, Copy, Debug)]
struct Turn {
    compute: Duration,
    order: Order,
    bytes: Bytes,
}

/// In every round all ranks compute, and then send along a permutation, except ranks that it maps to themselves. The
/// two programs differ in the needs that they declare.
#[derive(Clone, Debug)]
struct Rounds<const OVERLAPS: bool> {
    rounds: Vec<(Vec<u32>, Vec<Turn>)>,
}

impl<const OVERLAPS: bool> Program for Rounds<OVERLAPS> {
    /// After each round, when it was over and how many bytes arrived.
    type Output = Vec<(Time, Bytes)>;
    const NEEDS: Needs = if OVERLAPS { Needs::OVERLAP } else { Needs::NOTHING };

    async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<Vec<(Time, Bytes)>> {
        let Rank(me) = endpoint.rank();
        let mut ends = Vec::new();
        for (permutation, turns) in &self.rounds {
            let Turn { compute, order, bytes } = turns[me as usize];
            endpoint.compute(compute).await;
            let to = permutation[me as usize];
            if to == me {
                continue;
            }
            let from = Rank(permutation.iter().position(|&to| to == me).unwrap() as u32);
            let (to, message) = (Rank(to), Message::of_size(bytes));
            let received = match order {
                Order::Sendrecv => endpoint.sendrecv(to, message, from).await?,
                Order::SendFirst => {
                    endpoint.send(to, message).await?;
                    endpoint.receive(from).await?
                }
                Order::ReceiveFirst => {
                    let received = endpoint.receive(from).await?;
                    endpoint.send(to, message).await?;
                    received
                }
            };
            ends.push((endpoint.now(), received.size()));
        }
        Ok(ends)
    }
}

fn any_model() -> impl Strategy<Value = LogGp> {
    let time = |most: u64| (0..=most).prop_map(Duration::from_picoseconds);
    (time(300), time(90), time(120), time(7), time(5), prop::option::of((0..60_u64).prop_map(Bytes))).prop_map(
        |(latency, overhead, gap, gap_per_byte, overhead_per_byte, rendezvous)| LogGp {
            latency,
            overhead,
            gap,
            gap_per_byte,
            overhead_per_byte,
            rendezvous,
        },
    )
}

fn any_rounds() -> impl Strategy<Value = (u32, Rounds<false>)> {
    let order = prop_oneof![8 => Just(Order::Sendrecv), 1 => Just(Order::SendFirst), 1 => Just(Order::ReceiveFirst)];
    let turn = (prop_oneof![Just(0), 0..400_u64], order, 0..60_u64).prop_map(|(compute, order, bytes)| Turn {
        compute: Duration::from_picoseconds(compute),
        order,
        bytes: Bytes(bytes),
    });
    (2..9_u32).prop_flat_map(move |ranks| {
        let permutation = Just((0..ranks).collect::<Vec<u32>>()).prop_shuffle();
        let round = (permutation, prop::collection::vec(turn.clone(), ranks as usize));
        (Just(ranks), prop::collection::vec(round, 1..8).prop_map(|rounds| Rounds { rounds }))
    })
}

/// Everything that a run returns, in an order that does not depend on the order in which ranks ran.
fn summary(mut answer: Answer) -> String {
    if let Some(timeline) = &mut answer.timeline {
        timeline.spans.sort_by_key(|span| (span.end, span.rank, span.start, format!("{:?}", span.activity)));
        timeline.messages.sort_by_key(|message| (message.received, message.to, message.sent, message.size));
    }
    format!("{answer:?}")
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn ranks_that_run_ahead_take_the_same_time((ranks, ahead) in any_rounds(), model in any_model()) {
        let in_order: Rounds<true> = Rounds { rounds: ahead.rounds.clone() };
        let world = Clock::new(model).with_timeline();
        let [ahead, in_order] = [world.run(ranks, &ahead), world.run(ranks, &in_order)];
        match [ahead, in_order] {
            [Ok((ahead, of_ahead)), Ok((in_order, of_in_order))] => {
                prop_assert_eq!(ahead, in_order);
                prop_assert_eq!(summary(of_ahead), summary(of_in_order));
            }
            // Ranks that send first where a send waits for its receiver.
            [Err(ahead), Err(in_order)] => prop_assert_eq!(ahead, in_order),
            [ahead, in_order] => prop_assert!(false, "{:?} and {:?}", ahead.err(), in_order.err()),
        }
    }
}

/// o = 7 ns, L = 100 ns, g = 5 ns, no cost per byte; every send waits for its receiver.
const SYNCHRONOUS: LogGp = LogGp {
    latency: Duration::from_nanoseconds(100),
    overhead: Duration::from_nanoseconds(7),
    gap: Duration::from_nanoseconds(5),
    gap_per_byte: Duration::ZERO,
    overhead_per_byte: Duration::ZERO,
    rendezvous: Some(Bytes(0)),
};

#[test]
fn messages_that_wait_for_their_receivers_pass_each_other() {
    let turn = Turn { compute: Duration::ZERO, order: Order::Sendrecv, bytes: Bytes(8) };
    let late = Turn { compute: Duration::from_nanoseconds(1_000), ..turn };
    // A ring of three in which rank 2 is late: rank 1 waits until rank 2 has taken its message, rank 0 for the message
    // of rank 2.
    let program: Rounds<false> = Rounds { rounds: vec![(vec![1, 2, 0], vec![turn, turn, late])] };
    let (_, answer) = Clock::new(SYNCHRONOUS).run(3, &program).unwrap();
    let finish: Vec<u64> = answer.finish.iter().map(|time| time.picoseconds() / 1_000).collect();
    assert_eq!(finish, [1_000 + 7 + 100 + 7, 1_007, 1_000 + 7 + 100]);
}

#[test]
fn half_of_a_sendrecv_that_never_completes_is_reported_with_the_other_half() {
    struct Alone;
    impl Program for Alone {
        type Output = ();
        async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<()> {
            if endpoint.rank() == Rank(0) {
                endpoint.sendrecv(Rank(1), Message::of_size(Bytes(8)), Rank(2)).await?;
            }
            Ok(())
        }
    }
    let waits = "rank 0 waits for rank 1 to receive its message and for a message from rank 2";
    let error = Clock::new(SYNCHRONOUS).run(3, &Alone).unwrap_err();
    assert_eq!(error.to_string(), format!("deadlock: {waits}"));
}
