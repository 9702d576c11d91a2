//! Where the costs of the Mesh of Clos presets come from: a search that is given nothing but the five numbers that the paper prints.
//!
//! Each walk begins at a set of costs that is known to be near or at the best of some random ones, and adapts its steps: it goes on where it
//! comes nearer to the three blocking times of section 4.2 and the two gains of figure 12, at first with fewer messages than the study
//! has. Where it comes to a set that meets what the claims say of these numbers, it goes on among such sets. The figures of buffers are
//! judged with each of them, and all other claims where one comes out that the presets miss and none is lost. They were held back: how
//! many of the sets have each of them says how far the printed numbers settle it.

use std::collections::BTreeMap;

use super::both_begin::Begins;
use super::distance::{Distance, NUMBERS, Part, distance};
use super::{Job, Results, STUDIES, Setup, paper, run_with};
use crate::adaptation::Adaptation;
use crate::walk::{Place, Range, Walk};
use crate::{Claim, ClaimsError, Outcome, Watch, judge, plan, run_all};

/// What is searched, and between what. The machine is an early model of 1995. Its links are those of transputers or better: 3.3 to 20 MB/s.
/// The distance costs only a few microseconds in figure 5, so that a router takes less than one. Setting up a message takes an operating
/// system of that time from some microseconds to a tenth of a millisecond; a packet of 128 bytes is moved at 2 to 60 MB/s.
pub(super) const RANGES: [Range; 10] = [
    Range { field: "channels.flit_time", least: 50.0, most: 300.0, unit: "ns" },
    Range { field: "channels.credit_latency", least: 1.0, most: 100.0, unit: "ns" },
    Range { field: "routers.routing_delay", least: 20.0, most: 400.0, unit: "ns" },
    Range { field: "node.processor_send", least: 1.0, most: 100.0, unit: "us" },
    Range { field: "node.processor_receive", least: 1.0, most: 100.0, unit: "us" },
    Range { field: "node.message_send", least: 1.0, most: 60.0, unit: "us" },
    Range { field: "node.message_receive", least: 1.0, most: 60.0, unit: "us" },
    Range { field: "node.packet_send", least: 2.0, most: 60.0, unit: "us" },
    Range { field: "node.packet_receive", least: 2.0, most: 60.0, unit: "us" },
    Range { field: "node.system_message", least: 1.0, most: 40.0, unit: "us" },
];
/// Sets that are near, in the order of the ranges: that of the presets, and one for which pairs that slow down were reported.
const NEAR_SETS: [[f64; 10]; 2] = [
    [155.0, 30.0, 75.0, 40.0, 45.0, 10.0, 20.0, 25.0, 40.0, 15.0],
    [210.0, 2.0, 80.0, 26.0, 2.0, 25.0, 6.0, 37.0, 42.0, 19.0],
];
/// The switches, which a walk keeps: whether a communication processor waits until a packet has left, when it acknowledges, and
/// who of two partners begins. Both can begin only where acknowledgements don't wait for the program.
const SWITCHES: [(&str, &str, Begins); 6] = [
    ("true", "on-receive", Begins::Lower),
    ("true", "on-arrival", Begins::Both),
    ("true", "on-arrival", Begins::Lower),
    ("false", "on-arrival", Begins::Both),
    ("false", "on-receive", Begins::Lower),
    ("false", "on-arrival", Begins::Lower),
];

/// The claims that every set is judged by that fits: the numbers again, and the figures of buffers.
const FIRST: [&str; 7] = [
    "moc.sec4.blocking",
    "moc.fig8.all_to_all",
    "moc.fig8.pairs",
    "moc.fig9.send_away",
    "moc.fig10.hot_spots",
    "moc.fig12.speedup",
    "moc.fig13.buffers",
];
/// Those of them that the presets meet, and that a set must not lose to be judged by all others.
const ESSENTIAL: [&str; 2] = ["moc.fig8.all_to_all", "moc.fig12.speedup"];
/// The claims that the presets miss, with that of the gains, whose numbers are printed.
const MISSED: [&str; 7] = [
    "moc.sec4.blocking",
    "moc.fig8.pairs",
    "moc.fig9.send_away",
    "moc.fig10.hot_spots",
    "moc.fig12.speedup",
    "moc.fig13.buffers",
    "moc.fig14.adaptive",
];
/// The claims that no cost of the Mesh of Clos decides, or that take long without telling anything.
const EXCLUDED: [&str; 3] = ["moc.sec2.topologies", "moc.sec3.fast_sim", "moc.fig5.gcel"];

