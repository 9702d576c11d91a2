//! Traces of liballprof, the library of LogGOPSim and LLAMP that records MPI calls as text, in a file for each rank.
//!
//! ```text
//! MPI_Init:-:0:0:1000                                      begun, and over at 1000 us
//! MPI_Isend:1500:7f10:4500:11,8,8:1:7:44000000,0,4:7f80:1510
//!           |    |    |    |      | | |            |    when it returned [us]
//!           |    |    |    |      | | |            the address of the request
//!           |    |    |    |      | | the communicator, the rank in it, its size
//!           |    |    |    |      | the tag
//!           |    |    |    |      the partner
//!           |    |    |    the datatype, its size and extent [B]
//!           |    |    the count
//!           |    the buffer
//!           when it was called [us]
//! ```
//!
//! Fields are the arguments of the call in C, in their order; an array of counts is its address followed by its
//! numbers. The format does not say which ranks belong to a communicator: those with all ranks are treated as one, and
//! others are refused. Nor does it say which of several requests was completed: requests that a test may have completed
//! are waited for at the end.
//!
//! Source: the generator of LogGOPSim's liballprof (`gencode.py`), which defines the form of each argument.

use quantities::{Duration, nearest};
use trace_format::{Call, CollectiveKind, ITSELF, Message, Transfer, WORLD};

use super::text::{Fields, Gathering, known_calls, same_size};
use super::{FileRanks, RankCalls, TraceError, TraceFormat, TraceReader};

/// Prefixes of calls that do not matter to a replay.
const OTHERS: [&str; 22] = [
    "MPI_Comm_",
    "MPI_Group_",
    "MPI_Type_",
    "MPI_Op_",
    "MPI_Get_",
    "MPI_Attr_",
    "MPI_Info_",
    "MPI_Errhandler_",
    "MPI_Error_",
    "MPI_Test",
    "MPI_Iprobe",
    "MPI_Wtime",
    "MPI_Wtick",
    "MPI_Initialized",
    "MPI_Finalized",
    "MPI_Query_thread",
    "MPI_Keyval_",
    "MPI_Cart_",
    "MPI_Dims_create",
    "MPI_Address",
    "MPI_Pack",
    "MPI_Buffer_",
];

/// The format.
#[derive(Clone, Copy, Debug)]
pub struct Liballprof;

impl TraceFormat for Liballprof {
    fn name(&self) -> &'static str {
        "liballprof"
    }

    fn recognises(&self, first: &str, _text: &str) -> bool {
        first.starts_with("MPI_")
    }

    fn reader(&self, _operations: f64) -> Box<dyn TraceReader> {
        Box::<LiballprofReader>::default()
    }
}

/// The ranks whose files have been read.
#[derive(Default)]
struct LiballprofReader(Vec<RankCalls>);

impl TraceReader for LiballprofReader {
    fn add(&mut self, file: &str, text: &str, ranks: FileRanks) -> Result<(), TraceError> {
        let (me, size) = ranks.of_one();
        self.0.push(read(file, text, me, size)?);
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<Vec<RankCalls>, TraceError> {
        Ok(self.0)
    }
}

/// Reads the file of rank `me` of `size`.
///
/// # Errors
/// The error in a line.
pub fn read(file: &str, text: &str, me: u32, size: u32) -> Result<RankCalls, TraceError> {
    let mut rank = Rank { me, size, began: 0, returned: None, ended: None, halves: false, gathering: Gathering::new() };
    for (line, content) in (1..).zip(text.lines()) {
        let content = content.trim();
        if content.is_empty() || content.starts_with('#') {
            continue;
        }
        let fields: Vec<&str> = content.split(':').map(str::trim).collect();
        rank.line(&Fields { file, line, fields: &fields })?;
    }
    let Some(ended) = rank.ended else {
        let last = text.lines().count();
        let problem = "cut short: found the end of the file, where MPI_Finalize is allowed";
        return Err(TraceError::of_file(&format!("{file}:{last}"), problem));
    };
    let elapsed = ended.saturating_sub(rank.began);
    Ok(rank.gathering.finish(file, elapsed.saturating_mul(1000)))
}

/// A rank whose lines are being read. Its requests are identified by their addresses.
struct Rank {
    me: u32,
    size: u32,
    /// When `MPI_Init` returned. [us]
    began: u64,
    /// When the last call returned. [us]
    returned: Option<u64>,
    /// When `MPI_Finalize` was called. [us]
    ended: Option<u64>,
    /// Whether a request takes four bytes, since one lies at an address not divisible by eight.
    halves: bool,
    gathering: Gathering<u64>,
}

impl Rank {
    fn line(&mut self, line: &Fields<'_>) -> Result<(), TraceError> {
        let name = line.text(0, "call")?;
        if matches!(name, "MPI_Init" | "MPI_Init_thread") {
            self.began = line.amount(line.fields.len() - 1, "time when it returned")?;
            self.returned = Some(self.began);
            return Ok(());
        }
        let called = line.amount(1, "time of the call")?;
        if !known_calls().any(|known| known == name) {
            return self.other(name, line);
        }
        let before = self.returned.unwrap_or(called);
        self.gathering.compute(Duration::from_picoseconds(called.saturating_sub(before).saturating_mul(1_000_000)));
        if name == "MPI_Finalize" {
            self.ended = Some(called);
            return Ok(());
        }
        self.returned = Some(line.amount(line.fields.len() - 1, "time when it returned")?);
        self.call(name, line)
    }

