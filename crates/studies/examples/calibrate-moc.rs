//! How the parameters of the Mesh of Clos presets were chosen: a scan that ranks what the paper leaves open.
//!
//! `cargo run --release --example calibrate-moc [EVERY] [KEEP] [order=NAME] [SETTING=VALUE ...]` tries every EVERY-th
//! combination of the grid (1: all), judges the KEEP nearest by all claims, with every order of partners in all-to-all or
//! the one named, and prints a ranked table. With settings it judges those alone.

use std::sync::atomic::AtomicBool;

use maquette_studies::moc::calibrate::{Scored, compare, grid, scan};
use maquette_studies::{ClaimsError, Watch};

/// Rounds of all-to-all where all claims are judged.
const ROUNDS: u32 = 2;

fn main() -> Result<(), ClaimsError> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (given, numbers): (Vec<&String>, Vec<&String>) = arguments.iter().partition(|text| text.contains('='));
    let number = |index: usize, otherwise: usize| {
        numbers.get(index).map_or(Ok(otherwise), |text| text.parse()).unwrap_or_else(|_| {
            eprintln!("not a number: {}", numbers[index]);
            std::process::exit(2)
        })
    };
    let (every, keep) = (number(0, 7).max(1), number(1, 6));
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let interrupted = AtomicBool::new(false);
    let watch = Watch { progress: &|_| {}, interrupted: &interrupted, threads };
    let tell = |one: &Scored| eprintln!("{}", one.line());

    let split = |text: &&String| text.split_once('=').map(|(name, value)| (name.to_string(), value.to_string()));
    let (orders, given): (Vec<_>, Vec<_>) = given.iter().filter_map(split).partition(|(name, _)| name == "order");
    let order = orders.first().map(|(_, order)| order.as_str());
    let settings = if given.is_empty() { grid().into_iter().step_by(every).collect() } else { vec![given] };
    let nearest = scan(&settings, &watch, &tell)?;
    let ranked = compare(&nearest[..keep.min(nearest.len())], order, ROUNDS, &watch, &tell)?;
    println!("met  distance  order  blocking [us] | gain of MoC(3,1) [%]  settings");
    for one in &ranked {
        println!("{}", one.line());
    }
    if let Some(best) = ranked.first() {
        println!("\nthe first of them, claim by claim:");
        for outcome in &best.outcomes {
            println!("{:10} {}  {}", outcome.verdict.name(), outcome.id, outcome.note);
        }
    }
    Ok(())
}
