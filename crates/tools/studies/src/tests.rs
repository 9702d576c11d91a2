//! Properties of every study.

use std::collections::BTreeSet;
use std::sync::atomic::AtomicBool;

use quantities::{Duration, splitmix64};

use super::*;

/// Every claim of `paper` belongs to exactly one of `studies`, and there are as many claims as expected.
fn has_one_study_for_each<J, A>(paper: Result<Paper, ClaimsError>, studies: &[Study<J, A>], claims: usize) {
    let paper = paper.unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(paper.claims.all.len(), claims, "{}", paper.key);
    for claim in &paper.claims.all {
        let treated = studies.iter().filter(|study| study.claims.contains(&claim.id.as_str())).count();
        assert_eq!(treated, 1, "{}", claim.id);
    }
    let known: BTreeSet<&str> = paper.claims.all.iter().map(|claim| claim.id.as_str()).collect();
    assert!(studies.iter().flat_map(|study| study.claims).all(|id| known.contains(id)), "{}", paper.key);
}

#[test]
fn every_claim_has_exactly_one_study() {
    has_one_study_for_each(moc::paper(), &moc::STUDIES, 17);
    has_one_study_for_each(postal::paper(), &postal::STUDIES, 13);
    has_one_study_for_each(cm5::paper(), &cm5::STUDIES, 10);
    has_one_study_for_each(lh::paper(), &lh::STUDIES, 13);
    has_one_study_for_each(bcast::paper(), &bcast::STUDIES, 7);
}

/// Checks that a report has nothing that a browser would fetch.
pub(super) fn fetches_nothing(html: &str) {
    for forbidden in ["http:", "https:", "<script", "@import", "url(", " src="] {
        assert!(!html.contains(forbidden), "{forbidden}");
    }
}

/// A claim with two made-up sets of runs: one that meets it, and one that must not.
pub(super) struct Case<J, A> {
    pub claim: &'static str,
    pub sound: fn(&J) -> A,
    pub spoiled: fn(&J) -> A,
    /// The quantity whose condition the spoiled runs fail.
    pub fails: &'static str,
}

/// Checks that each of `cases` is judged as it says, and that every claim that needs runs has a case.
pub(super) fn each_judge_can_say_no<J: StudyRun, A: Send>(
    studies: &[Study<J, A>],
    paper: Result<Paper, ClaimsError>,
    cases: &[Case<J, A>],
) {
    let paper = paper.unwrap_or_else(|error| panic!("{error}"));
    let treated: BTreeSet<&str> = cases.iter().map(|case| case.claim).collect();
    let with_runs = studies.iter().filter(|study| !(study.jobs)().is_empty()).flat_map(|study| study.claims);
    assert_eq!(treated, with_runs.copied().collect(), "{}", paper.key);
    for Case { claim, sound, spoiled, fails } in cases {
        let met = outcome(studies, &paper, claim, sound);
        assert!(met.verdict.is_met(), "{claim}: {}", met.note);
        let missed = outcome(studies, &paper, claim, spoiled);
        assert!(!missed.verdict.is_met(), "{claim}, where this must fail: {fails}");
        let failed = failed(&missed);
        assert!(failed.iter().any(|quantity| quantity == fails), "{claim}, {fails}: {}", missed.note);
    }
}

/// Checks that every condition of the claims of `cases` fails with some runs: those that meet the claim, each changed
/// at random by `change`. Those that `no_run_decides` are excepted: they are computed without any run, and tested next
/// to their study.
pub(super) fn every_condition_can_fail<J: StudyRun, A: Send>(
    studies: &[Study<J, A>],
    paper: Result<Paper, ClaimsError>,
    cases: &[Case<J, A>],
    change: fn(A, &mut Random) -> A,
    no_run_decides: &[&str],
) {
    /// How many sets of runs are tried.
    const SEEDS: u64 = 60;
    let paper = paper.unwrap_or_else(|error| panic!("{error}"));
    let mut never = BTreeSet::new();
    for Case { claim, sound, .. } in cases {
        let conditions = &paper.claims.get(claim).unwrap().conditions;
        let mut unbroken: BTreeSet<&str> = conditions.iter().map(|condition| condition.quantity.as_str()).collect();
        let mut note = |broken: ClaimOutcome| {
            for quantity in failed(&broken) {
                unbroken.remove(quantity.as_str());
            }
            unbroken.is_empty()
        };
        let mut spoiled = cases.iter().filter(|case| case.claim == *claim).map(|case| case.spoiled);
        let by_case = spoiled.any(|spoiled| note(outcome(studies, &paper, claim, &spoiled)));
        let mut seeds = 0..SEEDS;
        let by_chance = |seed: u64| {
            let changed = |job: &J| {
                let mut random = Random::of(seed, &job.to_string());
                // With the first seeds all runs are changed, with later ones some.
                if random.below(seed + 1) < 2 { change(sound(job), &mut random) } else { sound(job) }
            };
            note(outcome(studies, &paper, claim, &changed))
        };
        let _ = by_case || seeds.any(by_chance);
        never.extend(unbroken.into_iter().map(|quantity| format!("{claim} {quantity}")));
    }
    assert_eq!(never.iter().map(String::as_str).collect::<Vec<_>>(), no_run_decides, "{}", paper.key);
}

