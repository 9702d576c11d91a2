//! A point of each figure and table, and the command that gives it.

use super::Results;
use super::job::Job;
use super::simulate::Measured;
use crate::MissingAnswer;
use crate::points::{By, Point};

const FIVE: Job = Job::new(5);
const LONE: Job = Job::new(1);
const LONG: Job = FIVE.with_body(256);
const LONGER: Job = FIVE.with_body(512);
const SLOW: Job = Job { server_time: 1_000, ..FIVE };
const EIGHT_OF_64: Job = Job::new(8).enlarged();
const CHEAPER: Job = Job { cheaper: 9, ..EIGHT_OF_64 };

fn picoseconds(runs: &Results, job: Job) -> Result<f64, MissingAnswer> {
    Ok(runs.get(&job)?.time.picoseconds() as f64)
}

/// A build by a command, until the last insert is acknowledged.
const fn built(
    place: &'static str,
    what: &'static str,
    lines: &'static [&'static str],
    jobs: fn() -> Vec<Job>,
    value: fn(&Results) -> Result<f64, MissingAnswer>,
) -> Point<Job, Measured> {
    Point { place, what, by: By::Commands { lines, reads: "/build/time_ps" }, jobs, value, apart: 0.0 }
}

/// The points.
pub const POINTS: [Point<Job, Measured>; 9] = [
    Point {
        place: "section 3",
        what: "the most forwards of an insert, 5 clients",
        by: By::Commands {
            lines: &[
                "maquette run linear-hash --machine parsytec-cc-16 --hash last-letters --capacity 7500 --clients 5 --json",
            ],
            reads: "/forwards/most_of_one",
        },
        jobs: || vec![FIVE],
        value: |runs| Ok(f64::from(runs.get(&FIVE)?.most_forwards)),
        apart: 0.0,
    },
    built(
        "figure 2",
        "build time with 5 clients [ps]",
        &["maquette run linear-hash --machine parsytec-cc-16 --hash last-letters --capacity 7500 --clients 5 --json"],
        || vec![FIVE],
        |runs| picoseconds(runs, FIVE),
    ),
    built(
        "figure 3",
        "build time with a lone client [ps]",
        &["maquette run linear-hash --machine parsytec-cc-16 --hash last-letters --capacity 7500 --json"],
        || vec![LONE],
        |runs| picoseconds(runs, LONE),
    ),
    Point {
        place: "table 1",
        what: "image adjustments of 5 clients",
        by: By::Commands {
            lines: &[
                "maquette run linear-hash --machine parsytec-cc-16 --hash last-letters --capacity 7500 --clients 5 --json",
            ],
            reads: "/adjustments",
        },
        jobs: || vec![FIVE],
        value: |runs| Ok(runs.get(&FIVE)?.adjustments as f64),
        apart: 0.0,
    },
    built(
        "figure 4",
        "build time with 5 clients and bodies of 256 B [ps]",
        &[
            "maquette run linear-hash --machine parsytec-cc-16 --hash last-letters --capacity 7500 --clients 5 --body 256 --json",
        ],
        || vec![LONG],
        |runs| picoseconds(runs, LONG),
    ),
    Point {
        place: "figure 5",
        what: "mean time for which a packet is blocked, 5 clients and bodies of 512 B [ps]",
        by: By::Commands {
            lines: &[
                "maquette run linear-hash --machine parsytec-cc-16 --hash last-letters --capacity 7500 --clients 5 --body 512 --json",
            ],
            reads: "/mean_blocking_ps",
        },
        jobs: || vec![LONGER],
        value: |runs| Ok(runs.get(&LONGER)?.blocking.picoseconds() as f64),
        apart: 0.0,
    },
    built(
        "figure 6",
        "build time with 5 clients and servers that compute for 1 ms [ps]",
        &[
            "maquette run linear-hash --machine parsytec-cc-16 --hash last-letters --capacity 7500 --clients 5 --server-time 1ms --json",
        ],
        || vec![SLOW],
        |runs| picoseconds(runs, SLOW),
    ),
    built(
        "figure 7",
        "build time with 8 clients on 64 nodes [ps]",
        &[
            "maquette run linear-hash --machine parsytec-cc-64 --servers 32 --hash last-letters --capacity 2500 --clients 8 --json",
        ],
        || vec![EIGHT_OF_64],
        |runs| picoseconds(runs, EIGHT_OF_64),
    ),
    built(
        "figure 8",
        "build time with 8 clients and messages at a ninth of the cost [ps]",
        &[
            "maquette run linear-hash --machine parsytec-cc-64 --servers 32 --hash last-letters --capacity 2500 --clients 8 --set node.processor_send=36111111ps --json",
        ],
        || vec![CHEAPER],
        |runs| picoseconds(runs, CHEAPER),
    ),
];
