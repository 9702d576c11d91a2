//! A point of each figure and table, and the commands that give it.

use collectives::all_to_all::{Complete, Irregular};

use super::job::{Cm5Run, How};
use super::simulate::Cm5Result;
use crate::points::{Point, Value};

/// The point of a run whose time a command prints.
const fn timed(
    place: &'static str,
    what: &'static str,
    lines: &'static [&'static str],
    job: Cm5Run,
) -> Point<Cm5Run, Cm5Result> {
    let time = |measured: &Cm5Result| measured.time.picoseconds() as f64;
    Point::by_commands(place, what, (lines, "/makespan_ps"), Value::OfRun(job, time))
}

/// The points.
pub const POINTS: [Point<Cm5Run, Cm5Result>; 8] = [
    timed(
        "section 2",
        "time of an empty message to the next node [ps]",
        &["maquette run broadcast --machine cm5-32 --nodes 2 --algorithm linear --bytes 0B --json"],
        Cm5Run::Empty { to: 1 },
    ),
    Point::by_commands(
        "tables 1 to 10",
        "steps of balanced exchange among 8 processors",
        (&["maquette schedule --complete 8 --algorithm balanced --bytes 1 --json"], "/carrying_steps"),
        Value::Computed(super::schedules::steps_of_balanced),
    ),
    Point::by_commands(
        "section 3.4",
        "messages through the root in a step of pairwise exchange among 16 processors, on the mean over its steps",
        (&["maquette schedule --complete 16 --algorithm pairwise --branch 4 --bytes 1 --json"], "/root_crossings/*"),
        Value::Computed(super::section34::messages_through_root),
    ),
    timed(
        "figure 5",
        "time of balanced exchange among 32 nodes with 2 KiB [ps]",
        &["maquette run all-to-all --machine cm5-32 --algorithm balanced --bytes 2KiB --json"],
        Cm5Run::Exchange { algorithm: Complete::Balanced, nodes: 32, bytes: 2048 },
    ),
    timed(
        "figures 6 to 8",
        "time of pairwise exchange among 64 nodes with 512 B [ps]",
        &["maquette run all-to-all --machine cm5-256 --nodes 64 --algorithm pairwise --bytes 512 --json"],
        Cm5Run::Exchange { algorithm: Complete::Pairwise, nodes: 64, bytes: 512 },
    ),
    timed(
        "table 5",
        "time of the transform of 512 x 512 numbers on 32 nodes with pairwise exchange [ps]",
        &[
            "maquette run fft --machine cm5-32 --size 512 --algorithm pairwise --operation 594ns --pack 12.5us --only-sizes --json",
        ],
        Cm5Run::Transform { algorithm: Complete::Pairwise, nodes: 32, size: 512 },
    ),
    timed(
        "figures 10 and 11",
        "time of a broadcast of 1 KiB by the control network, 32 nodes [ps]",
        &["maquette run broadcast --machine cm5-32 --algorithm hardware --bytes 1KiB --json"],
        Cm5Run::Broadcast { how: How::Hardware, nodes: 32, bytes: 1024 },
    ),
    timed(
        "table 11",
        "time of greedy scheduling of the first pattern of 10 % with 256 B [ps]",
        &[
            "maquette schedule --random 32,10 --bytes 256 --seed 0 --algorithm greedy --write greedy.json",
            "maquette run schedule greedy.json --machine cm5-32 --seed 0 --order alternating --json",
        ],
        Cm5Run::Random { algorithm: Irregular::Greedy, percent: 10, bytes: 256, pattern: 0 },
    ),
];
