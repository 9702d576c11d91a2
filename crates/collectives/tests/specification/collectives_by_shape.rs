//! Every algorithm of every collective ends as its shape says, with real bytes, among any number of ranks.

use endpoint::{Endpoint, Message, Needs, Program, Result, World};
use maquette_collectives::Group;
use maquette_collectives::all_reduce::{Number, Operation, Operator, Sends};
use maquette_collectives::all_to_all;
use maquette_collectives::catalogue::Parameters;
use maquette_collectives::{
    AnyAlgorithm, Collective, CollectiveEnd, CollectiveProgram, Data, OverlappedProgram, Performs, Sizes,
};
use proptest::prelude::*;
use quantities::{Bytes, Rank};
use virtual_worlds::answer::Answer;
use virtual_worlds::loggp::Clock;

use crate::collectives::{T0, any_group, lambda};
use crate::worlds::{MODEL, everywhere};

const SUM: Operator = Operator::Of(Operation::Sum, Number::U64);
/// Its elements are single bytes, so that it combines blocks of any size.
const BITS: Operator = Operator::Xor;

/// All algorithms of all collectives among so many ranks, with a latency and segments that are no special case; but for
/// those that need hardware of their own, and those that are for other numbers of ranks.
fn all_algorithms(ranks: u32) -> Vec<AnyAlgorithm> {
    let parameters =
        Parameters { lambda: Some(lambda("9/5")), t0: Some(T0), segment: Some(Bytes(7)), ..Parameters::of(ranks) };
    let named = |collective: Collective| {
        let parameters = parameters.clone();
        let make = move |name| collective.algorithm(name, &mut parameters.clone()).unwrap().unwrap();
        collective.algorithms().into_iter().map(make)
    };
    let all = Collective::ALL.iter().copied().flat_map(named);
    all.filter(|algorithm| !algorithm.needs().multicast() && algorithm.check(ranks).is_ok()).collect()
}

/// Runs it on a clock, with what its algorithm needs.
fn run(ranks: u32, program: &CollectiveProgram) -> Result<(Vec<Result<CollectiveEnd>>, Answer)> {
    match program.algorithm.needs().overlap() {
        true => Clock::new(MODEL).run(ranks, &OverlappedProgram(program.clone())),
        false => Clock::new(MODEL).run(ranks, program),
    }
}

fn program(algorithm: &AnyAlgorithm, ranks: u32, root: u32, bytes: u64) -> CollectiveProgram {
    CollectiveProgram {
        algorithm: algorithm.clone(),
        group: Group::from_source(Rank(0), ranks).unwrap(),
        root: Rank(root),
        operator: BITS,
        sends: Sends::Early,
        sizes: Sizes::Same(Bytes(bytes)),
        data: Data::Bytes,
    }
}

/// That every rank ends with what the shape says, and that no message is left.
fn check(program: &CollectiveProgram, ranks: u32) {
    let about = || {
        format!(
            "{} of {:?} among {ranks}, root {}",
            program.algorithm.name(),
            program.algorithm.collective(),
            program.root
        )
    };
    let (ends, answer) = run(ranks, program).unwrap_or_else(|error| panic!("{}: {error}", about()));
    for (rank, end) in (0..).map(Rank).zip(ends) {
        let end = end.unwrap_or_else(|error| panic!("{}, rank {rank}: {error}", about()));
        program.check(rank, &end).unwrap_or_else(|error| panic!("{}: {error}", about()));
    }
    assert_eq!(answer.unreceived, [], "{}", about());
}

#[test]
fn every_rank_ends_with_its_blocks_for_any_number_of_ranks_and_any_root() {
    for ranks in (1..=33).chain([48, 100, 257]) {
        for algorithm in all_algorithms(ranks) {
            let has_root = algorithm.collective().shape().has_root();
            let roots = if has_root && ranks <= 33 { 0..ranks } else { ranks / 3..ranks / 3 + 1 };
            for root in roots {
                for bytes in [0, 1, 3, 17, 1000] {
                    // All roots of all numbers of ranks with every size would take minutes.
                    if bytes == 17 || root % 8 == 3 || ranks <= 8 {
                        check(&program(&algorithm, ranks, root, bytes), ranks);
                    }
                }
            }
        }
    }
}

/// That blocks come exactly where the shape says is shown without a machine: only the messages themselves move.
#[test]
fn blocks_come_where_the_shape_says_among_up_to_1024_ranks() {
    const MANY_MESSAGES: f64 = 1e5;
    for ranks in [256, 600, 1024] {
        let many = |it: &AnyAlgorithm| it.cost(lambda("9/5"), ranks, Bytes(1)).messages > MANY_MESSAGES;
        // Those with a message for each pair of ranks take seconds, and with a block for each pair even longer.
        let runs = |it: &AnyAlgorithm| match it.collective().shape().is_exchange() {
            true => ranks == 256,
            false => ranks == 1024 || (ranks == 600 && !many(it)),
        };
        for algorithm in all_algorithms(ranks).into_iter().filter(runs) {
            check(&program(&algorithm, ranks, ranks / 3, 1), ranks);
        }
    }
}

