//! What holds for every study.

use std::collections::BTreeSet;
use std::sync::atomic::AtomicBool;

use super::*;

/// Every claim of `paper` has exactly one of `studies`, and there are so many claims.
fn has_one_study_for_each<J, A>(paper: &Paper, studies: &[Study<J, A>], claims: usize) {
    assert_eq!(paper.claims.len(), claims, "{}", paper.key);
    for claim in &paper.claims {
        let treated = studies.iter().filter(|study| study.claims.contains(&claim.id.as_str())).count();
        assert_eq!(treated, 1, "{}", claim.id);
    }
    let known: BTreeSet<&str> = paper.claims.iter().map(|claim| claim.id.as_str()).collect();
    assert!(studies.iter().flat_map(|study| study.claims).all(|id| known.contains(id)), "{}", paper.key);
}

#[test]
fn every_claim_has_exactly_one_study() {
    has_one_study_for_each(&moc::paper(), &moc::STUDIES, 17);
    has_one_study_for_each(&postal::paper(), &postal::STUDIES, 13);
    has_one_study_for_each(&cm5::paper(), &cm5::STUDIES, 10);
    has_one_study_for_each(&lh::paper(), &lh::STUDIES, 13);
    has_one_study_for_each(&bcast::paper(), &bcast::STUDIES, 6);
}

/// A report has nothing that a browser would fetch.
pub(super) fn fetches_nothing(html: &str) {
    for forbidden in ["http:", "https:", "<script", "@import", "url(", " src="] {
        assert!(!html.contains(forbidden), "{forbidden}");
    }
}

/// A claim with two sets of runs that no world made: one that meets it, and one that must not.
pub(super) struct Case<J, A> {
    pub claim: &'static str,
    pub sound: fn(&J) -> A,
    pub spoiled: fn(&J) -> A,
    /// What is said of the condition that the spoiled runs fail.
    pub fails: &'static str,
}

/// Each of `cases` comes out as it says, and every claim that needs runs has one.
pub(super) fn each_judge_can_say_no<J: Job, A: Send>(studies: &[Study<J, A>], paper: &Paper, cases: &[Case<J, A>]) {
    let treated: BTreeSet<&str> = cases.iter().map(|case| case.claim).collect();
    let with_runs = studies.iter().filter(|study| !(study.jobs)().is_empty()).flat_map(|study| study.claims);
    assert_eq!(treated, with_runs.copied().collect(), "{}", paper.key);
    for Case { claim, sound, spoiled, fails } in cases {
        let met = outcome(studies, paper, claim, *sound);
        assert!(met.verdict.is_met(), "{claim}: {}", met.note);
        let missed = outcome(studies, paper, claim, *spoiled);
        assert_eq!(missed.verdict, Verdict::Missed, "{claim}, where this must fail: {fails}");
        let mut failed = missed.checks.iter().filter(|check| !check.holds);
        assert!(failed.any(|check| check.says.contains(fails)), "{claim}, {fails}: {}", missed.note);
    }
}

fn outcome<J: Job, A: Send>(studies: &[Study<J, A>], paper: &Paper, id: &str, made_up: fn(&J) -> A) -> Outcome {
    let claim = paper.claims.iter().find(|claim| claim.id == id).unwrap();
    let study = studies.iter().find(|study| study.claims.contains(&id)).unwrap();
    let interrupted = AtomicBool::new(false);
    let watch = Watch { progress: &|_| {}, interrupted: &interrupted, threads: 1 };
    let runs = run_all(&plan((study.jobs)()), &|job| Ok(made_up(job)), &watch);
    judge(studies, claim, &runs).unwrap()
}

/// A reproduction with one claim of each verdict.
fn one_of_each() -> Reproduction {
    let claims = [("p.a", None), ("p.b", Some("a cost, to it")), ("p.c", None), ("p.d", None)];
    let outcomes = claims.into_iter().zip([Ok(true), Ok(true), Ok(false), Err(())]).map(|((id, fitted), holds)| {
        let text = format!("[[claim]]\nid = '{id}'\nkind = 'order'\nsource = 's'\nsays = 'x'\nmet_when = 'y'");
        let claim = Claim {
            fitted: fitted.map(str::to_string),
            rule_changed: (id == "p.a").then(|| "it was stricter".to_string()),
            ..parse(&text).unwrap().remove(0)
        };
        let judged = holds.map(|holds| Judgement::in_words("so", vec![check(holds, "a < b")]));
        Outcome::of(&claim, judged.map_err(|()| Gap::NotRun("it".to_string())), String::new())
    });
    Reproduction { outcomes: outcomes.collect(), html: String::new(), interrupted: false }
}

#[test]
fn a_tally_tells_what_was_fitted_from_what_was_not() {
    let done = one_of_each();
    let text = done.text();
    assert!(text.contains("\n1 met, 1 met with fitted parameters, 1 missed, 1 not run\n"), "{text}");
    assert!(text.contains("fitted: a cost, to it") && text.contains("rule changed after a run: it was stricter"));
    assert_eq!((done.tally(), done.exit_status()), ([1, 1, 1, 1], 1));
    let kept = done.outcomes.into_iter().filter(|outcome| outcome.verdict.is_met()).collect();
    let met = Reproduction { outcomes: kept, html: String::new(), interrupted: false };
    assert_eq!(met.exit_status(), 0);
}

/// The claims that are fitted or chosen by what they test are marked, and no others.
#[test]
fn what_was_fitted_is_marked() {
    let papers = [moc::paper(), postal::paper(), cm5::paper(), lh::paper(), bcast::paper()];
    let of = |is: fn(&Claim) -> bool| {
        papers.iter().flat_map(|paper| &paper.claims).filter(move |claim| is(claim)).map(|claim| claim.id.as_str())
    };
    let fitted: Vec<&str> = of(|claim| claim.fitted.is_some()).collect();
    let due = [
        "moc.sec4.blocking",
        "moc.fig12.speedup",
        "postal.fig3.lambda",
        "postal.fig13.short",
        "cm5.sec2.network",
        "cm5.table5.fft",
        "lh.fig2a.cascades",
        "lh.fig5.contention",
        "bcast.sec2.p2p",
        "bcast.fig4.latency_256",
    ];
    assert_eq!(fitted, due);
    assert_eq!(of(|claim| claim.rule_changed.is_some()).collect::<Vec<_>>(), ["moc.fig7.slope"]);
}
