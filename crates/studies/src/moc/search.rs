//! Where the costs of the Mesh of Clos presets come from: a search that is given nothing but the five numbers that the paper prints.
//!
//! From a random place each walk goes on where it comes nearer to the three blocking times of section 4.2 and the two gains of
//! figure 12, with fewer messages than the study has. Where it comes to a set of costs that meets the claims about these numbers in full,
//! all other claims are judged with that set. They were held back: how many of the sets have each of them says how far the printed
//! numbers settle it.

use std::collections::BTreeMap;

use super::job::{Load, Platform};
use super::measures::{blocking, change, seconds};
use super::{Job, Measured, Results, STUDIES, Setup, paper, run_with};
use crate::walk::{Place, Range, Walk};
use crate::{Claim, ClaimsError, Outcome, Watch, judge, plan, run_all};

/// What is searched, and between what. The paper says that the machine is an early model of 1995; a channel may carry 3 to 20 MB/s.
const RANGES: [Range; 10] = [
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
/// The switches, which a walk keeps: whether a communication processor waits until a packet has left, and when it acknowledges.
const SWITCHES: [(&str, &str); 4] =
    [("true", "on-receive"), ("false", "on-receive"), ("true", "on-arrival"), ("false", "on-arrival")];

/// The claims with printed numbers, which the search sees.
const NUMBERS: [&str; 2] = ["moc.sec4.blocking", "moc.fig12.speedup"];
/// The claims that no cost of the Mesh of Clos decides, or that take long without telling anything.
const LEFT_OUT: [&str; 3] = ["moc.sec2.topologies", "moc.sec3.fast_sim", "moc.fig5.gcel"];

/// The sizes at which gains are looked for. [B]
const SIZES: [u32; 3] = [512, 1024, 2048];
/// The size of the printed blocking times. [B]
const BYTES: u32 = 2048;
/// A walk's two parts: messages of the pairs, in place of those of the study, and steps.
const PARTS: [(Option<u32>, usize); 2] = [(Some(512), 120), (None, 40)];
/// A part ends where all of the numbers are this near: the claims allow a quarter. [1]
const NEAR: f64 = 0.2;
/// Where they are farther than this after the first part, the second is left out. [1]
const HOPELESS: f64 = 0.9;
/// Farther than this the claims cannot be met. [1]
const FITS: f64 = 0.5;
/// From here on a number that should be small is no worse. [us]
const LITTLE: f64 = 1e-3;

/// A set of costs that meets the claims about the printed numbers.
#[derive(Clone, Debug)]
pub struct Fit {
    /// The costs.
    pub settings: Vec<(String, String)>,
    /// What became of all claims, those about the printed numbers first.
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

impl Found {
    /// In how many of the sets each claim is met, and each condition of it.
    pub fn tally(&self) -> BTreeMap<String, usize> {
        let mut tally = BTreeMap::new();
        for outcome in self.fits.iter().flat_map(|fit| &fit.outcomes) {
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
}

/// Makes the walks of `seeds`. `each` hears of every set that fits, `told` of every walk that came to none, with how near it came.
///
/// # Errors
/// What is wrong with the file of claims.
pub fn search(
    seeds: std::ops::Range<u64>,
    watch: &Watch<'_>,
    each: &dyn Fn(u64, &Fit),
    told: &dyn Fn(u64, f64),
) -> Result<Found, ClaimsError> {
    let mut found = Found::default();
    let mut gcel = BTreeMap::new();
    for seed in seeds {
        found.walks += 1;
        match walk(seed)? {
            (_, Some(setup)) => {
                let outcomes = outcomes(&setup, &|id| !LEFT_OUT.contains(&id), &mut gcel, watch)?;
                let fit = Fit { settings: setup.settings, outcomes };
                each(seed, &fit);
                found.fits.push(fit);
            }
            (distance, None) => told(seed, distance),
        }
    }
    Ok(found)
}

/// What becomes of all claims with `settings`.
///
/// # Errors
/// What is wrong with the file of claims.
pub fn try_out(settings: Vec<(String, String)>, watch: &Watch<'_>) -> Result<Fit, ClaimsError> {
    let setup = Setup { settings, rounds: Some(1), ..Setup::default() };
    let outcomes = outcomes(&setup, &|id| !LEFT_OUT.contains(&id), &mut BTreeMap::new(), watch)?;
    Ok(Fit { settings: setup.settings, outcomes })
}

/// How far a set of costs is from the printed numbers, each by the logarithm of the quotient, without sign.
#[derive(Clone, Copy, Debug)]
struct Distance {
    /// The sum over all five; that of all-to-all, which is a small one, counts for a third.
    sum: f64,
    /// The greatest of the four of the pairs.
    pairs: f64,
    /// That of all-to-all.
    all_to_all: f64,
}

/// One walk: how near it came to the printed numbers, and the set that meets what the claims say of those of the pairs, if it came to
/// one.
fn walk(seed: u64) -> Result<(f64, Option<Setup>), ClaimsError> {
    let claims = paper()?.claims;
    let numbers: Vec<&Claim> = claims.all.iter().filter(|claim| NUMBERS.contains(&claim.id.as_str())).collect();
    let (waits, acknowledged) = SWITCHES[(seed % SWITCHES.len() as u64) as usize];
    let mut walk = Walk::new(&RANGES, seed);
    let setup = |walk: &Walk<'_>, place: &Place, messages| {
        let mut settings = walk.settings(place);
        settings.push(("node.waits_for_departure".to_string(), waits.to_string()));
        settings.push(("node.acknowledged".to_string(), acknowledged.to_string()));
        Setup { settings, rounds: Some(1), messages, ..Setup::default() }
    };
    let mut place = walk.anywhere();
    let mut nearest = None;
    for (messages, steps) in PARTS {
        nearest = distance(&setup(&walk, &place, messages), &numbers, f64::INFINITY);
        let mut step = 0;
        while step < steps && !nearest.is_some_and(|nearest| nearest.pairs.max(nearest.all_to_all) <= NEAR) {
            step += 1;
            let next = walk.step(&place);
            let bound = nearest.map_or(f64::INFINITY, |nearest| nearest.sum);
            if let Some(nearer) = distance(&setup(&walk, &next, messages), &numbers, bound) {
                (place, nearest) = (next, Some(nearer));
            }
        }
        if nearest.is_none_or(|nearest| nearest.sum > HOPELESS) {
            break;
        }
    }
    let Some(nearest) = nearest else { return Ok((f64::INFINITY, None)) };
    let whole = setup(&walk, &place, None);
    let fits = nearest.pairs <= FITS && meets_numbers(&whole, claims.file, &numbers)?;
    Ok((nearest.sum, fits.then_some(whole)))
}

/// How far `setup` is from the printed numbers, if less than `bound`.
fn distance(setup: &Setup, numbers: &[&Claim], bound: f64) -> Option<Distance> {
    let measured = |job| run_with(setup, &job).ok();
    let far = |ours: f64, claim: &str, name: &str| {
        let printed = numbers.iter().find(|one| one.id == claim)?.printed(name).ok()?;
        Some((ours.max(LITTLE) / printed).ln().abs())
    };
    let blocked = |load, name: &str| {
        let job = Job::new(Platform::Basic, load, BYTES);
        far(blocking(&Results::of([(job, measured(job)?)]), job).ok()?, NUMBERS[0], name)
    };
    let gain = |load, name: &str| {
        let mut largest = f64::NEG_INFINITY;
        for bytes in SIZES {
            let [basic, clustered] = [Platform::Basic, Platform::Clustered].map(|on| Job::new(on, load, bytes));
            let runs = Results::of([(basic, measured(basic)?), (clustered, measured(clustered)?)]);
            largest = largest.max(change(seconds(&runs, basic).ok()?, seconds(&runs, clustered).ok()?));
        }
        far(largest, NUMBERS[1], name)
    };
    let pairs = [(Load::EqualDist, "equal_dist"), (Load::UnequalDist, "unequal_dist")];
    let all_to_all = blocked(Load::AllToAll { rounds: 1 }, "all_to_all")?;
    let mut distance = Distance { sum: all_to_all / 3.0, pairs: 0.0, all_to_all };
    // The gains cost the most, and are left out where the blocking times are far off.
    for numbers in [pairs.map(|(load, name)| (false, load, name)), pairs.map(|(load, name)| (true, load, name))] {
        for (gains, load, name) in numbers {
            let far = if gains { gain(load, name)? } else { blocked(load, name)? };
            (distance.sum, distance.pairs) = (distance.sum + far, distance.pairs.max(far));
        }
        if distance.sum >= bound {
            return None;
        }
    }
    Some(distance)
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

/// What becomes of the claims that are `wanted` with `setup`. What ran on the GCel is kept in `gcel`, as no cost here touches it.
fn outcomes(
    setup: &Setup,
    wanted: &dyn Fn(&str) -> bool,
    gcel: &mut BTreeMap<Job, Measured>,
    watch: &Watch<'_>,
) -> Result<Vec<Outcome>, ClaimsError> {
    let treated = STUDIES.iter().filter(|study| study.claims.iter().any(|id| wanted(id)));
    let jobs: Vec<Job> = plan(treated.flat_map(|study| (study.jobs)()));
    let kept = &*gcel;
    let run = |job: &Job| kept.get(job).map_or_else(|| run_with(setup, job), |measured| Ok(measured.clone()));
    let runs = run_all(&jobs, &run, watch);
    let of_gcel = jobs.iter().filter(|job| job.platform == Platform::Gcel);
    let new: Vec<_> = of_gcel.filter_map(|job| Some((*job, runs.get(job).ok()?.clone()))).collect();
    gcel.extend(new);
    let claims = paper()?.claims;
    let wanted = claims.all.iter().filter(|claim| wanted(&claim.id));
    wanted.filter_map(|claim| judge(&STUDIES, claims.file, claim, &runs)).collect()
}
