//! The pick of a plan against all that could have been picked.

use std::sync::atomic::AtomicBool;

use programs::schedule::Pattern;
use proptest::prelude::*;

use super::*;

fn planned(question: &Question, machine: &Machine, budget: f64) -> Plan {
    let interrupted = AtomicBool::new(false);
    plan(question, machine, budget, &PlanWatch { progress: &|_, _| {}, interrupted: &interrupted, threads: 2 }).unwrap()
}

const MACHINES: [&str; 4] = ["parsytec-cc-16", "moc-2-1", "cm5-32", "booksim-mesh-8x8"];

fn question() -> impl Strategy<Value = Question> {
    let bytes = prop_oneof![Just(0_u64), 1..2000_u64, Just(16384)].prop_map(Bytes);
    (0..4_u32, 2..17_u32, bytes, 1..9_u64, any::<u64>()).prop_map(|(kind, ranks, bytes, tenths, seed)| match kind {
        0 => Question::Broadcast { ranks, bytes },
        1 => Question::Combine { ranks, bytes },
        2 => Question::Complete { ranks, bytes },
        _ => Question::Irregular(Pattern::random(ranks, tenths * 100_000, bytes, seed).unwrap()),
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    /// A budget that leaves most candidates out, and one that leaves none out, come to nearly the same pick.
    #[test]
    fn the_pick_is_nearly_the_best_of_all(question in question(), machine in 0..MACHINES.len()) {
        let machine = machines::load(MACHINES[machine]).unwrap();
        let all = planned(&question, &machine, f64::INFINITY);
        let best = all.predictions.first().map(|prediction| prediction.time);
        prop_assert!(all.predictions.windows(2).all(|pair| pair[0].time <= pair[1].time || pair[0].source != pair[1].source));
        let usual = planned(&question, &machine, BUDGET);
        let pick = usual.predictions.first().unwrap();
        let time = pick.candidate.time(&machine, question.ranks()).unwrap();
        let best = best.unwrap();
        prop_assert!(
            time.picoseconds() as f64 <= 1.05 * best.picoseconds() as f64,
            "{}: {time} against {best}", pick.candidate.name
        );
    }
}

#[test]
fn what_the_budget_leaves_out_is_estimated_and_said_to_be() {
    let machine = machines::load("parsytec-cc-16").unwrap();
    let question = Question::Broadcast { ranks: 16, bytes: Bytes(512) };
    let plan = planned(&question, &machine, 0.0);
    assert!(!plan.predictions.is_empty());
    assert!(plan.predictions.iter().all(|prediction| prediction.source == Source::Estimated));
    let plan = planned(&question, &machine, BUDGET);
    assert_eq!(plan.predictions[0].source, Source::Simulated);
}

#[test]
fn a_machine_that_broadcasts_in_hardware_is_asked_to() {
    let machine = machines::load("cm5-32").unwrap();
    let plan = planned(&Question::Broadcast { ranks: 32, bytes: Bytes(8) }, &machine, BUDGET);
    assert_eq!(plan.predictions[0].candidate.name, "hardware");
}

#[test]
fn no_candidate_beats_the_bound_of_an_exchange() {
    for name in MACHINES {
        let machine = machines::load(name).unwrap();
        let plan = planned(&Question::Complete { ranks: 16, bytes: Bytes(700) }, &machine, BUDGET);
        let simulated = plan.predictions.iter().filter(|prediction| prediction.source == Source::Simulated);
        for Prediction { candidate, time, .. } in simulated {
            assert!(
                *time >= plan.bound.time,
                "{name}: {} takes {time}, the bound is {}",
                candidate.name,
                plan.bound.time
            );
        }
    }
}
