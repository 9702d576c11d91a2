//! What the readers of traces as text have in common: the calls of a rank as they come together, and fields with their place.

use std::collections::BTreeMap;
use std::str::FromStr;

use quantities::Duration;
use trace_format::{Call, Collective, CollectiveKind, Message, Transfer};

use super::{RankCalls, TraceError};

/// The collectives, by their names in C.
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

/// The other calls that matter to a replay and are in every format with the names of C.
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

/// All of these.
pub(super) fn known_calls() -> impl Iterator<Item = &'static str> {
    CALLS.into_iter().chain(COLLECTIVES.map(|(name, _)| name))
}

/// The collective of that name in C.
pub(super) fn collective(name: &str) -> Option<CollectiveKind> {
    COLLECTIVES.iter().find(|(known, _)| *known == name).map(|&(_, kind)| kind)
}

/// The calls of a rank, as they are read. Requests are known by what the trace calls them, of a type of its own.
#[derive(Debug)]
pub(super) struct Gathering<Name> {
    calls: Vec<(Duration, Call)>,
    /// What was computed since the last call.
    computed: Duration,
    /// The requests that are under way, by name; several with one name are told apart by their order.
    under_way: BTreeMap<Name, Vec<u32>>,
    /// Numbers of requests that are free again, and the next that was never given.
    free: Vec<u32>,
    next: u32,
}

impl<Name: Ord + Clone> Gathering<Name> {
    pub(super) fn new() -> Gathering<Name> {
        let under_way = BTreeMap::new();
        Gathering { calls: Vec::new(), computed: Duration::ZERO, under_way, free: Vec::new(), next: 0 }
    }

    /// The rank computes.
    pub(super) fn compute(&mut self, work: Duration) {
        self.computed = Duration::from_picoseconds(self.computed.picoseconds().saturating_add(work.picoseconds()));
    }

    /// The rank makes a call that it waits for.
    pub(super) fn call(&mut self, call: Call) {
        self.calls.push((std::mem::take(&mut self.computed), call));
    }

    /// The rank sends a message and receives another meanwhile; either may be none.
    pub(super) fn exchange(&mut self, send: Option<Message>, receive: Option<Message>) {
        match (send, receive) {
            (Some(send), Some(receive)) => self.call(Call::SendReceive(Box::new(Transfer { send, receive }))),
            (Some(send), None) => self.call(Call::Send(send)),
            (None, Some(receive)) => self.call(Call::Receive(receive)),
            (None, None) => {}
        }
    }

    /// The rank begins to send or to receive.
    pub(super) fn begin(&mut self, name: Name, sends: bool, message: Message) {
        let request = self.free.pop().unwrap_or_else(|| {
            self.next += 1;
            self.next - 1
        });
        self.under_way.entry(name).or_default().push(request);
        self.call(if sends { Call::BeginSend(request, message) } else { Call::BeginReceive(request, message) });
    }

    /// Whose message a receive has got that is under way.
    pub(super) fn matched(&mut self, name: &Name, source: u32, tag: u32) {
        let begun = self.under_way.get(name).and_then(|requests| requests.first()).copied();
        let of_request = |(_, call): &&mut (Duration, Call)| matches!(call, Call::BeginReceive(request, _) if Some(*request) == begun);
        if let Some((_, Call::BeginReceive(_, message))) = self.calls.iter_mut().rev().find(of_request) {
            message.partner.get_or_insert(source);
            message.tag.get_or_insert(tag);
        }
    }

    /// The rank waits for those of the requests that are under way: what is not was over before, as a test found.
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

    /// The names of the requests that are under way, each as often as there are requests.
    pub(super) fn names(&self) -> Vec<Name> {
        self.under_way.iter().flat_map(|(name, requests)| requests.iter().map(|_| name.clone())).collect()
    }

    /// The calls, at whose end nothing is left under way; the program ran so long. [ns]
    pub(super) fn finish(mut self, file: &str, elapsed: u64) -> RankCalls {
        let left = self.names();
        self.wait(left);
        self.call(Call::Finalize(elapsed));
        RankCalls { file: file.to_owned(), calls: self.calls }
    }
}

/// A collective of all ranks.
pub(super) fn of_all(kind: CollectiveKind, root: u32, bytes: u64, counts: Vec<u64>) -> Call {
    let communicator = trace_format::WORLD;
    Call::Collective(Box::new(Collective { kind, communicator, root, bytes, counts: counts.into() }))
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
    /// What is wrong with the line.
    pub(super) fn wrong(&self, problem: impl std::fmt::Display) -> TraceError {
        TraceError::of_file(&format!("{}:{}", self.file, self.line), problem.to_string())
    }

    /// The field at `place`, from 0, which is called so.
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

    /// The number in that field, which may be written with a point or an exponent: rounded to a whole one.
    pub(super) fn amount(&self, place: usize, name: &str) -> Result<u64, TraceError> {
        let number: f64 = self.number(place, name)?;
        if (0.0..=u64::MAX as f64 / 2.0).contains(&number) {
            return Ok(number.round() as u64);
        }
        let found = self.text(place, name)?;
        Err(self.wrong(format!("field {}: found `{found}`; allowed is the {name}, which is not negative", place + 1)))
    }

    /// The rank or tag in that field; none, where it is negative: any.
    pub(super) fn named_or_any(&self, place: usize, name: &str) -> Result<Option<u32>, TraceError> {
        Ok(u32::try_from(self.number::<i64>(place, name)?).ok())
    }
}
