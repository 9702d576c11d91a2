//! Broadcasts: every rank ends with the right bytes, in every world; and they take the time that theory predicts.

use crate::collectives;
use crate::collectives::{T0, any_group, any_lambda, lambda, postal_clock};
use crate::worlds;
use endpoint::{Message, World};
use machines::model::LogGp;
use maquette_collectives::Group;
use maquette_collectives::broadcast::{
    Algorithm, Binomial, BroadcastMessage, LambdaTree, Linear, Links, Pipe, Recursive, ScatterGather, Segmented, Tree,
    TwoQueue,
};
use maquette_collectives::catalogue::{Catalogue, Parameters};
use maquette_collectives::postal::{Alpha, Lambda, Splitting, broadcast_time, predicted_time};
use proptest::prelude::*;
use quantities::{Bytes, Duration, Rank, Time};
use virtual_worlds::loggp::Clock;

/// All algorithms that broadcast by messages.
fn all(lambda: Lambda, n: u32, segment: Bytes) -> Vec<Algorithm> {
    let parameters = Parameters { lambda: Some(lambda), segment: Some(segment), ..Parameters::of(n) };
    let mut all = Algorithm::all(&parameters).unwrap();
    all.retain(|algorithm| !algorithm.entry().needs.multicast());
    all
}

/// How long `algorithm` takes in the postal model. [ps]
fn time_of(algorithm: Algorithm, lambda: Lambda, n: u32) -> u64 {
    let group = Group::from_source(Rank(n / 3), n).unwrap();
    let program = BroadcastMessage { algorithm, group, message: Message::of_size(Bytes(512)) };
    let (messages, answer) = postal_clock(lambda).run(n, &program).unwrap();
    assert!(messages.iter().all(|message| message.as_ref().unwrap().size() == Bytes(512)));
    answer.makespan().picoseconds()
}

