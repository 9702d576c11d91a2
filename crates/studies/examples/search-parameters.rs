//! The searches that chose the parameters of the studies, to be repeated.
//!
//! `cargo run --release -p maquette-studies --example search-parameters -- STUDY` repeats a search and prints its results. They are
//! the same every time: everything random follows from the seeds of the walks, which `moc`, `cm5-nodes` and `cm5-crossings` take as a
//! first seed and a number of walks: `moc 0 60`. With settings (`flit_time=210ns`) in their place, the first two judge one set of costs; with
//! settings and numbers, all sets of the walks of `moc` have these settings (`moc 0 12 packet.payload=126B`). With `given=numbers` they see
//! the printed numbers only. `moc-draws` takes settings and numbers, too, and judges sets of costs drawn around those given, which differ by
//! 5 % or `spread=0.1`; `moc-sensitivity` says how each cost moves the printed numbers. The costs of the Delta were fitted by
//! `maquette calibrate`, with the command given in its preset.

use std::sync::atomic::AtomicBool;

use maquette_studies::moc::search::Given;
use maquette_studies::{Outcome, Watch, bcast, cm5, lh, moc};

type Settings = Vec<(String, String)>;

fn main() -> Result<(), String> {
    let interrupted = AtomicBool::new(false);
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let split = |text: &String| text.split_once('=').map(|(name, value)| (name.to_string(), value.to_string()));
    let settings: Settings = arguments.iter().filter_map(split).collect();
    let numbers: Vec<u64> = arguments.iter().filter_map(|text| text.parse().ok()).collect();
    let first = numbers.first().copied().unwrap_or(0);
    let seeds = first..first + numbers.get(1).copied().unwrap_or(20);
    // A search takes long, and runs beside other work.
    let threads = numbers.get(2).map_or(1, |threads| *threads as usize);
    let watch = Watch { progress: &|_| {}, interrupted: &interrupted, threads };
    match arguments.first().map(String::as_str) {
        Some("moc") if settings.is_empty() || !numbers.is_empty() => mesh_of_clos(seeds, settings, &watch)?,
        Some("moc") => one_mesh_of_clos(settings, &watch)?,
        Some("moc-draws") => mesh_of_clos_draws(seeds, settings, &watch)?,
        Some("moc-sensitivity") => mesh_of_clos_sensitivity(settings)?,
        Some("cm5-nodes") if settings.is_empty() => {
            cm5::node_search::search(seeds, &watch, &|seed, found| node(&seed.to_string(), found))?;
        }
        Some("cm5-crossings") => {
            cm5::crossing_search::search(seeds, &watch, &|seed, found| node(&seed.to_string(), found))?;
        }
        Some("cm5-nodes") => one_node(settings, &watch)?,
        Some("cm5") => transform(&watch)?,
        Some("cm5-gather") => {
            println!("to gather a byte  off: fitted to [%]  held back [%]");
            for found in cm5::search::search_gather(&cm5::Setup::default(), &watch)? {
                let cm5::search::GatherFit { gather, training, held_back } = found;
                println!("{:>16}  {training:18.2}  {held_back:13.2}", gather.to_string());
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
                for bcast::search::Found { settings, deviation, says } in found {
                    println!("{deviation:6.2}  {says}  {settings:?}");
                }
            }
        }
        _ => return Err("which study? moc, cm5-nodes, cm5-crossings, cm5, cm5-gather, lh or bcast".to_string()),
    }
    Ok(())
}

fn settings_text(settings: &[(String, String)]) -> String {
    settings.iter().map(|(name, value)| format!("{name}={}", value.replace(' ', ""))).collect::<Vec<_>>().join(" ")
}

fn print_outcomes(outcomes: &[Outcome]) {
    for outcome in outcomes {
        println!(
            "  {:10} {}  {}  {}",
            outcome.verdict.name(),
            outcome.id,
            maquette_studies::plain(&outcome.ours),
            outcome.note
        );
    }
}

