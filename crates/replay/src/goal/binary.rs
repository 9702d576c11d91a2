//! The binary form of GOAL: LogGOPSim's tool `txt2bin` makes it from a text, and LogGOPSim itself reads it.
//!
//! It is the graph of operations as it is in the memory of a little-endian computer, without padding. Offsets count
//! from after the first number. This description was derived from LogGOPSim's reader and writer.
//!
//! ```text
//!     u64  4223
//!     u32  ranks
//!     u8   the highest processor number           u8   the highest interface number
//!     for each rank: u64 where its part begins, u64 where it ends
//!     for each rank, its part:
//!         u32  operations
//!         u32  operations that require nothing, then u32 the number of each
//!         for each operation:
//!             u32  how many operations it requires
//!             u8   1: send, 2: receive, 3: calculate
//!             u32  the other rank; 2^32 - 1 for anyone
//!             u64  bytes, or nanoseconds
//!             u32  tag; 2^32 - 1 for any
//!             u8   processor                      u8   interface
//!             u32  how many require its end, u32 the place of the first of them in the list
//!             u32  how many require its start, u32 the place of the first of them in the list
//!         the list: u32 the numbers of operations
//! ```

use std::io::{self, ErrorKind, Read};

use endpoint::Tag;
use quantities::{Bytes, Duration, Rank};

use super::cycle::find_cycle;
use super::error::{BinaryError, ReadError};
use super::schedule::{Builder, MOST_NANOSECONDS, MOST_OPERATIONS};
use super::{MOST_RANKS, Operation, OperationId, OperationKind, Requirement, Schedule};

/// The beginning of a schedule in binary form.
pub(super) const MAGIC: [u8; 8] = 4223_u64.to_le_bytes();
/// The beginning of one that LogGOPSim has used up: with `--save-mem` it counts down in the file itself.
pub(super) const USED_UP: [u8; 8] = 2342_u64.to_le_bytes();

/// The length of an operation. [B]
const OPERATION: u64 = 39;
/// Anyone, and any tag.
const ANY: u32 = u32::MAX;

/// Reads a schedule in binary form whose [`MAGIC`] has already been read.
pub(super) fn read(file: &str, data: impl Read) -> Result<Schedule, ReadError> {
    let mut reader = BinaryReader { file, data: io::BufReader::with_capacity(1 << 16, data), at: 0 };
    let size = reader.u32()?;
    if size == 0 || size > MOST_RANKS {
        return Err(reader.wrong(format!("found {size} ranks; 1 to {MOST_RANKS} is allowed")));
    }
    // The highest processor and interface, which also follow from the operations.
    reader.bytes::<2>()?;
    let mut ends = Vec::new();
    let mut before = 4 + 2 + 16 * u64::from(size);
    for rank in 0..size {
        let (start, end) = (reader.u64()?, reader.u64()?);
        if start != before || end < start {
            let found = format!("found that rank {rank} goes from byte {start} to {end}");
            return Err(reader.wrong(format!("{found}; it must begin at {before}, where what is before it ends")));
        }
        ends.push(end);
        before = end;
    }
    let mut builder = Builder::of_numbered(file);
    for (rank, &end) in (0..).map(Rank).zip(&ends) {
        RankReader { reader: &mut reader, rank, size, list: Vec::new(), waits: Vec::new() }.read(&mut builder, end)?;
    }
    match reader.data.read(&mut [0])? {
        0 => Ok(builder.finish(size)),
        _ => Err(reader.wrong("found more behind the part of the last rank".to_owned())),
    }
}

/// The numbers of a file, one after the other.
struct BinaryReader<'a, R> {
    file: &'a str,
    data: io::BufReader<R>,
    /// How much has been read after the first number. [B]
    at: u64,
}

impl<R: Read> BinaryReader<'_, R> {
    fn bytes<const LENGTH: usize>(&mut self) -> Result<[u8; LENGTH], ReadError> {
        let mut bytes = [0; LENGTH];
        match self.data.read_exact(&mut bytes) {
            Ok(()) => {
                self.at += LENGTH as u64;
                Ok(bytes)
            }
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => Err(self.wrong("it is cut off here".to_owned())),
            Err(error) => Err(ReadError::Unreadable(error)),
        }
    }

    fn u32(&mut self) -> Result<u32, ReadError> {
        self.bytes().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Result<u64, ReadError> {
        self.bytes().map(u64::from_le_bytes)
    }

    /// The error for a problem just before the current position.
    fn wrong(&self, problem: String) -> ReadError {
        ReadError::Damaged(BinaryError { file: self.file.to_owned(), at: MAGIC.len() as u64 + self.at, problem })
    }
}

/// The operations that require the end, or the start, of an operation.
#[derive(Clone, Copy)]
struct Dependents {
    on: OperationId,
    only_started: bool,
    count: u32,
    /// The place of the first of them in the list.
    first: u32,
}

struct RankReader<'a, 'file, R> {
    reader: &'a mut BinaryReader<'file, R>,
    rank: Rank,
    /// How many ranks there are.
    size: u32,
    list: Vec<u32>,
    waits: Vec<Dependents>,
}

