//! The printed report of a finished run.

use std::cmp::Reverse;

use machines::model::{FlitNetwork, NodeId};
use messaging::memory::Points;
use quantities::{Bytes, Duration, Time};
use serde_json::{Value, json};
use virtual_worlds::answer::{
    Answer, BackgroundStatistics, ChannelStatistics, Dropped, EthernetStatistics, MessagingStatistics,
    RouterStatistics, Unreceived,
};
use virtual_worlds::critical_path::Part;

use experiment::{Finding, FinishedJob, FinishedRun, NOT_RECEIVED, place};
use report::run::MessageTimes;
use report::terminal::{Side, columns, counted, rounded};
use tuning::planner::{Bound, busiest};

/// How many of the busiest channels and of the hottest routers the text shows.
const SHOWN: usize = 5;
/// How many of the nodes of a program's ranks the text shows.
const MOST_NODES: usize = 16;

/// The printed report of a finished run.
pub(super) fn summary(ended: &FinishedRun, as_json: bool) -> String {
    let network = ended.machine.network().map(|network| &**network);
    if as_json { json(ended) } else { text(ended, network) }
}

/// A lower bound for the time of the busiest rank, if there is one.
fn bound(ended: &FinishedRun) -> Option<Finding> {
    let (messages, bytes) = ended.notes.busiest?;
    let Bound { time, reason } = busiest(&ended.machine, messages, bytes);
    Some(Finding {
        name: "lower bound",
        text: format!("{}: {reason}", rounded(time)),
        key: "lower_bound_ps",
        value: json!(time.picoseconds()),
    })
}

fn text(ended: &FinishedRun, network: Option<&FlitNetwork>) -> String {
    let answer = &ended.answer;
    if !ended.jobs.is_empty() {
        return text_of_jobs(ended, network);
    }
    let parameters = ended.provenance.parameters_in_words();
    let ranks = answer.finish.len();
    let on = &ended.machine.name;
    let each = if ended.machine.model().processes() > 1 { "rank" } else { "node" };
    let some = ended.notes.taking_part.map(|members| format!("{members} of ")).unwrap_or_default();
    let ranks = counted(ranks, each);
    let mut text = format!("{} on {some}{ranks} of {on} ({})\n", ended.program, parameters.join(", "));
    text += &format!("{}\n", ended.provenance.line());
    let mut rows = vec![["makespan".to_string(), rounded(answer.makespan().since(Time::ZERO))]];
    let mut reports_not_received = false;
    for Finding { name, text, key, .. } in bound(ended).iter().chain(&ended.findings) {
        reports_not_received |= *key == NOT_RECEIVED;
        let names = std::iter::once(*name).chain(std::iter::repeat(""));
        rows.extend(names.zip(text.lines()).map(|(name, line)| [name.to_string(), line.to_string()]));
    }
    rows.extend(nodes(&answer.nodes));
    rows.push(["messages".to_string(), answer.messages.to_string()]);
    if !reports_not_received {
        rows.extend(not_received(&answer.unreceived));
    }
    if network.is_some() {
        rows.push(["packets".to_string(), format!("{}, system packets included", answer.packets)]);
        rows.push(["mean blocking".to_string(), format!("{} per packet", rounded(answer.mean_blocking()))]);
    }
    rows.extend(answer.ethernet.iter().flat_map(frames));
    rows.extend(answer.messaging.iter().filter_map(|messaging| memory(messaging, answer)));
    rows.extend(critical_path(ended));
    text += &columns([Side::Left, Side::Left], &rows);
    if let Some(network) = network {
        text += &busiest_channels(network, answer);
        text += &hot_routers(network, answer);
    }
    text
}

/// The nodes of a program's ranks, in order of rank, if they are not those with the ranks' numbers.
fn nodes(nodes: &[NodeId]) -> Option<[String; 2]> {
    let named: Vec<String> = nodes.iter().take(MOST_NODES).map(|node| node.0.to_string()).collect();
    let more = match nodes.len() - named.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    (!named.is_empty()).then(|| ["on nodes".to_owned(), format!("{}{more}", named.join(", "))])
}

