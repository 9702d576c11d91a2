//! The search for the rate at which a network saturates.
//!
//! Between the highest rate known to be stable and the lowest known to be too high, some rates are run in parallel,
//! until the two are close. Which rates are run depends only on the outcomes, and not on the number of threads, so that
//! the same search always finds the same result.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use std::sync::Arc;

use machines::model::FlitNetwork;

use super::run::run;
use super::{LOWEST_RATE, Load, Offer, TrafficOutcome, Unfit, Verdict, Windows};
use crate::flit::network::Engine;

/// The number of rates in the first round, evenly spaced up to 1.
const FIRST_ROUND: u32 = 8;
/// The number of rates in each further round, evenly spaced between the ends of the span.
const ROUND: u32 = 4;
/// The rates that are run to draw the curve, in percent of the highest stable rate.
const CURVE: [u32; 10] = [10, 20, 30, 40, 50, 60, 70, 80, 90, 95];
/// The overload offered to see what the network accepts then, as a multiple of what it carries.
const OVERLOAD: f64 = 2.0;
/// Warm-up and measurement under overload. [periods]
const OVERLOAD_PERIODS: (u64, u64) = (20, 50);

/// The effort spent on a search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Effort {
    /// How close the ends of the span must be, relative to the upper end.
    pub precision: f64,
    /// How many loads are run in parallel.
    pub threads: usize,
}

/// The range of rates in which saturation lies. [flits/node/cycle]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Span {
    /// The highest rate that is stable, if any.
    pub stable: Option<f64>,
    /// The lowest rate that is too high, if any.
    pub saturated: Option<f64>,
}

/// A rate that was run.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// The rate. [flits/node/cycle]
    pub rate: f64,
    /// Its outcome.
    pub outcome: TrafficOutcome,
}

/// The result of a search.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Search {
    /// Every rate that was run, in increasing order.
    pub points: Vec<Point>,
    /// The range of rates in which saturation lies.
    pub span: Span,
    /// The outcome when twice as much is offered as the network carries, or all that its nodes can send.
    pub overload: Option<Point>,
    /// Whether it was interrupted before it was done.
    pub interrupted: bool,
}

/// The progress of a search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Known {
    /// How many loads have been run.
    pub runs: usize,
    /// The range of rates in which saturation lies.
    pub span: Span,
}

/// Searches for the rate at which `network` saturates with loads like `load`, whose own rate does not matter. `report`
/// is called after every run, from any thread; once `stop` is true, no further load is begun and the result so far is
/// returned.
///
/// # Errors
/// The parameter of the load that does not fit the network.
pub fn search<E: Engine>(
    network: &Arc<FlitNetwork>,
    load: &Load,
    windows: &Windows,
    effort: &Effort,
    report: &(dyn Fn(Known) + Sync),
    stop: &AtomicBool,
) -> Result<Search, Unfit> {
    let load = Load { rate: 1.0, ..*load };
    let offer = Offer::new(network, &load)?;
    let runner: Runner<'_> = Runner { network, load, windows, threads: effort.threads.max(1), report, stop };
    let mut search = Search::default();
    let mut rates: Vec<f64> = (1..=FIRST_ROUND).map(|step| f64::from(step) / f64::from(FIRST_ROUND)).collect();
    while !rates.is_empty() && !search.interrupted {
        runner.run::<E>(&rates, &mut search);
        rates = search.next_round(effort.precision);
    }
    if let Some(stable) = search.span.stable {
        let rates = CURVE.map(|percent| stable * f64::from(percent) / 100.0);
        runner.run::<E>(&rates, &mut search);
    }
    if let (Some(saturated), false) = (search.span.saturated, search.interrupted) {
        search.overload = runner.overload::<E>(&offer, (OVERLOAD * saturated).min(1.0));
        search.interrupted = search.overload.is_none();
    }
    Ok(search)
}

impl Search {
    fn add(&mut self, point: Point) {
        let place = self.points.partition_point(|other| other.rate < point.rate);
        self.points.insert(place, point);
        let saturated = |point: &&Point| !matches!(point.outcome.verdict, Verdict::Stable | Verdict::Undecided);
        self.span.saturated = self.points.iter().find(saturated).map(|point| point.rate);
        let below = self.points.iter().take_while(|point| !saturated(point));
        let stable = below.filter(|point| point.outcome.verdict == Verdict::Stable);
        self.span.stable = stable.last().map(|point| point.rate);
    }

