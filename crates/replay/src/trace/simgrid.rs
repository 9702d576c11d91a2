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
//! The lines of all ranks may be in one file, or in a file for each. As in SimGrid's own replay, all messages belong to
//! one communicator, and operations begun and never waited for are over at the end.
//!
//! Source: SimGrid's documentation of SMPI ("Replaying MPI traces"), and the fields that its replay reads.

use std::fmt;
use std::str::FromStr;

use quantities::{Duration, Time, nearest};
use trace_format::{Call, CollectiveKind, Message, WORLD};

use super::text::{Fields, Gathering, of_all, same_size, total};
use super::{FileRanks, RankCalls, TraceError, TraceFormat, TraceReader};

/// Bytes of the predefined datatypes, by their number in a trace, on a computer of 64 bits. [B]
const SIZES: [u64; 60] = [
    // Those of C: from MPI_DOUBLE on, and from MPI_SIGNED_CHAR, MPI_C_BOOL and MPI_UINT64_T on.
    8, 4, 1, 2, 8, 4, 1, 8, // 0 to 7
    1, 1, 2, 4, 8, 8, 16, 4, // 8 to 15
    1, 1, 2, 4, 8, 1, 2, 4, // 16 to 23
    8, 8, 16, 32, 8, 8, // 24 to 29
    // Pairs: FLOAT_INT, LONG_INT, DOUBLE_INT, SHORT_INT, 2INT, 2FLOAT, 2DOUBLE, 2LONG.
    8, 16, 16, 8, 8, 8, 16, 16, // 30 to 37
    // Those of Fortran: REAL to REAL16, COMPLEX8 to COMPLEX32, INTEGER1 to INTEGER16, as large as SimGrid has them.
    4, 4, 8, 16, 8, 16, 16, 4, 2, 4, 8, 16, // 38 to 49
    // LONG_DOUBLE_INT, those of C++, UB and LB, PACKED, an address, MPI_COUNT.
    32, 1, 8, 16, 32, 0, 0, 1, 8, 8, // 50 to 59
];

/// The number of `MPI_DATATYPE_NULL`, whose elements have no bytes.
const NO_DATATYPE: i64 = -1;

/// The partner `MPI_PROC_NULL`: nothing is sent to it, and nothing received.
const NO_PROCESS: i64 = -666;

/// The longest time that a rank computes between two calls: no run is longer. [s]
const LONGEST: f64 = Time::NEVER.picoseconds() as f64 * 1e-12;

/// Actions that SimGrid's tracer writes and whose meaning a line does not tell, and why.
const UNTOLD: [(&str, &str); 4] = [
    ("waitany", "does not say which of the requests was completed"),
    ("start", "belongs to a persistent request, of which the trace does not say what it sends or receives"),
    ("startall", "belongs to persistent requests, of which the trace does not say what they send or receive"),
    ("migrate", "moves a rank to another host"),
];

/// The actions of a line that are no collectives, in lower case.
const ACTIONS: [&str; 25] = [
    "init",
    "finalize",
    "comm_size",
    "comm_split",
    "comm_dup",
    "location",
    "iteration_in",
    "iteration_out",
    "test",
    "testall",
    "testany",
    "testsome",
    "compute",
    "sleep",
    "send",
    "ssend",
    "bsend",
    "isend",
    "issend",
    "ibsend",
    "recv",
    "irecv",
    "sendrecv",
    "wait",
    "waitall",
];

/// Those that are collectives.
const COLLECTIVES: [&str; 15] = [
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
    "scan",
    "exscan",
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

/// The format.
#[derive(Clone, Copy, Debug)]
pub struct SimGrid;

impl TraceFormat for SimGrid {
    fn name(&self) -> &'static str {
        "SimGrid"
    }

    /// A line begins with its rank.
    fn recognises(&self, first: &str, _text: &str) -> bool {
        first.split_whitespace().next().is_some_and(|word| word.parse::<u32>().is_ok())
    }

    fn counts_operations(&self) -> bool {
        true
    }

    fn reader(&self, operations: f64) -> Box<dyn TraceReader> {
        Box::new(SimGridReader { operations, ranks: Vec::new() })
    }
}

/// The ranks whose lines have been read.
struct SimGridReader {
    operations: f64,
    ranks: Vec<RankCalls>,
}