fn any_algorithm(n: u32) -> impl Strategy<Value = Algorithm> {
    (any_lambda(), 0.5f64..1.0, 1u64..200, 0usize..9).prop_map(move |(lambda, alpha, segment, which)| {
        let mut all = all(lambda, n, Bytes(segment));
        all.push(Algorithm::from(LambdaTree(Splitting::Fixed(Alpha::new(alpha).unwrap()))));
        all.swap_remove(which)
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_rank_of_the_group_ends_with_the_message(
        ((size, group), algorithm) in any_group().prop_flat_map(|it| {
            let n = it.1.len();
            (Just(it), any_algorithm(n))
        }),
        content in proptest::collection::vec(any::<u8>(), 0..300),
        carried in any::<bool>(),
    ) {
        let bytes = Bytes(content.len() as u64);
        let message = if carried { Message::from(content) } else { Message::of_size(bytes) };
        let program = BroadcastMessage { algorithm, group, message };
        for (world, ended) in worlds::everywhere(size, &program) {
            for (rank, message) in (0..).map(Rank).zip(ended.unwrap()) {
                let expected =
                    if program.group.place_of(rank).is_some() { program.message.clone() } else { Message::default() };
                prop_assert_eq!(message.as_ref(), Ok(&expected), "rank {} on {}", rank, world);
            }
        }
    }

    #[test]
    fn the_lambda_tree_takes_the_least_time_that_the_postal_model_allows(lambda in any_lambda(), n in 1u32..400) {
        let least = broadcast_time(lambda, u64::from(n)).of(T0).picoseconds();
        let tree = Algorithm::from(LambdaTree(Splitting::optimal(lambda, u64::from(n))));
        prop_assert_eq!(time_of(tree, lambda, n), least);
        prop_assert_eq!(time_of(Algorithm::from(TwoQueue(Tree::two_queue(lambda, n))), lambda, n), least);
        prop_assert_eq!(Tree::two_queue(lambda, n).time(), broadcast_time(lambda, u64::from(n)));
    }

    #[test]
    fn a_tree_by_one_alpha_takes_the_time_that_is_predicted(lambda in any_lambda(), n in 1u32..400, alpha in 0.5f64..1.0) {
        let splitting = Splitting::Fixed(Alpha::new(alpha).unwrap());
        let predicted = predicted_time(lambda, u64::from(n), &splitting).of(T0).picoseconds();
        prop_assert_eq!(time_of(Algorithm::from(LambdaTree(splitting)), lambda, n), predicted);
    }

    #[test]
    fn blocks_go_round_the_ring_in_one_step_each_whether_sends_wait_or_not(n in 2u32..40, wait in any::<bool>()) {
        let group = Group::from_source(Rank(0), n).unwrap();
        let program = BroadcastMessage { algorithm: Algorithm::from(ScatterGather), group, message: Message::of_size(Bytes(u64::from(n))) };
        let model = LogGp { gap_per_byte: Duration::ZERO, overhead_per_byte: Duration::ZERO, ..worlds::MODEL };
        let world = Clock::new(LogGp { rendezvous: wait.then_some(Bytes(0)), ..model });
        let steps = u64::from(n.next_power_of_two().ilog2() + n - 1);
        let step = model.overhead + model.latency + model.overhead;
        prop_assert!(world.run(n, &program).unwrap().1.makespan() <= Time::ZERO + step * steps);
    }

    #[test]
    fn links_by_splitting_make_a_tree(n in 1u32..500, alpha in 0.5f64..1.0) {
        let splitting = Splitting::Fixed(Alpha::new(alpha).unwrap());
        let links: Vec<Links> = (0..n).map(|me| Links::by_splitting(&splitting, n, me)).collect();
        let edges: usize = links.iter().map(|links| links.children.len()).sum();
        prop_assert_eq!(edges, n as usize - 1);
        for (me, of_me) in (0..n).zip(&links) {
            prop_assert!(of_me.children.iter().all(|&child| child > me && links[child as usize].parent == Some(me)));
            prop_assert_eq!(of_me.parent.is_none(), me == 0);
        }
    }
}

/// Figure 2 and the binomial tree of figure 1b.
#[test]
fn eight_ranks_with_latency_2_take_five_steps_and_six() {
    let steps = |algorithm| time_of(algorithm, lambda("2"), 8) / T0.picoseconds();
    assert_eq!(steps(Algorithm::from(LambdaTree(Splitting::optimal(lambda("2"), 8)))), 5);
    assert_eq!(steps(Algorithm::from(TwoQueue(Tree::two_queue(lambda("2"), 8)))), 5);
    assert_eq!(steps(Algorithm::from(LambdaTree(Splitting::BINOMIAL))), 6);
    assert_eq!(steps(Algorithm::from(Binomial)), 6);
    assert_eq!(steps(Algorithm::from(Recursive)), 6);
    assert_eq!(steps(Algorithm::from(Linear)), 8);
}

#[test]
fn in_the_one_port_model_all_three_binomial_trees_take_the_logarithm() {
    for n in 1..130u32 {
        let rounds = u64::from(n.next_power_of_two().ilog2()) * T0.picoseconds();
        for algorithm in
            [Algorithm::from(LambdaTree(Splitting::BINOMIAL)), Algorithm::from(Recursive), Algorithm::from(Binomial)]
        {
            assert_eq!(time_of(algorithm.clone(), Lambda::ONE, n), rounds, "{} of {n}", algorithm.name());
        }
    }
}

#[test]
fn the_two_queues_build_the_tree_of_figure_2() {
    let tree = Tree::two_queue(lambda("2"), 8);
    let children: Vec<&[u32]> = (0..8).map(|place| &tree.links(place).unwrap().children[..]).collect();
    assert_eq!(children, [&[1, 2, 4, 7][..], &[3, 6], &[5], &[], &[], &[], &[], &[]]);
    let received: Vec<String> = (0..8).map(|place| tree.received(place).unwrap().to_string()).collect();
    assert_eq!(received, ["0", "2", "3", "4", "4", "5", "5", "5"]);
}

#[test]
fn a_chain_passes_segments_on_as_they_come() {
    // (m - 1 + (n - 1) lambda) t0: 10 segments, 7 ranks.
    let pipeline = Algorithm::from(Segmented { pipe: Pipe::Chain, segment: Bytes(52) });
    assert_eq!(time_of(pipeline, lambda("2"), 7) / T0.picoseconds(), 9 + 12);
}

#[test]
fn ten_thousand_ranks_take_the_least_time_too() {
    for text in ["1", "1.8", "2", "7.5"] {
        let tree = Algorithm::from(LambdaTree(Splitting::optimal(lambda(text), 10_000)));
        let least = broadcast_time(lambda(text), 10_000).of(T0).picoseconds();
        assert_eq!(time_of(tree, lambda(text), 10_000), least);
    }
}

#[test]
fn what_does_not_fit_is_an_error() {
    let group = || Group::from_source(Rank(0), 3).unwrap();
    let error_of = |algorithm, group| {
        let program = BroadcastMessage { algorithm, group, message: Message::of_size(Bytes(9)) };
        postal_clock(lambda("2")).run(3, &program).unwrap().0.remove(0).unwrap_err().to_string()
    };
    assert_eq!(
        error_of(Algorithm::from(LambdaTree(Splitting::optimal(lambda("2"), 2))), group()),
        "the look-up table of alphas for a latency of 2 goes to 2 ranks, the group has 3"
    );
    assert_eq!(
        error_of(Algorithm::from(Segmented { pipe: Pipe::Chain, segment: Bytes(0) }), group()),
        "segments of 0 B: allowed is 1 B or more"
    );
    assert_eq!(
        error_of(Algorithm::from(TwoQueue(Tree::two_queue(lambda("2"), 4))), group()),
        "a tree of 4 places does not fit a group of 3 ranks"
    );
    for algorithm in all(lambda("2"), 4, Bytes(1)) {
        let name = algorithm.name();
        let beyond = Group::from_source(Rank(0), 4).unwrap();
        assert_eq!(error_of(algorithm, beyond), "rank 3 does not exist: the program has 3", "{name}");
    }
}

#[test]
fn every_algorithm_of_the_catalogue_has_the_name_under_which_it_is_listed() {
    collectives::check_catalogue::<Algorithm>();
}