    /// A call that does not matter: its time counts as computing.
    fn other(&self, name: &str, line: &Fields<'_>) -> Result<(), TraceError> {
        if OTHERS.iter().any(|other| name.starts_with(other)) {
            return Ok(());
        }
        let wrong = line.wrong(format!("found `{name}`, which a replay of this format cannot follow"));
        let meant = nearest(name, known_calls().chain(["MPI_Test", "MPI_Iprobe"]))
            .map(|name| format!("did you mean `{name}`?"));
        Err(match meant {
            Some(hint) => wrong.with_hint(hint),
            None => wrong,
        })
    }

    fn call(&mut self, name: &str, line: &Fields<'_>) -> Result<(), TraceError> {
        match name {
            "MPI_Send" | "MPI_Bsend" | "MPI_Ssend" | "MPI_Rsend" => {
                let message = self.message(line, 3)?;
                // Without a partner, the message goes to no process.
                if message.partner.is_some() {
                    self.gathering.call(Call::Send(message));
                }
            }
            "MPI_Recv" => {
                let message = self.message(line, 3)?;
                self.gathering.call(Call::Receive(message));
            }
            "MPI_Isend" | "MPI_Ibsend" | "MPI_Issend" | "MPI_Irsend" | "MPI_Irecv" => {
                let message = self.message(line, 3)?;
                let request: u64 = line.number(8, "request's address")?;
                self.halves |= request % 8 == 4;
                let sends = name != "MPI_Irecv";
                if !sends || message.partner.is_some() {
                    self.gathering.begin(request, sends, message);
                }
            }
            "MPI_Sendrecv" => {
                let communicator = self.communicator(line, 12)?;
                let part = |count: usize| message(line, count, communicator);
                self.gathering.call(Call::SendReceive(Box::new(Transfer { send: part(3)?, receive: part(8)? })));
            }
            "MPI_Wait" => self.gathering.wait([line.number(2, "request's address")?]),
            "MPI_Waitall" => {
                let (count, first): (u64, u64) = (line.number(2, "count")?, line.number(3, "address of the requests")?);
                let width = if self.halves { 4 } else { 8 };
                let end = first.saturating_add(count.saturating_mul(width));
                let mut names = self.gathering.names();
                names.retain(|name| (first..end).contains(name));
                self.gathering.wait(names);
            }
            "MPI_Probe" => {
                let communicator = self.communicator(line, 4)?;
                let (partner, tag) = (line.named_or_any(2, "source")?, line.named_or_any(3, "tag")?);
                self.gathering.call(Call::Probe(Message { partner, tag, communicator, bytes: 0 }));
            }
            _ => self.collective(name, line)?,
        }
        Ok(())
    }

    /// The message whose count is in a field, with its communicator after its tag.
    fn message(&self, line: &Fields<'_>, count: usize) -> Result<Message, TraceError> {
        message(line, count, self.communicator(line, count + 4)?)
    }

    /// The communicator in a field.
    fn communicator(&self, line: &Fields<'_>, place: usize) -> Result<u32, TraceError> {
        let text = line.text(place, "communicator")?;
        let mut numbers = text.rsplit(',').map(|number| number.trim().parse::<u32>().ok());
        let (size, rank) = (numbers.next().flatten(), numbers.next().flatten());
        match size {
            Some(size) if size == self.size && rank.is_some_and(|rank| rank != self.me) => Err(line.wrong(format!(
                "field {}: found a communicator in which rank {} has another number, {}; allowed is one with all ranks in their order",
                place + 1,
                self.me,
                rank.unwrap_or_default()
            ))),
            Some(size) if size == self.size => Ok(WORLD),
            Some(1) => Ok(ITSELF),
            Some(size) => Err(line.wrong(format!(
                "field {}: found a communicator of {size} of {} ranks; allowed is one of all, as the format does not say which they are",
                place + 1,
                self.size
            ))),
            None => Err(line.wrong(format!("field {}: found `{text}`; allowed is a communicator, its rank and size", place + 1))),
        }
    }

