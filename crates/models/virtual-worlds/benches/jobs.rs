//! What it costs to run two jobs on one machine, compared with what each of them costs by itself.
//!
//! `cargo bench -p maquette-virtual-worlds --bench jobs` runs pairs of jobs on the halves of a machine, and prints how
//! much longer a run of both takes than a plain run of each, one after the other.
#![allow(clippy::disallowed_methods, reason = "a benchmark reads the clock")]

use std::time::Instant;

use collectives::all_to_all::{CompleteExchange, Pairwise};
use endpoint::{Program, World};
use machines::model::{Machine, NodeId};
use maquette_virtual_worlds::Simulated;
use maquette_virtual_worlds::flit::world::{EngineKind, Options};
use maquette_virtual_worlds::jobs::Job;
use quantities::{Bytes, Time};

/// The number of runs of each, of which the fastest counts.
const RUNS: u32 = 7;

/// How long this thread has been on a processor, which does not depend on what else the machine does; where the system
/// doesn't report it, how long the thread has lived. [s]
fn processor_time(began: Instant) -> f64 {
    let schedstat = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanoseconds = schedstat.split_whitespace().next().and_then(|number| number.parse::<f64>().ok());
    nanoseconds.map_or_else(|| began.elapsed().as_secs_f64(), |nanoseconds| nanoseconds / 1e9)
}

/// How long the fastest of some runs takes, each of `runs` in turn. [s]
fn quickest<const N: usize>(runs: [&dyn Fn(); N]) -> [f64; N] {
    let began = Instant::now();
    let mut best = [f64::INFINITY; N];
    for _ in 0..RUNS {
        for (best, run) in best.iter_mut().zip(runs) {
            let start = processor_time(began);
            run();
            *best = best.min(processor_time(began) - start);
        }
    }
    best
}

fn measure<P: Program + Clone>(name: &str, machine: &Machine, engine: EngineKind, ranks: u32, program: &P) {
    let world = Simulated::new(machine, Options { engine, ..Options::default() });
    let job = |first: u32| {
        let nodes = (first..first + ranks).map(NodeId).collect();
        Job { name: format!("from {first}"), program: program.clone(), nodes, start: Time::ZERO }
    };
    let jobs = [job(0), job(ranks)];
    let [plain, first, second, both] = quickest([
        &|| drop(world.run(ranks, program).expect("the program ends")),
        &|| drop(world.run_alone(&jobs[0]).expect("the job ends")),
        &|| drop(world.run_alone(&jobs[1]).expect("the job ends")),
        &|| drop(world.run_jobs(&jobs, None).expect("the jobs end")),
    ]);
    println!(
        "{name:<34} plain run {plain:.3} s, each alone {first:.3} and {second:.3} s, both {both:.3} s: {:+.1}% over the two alone, \
         {:+.1}% over two plain runs",
        (both / (first + second) - 1.0) * 100.0,
        (both / (2.0 * plain) - 1.0) * 100.0,
    );
}

fn main() {
    let pairwise = CompleteExchange::new(Pairwise::at_once(), Bytes(1_000));
    let tree = machines::load("fat-tree-1024").expect("a preset");
    measure("fat-tree-1024, fast, 2 x 256", &tree, EngineKind::Fast, 256, &pairwise);
    measure("fat-tree-1024, fast, 2 x 512", &tree, EngineKind::Fast, 512, &pairwise);
    let clos = machines::load("moc-3-2").expect("a preset");
    measure(
        "moc-3-2, fast, 2 x 32",
        &clos,
        EngineKind::Fast,
        32,
        &CompleteExchange::new(Pairwise::in_turns(), Bytes(4_096)),
    );
    measure(
        "moc-3-2, reference, 2 x 32",
        &clos,
        EngineKind::Reference,
        32,
        &CompleteExchange::new(Pairwise::in_turns(), Bytes(4_096)),
    );
    let loggp = machines::load("loggp").expect("a preset");
    measure("loggp, 2 x 2,048", &loggp, EngineKind::Fast, 2_048, &pairwise);
}
