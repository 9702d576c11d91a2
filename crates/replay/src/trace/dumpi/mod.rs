//! Traces of DUMPI, SST's tracing library, as `dumpi2ascii` prints them: a file for each rank.
//!
//! ```text
//! MPI_Isend entering at walltime 8153.049300000, cputime 0.004400000 seconds in thread 0.
//! int count=4500
//! MPI_Datatype datatype=12 (MPI_DOUBLE)
//! int dest=1
//! int tag=7
//! MPI_Comm comm=2 (MPI_COMM_WORLD)
//! MPI_Request request=[5]
//! MPI_Isend returning at walltime 8153.049310000, cputime 0.004410000 seconds in thread 0.
//! ```
//!
//! The sizes of the program's own datatypes are in the text only if `dumpi2ascii -a` or `-X` has printed it; without,
//! such datatypes are refused. The ranks of communicators follow from the calls of all ranks that made them, see
//! [`complete`].
//!
//! Source: the printing code of dumpi2ascii (`dumpi2ascii-defs.h`), and the arguments of MPI's functions in C, whose
//! names it prints.

mod communicators;

pub use communicators::{OfRank, complete};

use std::collections::BTreeMap;

use quantities::{Duration, nearest};
use trace_format::{Call, Collective, CollectiveKind, ITSELF, Message, WORLD};

use self::communicators::{By, How, Making, NewCommunicator, What};
use super::text::{CALLS, Gathering, collective, known_calls, of_all, same_size, total};
use super::{FileRanks, RankCalls, TraceError, TraceFormat, TraceReader};

/// Sizes of the datatypes that every library has. [B]
const SIZES: [(&str, u64); 20] = [
    ("MPI_CHAR", 1),
    ("MPI_SIGNED_CHAR", 1),
    ("MPI_UNSIGNED_CHAR", 1),
    ("MPI_BYTE", 1),
    ("MPI_PACKED", 1),
    ("MPI_WCHAR", 4),
    ("MPI_SHORT", 2),
    ("MPI_UNSIGNED_SHORT", 2),
    ("MPI_INT", 4),
    ("MPI_UNSIGNED", 4),
    ("MPI_LONG", 8),
    ("MPI_UNSIGNED_LONG", 8),
    ("MPI_LONG_LONG_INT", 8),
    ("MPI_UNSIGNED_LONG_LONG", 8),
    ("MPI_FLOAT", 4),
    ("MPI_DOUBLE", 8),
    ("MPI_LONG_DOUBLE", 16),
    ("MPI_FLOAT_INT", 8),
    ("MPI_DOUBLE_INT", 12),
    ("MPI_2INT", 8),
];

/// The other calls that matter, besides those of every format.
const OTHERS: [&str; 18] = [
    "MPI_Sendrecv_replace",
    "MPI_Send_init",
    "MPI_Bsend_init",
    "MPI_Ssend_init",
    "MPI_Rsend_init",
    "MPI_Recv_init",
    "MPI_Start",
    "MPI_Startall",
    "MPI_Waitany",
    "MPI_Waitsome",
    "MPI_Test",
    "MPI_Testall",
    "MPI_Testany",
    "MPI_Testsome",
    "MPI_Comm_dup",
    "MPI_Comm_split",
    "MPI_Comm_create",
    "MPI_Cart_create",
];

/// What makes a group; no time passes in it.
const GROUPS: [&str; 3] = ["MPI_Comm_group", "MPI_Group_incl", "MPI_Group_excl"];

/// What makes a group of two.
const COMBINED: [(&str, How); 3] = [
    ("MPI_Group_union", How::Union),
    ("MPI_Group_intersection", How::Intersection),
    ("MPI_Group_difference", How::Difference),
];

