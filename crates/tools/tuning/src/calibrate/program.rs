//! The programs to whose times a machine can be fitted, from the row of the file that describes each.

use std::sync::Arc;

use collectives::Group;
use collectives::all_to_all::Irregular;
use collectives::catalogue::{MissingParameter, Parameter, Parameters};
use collectives::postal::{Alpha, Lambda, LambdaError};
use collectives::schedule::{Pacing, Pattern, SendReceiveOrder};
use collectives::{Collective, Division, Performs as _};
use programs::benchmarks::PingPong;
use programs::measure::MOST_PARTNERS;
use quantities::{Bytes, Rank};

use super::cells_by_name::Row;
use super::times::TimesProblem;
use crate::benchmark::Benchmark;
use crate::latency::Survey;
use formats::cells::quoted;

/// Reads what has to run for the time of a row, among so many ranks with so many bytes.
type Trials = fn(&Row<'_>, u32, Bytes) -> Result<Vec<Benchmark>, TimesProblem>;

/// A program whose times a machine can be fitted to.
#[derive(Clone, Copy)]
enum Program {
    /// One with columns of its own.
    Own(Trials),
    /// A collective of the list.
    Listed(Collective),
}

/// Those with columns of their own, by name.
const OWN: [(&str, Trials); 5] = [
    ("ping-pong", |row, ranks, bytes| Ok(vec![Benchmark::PingPong(ping_pong(row, ranks, bytes)?)])),
    ("one-way", |row, ranks, bytes| Ok(vec![Benchmark::OneWay(ping_pong(row, ranks, bytes)?)])),
    ("irregular", irregular),
    ("send-time", |_, ranks, bytes| Ok(vec![Benchmark::SendTime(survey(ranks)?, bytes)])),
    ("receive-time", |_, ranks, bytes| Ok(vec![Benchmark::ReceiveTime(survey(ranks)?, bytes)])),
];

/// The default number of random patterns over which the mean is taken.
const DEFAULT_SEEDS: u32 = 5;
/// The most patterns.
const MOST_SEEDS: u32 = 1_000;
/// The most messages of all patterns of a time together.
const MOST_MESSAGES: u64 = 1 << 22;
/// The most partners of the postal experiments.
const PARTNERS: u32 = 8;
/// How many times they are drawn.
const DRAWS: u32 = 2;

/// The program's name, and what has to run on `ranks` ranks for its time.
pub(super) fn trials(row: &Row<'_>, ranks: u32, bytes: Bytes) -> Result<(String, Vec<Benchmark>), TimesProblem> {
    let own = OWN.map(|(name, trials)| (name, (name, Program::Own(trials))));
    let listed = Collective::ALL.iter().map(|&it| (it.name(), (it.name(), Program::Listed(it))));
    let (name, program) = row.one_of("program", None, own.into_iter().chain(listed))?;
    let trials = match program {
        Program::Own(trials) => trials(row, ranks, bytes)?,
        Program::Listed(collective) => vec![listed_collective(collective, row, ranks, bytes)?],
    };
    Ok((name.to_owned(), trials))
}

/// A collective of the list, with the parameters in the row; by its usual algorithm where none is named.
fn listed_collective(
    collective: Collective,
    row: &Row<'_>,
    ranks: u32,
    bytes: Bytes,
) -> Result<Benchmark, TimesProblem> {
    let all = collective.summaries();
    // An algorithm that has parameters has no usual one without them.
    let has_parameters = all.iter().any(|entry| !entry.parameters.is_empty());
    let usual = (!has_parameters).then(|| collective.usual(&Parameters::of(ranks), bytes));
    let usual = usual.and_then(|name| all.iter().find(|entry| entry.name == name));
    let entry = row.one_of("algorithm", usual, all.iter().map(|entry| (entry.name, entry)))?;
    let mut parameters = Parameters::of(ranks);
    for &parameter in entry.parameters {
        let Some(cell) = row.optional(parameter.name()) else { continue };
        match parameter {
            Parameter::Alpha => parameters.alpha = Some(alpha(cell)?),
            Parameter::Lambda => parameters.lambda = Some(lambda(cell)?),
            Parameter::T0 => parameters.t0 = Some(row.quantity("t0")?),
            Parameter::Segment => parameters.segment = Some(segment(row)?),
            Parameter::Reshuffle => parameters.reshuffle = Some(row.quantity("reshuffle")?),
            Parameter::Order => {
                let all = SendReceiveOrder::all().map(|order| (order.name(), order));
                parameters.order = Some(row.one_of("order", None, all)?);
            }
        }
    }
    let unknown = || TimesProblem::cell("algorithm", entry.name, collective.algorithms().join(", "));
    let made = collective.algorithm(entry.name, &mut parameters).ok_or_else(unknown)?;
    let algorithm = made
        .map_err(|MissingParameter { parameter, chosen }| missing_parameter(parameter, chosen.unwrap_or(entry.name)))?;
    algorithm.check(ranks).map_err(TimesProblem::Program)?;
    let idle = entry.parameters.iter().find_map(|&parameter| {
        let cell = row.optional(parameter.name()).filter(|_| !parameters.has_used(parameter))?;
        Some(TimesProblem::idle(parameter.name(), cell, collective.name()))
    });
    if let Some(idle) = idle {
        return Err(idle);
    }
    // By hardware all are reached at once, and blocks by rank are where their number says: no time depends on an order.
    let has_order = collective.shape().blocks == Division::Whole && !algorithm.needs().multicast();
    if has_order && row.one_of("order", Some(false), [("cyclic", false), ("permuted", true)])? {
        let seed = row.value("seed", 1, "a whole number")?;
        let group = Group::permuted(Rank(0), ranks, seed).map_err(TimesProblem::Program)?;
        return Ok(Benchmark::ListedInOrder(algorithm, group, bytes));
    }
    Ok(Benchmark::Listed(algorithm, bytes))
}

/// The name of the program in a report.
pub(super) fn describe(row: &Row<'_>, name: &str) -> String {
    let algorithm = row.optional("algorithm").map(|algorithm| format!(" {algorithm}"));
    let density = row.optional("density").map(|density| format!(" {density}%"));
    format!("{name}{}{}", algorithm.unwrap_or_default(), density.unwrap_or_default())
}

fn ping_pong(row: &Row<'_>, ranks: u32, bytes: Bytes) -> Result<PingPong, TimesProblem> {
    let first = row.count("from", Some(0), 0..=ranks - 1)?;
    let second = row.count("to", Some(ranks - 1), 0..=ranks - 1)?;
    if first == second {
        return Err(TimesProblem::cell("to", second, "another rank than the first"));
    }
    Ok(PingPong { first: Rank(first), second: Rank(second), bytes, rounds: 1 })
}

/// A schedule for each of several random patterns.
fn irregular(row: &Row<'_>, ranks: u32, bytes: Bytes) -> Result<Vec<Benchmark>, TimesProblem> {
    let algorithm = row.one_of("algorithm", None, Irregular::all().map(|it| (it.name(), it)))?;
    let pacing = row.one_of("pacing", Some(Pacing::FreeRunning), Pacing::all().map(|it| (it.name(), it)))?;
    let seeds = row.count("seeds", Some(DEFAULT_SEEDS), 1..=MOST_SEEDS)?;
    let seed: u64 = row.value("seed", 1, "a whole number")?;
    let millionths = density(row)?;
    let messages = u64::from(ranks) * u64::from(ranks - 1) / 100 * millionths / 10_000 * u64::from(seeds);
    if messages > MOST_MESSAGES {
        let found = format!("{seeds} patterns with {messages} messages together");
        return Err(TimesProblem::cell("seeds", found, format!("{MOST_MESSAGES} messages")));
    }
    let benchmark = |number: u32| {
        let pattern = Pattern::random(ranks, millionths, bytes, seed.wrapping_add(u64::from(number)));
        let pattern = pattern.map_err(|error| TimesProblem::Program(endpoint::Error::Unfit(error.to_string())))?;
        Ok(Benchmark::Scheduled(Arc::new(algorithm.schedule(&pattern)), pacing, algorithm))
    };
    (0..seeds).map(benchmark).collect()
}

/// In millionths of the messages of a complete exchange.
fn density(row: &Row<'_>) -> Result<u64, TimesProblem> {
    let allowed = "0 to 100, in percent of the messages of an all-to-all";
    let cell = row.optional("density").ok_or_else(|| TimesProblem::cell("density", "nothing", allowed))?;
    match cell.trim_end_matches('%').trim_end().parse::<f64>() {
        Ok(percent) if (0.0..=100.0).contains(&percent) => Ok((percent * 1e4).round() as u64),
        _ => Err(TimesProblem::cell("density", quoted(cell), allowed)),
    }
}

/// The error that a row lacks a parameter that an algorithm needs.
fn missing_parameter(parameter: Parameter, algorithm: &str) -> TimesProblem {
    let allowed = match parameter {
        Parameter::Alpha => "an alpha, or a lambda in its column".to_string(),
        Parameter::Lambda => format!("a latency such as `1.8` or `9/5`, which {algorithm} needs"),
        Parameter::T0 | Parameter::Segment | Parameter::Reshuffle | Parameter::Order => {
            format!("one, which {algorithm} needs")
        }
    };
    TimesProblem::cell(parameter.name(), "nothing", allowed)
}

fn alpha(cell: &str) -> Result<Alpha, TimesProblem> {
    cell.parse().map_err(|_| TimesProblem::cell("alpha", quoted(cell), "a number of at least 0.5 and under 1"))
}

fn lambda(cell: &str) -> Result<Lambda, TimesProblem> {
    cell.parse().map_err(|error: LambdaError| TimesProblem::cell("lambda", quoted(cell), error))
}

fn segment(row: &Row<'_>) -> Result<Bytes, TimesProblem> {
    match row.quantity::<Bytes>("segment")? {
        Bytes(0) => Err(TimesProblem::cell("segment", "0 B", "1 B or more")),
        segment => Ok(segment),
    }
}

fn survey(ranks: u32) -> Result<Survey, TimesProblem> {
    if ranks < 3 {
        return Err(TimesProblem::cell("ranks", ranks, "3 or more: it is measured with 1 and 2 partners at least"));
    }
    let partners = (ranks - 1).min(PARTNERS).min(MOST_PARTNERS);
    Ok(Survey { ranks, source: Rank(0), partners, draws: DRAWS, seed: 1 })
}
