//! The in-memory form of a schedule: 24 bytes per operation and 4 per requirement, those of all ranks one after the
//! other.

use std::fmt;
use std::io::{self, Read};
use std::ops::Range;

use quantities::{Bytes, Duration, Rank};

use super::error::{BinaryError, GoalError, ReadError};
use super::{Operation, OperationId, OperationKind, Requirement, binary, parser};

/// The most operations of a rank, and of a schedule.
pub(super) const MOST_OPERATIONS: usize = (1 << 31) - 1;
/// The longest calculation. [ns]
pub(super) const MOST_NANOSECONDS: u64 = Duration::LONGEST.picoseconds() / 1_000;

/// The operations of every rank, as read from a GOAL text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schedule {
    file: String,
    /// Whether it was read from a text, which has lines.
    has_lines: bool,
    size: u32,
    /// The ranks that have operations, in order, each with its first operation and the one after its last.
    ranks: Vec<(Rank, u32, u32)>,
    operations: Vec<Packed>,
    /// Whether any operation requires only that another one has started.
    has_start_requirements: bool,
    /// Where the dependents of each operation begin in `dependents`, and where those of the last one end.
    first_dependent: Vec<u32>,
    /// The operations that wait for each operation, in the order of the text.
    dependents: Vec<Dependent>,
}

impl Schedule {
    /// Reads a GOAL text; `file` is its name in errors.
    ///
    /// # Errors
    /// The first thing that is wrong with it, with line and column.
    pub fn parse(file: &str, text: &[u8]) -> Result<Schedule, GoalError> {
        match parser::parse(file, text) {
            Ok(schedule) => Ok(schedule),
            Err(ReadError::Wrong(error)) => Err(error),
            Err(error) => unreachable!("bytes in memory can be read, as a text: {error}"),
        }
    }

    /// Reads a schedule piece by piece, so that its file need not fit into memory: a GOAL text, or the binary form that
    /// LogGOPSim's `txt2bin` makes of one, which is recognised by its first bytes. `file` is its name in errors.
    ///
    /// # Errors
    /// The first thing that is wrong with it, with line and column, or with the byte; an error of reading.
    pub fn read(file: &str, mut content: impl Read) -> Result<Schedule, ReadError> {
        let mut first = Vec::new();
        (&mut content).take(binary::MAGIC.len() as u64).read_to_end(&mut first)?;
        if first == binary::MAGIC {
            return binary::read(file, content);
        }
        if first == binary::USED_UP {
            let problem = "it was used up by a run of LogGOPSim with --save-mem: make it again with txt2bin".to_owned();
            return Err(BinaryError { file: file.to_owned(), at: 0, problem }.into());
        }
        parser::parse(file, io::Cursor::new(first).chain(content))
    }

    /// The name in errors of the text that it came from.
    pub fn file(&self) -> &str {
        &self.file
    }

    /// Whether [`Operation::line`] is a line; otherwise it is the operation's number.
    pub fn has_lines(&self) -> bool {
        self.has_lines
    }

    /// Where an operation is, in words.
    pub(super) fn place(&self, operation: &Operation) -> String {
        format!("{} {}", if self.has_lines { "line" } else { "operation" }, operation.line)
    }

    /// How many ranks it has.
    pub fn size(&self) -> u32 {
        self.size
    }

    /// The operations of `rank`: none if the text has no block for it.
    pub fn block(&self, rank: Rank) -> RankOperations<'_> {
        match self.ranks.binary_search_by_key(&rank, |&(rank, ..)| rank) {
            Ok(index) => self.block_at(self.ranks[index].1, self.ranks[index].2),
            Err(_) => self.block_at(0, 0),
        }
    }

    /// The ranks that have operations, in order.
    pub fn busy_ranks(&self) -> impl Iterator<Item = (Rank, RankOperations<'_>)> {
        self.ranks.iter().map(|&(rank, first, end)| (rank, self.block_at(first, end)))
    }

    /// How many operations all ranks have.
    pub(super) fn len(&self) -> usize {
        self.operations.len()
    }

    /// Whether any operation is on another processor than the first of its rank.
    pub(super) fn has_several_processors(&self) -> bool {
        self.operations.iter().any(|operation| operation.processor != 0)
    }

    /// How many messages it sends.
    pub fn sends(&self) -> u64 {
        self.operations.iter().filter(|operation| operation.verb() == Packed::SEND).count() as u64
    }

    fn block_at(&self, first: u32, end: u32) -> RankOperations<'_> {
        RankOperations { schedule: self, first, end }
    }
}

