//! Where the costs of a node of the CM-5 come from: a search that is given the half of table 11 that is for training and the printed
//! time of an empty message, and nothing else.
//!
//! From a random place each walk goes on where the training figures are less far off, on fewer patterns than the study has, and on others.
//! The receiver's cost for a message is no matter of choice: it is what the printed 88 us leave. What a walk came to is then judged
//! by the other half of the table and by other claims, which were held back.

use std::ops::Range;

use quantities::{Duration, Rate};

use super::job::{Job, NODES};
use super::measures::{mean_of, mean_off};
use super::simulate::{Setup, run_with};
use super::table11::{ALGORITHMS, columns};
use super::{Results, STUDIES, paper};
use crate::walk::{self, Place, Walk};
use crate::{Claim, Outcome, Watch, judge, plan, run_all};

/// What is searched, and between what: costs for a message, for a packet of 20 bytes, and for copying, of a node with a processor of
/// 32 million instructions a second.
const RANGES: [walk::Range; 5] = [
    walk::Range { field: "node.processor_send", least: 2.0, most: 40.0, unit: "us" },
    walk::Range { field: "node.message_send", least: 20.0, most: 75.0, unit: "us" },
    walk::Range { field: "node.packet_send", least: 0.05, most: 4.0, unit: "us" },
    walk::Range { field: "node.packet_receive", least: 0.05, most: 4.0, unit: "us" },
    walk::Range { field: "node.copy_rate", least: 8.0, most: 100.0, unit: "MB/s" },
];
/// The place of the copying rate among them.
const COPY_RATE: usize = 4;
/// What a header waits for that finds no idle channel, and how it begins to look for one: a walk keeps them.
const WAITS_FOR: [&str; 2] = ["any", "chosen"];
/// The field that the printed time of an empty message decides.
const RECEIVE: &str = "node.processor_receive";

/// Patterns of a step of a walk, by density [%]: the sparser they are, the more they differ.
const PATTERNS: [(u32, u32); 4] = [(10, 24), (25, 12), (50, 6), (75, 6)];
/// The first of these patterns: the report has others.
const FIRST: u32 = 100_000;
/// Steps of a walk.
const STEPS: usize = 45;

/// The claims that are judged with what a walk came to: those that need the small machine only.
const JUDGED: [&str; 4] = ["cm5.sec2.network", "cm5.fig5.exchange32", "cm5.fig10.broadcast", "cm5.table12.real"];

/// What a walk came to.
#[derive(Clone, Debug)]
pub struct Found {
    /// The costs.
    pub settings: Vec<(String, String)>,
    /// How far the figures are off that are for training, and those that were held back. [%]
    pub off: [f64; 2],
    /// Columns of table 11 in which the four schedules come as printed, from the fastest to the slowest.
    pub as_printed: usize,
    /// What became of the claims that were judged.
    pub outcomes: Vec<Outcome>,
}

/// Makes the walks of `seeds`; `each` hears of what every one came to.
///
/// # Errors
/// Why a figure cannot be had.
pub fn search(seeds: Range<u64>, watch: &Watch<'_>, each: &dyn Fn(u64, &Found)) -> Result<Vec<Found>, String> {
    let mut found = Vec::new();
    for seed in seeds {
        let Some(setup) = walk(seed)? else { continue };
        let one = try_out(&setup, watch)?;
        each(seed, &one);
        found.push(one);
    }
    Ok(found)
}

/// What becomes of both halves of table 11, and of other claims, with `setup`.
///
/// # Errors
/// Why a figure cannot be had.
pub fn try_out(setup: &Setup, watch: &Watch<'_>) -> Result<Found, String> {
    let claims = paper().map_err(|error| error.to_string())?.claims;
    let table11 = claims.get("cm5.table11.synthetic").map_err(|gap| format!("{gap:?}"))?;
    let (off, as_printed) = both_halves(setup, table11)?;
    let wanted = |id: &str| JUDGED.contains(&id);
    let treated = STUDIES.iter().filter(|study| study.claims.iter().any(|id| wanted(id)));
    let jobs: Vec<Job> = plan(treated.flat_map(|study| (study.jobs)()));
    let runs: Results = run_all(&jobs, &|job| run_with(setup, job), watch);
    let judged = claims.all.iter().filter(|claim| wanted(&claim.id));
    let outcomes = judged.filter_map(|claim| judge(&STUDIES, claims.file, claim, &runs)).collect::<Result<_, _>>();
    let outcomes = outcomes.map_err(|error| error.to_string())?;
    Ok(Found { settings: setup.settings.clone(), off, as_printed, outcomes })
}

