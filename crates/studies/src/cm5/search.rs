//! The origin of the applications' costs: a scan over both costs of the Fourier transform, against the training figures of table 5,
//! and one over the time to gather a byte, against those of table 12.
//!
//! The costs of a node come from `crossing_search`.

use experiment::parallel;
use quantities::Duration;

use super::job::Job;
use super::measures::{mean_deviation, mean_of};
use super::paper;
use super::simulate::{Setup, TransformCosts, run_with};
use super::table5::{Part, figures};
use super::table11::ALGORITHMS;
use super::table12;
use crate::Watch;

/// How long a floating-point operation takes. [ns]
const OPERATIONS: [u64; 7] = [570, 580, 588, 594, 600, 608, 620];
/// The time to pack a block. [ns]
const BLOCKS: [u64; 7] = [5_000, 8_000, 11_000, 12_500, 14_000, 17_000, 20_000];

/// Two costs, and the mean deviations of the figures with them. [%]
#[derive(Clone, Copy, Debug)]
pub struct Found {
    /// The costs.
    pub costs: TransformCosts,
    /// The deviation of the figures to which they are fitted.
    pub training: f64,
    /// That of the held-back figures of pairwise, recursive and balanced exchange.
    pub held_back: f64,
}

/// Every pair of costs, the one with the least error over the training figures first. Nothing in it is random.
///
/// # Errors
/// Why a figure cannot be computed.
pub fn search(setup: &Setup, watch: &Watch<'_>) -> Result<Vec<Found>, String> {
    let claims = paper().map_err(|error| error.to_string())?.claims;
    let table5 = claims.get("cm5.table5.fft").map_err(|gap| format!("{gap:?}"))?;
    let figures = figures(table5).map_err(|gap| format!("{gap:?}"))?;
    let all = OPERATIONS.into_iter().flat_map(|operation| {
        BLOCKS.map(|block| TransformCosts {
            operation: Duration::from_nanoseconds(operation),
            block: Duration::from_nanoseconds(block),
        })
    });
    let mut found = Vec::new();
    for costs in all {
        let (mut training, mut held_back) = (Vec::new(), Vec::new());
        let of_three: Vec<_> = figures.iter().filter(|(_, _, part)| *part != Part::Linear).collect();
        let progress = |_, _| {};
        let watch = parallel::Watch { progress: &progress, interrupted: watch.interrupted, threads: watch.threads };
        let setup = Setup { transform: costs, ..setup.clone() };
        let times = parallel::map(&of_three, &watch, |(job, ..)| run_with(&setup, job));
        for ((_, printed, part), time) in of_three.into_iter().zip(times) {
            let seconds = time.ok_or("interrupted")??.time.seconds();
            if *part == Part::Training { &mut training } else { &mut held_back }.push((seconds, *printed));
        }
        found.push(Found { costs, training: mean_deviation(training), held_back: mean_deviation(held_back) });
    }
    found.sort_by(|one, other| one.training.total_cmp(&other.training));
    Ok(found)
}

/// How long an application may take to gather a byte. [ns]
const GATHERS: [u64; 9] = [160, 200, 240, 260, 280, 300, 320, 360, 400];
/// The first of the meshes on which it is fitted, and their number: the report has others.
const FIRST_MESH: u32 = 1_000;
const MESHES: u32 = 4;

/// A time to gather a byte, and the mean deviations of the figures of table 12 with it. [%]
#[derive(Clone, Copy, Debug)]
pub struct GatherFit {
    /// The time.
    pub gather: Duration,
    /// The deviation of the figures to which it is fitted.
    pub training: f64,
    /// That of the others.
    pub held_back: f64,
}

/// Every time to gather a byte, the one with the least error over the training figures of table 12 first. Nothing else is fitted to them.
///
/// # Errors
/// Why a figure cannot be computed.
pub fn search_gather(setup: &Setup, watch: &Watch<'_>) -> Result<Vec<GatherFit>, String> {
    let claims = paper().map_err(|error| error.to_string())?.claims;
    let table12 = claims.get("cm5.table12.real").map_err(|gap| format!("{gap:?}"))?;
    let printed = table12::printed(table12).map_err(|gap| format!("{gap:?}"))?;
    let mut found = Vec::new();
    for gather in GATHERS.map(Duration::from_nanoseconds) {
        let setup = Setup { gather, ..setup.clone() };
        let (mut training, mut held_back) = (Vec::new(), Vec::new());
        for (column, (application, printed)) in printed.iter().enumerate() {
            for (row, (algorithm, printed)) in ALGORITHMS.into_iter().zip(printed).enumerate() {
                let meshes: Vec<u32> = (FIRST_MESH..FIRST_MESH + MESHES).collect();
                let progress = |_, _| {};
                let watch =
                    parallel::Watch { progress: &progress, interrupted: watch.interrupted, threads: watch.threads };
                let times = parallel::map(&meshes, &watch, |mesh| {
                    run_with(&setup, &Job::Application { application: *application, algorithm, mesh: *mesh })
                });
                let times = times.into_iter().map(|time| Ok(time.ok_or("interrupted")??.time.seconds() * 1e3));
                let mean = mean_of(&times.collect::<Result<Vec<f64>, String>>()?).value;
                let half = if table12::is_training(column, row) { &mut training } else { &mut held_back };
                half.push((mean, *printed));
            }
        }
        found.push(GatherFit { gather, training: mean_deviation(training), held_back: mean_deviation(held_back) });
    }
    found.sort_by(|one, other| one.training.total_cmp(&other.training));
    Ok(found)
}