/// One set of costs: besides fields of the description, `begins` is which of two partners begins, `messages` how many messages the pairs
/// have, and `claims` whether `all` are judged or only the `unsettled`, which sets near the presets' can have or lose.
fn one_mesh_of_clos(mut settings: Settings, watch: &Watch<'_>) -> Result<(), String> {
    let begins = take_begins(&mut settings)?;
    let mut take = |name: &str| take(&mut settings, name);
    let messages =
        take("messages").map(|text| text.parse().map_err(|error| format!("messages: {error}"))).transpose()?;
    let all = take("claims").is_none_or(|which| which == "all");
    let setup = moc::Setup { settings, begins, messages, rounds: Some(1), ..moc::Setup::default() };
    let fit = moc::search::try_out(setup, all, watch).map_err(|error| error.to_string())?;
    println!("{:.2} off", fit.distance);
    print_outcomes(&fit.outcomes);
    Ok(())
}

/// Takes the setting `name` out of `settings`.
fn take(settings: &mut Settings, name: &str) -> Option<String> {
    let index = settings.iter().position(|(field, _)| field == name)?;
    Some(settings.remove(index).1)
}

fn take_begins(settings: &mut Settings) -> Result<moc::Begins, String> {
    let begins = take(settings, "begins").unwrap_or_else(|| "both".to_string());
    let named = moc::Begins::ALL.into_iter().find(|one| one.name() == begins);
    named.ok_or_else(|| format!("begins is lower or both, not {begins}"))
}

fn mesh_of_clos_draws(seeds: std::ops::Range<u64>, mut settings: Settings, watch: &Watch<'_>) -> Result<(), String> {
    let begins = take_begins(&mut settings)?;
    let spread = take(&mut settings, "spread").map_or(Ok(0.05), |text| text.parse());
    let spread: f64 = spread.map_err(|error| format!("spread: {error}"))?;
    if !(0.0..1.0).contains(&spread) {
        return Err(format!("spread is from 0 to less than 1, not {spread}"));
    }
    let around = moc::draws::Around::new(&settings, begins, spread)?;
    let each = |seed: u64, fit: &moc::search::Fit| {
        println!("set {seed}, {:.2} off: {}", fit.distance, settings_text(&fit.settings));
        print_outcomes(&fit.outcomes);
    };
    let fits = moc::draws::judge_sets(&around, seeds, watch, &each).map_err(|error| error.to_string())?;
    print_tally(&fits);
    Ok(())
}

/// Each line is a cost, each column a number: by how many percent it rises where the cost rises by one, and how far it scatters.
fn mesh_of_clos_sensitivity(mut settings: Settings) -> Result<(), String> {
    let begins = take_begins(&mut settings)?;
    let around = moc::draws::Around::new(&settings, begins, 0.0)?;
    println!("blocking of all-to-all, equal-dist, unequal-dist; gains of equal-dist, unequal-dist");
    for found in moc::sensitivity::sensitivities(&around).map_err(|missing| format!("{missing:?}"))? {
        let moc::sensitivity::Sensitivity { field, slopes, scatter } = found;
        let each = slopes.iter().zip(scatter).map(|(slope, scatter)| format!("{slope:6.2} +- {scatter:4.2}"));
        println!("{field:26}{}", each.collect::<Vec<_>>().join("  "));
    }
    Ok(())
}

fn print_tally(fits: &[moc::search::Fit]) {
    println!("of {} sets so many have", fits.len());
    for (what, count) in moc::search::tally(fits) {
        println!("{count:4}  {what}");
    }
}

