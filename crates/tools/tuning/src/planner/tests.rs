//! The pick of a plan compared with all other candidates, and the description of a plan.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};

use ::collectives::Collective;
use ::collectives::postal::{Lambda, broadcast_time};
use ::collectives::schedule::{Pattern, Transfer};
use machines::model::{Machine, NodeId};
use proptest::prelude::*;
use quantities::{Bytes, Duration, Rank};

use super::check::{Case, Places};
use super::*;
use crate::benchmark::Site;
use endpoint::Error;
use experiment::postal_clock::{exact_step, postal_machine};

fn with_effort<T>(lambda: Option<Lambda>, budget: f64, threads: usize, work: impl FnOnce(&Effort<'_>) -> T) -> T {
    let interrupted = AtomicBool::new(false);
    work(&Effort { budget, exhaustive: false, lambda, progress: &|_, _| {}, interrupted: &interrupted, threads })
}

fn planned(question: &Question, machine: &Machine, budget: f64) -> Plan {
    let site = Site::all(machine, question.ranks());
    with_effort(None, budget, 2, |effort| plan(question, &site, effort)).unwrap()
}

const MACHINES: [&str; 4] = ["parsytec-cc-16", "moc-2-1", "cm5-32", "booksim-mesh-8x8"];

/// Eight accelerators with direct links of 25 and 50 GB/s.
fn accelerators() -> Machine {
    machines::load(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../faces/command-line/tests/command_line/plan.in/accelerators-8.toml"
    ))
    .unwrap()
}

fn machines() -> Vec<Machine> {
    MACHINES.map(|name| machines::load(name).unwrap()).into()
}

/// A few of the cases of `maquette plan check`, which runs hundreds of them.
#[test]
fn the_pick_is_nearly_the_best_of_all_and_no_time_is_below_the_bound() {
    let places = Places { machines: machines(), postal: true };
    for number in 0..16 {
        let case = Case::drawn(7, number, &places).unwrap();
        let checked = with_effort(case.lambda, BUDGET, 2, |effort| case.check(effort)).unwrap().unwrap();
        assert!(checked.loss() <= 0.05, "{number}: {case}: {checked:?}");
        assert!(checked.bound <= checked.least, "{number}: {case}: {checked:?}");
    }
}

/// The small runs have no more packets for a message of gigabytes than for one of megabytes, and say nearly the same as
/// long ones.
#[test]
fn t0_and_lambda_of_long_messages_follow_from_shorter_ones() {
    for (name, shorter) in [("cm5-32", Bytes(16 << 14)), ("mpich-tcp-8", Bytes(1500 << 14))] {
        let machine = machines::load(name).unwrap();
        let ranks = machine.nodes;
        let model = |bytes| {
            model::Model::measured(
                &machine,
                &Question::Listed { collective: Collective::Broadcast, ranks, bytes },
                None,
            )
            .unwrap()
        };
        let (exact, extended) = (model(shorter), model(Bytes(1 << 31)));
        assert_eq!((exact.extended_from(shorter), extended.extended_from(Bytes(1 << 31))), (None, Some(shorter)));
        assert_eq!(exact.send_time(shorter), extended.send_time(shorter));
        let shortest = model(Bytes(shorter.0 / 16));
        let ratio = shortest.send_time(Bytes(1 << 31)).picoseconds() as f64
            / extended.send_time(Bytes(1 << 31)).picoseconds() as f64;
        assert!((ratio - 1.0).abs() < 0.02, "{name}: {ratio}");
    }
}

/// What is announced to its receiver is measured with messages that are.
#[test]
fn long_messages_are_measured_by_their_own_protocol() {
    let mut machine = machines::load("cm5-32").unwrap();
    let eager = Bytes(64 << 20);
    machine.node.protocol = ::machines::model::Protocol::Rendezvous { eager: Some(eager) };
    assert_eq!(model::measured_size(&machine, Bytes(1 << 20), 1 << 14), Bytes(16 << 14));
    assert_eq!(model::measured_size(&machine, Bytes(1 << 30), 1 << 14), Bytes(eager.0 + 1));
}