impl TraceReader for SimGridReader {
    fn add(&mut self, file: &str, text: &str, ranks: FileRanks) -> Result<(), TraceError> {
        let wrong = |problem: String| Err(TraceError::of_file(file, problem));
        match ranks {
            FileRanks::All => {
                let read = read(file, text, None, self.operations)?;
                if let Some((expected, (found, _))) = (0..).zip(&read).find(|(expected, (found, _))| expected != found)
                {
                    return wrong(format!(
                        "found lines of rank {found} and none of rank {expected}; allowed are those of all"
                    ));
                }
                self.ranks.extend(read.into_iter().map(|(_, calls)| calls));
            }
            FileRanks::One { rank, size } => {
                for (found, calls) in read(file, text, Some(size), self.operations)? {
                    if found != rank {
                        return wrong(format!("found lines of rank {found}; allowed are those of rank {rank}"));
                    }
                    self.ranks.push(calls);
                }
            }
        }
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<Vec<RankCalls>, TraceError> {
        Ok(self.ranks)
    }
}

/// The ranks that have lines in `text`, in order; `size` is the total number, if the others are in other files. A
/// second takes this many `operations`.
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
            "finalize" | "comm_size" | "comm_split" | "comm_dup" | "location" | "iteration_in" | "iteration_out" => {}
            // What a test has found is completed where the trace waits for it, or at the end.
            "test" | "testall" | "testany" | "testsome" => {}
            "compute" => self.compute(line, 2)?,
            "sleep" => {
                let slept = duration(line, 2, "time in seconds", 1.0)?;
                self.gathering.compute(slept);
            }
            "send" | "ssend" | "bsend" | "isend" | "issend" | "ibsend" | "recv" | "irecv" => {
                self.message(&name, line)?
            }
            "sendrecv" => self.send_receive(line)?,
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

    /// Adds the operations in that field.
    fn compute(&mut self, line: &Fields<'_>, place: usize) -> Result<(), TraceError> {
        let computed = duration(line, place, "number of operations", self.operations)?;
        self.gathering.compute(computed);
        Ok(())
    }

    /// The size of `amount` elements of the datatype in that field. [B]
    fn bytes(&self, amount: u64, line: &Fields<'_>, datatype: usize) -> Result<u64, TraceError> {
        if line.fields.len() <= datatype {
            return Ok(amount.saturating_mul(self.default));
        }
        let number: i64 = line.number(datatype, "datatype")?;
        if number == NO_DATATYPE {
            return Ok(0);
        }
        let unknown = || {
            line.wrong(format!("field {}: found datatype {number}; allowed is 0 to {}", datatype + 1, SIZES.len() - 1))
        };
        let size = usize::try_from(number).ok().and_then(|number| SIZES.get(number)).ok_or_else(unknown)?;
        Ok(amount.saturating_mul(*size))
    }

    fn message(&mut self, name: &str, line: &Fields<'_>) -> Result<(), TraceError> {
        let (partner, tag) = (line.number::<i64>(2, "partner")?, line.number::<i64>(3, "tag")?);
        let receives = matches!(name, "recv" | "irecv");
        // A receive of -1 takes a message of any size.
        let any_size = receives && line.number::<i64>(4, "size") == Ok(-1);
        let bytes = if any_size { u64::MAX } else { self.bytes(line.amount(4, "size")?, line, 5)? };
        if partner == NO_PROCESS {
            return Ok(());
        }
        let message = Message {
            partner: line.named_or_any(2, "partner")?,
            tag: line.named_or_any(3, "tag")?,
            communicator: WORLD,
            bytes,
        };
        let me = i64::from(self.me);
        match name {
            "send" | "ssend" | "bsend" => self.gathering.call(Call::Send(message)),
            "recv" => self.gathering.call(Call::Receive(message)),
            "irecv" => self.gathering.begin((partner, me, tag), false, message),
            _ => self.gathering.begin((me, partner, tag), true, message),
        }
        Ok(())
    }