/// `setup` with the receiver's cost that makes an empty message take as long as printed; none if it would be less than nothing.
///
/// # Errors
/// Why the time cannot be had.
pub fn with_receive(setup: &Setup) -> Result<Option<Setup>, String> {
    let claims = paper().map_err(|error| error.to_string())?.claims;
    let network = claims.get("cm5.sec2.network").map_err(|gap| format!("{gap:?}"))?;
    let printed = network.printed("empty_us").map_err(|gap| format!("{gap:?}"))?;
    let mut free = setup.clone();
    free.settings.push((RECEIVE.to_string(), "0 us".to_string()));
    let times = (1..NODES).map(|to| Ok(run_with(&free, &Job::Empty { to })?.time.seconds() * 1e6));
    let rest = printed - mean_of(&times.collect::<Result<Vec<f64>, String>>()?).value;
    let mut setup = setup.clone();
    setup.settings.push((RECEIVE.to_string(), format!("{} us", report::fixed(rest, 1))));
    Ok((rest > 0.0).then_some(setup))
}

/// One walk; nothing where even its first place leaves a receiver no time.
fn walk(seed: u64) -> Result<Option<Setup>, String> {
    let claims = paper().map_err(|error| error.to_string())?.claims;
    let table11 = claims.get("cm5.table11.synthetic").map_err(|gap| format!("{gap:?}"))?;
    let mut walk = Walk::new(&RANGES, seed);
    let waits_for = WAITS_FOR[(seed % WAITS_FOR.len() as u64) as usize];
    let setup = |walk: &Walk<'_>, place: &Place| {
        let mut settings = walk.settings(place);
        settings.push(("routing.waits_for".to_string(), waits_for.to_string()));
        let rate = Rate::from_bits_per_second((place[COPY_RATE] * 8e6) as u64);
        with_receive(&Setup { settings, reshuffle: a_byte(rate), ..Setup::default() })
    };
    let mut here: Option<(Place, Setup, f64)> = None;
    for _ in 0..STEPS {
        let place = here.as_ref().map_or_else(|| None, |(place, ..)| Some(walk.step(place)));
        let place = place.unwrap_or_else(|| walk.anywhere());
        let Some(setup) = setup(&walk, &place)? else { continue };
        let off = training_off(&setup, table11)?;
        if here.as_ref().is_none_or(|(.., nearest)| off < *nearest) {
            here = Some((place, setup, off));
        }
    }
    Ok(here.map(|(_, setup, _)| setup))
}

/// How long it takes to copy a byte.
fn a_byte(rate: Rate) -> Duration {
    rate.time_of(quantities::Bytes(1))
}

/// The mean times of a column's patterns, in the order of the algorithms. [ms]
fn means(setup: &Setup, percent: u32, bytes: u32) -> Result<[f64; 4], String> {
    let patterns = PATTERNS.iter().find(|(density, _)| *density == percent).map_or(1, |(_, patterns)| *patterns);
    let mut means = [0.0; 4];
    for (mean, algorithm) in means.iter_mut().zip(ALGORITHMS) {
        let jobs = (FIRST..FIRST + patterns).map(|pattern| Job::Random { algorithm, percent, bytes, pattern });
        let times = jobs.map(|job| Ok(run_with(setup, &job)?.time.seconds() * 1e3));
        *mean = mean_of(&times.collect::<Result<Vec<f64>, String>>()?).value;
    }
    Ok(means)
}

/// How far the training figures are off. [%]
fn training_off(setup: &Setup, table11: &Claim) -> Result<f64, String> {
    let mut pairs = Vec::new();
    for (percent, bytes, training, printed) in columns(table11).map_err(|gap| format!("{gap:?}"))? {
        if training {
            pairs.extend(means(setup, percent, bytes)?.into_iter().zip(printed));
        }
    }
    Ok(mean_off(pairs))
}

/// How far both halves are off [%], and how many columns have the four schedules in the printed order.
fn both_halves(setup: &Setup, table11: &Claim) -> Result<([f64; 2], usize), String> {
    let (mut halves, mut as_printed) = ([Vec::new(), Vec::new()], 0);
    for (percent, bytes, training, printed) in columns(table11).map_err(|gap| format!("{gap:?}"))? {
        let means = means(setup, percent, bytes)?;
        halves[usize::from(!training)].extend(means.into_iter().zip(printed));
        as_printed += usize::from(super::table11::misplaced(means, printed) == 0);
    }
    Ok((halves.map(mean_off), as_printed))
}