/// How many random sets a walk begins at the best of.
const SCATTERED: usize = 24;
/// A walk's two parts.
const PARTS: [Part; 2] = [
    Part { messages: Some(512), sizes: &[1024, 2048], all_to_all: false, steps: 160 },
    Part { messages: None, sizes: &[512, 1024, 2048], all_to_all: true, steps: 60 },
];
/// A part ends where all of the numbers are this near: the claims allow a quarter. [1]
const NEAR: f64 = 0.2;
/// Where they are farther than this after the first part, the second is left out. [1]
const HOPELESS: f64 = 1.0;
/// Farther than this the claims cannot be met. [1]
const FITS: f64 = 0.5;
/// Steps among sets that fit.
const STEPS_AMONG: usize = 12;

/// A set of costs that meets the claims about the printed numbers.
#[derive(Clone, Debug)]
pub struct Fit {
    /// The costs.
    pub settings: Vec<(String, String)>,
    /// Which of two partners begins.
    pub begins: Begins,
    /// How far it is from the printed numbers: the sum of the logarithms of the quotients.
    pub distance: f64,
    /// What became of the claims that it was judged by.
    pub outcomes: Vec<Outcome>,
}

/// What a search came to.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// Walks that were made.
    pub walks: u64,
    /// The sets that fit.
    pub fits: Vec<Fit>,
}

/// In how many of the sets each claim is met, and each condition of it.
pub fn tally(fits: &[Fit]) -> BTreeMap<String, usize> {
    let mut tally = BTreeMap::new();
    for outcome in fits.iter().flat_map(|fit| &fit.outcomes) {
        *tally.entry(outcome.id.clone()).or_insert(0) += usize::from(outcome.verdict.is_met());
        let mut quantities: BTreeMap<&str, bool> = BTreeMap::new();
        for check in &outcome.checks {
            *quantities.entry(&check.quantity).or_insert(true) &= check.holds;
        }
        for (quantity, holds) in quantities {
            *tally.entry(format!("{} {quantity}", outcome.id)).or_insert(0) += usize::from(holds);
        }
    }
    tally
}

/// The costs of the presets, in the order of the ranges.
pub(super) fn preset_costs() -> Place {
    NEAR_SETS[0].to_vec()
}

/// What becomes of the claims that the presets miss with `setup`.
///
/// # Errors
/// What is wrong with the file of claims.
pub(super) fn judge_missed(setup: Setup, watch: &Watch<'_>) -> Result<Fit, ClaimsError> {
    judge_by(setup, &|id| MISSED.contains(&id), watch)
}

/// Makes the walks of `seeds`, among sets that all have the `given` settings: another reading of the paper. `each` hears of every set
/// that fits, `report_walk` of every walk that came to none, with how near it came.
///
/// # Errors
/// What is wrong with the file of claims.
pub fn search(
    seeds: std::ops::Range<u64>,
    given: &[(String, String)],
    watch: &Watch<'_>,
    each: &dyn Fn(u64, &Fit),
    report_walk: &dyn Fn(u64, f64),
) -> Result<Found, ClaimsError> {
    let mut found = Found::default();
    for seed in seeds {
        found.walks += 1;
        let mut fits = 0;
        let distance = walk(seed, given, &mut |setup, distance| {
            let fit = judged(setup, distance, watch)?;
            each(seed, &fit);
            found.fits.push(fit);
            fits += 1;
            Ok(())
        })?;
        if fits == 0 {
            report_walk(seed, distance);
        }
    }
    Ok(found)
}

/// What becomes of the claims with a set that fits: of all of them only where it has one that the presets miss and loses none.
fn judged(setup: &Setup, distance: f64, watch: &Watch<'_>) -> Result<Fit, ClaimsError> {
    let first = outcomes(setup, &|id| FIRST.contains(&id), watch)?;
    let met = |outcome: &&Outcome| outcome.verdict.is_met();
    let kept = first.iter().filter(met).filter(|outcome| ESSENTIAL.contains(&outcome.id.as_str())).count();
    let promising = kept == ESSENTIAL.len() && first.iter().filter(met).count() > kept;
    let wanted = |id: &str| !EXCLUDED.contains(&id);
    let outcomes = if promising { outcomes(setup, &wanted, watch)? } else { first };
    Ok(Fit { settings: setup.settings.clone(), begins: setup.begins, distance, outcomes })
}

/// What becomes of the claims with `setup`: of `all` that costs decide, or of the numbers and the figures of buffers.
///
/// # Errors
/// What is wrong with the file of claims.
pub fn try_out(setup: Setup, all: bool, watch: &Watch<'_>) -> Result<Fit, ClaimsError> {
    judge_by(setup, &|id| if all { !EXCLUDED.contains(&id) } else { FIRST.contains(&id) }, watch)
}

