//! Complete exchange by every algorithm: every rank ends with the right bytes from every other, in every world.

use crate::worlds;
use endpoint::{Endpoint, Error, Message, Program, Result, World};
use machines::model::LogGp;
use maquette_collectives::all_reduce::{Operator, Sends};
use maquette_collectives::all_to_all::{Bruck, Complete, CompleteExchange};
use maquette_collectives::barrier::Dissemination;
use maquette_collectives::schedule::{Pacing, Pattern, Rule, Scheduled, SendReceiveOrder};
use maquette_collectives::{CollectiveProgram, Data, Group, Sizes};
use proptest::prelude::*;
use quantities::{Bytes, Duration, Rank};
use virtual_worlds::loggp::Clock;

/// The exchange with real messages; a rank ends with what it took.
struct Delivery {
    algorithm: Complete,
    bytes: u64,
    order: SendReceiveOrder,
}

/// Bytes that differ for each pair of ranks.
fn content(from: Rank, to: Rank, bytes: u64) -> Vec<u8> {
    (0..bytes).map(|index| (u64::from(from.0) * 37 + u64::from(to.0) * 11 + index * 5) as u8).collect()
}

impl Program for Delivery {
    type Output = Vec<(Rank, Vec<u8>)>;

    async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<Self::Output> {
        let (me, bytes, order, reshuffle) = (endpoint.rank(), self.bytes, self.order, Duration::from_picoseconds(3));
        let mut taken = Vec::new();
        let message_for = |to| Message::from(content(me, to, bytes));
        let take = |from, message: Message| taken.push((from, message.content().map_or(Vec::new(), |it| it.to_vec())));
        let exchange = CompleteExchange::new(self.algorithm.algorithm(Some(order), reshuffle), Bytes(bytes));
        exchange.exchange(endpoint, message_for, take).await?;
        taken.sort();
        Ok(taken)
    }
}