    fn collective(&mut self, name: &str, line: &Fields<'_>) -> Result<(), TraceError> {
        use CollectiveKind as Kind;
        let sized = |place| bytes(line, place);
        // The root of a gather or scatter states both sizes, as every rank of the others does.
        let both = || same_size(sized(3)?, sized(6)?).map_err(|problem| line.wrong(problem));
        let rooted = |place| -> Result<(u32, u64), TraceError> {
            let root = line.number(8, "root")?;
            Ok((root, if root == self.me { both()? } else { sized(place)? }))
        };
        let (kind, root, size, counts, communicator) = match name {
            "MPI_Barrier" => (Kind::Barrier, 0, 0, vec![], 2),
            "MPI_Bcast" => (Kind::Broadcast, line.number(5, "root")?, sized(3)?, vec![], 6),
            "MPI_Reduce" => (Kind::Reduce, line.number(7, "root")?, sized(4)?, vec![], 8),
            "MPI_Allreduce" => (Kind::AllReduce, 0, sized(4)?, vec![], 7),
            "MPI_Scan" => (Kind::Scan, 0, sized(4)?, vec![], 7),
            "MPI_Exscan" => (Kind::Exscan, 0, sized(4)?, vec![], 7),
            "MPI_Gather" => rooted(3).map(|(root, size)| (Kind::Gather, root, size, vec![], 9))?,
            "MPI_Scatter" => rooted(6).map(|(root, size)| (Kind::Scatter, root, size, vec![], 9))?,
            "MPI_Allgather" => (Kind::AllGather, 0, both()?, vec![], 8),
            "MPI_Alltoall" => (Kind::AllToAll, 0, both()?, vec![], 8),
            "MPI_Gatherv" => {
                let root = line.number(11, "root")?;
                (Kind::Gatherv, root, sized(3)?, self.counts_at(root, line, 7, 10)?, 12)
            }
            "MPI_Scatterv" => {
                let root = line.number(11, "root")?;
                (Kind::Scatterv, root, sized(9)?, self.counts_at(root, line, 4, 7)?, 12)
            }
            "MPI_Allgatherv" => (Kind::AllGatherv, 0, sized(3)?, self.counts(line, 7, 10)?, 11),
            "MPI_Reduce_scatter" => {
                let counts = self.counts(line, 5, 6)?;
                (Kind::ReduceScatter, 0, super::text::total(&counts), counts, 8)
            }
            _ => {
                let mut counts = self.counts(line, 4, 7)?;
                counts.extend(self.counts(line, 10, 13)?);
                (Kind::AllToAllv, 0, 0, counts, 14)
            }
        };
        if self.communicator(line, communicator)? == WORLD {
            self.gathering.call(super::text::of_all(kind, root, size, counts));
        }
        Ok(())
    }

    /// The sizes for all ranks in a field, of the datatype in another.
    fn counts(&self, line: &Fields<'_>, place: usize, datatype: usize) -> Result<Vec<u64>, TraceError> {
        let size = size_of(line, datatype)?;
        let text = line.text(place, "counts")?;
        let wrong = || line.wrong(format!("field {}: found `{text}`; allowed are {} counts", place + 1, self.size));
        let counts = text.split(',').map(|count| count.trim().parse::<u64>().map(|count| count.saturating_mul(size)));
        let counts = counts.collect::<Result<Vec<u64>, _>>().map_err(|_| wrong())?;
        if counts.len() == self.size as usize { Ok(counts) } else { Err(wrong()) }
    }

    /// The same where only the root has them.
    fn counts_at(&self, root: u32, line: &Fields<'_>, place: usize, datatype: usize) -> Result<Vec<u64>, TraceError> {
        if root == self.me { self.counts(line, place, datatype) } else { Ok(Vec::new()) }
    }
}

/// The message whose count is in a field, followed by its datatype, partner and tag.
fn message(line: &Fields<'_>, count: usize, communicator: u32) -> Result<Message, TraceError> {
    let (partner, tag) = (line.named_or_any(count + 2, "other rank")?, line.named_or_any(count + 3, "tag")?);
    Ok(Message { partner, tag, communicator, bytes: bytes(line, count)? })
}

/// The size of as many elements as a field says, of the datatype after it. [B]
fn bytes(line: &Fields<'_>, count: usize) -> Result<u64, TraceError> {
    Ok(line.amount(count, "count")?.saturating_mul(size_of(line, count + 1)?))
}

/// The size of the datatype in a field. [B]
fn size_of(line: &Fields<'_>, place: usize) -> Result<u64, TraceError> {
    let text = line.text(place, "datatype")?;
    let size = text.split(',').nth(1).and_then(|size| size.trim().parse().ok());
    size.ok_or_else(|| {
        line.wrong(format!("field {}: found `{text}`; allowed is a datatype, its size and extent", place + 1))
    })
}