/// Writes the schedule as GOAL text, which reads back as the same schedule except for its lines.
impl fmt::Display for Schedule {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(out, "num_ranks {}", self.size)?;
        for (rank, block) in self.busy_ranks() {
            writeln!(out, "\nrank {rank} {{")?;
            for (number, operation) in block.operations().enumerate() {
                writeln!(out, "l{}: {operation}", number + 1)?;
            }
            for requirement in block.requirements() {
                let verb = if requirement.only_started { "irequires" } else { "requires" };
                writeln!(out, "l{} {verb} l{}", requirement.operation.0 + 1, requirement.on.0 + 1)?;
            }
            writeln!(out, "}}")?;
        }
        Ok(())
    }
}

/// The operations of one rank.
#[derive(Clone, Copy, Debug)]
pub struct RankOperations<'schedule> {
    schedule: &'schedule Schedule,
    first: u32,
    end: u32,
}

impl<'schedule> RankOperations<'schedule> {
    /// The operations, in the order of the text.
    pub fn operations(&self) -> impl ExactSizeIterator<Item = Operation> + use<'schedule> {
        self.schedule.operations[self.first as usize..self.end as usize].iter().map(Packed::unpacked)
    }

    /// One operation.
    pub fn operation(&self, id: OperationId) -> Operation {
        self.schedule.operations[self.place(id)].unpacked()
    }

    /// All requirements, ordered by the operation that is waited for, in the order of the text.
    pub fn requirements(&self) -> impl Iterator<Item = Requirement> + use<'schedule> {
        let block = *self;
        (0..self.len()).flat_map(move |id| block.dependents(OperationId(id)))
    }

    /// The operations that wait for `id`, in the order of the text.
    pub fn dependents(&self, id: OperationId) -> impl Iterator<Item = Requirement> + use<'schedule> {
        let place = self.place(id);
        let first_dependent = &self.schedule.first_dependent;
        let range = first_dependent[place] as usize..first_dependent[place + 1] as usize;
        self.schedule.dependents[range].iter().map(move |dependent| dependent.requirement(id))
    }

    /// Whether any operation requires only that this one has started.
    #[inline]
    pub(super) fn start_is_required(&self, id: OperationId) -> bool {
        self.schedule.has_start_requirements && self.dependents(id).any(|requirement| requirement.only_started)
    }

    /// How many operations there are.
    pub(super) fn len(&self) -> u32 {
        self.end - self.first
    }

    /// The places of its operations among those of all ranks.
    pub(super) fn places(&self) -> Range<usize> {
        self.first as usize..self.end as usize
    }

    /// The place of an operation among those of all ranks.
    #[inline]
    pub(super) fn place(&self, id: OperationId) -> usize {
        (self.first + id.0) as usize
    }
}

/// An operation in its compact form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Packed {
    /// The duration of a calculation [ps], or the size of a message [B].
    amount: u64,
    /// The tag; the largest number for any.
    tag: u32,
    line: u32,
    /// The verb in the upper bits, the partner in the others; all of those are set for anyone.
    verb_and_partner: u32,
    processor: u8,
    interface: u8,
}

impl Packed {
    const CALCULATE: u32 = 0 << 30;
    const SEND: u32 = 1 << 30;
    const RECEIVE: u32 = 2 << 30;
    const VERB: u32 = 3 << 30;
    const ANYONE: u32 = !Packed::VERB;
    const ANY_TAG: u32 = u32::MAX;

    fn new(operation: &Operation) -> Packed {
        let (amount, verb_and_partner, tag) = match operation.kind {
            OperationKind::Calculate(work) => (work.picoseconds(), Packed::CALCULATE, 0),
            OperationKind::Send { to, size, tag } => (size.0, Packed::SEND | to.0, tag),
            OperationKind::Receive { from, size, tag } => {
                let partner = from.map_or(Packed::ANYONE, |from| from.0);
                (size.0, Packed::RECEIVE | partner, tag.unwrap_or(Packed::ANY_TAG))
            }
        };
        let Operation { processor, interface, line, .. } = *operation;
        Packed { amount, tag, line, verb_and_partner, processor, interface }
    }

    fn verb(&self) -> u32 {
        self.verb_and_partner & Packed::VERB
    }