/// Prefixes of calls that take part in no communication: their time counts as computing, as that of files does. What
/// makes a group or a communicator that can't be followed is among them, and an error only where it is used.
const IGNORED: [&str; 49] = [
    "MPI_Abort",
    "MPI_Add_error_",
    "MPI_Address",
    "MPI_Alloc_mem",
    "MPI_Attr_",
    "MPI_Buffer_",
    "MPI_Cart_coords",
    "MPI_Cart_get",
    "MPI_Cart_map",
    "MPI_Cart_rank",
    "MPI_Cart_shift",
    "MPI_Cart_sub",
    "MPI_Cartdim_get",
    "MPI_Comm_compare",
    "MPI_Comm_free",
    "MPI_Comm_get_",
    "MPI_Comm_rank",
    "MPI_Comm_remote_",
    "MPI_Comm_set_",
    "MPI_Comm_size",
    "MPI_Comm_test_inter",
    "MPI_Dims_create",
    "MPI_Errhandler_",
    "MPI_Error_",
    "MPI_File_",
    "MPI_Finalized",
    "MPI_Free_mem",
    "MPI_Get_",
    "MPI_Graph",
    "MPI_Group_",
    "MPI_Info_",
    "MPI_Initialized",
    "MPI_Iprobe",
    "MPI_Is_thread_main",
    "MPI_Keyval_",
    "MPI_Op_",
    "MPI_Pack",
    "MPI_Pcontrol",
    "MPI_Query_thread",
    "MPI_Register_datarep",
    "MPI_Request_free",
    "MPI_Request_get_status",
    "MPI_Status_set_",
    "MPI_Test_cancelled",
    "MPI_Topo_test",
    "MPI_Type_",
    "MPI_Unpack",
    "MPI_Wtick",
    "MPI_Wtime",
];

/// Endings of further calls about errors and attributes.
const IGNORED_ENDINGS: [&str; 4] = ["_errhandler", "_keyval", "_attr", "_name"];

/// Prefixes of calls that a replay cannot follow: one-sided, generalized, between programs.
const UNSUPPORTED: [&str; 11] = [
    "MPI_Accumulate",
    "MPI_Alltoallw",
    "MPI_Cancel",
    "MPI_Close_port",
    "MPI_Comm_",
    "MPI_Get",
    "MPI_Grequest_",
    "MPI_Intercomm_",
    "MPI_Open_port",
    "MPI_Put",
    "MPI_Win_",
];

/// What each rank contributes to the making of a communicator. [B]
const AGREEMENT: u64 = 8;

/// A datatype and its size, as `dumpi2ascii -X` prints them.
const DATATYPE: &str = "Datatype ";
const HAS_SIZE: &str = ") has size ";

const ENTERING: &str = " entering at walltime ";
const RETURNING: &str = " returning at walltime ";

/// The format.
#[derive(Clone, Copy, Debug)]
pub struct Dumpi;

impl TraceFormat for Dumpi {
    fn name(&self) -> &'static str {
        "DUMPI"
    }

    /// The text may begin with the record of how the trace was made.
    fn recognises(&self, first: &str, text: &str) -> bool {
        is_line(first) || first.starts_with("version=") && text.lines().any(is_line)
    }

    fn reader(&self, _operations: f64) -> Box<dyn TraceReader> {
        Box::<DumpiReader>::default()
    }
}

/// The ranks whose files have been read.
#[derive(Default)]
struct DumpiReader(Vec<OfRank>);