    /// What is sent and to whom, what is received and from whom, and their datatypes; both messages have the tag 0.
    fn send_receive(&mut self, line: &Fields<'_>) -> Result<(), TraceError> {
        let part = |size: usize, datatype: usize, partner: &str| -> Result<Option<Message>, TraceError> {
            let bytes = self.bytes(line.amount(size, "size")?, line, datatype)?;
            let message =
                Message { partner: line.named_or_any(size + 1, partner)?, tag: Some(0), communicator: WORLD, bytes };
            Ok(Some(message).filter(|_| line.number::<i64>(size + 1, partner) != Ok(NO_PROCESS)))
        };
        let (send, receive) = (part(2, 6, "receiver")?, part(4, 7, "sender")?);
        self.gathering.exchange(send, receive);
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
        // The root of a gather or scatter states both sizes, as every rank of the others does.
        let both = |datatypes: usize| {
            same_size(size(2, datatypes)?, size(3, datatypes + 1)?).map_err(|problem| line.wrong(problem))
        };
        let (call, operations) = match name {
            "barrier" => (of_all(Kind::Barrier, 0, 0, vec![]), None),
            "bcast" => (of_all(Kind::Broadcast, root(3)?, size(2, 4)?, vec![]), None),
            "reduce" => (of_all(Kind::Reduce, root(4)?, size(2, 5)?, vec![]), Some(3)),
            "allreduce" => (of_all(Kind::AllReduce, 0, size(2, 4)?, vec![]), Some(3)),
            "scan" => (of_all(Kind::Scan, 0, size(2, 4)?, vec![]), Some(3)),
            "exscan" => (of_all(Kind::Exscan, 0, size(2, 4)?, vec![]), Some(3)),
            "alltoall" => (of_all(Kind::AllToAll, 0, both(4)?, vec![]), None),
            "gather" => {
                let root = root(4)?;
                (of_all(Kind::Gather, root, if root == self.me { both(5)? } else { size(2, 5)? }, vec![]), None)
            }
            "scatter" => {
                let root = root(4)?;
                (of_all(Kind::Scatter, root, if root == self.me { both(5)? } else { size(3, 6)? }, vec![]), None)
            }
            "allgather" => (of_all(Kind::AllGather, 0, both(4)?, vec![]), None),
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
                (of_all(Kind::ReduceScatter, 0, total(&counts), counts), Some(2 + n))
            }
            "alltoallv" => {
                let mut counts = self.counts(line, 3, 4 + 2 * n)?;
                counts.extend(self.counts(line, 4 + n, 5 + 2 * n)?);
                (of_all(Kind::AllToAllv, 0, 0, counts), None)
            }
            unknown => return Err(not_followed(unknown, line)),
        };
        self.gathering.call(call);
        match operations.filter(|&place| line.fields.len() > place) {
            Some(place) => self.compute(line, place),
            None => Ok(()),
        }
    }
}

/// How long the number in that field takes, of which there are so many a second.
fn duration(line: &Fields<'_>, place: usize, name: &str, a_second: f64) -> Result<Duration, TraceError> {
    let number: f64 = line.number(place, name)?;
    let seconds = number / a_second;
    if number.is_finite() && (0.0..=LONGEST).contains(&seconds) {
        return Ok(Duration::from_picoseconds((seconds * 1e12).round() as u64));
    }
    let found = line.text(place, name)?;
    Err(line
        .wrong(format!("field {}: found `{found}`; allowed is the {name}, from 0 to what takes 106 days", place + 1)))
}

/// The error for an action that no replay follows: one that the tracer writes, or none at all.
fn not_followed(name: &str, line: &Fields<'_>) -> TraceError {
    let untold = UNTOLD.iter().find(|(known, _)| *known == name).map(|&(_, why)| why);
    // Begun collectives, such as `iallreduce`, have no request that a wait could name.
    let begun = name.strip_prefix('i').filter(|rest| COLLECTIVES.contains(rest));
    let begun = begun.map(|_| "begins a collective, and the trace does not say when it was waited for");
    let one_sided = ["win_", "get", "put", "accumulate", "compare_and_swap", "fetch_and_op", "rput", "rget"];
    let one_sided = one_sided.iter().any(|one| name.starts_with(one)).then_some("is one-sided communication");
    if let Some(why) = untold.or(begun).or(one_sided) {
        return line.wrong(format!("found `{name}`, which no replay can follow: it {why}"));
    }
    let wrong = line.wrong(format!("found `{name}`, which is not an action of a trace"));
    match nearest(name, ACTIONS.into_iter().chain(COLLECTIVES)) {
        Some(meant) => wrong.with_hint(format!("did you mean `{meant}`?")),
        None => wrong,
    }
}