#[test]
fn numbers_are_combined_as_numbers() {
    for operator in Operator::all() {
        for ranks in [1, 2, 7, 12] {
            let reduces = |it: &AnyAlgorithm| it.collective().shape().reduction.is_some();
            for algorithm in all_algorithms(ranks).into_iter().filter(reduces) {
                check(&CollectiveProgram { operator, ..program(&algorithm, ranks, ranks / 2, 48) }, ranks);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Blocks of any sizes, at ranks of any group, in any order.
    #[test]
    fn any_group_ends_with_blocks_of_any_sizes((ranks, group) in any_group(), seed in any::<u32>()) {
        for algorithm in all_algorithms(group.len()) {
            let blocks = algorithm.collective().shape().blocks(group.len());
            let size = |block: u64| Bytes(u64::from(seed.rotate_left(block as u32) % 23) + block / 32 % 3);
            let sizes = if blocks > 1 { Sizes::Each((0..blocks).map(size).collect()) } else { Sizes::Same(size(0)) };
            let root = Rank(seed % group.len());
            check(&CollectiveProgram { group: group.clone(), sizes, root, ..program(&algorithm, ranks, 0, 0) }, ranks);
        }
    }
}

#[test]
fn every_world_ends_with_the_same() {
    for ranks in [3, 8, 13] {
        for algorithm in all_algorithms(ranks) {
            // Some worlds send synchronously, which an algorithm is told.
            let program = CollectiveProgram { sends: Sends::Synchronous, ..program(&algorithm, ranks, ranks / 2, 200) };
            let everywhere = match algorithm.needs().overlap() {
                true => everywhere(ranks, &OverlappedProgram(program.clone())),
                false => everywhere(ranks, &program),
            };
            for (world, ends) in everywhere {
                for (rank, end) in (0..).map(Rank).zip(ends.unwrap()) {
                    let name = algorithm.name();
                    program.check(rank, &end.unwrap()).unwrap_or_else(|error| panic!("{name} on {world}: {error}"));
                }
            }
        }
    }
}

/// Where messages are only sizes, as many go as many bytes at the same times.
#[test]
fn sizes_take_the_time_of_bytes() {
    for ranks in [2, 11, 16] {
        for algorithm in all_algorithms(ranks) {
            let bytes = program(&algorithm, ranks, 1, 40);
            let sizes = CollectiveProgram { data: Data::Sizes, ..bytes.clone() };
            let [with_bytes, with_sizes] = [bytes, sizes].map(|program| {
                let (ends, answer) = run(ranks, &program).unwrap();
                let received: Vec<Bytes> = ends.into_iter().map(|end| end.unwrap().received).collect();
                (answer.finish, answer.messages, received)
            });
            assert_eq!(with_bytes, with_sizes, "{}", algorithm.name());
        }
    }
}

#[test]
fn what_does_not_fit_is_an_error() {
    let error = |program: CollectiveProgram, ranks| {
        let (ends, _) = run(ranks, &program).unwrap();
        ends.into_iter().next().unwrap().unwrap_err().to_string()
    };
    for algorithm in all_algorithms(3) {
        let shape = algorithm.collective().shape();
        let program = program(&algorithm, 3, 0, 9);
        if shape.has_root() {
            let beyond = CollectiveProgram { root: Rank(3), ..program.clone() };
            assert_eq!(error(beyond, 3), "rank 3 does not exist: the program has 3");
        }
        if shape.reduction.is_some() {
            let halves = CollectiveProgram { operator: SUM, ..program.clone() };
            assert!(
                error(halves, 3).starts_with("sum-u64 combines elements of 8 B: 9 B is not a whole number of them")
            );
        }
        let uneven = CollectiveProgram { sizes: Sizes::Each(vec![Bytes(1); 7]), ..program };
        assert!(error(uneven, 3).starts_with("sizes: found 7; allowed is one for each of the "));
    }
}

/// Every message of everybody for everybody, all begun at once.
struct Posted;

impl Program for Posted {
    type Output = Vec<u8>;
    const NEEDS: Needs = Needs::OVERLAP;

    async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<Vec<u8>> {
        let (Rank(me), size) = (endpoint.rank(), endpoint.size());
        let others: Vec<Rank> = (0..size).map(Rank).filter(|&rank| rank != endpoint.rank()).collect();
        let mut received = Vec::new();
        let message_for = |to: Rank| Message::from(vec![(20 * me + to.0) as u8]);
        let take = |_, message: Message| received.extend(message.content().unwrap().iter().copied());
        all_to_all::posted(endpoint, &others, &others, message_for, take).await?;
        Ok(received)
    }
}

#[test]
fn messages_that_are_all_begun_at_once_arrive() {
    for size in 1..=9_u32 {
        let (ends, _) = Clock::new(MODEL).run(size, &Posted).unwrap();
        for (rank, end) in (0..).zip(ends) {
            let from_each: Vec<u8> =
                (0..size).filter(|&from| from != rank).map(|from| (20 * from + rank) as u8).collect();
            assert_eq!(end.unwrap(), from_each);
        }
    }
}
