//! The searches that chose the parameters of the CM-5, the LH*LH and the broadcast studies, run again.
//!
//! `cargo run --release -p maquette-studies --example search-parameters -- cm5|lh|bcast` tries what was tried and prints a table, the
//! best first. They are the same every time: nothing in them is random. That of the Mesh of Clos is the example `calibrate-moc`; the
//! costs of the Delta and of the CM-5's nodes were fitted by `maquette calibrate`, with the command that their presets name.

use std::sync::atomic::AtomicBool;

use maquette_studies::{Watch, bcast, cm5, lh};

fn main() -> Result<(), String> {
    let interrupted = AtomicBool::new(false);
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let watch = Watch { progress: &|_| {}, interrupted: &interrupted, threads };
    match std::env::args().nth(1).as_deref() {
        Some("cm5") => {
            println!("operation [ns]  block [ns]  off: fitted to [%]  held back [%]");
            for found in cm5::search::search(&watch)? {
                let cm5::TransformCosts { operation, block } = found.costs;
                let [operation, block] = [operation, block].map(|time| time.picoseconds() / 1_000);
                println!("{operation:14}  {block:10}  {:18.2}  {:13.2}", found.training, found.held_back);
            }
        }
        Some("lh") => {
            println!("hash  V  most splits of a cascade  inserts at which servers split");
            for lh::search::Found { hash, capacity, splits, largest_cascade } in lh::search::search(&watch)? {
                println!("{hash:?}  {capacity}  {largest_cascade}  {splits:?}");
            }
        }
        Some("bcast") => {
            for (what, found) in ["dp-smp-8", "mpich-tcp-8"].into_iter().zip(bcast::search::search(&watch)?) {
                println!("{what}: off in all [%]  numbers  settings");
                for bcast::search::Found { settings, off, says } in found {
                    println!("{off:6.2}  {says}  {settings:?}");
                }
            }
        }
        _ => return Err("which study? cm5, lh or bcast".to_string()),
    }
    Ok(())
}
