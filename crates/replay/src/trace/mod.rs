//! Traces as programs: for each rank, the MPI calls that it made and how long it computed between them.
//!
//! A trace comes from a program that was run with MPI: `maquette trace` records one, and traces of other tools are
//! read, too. All of them become a [`Trace`]; [`Replay`] is the program that repeats it in any world: messages and
//! collectives take as long as they take there, and computing takes as long as it took, or a fraction of that.
//!
//! Decisions that depended on which message or request came first are recorded: a receive from any source takes the
//! message that it received then, and a wait for any of several requests waits for the one that completed. So a replay
//! makes the same calls as the program did.

mod algorithms;
mod both_ends;
mod collective;
mod communicators;
pub mod dumpi;
mod format;
pub mod liballprof;
mod rank_replay;
mod replay;
mod resolve;
mod rounds;
pub mod simgrid;
mod text;

pub use algorithms::Algorithms;
pub use format::{FORMATS, FileRanks, TraceFormat, TraceReader, lines};
pub use replay::{ComputeScale, ComputeScaleError, Replay};
pub use simgrid::{OperationRate, OperationRateError};

use std::io::BufRead;

use endpoint::Tag;
use quantities::{Bytes, Duration};
use trace_format::{Call, Calls, CollectiveKind, Damage};

pub use trace_format::file_name;

use collectives::Group;

/// What one rank did.
#[derive(Clone, Debug)]
pub struct RankCalls {
    /// The file that it was read from, as given.
    pub file: String,
    /// Its calls, each with the time that it computed before the call.
    pub calls: Vec<(Duration, Call)>,
}

/// What is wrong with a trace, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}: {problem}")]
pub struct TraceError {
    /// The file's name as given.
    pub file: String,
    /// Where in it, what was found there, and what is allowed.
    pub problem: String,
    /// What to do about it, if there is more to say.
    pub hint: Option<String>,
}

impl TraceError {
    /// An error in a file as a whole, or one that itself says where it is.
    pub fn of_file(file: &str, problem: impl Into<String>) -> TraceError {
        TraceError { file: file.to_owned(), problem: problem.into(), hint: None }
    }

    /// An error in a call, given by its number from 1 and its name.
    fn of_call(file: &str, number: usize, name: &str, problem: impl std::fmt::Display) -> TraceError {
        TraceError::of_file(file, format!("call {number}, {name}: {problem}"))
    }

    /// The same, with a hint on what to do about it.
    pub fn with_hint(self, hint: impl Into<String>) -> TraceError {
        TraceError { hint: Some(hint.into()), ..self }
    }
}

/// Why the file of a rank was not read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The file cannot be read.
    #[error(transparent)]
    Unreadable(#[from] std::io::Error),
    /// The file is not a trace, or is a damaged one.
    #[error(transparent)]
    Wrong(#[from] TraceError),
}

impl RankCalls {
    /// Reads a file that `maquette trace` has written; returns its calls, its rank, and the number of ranks it states.
    ///
    /// # Errors
    /// If the file can't be read, or is damaged.
    pub fn read(file: &str, content: impl BufRead) -> Result<(RankCalls, u32, u32), ReadError> {
        let wrong = |damage| match damage {
            Damage::Unreadable(cause) => ReadError::Unreadable(cause),
            damaged @ Damage::At { .. } => TraceError::of_file(file, damaged.to_string()).into(),
        };
        let mut read = Calls::new(content).map_err(wrong)?;
        let header = read.header();
        let mut calls = Vec::new();
        while let Some((nanoseconds, call)) = read.next_call().map_err(wrong)? {
            calls.push((Duration::from_picoseconds(nanoseconds.saturating_mul(1000)), call));
        }
        Ok((RankCalls { file: file.to_owned(), calls }, header.rank, header.size))
    }

    /// How long it ran, if its trace says so.
    fn elapsed(&self) -> Option<Duration> {
        match self.calls.last() {
            Some((_, Call::Finalize(nanoseconds))) => {
                Some(Duration::from_picoseconds(nanoseconds.saturating_mul(1000))).filter(|elapsed| !elapsed.is_zero())
            }
            _ => None,
        }
    }
}

/// What all ranks of a program did, checked: every call is valid, every request is waited for, and the ranks of a
/// communicator agree on its collectives.
///
/// Communicators are numbered as in the list of their groups, and tags such that no two communicators share one.
#[derive(Debug)]
pub struct Trace {
    ranks: Vec<RankCalls>,
    communicators: Vec<Group>,
    /// The tags of its messages, as they were recorded, in order.
    tags: Vec<u32>,
}

impl Trace {
    /// Makes a trace of the calls of `ranks`, in order of rank.
    ///
    /// # Errors
    /// What is inconsistent.
    pub fn new(ranks: Vec<RankCalls>) -> Result<Trace, TraceError> {
        resolve::resolve(ranks)
    }

    /// The number of ranks.
    pub fn size(&self) -> u32 {
        self.ranks.len() as u32
    }

    /// The number of calls.
    pub fn calls(&self) -> usize {
        self.ranks.iter().map(|rank| rank.calls.len()).sum()
    }

    /// The number of point-to-point messages, without those of collectives.
    pub fn messages(&self) -> u64 {
        self.sent().count() as u64
    }

    /// The number of collectives, each counted once for all its ranks.
    pub fn collectives(&self) -> u64 {
        let of_first = |(rank, calls): (u32, &RankCalls)| {
            calls.calls.iter().filter(|(_, call)| self.begins_for_all(rank, call)).count() as u64
        };
        (0..).zip(&self.ranks).map(of_first).sum()
    }

    fn begins_for_all(&self, rank: u32, call: &Call) -> bool {
        match call {
            Call::Collective(it) | Call::BeginCollective(_, it) => {
                self.communicators[it.communicator as usize].source().0 == rank
            }
            _ => false,
        }
    }

    /// The largest message of any call; of a collective, the part of one rank.
    pub fn largest(&self) -> Bytes {
        let of_calls = self.ranks.iter().flat_map(|rank| &rank.calls).map(|(_, call)| match call {
            Call::Collective(it) | Call::BeginCollective(_, it) => {
                let whole = match it.kind {
                    // The root holds all of it at once.
                    CollectiveKind::Gather | CollectiveKind::Scatter | CollectiveKind::AllGather => {
                        u64::from(self.communicators[it.communicator as usize].len())
                    }
                    _ => 1,
                };
                it.counts.iter().copied().max().unwrap_or(0).max(it.bytes.saturating_mul(whole))
            }
            Call::Send(message) | Call::BeginSend(_, message) => message.bytes,
            Call::SendReceive(transfer) => transfer.send.bytes,
            _ => 0,
        });
        Bytes(of_calls.max().unwrap_or(0))
    }

    /// How long the program ran when it was recorded: as long as its slowest rank; nothing if that was not recorded.
    pub fn elapsed(&self) -> Option<Duration> {
        self.ranks.iter().filter_map(RankCalls::elapsed).max()
    }

    /// The tag with which a message was recorded that has `tag` now.
    fn tag_of(&self, tag: Tag) -> Tag {
        let place = (tag.0 as usize).checked_rem(self.tags.len());
        place.map_or(tag, |place| Tag(self.tags[place]))
    }

    /// Messages from one rank to another, or to itself.
    fn sent(&self) -> impl Iterator<Item = &trace_format::Message> {
        self.ranks.iter().flat_map(|rank| &rank.calls).filter_map(|(_, call)| match call {
            Call::Send(message) | Call::BeginSend(_, message) => Some(message),
            Call::SendReceive(transfer) => Some(&transfer.send),
            _ => None,
        })
    }
}