/// Besides fields of the description, which all sets of the walks have, `given` is which claims a walk sees: `orders`, or only the printed
/// `numbers`.
fn mesh_of_clos(seeds: std::ops::Range<u64>, mut settings: Settings, watch: &Watch<'_>) -> Result<(), String> {
    let name = take(&mut settings, "given").unwrap_or_else(|| Given::Orders.name().to_string());
    let given = Given::ALL.into_iter().find(|given| given.name() == name);
    let given = given.ok_or_else(|| format!("given is numbers, orders or jointly, not {name}"))?;
    let each = |seed: u64, fit: &moc::search::Fit| {
        let met = fit.outcomes.iter().filter(|outcome| outcome.verdict.is_met());
        let met: Vec<&str> = met.map(|outcome| outcome.id.trim_start_matches("moc.")).collect();
        println!("walk {seed} fits, {:.2} off; met: {}", fit.distance, met.join(" "));
        println!("  begins={} {}", fit.begins.name(), settings_text(&fit.settings));
        print_outcomes(&fit.outcomes);
    };
    let lowest = |seed, moc::search::Lowest { setup, height }: &moc::search::Lowest| {
        println!("walk {seed} came to a height of {height:.5}");
        println!("  begins={} {}", setup.begins.name(), settings_text(&setup.settings));
    };
    let fits =
        moc::search::search(seeds, (given, &settings), watch, &each, &lowest).map_err(|error| error.to_string())?;
    print_tally(&fits);
    Ok(())
}

fn node(what: &str, found: &cm5::node_search::Found) {
    let cm5::node_search::Found { settings, deviation: [training, held_back], as_printed, outcomes } = found;
    println!(
        "{what}: table 11 off {training:.2} % (fitted to) and {held_back:.2} % (held back), {as_printed} of 8 columns in order"
    );
    println!("  {}", settings_text(settings));
    print_outcomes(outcomes);
}

/// Judges one set of costs: besides fields of the description, `reshuffle` and `gather` are costs of the transform and of the
/// applications, `random_gradient` says whether conjugate gradient has a random pattern, `draws` how many patterns of each density
/// of table 11 are drawn to see how likely the printed orders are, and `claims` which claims are
/// judged besides those that need the small machine only: `claims=cm5.table5.fft,cm5.sec45.density`.
fn one_node(mut settings: Settings, watch: &Watch<'_>) -> Result<(), String> {
    let mut take = |name: &str| take(&mut settings, name);
    let mut setup = cm5::Setup::default();
    for (name, time) in [("reshuffle", &mut setup.reshuffle), ("gather", &mut setup.gather)] {
        if let Some(text) = take(name) {
            *time = text.parse().map_err(|error| format!("{name}: {error}"))?;
        }
    }
    let draws = take("draws").unwrap_or_else(|| "0".to_string());
    let claims = take("claims").unwrap_or_default();
    let others: Vec<&str> = claims.split(',').filter(|id| !id.is_empty()).collect();
    setup.random_gradient = take("random_gradient").is_none_or(|text| text == "true");
    setup.settings = settings;
    if !setup.settings.iter().any(|(field, _)| field == "node.processor_receive") {
        setup = cm5::node_search::with_receive(&setup)?.ok_or("an empty message takes longer than printed")?;
    }
    let cm5::crossing_search::TimeOfByte { least, most } = cm5::crossing_search::time_of_byte(&setup)?;
    println!("figure 10 leaves the control network {least:.4} us a byte at least, and {most:.4} at most");
    node("one set", &cm5::node_search::try_out(&setup, &others, watch)?);
    let draws: u32 = draws.parse().map_err(|error| format!("draws: {error}"))?;
    for chance in cm5::node_search::chances(&setup, draws)? {
        let cm5::node_search::Chance { percent, in_order, pair_in_order } = chance;
        println!(
            "  {percent} %: of {draws} patterns {in_order:.3} have the printed order, {pair_in_order:.3} that of pairwise and balanced"
        );
    }
    Ok(())
}

fn transform(watch: &Watch<'_>) -> Result<(), String> {
    println!("operation [ns]  block [ns]  off: fitted to [%]  held back [%]");
    for found in cm5::search::search(&cm5::Setup::default(), watch)? {
        let cm5::TransformCosts { operation, block } = found.costs;
        let [operation, block] = [operation, block].map(|time| time.picoseconds() / 1_000);
        println!("{operation:14}  {block:10}  {:18.2}  {:13.2}", found.training, found.held_back);
    }
    Ok(())
}
