//! The algorithms that come into question.

use endpoint::Result;
use machines::model::Machine;
use programs::Group;
use programs::broadcast::{self, Pipe};
use programs::combine;
use programs::exchange::{Complete, Irregular};
use programs::schedule::{Pacing, Pattern, Schedule};
use quantities::{Bytes, Duration, Rank};

use super::estimate::Model;
use super::{as_f64, packet_hops};
use crate::trial::Trial;

/// What is to be done as quickly as can be.
#[derive(Clone, Debug)]
pub enum Question {
    /// One rank has a message, and all shall have it.
    Broadcast {
        /// How many ranks.
        ranks: u32,
        /// Size of the message. [B]
        bytes: Bytes,
    },
    /// Every rank has data, and all shall have their sum or the like.
    Combine {
        /// How many ranks.
        ranks: u32,
        /// What a rank has. [B]
        bytes: Bytes,
    },
    /// Every rank has a message for every other.
    Complete {
        /// How many ranks.
        ranks: u32,
        /// Size of a message. [B]
        bytes: Bytes,
    },
    /// Ranks have messages for some others.
    Irregular(Pattern),
}

impl Question {
    /// How many ranks take part.
    pub fn ranks(&self) -> u32 {
        match self {
            Question::Broadcast { ranks, .. } | Question::Combine { ranks, .. } | Question::Complete { ranks, .. } => {
                *ranks
            }
            Question::Irregular(pattern) => pattern.ranks(),
        }
    }

    /// The size of a message, of the mean one where they differ. [B]
    pub fn bytes(&self) -> Bytes {
        match self {
            Question::Broadcast { bytes, .. } | Question::Combine { bytes, .. } | Question::Complete { bytes, .. } => {
                *bytes
            }
            Question::Irregular(pattern) => {
                let all: u64 = pattern.messages().iter().map(|message| message.bytes.0).sum();
                Bytes(all.checked_div(pattern.messages().len() as u64).unwrap_or(0))
            }
        }
    }
}

/// An algorithm that comes into question.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// What it is called, with its pacing where there is a choice.
    pub name: String,
    trial: Trial,
    /// About how many messages it sends.
    messages: f64,
    /// About how many bytes they have together.
    bytes: f64,
}

impl Candidate {
    /// How long it takes on `machine`.
    ///
    /// # Errors
    /// That the machine cannot run it.
    pub fn time(&self, machine: &Machine, ranks: u32) -> Result<Duration> {
        self.trial.time(machine, ranks)
    }

    /// Its schedule, where it is one.
    pub fn schedule(&self) -> Option<(&Schedule, Pacing)> {
        match &self.trial {
            Trial::Scheduled(schedule, pacing) => Some((schedule, *pacing)),
            _ => None,
        }
    }

    /// Whether only a machine with a network for broadcasts can run it.
    pub(super) fn needs_hardware(&self) -> bool {
        matches!(self.trial, Trial::Hardware(_))
    }

    /// About how much work it is to simulate it, in packets times channels.
    pub(super) fn work(&self, machine: &Machine) -> f64 {
        packet_hops(machine, self.messages, self.bytes)
    }
}

/// All that come into question.
///
/// # Errors
/// A number of ranks that no group has.
pub(super) fn all(question: &Question, machine: &Machine, model: &Model) -> Result<Vec<Candidate>> {
    match question {
        Question::Broadcast { ranks, bytes } => broadcasts(*ranks, *bytes, machine, model),
        Question::Combine { ranks, bytes } => Ok(combines(*ranks, *bytes, model)),
        Question::Complete { ranks, bytes } => Ok(complete(*ranks, *bytes)),
        Question::Irregular(pattern) => Ok(schedules(pattern)),
    }
}

/// Segments that are tried for a long message: so many of it.
const SEGMENTS: [u64; 3] = [4, 16, 64];
/// Shorter segments are not worth their messages. [B]
const SHORTEST_SEGMENT: u64 = 64;

