//! All-reduces: every rank ends with the right bytes, in every world; and they take the time that theory predicts.

use crate::collectives;
use crate::collectives::{T0, any_group, any_lambda, lambda, postal_clock};
use crate::worlds;
use endpoint::{Message, World};
use maquette_collectives::Group;
use maquette_collectives::all_reduce::{
    Algorithm, AllReduceByRings, AllReduceMessages, Census, Combine, Inputs, Operator, RecursiveDoubling, Sends,
    WeightedRing,
};
use maquette_collectives::catalogue::{Catalogue, Parameters};
use maquette_collectives::postal::{Delay, Lambda, Steps, broadcast_time, nodes_within};
use proptest::prelude::*;
use quantities::{Bytes, Rank};
use virtual_worlds::answer::Answer;

/// An operator under test.
#[derive(Clone, Copy, Debug)]
enum Tested {
    /// A named operator.
    Named(Operator),
    /// The greatest common divisor of two-byte numbers: associative and commutative, and not among the named ones.
    CommonDivisor,
}

impl Combine for Tested {
    fn name(&self) -> String {
        "tested".to_owned()
    }
    fn element(&self) -> u64 {
        match self {
            Tested::Named(operator) => operator.element(),
            Tested::CommonDivisor => 2,
        }
    }
    fn combine(&self, into: &mut [u8], other: &[u8]) {
        if let Tested::Named(operator) = self {
            return operator.combine(into, other);
        }
        for (one, other) in into.as_chunks_mut().0.iter_mut().zip(other.as_chunks().0) {
            let (mut a, mut b) = (u16::from_le_bytes(*one), u16::from_le_bytes(*other));
            while b > 0 {
                (a, b) = (b, a % b);
            }
            *one = a.to_le_bytes();
        }
    }
}

/// An operator whose results do not depend on order to the last bit: any but sums and products of floating-point
/// numbers.
fn any_exact_operator() -> impl Strategy<Value = Tested> {
    let rounds = ["sum-f64", "sum-f32", "product-f64", "product-f32"];
    let exact = Operator::all().filter(move |operator| !rounds.contains(&operator.to_string().as_str()));
    let all: Vec<Tested> = exact.map(Tested::Named).chain([Tested::CommonDivisor]).collect();
    proptest::sample::select(all)
}

/// `bytes` bytes for a place, which depend only on it and on `seed`.
fn content(place: u32, bytes: u64, seed: u64) -> Vec<u8> {
    (0..bytes)
        .map(|at| {
            ((seed ^ u64::from(place)).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(at as u32 * 7) >> 40) as u8
        })
        .collect()
}

/// The result of `operator` for all of them, in order.
fn expected(operator: Tested, contents: &[Vec<u8>]) -> Vec<u8> {
    let mut all = contents.iter().cloned();
    let first = all.next().unwrap();
    all.fold(first, |mut into, other| {
        operator.combine(&mut into, &other);
        into
    })
}

