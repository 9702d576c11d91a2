//! A point of each figure, and the command that gives it.

use super::Results;
use super::job::{Job, Layer, Load, Platform};
use super::measures::{blocking, receive_idle};
use super::simulate::{Measured, model, network};
use crate::MissingAnswer;
use crate::points::{By, Point};

/// Picoseconds in a microsecond.
const PICOSECONDS: f64 = 1e6;

const fn pairs(bytes: u32) -> Job {
    Job::new(Platform::Basic, Load::UnequalDist, bytes)
}

const PING_PONG: Job = Job::new(Platform::Basic, Load::PingPong { hops: 2 }, 2048);
const ON_GCEL: Job = Job::new(Platform::Gcel, Load::EqualDist, 512);
const ON_FOUR: Job = Job::new(Platform::Basic, Load::EqualDist, 2048).on(4);
const RAW: Job = Job { raw: true, ..pairs(2048) };
const CLUSTERED: Job = Job::new(Platform::Clustered, Load::UnequalDist, 2048);
const FOUR_BUFFERS: Job = Job::new(Platform::Clustered, Load::EqualDist, 2048).with_buffers(4);
const RANDOM_LAYER: Job = Job { layer: Layer::Random, ..Job::new(Platform::Clustered, Load::EqualDist, 2048) };

fn makespan(runs: &Results, job: Job) -> Result<f64, MissingAnswer> {
    Ok(runs.get(&job)?.answer.makespan().since(quantities::Time::ZERO).picoseconds() as f64)
}

const fn timed(
    place: &'static str,
    what: &'static str,
    lines: &'static [&'static str],
    jobs: fn() -> Vec<Job>,
    value: fn(&Results) -> Result<f64, MissingAnswer>,
) -> Point<Job, Measured> {
    Point { place, what, by: By::Commands { lines, reads: "/makespan_ps" }, jobs, value, apart: 0.0 }
}

fn routers(preset: &str) -> Result<f64, MissingAnswer> {
    let failed = |why: String| MissingAnswer::Failed(preset.to_string(), why);
    let machine = model(preset).map_err(failed)?;
    Ok(network(&machine).map_err(failed)?.routers.len() as f64)
}

