//! Checks the planner's picks against the best of all candidates, all of which are run.

use std::fmt;
use std::sync::atomic::Ordering;
use std::time::{Duration as WallTime, Instant};

use collectives::postal::Lambda;
use collectives::schedule::{MOST_RANKS, Pattern, PatternError, Transfer};
use collectives::{Collective, Division};
use endpoint::{Error, Result};
use machines::model::Machine;
use quantities::{Bytes, Duration};
use virtual_worlds::flit::traffic::Stream;

use super::choice::{Effort, Plan, Source, plan};
use super::question::Question;
use crate::benchmark::Site;
use experiment::postal_clock::{exact_step, postal_machine};

/// A question about a machine.
#[derive(Clone, Debug)]
pub struct Case {
    /// The machine.
    pub machine: Machine,
    /// lambda, if the machine is that of the postal model.
    pub lambda: Option<Lambda>,
    /// The question.
    pub question: Question,
}

/// The result of a case.
#[derive(Clone, Debug, PartialEq)]
pub struct CaseResult {
    /// The planner's pick.
    pub pick: String,
    /// Its time when run.
    pub time: Duration,
    /// The fastest candidate of all.
    pub best: String,
    /// Its time.
    pub least: Duration,
    /// The lower bound.
    pub bound: Duration,
    /// How many candidates there are.
    pub candidates: usize,
    /// How many of them the planner ran.
    pub simulated: usize,
    /// How long the plan took.
    pub planned_in: WallTime,
}

/// The most ranks of a case.
const RANKS: u32 = 64;
/// About the most packets that a candidate may send in a case.
const PACKETS: u64 = 20_000;
/// About the most flits.
const FLITS: u64 = 400_000;
/// The largest message. [B]
const LARGEST: u64 = 64 << 10;
/// One case in this many is about the postal model, unless machines are named.
const POSTAL: u32 = 6;
/// The largest lambda in these, which has two digits.
const LARGEST_LAMBDA: u32 = 20;

/// The machines of the cases.
#[derive(Clone, Debug)]
pub struct Places {
    /// The machines.
    pub machines: Vec<Machine>,
    /// Whether some are about the postal model.
    pub postal: bool,
}

/// What a case is about.
#[derive(Clone, Copy, Debug)]
enum Kind {
    Listed(Collective),
    Irregular,
}

impl Case {
    /// Case `number` of those determined by `seed`. Messages are as long as possible for all candidates to run in a
    /// moment.
    ///
    /// # Errors
    /// If there is no machine.
    pub fn drawn(seed: u64, number: u64, places: &Places) -> Result<Case> {
        let mut stream = Stream::new(seed, number);
        let (machine, lambda) = place(&mut stream, places)?;
        let ranks = 2 + stream.below(machine.nodes.min(RANKS) - 1);
        let kinds = Collective::ALL.iter().map(|&collective| Kind::Listed(collective));
        let kinds: Vec<Kind> = kinds.chain([Kind::Irregular]).collect();
        let kind = kinds[stream.below(kinds.len() as u32) as usize];
        let density = 5 + stream.below(96);
        // About how many messages of the drawn size go through the network.
        let messages = match kind {
            Kind::Listed(collective) => match collective.shape().blocks {
                Division::Nothing | Division::Whole => u64::from(ranks) * 8,
                Division::PerRank | Division::PerPair => u64::from(ranks) * u64::from(ranks) * 4,
            },
            Kind::Irregular => (u64::from(ranks) * u64::from(ranks) * u64::from(density) / 100).max(1),
        };
        let packets = machine.model().payload().map(|payload| PACKETS.saturating_mul(payload.0));
        let flits = machine.network().map(|network| FLITS.saturating_mul(network.packet.flit.0));
        let most = packets.into_iter().chain(flits).min().map_or(LARGEST, |all| all / messages);
        let bytes = size(&mut stream, most.clamp(1, LARGEST));
        let question = match kind {
            Kind::Listed(collective) => Question::Listed { collective, ranks, bytes },
            Kind::Irregular => Question::Irregular(pattern(&mut stream, ranks, density, bytes).map_err(unfit)?),
        };
        Ok(Case { machine, lambda, question })
    }