impl TraceReader for DumpiReader {
    fn add(&mut self, file: &str, text: &str, ranks: FileRanks) -> Result<(), TraceError> {
        let (me, size) = ranks.of_one();
        self.0.push(read(file, text, me, size)?);
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<Vec<RankCalls>, TraceError> {
        complete(self.0)
    }
}

/// Whether a line belongs to such a trace.
fn is_line(line: &str) -> bool {
    line.contains(ENTERING)
}

/// Reads the file of rank `me` of `size`, as far as that can be done without the others: [`complete`] does the rest.
///
/// # Errors
/// The error in a line.
pub fn read(file: &str, text: &str, me: u32, size: u32) -> Result<OfRank, TraceError> {
    let mut rank = Rank {
        me,
        size,
        began: 0,
        returned: None,
        ended: None,
        sizes: sizes(text),
        communicators: BTreeMap::new(),
        numbered: ITSELF + 1,
        makings: Vec::new(),
        made: BTreeMap::new(),
        gathering: Gathering::new(),
    };
    let mut open: Option<Printed<'_>> = None;
    for (line, content) in (1..).zip(text.lines()) {
        let wrong = |problem: String| TraceError::of_file(&format!("{file}:{line}"), problem);
        if let Some((name, rest)) = content.split_once(ENTERING) {
            let entered =
                nanoseconds(rest).ok_or_else(|| wrong(format!("found `{rest}`; allowed is a time in seconds")))?;
            open = Some(Printed { file, line, name: name.trim(), entered, arguments: BTreeMap::new() });
        } else if let Some((_, rest)) = content.split_once(RETURNING) {
            let returned =
                nanoseconds(rest).ok_or_else(|| wrong(format!("found `{rest}`; allowed is a time in seconds")))?;
            let call = open.take().ok_or_else(|| wrong("found the end of a call that did not begin".to_owned()))?;
            rank.call(&call, returned)?;
        } else if let (Some(call), Some((declared, value))) = (&mut open, content.split_once('=')) {
            // A type, a name and, for an array, its length.
            let name = declared.split(['[', ' ']).rfind(|word| !word.is_empty() && !word.ends_with(']'));
            call.arguments.insert(name.unwrap_or_default(), value.trim());
        }
    }
    let Some(ended) = rank.ended else {
        let problem = "cut short: found the end of the file, where MPI_Finalize is allowed";
        return Err(TraceError::of_file(&format!("{file}:{}", text.lines().count()), problem));
    };
    let elapsed = ended.saturating_sub(rank.began);
    Ok(OfRank { calls: rank.gathering.finish(file, elapsed), makings: rank.makings })
}

/// The sizes of datatypes by their numbers, as far as the text says them. [B]
fn sizes(text: &str) -> BTreeMap<i64, u64> {
    let size = |line: &str| {
        let (name, size) = line.strip_prefix(DATATYPE)?.split_once(HAS_SIZE)?;
        Some((name.split(' ').next()?.parse().ok()?, size.trim().parse().ok()?))
    };
    text.lines().filter_map(size).collect()
}

/// The time at the beginning of a text. [ns]
fn nanoseconds(text: &str) -> Option<u64> {
    let time = text.split(',').next()?.trim();
    let (seconds, fraction) = time.split_once('.').unwrap_or((time, "0"));
    let digits: String = fraction.chars().chain("000000000".chars()).take(9).collect();
    seconds.parse::<u64>().ok()?.checked_mul(1_000_000_000)?.checked_add(digits.parse().ok()?)
}

/// A printed call.
struct Printed<'text> {
    file: &'text str,
    /// The line where it begins, from 1.
    line: usize,
    name: &'text str,
    /// When it was entered. [ns]
    entered: u64,
    /// Its arguments by name.
    arguments: BTreeMap<&'text str, &'text str>,
}

impl<'text> Printed<'text> {
    fn wrong(&self, problem: impl std::fmt::Display) -> TraceError {
        TraceError::of_file(&format!("{}:{}", self.file, self.line), format!("{}: {problem}", self.name))
    }