/// The quantities whose conditions do not hold, each once.
fn failed(outcome: &ClaimOutcome) -> Vec<String> {
    let mut failed: Vec<String> = Vec::new();
    for condition in outcome.conditions.iter().filter(|condition| !condition.verdict.is_met()) {
        if !failed.contains(&condition.quantity) {
            failed.push(condition.quantity.clone());
        }
    }
    failed
}

/// The quantities whose conditions `findings` fail.
pub(super) fn failing(paper: &Result<Paper, ClaimsError>, id: &str, findings: Findings) -> Vec<String> {
    let claims = &paper.as_ref().unwrap_or_else(|error| panic!("{error}")).claims;
    let judged = ClaimOutcome::of(claims.file, claims.get(id).unwrap(), Ok(findings), String::new());
    failed(&judged.unwrap_or_else(|error| panic!("{error}")))
}

fn outcome<J: StudyRun, A: Send>(
    studies: &[Study<J, A>],
    paper: &Paper,
    id: &str,
    made_up: &(dyn Fn(&J) -> A + Sync),
) -> ClaimOutcome {
    let study = studies.iter().find(|study| study.claims.contains(&id)).unwrap();
    let interrupted = AtomicBool::new(false);
    let watch = Watch { progress: &|_| {}, interrupted: &interrupted, threads: 1 };
    let runs = run_all(&plan((study.jobs)()), &|job| Ok(made_up(job)), &watch);
    let judged = judge(studies, paper.claims.file, paper.claims.get(id).unwrap(), &runs).unwrap();
    judged.unwrap_or_else(|error| panic!("{error}"))
}

/// Random numbers from a seed.
pub(super) struct Random(u64);

impl Random {
    fn of(seed: u64, name: &str) -> Random {
        Random(name.bytes().fold(seed, |state, byte| state.wrapping_mul(0x100_0000_01b3) ^ u64::from(byte)))
    }

    pub(super) fn next(&mut self) -> u64 {
        splitmix64::draw(&mut self.0)
    }

    pub(super) fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    /// A factor from a hundredth to a hundred.
    pub(super) fn factor(&mut self) -> f64 {
        10.0_f64.powf(self.below(401) as f64 / 100.0 - 2.0)
    }

    /// A time multiplied by a random factor, or no time at all.
    pub(super) fn longer(&mut self, time: Duration) -> Duration {
        let factor = if self.below(8) == 0 { 0.0 } else { self.factor() };
        Duration::from_picoseconds((time.picoseconds() as f64 * factor) as u64)
    }
}

/// A number just outside of `bound`, on each side that it has.
fn outside(bound: Bound, published: Option<f64>) -> Vec<f64> {
    let step = |value: f64| value.abs().max(1.0) * 1e-6;
    match bound {
        Bound::Between { least, most } => {
            let below = least.map(|limit| limit.value - step(limit.value));
            let above = most.map(|limit| limit.value + step(limit.value));
            let ends = [least, most].into_iter().flatten().filter(|limit| !limit.included).map(|limit| limit.value);
            below.into_iter().chain(above).chain(ends).collect()
        }
        Bound::Apart { than, end } => vec![than, end + (than - end) * 1e-6],
        Bound::Equals(value) => vec![value - step(value), value + step(value)],
        Bound::Near(tolerance) => {
            let published = published.unwrap();
            let [least, most] = match tolerance {
                Tolerance::Absolute(most) => [published - most, published + most],
                Tolerance::Percent(most) => [-most, most].map(|percent| published * (1.0 + percent / 100.0)),
                Tolerance::Factor(most) => [published / most, published * most],
            };
            vec![least - step(least), most + step(most)]
        }
    }
}

/// A number on the wrong side of any bound of any claim, one at a time, makes that claim missed by that condition.
#[test]
fn past_any_bound_a_claim_is_missed() {
    for paper in papers() {
        for claim in &paper.claims.all {
            for condition in &claim.conditions {
                let published = claim.printed_for(&condition.quantity, 1);
                let published = published.or_else(|| claim.printed_row(&condition.quantity).ok());
                let cases = published.as_ref().map_or(1, Vec::len);
                for past in outside(condition.bound, published.as_ref().map(|row| row[0])).into_iter().chain([f64::NAN])
                {
                    let found = published.clone().unwrap_or_else(|| vec![0.0; cases]);
                    let found = found
                        .into_iter()
                        .enumerate()
                        .map(|(index, value)| (index.to_string(), if index == 0 { past } else { value }));
                    let name: &'static str = condition.quantity.clone().leak();
                    let alone = Claim { conditions: vec![condition.clone()], ..claim.clone() };
                    let findings = Ok(Findings::words("").with(name, found));
                    let outcome = ClaimOutcome::of(paper.claims.file, &alone, findings, String::new()).unwrap();
                    assert!(!outcome.verdict.is_met(), "{} {name} {past}", claim.id);
                    assert!(!outcome.conditions[0].checks[0].holds, "{} {name} {past}", claim.id);
                }
                let nothing = Ok(Findings::words("").with(condition.quantity.clone().leak(), []));
                let alone = Claim { conditions: vec![condition.clone()], ..claim.clone() };
                let outcome = ClaimOutcome::of(paper.claims.file, &alone, nothing, String::new()).unwrap();
                assert!(!outcome.verdict.is_met(), "{}: nothing was checked", claim.id);
            }
        }
    }
}