    /// Plans the case in the usual way, then runs what the plan has not run; none if interrupted before.
    ///
    /// # Errors
    /// If a candidate can't be run.
    pub fn check(&self, effort: &Effort<'_>) -> Result<Option<CaseResult>> {
        let Effort { interrupted, .. } = *effort;
        let begun = wall_clock();
        let site = Site::all(&self.machine, self.question.ranks());
        let Plan { predictions, bound, .. } = plan(&self.question, &site, effort)?;
        let planned_in = begun.elapsed();
        let mut all = Vec::new();
        for prediction in &predictions {
            if interrupted.load(Ordering::Relaxed) {
                return Ok(None);
            }
            let time = match prediction.source {
                Source::Simulated => prediction.time,
                Source::Stopped | Source::Extrapolated(_) | Source::Estimated => prediction.candidate.time(&site)?,
            };
            all.push((time, &prediction.candidate.name));
        }
        let nothing = || Error::Unfit("there is no candidate".to_string());
        let (time, pick) = all.first().copied().ok_or_else(nothing)?;
        let (least, best) = all.iter().min_by_key(|(time, _)| *time).copied().ok_or_else(nothing)?;
        Ok(Some(CaseResult {
            pick: pick.clone(),
            time,
            best: best.clone(),
            least,
            bound: bound.time,
            candidates: all.len(),
            simulated: predictions.iter().filter(|it| it.source == Source::Simulated).count(),
            planned_in,
        }))
    }
}

#[expect(clippy::disallowed_methods, reason = "a plan reports how long it took; no pick follows from it")]
fn wall_clock() -> Instant {
    Instant::now()
}

/// The machine of a case.
fn place(stream: &mut Stream, places: &Places) -> Result<(Machine, Option<Lambda>)> {
    if places.postal && stream.below(POSTAL) == 0 {
        let hundredths = 100 + stream.below(100 * (LARGEST_LAMBDA - 1) + 1);
        let unfit = |error: &dyn fmt::Display| Error::Unfit(error.to_string());
        let lambda = Lambda::new(u64::from(hundredths), 100).map_err(|error| unfit(&error))?;
        let machine = postal_machine(lambda, exact_step(lambda)).map_err(|error| unfit(&error))?;
        return Ok((machine, Some(lambda)));
    }
    let Places { machines, .. } = places;
    let number = stream.below(machines.len() as u32) as usize;
    let none = || Error::Unfit("there is no machine to ask about".to_string());
    Ok((machines.get(number).ok_or_else(none)?.clone(), None))
}

impl CaseResult {
    /// How much longer the pick takes than the best, relative to the best.
    pub fn loss(&self) -> f64 {
        self.time.picoseconds() as f64 / self.least.picoseconds().max(1) as f64 - 1.0
    }
}

impl fmt::Display for Case {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (ranks, bytes) = (self.question.ranks(), self.question.bytes());
        let name = self.question.name();
        match &self.question {
            Question::Irregular(pattern) => {
                let percent = 100.0 * pattern.density();
                write!(out, "{name} of {percent:.0}%, {bytes} on average, among {ranks} of {}", self.machine.name)
            }
            _ => write!(out, "{name} of {bytes} among {ranks} of {}", self.machine.name),
        }
    }
}

/// A size up to `most`, all powers of two being about equally likely; sometimes zero.
fn size(stream: &mut Stream, most: u64) -> Bytes {
    if stream.below(12) == 0 {
        return Bytes(0);
    }
    let top = 1_u64 << stream.below(most.ilog2() + 1);
    Bytes((top + u64::from(stream.below(top.min(1 << 30) as u32))).min(most))
}

/// A random pattern, half of the time with messages of one size, otherwise of up to four times that size.
fn pattern(stream: &mut Stream, ranks: u32, density: u32, bytes: Bytes) -> std::result::Result<Pattern, PatternError> {
    let pattern = Pattern::random(ranks.min(MOST_RANKS), u64::from(density) * 10_000, bytes, stream.draw())?;
    if stream.below(2) == 0 {
        return Ok(pattern);
    }
    let most = (4 * bytes.0).clamp(1, LARGEST) as u32;
    let of_any_size = |message: &Transfer| Transfer { bytes: Bytes(u64::from(stream.below(most))), ..*message };
    let messages = pattern.messages().iter().map(of_any_size).collect();
    Pattern::of_messages(ranks, messages)
}

fn unfit(error: PatternError) -> Error {
    Error::Unfit(error.to_string())
}
