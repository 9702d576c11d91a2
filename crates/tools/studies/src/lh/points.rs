//! A point of each figure and table, and the command that gives it.

use super::job::LhRun;
use super::simulate::LhResult;
use crate::points::{Point, Value};

const FIVE: LhRun = LhRun::new(5);
const EIGHT_OF_64: LhRun = LhRun::new(8).enlarged();

/// A build whose time, until the last insert is acknowledged, a command prints.
const fn built(
    place: &'static str,
    what: &'static str,
    lines: &'static [&'static str],
    job: LhRun,
) -> Point<LhRun, LhResult> {
    let time = |measured: &LhResult| measured.time.picoseconds() as f64;
    Point::by_commands(place, what, (lines, "/build/time_ps"), Value::OfRun(job, time))
}

/// The command that builds the table on the machine of the paper.
macro_rules! run {
    ($rest:literal) => {
        concat!(
            "maquette run linear-hash --machine parsytec-cc-16 --hash last-letters --capacity 7500 ",
            $rest,
            " --json"
        )
    };
}

/// The same on the larger one.
macro_rules! run_on_64 {
    ($rest:literal) => {
        concat!(
            "maquette run linear-hash --machine parsytec-cc-64 --servers 32 --hash last-letters --capacity 2500 ",
            $rest,
            " --json"
        )
    };
}

/// The points.
pub const POINTS: [Point<LhRun, LhResult>; 9] = [
    Point::by_commands(
        "section 3",
        "the most forwards of an insert, 5 clients",
        (&[run!("--clients 5")], "/forwards/most_of_one"),
        Value::OfRun(FIVE, |measured| f64::from(measured.most_forwards)),
    ),
    built("figure 2", "build time with 5 clients [ps]", &[run!("--clients 5")], FIVE),
    built("figure 3", "build time with a lone client [ps]", &[run!("--clients 1")], LhRun::new(1)),
    Point::by_commands(
        "table 1",
        "image adjustments of 5 clients",
        (&[run!("--clients 5")], "/adjustments"),
        Value::OfRun(FIVE, |measured| measured.adjustments as f64),
    ),
    built(
        "figure 4",
        "build time with 5 clients and bodies of 256 B [ps]",
        &[run!("--clients 5 --body 256")],
        FIVE.with_body(256),
    ),
    Point::by_commands(
        "figure 5",
        "mean time for which a packet is blocked, 5 clients and bodies of 512 B [ps]",
        (&[run!("--clients 5 --body 512")], "/mean_blocking_ps"),
        Value::OfRun(FIVE.with_body(512), |measured| measured.blocking.picoseconds() as f64),
    ),
    built(
        "figure 6",
        "build time with 5 clients and servers that compute for 1 ms [ps]",
        &[run!("--clients 5 --server-time 1ms")],
        LhRun { server_time: 1_000, ..FIVE },
    ),
    built("figure 7", "build time with 8 clients on 64 nodes [ps]", &[run_on_64!("--clients 8")], EIGHT_OF_64),
    built(
        "figure 8",
        "build time with 8 clients and messages at a ninth of the cost [ps]",
        &[run_on_64!("--clients 8 --set node.processor_send=36111111ps")],
        LhRun { cheaper: 9, ..EIGHT_OF_64 },
    ),
];