/// How far `setup` is from the printed numbers, and what becomes of the claims that are `wanted`.
fn judge_by(setup: Setup, wanted: &dyn Fn(&str) -> bool, watch: &Watch<'_>) -> Result<Fit, ClaimsError> {
    let outcomes = outcomes(&setup, wanted, watch)?;
    let claims = paper()?.claims;
    let numbers: Vec<&Claim> = claims.all.iter().filter(|claim| NUMBERS.contains(&claim.id.as_str())).collect();
    let distance = distance(&setup, &numbers, &PARTS[1], f64::INFINITY).map_or(f64::INFINITY, |distance| distance.sum);
    Ok(Fit { settings: setup.settings, begins: setup.begins, distance, outcomes })
}

/// One walk: how near it came to the printed numbers. `fit` hears of each set that meets what the claims say of those of the pairs,
/// with how far it is from all five.
fn walk(
    seed: u64,
    given: &[(String, String)],
    fit: &mut dyn FnMut(&Setup, f64) -> Result<(), ClaimsError>,
) -> Result<f64, ClaimsError> {
    let claims = paper()?.claims;
    let numbers: Vec<&Claim> = claims.all.iter().filter(|claim| NUMBERS.contains(&claim.id.as_str())).collect();
    let mut course = Course::new(seed, given, numbers);
    for part in &PARTS {
        course.follow(part);
        if course.nearest.is_none_or(|nearest| nearest.sum > HOPELESS) {
            break;
        }
    }
    let Some(nearest) = course.nearest else { return Ok(f64::INFINITY) };
    let whole = course.setup(&course.place, None);
    if nearest.pairs > FITS || !meets_numbers(&whole, claims.file, &course.numbers)? {
        return Ok(nearest.sum);
    }
    fit(&whole, nearest.sum)?;
    for _ in 0..STEPS_AMONG {
        let next = course.search.child();
        let setup = course.setup(&next, None);
        let far = distance(&setup, &course.numbers, &PARTS[1], f64::INFINITY);
        let near = far.filter(|far| far.pairs <= FITS);
        let fits = near.is_some() && meets_numbers(&setup, claims.file, &course.numbers)?;
        course.search.learn(fits);
        if let (true, Some(near)) = (fits, near) {
            fit(&setup, near.sum)?;
        }
    }
    Ok(nearest.sum)
}

/// A walk under way.
struct Course<'a> {
    given: &'a [(String, String)],
    numbers: Vec<&'a Claim>,
    switches: (&'static str, &'static str, Begins),
    search: Adaptation<'static>,
    place: Place,
    nearest: Option<Distance>,
}

impl<'a> Course<'a> {
    /// At the beginning of the walk that follows from `seed`.
    fn new(seed: u64, given: &'a [(String, String)], numbers: Vec<&'a Claim>) -> Course<'a> {
        let kinds = SWITCHES.len() as u64;
        let switches = SWITCHES[(seed % kinds) as usize];
        // Every other turn through the switches begins at a known set, one after the other.
        let turn = seed / kinds;
        let place = NEAR_SETS[(turn / 2) as usize % NEAR_SETS.len()].to_vec();
        let search = Adaptation::new(&RANGES, seed, &place);
        let mut course = Course { given, numbers, switches, search, place, nearest: None };
        if turn % 2 == 1 {
            course.scatter(seed);
        }
        course
    }

    /// Begins at the best of some random places.
    fn scatter(&mut self, seed: u64) {
        let mut scattered = Walk::new(&RANGES, seed);
        for _ in 0..SCATTERED {
            let place = scattered.anywhere();
            let bound = self.nearest.map_or(f64::INFINITY, |nearest| nearest.sum);
            if let Some(nearer) = distance(&self.setup(&place, PARTS[0].messages), &self.numbers, &PARTS[0], bound) {
                (self.place, self.nearest) = (place, Some(nearer));
            }
        }
        self.search = Adaptation::new(&RANGES, seed, &self.place);
    }

    /// The study with the costs of `place`.
    fn setup(&self, place: &Place, messages: Option<u32>) -> Setup {
        let (waits, acknowledged, begins) = self.switches;
        let mut settings = Walk::new(&RANGES, 0).settings(place);
        settings.extend_from_slice(self.given);
        settings.push(("node.waits_for_departure".to_string(), waits.to_string()));
        settings.push(("node.acknowledged".to_string(), acknowledged.to_string()));
        Setup { settings, begins, rounds: Some(1), messages, ..Setup::default() }
    }

    /// Goes on as `part` says, until all numbers that it looks at are near.
    fn follow(&mut self, part: &Part) {
        let far = |place: &Place, course: &Self, bound| {
            distance(&course.setup(place, part.messages), &course.numbers, part, bound)
        };
        self.nearest = far(&self.place, self, f64::INFINITY);
        for _ in 0..part.steps {
            if self.nearest.is_some_and(|nearest| nearest.pairs.max(nearest.all_to_all) <= NEAR) {
                return;
            }
            let next = self.search.child();
            let nearer = far(&next, self, self.nearest.map_or(f64::INFINITY, |nearest| nearest.sum));
            self.search.learn(nearer.is_some());
            if nearer.is_some() {
                (self.place, self.nearest) = (next, nearer);
            }
        }
    }
}