/// The same numbers give the same questions, and different ones different questions.
#[test]
fn cases_follow_from_the_seed() {
    let places = Places { machines: machines(), postal: true };
    let cases =
        |seed| (0..20).map(|number| Case::drawn(seed, number, &places).unwrap().to_string()).collect::<Vec<_>>();
    assert_eq!(cases(1), cases(1));
    assert_ne!(cases(1), cases(2));
}

#[test]
fn an_interrupted_check_returns_nothing() {
    let places = Places { machines: machines(), postal: true };
    let case = Case::drawn(1, 0, &places).unwrap();
    let interrupted = AtomicBool::new(true);
    let effort = Effort {
        budget: BUDGET,
        exhaustive: false,
        lambda: case.lambda,
        progress: &|_, _| {},
        interrupted: &interrupted,
        threads: 1,
    };
    assert!(matches!(case.check(&effort), Ok(None) | Err(Error::Stopped)));
}

#[test]
fn candidates_beyond_the_budget_are_estimated_and_marked_so() {
    let machine = machines::load("parsytec-cc-16").unwrap();
    let question = Question::Listed { collective: Collective::Broadcast, ranks: 16, bytes: Bytes(512) };
    let plan = planned(&question, &machine, 0.0);
    assert!(!plan.predictions.is_empty());
    assert!(plan.predictions.iter().all(|prediction| prediction.source == Source::Estimated));
    let budget = plan.sufficient_budget.unwrap();
    let plan = planned(&question, &machine, BUDGET);
    assert_eq!((plan.predictions[0].source, plan.sufficient_budget), (Source::Simulated, None));
    let plan = planned(&question, &machine, 1.001 * budget);
    assert_eq!((plan.predictions[0].source, plan.sufficient_budget), (Source::Simulated, None));
}

/// What a plan calls the quickest takes no longer than anything else that it knows of, whatever the budget; and an
/// estimate is no less than the bound.
#[test]
fn no_estimate_is_below_the_bound_or_below_what_is_called_the_quickest() {
    let machine = machines::load("booksim-mesh-8x8").unwrap();
    for question in [
        Question::Listed { collective: Collective::AllToAll, ranks: 48, bytes: Bytes(64) },
        Question::Listed { collective: Collective::AllReduce, ranks: 64, bytes: Bytes(1 << 14) },
    ] {
        for budget in [0.0, 1e2, 1e4, 1e5, 1e6, BUDGET] {
            let Plan { predictions, verdict, bound, .. } = planned(&question, &machine, budget);
            assert!(predictions.iter().all(|it| it.time >= bound.time), "{budget}");
            let first = &predictions[0];
            let others = |source| predictions.iter().filter(move |it| it.source == source);
            match verdict {
                Verdict::QuickestSimulated | Verdict::QuickestExtrapolated => {
                    assert!(others(Source::Estimated).all(|it| it.time >= first.time), "{budget}");
                    assert!(others(Source::Simulated).all(|it| it.time >= first.time), "{budget}");
                }
                Verdict::Undecided(count) => assert!(budget < BUDGET && count > 1),
                Verdict::Nothing => panic!("there are algorithms"),
            }
        }
    }
}

/// Estimates depend on nothing that is run: with less of it, they are the same.
#[test]
fn an_estimate_is_the_same_whatever_is_run() {
    let machine = machines::load("cm5-32").unwrap();
    let question = Question::Listed { collective: Collective::AllToAll, ranks: 32, bytes: Bytes(256) };
    let estimates = |budget, stops: bool| {
        let interrupted = AtomicBool::new(false);
        let progress =
            |_: f64, what: &str| interrupted.store(stops && !what.starts_with("estimating"), Ordering::Relaxed);
        let interrupted = &interrupted;
        let effort = Effort { budget, exhaustive: false, lambda: None, progress: &progress, interrupted, threads: 2 };
        let predictions = plan(&question, &Site::all(&machine, 32), &effort).unwrap().predictions;
        let only = predictions.into_iter().filter(|it| it.source == Source::Estimated);
        only.map(|it| (it.candidate.name, it.time)).collect::<BTreeMap<String, Duration>>()
    };
    let all = estimates(0.0, false);
    for (budget, stops) in [(1e3, false), (1e5, false), (BUDGET, false), (BUDGET, true)] {
        let some = estimates(budget, stops);
        assert!(some.iter().all(|(name, time)| all[name] == *time), "{budget}, {stops}");
    }
}

