//! How fast open-loop traffic is simulated at half of saturation: cycles and flit-hops per second, the two engines
//! compared.
//!
//! `cargo bench -p maquette-virtual-worlds --bench traffic`
#![allow(clippy::disallowed_methods, reason = "a benchmark reads the clock")]

use std::sync::Arc;

use std::time::Instant;

use machines::model::{FlitNetwork, Interconnect, Machine};
use maquette_virtual_worlds::flit::network::Engine;
use maquette_virtual_worlds::flit::network::fast::Fast;
use maquette_virtual_worlds::flit::network::reference::Reference;
use maquette_virtual_worlds::flit::traffic::{Load, Pattern, Windows, run};

/// Runs `load` three times and prints the best; returns flit-hops per second.
fn measure<E: Engine>(name: &str, network: &Arc<FlitNetwork>, load: &Load, cycles: u64) -> f64 {
    let windows = Windows { warm_up: Some(cycles / 10), measure: Some(cycles), budget: None, latency_limit: None };
    let mut best = f64::INFINITY;
    let (mut flit_hops, mut simulated, mut packets) = (0.0, 0.0, 0);
    for _ in 0..3 {
        let start = Instant::now();
        let outcome = run::<E>(network, load, &windows, &mut |_| true).expect("the load fits");
        best = best.min(start.elapsed().as_secs_f64());
        (flit_hops, simulated) = (outcome.flit_hops as f64, outcome.cycles as f64);
        packets = outcome.packets.expect("half of saturation is stable").latency.count;
    }
    println!(
        "{name:<36} {best:8.3} s  {packets:>8} packets  {:>8.3} million cycles/s  {:>7.1} million flit-hops/s",
        simulated / 1e6 / best,
        flit_hops / 1e6 / best
    );
    flit_hops / best
}

fn network(machine: &Machine) -> &Arc<FlitNetwork> {
    match &machine.interconnect {
        Interconnect::Flits(network) => network,
        Interconnect::LogGp(_) | Interconnect::Ethernet(_) => unreachable!("a preset with a network"),
    }
}

fn both(preset: &str, settings: &[(&str, &str)], rate: f64, packet: u32, cycles: u64) {
    let settings: Vec<(String, String)> =
        settings.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
    let machine = machines::load_with(preset, &settings).expect("a preset");
    let load = Load { pattern: Pattern::Uniform, rate, packet, seed: 1 };
    let name = |engine| format!("{preset}, {packet} flits, {engine}");
    let fast = measure::<Fast>(&name("fast"), network(&machine), &load, cycles);
    let reference = measure::<Reference>(&name("reference"), network(&machine), &load, cycles);
    println!("{:<36} {:8.1} times", "fast against reference", fast / reference);
}

fn main() {
    // About half of each one's saturation rate.
    both("booksim-mesh-8x8", &[("buffers", "16")], 0.15, 16, 100_000);
    both("booksim-mesh-8x8", &[("buffers", "4")], 0.08, 16, 100_000);
    both("moc-3-2", &[], 0.05, 130, 1_000_000);
}
