//! The results of a run as tables, in Arrow's streaming format, which polars, pandas, pyarrow and DuckDB read.
//!
//! Times are whole picoseconds. Ranks are numbered within their job, and a run of one program is one job.

use std::io;

use formats::output::{Cell, ColumnOf, Kind, stream_packets, stream_table};
use machines::model::ChannelEnd;
use quantities::{Rank, Time};
use virtual_worlds::answer::{
    Activity, ChannelStatistics, FrameRecord, MessageRecord, RankStatistics, RouterStatistics, Span,
};

use virtual_worlds::critical_path::{Cause, Step};

use crate::{Error, FinishedRun, place};

/// What is recorded of a run while it is in progress.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Recording {
    /// The path of every packet, and the fate of every frame of an Ethernet.
    pub packets: bool,
    /// What every rank did when, and every message.
    pub timeline: bool,
}

/// A table of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableName {
    /// A row for each rank.
    Ranks,
    /// A row for each channel of a network of flits.
    Channels,
    /// A row for each router of a network of flits.
    Routers,
    /// A row for each packet.
    Packets,
    /// A row for each frame of an Ethernet and each of its receivers.
    Frames,
    /// A row for each message that was received.
    Messages,
    /// A row for each stretch of time that a rank spent on one thing.
    Timeline,
    /// A row for each step of the chain of operations that determines the makespan.
    CriticalPath,
}

impl TableName {
    /// All of them.
    pub const fn all() -> [TableName; 8] {
        use TableName::{Channels, CriticalPath, Frames, Messages, Packets, Ranks, Routers, Timeline};
        [Ranks, Channels, Routers, Packets, Frames, Messages, Timeline, CriticalPath]
    }

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            TableName::Ranks => "ranks",
            TableName::Channels => "channels",
            TableName::Routers => "routers",
            TableName::Packets => "packets",
            TableName::Frames => "frames",
            TableName::Messages => "messages",
            TableName::Timeline => "timeline",
            TableName::CriticalPath => "critical_path",
        }
    }
}

impl FinishedRun {
    /// The table called `name`, as an Arrow stream; none if it was not recorded.
    ///
    /// # Errors
    /// If the machine has no such thing.
    pub fn table(&self, name: TableName) -> Result<Option<Vec<u8>>, Error> {
        let mut bytes = Vec::new();
        let written = match name {
            TableName::Ranks => self.stream_ranks(&mut bytes),
            TableName::Channels | TableName::Routers => {
                if self.machine.network().is_none() {
                    return Err(self.without(name, "a machine with a network of routers"));
                }
                if name == TableName::Channels {
                    self.stream_channels(&mut bytes)
                } else {
                    self.stream_routers(&mut bytes)
                }
            }
            TableName::Packets => {
                if self.machine.network().is_none() {
                    return Err(self.without(name, "a machine with a network of routers"));
                }
                let Some(packets) = &self.answer.packet_log else { return Ok(None) };
                stream_packets(&mut bytes, packets, &self.provenance)
            }
            TableName::Frames => {
                if self.machine.model().ethernet().is_none() {
                    return Err(self.without(name, "an Ethernet"));
                }
                let Some(frames) = &self.answer.frame_log else { return Ok(None) };
                stream_table(&mut bytes, &FRAMES, frames.iter().copied(), &self.provenance)
            }
            TableName::Messages => match &self.answer.timeline {
                Some(timeline) => self.stream_messages(&mut bytes, &timeline.messages),
                None => return Ok(None),
            },
            TableName::Timeline => match &self.answer.timeline {
                Some(timeline) => self.stream_spans(&mut bytes, &timeline.spans),
                None => return Ok(None),
            },
            TableName::CriticalPath => match self.find_critical_path()? {
                Some(path) => self.stream_steps(&mut bytes, &path.steps),
                None => return Ok(None),
            },
        };
        // Memory accepts whatever is written to it.
        written.map(|()| Some(bytes)).map_err(|error| Error::parameter(name.name(), error, "what memory can hold"))
    }

    fn without(&self, name: TableName, allowed: &str) -> Error {
        Error::parameter(name.name(), format!("none, on {}", self.machine.name), allowed)
    }

    fn stream_ranks(&self, out: &mut Vec<u8>) -> io::Result<()> {
        let statistics = |node: u32| self.answer.ranks.get(node as usize).copied().unwrap_or_default();
        let alone = self.jobs.is_empty().then_some(&self.answer.finish);
        let alone = alone.into_iter().flatten().zip(0u32..).map(|(&finish, rank)| RankRow {
            job: 0,
            name: &self.program,
            rank,
            node: self.answer.node_of(Rank(rank)).0,
            start: Time::ZERO,
            finish,
            statistics: statistics(rank),
        });
        let placed = self.jobs.iter().zip(0u32..).flat_map(|(ended, job)| {
            let ranks = ended.finish.iter().zip(&ended.nodes).zip(0u32..);
            ranks.map(move |((&finish, &node), rank)| RankRow {
                job,
                name: &ended.name,
                rank,
                node,
                start: ended.start,
                finish,
                statistics: statistics(node),
            })
        });
        stream_table(out, &ranks(), alone.chain(placed), &self.provenance)
    }

