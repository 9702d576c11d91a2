//! What the readers of text traces share: the calls of a rank as they are collected, and fields with their positions.

use std::collections::BTreeMap;
use std::str::FromStr;

use quantities::Duration;
use trace_format::{Call, Collective, CollectiveKind, Message, Transfer};

use super::{RankCalls, TraceError};

/// The collectives, by their C names.
const COLLECTIVES: [(&str, CollectiveKind); 15] = [
    ("MPI_Barrier", CollectiveKind::Barrier),
    ("MPI_Bcast", CollectiveKind::Broadcast),
    ("MPI_Reduce", CollectiveKind::Reduce),
    ("MPI_Allreduce", CollectiveKind::AllReduce),
    ("MPI_Gather", CollectiveKind::Gather),
    ("MPI_Gatherv", CollectiveKind::Gatherv),
    ("MPI_Scatter", CollectiveKind::Scatter),
    ("MPI_Scatterv", CollectiveKind::Scatterv),
    ("MPI_Allgather", CollectiveKind::AllGather),
    ("MPI_Allgatherv", CollectiveKind::AllGatherv),
    ("MPI_Alltoall", CollectiveKind::AllToAll),
    ("MPI_Alltoallv", CollectiveKind::AllToAllv),
    ("MPI_Reduce_scatter", CollectiveKind::ReduceScatter),
    ("MPI_Scan", CollectiveKind::Scan),
    ("MPI_Exscan", CollectiveKind::Exscan),
];

/// The other calls that matter to a replay and have their C names in every format.
pub(super) const CALLS: [&str; 17] = [
    "MPI_Init",
    "MPI_Init_thread",
    "MPI_Finalize",
    "MPI_Send",
    "MPI_Bsend",
    "MPI_Ssend",
    "MPI_Rsend",
    "MPI_Isend",
    "MPI_Ibsend",
    "MPI_Issend",
    "MPI_Irsend",
    "MPI_Recv",
    "MPI_Irecv",
    "MPI_Sendrecv",
    "MPI_Wait",
    "MPI_Waitall",
    "MPI_Probe",
];

/// All of these calls.
pub(super) fn known_calls() -> impl Iterator<Item = &'static str> {
    CALLS.into_iter().chain(COLLECTIVES.map(|(name, _)| name))
}

/// The collective with this C name.
pub(super) fn collective(name: &str) -> Option<CollectiveKind> {
    COLLECTIVES.iter().find(|(known, _)| *known == name).map(|&(_, kind)| kind)
}

/// The calls of a rank, as they are read. Requests are identified by their names in the trace, which have a type of
/// their own.
#[derive(Debug)]
pub(super) struct Gathering<Name> {
    calls: Vec<(Duration, Call)>,
    /// Computing time since the last call.
    computed: Duration,
    /// The requests under way, by name; several with the same name are distinguished by their order.
    under_way: BTreeMap<Name, Vec<u32>>,
    /// Request numbers that are free again, and the next unused one.
    free: Vec<u32>,
    next: u32,
}

impl<Name: Ord + Clone> Gathering<Name> {
    pub(super) fn new() -> Gathering<Name> {
        let under_way = BTreeMap::new();
        Gathering { calls: Vec::new(), computed: Duration::ZERO, under_way, free: Vec::new(), next: 0 }
    }

    /// Adds computing time.
    pub(super) fn compute(&mut self, work: Duration) {
        self.computed = Duration::from_picoseconds(self.computed.picoseconds().saturating_add(work.picoseconds()));
    }

    /// Adds a blocking call.
    pub(super) fn call(&mut self, call: Call) {
        self.calls.push((std::mem::take(&mut self.computed), call));
    }

    /// Adds a call that sends a message and receives another at the same time; either may be missing.
    pub(super) fn exchange(&mut self, send: Option<Message>, receive: Option<Message>) {
        match (send, receive) {
            (Some(send), Some(receive)) => self.call(Call::SendReceive(Box::new(Transfer { send, receive }))),
            (Some(send), None) => self.call(Call::Send(send)),
            (None, Some(receive)) => self.call(Call::Receive(receive)),
            (None, None) => {}
        }
    }

    /// Adds the making of a communicator whose members are not known yet; returns its place among the calls.
    pub(super) fn place_of_communicator(&mut self, number: u32) -> usize {
        self.call(Call::Communicator(number, Box::default()));
        self.calls.len() - 1
    }

    /// Adds a call that begins to send or to receive.
    pub(super) fn begin(&mut self, name: Name, sends: bool, message: Message) {
        let request = self.free.pop().unwrap_or_else(|| {
            self.next += 1;
            self.next - 1
        });
        self.under_way.entry(name).or_default().push(request);
        self.call(if sends { Call::BeginSend(request, message) } else { Call::BeginReceive(request, message) });
    }