fn all(lambda: Lambda, n: u32) -> Vec<Algorithm> {
    Algorithm::all(&Parameters { lambda: Some(lambda), t0: Some(T0), ..Parameters::of(n) }).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 120, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_rank_of_the_group_ends_with_the_result(
        (size, group) in any_group(),
        lambda in any_lambda(),
        which in any::<prop::sample::Index>(),
        operator in any_exact_operator(),
        elements in 0u64..40,
        seed in any::<u64>(),
    ) {
        let n = group.len();
        let contents: Vec<Vec<u8>> =
            (0..n).map(|place| content(place, elements * operator.element(), seed)).collect();
        let expected = Message::from(expected(operator, &contents));
        let inputs = Inputs::Messages(contents.into_iter().map(Message::from).collect());
        for sends in [Sends::Synchronous, Sends::Early] {
            let algorithm = which.get(&all(lambda, n)).clone();
            let program = AllReduceMessages { algorithm, group: group.clone(), operator, inputs: inputs.clone(), sends };
            for (world, ended) in worlds::everywhere(size, &program) {
                // Only the census posts a receive some rounds after the message is sent.
                let is_census = matches!(program.algorithm, Algorithm::Census(_));
                if is_census && sends == Sends::Early && worlds::waits_for_receivers(world) {
                    continue;
                }
                for (rank, message) in (0..).map(Rank).zip(ended.unwrap()) {
                    let has = if program.group.place_of(rank).is_some() { expected.clone() } else { Message::default() };
                    prop_assert_eq!(message.as_ref(), Ok(&has), "rank {} on {}, {:?}", rank, world, sends);
                }
            }
        }
    }

    /// Several rings at once, each with an order and a weight of its own.
    #[test]
    fn every_rank_of_several_rings_ends_with_the_result(
        n in 1u32..14,
        weights in proptest::collection::vec(1u32..5, 1..4),
        operator in any_exact_operator(),
        elements in 0u64..40,
        seed in any::<u64>(),
    ) {
        let contents: Vec<Vec<u8>> = (0..n).map(|rank| content(rank, elements * operator.element(), seed)).collect();
        let expected = Message::from(expected(operator, &contents));
        let ring = |(number, weight)| {
            WeightedRing { order: Group::permuted(Rank(0), n, seed.wrapping_add(number)).unwrap(), weight }
        };
        let rings = (0..).zip(weights).map(ring).collect();
        let inputs = contents.into_iter().map(Message::from).collect();
        let program = AllReduceByRings { rings, operator, inputs, bytes: Bytes(0) };
        for (world, ended) in worlds::everywhere(n, &program) {
            for message in ended.unwrap() {
                prop_assert_eq!(message.as_ref(), Ok(&expected), "{}", world);
            }
        }
    }

    #[test]
    fn a_size_is_combined_as_bytes_are((size, group) in any_group(), lambda in any_lambda(), bytes in 0u64..5000) {
        for algorithm in all(lambda, group.len()) {
            let inputs = Inputs::OfSize(Bytes(bytes));
            let operator = "xor".parse::<Operator>().unwrap();
            let program = AllReduceMessages { algorithm, group: group.clone(), operator, inputs, sends: Sends::Early };
            for (rank, message) in (0..).map(Rank).zip(postal_clock(lambda).run(size, &program).unwrap().0) {
                let has = if group.place_of(rank).is_some() { bytes } else { 0 };
                prop_assert_eq!(message, Ok(Message::of_size(Bytes(has))));
            }
        }
    }

    #[test]
    fn the_census_takes_the_rounds_of_the_paper(latency in 1u64..12, n in 1u32..400) {
        let lambda = Lambda::new(latency, 1).unwrap();
        let rounds = broadcast_time(lambda, u64::from(n));
        prop_assert_eq!(time_of(Algorithm::Census(Census::new(latency as u32, n)), lambda, n), rounds.of(T0).picoseconds());
    }

    #[test]
    fn delayed_receives_and_sends_take_the_time_of_the_paper(lambda in any_lambda(), n in 1u32..400) {
        let receive = time_of(Algorithm::Census(Census::delay_receive(lambda, n)), lambda, n);
        // Ranks may get ahead of their rounds if nothing is sent in some of them.
        prop_assert!(receive <= Delay::Receive.time(lambda, u64::from(n)).of(T0).picoseconds());
        prop_assert!(receive >= broadcast_time(lambda, u64::from(n)).of(T0).picoseconds());
        let full = nodes_within(Lambda::new(u64::from(lambda.ceiling()), 1).unwrap(), Steps::new(12, 1)).min(400) as u32;
        let receive = time_of(Algorithm::Census(Census::delay_receive(lambda, full)), lambda, full);
        prop_assert_eq!(receive, Delay::Receive.time(lambda, u64::from(full)).of(T0).picoseconds());
        let send = time_of(Algorithm::Census(Census::delay_send(lambda, T0, n)), lambda, n);
        // A round is rounded to the picosecond.
        let predicted = Delay::Send.time(lambda, u64::from(n)).of(T0).picoseconds();
        prop_assert!(send.abs_diff(predicted) <= 1000, "{} and {}", send, predicted);
    }

    #[test]
    fn by_way_of_one_rank_it_takes_two_broadcasts(lambda in any_lambda(), n in 1u32..400) {
        let algorithm = all(lambda, n).swap_remove(2);
        let twice = 2 * broadcast_time(lambda, u64::from(n)).of(T0).picoseconds();
        prop_assert_eq!(time_of(algorithm, lambda, n), twice);
    }

    #[test]
    fn sums_of_floating_point_numbers_are_the_same_at_all_ranks_but_for_the_census(
        n in 1u32..40,
        values in proptest::collection::vec(-1e9f64..1e9, 40 * 5),
    ) {
        let group = Group::from_source(Rank(0), n).unwrap();
        let row = |place: u32| values[place as usize * 5..][..5].iter().flat_map(|value| value.to_le_bytes()).collect();
        let rows: Vec<Vec<u8>> = (0..n).map(row).collect();
        let operator: Operator = "sum-f64".parse().unwrap();
        let exact: Vec<f64> = (0..5).map(|at| (0..n as usize).map(|place| values[place * 5 + at]).sum()).collect();
        for algorithm in all(lambda("2"), n) {
            let inputs = Inputs::Messages(rows.iter().cloned().map(Message::from).collect());
            let same_everywhere = !matches!(algorithm, Algorithm::Census(_));
            let program = AllReduceMessages { algorithm, group: group.clone(), operator, inputs, sends: Sends::Early };
            let (messages, _) = postal_clock(lambda("2")).run(n, &program).unwrap();
            prop_assert!(!same_everywhere || messages.iter().all(|message| message == &messages[0]));
            for message in messages {
                let content = message.unwrap().content().unwrap().to_vec();
                let sums = content.as_chunks().0.iter().map(|bytes| f64::from_le_bytes(*bytes));
                prop_assert!(sums.zip(&exact).all(|(sum, exact)| (sum - exact).abs() < 1e-3));
            }
        }
    }
}

