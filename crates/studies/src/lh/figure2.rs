//! Figure 2: building the table with 1 to 5 clients.

use programs::linear_hash::KeyHash;

use super::charts::{build_times, by_clients, chart, client_keys, clients, insertions, speed_ups};
use super::job::{CLIENTS, Job, label};
use super::measures::{seconds, speed_up};
use super::simulate::Measured;
use super::{Results, StudyOfLh};
use crate::{Check, Drawing, Gap, Judgement, check};
use report::{Axis, Element, Mark, Measure, fixed, legend};

/// The build is cut into parts of so many inserts; "the first 20,000" is one.
const PART: usize = 20_000;
/// How far the course of a build may be off a straight line after the first part, in which servers are few. [% of the build time]
const LINEAR_WITHIN: f64 = 10.0;
/// How much longer an insert may take in the last parts than in as many parts before them. [%]
const SAME_WITHIN: f64 = 10.0;
/// As many parts.
const PARTS: usize = 4;
/// What each of several clients must have at least of the speed of a single one: a speed-up that is good.
const GOOD: f64 = 0.7;
/// A cascade has so many splits at least, within so many inserts.
const CASCADE: usize = 3;
const CASCADE_WITHIN: usize = 5_000;

/// The study.
pub const STUDY: StudyOfLh = StudyOfLh {
    place: "figure 2",
    title: "building the table",
    claims: &["lh.fig2a.linear", "lh.fig2b.speedup", "lh.fig2a.cascades"],
    jobs,
    judge,
    draw,
};

/// The builds of the figure: their splits come in cascades.
pub const fn job(clients: u32) -> Job {
    Job::new(KeyHash::LastLetters, clients)
}

fn jobs() -> Vec<Job> {
    CLIENTS.into_iter().flat_map(|clients| [job(clients), Job::new(KeyHash::Uniform, clients)]).collect()
}

fn judge(claim: &str, runs: &Results) -> Result<Judgement, Gap> {
    match claim {
        "lh.fig2a.linear" => linear(runs),
        "lh.fig2b.speedup" => faster(runs),
        _ => cascades(runs),
    }
}

/// How far the course of a build is off a straight line from the end of the first part to the end; endlessly where it has no course
/// to speak of. [% of the build time]
fn off_line(measured: &Measured) -> f64 {
    let points: Vec<(f64, f64)> = measured.times().filter(|(inserts, _)| *inserts >= PART as f64).collect();
    let [first, _, .., last] = points.as_slice() else { return f64::INFINITY };
    let slope = (last.1 - first.1) / (last.0 - first.0).max(1.0);
    let off = points.iter().map(|(inserts, at)| (at - first.1 - slope * (inserts - first.0)).abs());
    off.fold(0.0, f64::max) / last.1 * 100.0
}

/// How much longer an insert takes in the last parts than in as many before them; endlessly where there are none before. [%]
fn growth(measured: &Measured) -> f64 {
    let parts = measured.parts(PART);
    let mean = |parts: &[f64]| parts.iter().sum::<f64>() / parts.len().max(1) as f64;
    let (before, last) = parts.split_at(parts.len().saturating_sub(PARTS));
    let before = before.get(before.len().saturating_sub(PARTS)..).unwrap_or_default();
    if before.is_empty() { f64::INFINITY } else { (mean(last) / mean(before) - 1.0) * 100.0 }
}

/// That the build time is linear, and an insert takes no longer because the table is larger.
pub fn is_linear(measured: &Measured, who: &str) -> [Check; 2] {
    let (off, more) = (off_line(measured), growth(measured));
    let says = format!(
        "{who}: {} % of the build time off a straight line after the first {PART} inserts, at most {LINEAR_WITHIN}",
        fixed(off, 1)
    );
    let longer = format!(
        "{who}: an insert takes {} % longer in the last {PARTS} parts of {PART} than in the {PARTS} before, at most {SAME_WITHIN}",
        fixed(more, 1)
    );
    [check(off <= LINEAR_WITHIN, says), check(more <= SAME_WITHIN, longer)]
}

fn linear(runs: &Results) -> Result<Judgement, Gap> {
    let mut checks = Vec::new();
    let mut most: f64 = 0.0;
    for clients in CLIENTS {
        let measured = runs.get(&job(clients))?;
        most = most.max(off_line(measured));
        checks.extend(is_linear(measured, &format!("{clients} clients")));
    }
    Ok(Judgement::in_words(format!("at most {} % of the build time off a straight line", fixed(most, 1)), checks))
}