/// Eight accelerators whose direct links have two rates: along the quick ones a ring takes half the time of one in
/// order of rank, and no algorithm takes less than what the plan picks, which goes that way, too.
#[test]
fn rings_go_along_the_quick_links() {
    let machine = accelerators();
    let question = Question::Listed { collective: Collective::AllReduce, ranks: 8, bytes: Bytes(64 << 20) };
    let times: BTreeMap<String, Duration> = with_effort(None, BUDGET, 2, |effort| {
        let effort = Effort { exhaustive: true, ..*effort };
        let predictions = plan(&question, &Site::all(&machine, 8), &effort).unwrap().predictions;
        assert!(predictions.iter().all(|it| it.source == Source::Simulated));
        predictions.into_iter().map(|it| (it.candidate.name, it.time)).collect()
    });
    let (along, usual) = (times["ring, order 0,4,7,6,5,1,2,3"], times["ring"]);
    assert!(along * 19 < usual * 10, "{along} {usual}");
    let pick = &planned(&question, &machine, BUDGET).predictions[0];
    assert!(pick.candidate.name.contains("order 0,4,7,6,5,1,2,3") && pick.candidate.rings().is_some());
    assert_eq!(Some(&pick.time), times.values().min());
}

/// On a switch of equal links there is no better order than that of the ranks.
#[test]
fn equal_links_need_no_order() {
    let machine = machines::load("infiniband-128").unwrap();
    assert!(ring_orders::better_rings(&Site::all(&machine, 32)).is_empty());
}

/// Ranks that are placed elsewhere are estimated and run there.
#[test]
fn a_plan_is_for_the_nodes_on_which_ranks_are() {
    let machine = machines::load("booksim-mesh-8x8").unwrap();
    let question = Question::Listed { collective: Collective::Broadcast, ranks: 4, bytes: Bytes(4096) };
    let quickest = |nodes: [u32; 4]| {
        let nodes = nodes.map(NodeId);
        let site = Site { machine: &machine, ranks: 4, nodes: &nodes };
        with_effort(None, BUDGET, 2, |effort| plan(&question, &site, effort)).unwrap().predictions[0].time
    };
    assert_eq!(quickest([0, 1, 2, 3]), planned(&question, &machine, BUDGET).predictions[0].time);
    assert!(quickest([0, 7, 56, 63]) > quickest([0, 1, 2, 3]));
}

/// A copy of an exchange with all its steps and bytes is the exchange, and one with a part of them is worth a part of
/// the work.
#[test]
fn copies_are_worth_what_they_should_be() {
    let machine = machines::load("slingshot-1024").unwrap();
    let question = Question::Listed { collective: Collective::AllToAll, ranks: 64, bytes: Bytes(1 << 18) };
    let site = Site::all(&machine, 64);
    let model = model::Model::measured(&machine, &question, None).unwrap();
    for candidate in candidates::all(&question, &site, &model).unwrap().all {
        let all = work::Work::on(&site).of(&candidate);
        for share in [0.9, 0.3, 0.1, 0.01] {
            let Some(copy) = reduced::Copy::of(&candidate, &question, &site, share * all) else { continue };
            assert!(copy.work <= 3.0 * share * all, "{}: {share}: {copy:?}", candidate.name);
            let Reduction { steps, divisor } = copy.reduction;
            assert!(steps.is_none_or(|(kept, of)| (16..of).contains(&kept)) && (steps.is_some() || divisor > 1));
        }
    }
}

/// The same candidates are run with the same result, however many run in parallel.
#[test]
fn a_plan_does_not_depend_on_threads() {
    let machine = machines::load("cm5-32").unwrap();
    let question = Question::Listed { collective: Collective::AllReduce, ranks: 20, bytes: Bytes(300) };
    let site = Site::all(&machine, 20);
    let rows = |threads| {
        let plan = with_effort(None, BUDGET, threads, |effort| plan(&question, &site, effort)).unwrap();
        plan.predictions.into_iter().map(|it| (it.candidate.name, it.time, it.source)).collect::<Vec<_>>()
    };
    assert_eq!(rows(1), rows(5));
}

