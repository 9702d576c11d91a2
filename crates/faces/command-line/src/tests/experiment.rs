//! A result records everything that can change it: an option with another value makes another experiment.

use std::collections::BTreeSet;

use clap::{Command, CommandFactory};
use serde_json::Value;

use super::output;
use crate::CommandLine;
use experiment::Provenance;

/// A command line, and changes to it: `--option value`, `--option`, or `this=>that` to replace a word.
type Case = (&'static str, &'static [&'static str]);

/// Changes of a question to the planner about messages of one size.
const PLANNED: &[&str] = &[
    "--machine moc-2-1",
    "--set o=3us",
    "--ranks 5",
    "--budget 7",
    "--bytes 7",
    "--placement 3,2,1,0",
    "--seed 2",
    "--exhaustive",
];

const CASES: &[Case] = &[
    (
        "run ping-pong --machine moc-2-1 --nodes 4",
        &[
            "--placement random",
            "--machine moc-3-1",
            "--nodes 5",
            "--set buffers=4",
            "--engine reference",
            "--seed 2",
            "--bytes 7",
            "--from 1",
            "--to 2",
            "--rounds 2",
        ],
    ),
    (
        "run all-pairs --machine delta --nodes 4 --rounds 1",
        &[
            "--placement random",
            "--machine moc-3-1",
            "--nodes 3",
            "--set buffers=4",
            "--engine reference",
            "--seed 2",
            "--bytes 7",
            "--rounds 2",
            "--order shuffled",
        ],
    ),
    (
        "run equal-dist --machine moc-2-1 --nodes 4 --messages 8",
        &[
            "--placement random",
            "--machine moc-3-1",
            "--nodes 2",
            "--set buffers=4",
            "--engine reference",
            "--seed 2",
            "--bytes 7",
            "--begins both",
            "--messages 4",
        ],
    ),
    (
        "run unequal-dist --machine moc-2-1 --nodes 4 --messages 8",
        &[
            "--placement random",
            "--machine moc-3-1",
            "--nodes 2",
            "--set buffers=4",
            "--engine reference",
            "--seed 2",
            "--bytes 7",
            "--begins both",
            "--messages 4",
        ],
    ),
    (
        "run all-to-all --machine delta --nodes 4",
        &[
            "--placement random",
            "--machine moc-3-1",
            "--nodes 2",
            "--set buffers=4",
            "--engine reference",
            "--seed 2",
            "--bytes 7",
            "--algorithm greedy",
            "--pacing barrier",
            "--order alternating",
        ],
    ),
    (
        "run all-to-all --machine moc-2-1 --nodes 4 --algorithm bruck",
        &["--placement random", "--reshuffle 1ns", "--group 3,1,2,0"],
    ),
    ("run all-to-all --lambda 2 --nodes 4", &["--lambda 3", "--t0 7us"]),
    (
        "run all-to-all --machine loggp --traffic tests/command_line/plan.in/traffic.csv",
        &["--traffic tests/command_line/schedule.in/three.csv"],
    ),
    (
        "run fft --machine moc-2-1 --nodes 4 --size 8",
        &[
            "--pack 1us",
            "--placement random",
            "--machine moc-3-1",
            "--nodes 2",
            "--set buffers=4",
            "--engine reference",
            "--seed 2",
            "--size 16",
            "--algorithm linear",
            "--operation 2ns",
            "--reshuffle 1ns",
            "--only-sizes",
        ],
    ),
    (
        "run conjugate-gradient --machine moc-2-1 --nodes 4 --width 8 --height 8",
        &[
            "--placement random",
            "--machine moc-3-1",
            "--nodes 2",
            "--set buffers=4",
            "--engine reference",
            "--seed 2",
            "--width 9",
            "--height 9",
            "--algorithm linear",
            "--pacing barrier",
            "--operation 2ns",
            "--tolerance 0.1",
            "--most-iterations 2",
        ],
    ),
    (
        "run euler --machine moc-2-1 --nodes 4 --vertices 40 --most-cycles 2",
        &[
            "--placement random",
            "--machine moc-3-1",
            "--nodes 2",
            "--set buffers=4",
            "--engine reference",
            "--seed 2",
            "--vertices 41",
            "--algorithm linear",
            "--pacing barrier",
            "--operation 2ns",
            "--tolerance 0.1",
            "--most-cycles 1",
        ],
    ),
    (
        "run broadcast --machine moc-2-1 --nodes 4",
        &[
            "--placement random",
            "--machine moc-3-1",
            "--nodes 2",
            "--set buffers=4",
            "--engine reference",
            "--seed 2",
            "--bytes 7",
            "--root 1",
            "--order permuted",
            "--group 3,1,2,0",
            "--algorithm linear",
            "--lambda 2",
            "--alpha 0.6",
        ],
    ),
    ("run broadcast --machine moc-2-1 --nodes 4 --algorithm pipeline", &["--placement random", "--segment 1KiB"]),
    ("run broadcast --lambda 2 --nodes 4", &["--t0 7us", "--lambda 3"]),
    (
        "run cast --machine cm5-32 --nodes 4 --bytes 2MiB",
        &[
            "--placement random",
            "--machine cm5-256",
            "--nodes 2",
            "--set buffers=4",
            "--engine reference",
            "--seed 2",
            "--bytes 7",
            "--have 0.5",
        ],
    ),
    (
        "run all-reduce --machine moc-2-1 --nodes 4",
        &[
            "--placement random",
            "--machine moc-3-1",
            "--nodes 2",
            "--set buffers=4",
            "--engine reference",
            "--seed 2",
            "--bytes 16",
            "--root 1",
            "--order permuted",
            "--group 3,1,2,0",
            "--algorithm ring",
            "--operator max-i64",
        ],
    ),
    (
        "run all-reduce --machine moc-2-1 --nodes 4 --algorithm reduce-broadcast --alpha 0.6",
        &["--placement random", "--alpha 0.7"],
    ),
    (
        "run all-reduce --machine moc-2-1 --nodes 4 --algorithm delay-send --lambda 2 --t0 1us",
        &["--placement random", "--lambda 3", "--t0 2us"],
    ),
    (
        "run barrier --machine moc-2-1 --nodes 4",
        &[
            "--placement random",
            "--machine moc-3-1",
            "--nodes 2",
            "--set buffers=4",
            "--engine reference",
            "--seed 2",
            "--order permuted",
            "--group 3,1,2,0",
            "--algorithm linear",
        ],
    ),
    (
        "run gather --machine moc-2-1 --nodes 4",
        &[
            "--placement random",
            "--machine moc-3-1",
            "--nodes 2",
            "--set buffers=4",
            "--engine reference",
            "--seed 2",
            "--bytes 16",
            "--root 1",
            "--order permuted",
            "--group 3,1,2,0",
            "--algorithm linear",
        ],
    ),
    (
        "run scatter --machine moc-2-1 --nodes 4",
        &[
            "--placement random",
            "--machine moc-3-1",
            "--nodes 2",
            "--set buffers=4",
            "--engine reference",
            "--seed 2",
            "--bytes 16",
            "--root 1",
            "--order permuted",
            "--group 3,1,2,0",
            "--algorithm linear",
        ],
    ),
    (
        "run all-gather --machine moc-2-1 --nodes 4",
        &[
            "--placement random",
            "--machine moc-3-1",
            "--nodes 2",
            "--set buffers=4",
            "--engine reference",
            "--seed 2",
            "--bytes 16",
            "--order permuted",
            "--group 3,1,2,0",
            "--algorithm ring",
        ],
    ),
    (
        "run reduce --machine moc-2-1 --nodes 4",
        &[
            "--placement random",
            "--machine moc-3-1",
            "--nodes 2",
            "--set buffers=4",
            "--engine reference",
            "--seed 2",
            "--bytes 16",
            "--operator max-i64",
            "--root 1",
            "--order permuted",
            "--group 3,1,2,0",
            "--algorithm linear",
        ],
    ),
    (
        "run reduce-scatter --machine moc-2-1 --nodes 4",
        &[
            "--placement random",
            "--machine moc-3-1",
            "--nodes 2",
            "--set buffers=4",
            "--engine reference",
            "--seed 2",
            "--bytes 16",
            "--operator max-i64",
            "--order permuted",
            "--group 3,1,2,0",
            "--algorithm ring",
        ],
    ),
    (
        "run scan --machine moc-2-1 --nodes 4",
        &[
            "--placement random",
            "--machine moc-3-1",
            "--nodes 2",
            "--set buffers=4",
            "--engine reference",
            "--seed 2",
            "--bytes 16",
            "--operator max-i64",
            "--order permuted",
            "--group 3,1,2,0",
            "--algorithm linear",
        ],
    ),
    (
        "run exscan --machine moc-2-1 --nodes 4",
        &[
            "--placement random",
            "--machine moc-3-1",
            "--nodes 2",
            "--set buffers=4",
            "--engine reference",
            "--seed 2",
            "--bytes 16",
            "--operator max-i64",
            "--order permuted",
            "--group 3,1,2,0",
            "--algorithm linear",
        ],
    ),
    (
        "run linear-hash --machine moc-2-1 --servers 3 --random-keys 50",
        &[
            "--placement random",
            "--machine moc-3-1",
            "--servers 4",
            "--clients 2",
            "--random-keys 51",
            "--body 8",
            "--server-time 1us",
            "--hash last-letters",
            "--capacity 40",
            "--sensitivity 0.7",
            "--chunk 1KiB",
            "--apart",
            "--shrink 0.2",
            "--then get",
            "--set buffers=4",
            "--engine reference",
            "--seed 2",
        ],
    ),
    (
        "run linear-hash --machine moc-2-1 --servers 3 --keys tests/command_line/linear-hash.in/words.txt",
        &["--placement random", "--keys tests/command_line/runs.in/square.toml"],
    ),
    (
        "run linear-hash-growth --machine moc-2-1 --servers 3 --clients 4 --keys 50 --routing refresh",
        &[
            "--placement random",
            "--machine moc-3-1",
            "--servers 4",
            "--clients 3",
            "--keys 51",
            "--reads 3",
            "--popularity zipf",
            "--period 2ms",
            "--routing moved",
            "--body 8",
            "--server-time 1us",
            "--map-time 1us",
            "--map-size 8",
            "--asked-for-map 1",
            "--set buffers=4",
            "--engine reference",
            "--seed 2",
        ],
    ),
    (
        "run schedule tests/command_line/schedule.in/less.json --machine moc-2-1",
        &[
            "--placement random",
            "--machine moc-3-1",
            "--set buffers=4",
            "--engine reference",
            "--seed 2",
            "--pacing barrier",
            "--order alternating",
            "tests/command_line/schedule.in/less.json=>tests/schedules/linear.json",
        ],
    ),
    ("run schedule tests/command_line/schedule.in/less.json --lambda 2", &["--lambda 3", "--t0 2us"]),
    (
        "run goal tests/command_line/ethernet.in/ring.goal",
        &[
            "--machine moc-2-1",
            "--set o=3us",
            "--seed 2",
            "tests/command_line/ethernet.in/ring.goal=>tests/command_line/runs.in/unreceived.goal",
        ],
    ),
    (
        "run goal tests/command_line/ethernet.in/ring.goal --machine moc-2-1",
        &["--placement random", "--engine reference"],
    ),
    (
        "run trace tests/command_line/traces.in/simgrid.txt --machine moc-2-1",
        &[
            "--machine moc-3-1",
            "--set buffers=4",
            "--engine reference",
            "--seed 2",
            "--placement random",
            "--compute-scale 0.5",
            "--operations 2e9",
            "--broadcast linear",
            "--all-reduce ring",
            "--all-to-all bruck",
            "tests/command_line/traces.in/simgrid.txt=>tests/command_line/traces.in/cg.trace",
        ],
    ),
    (
        "run traffic --machine moc-2-1 --rate 0.01 --warm-up 100 --measure 100",
        &[
            "--machine moc-3-1",
            "--set buffers=4",
            "--engine reference",
            "--seed 2",
            "--pattern shuffle",
            "--packet 4",
            "--rate 0.02",
            "--warm-up 110",
            "--measure 110",
            "--latency-limit 10000",
        ],
    ),
    ("run traffic --machine moc-2-1 --rate 0.01 --warm-up 100 --budget 5000", &["--budget 6000"]),
    (
        "run traffic --machine moc-2-1 --rate 0.01 --warm-up 100 --measure 100 --pattern hot-spot",
        &["--hot-node 1", "--hot-fraction 0.2"],
    ),
    (
        "saturate --machine moc-2-1 --warm-up 100 --measure 100 --precision 0.5",
        &[
            "--machine moc-3-1",
            "--set buffers=4",
            "--engine reference",
            "--seed 2",
            "--pattern shuffle",
            "--packet 4",
            "--precision 0.4",
            "--warm-up 110",
            "--measure 110",
            "--latency-limit 10000",
        ],
    ),
    ("saturate --machine moc-2-1 --warm-up 100 --budget 5000 --precision 0.5", &["--budget 6000"]),
    (
        "saturate --machine moc-2-1 --warm-up 100 --measure 100 --precision 0.5 --pattern hot-spot",
        &["--hot-node 1", "--hot-fraction 0.2"],
    ),
    (
        "measure lambda --machine moc-2-1 --bytes 8 --partners 2 --draws 2",
        &[
            "--machine moc-3-1",
            "--set buffers=4",
            "--bytes 16",
            "--nodes 8",
            "--from 1",
            "--partners 3",
            "--draws 3",
            "--seed 2",
        ],
    ),
    ("plan broadcast --machine loggp --ranks 4", PLANNED),
    ("plan broadcast --lambda 2 --ranks 4", &["--lambda 3"]),
    ("plan all-reduce --machine loggp --ranks 4", PLANNED),
    ("plan all-reduce --lambda 2 --ranks 4", &["--lambda 3"]),
    ("plan gather --machine loggp --ranks 4", PLANNED),
    ("plan gather --lambda 2 --ranks 4", &["--lambda 3"]),
    ("plan scatter --machine loggp --ranks 4", PLANNED),
    ("plan scatter --lambda 2 --ranks 4", &["--lambda 3"]),
    ("plan all-gather --machine loggp --ranks 4", PLANNED),
    ("plan all-gather --lambda 2 --ranks 4", &["--lambda 3"]),
    ("plan reduce --machine loggp --ranks 4", PLANNED),
    ("plan reduce --lambda 2 --ranks 4", &["--lambda 3"]),
    ("plan reduce-scatter --machine loggp --ranks 4", PLANNED),
    ("plan reduce-scatter --lambda 2 --ranks 4", &["--lambda 3"]),
    ("plan scan --machine loggp --ranks 4", PLANNED),
    ("plan scan --lambda 2 --ranks 4", &["--lambda 3"]),
    ("plan exscan --machine loggp --ranks 4", PLANNED),
    ("plan exscan --lambda 2 --ranks 4", &["--lambda 3"]),
    (
        "plan barrier --machine loggp --ranks 4",
        &[
            "--machine moc-2-1",
            "--set o=3us",
            "--ranks 5",
            "--budget 7",
            "--placement 3,2,1,0",
            "--seed 2",
            "--exhaustive",
        ],
    ),
    ("plan barrier --lambda 2 --ranks 4", &["--lambda 3"]),
    ("plan all-to-all --machine loggp --ranks 4 --bytes 8", PLANNED),
    ("plan all-to-all --lambda 2 --ranks 4 --bytes 8", &["--lambda 3"]),
    (
        "plan all-to-all --machine loggp --traffic tests/command_line/plan.in/traffic.csv",
        &["--traffic tests/command_line/schedule.in/three.csv"],
    ),
    (
        "plan collectives --machine loggp --ranks 4 --sizes 64",
        &[
            "--machine moc-2-1",
            "--set o=3us",
            "--ranks 5",
            "--budget 7",
            "--sizes 7",
            "--collectives all-gather",
            "--placement 3,2,1,0",
            "--seed 2",
            "--exhaustive",
        ],
    ),
    ("plan collectives --lambda 2 --ranks 4 --sizes 64", &["--lambda 3"]),
    (
        "plan collectives --machine loggp --sizes 64 --traffic tests/command_line/plan.in/traffic.csv",
        &["--traffic tests/command_line/schedule.in/three.csv"],
    ),
    ("plan check --cases 1 --machine loggp", &["--cases 2", "--seed 2", "--machine moc-2-1", "--budget 7"]),
    (
        "calibrate --machine tests/command_line/calibrate.in/cluster.toml --times tests/command_line/calibrate.in/times.csv \
         --fit o=100ns..100us --evaluations 2",
        &[
            "--machine loggp",
            "--set L=3us",
            "--times tests/command_line/calibrate.in/one-way.csv",
            "--fit o=100ns..10us",
            "--evaluations 3",
        ],
    ),
    ("pattern euler-545 --parts 32", &["euler-545=>euler-2k", "--parts 8", "--seed 2", "--synthetic"]),
    ("pattern random --parts 8", &["--density 7", "--bytes 7"]),
    ("schedule --complete 4", &["--complete 5", "--bytes 7", "--algorithm greedy", "--machine cm5-32", "--branch 2"]),
    ("schedule --complete 4 --machine cm5-32", &["--set rate=1MB/s"]),
    ("schedule --complete 4 --algorithm greedy", &["--check"]),
    ("schedule --random 8,25", &["--random 8,30", "--seed 2"]),
    (
        "schedule --traffic tests/command_line/plan.in/traffic.csv --algorithm greedy",
        &["--traffic tests/command_line/schedule.in/three.csv"],
    ),
    ("schedule --read tests/command_line/schedule.in/less.json", &["--read tests/schedules/linear.json"]),
    (
        "sweep tests/command_line/sweep.in/experiment.toml --seeds 1",
        &["experiment.toml=>linear.toml", "--seeds 2", "--over bytes=8,9"],
    ),
    ("postal --lambda 2 --nodes 4", &["--lambda 3", "--nodes 5", "--alpha 0.6", "--t0 1us"]),
];

/// Options that determine where a result goes, how it is shown, or how fast it is computed; those of GOAL text, which
/// only affect a written file; and those with which nothing is simulated, but measured.
const OF_NO_RESULT: &[&str] = &[
    "help",
    "json",
    "packets",
    "timeline",
    "write",
    "out",
    "write-experiment",
    "chart",
    "report",
    "svg",
    "png",
    "figure",
    "critical-path",
    "print",
    "threads",
    "executor",
    "schedule pacing",
    "schedule order",
    "plan collectives measure",
    "plan collectives mpi-library",
];

/// The line of a case with one of its changes.
fn changed(line: &str, change: &str) -> String {
    if let Some((this, that)) = change.split_once("=>") {
        return line.replace(this, that);
    }
    let (option, value) = change.split_once(' ').unwrap_or((change, ""));
    let mut words: Vec<&str> = line.split(' ').collect();
    match words.iter().position(|word| *word == option) {
        Some(place) => words[place + 1] = value,
        None => words.extend(change.split(' ')),
    }
    words.join(" ")
}

fn experiment(line: &str) -> Value {
    let output = output(line, true).unwrap_or_else(|failure| panic!("{line}: {failure}"));
    let object: Value =
        serde_json::from_str(&output.text).unwrap_or_else(|error| panic!("{line}: {error}: {}", output.text));
    let experiment = object[Provenance::KEY].clone();
    assert_eq!(experiment["maquette"], env!("CARGO_PKG_VERSION"), "{line}: {experiment}");
    experiment
}

#[test]
fn whatever_changes_a_result_is_in_it() {
    for &(line, changes) in CASES {
        let before = experiment(line);
        let words = before["command"].as_str().unwrap_or_default();
        assert!(line.starts_with(words) && !words.is_empty(), "{line}: {before}");
        assert_eq!(before, experiment(line), "{line}");
        for change in changes {
            let line = changed(line, change);
            assert_ne!(before, experiment(&line), "{line}");
        }
    }
}

/// Commands that simulate nothing, or that use no model: the provenance of a launch is tested with real ranks.
const NOT_SIMULATING: [&str; 15] = [
    "compare",
    "machines",
    "machine",
    "programs",
    "launch",
    "launch-rank",
    "trace",
    "collectives",
    "rehearse",
    "reproduce",
    "cast",
    "store",
    "schema",
    "completions",
    "manual",
];

#[test]
fn every_option_of_every_command_that_simulates_is_among_the_cases() {
    let mut changes: BTreeSet<(String, String)> = BTreeSet::new();
    for (line, options) in CASES {
        let words = command_words(line);
        for option in *options {
            let id = option.strip_prefix("--").map_or("", |rest| rest.split(' ').next().unwrap_or(rest));
            changes.insert((words.clone(), id.to_string()));
        }
    }
    for (words, command) in leaves(String::new(), &CommandLine::command()) {
        for argument in command.get_arguments().filter(|argument| !argument.is_hide_set()) {
            let id = argument.get_long().unwrap_or("");
            let exempt = OF_NO_RESULT.iter().any(|none| *none == id || *none == format!("{words} {id}"));
            let known = changes.contains(&(words.clone(), id.to_string()));
            assert!(exempt || known, "`maquette {words}`: no case changes --{id}");
        }
    }
}

/// The words of a line that name its command.
fn command_words(line: &str) -> String {
    let leaves = leaves(String::new(), &CommandLine::command());
    let named = leaves.into_iter().map(|leaf| leaf.0).filter(|words| line.starts_with(&format!("{words} ")));
    named.max_by_key(String::len).unwrap_or_else(|| panic!("{line} has no command"))
}

/// The commands without subcommands, with their words.
fn leaves(words: String, command: &Command) -> Vec<(String, Command)> {
    if !command.has_subcommands() {
        return vec![(words, command.clone())];
    }
    let counts = |inner: &&Command| !(words.is_empty() && NOT_SIMULATING.contains(&inner.get_name()));
    let inner = command.get_subcommands().filter(counts);
    inner.flat_map(|inner| leaves(format!("{words} {}", inner.get_name()).trim().to_string(), inner)).collect()
}
