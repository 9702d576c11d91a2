//! A search for the costs of a node of the CM-5 that is given the half of table 11 that is for training and the printed time of an empty
//! message, and nothing else. The presets had what one of its walks came to, until `crossing_search` found costs with figure 10.
//!
//! From a random place each walk goes on where the training figures are less far off, on fewer patterns than the study has, and on others.
//! The receiver's cost for a message is no matter of choice: it is what the printed 88 us leave. What a walk came to is then judged
//! by the other half of the table and by other claims, which were held back.

use std::ops::Range;

use quantities::{Duration, Rate};

use super::job::{Job, NODES};
use super::measures::{mean_deviation, mean_of};
use super::simulate::{Setup, run_with};
use super::table11::{ALGORITHMS, columns};
use super::{Results, STUDIES, paper};
use crate::walk::{self, Place, Walk};
use crate::{Claim, Outcome, Watch, judge, plan, run_all};

/// What is searched, and between what: costs for a message, for a packet of 20 bytes, and for copying. A node's processor has 32 million
/// instructions a second and moves every packet itself, in ten to a hundred of them.
pub(super) const RANGES: [walk::Range; 8] = [
    walk::Range { field: "node.processor_send", least: 2.0, most: 40.0, unit: "us" },
    walk::Range { field: "node.message_send", least: 20.0, most: 75.0, unit: "us" },
    walk::Range { field: "node.packet_send", least: 0.3, most: 3.2, unit: "us" },
    walk::Range { field: "node.packet_receive", least: 0.1, most: 3.2, unit: "us" },
    walk::Range { field: "node.copy_rate", least: 8.0, most: 100.0, unit: "MB/s" },
    walk::Range { field: "node.copy_out_rate", least: 8.0, most: 400.0, unit: "MB/s" },
    walk::Range { field: "node.message_receive", least: 0.3, most: 30.0, unit: "us" },
    walk::Range { field: "node.system_message", least: 0.3, most: 30.0, unit: "us" },
];
/// The place of the copying rate among them.
const COPY_RATE: usize = 4;
/// What a header waits for that finds no idle channel, and how it begins to look for one: a walk keeps them.
const WAITS_FOR: [&str; 2] = ["any", "chosen"];
/// The field that the printed time of an empty message decides.
const RECEIVE: &str = "node.processor_receive";

/// Patterns of a step of a walk, by density [%]: the sparser they are, the more they differ.
const PATTERNS: [(u32, u32); 4] = [(10, 40), (25, 12), (50, 4), (75, 4)];
/// The first of these patterns: the report has others.
const FIRST: u32 = 100_000;
/// Steps of a walk.
const STEPS: usize = 400;
/// A walk ends where the training figures are no more than this off on the mean: what the claim about them allows. [%]
const FITS: f64 = 4.0;

/// The claims that are judged with what a walk came to: those that need the small machine only.
const JUDGED: [&str; 4] = ["cm5.sec2.network", "cm5.fig5.exchange32", "cm5.fig10.broadcast", "cm5.table12.real"];

/// What a walk came to.
#[derive(Clone, Debug)]
pub struct Found {
    /// The costs.
    pub settings: Vec<(String, String)>,
    /// How far the figures are off that are for training, and those that were held back. [%]
    pub deviation: [f64; 2],
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
        let one = try_out(&setup, &[], watch)?;
        each(seed, &one);
        found.push(one);
    }
    Ok(found)
}

/// What becomes of both halves of table 11, and of the claims that need the small machine only or are in `others`, with `setup`.
///
/// # Errors
/// Why a figure cannot be had.
pub fn try_out(setup: &Setup, others: &[&str], watch: &Watch<'_>) -> Result<Found, String> {
    let claims = paper().map_err(|error| error.to_string())?.claims;
    let table11 = claims.get("cm5.table11.synthetic").map_err(|gap| format!("{gap:?}"))?;
    if let Some(unknown) = others.iter().find(|id| claims.get(id).is_err()) {
        return Err(format!("claims: {unknown} is no claim of this paper"));
    }
    let (deviation, as_printed) = both_halves(setup, table11)?;
    let wanted = |id: &str| others.contains(&id) || JUDGED.contains(&id);
    let treated = STUDIES.iter().filter(|study| study.claims.iter().any(|id| wanted(id)));
    let jobs: Vec<Job> = plan(treated.flat_map(|study| (study.jobs)()));
    let runs: Results = run_all(&jobs, &|job| run_with(setup, job), watch);
    let judged = claims.all.iter().filter(|claim| wanted(&claim.id));
    let outcomes = judged.filter_map(|claim| judge(&STUDIES, claims.file, claim, &runs)).collect::<Result<_, _>>();
    let outcomes = outcomes.map_err(|error| error.to_string())?;
    Ok(Found { settings: setup.settings.clone(), deviation, as_printed, outcomes })
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
    let mut best: Option<(Place, Setup, f64)> = None;
    for _ in 0..STEPS {
        let bound = best.as_ref().map_or(f64::INFINITY, |(.., deviation)| *deviation);
        if bound <= FITS {
            break;
        }
        let place = match &best {
            Some((place, ..)) => walk.step(place),
            None => walk.anywhere(),
        };
        let Some(setup) = with_costs(walk.settings(&place), &place, waits_for)? else { continue };
        if let Some(deviation) = training_deviation(&setup, table11, bound)? {
            best = Some((place, setup, deviation));
        }
    }
    Ok(best.map(|(_, setup, _)| setup))
}

