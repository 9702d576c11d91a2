//! A point of each figure and table, and the commands that give it.

use programs::all_to_all::{Complete, Irregular};

use super::Results;
use super::job::{How, Job};
use super::simulate::Measured;
use crate::MissingAnswer;
use crate::points::{By, Point};

const EMPTY: Job = Job::Empty { to: 1 };
const BALANCED: Job = Job::Exchange { algorithm: Complete::Balanced, nodes: 32, bytes: 2048 };
const PAIRWISE: Job = Job::Exchange { algorithm: Complete::Pairwise, nodes: 64, bytes: 512 };
const TRANSFORM: Job = Job::Transform { algorithm: Complete::Pairwise, nodes: 32, size: 512 };
const BROADCAST: Job = Job::Broadcast { how: How::Hardware, nodes: 32, bytes: 1024 };
const GREEDY: Job = Job::Random { algorithm: Irregular::Greedy, percent: 10, bytes: 256, pattern: 0 };

const fn timed(
    place: &'static str,
    what: &'static str,
    lines: &'static [&'static str],
    jobs: fn() -> Vec<Job>,
    value: fn(&Results) -> Result<f64, MissingAnswer>,
) -> Point<Job, Measured> {
    Point { place, what, by: By::Commands { lines, reads: "/makespan_ps" }, jobs, value, apart: 0.0 }
}

fn picoseconds(runs: &Results, job: Job) -> Result<f64, MissingAnswer> {
    Ok(runs.get(&job)?.time.picoseconds() as f64)
}

/// The points.
pub const POINTS: [Point<Job, Measured>; 8] = [
    timed(
        "section 2",
        "time of an empty message to the next node [ps]",
        &["maquette run broadcast --machine cm5-32 --nodes 2 --algorithm linear --bytes 0B --json"],
        || vec![EMPTY],
        |runs| picoseconds(runs, EMPTY),
    ),
    Point {
        place: "tables 1 to 10",
        what: "steps of balanced exchange among 8 processors",
        by: By::Commands {
            lines: &["maquette schedule --complete 8 --algorithm balanced --bytes 1 --json"],
            reads: "/carrying_steps",
        },
        jobs: Vec::new,
        value: |_| super::schedules::steps_of_balanced(),
        apart: 0.0,
    },
    Point {
        place: "section 3.4",
        what: "messages through the root in a step of pairwise exchange among 16 processors, on the mean over its steps",
        by: By::Commands {
            lines: &["maquette schedule --complete 16 --algorithm pairwise --branch 4 --bytes 1 --json"],
            reads: "/root_crossings/*",
        },
        jobs: Vec::new,
        value: |_| super::section34::messages_through_root(),
        apart: 0.0,
    },
    timed(
        "figure 5",
        "time of balanced exchange among 32 nodes with 2 KiB [ps]",
        &["maquette run all-to-all --machine cm5-32 --algorithm balanced --bytes 2KiB --json"],
        || vec![BALANCED],
        |runs| picoseconds(runs, BALANCED),
    ),
    timed(
        "figures 6 to 8",
        "time of pairwise exchange among 64 nodes with 512 B [ps]",
        &["maquette run all-to-all --machine cm5-256 --nodes 64 --algorithm pairwise --bytes 512 --json"],
        || vec![PAIRWISE],
        |runs| picoseconds(runs, PAIRWISE),
    ),
    timed(
        "table 5",
        "time of the transform of 512 x 512 numbers on 32 nodes with pairwise exchange [ps]",
        &[
            "maquette run fft --machine cm5-32 --size 512 --algorithm pairwise --operation 594ns --pack 12.5us --only-sizes --json",
        ],
        || vec![TRANSFORM],
        |runs| picoseconds(runs, TRANSFORM),
    ),
    timed(
        "figures 10 and 11",
        "time of a broadcast of 1 KiB by the control network, 32 nodes [ps]",
        &["maquette run broadcast --machine cm5-32 --algorithm hardware --bytes 1KiB --json"],
        || vec![BROADCAST],
        |runs| picoseconds(runs, BROADCAST),
    ),
    timed(
        "table 11",
        "time of greedy scheduling of the first pattern of 10 % with 256 B [ps]",
        &[
            "maquette schedule --random 32,10 --bytes 256 --seed 0 --algorithm greedy --write greedy.json",
            "maquette run schedule greedy.json --machine cm5-32 --seed 0 --order alternating --json",
        ],
        || vec![GREEDY],
        |runs| picoseconds(runs, GREEDY),
    ),
];