    fn text(&self, name: &str) -> Result<&'text str, TraceError> {
        self.arguments.get(name).copied().ok_or_else(|| self.wrong(format!("found no {name}; allowed is one")))
    }

    fn number(&self, name: &str) -> Result<i64, TraceError> {
        let text = self.text(name)?;
        let number = text.split_whitespace().next().and_then(|word| word.parse().ok());
        number.ok_or_else(|| self.wrong(format!("found {name} `{text}`; allowed is a number")))
    }

    /// The numbers of a list; none if the trace does not contain them.
    fn list(&self, name: &str) -> Result<Vec<i64>, TraceError> {
        let text = self.text(name)?;
        if text == "<IGNORED>" {
            return Ok(Vec::new());
        }
        let inner = text.trim_start_matches('[').trim_end_matches(']');
        let numbers = inner.split(',').map(str::trim).filter(|number| !number.is_empty()).map(str::parse);
        numbers
            .collect::<Result<Vec<i64>, _>>()
            .map_err(|_| self.wrong(format!("found {name} `{text}`; allowed are numbers")))
    }

    /// The text in brackets after a number.
    fn described(&self, name: &str) -> Result<&'text str, TraceError> {
        let text = self.text(name)?;
        Ok(text.split_once('(').map_or(text, |(_, described)| described.trim_end_matches(')')))
    }

    /// A rank or tag; none if it is a wildcard.
    fn named_or_any(&self, name: &str) -> Result<Option<u32>, TraceError> {
        Ok(u32::try_from(self.number(name)?).ok())
    }

    /// Whether a partner is `MPI_PROC_NULL`.
    fn is_null_process(&self, name: &str) -> Result<bool, TraceError> {
        Ok(self.number(name)? < 0 && self.described(name)? != "MPI_ANY_SOURCE")
    }

    /// Source and tag of each status; nothing if the trace does not contain them.
    fn statuses(&self) -> Vec<(u32, u32)> {
        let text = self.arguments.get("statuses").or(self.arguments.get("status")).copied().unwrap_or_default();
        let field = |status: &str, name: &str| -> Option<u32> {
            let value = status.split(',').find_map(|field| field.trim().strip_prefix(name)?.strip_prefix('='))?;
            value.parse().ok()
        };
        let each = text.split('{').skip(1).map(|status| status.split('}').next().unwrap_or_default());
        each.filter_map(|status| Some((field(status, "source")?, field(status, "tag")?))).collect()
    }

    /// The size of as many elements as `count` says, of the datatype that `datatype` names. [B]
    fn bytes(&self, sizes: &BTreeMap<i64, u64>, count: &str, datatype: &str) -> Result<u64, TraceError> {
        Ok(self.not_negative(count, self.number(count)?)?.saturating_mul(self.size_of(sizes, datatype)?))
    }

    fn not_negative(&self, name: &str, number: i64) -> Result<u64, TraceError> {
        u64::try_from(number).map_err(|_| self.wrong(format!("found {name} `{number}`; allowed is 0 or more")))
    }

    /// The size that a rank sends, and has room for, in a collective. [B]
    fn both_sizes(&self, sizes: &BTreeMap<i64, u64>) -> Result<u64, TraceError> {
        // What is in place already may be of no type.
        let size = |count, datatype| if self.number(count)? == 0 { Ok(0) } else { self.bytes(sizes, count, datatype) };
        same_size(size("sendcount", "sendtype")?, size("recvcount", "recvtype")?).map_err(|problem| self.wrong(problem))
    }

    /// The size of a datatype: one of `sizes`, by its number, or one that every library has. [B]
    fn size_of(&self, sizes: &BTreeMap<i64, u64>, datatype: &str) -> Result<u64, TraceError> {
        if let Some(size) = sizes.get(&self.number(datatype)?) {
            return Ok(*size);
        }
        let name = self.described(datatype)?;
        let known = SIZES.iter().find(|(known, _)| *known == name).map(|&(_, size)| size);
        known.ok_or_else(|| {
            let problem = "allowed is one that every library has, as the text does not say how large others are";
            let wrong = self.wrong(format!("found datatype `{name}`; {problem}"));
            wrong.with_hint("`dumpi2ascii -S -X` prints the sizes of all datatypes, too")
        })
    }

    /// The sizes for all ranks.
    fn counts(&self, sizes: &BTreeMap<i64, u64>, counts: &str, datatype: &str) -> Result<Vec<u64>, TraceError> {
        let size = self.size_of(sizes, datatype)?;
        let list = self.list(counts)?.into_iter();
        list.map(|count| Ok(self.not_negative(counts, count)?.saturating_mul(size))).collect()
    }

    /// Whether an argument is a communicator that the rank is not in.
    fn is_null(&self, name: &str) -> Result<bool, TraceError> {
        Ok(self.described(name)? == "MPI_COMM_NULL")
    }
}

/// A rank whose calls are being read. Its requests are identified by their numbers.
struct Rank {
    me: u32,
    size: u32,
    /// When `MPI_Init` returned. [ns]
    began: u64,
    /// When the last call returned. [ns]
    returned: Option<u64>,
    /// When `MPI_Finalize` was called. [ns]
    ended: Option<u64>,
    /// The sizes of datatypes that the text says. [B]
    sizes: BTreeMap<i64, u64>,
    /// The communicators that were made: their numbers in the calls. A duplicate has that of its original.
    communicators: BTreeMap<i64, u32>,
    /// The number of the next one.
    numbered: u32,
    makings: Vec<Making>,
    /// Persistent requests, whether they send, and what.
    made: BTreeMap<i64, (bool, Message)>,
    gathering: Gathering<i64>,
}