fn faster(runs: &Results) -> Result<Judgement, Gap> {
    let mut checks = Vec::new();
    let mut found = Vec::new();
    for clients in CLIENTS.into_iter().skip(1) {
        let times = speed_up(runs, job(clients))?;
        let least = GOOD * f64::from(clients);
        let says = format!("{clients} clients: {} times as fast as one, at least {}", fixed(times, 2), fixed(least, 1));
        checks.push(check(times >= least, says));
        let before = seconds(runs, job(clients - 1))?;
        let says = format!("{clients} clients are faster than {}", clients - 1);
        checks.push(check(seconds(runs, job(clients))? < before, says));
        found.push(format!("{clients}: {}", fixed(times, 2)));
    }
    Ok(Judgement::in_words(format!("speed-up with clients {}", found.join(", ")), checks))
}

/// Whether a split lies where most are said to lie.
fn is_early_or_late(inserts: usize, all: usize) -> bool {
    inserts <= PART || inserts + PART > all
}

/// How many splits the largest cascade has.
pub fn largest_cascade(measured: &Measured) -> usize {
    let after = |first: usize| {
        let within = |inserts: usize| inserts >= first && inserts <= first + CASCADE_WITHIN;
        measured.splits.iter().filter(|split| within(split.inserts)).count()
    };
    measured.splits.iter().map(|split| after(split.inserts)).max().unwrap_or(0)
}

/// That splits come in cascades.
pub fn has_cascade(measured: &Measured, who: &str) -> Check {
    let largest = largest_cascade(measured);
    check(largest >= CASCADE, format!("{who}: {largest} splits within {CASCADE_WITHIN} inserts, at least {CASCADE}"))
}

fn cascades(runs: &Results) -> Result<Judgement, Gap> {
    let mut checks = Vec::new();
    let (mut there, mut all) = (0, 0);
    for clients in CLIENTS {
        let measured = runs.get(&job(clients))?;
        checks.push(has_cascade(measured, &format!("{clients} clients")));
        let late = measured.splits.iter().filter(|split| split.inserts + PART > measured.inserts).count();
        let says = format!("{clients} clients: {late} splits among the last {PART} inserts, at least 1");
        checks.push(check(late > 0, says));
        let lies = measured.splits.iter().filter(|split| is_early_or_late(split.inserts, measured.inserts));
        there += lies.count();
        all += measured.splits.len();
    }
    let says = format!(
        "{there} of the {all} splits of all builds lie among the first or the last {PART} inserts, more than half"
    );
    checks.push(check(there * 2 > all, says));
    Ok(Judgement::in_words(format!("{there} of {all} splits in the first and the last {PART} inserts"), checks))
}

/// The servers of the file over the course of the build.
fn servers(runs: &Results) -> Result<Element, Gap> {
    let most = CLIENTS[CLIENTS.len() - 1];
    let line = |(index, hash): (usize, KeyHash)| {
        let measured = runs.get(&Job::new(hash, most))?;
        let mut points = vec![(0.0, 1.0)];
        for (before, split) in (1..).zip(&measured.splits) {
            let inserts = split.inserts as f64 / 1e3;
            points.extend([(inserts, f64::from(before)), (inserts, f64::from(before) + 1.0)]);
        }
        Ok((label(hash).to_string(), Mark::full(CLIENTS.len() + index), points))
    };
    let lines = KeyHash::all().into_iter().enumerate().map(line).collect::<Result<Vec<_>, Gap>>()?;
    let y = Axis::linear("servers", Measure::Plain).reaching(0.0);
    Ok(chart(&format!("servers of the file, {most} clients"), insertions(), y, lines))
}

fn draw(runs: &Results) -> Result<Option<Drawing>, Gap> {
    let y = Axis::linear("build time [s]", Measure::Seconds);
    let builds = by_clients(&CLIENTS, |clients| build_times(runs, job(clients)))?;
    let line = |(index, hash): (usize, KeyHash)| {
        let point = |clients| Ok((f64::from(clients), speed_up(runs, Job::new(hash, clients))?));
        let points = CLIENTS.into_iter().map(point).collect::<Result<Vec<_>, Gap>>()?;
        Ok((label(hash).to_string(), Mark::full(CLIENTS.len() + index), points))
    };
    let gains = KeyHash::all().into_iter().enumerate().map(line).collect::<Result<Vec<_>, Gap>>()?;
    let mut keys = client_keys(&CLIENTS);
    keys.extend(gains.iter().map(|(name, mark, _)| (name.clone(), *mark)));
    Ok(Some(Drawing {
        legend: Some(legend(&keys)),
        panels: vec![
            chart("a: build time", insertions(), y, builds),
            chart("b: speed-up", clients(&CLIENTS), speed_ups(), gains),
            servers(runs)?,
        ],
        caption: "16 nodes, no bodies. a: the time by which so many inserts were acknowledged, at the splits of servers and at the end; \
                  hash of the last letters. b: how much faster the build is than with one client. The third panel, not in the paper, \
                  shows when servers come into the file: in cascades if the last letters decide, at equal distances if the hash is \
                  uniform."
            .to_string(),
    }))
}
