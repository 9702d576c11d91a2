//! A point of each figure, and the commands that give it.

use quantities::Time;

use super::Results;
use super::figure8::gain_of;
use super::job::{Layer, Load, MocRun, Platform};
use super::measures::{blocking, gain};
use super::simulate::{MocResult, model, network};
use crate::MissingAnswer;
use crate::points::{By, Point, Value};

/// Picoseconds in a microsecond.
const PICOSECONDS: f64 = 1e6;

const fn unequal(bytes: u32) -> MocRun {
    MocRun::new(Platform::Basic, Load::UnequalDist, bytes)
}

const RAW: MocRun = MocRun { raw: true, ..unequal(2048) };
const CLUSTERED: MocRun = MocRun::new(Platform::Clustered, Load::UnequalDist, 2048);

/// The time of a run. [ps]
fn makespan(measured: &MocResult) -> f64 {
    measured.answer.makespan().since(Time::ZERO).picoseconds() as f64
}

/// The point of a run whose time a command prints.
const fn timed(
    place: &'static str,
    what: &'static str,
    lines: &'static [&'static str],
    job: MocRun,
) -> Point<MocRun, MocResult> {
    Point::by_commands(place, what, (lines, "/makespan_ps"), Value::OfRun(job, makespan))
}

/// The commands of a gain: how much more time a run takes than another. The commands round to a picosecond.
const fn gained(
    place: &'static str,
    what: &'static str,
    (line, than, reads): (&'static str, &'static str, &'static str),
    jobs: fn() -> Vec<MocRun>,
    value: fn(&Results) -> Result<f64, MissingAnswer>,
) -> Point<MocRun, MocResult> {
    Point { place, what, by: By::More { line, than, reads }, value: Value::OfRuns(jobs, value), apart: 1e-6 }
}

fn routers(preset: &str) -> Result<f64, MissingAnswer> {
    let failed = |why: String| MissingAnswer::Failed(preset.to_string(), why);
    let machine = model(preset).map_err(failed)?;
    Ok(network(&machine).map_err(failed)?.routers.len() as f64)
}

/// The run with one buffer and that with 64.
fn with_one_and_64(job: MocRun) -> Vec<MocRun> {
    vec![job, job.with_buffers(64)]
}

/// The command that runs a benchmark on a machine.
macro_rules! run {
    ($benchmark:literal, $machine:literal, $rest:literal) => {
        concat!("maquette run ", $benchmark, " --machine ", $machine, " --begins both ", $rest, " --json")
    };
}

/// What makes nodes cost nothing.
macro_rules! raw {
    ($rest:literal) => {
        concat!(
            "maquette run unequal-dist --machine moc-3-2 --begins both --bytes 2KiB --set node.processor_send=0us \
             --set node.processor_receive=0us --set node.message_send=0us --set node.message_receive=0us \
             --set node.packet_send=0us --set node.packet_receive=0us --set node.system_message=0us ",
            $rest,
            "--json"
        )
    };
}

/// The points.
pub const POINTS: [Point<MocRun, MocResult>; 14] = [
    Point::by_commands(
        "section 2",
        "routers of the Mesh of Clos(3,1)",
        (&["maquette machine moc-3-1 --json"], "/network/routers/#"),
        Value::Computed(|| routers("moc-3-1")),
    ),
    timed(
        "section 3.1",
        "time of unequal-dist with 512 B, every flit simulated [ps]",
        &[run!("unequal-dist", "moc-3-2", "--bytes 512 --engine reference")],
        unequal(512),
    ),
    timed(
        "figure 5",
        "twice the latency of 2 KiB over two hops [ps]",
        &["maquette run ping-pong --machine moc-3-2 --bytes 2KiB --to 1 --json"],
        MocRun::new(Platform::Basic, Load::PingPong { hops: 2 }, 2048),
    ),
    timed(
        "figure 6",
        "time of equal-dist with 512 B on the GCel [ps]",
        &[run!("equal-dist", "parsytec-gcel-64", "--bytes 512")],
        MocRun::new(Platform::Gcel, Load::EqualDist, 512),
    ),
    timed(
        "figure 7",
        "time of equal-dist with 2 KiB on 4 nodes [ps]",
        &[run!("equal-dist", "moc-3-2", "--nodes 4 --bytes 2KiB")],
        MocRun::new(Platform::Basic, Load::EqualDist, 2048).on(4),
    ),
    Point {
        place: "section 4.2",
        what: "mean time for which a packet of unequal-dist is blocked, 2 KiB [ps]",
        by: By::Commands { lines: &[run!("unequal-dist", "moc-3-2", "--bytes 2KiB")], reads: "/mean_blocking_ps" },
        value: Value::OfRuns(|| vec![unequal(2048)], |runs| Ok(blocking(runs, unequal(2048))? * PICOSECONDS)),
        // The command rounds to a picosecond.
        apart: 1e-6,
    },
    gained(
        "figure 8",
        "speed-up of unequal-dist by 64 buffers, 256 B [%]",
        (
            run!("unequal-dist", "moc-3-2", "--bytes 256"),
            run!("unequal-dist", "moc-3-2", "--bytes 256 --set buffers=64"),
            "/makespan_ps",
        ),
        || with_one_and_64(unequal(256)),
        |runs| gain_of(runs, Platform::Basic, Load::UnequalDist, 64, 256),
    ),
    gained(
        "figure 9",
        "how much longer nodes idle to receive with 64 buffers, 2 KiB [%]",
        (
            run!("unequal-dist", "moc-3-2", "--bytes 2KiB --set buffers=64"),
            run!("unequal-dist", "moc-3-2", "--bytes 2KiB"),
            "/ranks/*/receive_idle_ps",
        ),
        || with_one_and_64(unequal(2048)),
        |runs| Ok(super::figure9::changes(runs, 2048, 64)?.1),
    ),
    gained(
        "figure 10",
        "how much longer headers are blocked at router 0 with 64 buffers, 128 B [%]",
        (
            run!("unequal-dist", "moc-3-2", "--bytes 128 --set buffers=64"),
            run!("unequal-dist", "moc-3-2", "--bytes 128"),
            "/routers/0/blocking_ps",
        ),
        || with_one_and_64(unequal(128)),
        |runs| Ok(super::figure10::changes(runs, 64)?[0]),
    ),
    gained(
        "figure 11",
        "speed-up of unequal-dist by 64 buffers on the raw network, 2 KiB [%]",
        (raw!(""), raw!("--set buffers=64 "), "/makespan_ps"),
        || with_one_and_64(RAW),
        |runs| gain(runs, RAW.with_buffers(64), RAW),
    ),
    gained(
        "figure 12",
        "speed-up of unequal-dist by the Mesh of Clos(3,1), 2 KiB [%]",
        (
            run!("unequal-dist", "moc-3-2", "--bytes 2KiB"),
            run!("unequal-dist", "moc-3-1", "--bytes 2KiB"),
            "/makespan_ps",
        ),
        || vec![unequal(2048), CLUSTERED],
        |runs| gain(runs, CLUSTERED, unequal(2048)),
    ),
    gained(
        "figure 13",
        "speed-up of unequal-dist by 64 buffers on the Mesh of Clos(3,1), 2 KiB [%]",
        (
            run!("unequal-dist", "moc-3-1", "--bytes 2KiB"),
            run!("unequal-dist", "moc-3-1", "--bytes 2KiB --set buffers=64"),
            "/makespan_ps",
        ),
        || with_one_and_64(CLUSTERED),
        |runs| gain_of(runs, Platform::Clustered, Load::UnequalDist, 64, 2048),
    ),
    gained(
        "figure 14",
        "speed-up of unequal-dist by a random layer, 2 KiB, one of seven sizes of which the figure has the mean [%]",
        (
            run!("unequal-dist", "moc-3-1", "--bytes 2KiB"),
            run!("unequal-dist", "moc-3-1", "--bytes 2KiB --set selection=random"),
            "/makespan_ps",
        ),
        || vec![CLUSTERED, MocRun { layer: Layer::Random, ..CLUSTERED }],
        |runs| gain(runs, MocRun { layer: Layer::Random, ..CLUSTERED }, CLUSTERED),
    ),
    Point::by_commands(
        "map",
        "for how long the channel from node 0 is blocked, 128 B and 64 buffers [ps]",
        (&[run!("unequal-dist", "moc-3-2", "--bytes 128 --set buffers=64")], "/channels/0/blocked_ps"),
        Value::OfRun(unequal(128).with_buffers(64), |measured| {
            measured.answer.channels[0].blocked.picoseconds() as f64
        }),
    ),
];