impl Rank {
    fn call(&mut self, call: &Printed<'_>, returned: u64) -> Result<(), TraceError> {
        if matches!(call.name, "MPI_Init" | "MPI_Init_thread") {
            (self.began, self.returned) = (returned, Some(returned));
            return Ok(());
        }
        let collective = collective(call.name);
        if GROUPS.contains(&call.name) || COMBINED.iter().any(|(name, _)| *name == call.name) {
            return self.group(call);
        }
        if collective.is_none() && !CALLS.contains(&call.name) && !OTHERS.contains(&call.name) {
            return self.other(call);
        }
        let computed = call.entered.saturating_sub(self.returned.unwrap_or(call.entered));
        self.gathering.compute(Duration::from_picoseconds(computed.saturating_mul(1_000)));
        self.returned = Some(returned);
        match (collective, call.name) {
            (Some(kind), _) => self.collective(kind, call),
            (None, "MPI_Finalize") => {
                self.ended = Some(call.entered);
                Ok(())
            }
            (None, "MPI_Comm_dup" | "MPI_Comm_split" | "MPI_Comm_create" | "MPI_Cart_create") => self.make(call),
            (None, name) if name.starts_with("MPI_Wait") || name.starts_with("MPI_Test") => self.wait(call),
            (None, _) => self.message(call),
        }
    }

    /// A call that does not matter, whose time counts as computing; or one that can't be followed.
    fn other(&self, call: &Printed<'_>) -> Result<(), TraceError> {
        let is_ignored = IGNORED.iter().any(|prefix| call.name.starts_with(prefix))
            || IGNORED_ENDINGS.iter().any(|ending| call.name.ends_with(ending))
            || call.name.starts_with("MPIO_");
        let is_unsupported = UNSUPPORTED.iter().any(|prefix| call.name.starts_with(prefix));
        // `MPI_Isned` is not a function of MPI.
        match nearest(call.name, known_calls().chain(OTHERS)) {
            _ if is_ignored => Ok(()),
            Some(name) if !is_unsupported => {
                Err(call.wrong("found a call that is not of MPI").with_hint(format!("did you mean `{name}`?")))
            }
            _ => Err(call.wrong("found a call that a replay cannot follow")),
        }
    }

    fn communicator(&self, call: &Printed<'_>, argument: &str) -> Result<u32, TraceError> {
        match call.described(argument)? {
            "MPI_COMM_WORLD" => Ok(WORLD),
            "MPI_COMM_SELF" => Ok(ITSELF),
            other => self.communicators.get(&call.number(argument)?).copied().ok_or_else(|| {
                call.wrong(format!(
                    "found communicator `{other}`; allowed is one of all ranks, or one made by a call from which its members follow: \
                     MPI_Comm_dup, MPI_Comm_split, MPI_Comm_create, or MPI_Cart_create without reordering"
                ))
            }),
        }
    }

    /// A call that makes a communicator.
    fn make(&mut self, call: &Printed<'_>) -> Result<(), TraceError> {
        // Older versions print the name that MPI's standard gives it.
        let old = if call.arguments.contains_key("comm") { "comm" } else { "oldcomm" };
        let made = call.number("newcomm")?;
        if call.name == "MPI_Comm_dup" {
            let parent = self.communicator(call, old)?;
            self.communicators.insert(made, parent);
            return Ok(());
        }
        let by = match call.name {
            "MPI_Comm_split" => By::Colour { colour: call.number("color")?, key: call.number("key")? },
            "MPI_Comm_create" => By::Group(call.number("group")?),
            _ if call.number("reorder")? != 0 => {
                self.communicators.remove(&made);
                return Ok(());
            }
            _ => By::First(call.list("dims")?.iter().fold(1, |all, &of_one| all.saturating_mul(of_one.unsigned_abs()))),
        };
        let parent = self.communicator(call, old)?;
        if parent != ITSELF && self.size > 1 {
            // The ranks of the communicator agree on it.
            let (kind, bytes) = (CollectiveKind::AllGather, AGREEMENT);
            let agreement = Collective { kind, communicator: parent, root: 0, bytes, counts: Box::default() };
            self.gathering.call(Call::Collective(Box::new(agreement)));
        }
        let new = (!call.is_null("newcomm")?).then(|| {
            let number = self.numbered;
            self.numbered += 1;
            NewCommunicator { number, place: self.gathering.place_of_communicator(number) }
        });
        self.communicators.remove(&made);
        self.communicators.extend(new.map(|new| (made, new.number)));
        self.note(call, What::Communicator { parent, by, new });
        Ok(())
    }