/// How the time of the critical path is divided, and how long messages took, if that was asked for.
fn critical_path(ended: &FinishedRun) -> Vec<[String; 2]> {
    let (Some(path), Some(timeline)) = (&ended.critical_path, &ended.answer.timeline) else { return Vec::new() };
    let parts = path.parts();
    let whole = parts.sum().picoseconds().max(1) as f64;
    let part = |(part, length): (Part, Duration)| {
        let share = 100.0 * length.picoseconds() as f64 / whole;
        ["".to_owned(), format!("{} {} ({share:.1}%)", part.name(), rounded(length))]
    };
    let mut rows = vec![["critical path".to_owned(), counted(path.steps.len(), "step")]];
    rows.extend(parts.each().into_iter().filter(|(_, length)| !length.is_zero()).map(part));
    let times = MessageTimes::of(&timeline.messages);
    if times.count() > 0 {
        let [middle, most_of_all, most] = [50.0, 99.0, 100.0].map(|percent| rounded(times.at(percent)));
        rows.push(["a message".to_owned(), format!("{middle} (median), {most_of_all} (99%), {most} (most)")]);
    }
    rows
}

/// The results of several jobs, and of the machine that they shared.
fn text_of_jobs(ended: &FinishedRun, network: Option<&FlitNetwork>) -> String {
    let answer = &ended.answer;
    let count = if ended.jobs.len() == 1 { "a job".to_owned() } else { format!("{} jobs", ended.jobs.len()) };
    let mut text = format!("{count} on {}\n{}\n", ended.machine.name, ended.provenance.line());
    let heads = ["", "program", "ranks", "start", "makespan", "alone", "slowdown"].map(str::to_owned);
    let row = |job: &FinishedJob| {
        let FinishedJob { name, program, nodes, start, makespan, alone, .. } = job;
        let slowdown = job.slowdown().map(|times| format!("{times:.3}")).unwrap_or_default();
        let alone = alone.map(rounded).unwrap_or_default();
        let start = rounded(start.since(Time::ZERO));
        [name.clone(), (*program).to_owned(), nodes.len().to_string(), start, rounded(*makespan), alone, slowdown]
    };
    let rows: Vec<[String; 7]> = std::iter::once(heads).chain(ended.jobs.iter().map(row)).collect();
    text += &columns([Side::Left, Side::Left, Side::Right, Side::Right, Side::Right, Side::Right, Side::Right], &rows);
    text.push('\n');
    let mut rows = vec![["makespan".to_string(), rounded(answer.makespan().since(Time::ZERO))]];
    for job in &ended.jobs {
        let line = |Finding { name, text, .. }: &Finding| {
            let lines = text.lines().map(str::trim_end).collect::<Vec<&str>>().join("; ");
            [format!("{}: {name}", job.name), lines]
        };
        rows.extend(job.findings.iter().map(line));
    }
    rows.push(["messages".to_string(), answer.messages.to_string()]);
    if let Some(background) = &answer.background {
        let BackgroundStatistics { offered, delivered, mean_latency, .. } = background;
        let latency = mean_latency.map(|time| format!(", {} each on average", rounded(time))).unwrap_or_default();
        rows.push(["background".to_string(), format!("{offered} packets, {delivered} of them arrived{latency}")]);
    }
    rows.extend(critical_path(ended));
    text += &columns([Side::Left, Side::Left], &rows);
    if let Some(network) = network {
        text += &busiest_channels(network, answer);
        text += &hot_routers(network, answer);
    }
    text
}

/// The run's own figures, and those that only the command knows: the lower bound of its time, and the memory that
/// messages took.
fn json(ended: &FinishedRun) -> String {
    let mut object = ended.json();
    if let Some(bound) = bound(ended) {
        object[bound.key] = bound.value;
    }
    if let Some(messaging) = &ended.answer.messaging {
        object["messaging"] = messaging_json(messaging, &ended.answer);
    }
    crate::json(&object)
}

/// The messages that no receive took, if there are any.
fn not_received(unreceived: &[Unreceived]) -> Option<[String; 2]> {
    let messages: u64 = unreceived.iter().map(|left| left.messages).sum();
    (messages > 0).then(|| ["not received".to_string(), messages.to_string()])
}

/// The fate of frames.
fn frames(ethernet: &EthernetStatistics) -> Vec<[String; 2]> {
    let Dropped { at_switch, lost, at_ring } = ethernet.dropped;
    let dropped = [(at_switch, "at the switch"), (lost, "on the way"), (at_ring, "at full nodes")];
    let dropped = dropped.iter().filter(|place| place.0 > 0).map(|(count, place)| format!("; {count} lost {place}"));
    let frames = format!("{} sent, {} received{}", ethernet.sent, ethernet.received, dropped.collect::<String>());
    let most = format!("{} at most in an output queue of the switch", ethernet.most_queued);
    let mut rows = vec![["frames".to_string(), frames], ["queued".to_string(), most]];
    if let Some([there, back]) = ethernet.trunk_busy {
        let busy = format!("busy for {} to the second switch, {} back", rounded(there), rounded(back));
        rows.push(["trunk".to_string(), busy]);
    }
    rows
}