    fn stream_channels(&self, out: &mut Vec<u8>) -> io::Result<()> {
        let Some(network) = self.machine.network() else { return Ok(()) };
        let makespan = self.answer.makespan().picoseconds().max(1) as f64;
        let name = |at: ChannelEnd| place(network, at);
        let rows = self.answer.channels.iter().zip(&network.channels).zip(0u32..).map(|((&used, channel), id)| {
            let occupancy = used.occupancy as f64 / makespan;
            ChannelRow { id, from: name(channel.from), to: name(channel.to), used, occupancy }
        });
        stream_table(out, &CHANNELS, rows, &self.provenance)
    }

    fn stream_routers(&self, out: &mut Vec<u8>) -> io::Result<()> {
        let Some(network) = self.machine.network() else { return Ok(()) };
        let rows = self.answer.routers.iter().zip(&network.routers).zip(0u32..);
        let rows = rows.map(|((&fared, router), id)| (id, router.name.clone(), fared));
        stream_table(out, &ROUTERS, rows, &self.provenance)
    }

    fn stream_messages(&self, out: &mut Vec<u8>, messages: &[MessageRecord]) -> io::Result<()> {
        let seats = self.seats();
        let rows = messages.iter().map(|&message| {
            let ((job, source), (_, destination)) = (seats.of(message.from), seats.of(message.to));
            MessageRow { job, source, destination, message }
        });
        stream_table(out, &MESSAGES, rows, &self.provenance)
    }

    fn stream_spans(&self, out: &mut Vec<u8>, spans: &[Span]) -> io::Result<()> {
        let seats = self.seats();
        let rows = spans.iter().map(|&span| (seats.of(span.rank), span));
        stream_table(out, &TIMELINE, rows, &self.provenance)
    }

    fn stream_steps(&self, out: &mut Vec<u8>, steps: &[Step]) -> io::Result<()> {
        let seats = self.seats();
        let rows = steps.iter().map(|&step| {
            let (from, to, bytes) = match step.cause {
                Cause::Message { from, to, size, .. } => (from, to, size.0),
                Cause::Computing | Cause::Waiting => (step.rank, step.rank, 0),
            };
            let ((job, rank), (_, source), (_, destination)) = (seats.of(step.rank), seats.of(from), seats.of(to));
            StepRow { job, rank, source, destination, bytes, step }
        });
        stream_table(out, &CRITICAL_PATH, rows, &self.provenance)
    }

    /// The owner of each node.
    fn seats(&self) -> Seats {
        let nodes = self.jobs.iter().flat_map(|job| &job.nodes).max().map_or(0, |&highest| highest as usize + 1);
        let mut seats = vec![(0, 0); nodes];
        for (ended, job) in self.jobs.iter().zip(0..) {
            for (&node, rank) in ended.nodes.iter().zip(0..) {
                seats[node as usize] = (job, rank);
            }
        }
        Seats(seats)
    }
}

/// The job and the rank on each node; empty if ranks are nodes.
struct Seats(Vec<(u32, u32)>);

impl Seats {
    fn of(&self, node: Rank) -> (u32, u32) {
        self.0.get(node.0 as usize).copied().unwrap_or((0, node.0))
    }
}

struct RankRow<'a> {
    job: u32,
    name: &'a str,
    rank: u32,
    node: u32,
    start: Time,
    finish: Time,
    statistics: RankStatistics,
}

struct ChannelRow {
    id: u32,
    from: String,
    to: String,
    used: ChannelStatistics,
    occupancy: f64,
}

struct StepRow {
    job: u32,
    rank: u32,
    source: u32,
    destination: u32,
    bytes: u64,
    step: Step,
}

struct MessageRow {
    job: u32,
    source: u32,
    destination: u32,
    message: MessageRecord,
}

const fn ranks<'a>() -> [ColumnOf<RankRow<'a>>; 9] {
    [
        ColumnOf("job", Kind::Unsigned32, |row| row.job.into()),
        ColumnOf("name", Kind::Text, |row| row.name.into()),
        ColumnOf("rank", Kind::Unsigned32, |row| row.rank.into()),
        ColumnOf("node", Kind::Unsigned32, |row| row.node.into()),
        ColumnOf("start_ps", Kind::Signed64, |row| row.start.into()),
        ColumnOf("finish_ps", Kind::Signed64, |row| row.finish.into()),
        ColumnOf("packets", Kind::Unsigned64, |row| row.statistics.packets.into()),
        ColumnOf("send_away_ps", Kind::Signed64, |row| row.statistics.send_away.into()),
        ColumnOf("receive_idle_ps", Kind::Signed64, |row| row.statistics.receive_idle.into()),
    ]
}