/// How long `algorithm` takes in the postal model. [ps]
fn time_of(algorithm: Algorithm, lambda: Lambda, n: u32) -> u64 {
    let group = Group::from_source(Rank(n / 2), n).unwrap();
    let operator = "sum-f64".parse::<Operator>().unwrap();
    let program =
        AllReduceMessages { algorithm, group, operator, inputs: Inputs::OfSize(Bytes(512)), sends: Sends::Early };
    let (messages, answer) = postal_clock(lambda).run(n, &program).unwrap();
    assert!(messages.iter().all(|message| message.as_ref().unwrap().size() == Bytes(512)));
    answer.makespan().picoseconds()
}

/// Section 3.3: 1.44 is the break-even point.
#[test]
fn delayed_sends_are_quicker_up_to_1_44_and_delayed_receives_from_there_on() {
    for (text, quicker) in
        [("1.1", "delay-send"), ("1.3", "delay-send"), ("1.6", "delay-receive"), ("1.9", "delay-receive")]
    {
        let both = all(lambda(text), 4096).into_iter().take(2);
        let quickest = both.min_by_key(|algorithm| time_of(algorithm.clone(), lambda(text), 4096)).unwrap();
        assert_eq!(quickest.name(), quicker, "lambda = {text}");
        assert_eq!(Algorithm::Census(Census::by_break_even(lambda(text), T0, 4096)).name(), quicker);
    }
}

#[test]
fn a_census_of_three_thousand_ranks_takes_its_rounds() {
    for latency in [1, 2, 5] {
        let census = Census::new(latency, 3000);
        let lambda = Lambda::new(u64::from(latency), 1).unwrap();
        let rounds = Steps::new(u64::from(census.rounds()), 1);
        assert_eq!(time_of(Algorithm::Census(census), lambda, 3000), rounds.of(T0).picoseconds());
        assert_eq!(rounds, broadcast_time(lambda, 3000));
    }
}

#[test]
fn what_does_not_fit_is_an_error() {
    let group = Group::from_source(Rank(0), 3).unwrap();
    let error_of = |algorithm, operator: &str, inputs| {
        let operator = operator.parse::<Operator>().unwrap();
        let program = AllReduceMessages { algorithm, group: group.clone(), operator, inputs, sends: Sends::Early };
        let error_of = |(ended, _): (Vec<endpoint::Result<Message>>, Answer)| ended.into_iter().find_map(Result::err);
        postal_clock(lambda("2")).run(3, &program).map_or_else(Some, error_of).unwrap().to_string()
    };
    let bytes = |sizes: [usize; 3]| Inputs::Messages(sizes.map(|size| Message::from(vec![1u8; size])).to_vec());
    for algorithm in all(lambda("2"), 3) {
        assert_eq!(
            error_of(algorithm.clone(), "sum-f64", bytes([12; 3])),
            "sum-f64 combines elements of 8 B: 12 B is not a whole number of them; sum-f32 takes 12 B"
        );
        let few = Inputs::Messages(vec![Message::default(); 2]);
        assert_eq!(error_of(algorithm, "or", few), "2 messages to be combined do not fit a group of 3 ranks");
    }
    // One rank's error, while another waits for it.
    let uneven = error_of(Algorithm::from(RecursiveDoubling), "or", bytes([3, 3, 4]));
    assert!(uneven.ends_with("3 B cannot be combined with 4 B: all ranks must contribute the same amount"), "{uneven}");
    assert_eq!(
        error_of(Algorithm::Census(Census::new(2, 4)), "or", bytes([3; 3])),
        "a census of 4 ranks does not fit a group of 3"
    );
}

#[test]
fn every_algorithm_of_the_catalogue_has_the_name_under_which_it_is_listed() {
    collectives::check_catalogue::<Algorithm>();
}
