//! Figure 2: building the table with 1 to 5 clients.

use linear_hash::KeyHash;

use super::charts::{build_times, by_clients, client_keys, clients, insertions, speed_ups};
use super::job::{CLIENTS, LhRun, label};
use super::measures::{seconds, speed_up};
use super::simulate::LhResult;
use super::{Results, StudyOfLh};
use crate::render::chart;
use crate::{Claim, Claims, Drawing, Findings, MissingAnswer};
use report::{Axis, Element, Mark, Measure, fixed, legend};

/// The number of inserts in each part of the build; "the first 20,000" is one.
const PART: usize = 20_000;
/// The number of last parts, compared with as many before them, in which an insert must take no longer.
const PARTS: usize = 4;
/// Splits within this many inserts are a cascade.
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
pub const fn job(clients: u32) -> LhRun {
    LhRun::new(clients)
}

fn jobs() -> Vec<LhRun> {
    CLIENTS.into_iter().flat_map(|clients| KeyHash::all().map(|hash| job(clients).with_hash(hash))).collect()
}

fn judge(claim: &Claim, runs: &Results) -> Result<Findings, MissingAnswer> {
    match claim.id.as_str() {
        "lh.fig2a.linear" => linear(runs),
        "lh.fig2b.speedup" => faster(runs),
        _ => cascades(runs),
    }
}

/// The deviation of a build's course from a straight line from the end of the first part to the end; infinite if it has
/// too short a course. [% of the build time]
fn off_line(measured: &LhResult) -> f64 {
    let points: Vec<(f64, f64)> = measured.times().filter(|(inserts, _)| *inserts >= PART as f64).collect();
    let [first, _, .., last] = points.as_slice() else { return f64::INFINITY };
    let slope = (last.1 - first.1) / (last.0 - first.0).max(1.0);
    let deviation = points.iter().map(|(inserts, at)| (at - first.1 - slope * (inserts - first.0)).abs());
    deviation.fold(0.0, f64::max) / last.1 * 100.0
}

/// How much longer an insert takes in the last parts than in as many before them; infinite if there are none before.
/// [%]
fn growth(measured: &LhResult) -> f64 {
    let parts = measured.parts(PART);
    let mean = |parts: &[f64]| parts.iter().sum::<f64>() / parts.len().max(1) as f64;
    let (before, last) = parts.split_at(parts.len().saturating_sub(PARTS));
    let before = before.get(before.len().saturating_sub(PARTS)..).unwrap_or_default();
    if before.is_empty() { f64::INFINITY } else { (mean(last) / mean(before) - 1.0) * 100.0 }
}

/// Builds whose time must be linear, each with its description.
#[derive(Default)]
pub struct Linearity {
    off_line: Vec<(String, f64)>,
    growth: Vec<(String, f64)>,
}

impl Linearity {
    /// Adds one more.
    pub fn add(&mut self, measured: &LhResult, who: &str) {
        self.off_line.push((who.to_string(), off_line(measured)));
        self.growth.push((who.to_string(), growth(measured)));
    }

    /// `findings` with their deviation from a straight line, and how much longer an insert takes in the end.
    pub fn beside(self, findings: Findings) -> Findings {
        findings.with("off_line_percent", self.off_line).with("growth_percent", self.growth)
    }
}

fn linear(runs: &Results) -> Result<Findings, MissingAnswer> {
    let (mut linearity, mut most) = (Linearity::default(), 0.0_f64);
    for clients in CLIENTS {
        let measured = runs.get(&job(clients))?;
        most = most.max(off_line(measured));
        linearity.add(measured, &format!("{clients} clients"));
    }
    let ours = format!("deviates from a straight line by at most {} % of the build time", fixed(most, 1));
    Ok(linearity.beside(Findings::words(ours)))
}

fn faster(runs: &Results) -> Result<Findings, MissingAnswer> {
    let (mut shares, mut over_fewer, mut found) = (Vec::new(), Vec::new(), Vec::new());
    for clients in CLIENTS.into_iter().skip(1) {
        let (times, place) = (speed_up(runs, job(clients))?, format!("{clients} clients"));
        shares.push((place.clone(), times / f64::from(clients)));
        over_fewer.push((place, seconds(runs, job(clients))? / seconds(runs, job(clients - 1))?));
        found.push(format!("{clients}: {}", fixed(times, 2)));
    }
    Ok(Findings::words(format!("speed-up with clients {}", found.join(", ")))
        .with("speed_up_share", shares)
        .with("over_fewer", over_fewer))
}

