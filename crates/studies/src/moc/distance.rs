//! How far a set of costs is from the five numbers that the paper of the Mesh of Clos prints.

use super::job::{Load, Platform};
use super::measures::{blocking, change, seconds};
use super::{Job, Results, Setup, run_with};
use crate::Claim;

/// The claims with printed numbers, which the search sees.
pub const NUMBERS: [&str; 2] = ["moc.sec4.blocking", "moc.fig12.speedup"];
/// The size of the printed blocking times. [B]
const BYTES: u32 = 2048;
/// From here on a number that should be small is no worse. [us]
const LITTLE: f64 = 1e-3;

/// What a part of a walk looks at, and for how long.
#[derive(Clone, Copy, Debug)]
pub struct Part {
    /// Messages of the pairs, in place of those of the study.
    pub messages: Option<u32>,
    /// The sizes at which gains are looked for. [B]
    pub sizes: &'static [u32],
    /// Whether it looks at all-to-all, which has its many messages in any case.
    pub all_to_all: bool,
    /// Steps.
    pub steps: usize,
}

/// How far a set of costs is from the printed numbers, each by the logarithm of the quotient, without sign.
#[derive(Clone, Copy, Debug)]
pub struct Distance {
    /// The sum over all five; that of all-to-all, which is a small one, counts for a half.
    pub sum: f64,
    /// The greatest of the four of the pairs.
    pub pairs: f64,
    /// That of all-to-all.
    pub all_to_all: f64,
}

/// How far `setup` is from the printed numbers that `part` looks at, if less than `bound`.
pub fn distance(setup: &Setup, numbers: &[&Claim], part: &Part, bound: f64) -> Option<Distance> {
    let far = |ours: f64, claim: &str, name: &str| {
        let printed = numbers.iter().find(|one| one.id == claim)?.printed(name).ok()?;
        Some((ours.max(LITTLE) / printed).ln().abs())
    };
    let mut distance = Distance { sum: 0.0, pairs: 0.0, all_to_all: 0.0 };
    let pairs = [(Load::EqualDist, "equal_dist"), (Load::UnequalDist, "unequal_dist")];
    let job = Job::new;
    let run = |job| Some((job, run_with(setup, &job).ok()?));
    let blocked =
        |runs: &Results, load, name| far(blocking(runs, job(Platform::Basic, load, BYTES)).ok()?, NUMBERS[0], name);
    // What costs more comes later, and is left out where the rest is far off.
    let mut basic = Vec::new();
    for (load, name) in pairs {
        let run = run(job(Platform::Basic, load, BYTES))?;
        basic.push(run.clone());
        let far = blocked(&Results::of([run]), load, name)?;
        (distance.sum, distance.pairs) = (distance.sum + far, distance.pairs.max(far));
    }
    if part.all_to_all {
        let load = Load::AllToAll { rounds: 1 };
        distance.all_to_all = blocked(&Results::of([run(job(Platform::Basic, load, BYTES))?]), load, "all_to_all")?;
        distance.sum += distance.all_to_all / 2.0;
    }
    for (index, (load, name)) in pairs.into_iter().enumerate() {
        if distance.sum >= bound {
            return None;
        }
        let mut largest = f64::NEG_INFINITY;
        for bytes in part.sizes {
            let clustered = job(Platform::Clustered, load, *bytes);
            let of_basic =
                if *bytes == BYTES { basic[index].clone() } else { run(job(Platform::Basic, load, *bytes))? };
            let base = of_basic.0;
            let runs = Results::of([of_basic, run(clustered)?]);
            largest = largest.max(change(seconds(&runs, base).ok()?, seconds(&runs, clustered).ok()?));
        }
        let far = far(largest, NUMBERS[1], name)?;
        (distance.sum, distance.pairs) = (distance.sum + far, distance.pairs.max(far));
    }
    (distance.sum < bound).then_some(distance)
}
