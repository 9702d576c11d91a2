//! The timeline of a run as a Chrome trace, which ui.perfetto.dev and chrome://tracing show.
//!
//! Ranks are the threads of one process, channels those of another. A rank's spans of sending, receiving and computing
//! are slices; so are the times during which a packet held a channel. An arrow leads from each call of `send` to the
//! `receive` that got the message. Times are in microseconds, to the picosecond. `otherData` records what was run.

use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, Write};

use machines::model::{ChannelEnd, FlitNetwork, Machine};
use quantities::{Duration, Rank, Time};
use serde::Serialize;
use serde_json::Value;
use virtual_worlds::answer::{Activity, Answer, MessageRecord, PacketRecord, Span, Timeline};

use super::EXPERIMENT_KEY;

/// The processes of the trace.
const RANKS: u32 = 1;
const CHANNELS: u32 = 2;

/// Writes the timeline of `answer`, the result of `experiment` on `machine`, to `out`, where `name` names its ranks.
///
/// # Errors
/// When `out` fails.
pub fn write_timeline(
    out: impl Write,
    machine: &Machine,
    answer: &Answer,
    (name, experiment): (&dyn Fn(Rank) -> String, &impl Serialize),
) -> io::Result<()> {
    let mut trace = Trace { out, first: true };
    trace.out.write_all(b"{\"displayTimeUnit\":\"ns\",\"traceEvents\":[")?;
    trace.process(RANKS, "ranks")?;
    for (rank, number) in (0..).map(Rank).zip(0..answer.finish.len()) {
        trace.thread(RANKS, number, &name(rank))?;
    }
    if let Some(timeline) = &answer.timeline {
        trace.ranks(timeline)?;
    }
    if let (Some(network), Some(packets)) = (machine.network(), &answer.packet_log) {
        trace.process(CHANNELS, "channels")?;
        for (id, used) in answer.channels.iter().enumerate() {
            if used.packets > 0 {
                trace.thread(CHANNELS, id, &channel_name(network, id))?;
            }
        }
        for (number, packet) in packets.iter().enumerate() {
            trace.packet(number, packet)?;
        }
    }
    trace.out.write_all(b"\n],\"otherData\":")?;
    serde_json::to_writer(&mut trace.out, &Value::from_iter([(EXPERIMENT_KEY, serde_json::to_value(experiment)?)]))?;
    trace.out.write_all(b"}\n")?;
    trace.out.flush()
}

fn channel_name(network: &FlitNetwork, id: usize) -> String {
    let name = |place: ChannelEnd| match place {
        ChannelEnd::Node(node) => format!("node {}", node.0),
        ChannelEnd::Router(router) => network.routers[router.0 as usize].name.clone(),
    };
    let channel = &network.channels[id];
    format!("{id}: {} to {}", name(channel.from), name(channel.to))
}

struct Trace<W> {
    out: W,
    first: bool,
}

impl<W: Write> Trace<W> {
    /// Writes an event, given the text between its braces.
    fn event(&mut self, inside: fmt::Arguments<'_>) -> io::Result<()> {
        let before = if self.first { "\n" } else { ",\n" };
        self.first = false;
        writeln!(self.out, "{before}{{{inside}}}").map(drop)
    }

    fn process(&mut self, process: u32, name: &str) -> io::Result<()> {
        let name = Value::from(name);
        self.event(format_args!(r#""ph":"M","name":"process_name","pid":{process},"args":{{"name":{name}}}"#))
    }

    fn thread(&mut self, process: u32, thread: usize, name: &str) -> io::Result<()> {
        let name = Value::from(name);
        let begin = format_args!(r#""ph":"M","pid":{process},"tid":{thread}"#);
        self.event(format_args!(r#"{begin},"name":"thread_name","args":{{"name":{name}}}"#))?;
        self.event(format_args!(r#"{begin},"name":"thread_sort_index","args":{{"sort_index":{thread}}}"#))
    }

    fn ranks(&mut self, timeline: &Timeline) -> io::Result<()> {
        let mut receives: BTreeMap<(Rank, Time), Time> = BTreeMap::new();
        for span in &timeline.spans {
            self.span(span)?;
            if span.activity == Activity::Receive {
                receives.insert((span.rank, span.end), span.start);
            }
        }
        for (number, message) in timeline.messages.iter().enumerate() {
            let posted = receives.get(&(message.to, message.received)).copied().unwrap_or(message.received);
            self.arrow(number, message, posted)?;
        }
        Ok(())
    }

    fn span(&mut self, span: &Span) -> io::Result<()> {
        let name = match span.activity {
            Activity::Send => "send",
            Activity::Receive => "receive",
            Activity::Compute => "compute",
        };
        let (start, length) = (at(span.start), Microseconds(span.end.since(span.start)));
        let thread = span.rank.0;
        self.event(format_args!(r#""ph":"X","name":"{name}","pid":{RANKS},"tid":{thread},"ts":{start},"dur":{length}"#))
    }

    /// An arrow from the beginning of the sender's slice into the receiver's, which began at `posted`.
    fn arrow(&mut self, number: usize, message: &MessageRecord, posted: Time) -> io::Result<()> {
        // An arrow belongs to the slice that it ends in, so it must end before the slice does. Viewers count
        // nanoseconds.
        let before_end = message.received.picoseconds().saturating_sub(1_000);
        let end = at(posted.max(Time::from_picoseconds(before_end)));
        let (from, to, bytes, sent) = (message.from, message.to, message.size.0, at(message.sent));
        let begin = format_args!(r#""cat":"message","name":"message","id":{number},"pid":{RANKS}"#);
        self.event(format_args!(r#""ph":"s",{begin},"tid":{from},"ts":{sent},"args":{{"bytes":{bytes}}}"#))?;
        self.event(format_args!(r#""ph":"f","bp":"e",{begin},"tid":{to},"ts":{end}"#))
    }

    fn packet(&mut self, number: usize, packet: &PacketRecord) -> io::Result<()> {
        let name = format_args!("{} to {}", packet.source.0, packet.destination.0);
        let arguments = format_args!(r#""packet":{number},"bytes":{},"flits":{}"#, packet.bytes.0, packet.flits);
        for hop in &packet.hops {
            let (id, start) = (hop.channel.0, at(hop.granted));
            let length = Microseconds(hop.released.since(hop.granted));
            let blocked = Microseconds(hop.granted.since(hop.requested));
            let begin = format_args!(r#""ph":"X","name":"{name}","pid":{CHANNELS},"tid":{id}"#);
            let times = format_args!(r#""ts":{start},"dur":{length}"#);
            self.event(format_args!(r#"{begin},{times},"args":{{{arguments},"blocked_us":{blocked}}}"#))?;
        }
        Ok(())
    }
}

/// A length as microseconds, exactly.
struct Microseconds(Duration);

fn at(time: Time) -> Microseconds {
    Microseconds(time.since(Time::ZERO))
}

impl fmt::Display for Microseconds {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let picoseconds = self.0.picoseconds();
        write!(out, "{}.{:06}", picoseconds / 1_000_000, picoseconds % 1_000_000)
    }
}