    fn unpacked(&self) -> Operation {
        let (amount, partner) = (self.amount, self.verb_and_partner & !Packed::VERB);
        let kind = match self.verb() {
            Packed::CALCULATE => OperationKind::Calculate(Duration::from_picoseconds(amount)),
            Packed::SEND => OperationKind::Send { to: Rank(partner), size: Bytes(amount), tag: self.tag },
            _ => OperationKind::Receive {
                from: (partner != Packed::ANYONE).then_some(Rank(partner)),
                size: Bytes(amount),
                tag: (self.tag != Packed::ANY_TAG).then_some(self.tag),
            },
        };
        Operation { kind, processor: self.processor, interface: self.interface, line: self.line }
    }
}

/// An operation that waits for another; the highest bit says whether it is enough that the other has started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Dependent(u32);

impl Dependent {
    const ONLY_STARTED: u32 = 1 << 31;

    fn new(requirement: &Requirement) -> Dependent {
        Dependent(requirement.operation.0 | if requirement.only_started { Dependent::ONLY_STARTED } else { 0 })
    }

    fn requirement(self, on: OperationId) -> Requirement {
        let operation = OperationId(self.0 & !Dependent::ONLY_STARTED);
        Requirement { operation, on, only_started: self.0 & Dependent::ONLY_STARTED != 0 }
    }
}

/// A schedule under construction, rank by rank.
#[derive(Debug)]
pub(super) struct Builder {
    schedule: Schedule,
    /// Where the operations of the current rank begin.
    first: usize,
    /// For each operation of a rank, where its next dependent goes: kept to reuse its memory.
    next: Vec<u32>,
}

impl Builder {
    pub(super) fn new(file: &str) -> Builder {
        let schedule = Schedule {
            file: file.to_owned(),
            has_lines: true,
            size: 0,
            ranks: Vec::new(),
            operations: Vec::new(),
            has_start_requirements: false,
            first_dependent: vec![0],
            dependents: Vec::new(),
        };
        Builder { schedule, first: 0, next: Vec::new() }
    }

    /// A builder whose operations have numbers instead of lines.
    pub(super) fn of_numbered(file: &str) -> Builder {
        let builder = Builder::new(file);
        Builder { schedule: Schedule { has_lines: false, ..builder.schedule }, ..builder }
    }

    /// How many operations all ranks have so far.
    pub(super) fn total(&self) -> usize {
        self.schedule.operations.len()
    }

    /// How many operations the current rank has.
    pub(super) fn len(&self) -> usize {
        self.schedule.operations.len() - self.first
    }

    /// Whether no more operations can be added.
    pub(super) fn is_full(&self) -> bool {
        self.schedule.operations.len() >= MOST_OPERATIONS
    }

    /// Adds an operation to the current rank.
    pub(super) fn push(&mut self, operation: &Operation) {
        self.schedule.operations.push(Packed::new(operation));
    }

    /// The line of an operation of the current rank.
    pub(super) fn line(&self, id: OperationId) -> u32 {
        self.schedule.operations[self.first + id.0 as usize].line
    }

    /// Ends the current rank, which is `rank`, with these requirements, in the order of the text.
    pub(super) fn end_rank(&mut self, rank: Rank, requirements: impl Iterator<Item = Requirement> + Clone) {
        let Builder { schedule, first, next } = self;
        let Schedule { operations, has_start_requirements, first_dependent, dependents, ranks, .. } = schedule;
        next.clear();
        next.resize(operations.len() - *first, 0);
        requirements.clone().for_each(|requirement| next[requirement.on.0 as usize] += 1);
        let mut end = dependents.len() as u32;
        for count in next.iter_mut() {
            let start = end;
            end += *count;
            *count = start;
            first_dependent.push(end);
        }
        dependents.resize(end as usize, Dependent::default());
        for requirement in requirements {
            *has_start_requirements |= requirement.only_started;
            let place = &mut next[requirement.on.0 as usize];
            dependents[*place as usize] = Dependent::new(&requirement);
            *place += 1;
        }
        ranks.push((rank, *first as u32, operations.len() as u32));
        *first = operations.len();
    }

    pub(super) fn finish(self, size: u32) -> Schedule {
        let Schedule { mut ranks, .. } = self.schedule;
        ranks.sort_unstable_by_key(|&(rank, ..)| rank);
        Schedule { size, ranks, ..self.schedule }
    }
}
