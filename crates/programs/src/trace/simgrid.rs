//! Time-independent traces of SimGrid, as written by `smpirun -trace-ti`.
//!
//! ```text
//! 0 init                          rank 0 begins
//! 0 compute 1e9                   1e9 operations
//! 0 isend 1 7 1024 6              to rank 1 with tag 7, 1024 of datatype 6 (MPI_BYTE)
//! 0 wait 0 1 7                    for the message from rank 0 to rank 1 with tag 7
//! 0 allReduce 4 0 0               4 of datatype 0 (MPI_DOUBLE), and then no operations
//! 0 finalize
//! ```
//!
//! The lines of all ranks may be in one file, or in a file for each. As in SimGrid's own replay, all messages belong to one communicator,
//! and operations begun and never waited for are over at the end.
//!
//! Source: SimGrid's documentation of SMPI ("Replaying MPI traces"), and the fields that its replay reads.

use std::fmt;
use std::str::FromStr;

use quantities::{Duration, nearest};
use trace_format::{Call, CollectiveKind, Message, WORLD};

use super::text::{Fields, Gathering, of_all};
use super::{RankCalls, TraceError};

/// Bytes of the predefined datatypes, by their number in a trace. [B]
const SIZES: [u64; 26] = [8, 4, 1, 2, 8, 4, 1, 8, 1, 1, 2, 4, 8, 8, 16, 4, 1, 1, 2, 4, 8, 1, 2, 4, 8, 8];

/// The actions of a line, in lower case.
const ACTIONS: [&str; 27] = [
    "init",
    "finalize",
    "comm_size",
    "comm_split",
    "comm_dup",
    "send",
    "isend",
    "recv",
    "irecv",
    "test",
    "wait",
    "waitall",
    "barrier",
    "bcast",
    "reduce",
    "allreduce",
    "alltoall",
    "alltoallv",
    "gather",
    "gatherv",
    "scatter",
    "scatterv",
    "allgather",
    "allgatherv",
    "reducescatter",
    "compute",
    "sleep",
];

/// How many operations of a trace took a second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OperationRate(f64);

/// Why a value is no [`OperationRate`].
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("`{0}` operations a second: allowed is a number above 0, such as 2.5e9")]
pub struct OperationRateError(String);

impl OperationRate {
    /// As a number. [1/s]
    pub const fn as_f64(self) -> f64 {
        self.0
    }
}

impl Default for OperationRate {
    fn default() -> OperationRate {
        OperationRate(1e9)
    }
}

impl fmt::Display for OperationRate {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{:e}", self.0)
    }
}

impl FromStr for OperationRate {
    type Err = OperationRateError;

    fn from_str(text: &str) -> Result<OperationRate, OperationRateError> {
        let value = text.trim().parse().ok().filter(|&value: &f64| value.is_finite() && value > 0.0);
        value.map(OperationRate).ok_or_else(|| OperationRateError(text.to_owned()))
    }
}

quantities::written_as_text!(OperationRate, "RATE", "2.5e9");

/// The ranks that have lines in `text`, in order; `size` is the total number, if the others are in other files. A second takes this many
/// `operations`.
///
/// # Errors
/// The error in a line.
pub fn read(file: &str, text: &str, size: Option<u32>, operations: f64) -> Result<Vec<(u32, RankCalls)>, TraceError> {
    let mut lines: Vec<(u32, usize, Vec<&str>)> = Vec::new();
    for (line, content) in (1..).zip(text.lines()) {
        let fields: Vec<&str> = content.split_whitespace().collect();
        if fields.is_empty() || content.starts_with('#') {
            continue;
        }
        let rank = Fields { file, line, fields: &fields }.number(0, "rank")?;
        lines.push((rank, line, fields));
    }
    // The lines of a rank in their order.
    lines.sort_by_key(|&(rank, line, _)| (rank, line));
    let ranks = lines.last().map_or(0, |&(rank, ..)| rank.saturating_add(1));
    let size = size.unwrap_or(ranks);
    let mut read = Vec::new();
    for of_rank in lines.chunk_by(|one, other| one.0 == other.0) {
        let mut rank = Rank { me: of_rank[0].0, size, operations, default: 1, gathering: Gathering::new() };
        for (_, line, fields) in of_rank {
            rank.action(&Fields { file, line: *line, fields })?;
        }
        read.push((rank.me, rank.gathering.finish(file, 0)));
    }
    Ok(read)
}

/// A rank whose lines are being read. Its requests are identified by sender, receiver and tag.
struct Rank {
    me: u32,
    size: u32,
    operations: f64,
    /// The size of the datatype where none is named. [B]
    default: u64,
    gathering: Gathering<(i64, i64, i64)>,
}

impl Rank {
    fn action(&mut self, line: &Fields<'_>) -> Result<(), TraceError> {
        let name = line.text(1, "action")?.to_ascii_lowercase();
        match name.as_str() {
            // Old traces count in doubles, which is marked by a field.
            "init" => self.default = if line.fields.len() > 2 { SIZES[0] } else { 1 },
            "finalize" | "comm_size" | "comm_split" | "comm_dup" | "location" | "test" => {}
            "compute" => self.compute(line.number(2, "number of operations")?),
            "sleep" => {
                let seconds: f64 = line.number(2, "time in seconds")?;
                self.gathering.compute(picoseconds(seconds));
            }
            "send" | "isend" | "recv" | "irecv" => self.message(&name, line)?,
            "wait" => {
                let name = (line.number(2, "sender")?, line.number(3, "receiver")?, line.number(4, "tag")?);
                self.gathering.wait([name]);
            }
            "waitall" => {
                let names = self.gathering.names();
                self.gathering.wait(names);
            }
            _ => self.collective(&name, line)?,
        }
        Ok(())
    }