fn brings_every_message(algorithm: Complete, ranks: u32, bytes: u64, order: SendReceiveOrder) {
    for (world, ended) in worlds::everywhere(ranks, &Delivery { algorithm, bytes, order }) {
        let ended = ended.unwrap_or_else(|error| panic!("{world}: {error}"));
        for (to, taken) in (0..ranks).map(Rank).zip(ended) {
            let others = (0..ranks).map(Rank).filter(|&from| from != to);
            let wanted: Vec<_> = others.map(|from| (from, content(from, to, bytes))).collect();
            assert_eq!(taken, Ok(wanted), "{} of {ranks} ranks on {world}", algorithm.name());
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn every_rank_ends_with_the_messages_of_all_others_in_every_world(ranks in 1..=16_u32, bytes in 0..300_u64, in_turn in any::<bool>()) {
        let order = if in_turn { SendReceiveOrder::Alternating } else { SendReceiveOrder::Sendrecv };
        for algorithm in Complete::all() {
            if algorithm.check(ranks).is_ok() {
                brings_every_message(algorithm, ranks, bytes, order);
            }
        }
    }
}

#[test]
fn recursive_exchange_is_for_powers_of_two() {
    for ranks in [1, 2, 16] {
        assert_eq!(Complete::Recursive.check(ranks), Ok(()));
    }
    let program = Delivery { algorithm: Complete::Recursive, bytes: 8, order: SendReceiveOrder::Alternating };
    for (_, ended) in worlds::everywhere(6, &program) {
        let refused =
            Err(Error::Unfit("recursive exchange needs a number of ranks that is a power of two, not 6".to_owned()));
        assert!(ended.unwrap().into_iter().all(|taken| taken == refused));
    }
}

/// Sends messages of a size that depends on the receiver by an algorithm that forwards them.
struct Uneven;

impl Program for Uneven {
    type Output = ();
    async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<()> {
        let message_for = |to: Rank| Message::of_size(Bytes(u64::from(to.0)));
        let exchange = CompleteExchange::new(Bruck { reshuffle: Duration::ZERO }, Bytes(1));
        exchange.exchange(endpoint, message_for, |_, _| ()).await
    }
}

#[test]
fn messages_that_are_forwarded_are_of_one_size() {
    for (_, ended) in worlds::everywhere(3, &Uneven) {
        let wrong = "an exchange that forwards messages needs them all of one size: one is of 2 B, not of 1 B";
        assert_eq!(ended.unwrap()[0], Err(Error::Unfit(wrong.to_owned())));
    }
}

#[test]
fn the_programs_receive_what_their_schedules_say() {
    for algorithm in Complete::all() {
        for ranks in [1, 2, 5, 8, 13, 16].into_iter().filter(|&ranks| algorithm.check(ranks).is_ok()) {
            let schedule = algorithm.schedule(ranks, Bytes(24)).unwrap();
            let received = |to| schedule.transfers().filter(|it| it.to == to).map(|it| it.bytes.0).sum::<u64>();
            let made = algorithm.algorithm(Some(SendReceiveOrder::Alternating), Duration::ZERO);
            let program = CompleteExchange::new(made, Bytes(24));
            for (world, ended) in worlds::everywhere(ranks, &program) {
                for (to, bytes) in (0..ranks).map(Rank).zip(ended.unwrap()) {
                    assert_eq!(bytes, Ok(Bytes(received(to))), "{} of {ranks} ranks on {world}", algorithm.name());
                }
            }
            if !algorithm.forwards() {
                assert_eq!(schedule.check(&Pattern::complete(ranks, Bytes(24)).unwrap()), Ok(()));
            }
        }
    }
}

/// Following a schedule takes the same time as the program it was made from, if nothing is shared.
#[test]
fn following_a_schedule_takes_as_long_as_the_program() {
    for rendezvous in [None, Some(Bytes(0))] {
        let world = Clock::new(LogGp { rendezvous, ..worlds::MODEL });
        for (algorithm, ranks) in
            [(Complete::Linear, 9), (Complete::Pairwise, 16), (Complete::Balanced, 16), (Complete::Balanced, 11)]
        {
            let bytes = Bytes(100);
            let made = algorithm.algorithm(Some(SendReceiveOrder::Alternating), Duration::ZERO);
            let program = CompleteExchange::new(made, bytes);
            let schedule = algorithm.schedule(ranks, bytes).unwrap();
            let (_, of_program) = world.run(ranks, &program).unwrap();
            let followed = Scheduled::new(&schedule, Pacing::FreeRunning);
            let (_, of_schedule) = world.run(ranks, &followed).unwrap();
            assert_eq!(of_program.finish, of_schedule.finish, "{} of {ranks} ranks", algorithm.name());
        }
    }
}

/// o + (s-1) G + L + o, from the call of send to the end of receive.
fn one_way(bytes: u64) -> u64 {
    2 * worlds::MODEL.overhead.picoseconds()
        + worlds::MODEL.latency.picoseconds()
        + bytes.saturating_sub(1) * worlds::MODEL.gap_per_byte.picoseconds()
}

#[test]
fn the_cost_formulas_hold_without_a_network() {
    for rendezvous in [None, Some(Bytes(0))] {
        the_cost_formulas_hold(&Clock::new(LogGp { rendezvous, ..worlds::MODEL }));
    }
}

/// On a clock without a network, whether sends wait for their receivers or not.
fn the_cost_formulas_hold(world: &Clock) {
    let (bytes, reshuffle) = (10, 7);
    let time = |algorithm: Complete, ranks, order| {
        let made = algorithm.algorithm(Some(order), Duration::from_picoseconds(reshuffle));
        let program = CompleteExchange::new(made, Bytes(bytes));
        world.run(ranks, &program).unwrap().1.makespan().picoseconds()
    };
    for ranks in [2_u32, 8, 32] {
        let (steps, dimensions) = (u64::from(ranks) - 1, u64::from(ranks.ilog2()));
        for algorithm in [Complete::Pairwise, Complete::Balanced] {
            assert_eq!(time(algorithm, ranks, SendReceiveOrder::Sendrecv), steps * one_way(bytes));
            assert!(time(algorithm, ranks, SendReceiveOrder::Alternating) <= 2 * steps * one_way(bytes));
        }
        let packed = bytes * u64::from(ranks / 2);
        let store_and_forward = dimensions * (one_way(packed) + 2 * packed * reshuffle);
        assert_eq!(time(Complete::Recursive, ranks, SendReceiveOrder::Sendrecv), store_and_forward);
        assert_eq!(time(Complete::Bruck, ranks, SendReceiveOrder::Sendrecv), store_and_forward);
        assert!(time(Complete::Recursive, ranks, SendReceiveOrder::Alternating) <= 2 * store_and_forward);
    }
    for ranks in [3, 7, 12, 31] {
        let steps = u64::from(ranks) - 1;
        assert_eq!(time(Complete::Pairwise, ranks, SendReceiveOrder::Sendrecv), steps * one_way(bytes));
        assert_eq!(time(Complete::Pairwise, ranks, SendReceiveOrder::Alternating), steps * one_way(bytes));
    }
}

#[test]
fn root_crossings_of_a_complete_exchange() {
    for ranks in [16_u32, 32, 64, 256] {
        let (quarter, half) = (ranks / 4, ranks as usize / 2);
        let crossings = |algorithm: Complete| {
            let transfers = algorithm.schedule(ranks, Bytes(1)).unwrap().root_crossings(quarter);
            transfers.into_iter().map(|transfers| transfers / 2).collect::<Vec<usize>>()
        };
        // In total 3N/4 x N/2 exchanges cross the root.
        let total = 3 * quarter as usize * half;
        let pairwise = crossings(Complete::Pairwise);
        assert_eq!(pairwise.iter().sum::<usize>(), total);
        // In pairwise exchange they are in 3N/4 steps, in which all exchanges cross it.
        assert_eq!(pairwise.iter().filter(|&&count| count == half).count(), 3 * quarter as usize);
        assert_eq!(pairwise.iter().filter(|&&count| count == 0).count(), quarter as usize - 1);
        // In balanced exchange some cross it in each of the N - 1 steps, and all of them in at most half of the steps.
        let balanced = crossings(Complete::Balanced);
        assert_eq!(balanced.iter().sum::<usize>(), total);
        assert_eq!(balanced.len(), ranks as usize - 1);
        assert!(balanced.iter().all(|&count| count > 0), "{balanced:?}");
        assert!(2 * balanced.iter().filter(|&&count| count == half).count() <= 3 * quarter as usize, "{balanced:?}");
    }
}

#[test]
fn a_barrier_ends_in_every_world() {
    for ranks in 1..=16 {
        for (world, ended) in worlds::everywhere(ranks, &Dissemination { times: 3 }) {
            assert!(ended.unwrap().iter().all(Result::is_ok), "{world}");
        }
    }
}

/// One rank is late at a barrier; the others end with the time at which they could go on.
struct Late(Rank);

impl Program for Late {
    type Output = u64;
    async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<u64> {
        if endpoint.rank() == self.0 {
            endpoint.compute(Duration::from_picoseconds(1_000_000_000)).await;
        }
        maquette_collectives::barrier::dissemination(endpoint).await?;
        Ok(endpoint.now().picoseconds())
    }
}

#[test]
fn nobody_passes_a_barrier_before_the_last_one_has_come() {
    for late in (0..11).map(Rank) {
        for (world, ended) in worlds::everywhere(11, &Late(late)) {
            assert!(ended.unwrap().into_iter().all(|passed| passed.unwrap() >= 1_000_000_000), "{world}");
        }
    }
}

#[test]
fn a_linear_schedule_has_one_receiver_a_step() {
    assert_eq!(Complete::Linear.schedule(4, Bytes(1)).unwrap().rule, Rule::ManyToOne);
}

/// Rank 0 packs 100 bytes and then rank 1 unpacks them; rank 1 itself has nothing to pack, and rank 0 nothing to unpack.
#[test]
fn a_rank_unpacks_as_much_as_it_has_received() {
    let sizes = Sizes::Each([0, 100, 0, 0].map(Bytes).to_vec());
    for (algorithm, order) in [
        (Complete::Bruck, SendReceiveOrder::Sendrecv),
        (Complete::Recursive, SendReceiveOrder::Sendrecv),
        (Complete::Recursive, SendReceiveOrder::Alternating),
    ] {
        let end = |reshuffle: Duration| {
            let program = CollectiveProgram {
                algorithm: algorithm.algorithm(Some(order), reshuffle).into(),
                group: Group::from_source(Rank(0), 2).unwrap(),
                root: Rank(0),
                operator: Operator::Xor,
                sends: Sends::Early,
                sizes: sizes.clone(),
                data: Data::Sizes,
            };
            let (results, answer) = Clock::new(worlds::MODEL).run(2, &program).unwrap();
            assert!(results.iter().all(Result::is_ok));
            [0, 1].map(|rank: usize| answer.finish[rank].picoseconds())
        };
        let each = 1_000_000;
        let (without, with) = (end(Duration::ZERO), end(Duration::from_picoseconds(each)));
        assert!(with[1] - without[1] == 200 * each, "{algorithm:?} {order:?}: {with:?} {without:?}");
        assert!(with[0] - without[0] <= 200 * each, "{algorithm:?} {order:?}: {with:?} {without:?}");
    }
}