    /// A call that makes a group.
    fn group(&mut self, call: &Printed<'_>) -> Result<(), TraceError> {
        let new = call.number(if call.name == "MPI_Comm_group" { "group" } else { "newgroup" })?;
        let what = match call.name {
            // The group of a communicator that can't be followed is an error where it is used.
            "MPI_Comm_group" => match self.communicator(call, "comm") {
                Ok(of) => What::Group { of, new },
                Err(_) => return Ok(()),
            },
            "MPI_Group_incl" | "MPI_Group_excl" => {
                let (of, places) = (call.number("group")?, call.list("ranks")?);
                What::Chosen { of, places, others: call.name == "MPI_Group_excl", new }
            }
            name => {
                let how = COMBINED.iter().find(|(known, _)| *known == name).map_or(How::Union, |&(_, how)| how);
                What::Combined { one: call.number("group1")?, other: call.number("group2")?, how, new }
            }
        };
        self.note(call, what);
        Ok(())
    }

    fn note(&mut self, call: &Printed<'_>, what: What) {
        self.makings.push(Making { line: call.line, name: call.name.to_owned(), what });
    }

    fn message(&mut self, call: &Printed<'_>) -> Result<(), TraceError> {
        let communicator = if call.arguments.contains_key("comm") { self.communicator(call, "comm")? } else { WORLD };
        // Nothing, if the partner is `MPI_PROC_NULL`.
        let part = |count, datatype, partner, tag| -> Result<Option<Message>, TraceError> {
            if call.is_null_process(partner)? {
                return Ok(None);
            }
            let (partner, tag) = (call.named_or_any(partner)?, call.named_or_any(tag)?);
            Ok(Some(Message { partner, tag, communicator, bytes: call.bytes(&self.sizes, count, datatype)? }))
        };
        let seen = call.statuses().first().copied();
        let received = |message: Message| match seen {
            Some((source, tag)) if message.partner.is_none() || message.tag.is_none() => {
                Message { partner: Some(source), tag: Some(tag), ..message }
            }
            _ => message,
        };
        let request = || -> Result<i64, TraceError> {
            let named = call.list("request")?.first().copied();
            named.ok_or_else(|| call.wrong("found no request; allowed is one"))
        };
        let sent = || part("count", "datatype", "dest", "tag");
        let taken = || part("count", "datatype", "source", "tag");
        match call.name {
            "MPI_Send" | "MPI_Bsend" | "MPI_Ssend" | "MPI_Rsend" => {
                sent()?.into_iter().for_each(|message| self.gathering.call(Call::Send(message)));
            }
            "MPI_Isend" | "MPI_Ibsend" | "MPI_Issend" | "MPI_Irsend" => {
                let request = request()?;
                sent()?.into_iter().for_each(|message| self.gathering.begin(request, true, message));
            }
            "MPI_Recv" => {
                taken()?.into_iter().for_each(|message| self.gathering.call(Call::Receive(received(message))));
            }
            "MPI_Irecv" => {
                let request = request()?;
                taken()?.into_iter().for_each(|message| self.gathering.begin(request, false, message));
            }
            "MPI_Sendrecv" => {
                let send = part("sendcount", "sendtype", "dest", "sendtag")?;
                let receive = part("recvcount", "recvtype", "source", "recvtag")?.map(received);
                self.gathering.exchange(send, receive);
            }
            "MPI_Sendrecv_replace" => {
                let send = part("count", "datatype", "dest", "sendtag")?;
                let receive = part("count", "datatype", "source", "recvtag")?.map(received);
                self.gathering.exchange(send, receive);
            }
            "MPI_Probe" if !call.is_null_process("source")? => {
                let (partner, tag) = (call.named_or_any("source")?, call.named_or_any("tag")?);
                self.gathering.call(Call::Probe(received(Message { partner, tag, communicator, bytes: 0 })));
            }
            "MPI_Probe" => {}
            "MPI_Send_init" | "MPI_Bsend_init" | "MPI_Ssend_init" | "MPI_Rsend_init" => {
                let request = request()?;
                self.made.extend(sent()?.map(|message| (request, (true, message))));
            }
            "MPI_Recv_init" => {
                let request = request()?;
                self.made.extend(taken()?.map(|message| (request, (false, message))));
            }
            "MPI_Start" => self.start(&[request()?]),
            _ => self.start(&call.list("requests")?),
        }
        Ok(())
    }

