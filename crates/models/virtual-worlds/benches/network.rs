//! How fast the network is simulated: flit-hops per second, the two engines compared, how much longer a simulation
//! takes than the machine, and the peak of memory.
//!
//! `cargo bench -p maquette-virtual-worlds --bench network [-- NAME...]` runs all or the named measurements.
#![allow(clippy::disallowed_methods, reason = "a benchmark reads the clock")]

use std::time::Instant;

use collectives::all_to_all::{CompleteExchange, Pairwise};
use endpoint::{Endpoint, Message, Program, Result, World};
use maquette_virtual_worlds::answer::Answer;
use maquette_virtual_worlds::flit::world::{EngineKind, NetworkWorld, Options};
use programs::benchmarks::UnequalDist;
use quantities::{Bytes, Rank};

/// Every rank sends to all others before it receives.
struct AllAtOnce {
    bytes: Bytes,
}

impl Program for AllAtOnce {
    type Output = ();

    async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<()> {
        let size = endpoint.size();
        for step in 1..size {
            endpoint.send(Rank((endpoint.rank().0 + step) % size), Message::of_size(self.bytes)).await?;
        }
        for step in 1..size {
            endpoint.receive(Rank((endpoint.rank().0 + size - step) % size)).await?;
        }
        Ok(())
    }
}

fn measure<P: Program>(name: &str, machine: &str, ranks: u32, engine: EngineKind, program: &P) -> f64 {
    let machine = machines::load(machine).expect("a preset");
    let world = NetworkWorld::new(&machine, Options { engine, ..Options::default() });
    let mut best = f64::INFINITY;
    let mut answer = Answer::default();
    for _ in 0..3 {
        let start = Instant::now();
        let (_, counted) = world.run(ranks, program).expect("the program ends");
        best = best.min(start.elapsed().as_secs_f64());
        answer = counted;
    }
    println!(
        "{name:<28} {best:8.3} s  {:>10} messages  {:>6.1} million flit-hops  {:>7.1} million flit-hops/s  makespan {:.6} s, 1/{:.1} of the time  peak {} MB",
        answer.messages,
        answer.flit_hops as f64 / 1e6,
        answer.flit_hops as f64 / 1e6 / best,
        answer.makespan().seconds(),
        best / answer.makespan().seconds(),
        peak_memory()
    );
    answer.flit_hops as f64 / best
}

/// The most memory that this process has had. [MB]
fn peak_memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|number| number.parse::<u64>().ok()).unwrap_or(0) * 1024 / 1_000_000
}

/// The machine on which the figures below were measured.
fn machine() -> String {
    let information = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model =
        information.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':')).map(|pair| pair.1);
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    format!("{} ({cores} cores; every figure is of one core)", model.unwrap_or("an unknown processor").trim())
}

fn main() {
    println!("measured on {}", machine());
    let names: Vec<String> = std::env::args().skip(1).filter(|name| !name.starts_with("--")).collect();
    let wanted = |name: &str| names.is_empty() || names.iter().any(|wanted| wanted == name);
    if wanted("pairwise") {
        let program = CompleteExchange::new(Pairwise::at_once(), Bytes(1_000));
        measure("pairwise, 1,024 nodes", "fat-tree-1024", 1_024, EngineKind::Fast, &program);
    }
    if wanted("all-at-once") {
        measure(
            "all at once, 1,024 nodes",
            "fat-tree-1024",
            1_024,
            EngineKind::Fast,
            &AllAtOnce { bytes: Bytes(1_000) },
        );
    }
    if wanted("cm5") {
        for bytes in [Bytes(0), Bytes(1 << 10), Bytes(2 << 10)] {
            let name = format!("pairwise on cm5-256, {bytes}");
            measure(&name, "cm5-256", 256, EngineKind::Fast, &CompleteExchange::new(Pairwise::in_turns(), bytes));
        }
    }
    if wanted("unequal-dist") {
        let program = UnequalDist::of_size(Bytes(2_048));
        let fast = measure("unequal-dist, fast", "moc-3-2", 64, EngineKind::Fast, &program);
        let reference = measure("unequal-dist, reference", "moc-3-2", 64, EngineKind::Reference, &program);
        println!("{:<28} {:8.1} times", "fast against reference", fast / reference);
    }
}
