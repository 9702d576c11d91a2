//! The five numbers that the paper of the Mesh of Clos prints, and how far a set of costs is from them.

use super::job::{Load, PAIRS, Platform};
use super::measures::{blocking, change, seconds};
use super::{Job, Results, Setup, run_with};
use crate::{Claims, MissingAnswer};

/// The five numbers: the claim that has each, and its name there. Three times that a header is blocked [us], two gains [%].
pub const PRINTED: [(&str, &str); 5] = [
    ("moc.sec4.blocking", "all_to_all"),
    ("moc.sec4.blocking", "equal_dist"),
    ("moc.sec4.blocking", "unequal_dist"),
    ("moc.fig12.speedup", "equal_dist"),
    ("moc.fig12.speedup", "unequal_dist"),
];
/// The size of the printed blocking times. [B]
const BYTES: u32 = 2048;
/// The sizes at which gains are looked for. [B]
const SIZES: [u32; 3] = [512, 1024, 2048];
/// From here on a number that should be small is no worse. [us] and [%]
pub const LITTLE: f64 = 1e-3;

/// The numbers as printed.
///
/// # Errors
/// Which is not in the file of claims.
pub fn printed(claims: &Claims) -> Result<[f64; 5], MissingAnswer> {
    let mut numbers = [0.0; 5];
    for (number, (claim, name)) in numbers.iter_mut().zip(PRINTED) {
        *number = claims.get(claim)?.printed(name)?;
    }
    Ok(numbers)
}

/// The numbers with `setup`.
///
/// # Errors
/// Which run failed.
pub fn numbers(setup: &Setup) -> Result<[f64; 5], MissingAnswer> {
    let mut jobs = vec![Job::new(Platform::Basic, ALL_TO_ALL, BYTES)];
    for (platform, load) in
        [Platform::Basic, Platform::Clustered].into_iter().flat_map(|one| PAIRS.map(|load| (one, load)))
    {
        jobs.extend(SIZES.map(|bytes| Job::new(platform, load, bytes)));
    }
    let runs = Results::of(jobs.into_iter().filter_map(|job| Some((job, run_with(setup, &job).ok()?))));
    let blocked = |load| blocking(&runs, Job::new(Platform::Basic, load, BYTES));
    let [equal, unequal] = PAIRS;
    Ok([blocked(ALL_TO_ALL)?, blocked(equal)?, blocked(unequal)?, gain(&runs, equal)?, gain(&runs, unequal)?])
}

/// One round of it.
const ALL_TO_ALL: Load = Load::AllToAll { rounds: 1 };

/// The largest gain of `load` by the Mesh of Clos(3,1). [%]
fn gain(runs: &Results, load: Load) -> Result<f64, MissingAnswer> {
    let mut largest = f64::NEG_INFINITY;
    for bytes in SIZES {
        let time = |platform| seconds(runs, Job::new(platform, load, bytes));
        largest = largest.max(change(time(Platform::Basic)?, time(Platform::Clustered)?));
    }
    Ok(largest)
}

/// How far the numbers of a set are from those that are `printed`: the sum of the logarithms of the quotients, without sign.
pub fn distance(numbers: &[f64; 5], printed: &[f64; 5]) -> f64 {
    numbers.iter().zip(printed).map(|(ours, printed)| (ours.max(LITTLE) / printed).ln().abs()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::moc::paper;

    #[test]
    fn a_set_is_as_far_as_its_numbers_are_from_those_printed() {
        let printed = printed(&paper().unwrap().claims).unwrap();
        assert_eq!(printed, [2.0, 44.0, 61.0, 40.0, 60.0]);
        let near = |one: f64, other: f64| assert!((one - other).abs() < 1e-12, "{one} is not {other}");
        near(distance(&printed, &printed), 0.0);
        let mut ours = printed;
        (ours[0], ours[3]) = (4.0, 20.0);
        near(distance(&ours, &printed), 2.0 * 2f64.ln());
    }

    #[test]
    fn slower_channels_hold_headers_up_for_longer_and_a_wider_mesh_gains_more() {
        let of = |flit_time: &str| {
            let settings = vec![("channels.flit_time".to_string(), flit_time.to_string())];
            numbers(&Setup { settings, rounds: Some(1), messages: Some(256), ..Setup::default() }).unwrap()
        };
        let (fast, slow) = (of("155 ns"), of("310 ns"));
        assert!((1..5).all(|index| slow[index] > fast[index]), "{fast:?} {slow:?}");
        assert!(
            numbers(&Setup { settings: vec![("channels.flit_time".into(), "no time".into())], ..Setup::default() })
                .is_err()
        );
    }
}
