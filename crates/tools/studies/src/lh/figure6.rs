//! Figure 6: servers that compute for each insert.

use super::charts::{by_clients, client_keys, speed_ups};
use super::job::{CLIENTS, LhRun};
use super::measures::{milliseconds_per_insert, speed_up};
use super::{Results, StudyOfLh};
use crate::render::chart;
use crate::{Claims, Drawing, Findings, MissingAnswer};
use report::{Axis, Measure, compact, fixed, legend};

/// How long a server computes for an insert. [us]
const TIMES: [u32; 9] = [0, 10, 30, 100, 300, 1_000, 3_000, 10_000, 50_000];
/// Up to this time an insert hardly suffers, and the speed-up is good. [us]
const LITTLE: u32 = 100;
/// From this time on an insert takes time in proportion. [us]
const MUCH: u32 = 1_000;

/// The study.
pub const STUDY: StudyOfLh = StudyOfLh {
    place: "figure 6",
    title: "servers that compute",
    claims: &["lh.fig6.server_overhead"],
    jobs: || CLIENTS.into_iter().flat_map(|clients| TIMES.map(|time| job(clients, time))).collect(),
    judge: |_, runs| judge(runs),
    draw,
};

fn job(clients: u32, server_time: u32) -> LhRun {
    LhRun { server_time, ..LhRun::new(clients) }
}

fn judge(runs: &Results) -> Result<Findings, MissingAnswer> {
    let time = |clients, server_time| milliseconds_per_insert(runs, job(clients, server_time));
    let (mut longer, mut off_proportion, mut merged) = (Vec::new(), Vec::new(), Vec::new());
    for clients in CLIENTS {
        longer.push((format!("{clients} clients"), (time(clients, LITTLE)? / time(clients, 0)? - 1.0) * 100.0));
        for two in TIMES.windows(2).filter(|two| two[0] > MUCH) {
            let wanted = f64::from(two[1]) / f64::from(two[0]);
            let deviation = (time(clients, two[1])? / time(clients, two[0])? / wanted - 1.0) * 100.0;
            off_proportion.push((format!("{clients} clients, from {} to {} us", two[0], two[1]), deviation));
        }
    }
    for server_time in TIMES.into_iter().filter(|time| *time >= MUCH) {
        let times = CLIENTS
            .into_iter()
            .map(|clients| time(clients, server_time))
            .collect::<Result<Vec<f64>, MissingAnswer>>()?;
        let (least, most) = (times.iter().copied().fold(f64::MAX, f64::min), times.iter().copied().fold(0.0, f64::max));
        merged.push((format!("{server_time} us"), most / least));
    }
    let (most, mut shares, mut found) = (CLIENTS[CLIENTS.len() - 1], Vec::new(), Vec::new());
    for server_time in TIMES {
        let times = speed_up(runs, job(most, server_time))?;
        if server_time <= LITTLE {
            shares.push((format!("{most} clients, {server_time} us"), times / f64::from(most)));
        }
        if [LITTLE, MUCH, 10 * MUCH].contains(&server_time) {
            found.push(format!("{} with {} ms", fixed(times, 2), compact(f64::from(server_time) / 1e3)));
        }
    }
    Ok(Findings::words(format!("speed-up of {most} clients: {}", found.join(", ")))
        .with("longer_percent", longer)
        .with("off_proportion_percent", off_proportion)
        .with("slowest_over_quickest", merged)
        .with("speed_up_share", shares))
}

fn draw(_: &Claims, runs: &Results) -> Result<Option<Drawing>, MissingAnswer> {
    // A logarithmic axis has no place for servers that take no time.
    let timed = || TIMES.into_iter().filter(|time| *time > 0);
    let over = |value: &dyn Fn(LhRun) -> Result<f64, MissingAnswer>| {
        by_clients(&CLIENTS, |clients| {
            timed().map(|time| Ok((f64::from(time) / 1e3, value(job(clients, time))?))).collect()
        })
    };
    let times = over(&|job| milliseconds_per_insert(runs, job))?;
    let gains = over(&|job| speed_up(runs, job))?;
    let level = || Axis::logarithmic("server time [ms]", Measure::Plain).at(&[0.01, 0.1, 1.0, 10.0, 50.0]);
    let upright = Axis::logarithmic("time of an insert [ms]", Measure::Plain);
    Ok(Some(Drawing {
        legend: Some(legend(&client_keys(&CLIENTS))),
        panels: vec![chart("a: time of an insert", level(), upright, times), chart("b: speed-up", level(), speed_ups(), gains)],
        caption: "A server computes for this time after it has acknowledged an insert, and serves nothing meanwhile; 16 nodes, no bodies, hash \
                  of the last letters. a: the build time by the inserts; both axes are logarithmic. b: how much faster the build is than with one client."
            .to_string(),
    }))
}
