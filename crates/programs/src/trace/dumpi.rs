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
//! The program's own datatypes are refused, since the text does not say how large they are; so are communicators other than that of all
//! ranks, its duplicates, and that of the rank alone, since it does not say which ranks belong to them.
//!
//! Source: the printing code of dumpi2ascii (`dumpi2ascii-defs.h`), and the arguments of MPI's functions in C, whose names it prints.

use std::collections::{BTreeMap, BTreeSet};

use quantities::{Duration, nearest};
use trace_format::{Call, CollectiveKind, ITSELF, Message, WORLD};

use super::text::{CALLS, Gathering, collective, known_calls, of_all};
use super::{RankCalls, TraceError};

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
const OTHERS: [&str; 11] = [
    "MPI_Send_init",
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
];

/// Prefixes of calls that a replay cannot follow.
const UNSUPPORTED: [&str; 5] = ["MPI_Win_", "MPI_Intercomm_", "MPI_Comm_spawn", "MPI_Alltoallw", "MPI_Cancel"];

const ENTERING: &str = " entering at walltime ";
const RETURNING: &str = " returning at walltime ";

/// Whether a line belongs to such a trace.
pub fn is_line(line: &str) -> bool {
    line.contains(ENTERING)
}

/// Reads the file of rank `me` of `size`.
///
/// # Errors
/// The error in a line.
pub fn read(file: &str, text: &str, me: u32, size: u32) -> Result<RankCalls, TraceError> {
    let mut rank = Rank {
        me,
        size,
        began: 0,
        returned: None,
        ended: None,
        worlds: BTreeSet::new(),
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
    Ok(rank.gathering.finish(file, elapsed))
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
    fn bytes(&self, count: &str, datatype: &str) -> Result<u64, TraceError> {
        Ok((self.number(count)?.max(0) as u64).saturating_mul(self.size_of(datatype)?))
    }

    /// The size of a datatype. [B]
    fn size_of(&self, datatype: &str) -> Result<u64, TraceError> {
        let name = self.described(datatype)?;
        let known = SIZES.iter().find(|(known, _)| *known == name).map(|&(_, size)| size);
        known.ok_or_else(|| self.wrong(format!("found datatype `{name}`; allowed is one that every library has, as the text does not say how large others are")))
    }

    /// The sizes for all ranks.
    fn counts(&self, counts: &str, datatype: &str) -> Result<Vec<u64>, TraceError> {
        let size = self.size_of(datatype)?;
        Ok(self.list(counts)?.into_iter().map(|count| (count.max(0) as u64).saturating_mul(size)).collect())
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
    /// Communicators that are duplicates of the one of all ranks.
    worlds: BTreeSet<i64>,
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
            (None, "MPI_Comm_dup") => {
                let of_all = self
                    .communicator(call, if call.arguments.contains_key("comm") { "comm" } else { "oldcomm" })?
                    == WORLD;
                let made = call.number("newcomm")?;
                self.worlds.extend(of_all.then_some(made));
                Ok(())
            }
            (None, name) if name.starts_with("MPI_Wait") || name.starts_with("MPI_Test") => self.wait(call),
            (None, _) => self.message(call),
        }
    }

    /// A call that does not matter, whose time counts as computing; or one that can't be followed.
    fn other(&self, call: &Printed<'_>) -> Result<(), TraceError> {
        let is_nothing =
            call.name.starts_with("MPI_") && !UNSUPPORTED.iter().any(|prefix| call.name.starts_with(prefix));
        // `MPI_Isned` is not a function of MPI.
        let meant = nearest(call.name, known_calls().chain(OTHERS));
        match meant {
            Some(name) if !call.name.starts_with("MPI_Comm_") => {
                Err(call.wrong("found a call that is not of MPI").with_hint(format!("did you mean `{name}`?")))
            }
            _ if is_nothing => Ok(()),
            _ => Err(call.wrong("found a call that a replay cannot follow")),
        }
    }

    fn communicator(&self, call: &Printed<'_>, argument: &str) -> Result<u32, TraceError> {
        match call.described(argument)? {
            "MPI_COMM_WORLD" => Ok(WORLD),
            "MPI_COMM_SELF" => Ok(ITSELF),
            _ if self.worlds.contains(&call.number(argument)?) => Ok(WORLD),
            other => Err(call.wrong(format!(
                "found communicator `{other}`; allowed is one of all ranks, as the text does not list the members of others"
            ))),
        }
    }

    fn message(&mut self, call: &Printed<'_>) -> Result<(), TraceError> {
        let communicator = if call.arguments.contains_key("comm") { self.communicator(call, "comm")? } else { WORLD };
        // Nothing, if the partner is `MPI_PROC_NULL`.
        let part = |count, datatype, partner, tag| -> Result<Option<Message>, TraceError> {
            if call.is_null_process(partner)? {
                return Ok(None);
            }
            let (partner, tag) = (call.named_or_any(partner)?, call.named_or_any(tag)?);
            Ok(Some(Message { partner, tag, communicator, bytes: call.bytes(count, datatype)? }))
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
            "MPI_Probe" if !call.is_null_process("source")? => {
                let (partner, tag) = (call.named_or_any("source")?, call.named_or_any("tag")?);
                self.gathering.call(Call::Probe(received(Message { partner, tag, communicator, bytes: 0 })));
            }
            "MPI_Probe" => {}
            "MPI_Send_init" => {
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
        let is_root = root == self.me;
        let bytes = match kind {
            Kind::Barrier | Kind::AllToAllv => 0,
            Kind::Gather | Kind::Gatherv | Kind::AllGatherv => call.bytes("sendcount", "sendtype")?,
            Kind::Scatter | Kind::Scatterv | Kind::AllGather | Kind::AllToAll => call.bytes("recvcount", "recvtype")?,
            Kind::ReduceScatter => call.counts("recvcounts", "datatype")?.iter().sum(),
            _ => call.bytes("count", "datatype")?,
        };
        let counts = match kind {
            Kind::Gatherv if is_root => call.counts("recvcounts", "recvtype")?,
            Kind::Scatterv if is_root => call.counts("sendcounts", "sendtype")?,
            Kind::AllGatherv => call.counts("recvcounts", "recvtype")?,
            Kind::ReduceScatter => call.counts("recvcounts", "datatype")?,
            Kind::AllToAllv => {
                [call.counts("sendcounts", "sendtype")?, call.counts("recvcounts", "recvtype")?].concat()
            }
            _ => Vec::new(),
        };
        if communicator == WORLD && self.size > 1 {
            self.gathering.call(of_all(kind, root, bytes, counts));
        }
        Ok(())
    }
}
