//! A trace as a program.

use std::cell::Cell;
use std::fmt;
use std::ops::Deref;
use std::str::FromStr;

use endpoint::{Endpoint, Error, Needs, Program, Result};
use quantities::{Duration, Rank};

use super::rank_replay::RankReplay;
use super::{Algorithms, RankCalls, Trace, TraceError};

/// A trace to be replayed.
///
/// ```text
///     for each call of the rank:
///         compute for as long as it did before the call, times the scale
///         do what the call says; if it begins something, do not wait
///         if it waits for requests, wait until each of them is over
/// ```
///
/// A blocking send is over when the world says so: where it does not wait for its receiver, that is when the message is
/// set up. Operations begun go on while the rank computes, including a collective whose steps follow each other: as
/// with a library that has a progress thread.
pub struct Replay<T> {
    trace: T,
    algorithms: Algorithms,
    scale: ComputeScale,
    /// How many calls each rank has reached.
    reached: Vec<Cell<usize>>,
}

impl<T: Deref<Target = Trace>> Replay<T> {
    /// Replays `trace` with `algorithms` for its collectives; computing takes `scale` times as long as it took.
    pub fn new(trace: T, algorithms: Algorithms, scale: ComputeScale) -> Replay<T> {
        let reached = vec![Cell::new(0); trace.size() as usize];
        Replay { trace, algorithms, scale, reached }
    }
}

impl<T: Deref<Target = Trace>> Program for Replay<T> {
    const NEEDS: Needs = Needs::OVERLAP.and(Needs::ANY_SOURCE);
    /// How long this rank computed.
    type Output = Duration;

    async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<Duration> {
        let rank = endpoint.rank().0 as usize;
        let (Some(of_rank), Some(reached)) = (self.trace.ranks.get(rank), self.reached.get(rank)) else {
            let reason = format!("the trace is of {} ranks, not {}", self.trace.size(), endpoint.size());
            return Err(Error::Unfit(reason));
        };
        let mut replay = RankReplay::new(endpoint, &self.trace, &self.algorithms);
        let mut computed = Duration::ZERO;
        for (place, (work, call)) in of_rank.calls.iter().enumerate() {
            reached.set(place);
            let work = self.scale.of(*work);
            if !work.is_zero() {
                computed += work;
                replay.compute(work).await;
            }
            replay.call(call).await.map_err(|error| placed(error, of_rank, place))?;
        }
        Ok(computed)
    }

    /// Names the call that the rank has reached.
    fn name_of(&self, rank: Rank) -> String {
        let place = self.reached.get(rank.0 as usize).map(Cell::get).unwrap_or_default();
        let call = self.trace.ranks.get(rank.0 as usize).and_then(|of_rank| of_rank.calls.get(place));
        match call {
            Some((_, call)) => format!("rank {rank} (call {}, {})", place + 1, call.name()),
            None => format!("rank {rank}"),
        }
    }
}

/// An error of a call, which says where it is if that is what has to be changed.
fn placed(error: Error, of_rank: &RankCalls, place: usize) -> Error {
    match (error, of_rank.calls.get(place)) {
        (Error::Mismatch(problem), Some((_, call))) => {
            Error::Mismatch(TraceError::of_call(&of_rank.file, place + 1, call.name(), problem).to_string())
        }
        (error, _) => error,
    }
}

/// How long computing takes in a replay, as a multiple of how long it took.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ComputeScale(f64);

/// Why a value is no [`ComputeScale`].
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("a scale of `{0}`: allowed is a number from 0 to 1000000")]
pub struct ComputeScaleError(String);

impl ComputeScale {
    /// As long as it took.
    pub const SAME: ComputeScale = ComputeScale(1.0);
    /// The largest scale.
    const MOST: f64 = 1e6;

    /// A scale of `value`.
    ///
    /// # Errors
    /// If it is not a number from 0 to a million.
    pub fn new(value: f64) -> std::result::Result<ComputeScale, ComputeScaleError> {
        if (0.0..=ComputeScale::MOST).contains(&value) {
            Ok(ComputeScale(value))
        } else {
            Err(ComputeScaleError(value.to_string()))
        }
    }

    /// As a number.
    pub const fn as_f64(self) -> f64 {
        self.0
    }

    fn of(self, work: Duration) -> Duration {
        if self == ComputeScale::SAME {
            return work;
        }
        // To the picosecond up to two hours, and to a part in 2^53 from there on.
        Duration::from_picoseconds((work.picoseconds() as f64 * self.0).round() as u64)
    }
}

impl Default for ComputeScale {
    fn default() -> ComputeScale {
        ComputeScale::SAME
    }
}

impl fmt::Display for ComputeScale {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, out)
    }
}

impl FromStr for ComputeScale {
    type Err = ComputeScaleError;

    fn from_str(text: &str) -> std::result::Result<ComputeScale, ComputeScaleError> {
        let value: f64 = text.trim().parse().map_err(|_| ComputeScaleError(text.to_owned()))?;
        ComputeScale::new(value).map_err(|_| ComputeScaleError(text.to_owned()))
    }
}

quantities::written_as_text!(ComputeScale, "F", "0.5");
