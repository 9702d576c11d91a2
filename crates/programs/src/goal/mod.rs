//! Programs as GOAL schedules: for each rank a list of operations, and which waits for which.
//!
//! GOAL is the text format of LogGOPSim (Hoefler, Siebert and Lumsdaine, "Group Operation Assembly Language - a flexible
//! way to express collective communication", 2009), in which traces of many applications are at hand:
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
//! [`Schedule::parse`] reads such a text; a [`GoalRank`] tells a world what one rank can do next.

mod cycle;
mod error;
mod lexer;
mod parser;
mod play;
mod progress;

pub use error::GoalError;
pub use play::Play;
pub use progress::{GoalRank, Ready};

use std::collections::BTreeMap;
use std::fmt;

use quantities::{Bytes, Duration, Rank};

/// The most ranks that a schedule can have.
pub const MOST_RANKS: u32 = 1 << 24;

/// What every rank does, as read from a GOAL text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schedule {
    file: String,
    size: u32,
    blocks: BTreeMap<Rank, Block>,
}

static NOTHING: Block =
    Block { operations: Vec::new(), requirements: Vec::new(), first_dependent: Vec::new(), dependents: Vec::new() };

impl Schedule {
    /// Reads a GOAL text; `file` is what errors call it.
    ///
    /// # Errors
    /// The first thing that is wrong with it, with line and column.
    pub fn parse(file: &str, text: &[u8]) -> Result<Schedule, GoalError> {
        parser::parse(file, text)
    }

    /// What errors call the text that it came from.
    pub fn file(&self) -> &str {
        &self.file
    }

    /// How many ranks it has.
    pub fn size(&self) -> u32 {
        self.size
    }

    /// What `rank` does: nothing, if the text has no block for it.
    pub fn block(&self, rank: Rank) -> &Block {
        self.blocks.get(&rank).unwrap_or(&NOTHING)
    }

    /// The ranks that do something, in order.
    pub fn busy_ranks(&self) -> impl Iterator<Item = (Rank, &Block)> {
        self.blocks.iter().map(|(&rank, block)| (rank, block))
    }
}

/// Writes the schedule as GOAL text, which reads back as the same schedule.
impl fmt::Display for Schedule {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(out, "num_ranks {}", self.size)?;
        for (rank, block) in self.busy_ranks() {
            writeln!(out, "\nrank {rank} {{")?;
            for (number, operation) in block.operations.iter().enumerate() {
                writeln!(out, "l{}: {operation}", number + 1)?;
            }
            for requirement in &block.requirements {
                let verb = if requirement.only_started { "irequires" } else { "requires" };
                writeln!(out, "l{} {verb} l{}", requirement.operation.0 + 1, requirement.on.0 + 1)?;
            }
            writeln!(out, "}}")?;
        }
        Ok(())
    }
}

/// The number of an operation among those of its rank, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct OperationId(pub u32);

/// What one rank does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Block {
    operations: Vec<Operation>,
    requirements: Vec<Requirement>,
    /// Where the dependents of each operation begin in `dependents`, and where the last one's end.
    first_dependent: Vec<u32>,
    /// Indices into `requirements`, those on one operation after the other, each in the order of the text.
    dependents: Vec<u32>,
}

impl Block {
    fn new(operations: Vec<Operation>, requirements: Vec<Requirement>) -> Block {
        let mut first_dependent = vec![0; operations.len() + 1];
        for requirement in &requirements {
            first_dependent[requirement.on.0 as usize + 1] += 1;
        }
        for operation in 0..operations.len() {
            first_dependent[operation + 1] += first_dependent[operation];
        }
        let mut next = first_dependent.clone();
        let mut dependents = vec![0; requirements.len()];
        for (index, requirement) in (0..).zip(&requirements) {
            let place = &mut next[requirement.on.0 as usize];
            dependents[*place as usize] = index;
            *place += 1;
        }
        Block { operations, requirements, first_dependent, dependents }
    }

    /// The operations, in the order of the text.
    pub fn operations(&self) -> &[Operation] {
        &self.operations
    }

    /// One operation.
    pub fn operation(&self, id: OperationId) -> &Operation {
        &self.operations[id.0 as usize]
    }

    /// Which operation waits for which, in the order of the text.
    pub fn requirements(&self) -> &[Requirement] {
        &self.requirements
    }

    /// What waits for `id`, in the order of the text.
    pub fn dependents(&self, id: OperationId) -> impl Iterator<Item = &Requirement> {
        let range = self.first_dependent[id.0 as usize] as usize..self.first_dependent[id.0 as usize + 1] as usize;
        self.dependents[range].iter().map(|&index| &self.requirements[index as usize])
    }
}

/// One thing that a rank does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operation {
    /// What it is.
    pub kind: OperationKind,
    /// Which processor of the rank does it.
    pub processor: u8,
    /// Over which network interface of the rank it goes.
    pub interface: u8,
    /// The line of the text where it stands, from 1.
    pub line: u32,
}

/// What an operation is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OperationKind {
    /// Computes for so long.
    Calculate(Duration),
    /// Sends a message.
    Send {
        /// Who gets it.
        to: Rank,
        /// Its size. [B]
        size: Bytes,
        /// What a receive can know it by.
        tag: u32,
    },
    /// Receives a message.
    Receive {
        /// Who may have sent it; anyone, if nobody is named.
        from: Option<Rank>,
        /// Its size. It is not compared with the size of the message that comes. [B]
        size: Bytes,
        /// Which tag it must have; any, if none is given.
        tag: Option<u32>,
    },
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

/// That one operation of a rank waits for another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Requirement {
    /// The one that waits.
    pub operation: OperationId,
    /// The one that it waits for.
    pub on: OperationId,
    /// Whether it is enough that the other one has started.
    pub only_started: bool,
    /// The line of the text where it stands, from 1.
    pub line: u32,
}