    fn start(&mut self, requests: &[i64]) {
        for request in requests {
            if let Some(&(sends, message)) = self.made.get(request) {
                self.gathering.begin(*request, sends, message);
            }
        }
    }

    /// The requests that were completed, of those that were waited for or tested.
    fn wait(&mut self, call: &Printed<'_>) -> Result<(), TraceError> {
        let requests =
            if call.arguments.contains_key("requests") { call.list("requests")? } else { call.list("request")? };
        if call.arguments.contains_key("flag") && call.number("flag")? == 0 {
            return Ok(());
        }
        let at = |place: i64| usize::try_from(place).ok().and_then(|place| requests.get(place).copied());
        let over: Vec<i64> = if call.arguments.contains_key("indices") {
            call.list("indices")?.into_iter().filter_map(at).collect()
        } else if call.arguments.contains_key("index") {
            at(call.number("index")?).into_iter().collect()
        } else {
            requests
        };
        let statuses = call.statuses();
        if statuses.len() == over.len() {
            over.iter().zip(statuses).for_each(|(request, (source, tag))| self.gathering.matched(request, source, tag));
        }
        self.gathering.wait(over);
        Ok(())
    }

    fn collective(&mut self, kind: CollectiveKind, call: &Printed<'_>) -> Result<(), TraceError> {
        use CollectiveKind as Kind;
        let communicator = self.communicator(call, "comm")?;
        let root = if kind.has_root() { u32::try_from(call.number("root")?).unwrap_or(u32::MAX) } else { 0 };
        let sizes = &self.sizes;
        // Of a communicator that was made, the root is known when its ranks are: who is not has no counts that matter.
        let may_be_root = root == self.me || communicator > ITSELF;
        let bytes = match kind {
            Kind::Barrier | Kind::AllToAllv => 0,
            Kind::AllGather | Kind::AllToAll => call.both_sizes(sizes)?,
            Kind::Gather | Kind::Scatter if root == self.me && communicator <= ITSELF => call.both_sizes(sizes)?,
            Kind::Gather | Kind::Gatherv | Kind::AllGatherv => call.bytes(sizes, "sendcount", "sendtype")?,
            Kind::Scatter | Kind::Scatterv => call.bytes(sizes, "recvcount", "recvtype")?,
            Kind::ReduceScatter => total(&call.counts(sizes, "recvcounts", "datatype")?),
            _ => call.bytes(sizes, "count", "datatype")?,
        };
        let counts = match kind {
            Kind::Gatherv if may_be_root => call.counts(sizes, "recvcounts", "recvtype")?,
            Kind::Scatterv if may_be_root => call.counts(sizes, "sendcounts", "sendtype")?,
            Kind::AllGatherv => call.counts(sizes, "recvcounts", "recvtype")?,
            Kind::ReduceScatter => call.counts(sizes, "recvcounts", "datatype")?,
            Kind::AllToAllv => {
                [call.counts(sizes, "sendcounts", "sendtype")?, call.counts(sizes, "recvcounts", "recvtype")?].concat()
            }
            _ => Vec::new(),
        };
        if communicator == WORLD && self.size > 1 {
            self.gathering.call(of_all(kind, root, bytes, counts));
        } else if communicator > ITSELF {
            let collective = Collective { kind, communicator, root, bytes, counts: counts.into() };
            self.gathering.call(Call::Collective(Box::new(collective)));
        }
        Ok(())
    }
}