/// The memory that broadcasts took at the node that took most, and what their buffers may hold on all nodes: with one
/// for all receivers, and with a channel to each.
fn memory(messaging: &MessagingStatistics, answer: &Answer) -> Option<[String; 2]> {
    let most = messaging.broadcast_memory.iter().max().filter(|most| most.0 > 0)?;
    let Memory { shared, separate, saved } = Memory::of(messaging, answer);
    let text = format!(
        "{most} for broadcasts at most; a buffer for all receivers: up to {shared} in all, a channel to each: up to {separate}; {saved:.1}% saved"
    );
    Some(["memory".to_string(), text])
}

/// What the buffers for a broadcast to all ranks may hold.
struct Memory {
    shared: Bytes,
    separate: Bytes,
    saved: f64,
}

impl Memory {
    fn of(messaging: &MessagingStatistics, answer: &Answer) -> Memory {
        let points = Points::of(&messaging.parameters);
        let ranks = u32::try_from(answer.finish.len()).unwrap_or(u32::MAX);
        let bytes = |size: f64| Bytes(size as u64);
        let (shared, separate) = (points.shared(ranks), points.separate(ranks));
        Memory { shared: bytes(shared), separate: bytes(separate), saved: points.saved(ranks) * 100.0 }
    }
}

fn messaging_json(messaging: &MessagingStatistics, answer: &Answer) -> Value {
    let Memory { shared, separate, saved } = Memory::of(messaging, answer);
    json!({
        "resent": messaging.repeated.iter().map(|(_, _, count)| count).sum::<u64>(),
        "broadcast_bytes": messaging.broadcast_memory.iter().map(|size| size.0).collect::<Vec<u64>>(),
        "shared_bytes": shared.0,
        "separate_bytes": separate.0,
        "saved_percent": saved,
    })
}

fn busiest_channels(network: &FlitNetwork, answer: &Answer) -> String {
    let mut used: Vec<(usize, &ChannelStatistics)> =
        answer.channels.iter().enumerate().filter(|(_, channel)| channel.packets > 0).collect();
    used.sort_by_key(|(_, channel)| Reverse(channel.busy + channel.blocked));
    let share = |length: Duration| {
        let whole = answer.makespan().picoseconds().max(1);
        format!("{:.1}%", 100.0 * length.picoseconds() as f64 / whole as f64)
    };
    let row = |(id, channel): &(usize, &ChannelStatistics)| {
        let ends = network.channels[*id];
        let way = format!("{} to {}", place(network, ends.from), place(network, ends.to));
        [id.to_string(), way, share(channel.busy), share(channel.blocked), channel.packets.to_string()]
    };
    let rows: Vec<[String; 5]> = used.iter().take(SHOWN).map(row).collect();
    let sides = [Side::Right, Side::Left, Side::Right, Side::Right, Side::Right];
    section("busiest channels", sides, ["id", "from and to", "busy", "blocked", "packets"], rows)
}

fn hot_routers(network: &FlitNetwork, answer: &Answer) -> String {
    let mut hot: Vec<(usize, &RouterStatistics)> =
        answer.routers.iter().enumerate().filter(|(_, router)| !router.blocking.is_zero()).collect();
    hot.sort_by_key(|(_, router)| Reverse(router.blocking));
    let row = |(id, router): &(usize, &RouterStatistics)| {
        let mean = Duration::from_picoseconds(router.blocking.picoseconds() / router.headers.max(1));
        let name = network.routers[*id].name.clone();
        [id.to_string(), name, rounded(router.blocking), rounded(mean), router.headers.to_string()]
    };
    let rows: Vec<[String; 5]> = hot.iter().take(SHOWN).map(row).collect();
    let sides = [Side::Right, Side::Left, Side::Right, Side::Right, Side::Right];
    section("hot routers", sides, ["id", "router", "blocking", "per header", "headers"], rows)
}

/// A table with a heading, if it has a row.
pub(super) fn section<const N: usize>(
    heading: &str,
    sides: [Side; N],
    names: [&str; N],
    rows: Vec<[String; N]>,
) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let rows: Vec<[String; N]> = std::iter::once(names.map(str::to_string)).chain(rows).collect();
    format!("\n{heading}\n{}", columns(sides, &rows))
}