/// Whether a split lies where the paper says that most lie.
fn is_early_or_late(inserts: usize, all: usize) -> bool {
    inserts <= PART || inserts + PART > all
}

/// How many splits the largest cascade has.
pub fn largest_cascade(measured: &LhResult) -> usize {
    let after = |first: usize| {
        let within = |inserts: usize| inserts >= first && inserts <= first + CASCADE_WITHIN;
        measured.splits.iter().filter(|split| within(split.inserts)).count()
    };
    measured.splits.iter().map(|split| after(split.inserts)).max().unwrap_or(0)
}

fn cascades(runs: &Results) -> Result<Findings, MissingAnswer> {
    let (mut largest, mut late, mut there, mut all) = (Vec::new(), Vec::new(), 0, 0);
    for clients in CLIENTS {
        let measured = runs.get(&job(clients))?;
        let in_the_end = measured.splits.iter().filter(|split| split.inserts + PART > measured.inserts);
        let lies = measured.splits.iter().filter(|split| is_early_or_late(split.inserts, measured.inserts));
        largest.push((format!("{clients} clients"), largest_cascade(measured) as f64));
        late.push((format!("{clients} clients"), in_the_end.count() as f64));
        there += lies.count();
        all += measured.splits.len();
    }
    Ok(Findings::words(format!("{there} of {all} splits in the first and the last {PART} inserts"))
        .with("largest_cascade", largest)
        .with("late_splits", late)
        .with_number("early_or_late_share", there as f64 / all as f64))
}

/// The servers of the file over the course of the build.
fn servers(runs: &Results) -> Result<Element, MissingAnswer> {
    let most = CLIENTS[CLIENTS.len() - 1];
    let line = |(index, hash): (usize, KeyHash)| {
        let measured = runs.get(&job(most).with_hash(hash))?;
        let mut points = vec![(0.0, 1.0)];
        for (before, split) in (1..).zip(&measured.splits) {
            let inserts = split.inserts as f64 / 1e3;
            points.extend([(inserts, f64::from(before)), (inserts, f64::from(before) + 1.0)]);
        }
        Ok((label(hash).to_string(), Mark::full(CLIENTS.len() + index), points))
    };
    let lines = KeyHash::all().into_iter().enumerate().map(line).collect::<Result<Vec<_>, MissingAnswer>>()?;
    let y = Axis::linear("servers", Measure::Plain).reaching(0.0);
    Ok(chart(&format!("servers of the file, {most} clients"), insertions(), y, lines))
}

fn draw(_: &Claims, runs: &Results) -> Result<Option<Drawing>, MissingAnswer> {
    let y = Axis::linear("build time [s]", Measure::Seconds);
    let builds = by_clients(&CLIENTS, |clients| build_times(runs, job(clients)))?;
    let line = |(index, hash): (usize, KeyHash)| {
        let point = |clients| Ok((f64::from(clients), speed_up(runs, job(clients).with_hash(hash))?));
        let points = CLIENTS.into_iter().map(point).collect::<Result<Vec<_>, MissingAnswer>>()?;
        Ok((label(hash).to_string(), Mark::full(CLIENTS.len() + index), points))
    };
    let gains = KeyHash::all().into_iter().enumerate().map(line).collect::<Result<Vec<_>, MissingAnswer>>()?;
    let mut keys = client_keys(&CLIENTS);
    keys.extend(gains.iter().map(|(name, mark, _)| (name.clone(), *mark)));
    Ok(Some(Drawing {
        legend: Some(legend(&keys)),
        panels: vec![
            chart("a: build time", insertions(), y, builds),
            chart("b: speed-up", clients(&CLIENTS), speed_ups(), gains),
            servers(runs)?,
        ],
        caption: "16 nodes, no bodies. a: the time by which that many inserts were acknowledged, at the splits of servers and at the end; \
                  hash of the last letters. b: how much faster the build is than with one client. The third panel, not in the paper, \
                  shows when servers join the file: in cascades with the hash of the last letters, at equal intervals with \
                  the uniform one."
            .to_string(),
    }))
}