/// What ranks of different nodes send each other goes over wires that they share, wherever the ranks are.
#[test]
fn ranks_that_share_a_wire_are_bounded_by_it() {
    let machine = machines::load("dp-smp-quad-2").unwrap();
    let bytes = Bytes(16 << 10);
    let questions = [
        Question::Listed { collective: Collective::Broadcast, ranks: 8, bytes },
        Question::Listed { collective: Collective::AllReduce, ranks: 8, bytes },
        Question::Listed { collective: Collective::AllToAll, ranks: 8, bytes },
    ];
    for question in questions {
        let plan = planned(&question, &machine, BUDGET);
        assert!(plan.bound.reason.to_string().ends_with("over the wire of a node"), "{}", plan.bound.reason);
        assert!(plan.bound.time <= plan.predictions[0].time, "{}", plan.predictions[0].candidate.name);
    }
    let one_node = planned(&Question::Listed { collective: Collective::Broadcast, ranks: 4, bytes }, &machine, BUDGET);
    assert!(!one_node.bound.reason.to_string().contains("wire"));
}

#[test]
fn a_machine_that_broadcasts_in_hardware_is_asked_to() {
    let machine = machines::load("cm5-32").unwrap();
    let plan =
        planned(&Question::Listed { collective: Collective::Broadcast, ranks: 32, bytes: Bytes(8) }, &machine, BUDGET);
    assert_eq!(plan.predictions[0].candidate.name, "hardware");
    assert!(plan.predictions[0].candidate.schedule(32).unwrap().is_none());
}

/// In the postal model itself nothing beats T(n), and the tree by the table reaches it.
#[test]
fn the_bound_of_the_postal_model_is_reached_in_it() {
    for (lambda, ranks) in [("1", 17), ("1.8", 64), ("5/2", 100), ("7", 30)] {
        let lambda: Lambda = lambda.parse().unwrap();
        let step = exact_step(lambda);
        let machine = postal_machine(lambda, step).unwrap();
        let question = Question::Listed { collective: Collective::Broadcast, ranks, bytes: Bytes(1024) };
        let plan = with_effort(Some(lambda), BUDGET, 1, |effort| plan(&question, &Site::all(&machine, ranks), effort))
            .unwrap();
        assert_eq!(plan.predictions[0].time, plan.bound.time, "{lambda}");
        assert_eq!(plan.bound.time, broadcast_time(lambda, u64::from(ranks)).of(step), "{lambda}");
    }
}

/// What each rank has after all have followed the steps of a schedule, if a rank sends in a step what it had before
/// that step.
fn reached(schedule: &::collectives::schedule::Schedule, mut has: Vec<Vec<u32>>) -> Vec<Vec<u32>> {
    for step in &schedule.steps {
        let before = has.clone();
        for transfer in step {
            let (from, to) = (transfer.from.0 as usize, transfer.to.0 as usize);
            has[to].extend(&before[from]);
            has[to].sort_unstable();
            has[to].dedup();
        }
    }
    has
}

/// A rank whose send waits for an acknowledgement takes messages meanwhile, so the wait is not added to what these
/// cost.
#[test]
fn the_bound_allows_a_rank_to_receive_while_its_send_waits() {
    let message = |from, to| Transfer { from: Rank(from), to: Rank(to), bytes: Bytes(0) };
    let messages = vec![message(0, 2), message(2, 0), message(3, 0)];
    let question = Question::Irregular(Pattern::of_messages(4, messages).unwrap());
    let Plan { predictions, bound, .. } = planned(&question, &machines::load("moc-2-1").unwrap(), BUDGET);
    let simulated = predictions.iter().filter(|it| it.source == Source::Simulated);
    let fastest = simulated.map(|it| it.time).min().unwrap();
    assert!(fastest >= bound.time, "{fastest}, {bound:?}");
    // More than its processor's 58 us to send a message and twice 63 us to receive one: the second message begins 58 us
    // after the first at the earliest, and takes those 58 and 63 us, 6 + 15.5 and 23.5 + 4.5 us of the communication
    // processors, and two flits of 54 ns on the wire.
    let least = Duration::from_nanoseconds(58_000 + 58_000 + 63_000 + 21_500 + 28_000 + 2 * 54);
    assert_eq!((bound.time, bound.reason), (least, Reason::Messages { messages: 2 }));
}

