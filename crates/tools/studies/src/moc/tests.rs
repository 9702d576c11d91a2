//! The study as a whole, on made-up answers.

use std::sync::atomic::{AtomicBool, Ordering};

use quantities::{Duration, Time};
use virtual_worlds::answer::{Answer, ChannelStatistics, RankStatistics, RouterStatistics};

use super::*;
use crate::tests::{Case, Random, each_judge_can_say_no, every_condition_can_fail, fetches_nothing};
use crate::{Progress, Reproduction, Verdict, Watch, conclude, plan};

/// An answer of the right shape, with times that depend on every part of the job.
fn made_up(job: &MocRun) -> Result<MocResult, String> {
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
    Ok(MocResult { answer, mesh_index, elapsed: std::time::Duration::from_millis(10) })
}

fn reproduced(stop_after: usize) -> Reproduction {
    let interrupted = AtomicBool::new(false);
    let stop = |progress: Progress<'_>| interrupted.store(progress.done >= stop_after, Ordering::Relaxed);
    let watch = Watch { progress: &stop, interrupted: &interrupted, threads: 2 };
    Reproduction::of(vec![conclude(SUBJECT, paper().unwrap(), &made_up, &watch).unwrap()])
}

#[test]
fn all_claims_are_judged_and_printed_as_one_object_each() {
    let done = reproduced(usize::MAX);
    let lines: Vec<serde_json::Value> =
        done.json_lines().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 17);
    for line in &lines {
        let fields: Vec<&str> = line.as_object().unwrap().keys().map(String::as_str).collect();
        let mut wanted = [
            "id",
            "kind",
            "published",
            "ours",
            "unit",
            "conditions",
            "error_percent",
            "verdict",
            "ran",
            "note",
            "fitted",
            "rule_changed",
            "experiment",
        ];
        wanted.sort_unstable();
        assert_eq!(fields, wanted);
    }
    assert_eq!(done.tally()[Verdict::NotRun as usize], 0, "{}", done.tally_text());
    assert!(crate::verdicts(&done.outcomes).contains("moc.fig12.speedup"));
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
    let listed: Vec<MocRun> = STUDIES.iter().flat_map(|study| (study.jobs)()).collect();
    let planned = plan(listed.iter().copied());
    assert!(planned.len() * 10 < listed.len() * 9, "{} of {}", planned.len(), listed.len());
}

fn duration(microseconds: f64) -> Duration {
    Duration::from_picoseconds((microseconds * 1e6).round() as u64)
}

/// A run with that makespan, on a mesh with a router for each of `blocked`: how long a header is blocked there. [us]
fn run_of(microseconds: f64, blocked: &[f64]) -> MocResult {
    let routers = blocked.iter().map(|time| RouterStatistics { headers: 1, blocking: duration(*time) });
    let rank = RankStatistics { packets: 1, send_away: duration(100.0), receive_idle: duration(100.0) };
    let answer = Answer {
        finish: vec![Time::ZERO + duration(microseconds)],
        packets: 1,
        routers: routers.collect(),
        ranks: vec![rank],
        ..Answer::default()
    };
    let mesh_index = (0..blocked.len() as u32).map(Some).collect();
    MocResult { answer, mesh_index, elapsed: std::time::Duration::from_millis(10) }
}

fn took(microseconds: f64) -> MocResult {
    run_of(microseconds, &[])
}

/// A ping-pong whose round trip takes `each` longer with each hop. [us]
fn over_hops(job: &MocRun, each: f64) -> MocResult {
    let Load::PingPong { hops } = job.load else { return took(0.0) };
    took(200.0 + each * f64::from(hops))
}

/// A run that takes `times` as long on the GCel.
fn on_the_gcel(job: &MocRun, times: f64) -> MocResult {
    took(if job.platform == Platform::Gcel { 1_000.0 * times } else { 1_000.0 })
}

/// A time that rises with the message, beyond 512 bytes `times` as steeply on the Mesh of Clos.
fn bent(job: &MocRun, times: f64) -> MocResult {
    let steeper = if job.platform == Platform::Gcel { 1.0 } else { times };
    let beyond = f64::from(job.bytes.saturating_sub(512));
    took(1_000.0 + f64::from(job.bytes.min(512)) + steeper * beyond)
}