fn papers() -> [Paper; 5] {
    [moc::paper(), postal::paper(), cm5::paper(), lh::paper(), bcast::paper()]
        .map(|paper| paper.unwrap_or_else(|error| panic!("{error}")))
}

/// A reproduction with one claim of each verdict: the first has another condition, which is met.
fn one_of_each() -> Reproduction {
    let condition = "[[claim.condition]]\nquantity = 'slope'\nwhat = 'slope'\nabove = 0\n";
    let cases = [
        ("p.a", String::new(), Ok(1.0)),
        ("p.b", "data = 'training'\n".to_string(), Ok(1.0)),
        ("p.c", "contradicts = 'table 5'\n".to_string(), Ok(0.0)),
        ("p.d", condition.replace("above = 0", "below = 0"), Ok(1.0)),
        ("p.e", String::new(), Err(())),
    ];
    let outcomes = cases.into_iter().map(|(id, more, slope)| {
        let fitted = if id == "p.b" { "fitted = 'a cost, to it'\n" } else { "" };
        let head = format!("[[claim]]\nid = '{id}'\nkind = 'order'\nsource = 's'\nsays = 'x'\n{fitted}");
        let read = Claims::parse("c.toml", &format!("{head}{condition}{more}"));
        let mut claim = read.unwrap_or_else(|error| panic!("{error}")).all.remove(0);
        claim.rule_changed = (id == "p.a").then(|| "it was stricter".to_string());
        let found = slope.map(|slope| Findings::words("so").with_number("slope", slope));
        ClaimOutcome::of("c.toml", &claim, found.map_err(|()| MissingAnswer::NotRun("it".to_string())), String::new())
            .unwrap()
    });
    Reproduction { outcomes: outcomes.collect(), html: String::new(), interrupted: false }
}

#[test]
fn a_tally_counts_conditions_and_claims_by_verdict() {
    let done = one_of_each();
    let text = verdicts(&done.outcomes) + &done.tally_text();
    let all = "1 met, fitted; 1 contradicts the paper itself; 1 missed; 1 not run\n";
    assert!(text.contains(&format!("\n6 conditions: 2 met; {all}5 claims: 1 met; {all}")), "{text}");
    assert!(text.contains("fitted: a cost, to it") && text.contains("rule changed after a run: it was stricter"));
    assert_eq!((done.tally(), done.exit_status()), ([1, 1, 1, 1, 1], 1));
    let without = |verdict| {
        let kept = one_of_each().outcomes.into_iter().filter(|outcome| outcome.verdict != verdict).collect();
        Reproduction { outcomes: kept, html: String::new(), interrupted: false }.exit_status()
    };
    assert_eq!([without(Verdict::Missed), without(Verdict::Met)], [0, 1]);
}

/// The claims whose parameters were fitted to or chosen by what they test are marked, and no others.
#[test]
fn what_was_fitted_is_marked() {
    let papers = papers();
    let of = |is: fn(&Claim) -> bool| {
        papers.iter().flat_map(|paper| &paper.claims.all).filter(move |claim| is(claim)).map(|claim| claim.id.as_str())
    };
    let fitted: Vec<&str> = of(|claim| claim.fitted.is_some()).collect();
    let due = [
        "moc.fig5.distance",
        "moc.fig5.gcel",
        "moc.fig6.faster",
        "moc.fig6.knee",
        "moc.fig7.slope",
        "moc.sec4.blocking",
        "moc.fig8.all_to_all",
        "moc.fig12.speedup",
        "moc.fig14.adaptive",
        "postal.fig3.lambda",
        "postal.fig13.short",
        "cm5.sec2.network",
        "cm5.fig5.exchange32",
        "cm5.table5.fft",
        "cm5.fig10.broadcast",
        "cm5.table11.synthetic",
        "cm5.table12.real",
        "lh.fig2a.cascades",
        "lh.fig5.contention",
        "lh.fig6.server_overhead",
        "lh.fig8.scaling",
        "bcast.sec2.p2p",
        "bcast.sec2.intranode",
        "bcast.fig4.latency_256",
        "bcast.fig5.latency_4096",
    ];
    assert_eq!(fitted, due);
    let changed: Vec<&str> = of(|claim| claim.rule_changed.is_some()).collect();
    assert_eq!(changed, ["moc.fig7.slope", "cm5.table12.real"]);
}
