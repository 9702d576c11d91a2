//! Section 3: a request is forwarded at most twice.

use linear_hash::{Extent, Image, forward};

use linear_hash::KeyHash;

use super::job::LhRun;
use super::{Results, StudyOfLh};
use crate::{Claims, Drawing, Findings, MissingAnswer};
use report::{Cell, Table, fixed};

/// Requests forwarded more often are counted together.
const MOST: usize = 2;
/// All files up to this many servers are enumerated, with every image that a client may have of an older one.
const SERVERS: u32 = 128;
/// The simulated builds that are checked, besides all these cases.
const BUILDS: [LhRun; 4] = [
    LhRun::new(1).with_hash(KeyHash::Uniform),
    LhRun::new(5).with_hash(KeyHash::Uniform),
    LhRun::new(1).with_hash(KeyHash::LastLetters),
    LhRun::new(5).with_hash(KeyHash::LastLetters),
];

/// The study.
pub const STUDY: StudyOfLh = StudyOfLh {
    place: "section 3",
    title: "how often a request is forwarded",
    claims: &["lh.sec3.two_forwards"],
    jobs: || BUILDS.to_vec(),
    judge: |_, runs| judge(cases(), runs),
    draw: |_: &Claims, _| Ok(Some(draw())),
};

/// How many requests are forwarded never, once, twice, and more often: one for each file, each older image and each
/// hash that makes a difference.
fn cases() -> [u64; MOST + 2] {
    let mut counts = [0; MOST + 2];
    for file in (1..=SERVERS).map(Extent::of) {
        for image in (1..=file.buckets()).map(|buckets| Image::of(Extent::of(buckets))) {
            for c in 0..2 << file.i() {
                counts[times_sent_on(file, image.address(c), c).min(MOST + 1)] += 1;
            }
        }
    }
    counts
}

/// How often a request that a client sends to `server` is forwarded in `file`.
fn times_sent_on(file: Extent, server: u32, c: u64) -> usize {
    let next = |server: &u32| forward(*server, file.level(*server), c);
    std::iter::successors(Some(server), next).skip(1).take(MOST + 1).count()
}

fn judge(counts: [u64; MOST + 2], runs: &Results) -> Result<Findings, MissingAnswer> {
    let (mut inserts, mut forwards) = (Vec::new(), Vec::new());
    for job in BUILDS {
        let measured = runs.get(&job)?;
        inserts.push((job.to_string(), measured.inserts as f64));
        forwards.push((job.to_string(), f64::from(measured.most_forwards)));
    }
    let most = counts.iter().rposition(|count| *count > 0);
    let worst = most.map(|most| (String::new(), most as f64));
    Ok(Findings::words(format!("at most {} times", most.unwrap_or(0)))
        .with("times_sent_on", worst)
        .with("inserts", inserts)
        .with("times_sent_on_in_builds", forwards))
}

fn draw() -> Drawing {
    let counts = cases();
    let all: u64 = counts.iter().sum();
    let mut table = Table::with_head(&["sent on", "requests", "share [%]"]);
    for (name, count) in ["never", "once", "twice", "more often"].into_iter().zip(counts) {
        let share = fixed(count as f64 / all as f64 * 100.0, 1);
        table.rows.push(vec![Cell::Short(name.to_string()), Cell::Number(count.to_string()), Cell::Number(share)]);
    }
    let caption = format!(
        "One request for every file of 1 to {SERVERS} servers, every image that a client may have of an older one, and every hash \
         that makes a difference. Clients rarely have such images: in the simulated builds \
         nearly all requests reach the right server directly."
    );
    Drawing { legend: None, panels: vec![table.draw()], caption }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use super::super::simulate::LhResult;
    use super::*;
    use crate::tests::failing;
    use crate::{Watch, run_all};

    #[test]
    fn half_of_all_cases_are_sent_on_and_none_three_times() {
        let counts = cases();
        assert_eq!(counts[MOST + 1], 0);
        let share = |index: usize| counts[index] as f64 / counts.iter().sum::<u64>() as f64;
        assert!((0.45..0.55).contains(&share(0)), "{counts:?}");
        assert!((0.03..0.09).contains(&share(2)), "{counts:?}");
    }

    #[test]
    fn a_request_sent_on_three_times_and_no_request_at_all_are_missed() {
        let interrupted = AtomicBool::new(false);
        let watch = Watch { progress: &|_| {}, interrupted: &interrupted, threads: 1 };
        let runs = run_all(&BUILDS, &|_| Ok(LhResult { inserts: 1, ..LhResult::default() }), &watch);
        let failing = |counts| failing(&super::super::paper(), STUDY.claims[0], judge(counts, &runs).unwrap());
        assert_eq!(failing([5, 3, 1, 0]), [""; 0]);
        assert_eq!([[5, 3, 1, 1], [0; 4]].map(failing), [["times_sent_on"], ["times_sent_on"]]);
    }
}