const CHANNELS: [ColumnOf<ChannelRow>; 8] = [
    ColumnOf("id", Kind::Unsigned32, |row| row.id.into()),
    ColumnOf("from", Kind::Text, |row| row.from.as_str().into()),
    ColumnOf("to", Kind::Text, |row| row.to.as_str().into()),
    ColumnOf("busy_ps", Kind::Signed64, |row| row.used.busy.into()),
    ColumnOf("blocked_ps", Kind::Signed64, |row| row.used.blocked.into()),
    ColumnOf("bytes", Kind::Unsigned64, |row| row.used.bytes.0.into()),
    ColumnOf("packets", Kind::Unsigned64, |row| row.used.packets.into()),
    ColumnOf("mean_occupancy_flits", Kind::Float64, |row| row.occupancy.into()),
];

const ROUTERS: [ColumnOf<(u32, String, RouterStatistics)>; 4] = [
    ColumnOf("id", Kind::Unsigned32, |(id, _, _)| (*id).into()),
    ColumnOf("name", Kind::Text, |(_, name, _)| name.as_str().into()),
    ColumnOf("headers", Kind::Unsigned64, |(_, _, fared)| fared.headers.into()),
    ColumnOf("blocking_ps", Kind::Signed64, |(_, _, fared)| fared.blocking.into()),
];

const FRAMES: [ColumnOf<FrameRecord>; 7] = [
    ColumnOf("source", Kind::Unsigned32, |frame| frame.source.0.into()),
    ColumnOf("destination", Kind::Unsigned32, |frame| frame.destination.0.into()),
    ColumnOf("broadcast", Kind::Unsigned32, |frame| u32::from(frame.broadcast).into()),
    ColumnOf("bytes", Kind::Unsigned64, |frame| frame.bytes.0.into()),
    ColumnOf("sent_ps", Kind::Signed64, |frame| frame.sent.into()),
    ColumnOf("ended_ps", Kind::Signed64, |frame| frame.ended.into()),
    ColumnOf("fate", Kind::Text, |frame| frame.fate.name().into()),
];

const MESSAGES: [ColumnOf<MessageRow>; 6] = [
    ColumnOf("job", Kind::Unsigned32, |row| row.job.into()),
    ColumnOf("source", Kind::Unsigned32, |row| row.source.into()),
    ColumnOf("destination", Kind::Unsigned32, |row| row.destination.into()),
    ColumnOf("bytes", Kind::Unsigned64, |row| row.message.size.0.into()),
    ColumnOf("sent_ps", Kind::Signed64, |row| row.message.sent.into()),
    ColumnOf("received_ps", Kind::Signed64, |row| row.message.received.into()),
];

const TIMELINE: [ColumnOf<((u32, u32), Span)>; 5] = [
    ColumnOf("job", Kind::Unsigned32, |((job, _), _)| (*job).into()),
    ColumnOf("rank", Kind::Unsigned32, |((_, rank), _)| (*rank).into()),
    ColumnOf("activity", Kind::Text, |(_, span)| activity(span.activity)),
    ColumnOf("start_ps", Kind::Signed64, |(_, span)| span.start.into()),
    ColumnOf("end_ps", Kind::Signed64, |(_, span)| span.end.into()),
];

const CRITICAL_PATH: [ColumnOf<StepRow>; 14] = [
    ColumnOf("job", Kind::Unsigned32, |row| row.job.into()),
    ColumnOf("rank", Kind::Unsigned32, |row| row.rank.into()),
    ColumnOf("cause", Kind::Text, |row| row.step.cause.name().into()),
    ColumnOf("source", Kind::Unsigned32, |row| row.source.into()),
    ColumnOf("destination", Kind::Unsigned32, |row| row.destination.into()),
    ColumnOf("bytes", Kind::Unsigned64, |row| row.bytes.into()),
    ColumnOf("start_ps", Kind::Signed64, |row| row.step.start.into()),
    ColumnOf("end_ps", Kind::Signed64, |row| row.step.end.into()),
    ColumnOf("overhead_ps", Kind::Signed64, |row| row.step.parts.overhead.into()),
    ColumnOf("latency_ps", Kind::Signed64, |row| row.step.parts.latency.into()),
    ColumnOf("bandwidth_ps", Kind::Signed64, |row| row.step.parts.bandwidth.into()),
    ColumnOf("contention_ps", Kind::Signed64, |row| row.step.parts.contention.into()),
    ColumnOf("computing_ps", Kind::Signed64, |row| row.step.parts.computing.into()),
    ColumnOf("waiting_ps", Kind::Signed64, |row| row.step.parts.waiting.into()),
];

fn activity(activity: Activity) -> Cell<'static> {
    match activity {
        Activity::Send => "send",
        Activity::Receive => "receive",
        Activity::Compute => "compute",
    }
    .into()
}