/// The study with the costs of `place`, which are `settings`, and the receiver's cost that the printed time of an empty message leaves.
///
/// # Errors
/// Why that time cannot be had.
pub(super) fn with_costs(
    mut settings: Vec<(String, String)>,
    place: &Place,
    waits_for: &str,
) -> Result<Option<Setup>, String> {
    settings.push(("routing.waits_for".to_string(), waits_for.to_string()));
    let rate = Rate::from_bits_per_second((place[COPY_RATE] * 8e6) as u64);
    with_receive(&Setup { settings, reshuffle: a_byte(rate), ..Setup::default() })
}

/// How long it takes to copy a byte.
pub(super) fn a_byte(rate: Rate) -> Duration {
    rate.time_of(quantities::Bytes(1))
}

/// The times of a column's patterns, one of each algorithm's for every pattern. [ms]
fn times(setup: &Setup, percent: u32, bytes: u32, patterns: u32) -> Result<Vec<[f64; 4]>, String> {
    let of_pattern = |pattern| {
        let mut times = [0.0; 4];
        for (time, algorithm) in times.iter_mut().zip(ALGORITHMS) {
            let job = Job::Random { algorithm, percent, bytes, pattern };
            *time = run_with(setup, &job)?.time.seconds() * 1e3;
        }
        Ok(times)
    };
    (FIRST..FIRST + patterns).map(of_pattern).collect()
}

/// The mean times of a column's patterns, in the order of the algorithms. [ms]
fn means(setup: &Setup, percent: u32, bytes: u32) -> Result<[f64; 4], String> {
    let patterns = PATTERNS.iter().find(|(density, _)| *density == percent).map_or(1, |(_, patterns)| *patterns);
    let times = times(setup, percent, bytes, patterns)?;
    Ok(std::array::from_fn(|index| mean_of(&times.iter().map(|times| times[index]).collect::<Vec<_>>()).value))
}

/// How often one pattern of a density has the four schedules in the printed order, with either size of messages.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Chance {
    /// The density. [%]
    pub percent: u32,
    /// The share of patterns that have it.
    pub in_order: f64,
    /// The share of those in which pairwise and balanced scheduling come in the printed order.
    pub pair_in_order: f64,
}

/// How likely the printed orders of table 11 are, whose figures are of one pattern for each density: shares of `patterns` draws.
///
/// # Errors
/// Why a figure cannot be had.
pub fn chances(setup: &Setup, patterns: u32) -> Result<Vec<Chance>, String> {
    let claims = paper().map_err(|error| error.to_string())?.claims;
    let table11 = claims.get("cm5.table11.synthetic").map_err(|gap| format!("{gap:?}"))?;
    let columns = columns(table11).map_err(|gap| format!("{gap:?}"))?;
    let mut chances = Vec::new();
    if patterns == 0 {
        return Ok(chances);
    }
    for of_density in columns.chunk_by(|one, other| one.0 == other.0) {
        let mut draws = vec![(true, true); patterns as usize];
        for &(percent, bytes, _, printed) in of_density {
            for (draw, times) in draws.iter_mut().zip(times(setup, percent, bytes, patterns)?) {
                draw.0 &= super::table11::misplaced(times, printed) == 0;
                draw.1 &= (times[1] < times[2]) == (printed[1] < printed[2]);
            }
        }
        let share =
            |of: fn(&(bool, bool)) -> bool| draws.iter().filter(|draw| of(draw)).count() as f64 / f64::from(patterns);
        chances.push(Chance {
            percent: of_density[0].0,
            in_order: share(|draw| draw.0),
            pair_in_order: share(|draw| draw.1),
        });
    }
    Ok(chances)
}

/// How far the training figures are off, if less than `bound`. [%]
pub(super) fn training_deviation(setup: &Setup, table11: &Claim, bound: f64) -> Result<Option<f64>, String> {
    let columns = columns(table11).map_err(|gap| format!("{gap:?}"))?;
    let training: Vec<_> = columns.into_iter().filter(|(_, _, training, _)| *training).collect();
    let figures = (training.len() * ALGORITHMS.len()) as f64;
    let mut sum = 0.0;
    for (percent, bytes, _, printed) in training {
        let pairs: Vec<_> = means(setup, percent, bytes)?.into_iter().zip(printed).collect();
        sum += mean_deviation(pairs) * ALGORITHMS.len() as f64;
        if sum >= bound * figures {
            return Ok(None);
        }
    }
    Ok(Some(sum / figures))
}

/// How far both halves are off [%], and how many columns have the four schedules in the printed order.
fn both_halves(setup: &Setup, table11: &Claim) -> Result<([f64; 2], usize), String> {
    let (mut halves, mut as_printed) = ([Vec::new(), Vec::new()], 0);
    for (percent, bytes, training, printed) in columns(table11).map_err(|gap| format!("{gap:?}"))? {
        let means = means(setup, percent, bytes)?;
        halves[usize::from(!training)].extend(means.into_iter().zip(printed));
        as_printed += usize::from(super::table11::misplaced(means, printed) == 0);
    }
    Ok((halves.map(mean_deviation), as_printed))
}
