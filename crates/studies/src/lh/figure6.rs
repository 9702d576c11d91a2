//! Figure 6: servers that compute for each insert.

use programs::linear_hash::KeyHash;

use super::charts::{by_clients, chart, client_keys, speed_ups};
use super::job::{CLIENTS, Job};
use super::measures::{milliseconds_per_insert, speed_up};
use super::{Results, StudyOfLh};
use crate::{Drawing, Gap, Judgement, check};
use report::{Axis, Measure, compact, fixed, legend};

/// How long a server computes for an insert. [us]
const TIMES: [u32; 9] = [0, 10, 30, 100, 300, 1_000, 3_000, 10_000, 50_000];
/// Up to here an insert hardly suffers, and the speed-up is good. [us]
const LITTLE: u32 = 100;
/// How much longer it may take then at most. [%]
const HARDLY: f64 = 15.0;
/// A good speed-up: such a share of the number of clients, at least.
const GOOD: f64 = 0.7;
/// From here on an insert takes in proportion. [us]
const MUCH: u32 = 1_000;
/// How far, at most, from one time of the server to the next, what an insert takes grows otherwise than that time does. [%]
const PROPORTIONAL_WITHIN: f64 = 25.0;
/// The curves have merged, and the speed-up has collapsed: the slowest takes at most so many times as long as the quickest.
const MERGED: f64 = 2.0;

/// The study.
pub const STUDY: StudyOfLh = StudyOfLh {
    place: "figure 6",
    title: "servers that compute",
    claims: &["lh.fig6.server_overhead"],
    jobs: || CLIENTS.into_iter().flat_map(|clients| TIMES.map(|time| job(clients, time))).collect(),
    judge: |_, runs| judge(runs),
    draw,
};

fn job(clients: u32, server_time: u32) -> Job {
    Job { server_time, ..Job::new(KeyHash::LastLetters, clients) }
}

fn judge(runs: &Results) -> Result<Judgement, Gap> {
    let mut checks = Vec::new();
    let time = |clients, server_time| milliseconds_per_insert(runs, job(clients, server_time));
    for clients in CLIENTS {
        let more = (time(clients, LITTLE)? / time(clients, 0)? - 1.0) * 100.0;
        let says = format!("{clients} clients: {} % longer with {LITTLE} \u{b5}s, at most {HARDLY}", fixed(more, 1));
        checks.push(check(more <= HARDLY, says));
        for two in TIMES.windows(2).filter(|two| two[0] > MUCH) {
            let wanted = f64::from(two[1]) / f64::from(two[0]);
            let off = (time(clients, two[1])? / time(clients, two[0])? / wanted - 1.0) * 100.0;
            let says = format!(
                "{clients} clients: from {} to {} \u{b5}s {} % off proportion, at most {PROPORTIONAL_WITHIN}",
                two[0],
                two[1],
                fixed(off, 1)
            );
            checks.push(check(off.abs() <= PROPORTIONAL_WITHIN, says));
        }
    }
    for server_time in TIMES.into_iter().filter(|time| *time >= MUCH) {
        let times = CLIENTS.into_iter().map(|clients| time(clients, server_time)).collect::<Result<Vec<f64>, Gap>>()?;
        let (least, most) =
            times.iter().fold((f64::MAX, 0.0f64), |(least, most), time| (least.min(*time), most.max(*time)));
        let says = format!(
            "{server_time} \u{b5}s: {} to {} ms an insert, at most {MERGED} times as long",
            fixed(least, 2),
            fixed(most, 2)
        );
        checks.push(check(most <= MERGED * least, says));
    }
    let most = CLIENTS[CLIENTS.len() - 1];
    let mut found = Vec::new();
    for server_time in TIMES {
        let times = speed_up(runs, job(most, server_time))?;
        let least = GOOD * f64::from(most);
        if server_time <= LITTLE {
            let says = format!(
                "{most} clients, {server_time} \u{b5}s: {} times as fast as one, at least {}",
                fixed(times, 2),
                fixed(least, 1)
            );
            checks.push(check(times >= least, says));
        }
        if [LITTLE, MUCH, 10 * MUCH].contains(&server_time) {
            found.push(format!("{} with {} ms", fixed(times, 2), compact(f64::from(server_time) / 1e3)));
        }
    }
    Ok(Judgement::in_words(format!("speed-up of {most} clients: {}", found.join(", ")), checks))
}

fn draw(runs: &Results) -> Result<Option<Drawing>, Gap> {
    // A logarithmic axis has no place for servers that take no time.
    let timed = || TIMES.into_iter().filter(|time| *time > 0);
    let over = |value: &dyn Fn(Job) -> Result<f64, Gap>| {
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
        caption: "A server computes for so long after it has acknowledged an insert, and does nothing else; 16 nodes, no bodies, hash \
                  of the last letters. a: the build time by the inserts; both axes are logarithmic. b: how much faster the build is than with one client."
            .to_string(),
    }))
}