/// The points.
pub const POINTS: [Point<Job, Measured>; 14] = [
    Point {
        place: "section 2",
        what: "routers of the Mesh of Clos(3,1)",
        by: By::Commands { lines: &["maquette machine moc-3-1 --json"], reads: "/network/routers/#" },
        jobs: Vec::new,
        value: |_| routers("moc-3-1"),
        apart: 0.0,
    },
    timed(
        "section 3.1",
        "time of unequal-dist with 512 B, every flit simulated [ps]",
        &["maquette run unequal-dist --machine moc-3-2 --begins both --bytes 512 --engine reference --json"],
        || vec![pairs(512)],
        |runs| makespan(runs, pairs(512)),
    ),
    timed(
        "figure 5",
        "twice the latency of 2 KiB over two hops [ps]",
        &["maquette run ping-pong --machine moc-3-2 --bytes 2KiB --to 1 --json"],
        || vec![PING_PONG],
        |runs| makespan(runs, PING_PONG),
    ),
    timed(
        "figure 6",
        "time of equal-dist with 512 B on the GCel [ps]",
        &["maquette run equal-dist --machine parsytec-gcel-64 --begins both --bytes 512 --json"],
        || vec![ON_GCEL],
        |runs| makespan(runs, ON_GCEL),
    ),
    timed(
        "figure 7",
        "time of equal-dist with 2 KiB on 4 nodes [ps]",
        &["maquette run equal-dist --machine moc-3-2 --nodes 4 --begins both --bytes 2KiB --json"],
        || vec![ON_FOUR],
        |runs| makespan(runs, ON_FOUR),
    ),
    Point {
        place: "section 4.2",
        what: "mean time for which a packet of unequal-dist is blocked, 2 KiB [ps]",
        by: By::Commands {
            lines: &["maquette run unequal-dist --machine moc-3-2 --begins both --bytes 2KiB --json"],
            reads: "/mean_blocking_ps",
        },
        jobs: || vec![pairs(2048)],
        value: |runs| Ok(blocking(runs, pairs(2048))? * PICOSECONDS),
        // The command rounds to a picosecond.
        apart: 1e-6,
    },
    timed(
        "figure 8",
        "time of unequal-dist with 256 B and 2 buffers [ps]",
        &["maquette run unequal-dist --machine moc-3-2 --begins both --bytes 256 --set buffers=2 --json"],
        || vec![pairs(256).with_buffers(2)],
        |runs| makespan(runs, pairs(256).with_buffers(2)),
    ),
    Point {
        place: "figure 9",
        what: "mean time that a node idles to receive, 2 KiB and 64 buffers [ps]",
        by: By::Commands {
            lines: &["maquette run unequal-dist --machine moc-3-2 --begins both --bytes 2KiB --set buffers=64 --json"],
            reads: "/ranks/*/receive_idle_ps",
        },
        jobs: || vec![pairs(2048).with_buffers(64)],
        value: |runs| Ok(receive_idle(runs, pairs(2048).with_buffers(64))? * PICOSECONDS),
        apart: 1e-9,
    },
    Point {
        place: "figure 10",
        what: "how long headers are blocked at router 0, all together, 128 B and 64 buffers [ps]",
        by: By::Commands {
            lines: &["maquette run unequal-dist --machine moc-3-2 --begins both --bytes 128 --set buffers=64 --json"],
            reads: "/routers/0/blocking_ps",
        },
        jobs: || vec![pairs(128).with_buffers(64)],
        value: |runs| {
            let routers = &runs.get(&pairs(128).with_buffers(64))?.answer.routers;
            Ok(routers[0].blocking.picoseconds() as f64)
        },
        apart: 0.0,
    },
    timed(
        "figure 11",
        "time of unequal-dist with 2 KiB on the raw network [ps]",
        &["maquette run unequal-dist --machine moc-3-2 --begins both --bytes 2KiB --set node.processor_send=0us \
           --set node.processor_receive=0us --set node.message_send=0us --set node.message_receive=0us --set node.packet_send=0us \
           --set node.packet_receive=0us --set node.system_message=0us --json"],
        || vec![RAW],
        |runs| makespan(runs, RAW),
    ),
    timed(
        "figure 12",
        "time of unequal-dist with 2 KiB on the Mesh of Clos(3,1) [ps]",
        &["maquette run unequal-dist --machine moc-3-1 --begins both --bytes 2KiB --json"],
        || vec![CLUSTERED],
        |runs| makespan(runs, CLUSTERED),
    ),
    timed(
        "figure 13",
        "time of equal-dist with 2 KiB and 4 buffers on the Mesh of Clos(3,1) [ps]",
        &["maquette run equal-dist --machine moc-3-1 --begins both --bytes 2KiB --set buffers=4 --json"],
        || vec![FOUR_BUFFERS],
        |runs| makespan(runs, FOUR_BUFFERS),
    ),
    timed(
        "figure 14",
        "time of equal-dist with 2 KiB and a random layer [ps]",
        &["maquette run equal-dist --machine moc-3-1 --begins both --bytes 2KiB --set selection=random --json"],
        || vec![RANDOM_LAYER],
        |runs| makespan(runs, RANDOM_LAYER),
    ),
    Point {
        place: "map",
        what: "for how long the channel from node 0 is blocked, 128 B and 64 buffers [ps]",
        by: By::Commands {
            lines: &["maquette run unequal-dist --machine moc-3-2 --begins both --bytes 128 --set buffers=64 --json"],
            reads: "/channels/0/blocked_ps",
        },
        jobs: || vec![pairs(128).with_buffers(64)],
        value: |runs| {
            let channels = &runs.get(&pairs(128).with_buffers(64))?.answer.channels;
            Ok(channels[0].blocked.picoseconds() as f64)
        },
        apart: 0.0,
    },
];
