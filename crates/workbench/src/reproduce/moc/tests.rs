//! The study as a whole, on answers that no world gave.

use std::sync::atomic::{AtomicBool, Ordering};

use quantities::{Duration, Time};
use virtual_worlds::answer::{Answer, ChannelStatistics, RankStatistics, RouterStatistics};

use super::*;
use crate::reproduce::tests::fetches_nothing;
use crate::reproduce::{Progress, Reproduction, Verdict, Watch, conclude, plan};

/// An answer of the right shape, with times that depend on every part of the job.
fn made_up(job: &Job) -> Result<Measured, String> {
    let hops = if let Load::PingPong { hops } = job.load { u64::from(hops) } else { 3 };
    let slow = if job.platform == Platform::Gcel { 20 * hops } else { 1 };
    let buffers = u64::from(job.buffers);
    let wiggle = (u64::from(job.bytes) * 7 + buffers * 13 + hops) % 17;
    let microseconds = job.messages() * u64::from(job.bytes + 100) * slow * (100 + wiggle - buffers / 2) / 1000 + hops;
    let (routers, channels) = match job.platform {
        Platform::Basic => (16_u32, 48 + 128),
        Platform::Clustered => (32, 32 + 128 + 128),
        Platform::Gcel => (64, 224 + 128),
    };
    let router = |index: u32| RouterStatistics {
        headers: 100,
        blocking: Duration::from_nanoseconds(1000 * (u64::from(index * 37) % 11) + 10 * wiggle),
    };
    let channel = |index: u64| ChannelStatistics {
        busy: Duration::from_microseconds(microseconds / 3),
        blocked: Duration::from_microseconds(microseconds * (index % 9) / 20),
        packets: 10 * index,
        ..ChannelStatistics::default()
    };
    let rank = RankStatistics {
        packets: 64,
        send_away: Duration::from_microseconds(900 - buffers),
        receive_idle: Duration::from_microseconds(500 + wiggle),
    };
    let answer = Answer {
        finish: vec![Time::from_picoseconds(microseconds * 1_000_000); job.nodes as usize],
        messages: job.messages(),
        packets: job.messages() * 2,
        flit_hops: job.messages() * 1000,
        channels: (0..channels).map(channel).collect(),
        routers: (0..routers).map(router).collect(),
        ranks: vec![rank; job.nodes as usize],
        ..Answer::default()
    };
    let mesh_index = (0..routers).map(|index| (index < 16).then_some(index)).collect();
    Ok(Measured { answer, mesh_index, elapsed: std::time::Duration::from_millis(10) })
}

fn reproduced(stop_after: usize) -> Reproduction {
    let interrupted = AtomicBool::new(false);
    let stop = |progress: Progress<'_>| interrupted.store(progress.done >= stop_after, Ordering::Relaxed);
    let watch = Watch { progress: &stop, interrupted: &interrupted, threads: 2 };
    Reproduction::of(vec![conclude(&STUDIES, paper(), &made_up, &watch)])
}

#[test]
fn all_claims_are_judged_and_printed_as_one_object_each() {
    let done = reproduced(usize::MAX);
    let lines: Vec<serde_json::Value> =
        done.json_lines().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 17);
    for line in &lines {
        let fields: Vec<&str> = line.as_object().unwrap().keys().map(String::as_str).collect();
        let mut wanted =
            ["id", "kind", "published", "ours", "unit", "error_percent", "verdict", "ran", "note", "experiment"];
        wanted.sort_unstable();
        assert_eq!(fields, wanted);
    }
    assert_eq!(done.tally()[2], 0, "{}", done.text());
    assert!(done.text().contains("moc.fig12.speedup"));
}

#[test]
fn the_report_is_the_same_every_time_and_fetches_nothing() {
    let (one, other) = (reproduced(usize::MAX), reproduced(usize::MAX));
    assert_eq!(one.html, other.html);
    fetches_nothing(&one.html);
    for figure in 5..=14 {
        assert!(one.html.contains(&format!("id=\"moc-figure-{figure}\"")), "figure {figure}");
    }
}

#[test]
fn an_interrupt_keeps_what_is_done() {
    let done = reproduced(20);
    assert!(done.interrupted);
    assert!(done.outcomes.iter().any(|outcome| outcome.verdict == Verdict::NotRun));
    assert!(done.html.contains("Not drawn: stopped before"));
}

#[test]
fn runs_that_figures_share_are_made_once() {
    let listed: Vec<Job> = STUDIES.iter().flat_map(|study| (study.jobs)()).collect();
    let planned = plan(listed.iter().copied());
    assert!(planned.len() * 10 < listed.len() * 9, "{} of {}", planned.len(), listed.len());
}