impl<R: Read> RankReader<'_, '_, R> {
    fn read(mut self, builder: &mut Builder, end: u64) -> Result<(), ReadError> {
        let start = self.reader.at;
        let (operations, free) = (self.reader.u32()?, self.reader.u32()?);
        let needed = 8 + 4 * u64::from(free) + OPERATION * u64::from(operations);
        if end - start < needed || !(end - start - needed).is_multiple_of(4) || free > operations {
            let found = format!("found {operations} operations, {free} of them free, in {} bytes", end - start);
            return Err(self.wrong(&format!("{found}, which do not fit")));
        }
        if u64::from(operations) + builder.total() as u64 > MOST_OPERATIONS as u64 {
            return Err(self.wrong(&format!("a schedule has at most {MOST_OPERATIONS} operations")));
        }
        let free = (0..free).map(|_| self.reader.u32()).collect::<Result<Vec<u32>, ReadError>>()?;
        let mut required = Vec::new();
        for id in (0..operations).map(OperationId) {
            required.push(self.operation(builder, id)?);
        }
        for _ in 0..(end - start - needed) / 4 {
            let waiting = self.reader.u32()?;
            if waiting >= operations {
                return Err(self.wrong(&format!("found that operation {waiting} waits; there are {operations}")));
            }
            self.list.push(waiting);
        }
        let requirements = self.requirements()?;
        self.check(&required, &free, &requirements)?;
        if operations > 0 {
            builder.end_rank(self.rank, requirements.iter().copied());
        }
        Ok(())
    }

    /// Reads the next operation; returns how many operations it requires.
    fn operation(&mut self, builder: &mut Builder, id: OperationId) -> Result<u32, ReadError> {
        let required = self.reader.u32()?;
        let [verb] = self.reader.bytes()?;
        let (partner, amount, tag) = (self.reader.u32()?, self.reader.u64()?, self.reader.u32()?);
        let [processor, interface] = self.reader.bytes()?;
        for only_started in [false, true] {
            let (count, first) = (self.reader.u32()?, self.reader.u32()?);
            if count > 0 {
                self.waits.push(Dependents { on: id, only_started, count, first });
            }
        }
        let kind = self.kind(verb, partner, amount, tag)?;
        builder.push(&Operation { kind, processor, interface, line: id.0 + 1 });
        Ok(required)
    }

    fn kind(&self, verb: u8, partner: u32, amount: u64, tag: u32) -> Result<OperationKind, ReadError> {
        let last = self.size - 1;
        let exists = |partner: u32| {
            let problem = format!("found rank {partner}, which does not exist; 0 to {last} is allowed");
            if partner <= last { Ok(Rank(partner)) } else { Err(self.wrong(&problem)) }
        };
        match verb {
            1 | 2 if tag > Tag::LARGEST.0 && tag != ANY => {
                Err(self.wrong(&format!("found the tag {tag}, where the largest is {}", Tag::LARGEST.0)))
            }
            1 if tag == ANY => Err(self.wrong("found a send with any tag, which only a receive can have")),
            1 => Ok(OperationKind::Send { to: exists(partner)?, size: Bytes(amount), tag }),
            2 => {
                let from = if partner == ANY { None } else { Some(exists(partner)?) };
                Ok(OperationKind::Receive { from, size: Bytes(amount), tag: (tag != ANY).then_some(tag) })
            }
            3 if amount > MOST_NANOSECONDS => {
                Err(self.wrong(&format!("found a calculation of {amount} ns; 0 to {MOST_NANOSECONDS} is allowed")))
            }
            3 => Ok(OperationKind::Calculate(Duration::from_nanoseconds(amount))),
            _ => Err(self.wrong(&format!("found {verb} for what an operation does; 1 to 3 is allowed"))),
        }
    }

    /// All requirements, ordered by the operation that is required.
    fn requirements(&self) -> Result<Vec<Requirement>, ReadError> {
        let mut requirements = Vec::new();
        for &Dependents { on, only_started, count, first } in &self.waits {
            let end = u64::from(first) + u64::from(count);
            // No place is used twice, so that a file cannot expand to more requirements than it contains.
            let too_many = requirements.len() as u64 + u64::from(count) > self.list.len() as u64;
            if end > self.list.len() as u64 || too_many {
                let found = format!("found that places {first} to {end} of the list require operation {}", on.0);
                return Err(
                    self.wrong(&format!("{found}; it has {} places, each of which is used once", self.list.len()))
                );
            }
            let waiting = &self.list[first as usize..end as usize];
            let requirement = |&operation: &u32| Requirement { operation: OperationId(operation), on, only_started };
            requirements.extend(waiting.iter().map(requirement));
        }
        Ok(requirements)
    }

    /// Checks that the operations' own counts agree with the list, and that all of them can happen.
    fn check(&self, required: &[u32], free: &[u32], requirements: &[Requirement]) -> Result<(), ReadError> {
        let mut missing = vec![0; required.len()];
        requirements.iter().for_each(|requirement| missing[requirement.operation.0 as usize] += 1);
        if let Some(id) = (0..required.len()).find(|&id| missing[id] != required[id]) {
            let problem =
                format!("found that operation {id} requires {}, where the list says {}", required[id], missing[id]);
            return Err(self.wrong(&problem));
        }
        let without: Vec<u32> = (0..).zip(&missing).filter(|&(_, &missing)| missing == 0).map(|(id, _)| id).collect();
        if without != free {
            return Err(self.wrong("found that the operations which require nothing are not those that are named so"));
        }
        match find_cycle(required.len(), requirements.iter().copied()) {
            Some(cycle) => {
                let id = requirements[cycle[0]].operation.0;
                Err(self
                    .wrong(&format!("found that operation {id} requires itself, by way of {} others", cycle.len() - 1)))
            }
            None => Ok(()),
        }
    }

    fn wrong(&self, problem: &str) -> ReadError {
        self.reader.wrong(format!("rank {}: {problem}", self.rank))
    }
}
