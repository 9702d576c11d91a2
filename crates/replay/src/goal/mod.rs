//! Programs as GOAL schedules: for each rank, a list of operations and which waits for which.
//!
//! GOAL is the text format of LogGOPSim (Hoefler, Siebert and Lumsdaine, "Group Operation Assembly Language - a
//! flexible way to express collective communication", 2009), in which traces of many applications are available:
//!
//! ```text
//! num_ranks 2
//! rank 0 {
//! l1: calc 500 cpu 0                      // 500 ns
//! l2: send 64b to 1 tag 7 cpu 0 nic 0
//! l2 requires l1                          // when l1 has finished
//! }
//! rank 1 {
//! l1: recv 64b from -1 tag -1             // from anyone, with any tag
//! l2: calc 100
//! l2 irequires l1                         // when l1 has started
//! }
//! ```
//!
//! [`Schedule::read`] reads such a text, and LogGOPSim's binary form; [`RunGoal`] plays it in any world whose ranks can
//! begin requests ([`endpoint::Request`]).

mod binary;
mod cycle;
mod error;
mod labels;
mod lexer;
mod line;
mod parser;
mod player;
mod report;
mod schedule;

pub use error::{BinaryError, GoalError, ReadError};
pub use player::{GoalAnswer, Player, RunGoal};
pub use report::Unreceived;
pub use schedule::{RankOperations, Schedule};

use std::fmt;

use quantities::{Bytes, Duration, Rank};

/// The most ranks that a schedule can have.
pub const MOST_RANKS: u32 = 1 << 24;

/// The number of an operation among those of its rank, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct OperationId(pub u32);

/// One operation of a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operation {
    /// What it is.
    pub kind: OperationKind,
    /// Which processor of the rank does it.
    pub processor: u8,
    /// Which network interface of the rank it uses.
    pub interface: u8,
    /// Its line in the text, from 1; in binary form, which has no lines, its number among those of its rank, from 1.
    pub line: u32,
}

/// The kind of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OperationKind {
    /// Computes for this long.
    Calculate(Duration),
    /// Sends a message.
    Send {
        /// The receiver.
        to: Rank,
        /// Its size. [B]
        size: Bytes,
        /// The tag by which a receive matches it.
        tag: u32,
    },
    /// Receives a message.
    Receive {
        /// The sender; anyone if none is named.
        from: Option<Rank>,
        /// The most that it has room for. [B]
        size: Bytes,
        /// The tag that it must have; any if none is given.
        tag: Option<u32>,
    },
}

impl OperationKind {
    /// The rank that a message goes to or must come from.
    pub(crate) fn partner(&self) -> Option<Rank> {
        match *self {
            OperationKind::Send { to, .. } => Some(to),
            OperationKind::Receive { from, .. } => from,
            OperationKind::Calculate(_) => None,
        }
    }
}

/// The operation as an item of GOAL text.
impl fmt::Display for Operation {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            OperationKind::Calculate(work) => {
                return write!(out, "calc {} cpu {}", work.picoseconds() / 1000, self.processor);
            }
            OperationKind::Send { to, size, tag } => write!(out, "send {}b to {to} tag {tag}", size.0)?,
            OperationKind::Receive { from, size, tag } => {
                let or_any = |number: Option<u32>| number.map_or("-1".to_owned(), |number| number.to_string());
                write!(out, "recv {}b from {} tag {}", size.0, or_any(from.map(|rank| rank.0)), or_any(tag))?;
            }
        }
        write!(out, " cpu {} nic {}", self.processor, self.interface)
    }
}

/// A requirement: one operation of a rank waits for another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Requirement {
    /// The operation that waits.
    pub operation: OperationId,
    /// The operation that it waits for.
    pub on: OperationId,
    /// Whether it is enough that the other has started.
    pub only_started: bool,
}