    /// The rates between the ends of the span, in increasing order: for none of them was it decided whether it is too
    /// high.
    pub fn undecided(&self) -> impl Iterator<Item = f64> {
        let Span { stable, saturated } = self.span;
        let rates = self.points.iter().map(|point| point.rate);
        rates.filter(move |&rate| stable.is_none_or(|low| rate > low) && saturated.is_none_or(|high| rate < high))
    }

    /// The rates of the next round: none if the span is narrow enough, or if there is no span. Around undecided rates,
    /// both sides are searched.
    fn next_round(&self, precision: f64) -> Vec<f64> {
        let Some(high) = self.span.saturated else { return Vec::new() };
        let low = self.span.stable.unwrap_or(0.0);
        let undecided: Vec<f64> = self.undecided().collect();
        match (undecided.first(), undecided.last()) {
            (Some(&first), Some(&last)) => {
                let mut rates = between(low, first, ROUND / 2, precision);
                rates.extend(between(last, high, ROUND / 2, precision));
                rates
            }
            _ => between(low, high, ROUND, precision),
        }
    }
}

/// `rates` rates evenly spaced between two, if those are not close enough.
fn between(low: f64, high: f64, rates: u32, precision: f64) -> Vec<f64> {
    let step = (high - low) / f64::from(rates + 1);
    if high - low <= precision * high || low + step < LOWEST_RATE {
        return Vec::new();
    }
    (1..=rates).map(|number| low + f64::from(number) * step).collect()
}

/// Runs loads on several threads.
struct Runner<'a> {
    network: &'a Arc<FlitNetwork>,
    load: Load,
    windows: &'a Windows,
    threads: usize,
    report: &'a (dyn Fn(Known) + Sync),
    stop: &'a AtomicBool,
}

impl Runner<'_> {
    /// Runs those of `rates` that have not been run, and adds their outcomes.
    fn run<E: Engine>(&self, rates: &[f64], search: &mut Search) {
        let new = |rate: &&f64| search.points.iter().all(|point| point.rate != **rate);
        let rates: Vec<f64> = rates.iter().filter(new).copied().collect();
        let next = AtomicUsize::new(0);
        let found = Mutex::new(search);
        let worker = || {
            while let Some(&rate) = rates.get(next.fetch_add(1, Ordering::Relaxed)) {
                let outcome = self.one::<E>(rate, self.windows);
                let mut search = found.lock().unwrap_or_else(PoisonError::into_inner);
                match outcome {
                    Some(outcome) => search.add(Point { rate, outcome }),
                    None => search.interrupted = true,
                }
                (self.report)(Known { runs: search.points.len(), span: search.span });
            }
        };
        std::thread::scope(|scope| {
            // This thread works as well. Where the system can't start as many others, there are fewer.
            for _ in 1..self.threads.min(rates.len()) {
                let _ = std::thread::Builder::new().spawn_scoped(scope, worker);
            }
            worker();
        });
    }

    /// Runs one load; returns nothing if it was interrupted.
    fn one<E: Engine>(&self, rate: f64, windows: &Windows) -> Option<TrafficOutcome> {
        if self.stop.load(Ordering::Relaxed) {
            return None;
        }
        let load = Load { rate, ..self.load };
        // That the load fits has been seen before: only the rate is another, between the lowest allowed and 1.
        let outcome = run::<E>(self.network, &load, windows, &mut |_| !self.stop.load(Ordering::Relaxed)).ok()?;
        (outcome.verdict != Verdict::Interrupted).then_some(outcome)
    }

    fn overload<E: Engine>(&self, offer: &Offer, rate: f64) -> Option<Point> {
        let period = super::course::period(self.network, offer);
        let (warm_up, measure) = OVERLOAD_PERIODS;
        let windows = Windows { warm_up: Some(warm_up * period), measure: Some(measure * period), ..*self.windows };
        Some(Point { rate, outcome: self.one::<E>(rate, &windows)? })
    }
}