/// A time that rises with the message, in the pairs `times` as steeply for each message.
fn sloped(job: &MocRun, times: f64) -> MocResult {
    let is_all_to_all = matches!(job.load, Load::AllToAll { .. });
    took(job.messages() as f64 * (1_000.0 + f64::from(job.bytes) * if is_all_to_all { 1.0 } else { times }))
}

fn blocked(job: &MocRun, all_to_all: f64) -> MocResult {
    run_of(
        1_000.0,
        &[match job.load {
            Load::EqualDist => 44.0,
            Load::UnequalDist => 61.0,
            _ => all_to_all,
        }],
    )
}

/// Faster with more buffers.
fn buffered(job: &MocRun) -> MocResult {
    took(1_000.0 - 15.0 * f64::from(job.buffers))
}

/// As fast as with one buffer, except for 64 buffers at that size, and more so for unequal-dist.
fn worst_at(job: &MocRun, bytes: u32) -> MocResult {
    let slower = if job.load == Load::UnequalDist { 100.0 } else { 50.0 };
    took(if (job.bytes, job.buffers) == (bytes, 64) { 1_000.0 + slower } else { 1_000.0 })
}

/// With more buffers packets leave sooner, and receivers wait for `idle`, or longer with short messages and more than
/// two buffers. [us]
fn sent_away(job: &MocRun, idle: f64) -> MocResult {
    let idle = if job.bytes == 128 && job.buffers > 2 { idle + 80.0 } else { idle };
    let mut measured = took(1_000.0);
    if job.buffers > 1 {
        let rank = &mut measured.answer.ranks[0];
        (rank.send_away, rank.receive_idle) = (duration(50.0), duration(idle));
    }
    measured
}

/// With more buffers headers are blocked longer above the bottom row, and for `bottom` in it. [us]
fn hot_spots(job: &MocRun, bottom: f64) -> MocResult {
    let above = match job.buffers {
        1 => 100.0,
        16 => 105.0,
        buffers => 110.0 + f64::from(buffers),
    };
    let below = if job.buffers > 1 { bottom } else { 100.0 };
    let routers: Vec<f64> = (0..16).map(|router| if router < 12 { above } else { below }).collect();
    run_of(1_000.0, &routers)
}

/// The raw network: faster with more buffers, and blocking that changes by `each` with each buffer. [us]
fn raw(job: &MocRun, each: f64) -> MocResult {
    let buffers = f64::from(job.buffers);
    run_of(1_000.0 - buffers, &[1_000.0 + each * buffers])
}

/// The gain of the clustered network at 2048 bytes: as printed, except for unequal-dist. [%]
fn clustered(job: &MocRun, unequal: f64) -> MocResult {
    let gain = match job.load {
        _ if job.platform == Platform::Clustered || job.bytes < 2048 => 0.0,
        Load::EqualDist => 40.0,
        Load::UnequalDist => unequal,
        _ => 5.0,
    };
    took(1_000.0 * (1.0 + gain / 100.0))
}

/// More buffers on the clustered network, where the pairs have a `loss` with 4 at 2048 bytes. [%]
fn more_buffers(job: &MocRun, loss: f64) -> MocResult {
    let buffers = f64::from(job.buffers - 1);
    took(match job.load {
        Load::AllToAll { .. } => 1_000.0 - buffers * if job.bytes == 2048 { 12.0 } else { 15.0 },
        _ if (job.bytes, job.buffers) == (2048, 4) => 1_000.0 / (1.0 - loss / 100.0),
        _ => 1_000.0,
    })
}

/// The choices of a layer as the paper states, with that time for Random. [us]
fn layered(job: &MocRun, random: f64) -> MocResult {
    took(match job.layer {
        Layer::Fixed => 1_000.0,
        Layer::Random => random,
        Layer::IdleRandom if job.buffers >= 32 => 1_040.0,
        Layer::RoundRobin | Layer::IdleFixed | Layer::IdleRandom => 1_020.0,
    })
}

/// An engine that moves every flit, and is `slower` times as slow as the other.
fn timed(job: &MocRun, slower: u32, other_time: f64) -> MocResult {
    if job.engine != Engine::ReferenceTimed {
        return took(1_000.0);
    }
    MocResult { elapsed: std::time::Duration::from_millis(10) * slower, ..took(other_time) }
}