    fn compute(&mut self, operations: f64) {
        self.gathering.compute(picoseconds(operations / self.operations));
    }

    /// The size of `amount` elements of the datatype in that field. [B]
    fn bytes(&self, amount: u64, line: &Fields<'_>, datatype: usize) -> Result<u64, TraceError> {
        if line.fields.len() <= datatype {
            return Ok(amount.saturating_mul(self.default));
        }
        let number: usize = line.number(datatype, "datatype")?;
        let unknown = || {
            line.wrong(format!("field {}: found datatype {number}; allowed is 0 to {}", datatype + 1, SIZES.len() - 1))
        };
        Ok(amount.saturating_mul(*SIZES.get(number).ok_or_else(unknown)?))
    }

    fn message(&mut self, name: &str, line: &Fields<'_>) -> Result<(), TraceError> {
        let (partner, tag) = (line.number::<i64>(2, "partner")?, line.number::<i64>(3, "tag")?);
        let bytes = self.bytes(line.number::<f64>(4, "size")?.max(0.0).round() as u64, line, 5)?;
        let message = Message {
            partner: line.named_or_any(2, "partner")?,
            tag: line.named_or_any(3, "tag")?,
            communicator: WORLD,
            bytes,
        };
        let me = i64::from(self.me);
        match name {
            "send" => self.gathering.call(Call::Send(message)),
            "recv" => self.gathering.call(Call::Receive(message)),
            "isend" => self.gathering.begin((me, partner, tag), true, message),
            _ => self.gathering.begin((partner, me, tag), false, message),
        }
        Ok(())
    }

    /// The sizes from a field on, one for each rank, of the datatype in another field.
    fn counts(&self, line: &Fields<'_>, from: usize, datatype: usize) -> Result<Vec<u64>, TraceError> {
        let count = |place| self.bytes(line.amount(place, "count for a rank")?, line, datatype);
        (from..from + self.size as usize).map(count).collect()
    }

    fn collective(&mut self, name: &str, line: &Fields<'_>) -> Result<(), TraceError> {
        use CollectiveKind as Kind;
        let n = self.size as usize;
        let root = |place: usize| if line.fields.len() > place { line.number::<u32>(place, "root") } else { Ok(0) };
        let size = |place, datatype| self.bytes(line.amount(place, "size")?, line, datatype);
        let (call, operations) = match name {
            "barrier" => (of_all(Kind::Barrier, 0, 0, vec![]), None),
            "bcast" => (of_all(Kind::Broadcast, root(3)?, size(2, 4)?, vec![]), None),
            "reduce" => (of_all(Kind::Reduce, root(4)?, size(2, 5)?, vec![]), Some(3)),
            "allreduce" => (of_all(Kind::AllReduce, 0, size(2, 4)?, vec![]), Some(3)),
            "alltoall" => (of_all(Kind::AllToAll, 0, size(2, 4)?, vec![]), None),
            "gather" => (of_all(Kind::Gather, root(4)?, size(2, 5)?, vec![]), None),
            "scatter" => (of_all(Kind::Scatter, root(4)?, size(3, 6)?, vec![]), None),
            "allgather" => (of_all(Kind::AllGather, 0, size(2, 4)?, vec![]), None),
            "gatherv" => {
                let root = root(3 + n)?;
                let counts = if root == self.me { self.counts(line, 3, 5 + n)? } else { vec![] };
                (of_all(Kind::Gatherv, root, size(2, 4 + n)?, counts), None)
            }
            "scatterv" => {
                let root = root(3 + n)?;
                let counts = if root == self.me { self.counts(line, 2, 4 + n)? } else { vec![] };
                (of_all(Kind::Scatterv, root, size(2 + n, 5 + n)?, counts), None)
            }
            "allgatherv" => (of_all(Kind::AllGatherv, 0, size(2, 3 + n)?, self.counts(line, 3, 3 + n)?), None),
            "reducescatter" => {
                let counts = self.counts(line, 2, 3 + n)?;
                (of_all(Kind::ReduceScatter, 0, counts.iter().sum(), counts), Some(2 + n))
            }
            "alltoallv" => {
                let mut counts = self.counts(line, 3, 4 + 2 * n)?;
                counts.extend(self.counts(line, 4 + n, 5 + 2 * n)?);
                (of_all(Kind::AllToAllv, 0, 0, counts), None)
            }
            unknown => {
                let wrong = line.wrong(format!("found `{unknown}`, which is not an action of a trace"));
                let meant = nearest(unknown, ACTIONS).map(|name| format!("did you mean `{name}`?"));
                return Err(match meant {
                    Some(hint) => wrong.with_hint(hint),
                    None => wrong,
                });
            }
        };
        self.gathering.call(call);
        if let Some(place) = operations.filter(|&place| line.fields.len() > place) {
            self.compute(line.number(place, "number of operations")?);
        }
        Ok(())
    }
}

/// A time in seconds; zero if it is negative or not a number.
fn picoseconds(seconds: f64) -> Duration {
    Duration::from_picoseconds((seconds * 1e12).round().max(0.0) as u64)
}
