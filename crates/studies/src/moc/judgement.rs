//! What becomes of the claims with a set of costs, and how far it falls short of some of them.

use std::collections::BTreeMap;

use super::begins::Begins;
use super::job::{PAIRS, Platform};
use super::{Job, Measured, Results, STUDIES, Setup, paper, run_with};
use crate::{Bound, Claims, ClaimsError, Outcome, Watch, judge, plan, run_all};

/// Judges sets of costs of the Mesh of Clos. The runs of a set are made once, by however many claims it is judged in a row, and those of the
/// GCel, which none of these costs moves, once for all sets.
pub struct Judge<'a> {
    /// The claims of the paper.
    pub claims: Claims,
    /// By who begins, and by the messages of the pairs.
    gcel: BTreeMap<(Begins, Option<u32>), BTreeMap<Job, Measured>>,
    /// Of the set that was judged last, which may be judged by one claim after another.
    last: Option<(Setup, BTreeMap<Job, Measured>)>,
    watch: &'a Watch<'a>,
}

/// Messages of the pairs where the claims with irregular curves are judged, an eighth of the study's.
pub const MESSAGES_OF_IRREGULAR: u32 = 512;

/// Which claims are meant.
pub type Wanted<'a> = &'a dyn Fn(&str) -> bool;

impl<'a> Judge<'a> {
    /// A judge that has made no run yet.
    ///
    /// # Errors
    /// What is wrong with the file of claims.
    pub fn new(watch: &'a Watch<'a>) -> Result<Judge<'a>, ClaimsError> {
        Ok(Judge { claims: paper()?.claims, gcel: BTreeMap::new(), last: None, watch })
    }

    /// What becomes of the claims that are `wanted` with `setup`.
    ///
    /// # Errors
    /// What is wrong with the file of claims.
    pub fn outcomes(&mut self, setup: &Setup, wanted: Wanted<'_>) -> Result<Vec<Outcome>, ClaimsError> {
        let runs = self.runs(setup, wanted, &|_| true);
        let claims = self.claims.all.iter().filter(|claim| wanted(&claim.id));
        claims.filter_map(|claim| judge(&STUDIES, self.claims.file, claim, &runs)).collect()
    }

    /// The sum of the squares by which `setup` misses the conditions of the claims that are `wanted`: for each condition the most of all
    /// its cases. The pairs of figure 8 with more buffers than one, which take the longest, are not run.
    pub fn missed(&mut self, setup: &Setup, wanted: Wanted<'_>) -> f64 {
        let of_figure8 = |job: &Job| job.platform == Platform::Basic && job.buffers > 1 && PAIRS.contains(&job.load);
        self.sum_of_missed(setup, wanted, &|job| !of_figure8(job), f64::INFINITY)
    }

    /// The same with all runs of the claims with irregular curves, each condition by 1 at most: which configuration is the worst may be
    /// missed by a factor of 32 where the next best has the right one.
    pub fn missed_of_irregular(&mut self, setup: &Setup, wanted: Wanted<'_>) -> f64 {
        self.sum_of_missed(setup, wanted, &|_| true, 1.0)
    }

    fn sum_of_missed(
        &mut self,
        setup: &Setup,
        wanted: Wanted<'_>,
        needed: &dyn Fn(&Job) -> bool,
        most_counted: f64,
    ) -> f64 {
        let runs = self.runs(setup, wanted, needed);
        let claims = self.claims.all.iter().filter(|claim| wanted(&claim.id));
        let mut sum = 0.0;
        for claim in claims {
            let Some(study) = STUDIES.iter().find(|study| study.claims.contains(&claim.id.as_str())) else { continue };
            let Ok(findings) = (study.judge)(claim, &runs) else { return f64::INFINITY };
            for condition in &claim.conditions {
                let published = claim.printed(&condition.quantity).ok();
                let quantity = findings.quantities.iter().find(|quantity| quantity.name == condition.quantity);
                sum += quantity.map_or(f64::INFINITY, |quantity| {
                    most(condition.bound, published, quantity).powi(2).min(most_counted)
                });
            }
        }
        sum
    }

    /// The runs for the claims that are `wanted`, of which only the `needed`.
    fn runs(&mut self, setup: &Setup, wanted: Wanted<'_>, needed: &dyn Fn(&Job) -> bool) -> Results {
        let treated = STUDIES.iter().filter(|study| study.claims.iter().any(|id| wanted(id)));
        let jobs: Vec<Job> = plan(treated.flat_map(|study| (study.jobs)()).filter(needed));
        // More buffers move all-to-all by a fifth of a percent whatever the costs, so that its runs are made once for the irregular curves.
        let is_fixed = |job: &Job| {
            let all_to_all = matches!(job.load, super::Load::AllToAll { .. });
            job.platform == Platform::Gcel || (all_to_all && setup.messages == Some(MESSAGES_OF_IRREGULAR))
        };
        let (of_gcel, others): (Vec<Job>, Vec<Job>) = jobs.into_iter().partition(is_fixed);
        let known = self.gcel.entry((setup.begins, setup.messages)).or_default();
        for job in of_gcel {
            if let (false, Ok(measured)) = (known.contains_key(&job), run_with(setup, &job)) {
                known.insert(job, measured);
            }
        }
        if self.last.as_ref().is_none_or(|(of, _)| of != setup) {
            self.last = None;
        }
        let (_, ours) = self.last.get_or_insert_with(|| (setup.clone(), BTreeMap::new()));
        let missing: Vec<Job> = others.into_iter().filter(|job| !ours.contains_key(job)).collect();
        let run = run_all(&missing, &|job: &Job| run_with(setup, job), self.watch);
        ours.extend(missing.iter().filter_map(|job| Some((*job, run.get(job).ok()?.clone()))));
        Results::of(ours.iter().chain(known.iter()).map(|(job, measured)| (*job, measured.clone())))
    }
}