const CASES: [Case<MocRun, MocResult>; 17] = [
    Case {
        claim: "moc.sec3.fast_sim",
        sound: |it| timed(it, 20, 1_000.0),
        spoiled: |it| timed(it, 9, 1_000.0),
        fails: "times_as_fast",
    },
    Case {
        claim: "moc.sec3.fast_sim",
        sound: |it| timed(it, 20, 1_000.0),
        spoiled: |it| timed(it, 20, 1_000.000_001),
        fails: "differing",
    },
    Case {
        claim: "moc.fig5.distance",
        sound: |it| over_hops(it, 1.0),
        spoiled: |it| over_hops(it, 4.0),
        fails: "extra_us",
    },
    Case {
        claim: "moc.fig5.gcel",
        sound: |it| over_hops(it, 100.0),
        spoiled: |it| over_hops(it, 10.0),
        fails: "far_over_near",
    },
    Case {
        claim: "moc.fig6.faster",
        sound: |it| on_the_gcel(it, 10.0),
        spoiled: |it| on_the_gcel(it, 1.5),
        fails: "times_as_fast_on_mean",
    },
    Case { claim: "moc.fig6.knee", sound: |it| bent(it, 2.0), spoiled: |it| bent(it, 1.0), fails: "steeper" },
    Case {
        claim: "moc.fig6.more_nodes",
        sound: |it| took(1e6 / f64::from(it.nodes)),
        spoiled: |it| took(1e6 / f64::from(it.nodes.min(16))),
        fails: "over_fewer",
    },
    Case {
        claim: "moc.fig7.slope",
        sound: |it| sloped(it, 2.0),
        spoiled: |it| sloped(it, 0.5),
        fails: "rise_over_all_to_all",
    },
    Case {
        claim: "moc.sec4.blocking",
        sound: |it| blocked(it, 2.0),
        spoiled: |it| blocked(it, 0.04),
        fails: "all_to_all",
    },
    Case {
        claim: "moc.fig8.all_to_all",
        sound: buffered,
        spoiled: |it| if it.buffers == 8 { took(1_000.0) } else { buffered(it) },
        fails: "least_gain_percent",
    },
    Case {
        claim: "moc.fig8.pairs",
        sound: |it| worst_at(it, 128),
        spoiled: |it| worst_at(it, 64),
        fails: "worst_bytes",
    },
    Case {
        claim: "moc.fig9.send_away",
        sound: |it| sent_away(it, 110.0),
        spoiled: |it| sent_away(it, 90.0),
        fails: "idle_longer",
    },
    Case {
        claim: "moc.fig10.hot_spots",
        sound: |it| hot_spots(it, 90.0),
        spoiled: |it| hot_spots(it, 110.0),
        fails: "bottom_row_percent",
    },
    Case { claim: "moc.fig11.raw", sound: |it| raw(it, -1.0), spoiled: |it| raw(it, 1.0), fails: "correlation" },
    Case {
        claim: "moc.fig12.speedup",
        sound: |it| clustered(it, 60.0),
        spoiled: |it| clustered(it, 90.0),
        fails: "unequal_dist",
    },
    Case {
        claim: "moc.fig13.buffers",
        sound: |it| more_buffers(it, 30.0),
        spoiled: |it| more_buffers(it, 10.0),
        fails: "gain_at_2048_with_4_percent",
    },
    Case {
        claim: "moc.fig14.adaptive",
        sound: |it| layered(it, 1_100.0),
        spoiled: |it| layered(it, 1_010.0),
        fails: "random_ahead_points",
    },
];

#[test]
fn every_judge_can_say_no() {
    each_judge_can_say_no(&STUDIES, paper(), &CASES);
}

/// The run with every number changed at random.
fn changed(mut measured: MocResult, random: &mut Random) -> MocResult {
    let answer = &mut measured.answer;
    for finish in &mut answer.finish {
        *finish = Time::ZERO + random.longer(finish.since(Time::ZERO));
    }
    for router in 0..answer.routers.len() {
        let router = &mut answer.routers[router];
        router.blocking = random.longer(router.blocking);
    }
    for rank in &mut answer.ranks {
        (rank.send_away, rank.receive_idle) = (random.longer(rank.send_away), random.longer(rank.receive_idle));
    }
    answer.packets *= random.below(2);
    measured.elapsed = std::time::Duration::from_secs_f64(0.01 * random.factor());
    measured
}

#[test]
fn every_condition_of_a_claim_can_fail() {
    every_condition_can_fail(&STUDIES, paper(), &CASES, changed, &[]);
}