/// Whether all that the claims about the printed numbers say is so with `setup`, but for the blocking time in all-to-all.
fn meets_numbers(setup: &Setup, file: &'static str, numbers: &[&Claim]) -> Result<bool, ClaimsError> {
    let treated = STUDIES.iter().filter(|study| study.claims.iter().any(|id| NUMBERS.contains(id)));
    let jobs: Vec<Job> = plan(treated.flat_map(|study| (study.jobs)()));
    let runs = Results::of(jobs.into_iter().filter_map(|job| Some((job, run_with(setup, &job).ok()?))));
    for claim in numbers {
        let Some(outcome) = judge(&STUDIES, file, claim, &runs).transpose()? else { return Ok(false) };
        let aside = |quantity: &str| claim.id == NUMBERS[0] && quantity == "all_to_all";
        if outcome.checks.is_empty() || !outcome.checks.iter().all(|check| check.holds || aside(&check.quantity)) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// What becomes of the claims that are `wanted` with `setup`.
fn outcomes(setup: &Setup, wanted: &dyn Fn(&str) -> bool, watch: &Watch<'_>) -> Result<Vec<Outcome>, ClaimsError> {
    let mut setup = setup.clone();
    if setup.begins == Begins::Both {
        // The GCel runs the same programs.
        setup.settings.push(("gcel.node.acknowledged".to_string(), "on-arrival".to_string()));
    }
    let treated = STUDIES.iter().filter(|study| study.claims.iter().any(|id| wanted(id)));
    let jobs: Vec<Job> = plan(treated.flat_map(|study| (study.jobs)()));
    let runs = run_all(&jobs, &|job: &Job| run_with(&setup, job), watch);
    let claims = paper()?.claims;
    let wanted = claims.all.iter().filter(|claim| wanted(&claim.id));
    wanted.filter_map(|claim| judge(&STUDIES, claims.file, claim, &runs)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(claims: &crate::Claims) -> Vec<&Claim> {
        claims.all.iter().filter(|claim| NUMBERS.contains(&claim.id.as_str())).collect()
    }

    #[test]
    fn a_set_is_as_far_as_its_numbers_are_from_those_printed() {
        let claims = paper().unwrap().claims;
        let part = &PARTS[0];
        let near = Course::new(0, &[], numbers(&claims)).setup(&NEAR_SETS[0].to_vec(), part.messages);
        let found = distance(&near, &numbers(&claims), part, f64::INFINITY).unwrap();
        assert!(found.pairs <= found.sum && found.sum <= 4.0 * found.pairs && found.all_to_all == 0.0, "{found:?}");
        assert!(distance(&near, &numbers(&claims), part, 0.9 * found.sum).is_none());
        // Channels that carry half as much hold packets up for longer: every number is another.
        let mut slow = near.clone();
        slow.settings.push(("channels.flit_time".to_string(), "310 ns".to_string()));
        assert!(distance(&slow, &numbers(&claims), part, f64::INFINITY).unwrap().sum > found.sum);
    }

    #[test]
    fn walks_begin_with_every_switch_and_follow_from_their_seeds() {
        let claims = paper().unwrap().claims;
        let begun = |seed| Course::new(seed, &[], numbers(&claims));
        for (seed, switches) in (0..).zip(SWITCHES) {
            assert_eq!(begun(seed).switches, switches);
            assert_eq!(begun(seed).place, NEAR_SETS[0]);
        }
        let scattered = begun(7);
        assert!(scattered.nearest.is_some() && scattered.place != NEAR_SETS[0]);
        assert_eq!(begun(7).place, scattered.place);
        assert_eq!(begun(7).search.child(), begun(7).search.child());
    }
}