/// A question of any kind.
fn questions() -> impl Strategy<Value = Question> {
    let sizes = prop_oneof![Just(0_u64), 1_u64..2000];
    let kinds = 1 + Collective::ALL.len();
    (2_u32..16, sizes, 0..kinds, any::<u64>()).prop_map(|(ranks, bytes, kind, seed)| {
        let bytes = Bytes(bytes);
        match kind {
            0 => Question::Irregular(Pattern::random(ranks, seed % 1_000_001, bytes, seed).unwrap()),
            listed => Question::Listed { collective: Collective::ALL[listed - 1], ranks, bytes },
        }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Whatever is run takes at least as long as the bound.
    #[test]
    fn no_candidate_beats_the_bound(question in questions(), number in 0_usize..=MACHINES.len()) {
        let machine = match MACHINES.get(number) {
            Some(name) => machines::load(name).unwrap(),
            None => machines::load("loggp").unwrap(),
        };
        let Plan { predictions, bound, .. } = planned(&question, &machine, BUDGET);
        prop_assert!(!predictions.is_empty());
        for Prediction { candidate, time, .. } in predictions.iter().filter(|it| it.source == Source::Simulated) {
            prop_assert!(*time >= bound.time, "{}: {}: {time}, {bound:?}", machine.name, candidate.name);
        }
    }

    /// The steps of any candidate do what it does: the source's message reaches all, or everyone's reaches everyone.
    #[test]
    fn the_schedule_of_a_candidate_does_what_it_does(ranks in 2_u32..20, bytes in 0_u64..3000, kind in 0..3) {
        let machine = machines::load("booksim-mesh-8x8").unwrap();
        let bytes = Bytes(bytes);
        let question = match kind {
            0 => Question::Listed { collective: Collective::Broadcast, ranks, bytes },
            1 => Question::Listed { collective: Collective::AllReduce, ranks, bytes },
            _ => Question::Listed { collective: Collective::AllToAll, ranks, bytes },
        };
        for Prediction { candidate, .. } in planned(&question, &machine, 0.0).predictions {
            let Some((schedule, _)) = candidate.schedule(ranks).unwrap() else { continue };
            let own: Vec<Vec<u32>> = (0..ranks).map(|rank| if kind == 0 && rank > 0 { vec![] } else { vec![rank] }).collect();
            let wanted: Vec<u32> = if kind == 0 { vec![0] } else { (0..ranks).collect() };
            prop_assert!(reached(&schedule, own).iter().all(|has| *has == wanted), "{}", candidate.name);
            for step in schedule.carrying_steps() {
                for rank in (0..ranks).map(Rank) {
                    let times = |is: fn(&Transfer) -> Rank| step.iter().filter(|it| is(it) == rank).count();
                    let one_each = times(|it| it.from) <= 1 && times(|it| it.to) <= 1;
                    prop_assert!(one_each || schedule.rule != ::collectives::schedule::Rule::OneEach, "{}", candidate.name);
                }
            }
        }
    }
}

proptest! {
    // Each case plans all collectives.
    #![proptest_config(ProptestConfig::with_cases(3))]

    /// The steps of every algorithm of the list bring to each rank what its shape says.
    #[test]
    fn the_schedule_of_a_listed_candidate_brings_what_its_shape_says(ranks in 2_u32..40, bytes in 0_u64..3000) {
        let machine = machines::load("booksim-mesh-8x8").unwrap();
        for &collective in Collective::ALL {
            let question = Question::Listed { collective, ranks, bytes: Bytes(bytes) };
            let shape = collective.shape();
            for Prediction { candidate, .. } in planned(&question, &machine, 0.0).predictions {
                let Some((schedule, _)) = candidate.schedule(ranks).unwrap() else { continue };
                let has = reached(&schedule, (0..ranks).map(|rank| vec![rank]).collect());
                for (me, has) in (0..).zip(&has) {
                    // Of which ranks it needs the data: those that bring a block which it takes.
                    let brings = |rank: u32| shape.brings(rank, 0, ranks).any(|it| shape.takes(me, 0, ranks).contains(it));
                    for rank in shape.combines(me, ranks).filter(|&rank| rank != me && brings(rank)) {
                        prop_assert!(has.contains(&rank), "{}: {me} lacks {rank}", candidate.name);
                    }
                }
            }
        }
    }
}