fn broadcasts(ranks: u32, bytes: Bytes, machine: &Machine, model: &Model) -> Result<Vec<Candidate>> {
    let n = f64::from(ranks);
    let group = Group::from_source(Rank(0), ranks)?;
    let candidate = |algorithm: broadcast::Algorithm, name: String, parts: f64| Candidate {
        name,
        trial: Trial::Broadcast(algorithm, group.clone(), bytes),
        messages: n * parts,
        bytes: 2.0 * n * as_f64(bytes),
    };
    let mut candidates = Vec::new();
    for algorithm in broadcast::Algorithm::all(model.lambda, ranks, bytes) {
        let parts = if matches!(algorithm, broadcast::Algorithm::ScatterGather) { n } else { 1.0 };
        // Those in segments are tried with several sizes of segment below.
        if !matches!(algorithm, broadcast::Algorithm::Segmented(..)) {
            let name = algorithm.name().to_string();
            candidates.push(candidate(algorithm, name, parts));
        }
    }
    let splitting = programs::postal::Splitting::optimal(model.lambda, u64::from(ranks));
    for parts in SEGMENTS {
        let segment = Bytes(bytes.0.div_ceil(parts));
        if segment.0 < SHORTEST_SEGMENT {
            continue;
        }
        for pipe in [Pipe::Chain, Pipe::Tree(splitting.clone())] {
            let algorithm = broadcast::Algorithm::Segmented(pipe, segment);
            let name = format!("{}, segments of {segment}", algorithm.name());
            candidates.push(candidate(algorithm, name, parts as f64));
        }
    }
    if machine.control_network.is_some() {
        let trial = Trial::Hardware(bytes);
        candidates.push(Candidate { name: "hardware".to_string(), trial, messages: n, bytes: 0.0 });
    }
    Ok(candidates)
}

fn combines(ranks: u32, bytes: Bytes, model: &Model) -> Vec<Candidate> {
    let n = f64::from(ranks);
    let rounds = n.log2().max(1.0) * model.lambda.as_f64();
    let candidate = |algorithm: combine::Algorithm| {
        let (messages, share) = match algorithm {
            combine::Algorithm::Ring => (2.0 * n * n, 2.0 * n),
            combine::Algorithm::ReduceBroadcast(_) => (2.0 * n, 2.0 * n),
            _ => (n * rounds, n * rounds),
        };
        let name = algorithm.name().to_string();
        Candidate { name, trial: Trial::Combine(algorithm, bytes), messages, bytes: share * as_f64(bytes) }
    };
    combine::Algorithm::all(model.lambda, model.send_time, ranks).into_iter().map(candidate).collect()
}

fn complete(ranks: u32, bytes: Bytes) -> Vec<Candidate> {
    let n = f64::from(ranks);
    let candidate = |algorithm: Complete| {
        let (messages, times) = if algorithm.forwards() { (n * n.log2().max(1.0), n / 2.0) } else { (n * n, 1.0) };
        Candidate {
            name: algorithm.name().to_string(),
            trial: Trial::Complete { algorithm, bytes, reshuffle: Duration::ZERO },
            messages,
            bytes: messages * times * as_f64(bytes),
        }
    };
    Complete::all().into_iter().map(candidate).collect()
}

fn schedules(pattern: &Pattern) -> Vec<Candidate> {
    let mut candidates = Vec::new();
    for algorithm in Irregular::all() {
        let schedule = algorithm.schedule(pattern);
        let measures = schedule.measures();
        for pacing in Pacing::all() {
            let barriers = f64::from(pattern.ranks()) * f64::from(pattern.ranks()).log2().max(1.0);
            let more = match pacing {
                Pacing::FreeRunning => 0.0,
                Pacing::ReceiverConfirmed => measures.transfers as f64,
                Pacing::Barrier => measures.steps as f64 * barriers,
            };
            candidates.push(Candidate {
                name: format!("{}, {}", algorithm.name(), pacing.name()),
                trial: Trial::Scheduled(schedule.clone(), pacing),
                messages: measures.transfers as f64 + more,
                bytes: as_f64(measures.bytes),
            });
        }
    }
    candidates
}