    /// Notes the source and tag of the message that a receive under way has received.
    pub(super) fn matched(&mut self, name: &Name, source: u32, tag: u32) {
        let begun = self.under_way.get(name).and_then(|requests| requests.first()).copied();
        let of_request = |(_, call): &&mut (Duration, Call)| matches!(call, Call::BeginReceive(request, _) if Some(*request) == begun);
        if let Some((_, Call::BeginReceive(_, message))) = self.calls.iter_mut().rev().find(of_request) {
            message.partner.get_or_insert(source);
            message.tag.get_or_insert(tag);
        }
    }

    /// Adds a wait for those of the requests that are under way: others were completed earlier by a test.
    pub(super) fn wait(&mut self, names: impl IntoIterator<Item = Name>) {
        let mut over = Vec::new();
        for name in names {
            if let Some(requests) = self.under_way.get_mut(&name) {
                over.push(requests.remove(0));
                if requests.is_empty() {
                    self.under_way.remove(&name);
                }
            }
        }
        if !over.is_empty() {
            self.free.extend(&over);
            self.call(Call::Wait(over.into()));
        }
    }

    /// The names of the requests under way, each once per request.
    pub(super) fn names(&self) -> Vec<Name> {
        self.under_way.iter().flat_map(|(name, requests)| requests.iter().map(|_| name.clone())).collect()
    }

    /// The calls, with nothing left under way at the end; the program ran for `elapsed`. [ns]
    pub(super) fn finish(mut self, file: &str, elapsed: u64) -> RankCalls {
        let left = self.names();
        self.wait(left);
        self.call(Call::Finalize(elapsed));
        RankCalls { file: file.to_owned(), calls: self.calls }
    }
}

/// What a rank sends to each in a collective and what it has room for from each, which must be the same; none is stated
/// where its data are in place already. [B]
pub(super) fn same_size(sent: u64, room: u64) -> Result<u64, String> {
    match (sent, room) {
        (0, size) | (size, 0) => Ok(size),
        _ if sent == room => Ok(room),
        _ => Err(format!("found {sent} B to send and room for {room} B; allowed is the same size at both ends")),
    }
}

/// A collective of all ranks.
pub(super) fn of_all(kind: CollectiveKind, root: u32, bytes: u64, counts: Vec<u64>) -> Call {
    let communicator = trace_format::WORLD;
    Call::Collective(Box::new(Collective { kind, communicator, root, bytes, counts: counts.into() }))
}

/// The bytes of all ranks together. [B]
pub(super) fn total(counts: &[u64]) -> u64 {
    counts.iter().fold(0, |sum, &count| sum.saturating_add(count))
}

/// The fields of a line, and where the line is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fields<'text> {
    pub(super) file: &'text str,
    /// The line, from 1.
    pub(super) line: usize,
    pub(super) fields: &'text [&'text str],
}

impl<'text> Fields<'text> {
    /// An error in the line.
    pub(super) fn wrong(&self, problem: impl std::fmt::Display) -> TraceError {
        TraceError::of_file(&format!("{}:{}", self.file, self.line), problem.to_string())
    }

    /// The field at `place`, from 0, which is called `name`.
    pub(super) fn text(&self, place: usize, name: &str) -> Result<&'text str, TraceError> {
        let missing = || self.wrong(format!("field {}: found nothing; allowed is the {name}", place + 1));
        self.fields.get(place).copied().ok_or_else(missing)
    }

    /// The number in that field.
    pub(super) fn number<T: FromStr>(&self, place: usize, name: &str) -> Result<T, TraceError> {
        let text = self.text(place, name)?;
        let wrong = || self.wrong(format!("field {}: found `{text}`; allowed is the {name}, a number", place + 1));
        text.parse().map_err(|_| wrong())
    }

    /// The number in that field, which may have a decimal point or an exponent: rounded to an integer.
    pub(super) fn amount(&self, place: usize, name: &str) -> Result<u64, TraceError> {
        let number: f64 = self.number(place, name)?;
        if (0.0..=u64::MAX as f64 / 2.0).contains(&number) {
            return Ok(number.round() as u64);
        }
        let found = self.text(place, name)?;
        Err(self.wrong(format!("field {}: found `{found}`; allowed is the {name}, which is not negative", place + 1)))
    }

    /// The rank or tag in that field; none (any) if it is negative.
    pub(super) fn named_or_any(&self, place: usize, name: &str) -> Result<Option<u32>, TraceError> {
        Ok(u32::try_from(self.number::<i64>(place, name)?).ok())
    }
}