/// The most by which a case of `quantity` misses `bound`.
fn most(bound: Bound, published: Option<f64>, quantity: &crate::Quantity) -> f64 {
    quantity.cases.iter().map(|case| bound.shortfall(case.value, published)).fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

    use super::*;
    use crate::Progress;

    #[test]
    fn a_run_is_made_once_for_all_claims_that_a_set_is_judged_by() {
        let interrupted = AtomicBool::new(false);
        let made = AtomicUsize::new(0);
        let progress = |progress: Progress<'_>| made.store(progress.done, Ordering::Relaxed);
        let watch = Watch { progress: &progress, interrupted: &interrupted, threads: 1 };
        let mut judge = Judge::new(&watch).unwrap();
        let mut runs_for = |bytes: u32, id: &str| {
            let settings = vec![("packet.payload".to_string(), format!("{bytes} B"))];
            let setup = Setup { settings, messages: Some(64), rounds: Some(1), ..Setup::default() };
            judge.missed(&setup, &|wanted| wanted == id);
            made.load(Ordering::Relaxed)
        };
        let first = runs_for(128, "moc.sec4.blocking");
        assert!(first > 0);
        assert_eq!(runs_for(128, "moc.sec4.blocking"), 0);
        // Figure 12 has the same runs, and as many on the other network.
        assert_eq!(runs_for(128, "moc.fig12.speedup"), first);
        assert_eq!(runs_for(126, "moc.sec4.blocking"), first, "another set");
    }

    #[test]
    fn a_set_falls_short_of_a_claim_where_it_misses_it() {
        let interrupted = AtomicBool::new(false);
        let watch = Watch { progress: &|_| {}, interrupted: &interrupted, threads: 1 };
        let mut judge = Judge::new(&watch).unwrap();
        let wanted = |id: &str| id == "moc.fig5.distance";
        let mut of = |routing_delay: &str| {
            let settings = vec![("routers.routing_delay".to_string(), routing_delay.to_string())];
            let setup = Setup { settings, ..Setup::default() };
            let outcomes = judge.outcomes(&setup, &wanted).unwrap();
            (outcomes.iter().all(|outcome| outcome.verdict.is_met()), judge.missed(&setup, &wanted))
        };
        assert_eq!(of("75 ns"), (true, 0.0));
        let (met, short) = of("10 us");
        assert!(!met && short > 1.0, "{short}");
        assert!(of("20 us").1 > short);
    }
}
