//! `maquette machine`: a machine as it is resolved.

mod costs;

use std::ffi::OsString;
use std::fmt::Display;

use clap::Args;
use machines::export;
use machines::facts::{NetworkFacts, Range, ZeroLoad};
use machines::model::{Ethernet, Faults, FlitNetwork, Interconnect, LogGp, Machine, Memory, Messaging, Trunk};
use machines::{Facts, facts};

use super::CommandOutput;
use super::failure::Failure;
use super::settings::Settings;
use super::working;
use report::terminal::{Side, bytes_per_second, columns};

/// Show a machine as it is simulated: its parts, distances and latencies without load.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  maquette machine moc-3-2 --set buffers=4\n  \
                        maquette machine my/cluster.toml --dot | neato -n -Tsvg > cluster.svg\n  \
                        maquette machine infiniband-128 --toml > my/cluster.toml")]
pub(super) struct Arguments {
    /// A preset (`maquette machines` lists them) or a description: a name with a `/` in it or with the ending `.toml`.
    #[arg(value_name = "NAME|FILE")]
    machine: OsString,
    #[command(flatten)]
    settings: Settings,
    /// Print the network as GraphML, for NetworkX, Gephi or yEd.
    #[arg(long, conflicts_with_all = ["dot", "toml", "json"])]
    graphml: bool,
    /// Print the network for Graphviz.
    #[arg(long, conflicts_with_all = ["toml", "json"])]
    dot: bool,
    /// Print its description in TOML, for editing; that of a preset with its comments.
    #[arg(long, conflicts_with = "json")]
    toml: bool,
}

impl Arguments {
    pub(super) fn execute(self, as_json: bool) -> Result<CommandOutput, Failure> {
        if self.toml {
            return Ok(self.settings.describe(&self.machine)?.text()?.into());
        }
        let machine = self.settings.load(&self.machine)?;
        let text = working("working out what it is like", move || {
            Ok(if as_json {
                export::json(&machine)
            } else if self.graphml {
                export::graphml(&machine)
            } else if self.dot {
                export::dot(&machine)
            } else {
                described(&machine, &facts(&machine))
            })
        })?;
        Ok(text.into())
    }
}

/// A name and its value.
fn row(name: &str, value: impl Display) -> [String; 2] {
    [name.to_string(), value.to_string()]
}

fn described(machine: &Machine, facts: &Facts) -> String {
    let mut rows = vec![row("nodes", facts.nodes)];
    match &machine.interconnect {
        Interconnect::Flits(network) => {
            rows.push(row("routers", facts.routers));
            rows.push(row("channels", format!("{}, one way each, those to and from nodes included", facts.channels)));
            rows.push(row("routing", routing(network)));
            rows.extend(costs::network(network));
            rows.extend(costs::node(&machine.node));
        }
        Interconnect::LogGp(model) => rows.extend(loggp(model)),
        Interconnect::Ethernet(model) => rows.extend(ethernet(model)),
    }
    rows.extend(facts.network.iter().flat_map(network));
    rows.extend(machine.control_network.iter().map(costs::control_network));
    let mut text = format!("{}\n\n", machine.title());
    text += &columns([Side::Left, Side::Left], &rows);
    if let Some(network) = &facts.network {
        text += "\nTimes through the empty network, from injection to the arrival of the tail:\n";
        text += &zero_load(&network.zero_load);
    }
    text
}

/// The routing rule, and the virtual channels if there are several.
fn routing(network: &FlitNetwork) -> String {
    let rule = network.routing.name();
    match network.virtual_channels() {
        1 => rule.to_string(),
        several => format!("{rule}; {several} virtual channels share each channel between routers"),
    }
}

fn network(facts: &NetworkFacts) -> Vec<[String; 2]> {
    let over = if facts.all_pairs { "over all pairs of nodes" } else { "over a sample of pairs of nodes" };
    let mut rows = vec![
        row("diameter", format!("{} channels, those from and to the nodes included", facts.diameter)),
        row("average distance", format!("{:.3} channels, {over}", facts.average_distance)),
    ];
    if let Some(bisection) = &facts.bisection {
        let rate = bytes_per_second(bisection.bytes_per_second);
        let known = if bisection.exact { "" } else { "; a narrower cut may exist" };
        let how = format!("{} channels one way, {rate}, halved {}{known}", bisection.channels, bisection.halved);
        rows.push(row("bisection", how));
    }
    rows
}

fn ethernet(model: &Ethernet) -> Vec<[String; 2]> {
    let Ethernet { rate, wire_latency, switch_latency, queue, payload, transmit_ring, receive_ring, .. } = model;
    let bucket = model.bucket.map(|bucket| format!(", a token bucket of {bucket}")).unwrap_or_default();
    let mut rows = vec![
        row("wires", format!("{rate}{bucket}, {wire_latency}, each way, from every node to the switch")),
        row(
            "switch",
            format!("{switch_latency} for a frame; each output queues {queue}, frames that do not fit are dropped"),
        ),
        row("frames", format!("of up to {payload}; a node queues {transmit_ring} to send and {receive_ring} received")),
        row(
            "processors",
            format!("{} to send a frame, {} to receive one, {} a byte", model.send, model.receive, model.copy),
        ),
    ];
    rows.extend(model.memory.as_ref().map(|memory| row("memory", through_memory(memory))));
    if let Some(processors) = model.processors {
        rows.push(row("shared", format!("{processors} processors, by all nodes")));
    }
    rows.extend(further_times(model));
    if let Some(Trunk { first_switch, rate, bucket, latency, queue }) = &model.trunk {
        let bucket = bucket.map(|bucket| format!(", a token bucket of {bucket}")).unwrap_or_default();
        let ways = format!("{rate}{bucket}, {latency}, each way, behind a queue of {queue}");
        rows.push(row(
            "trunk",
            format!("{ways}; the first {first_switch} nodes are on one switch, the others on a second"),
        ));
    }
    if !model.call_send.is_zero() || !model.call_receive.is_zero() {
        rows.push(row(
            "calls",
            format!("{} more to send a message, {} to receive one", model.call_send, model.call_receive),
        ));
    }
    if !model.broadcast_each.is_zero() {
        rows.push(row(
            "broadcasts",
            format!("{} more at the source for each receiver of a frame", model.broadcast_each),
        ));
    }
    if !model.switch_copy.is_zero() {
        rows.push(row(
            "copies",
            format!("{} of the switch for each receiver but the first of a broadcast frame", model.switch_copy),
        ));
    }
    if model.messaging != Messaging::default() {
        rows.push(row("messages", messages(&model.messaging)));
    }
    if model.faults != Faults::NONE {
        rows.push(row("faults", faults(&model.faults)));
    }
    rows
}

/// What messages between processes of a node cost.
fn through_memory(memory: &Memory) -> String {
    let Memory { processes, send, receive, copy, cache, copy_uncached } = memory;
    let beyond = cache.map(|cache| format!(", {copy_uncached} beyond {cache}")).unwrap_or_default();
    let costs = format!("{send} to send a part of a message, {receive} to receive one, {copy} a byte to copy{beyond}");
    format!("shared by {processes} processes, which each count as a node: {costs}")
}

/// The times that most Ethernets do not have.
fn further_times(model: &Ethernet) -> impl Iterator<Item = [String; 2]> {
    let times = [
        ("handing over", model.handover, ", however many frames at once"),
        ("waking", model.wake, " for a node that has waited for a frame"),
        ("timer", model.timer, " for a node that has waited for a time to come"),
        ("blocking", model.block, " for a node that begins to wait for a frame"),
        ("interrupts", model.interrupt, " at the sender, for an idle processor that a receiver needs"),
        ("cold caches", model.cold, " for the first frame sent and the first received"),
        (
            "colder caches",
            model.cold_each,
            " more after a wait, for each other node that ran on the processor meanwhile",
        ),
        ("bucket delay", model.bucket_delay, " for a frame that had to wait for tokens"),
        ("bucket carry", model.bucket_carry, " of an interrupt, to carry such a frame on"),
    ];
    let present = times.into_iter().filter(|(_, time, _)| !time.is_zero());
    present.map(|(name, time, what)| row(name, format!("{time}{what}")))
}

/// The parameters of messaging that the description chooses.
fn messages(messaging: &Messaging) -> String {
    let chosen: Vec<String> = messaging.chosen().iter().map(|(name, value)| format!("{name} {value}")).collect();
    chosen.join(", ")
}

/// What goes wrong on the way to each receiver.
fn faults(faults: &Faults) -> String {
    let Faults { loss, burst_begins, burst_ends, duplicated, delayed, delay } = *faults;
    let percent = |chance: f64| format!("{}%", chance * 100.0);
    let parts = [
        (loss > 0.0, format!("{} lost", percent(loss))),
        (burst_begins > 0.0, format!("bursts begin at {} and end at {}", percent(burst_begins), percent(burst_ends))),
        (duplicated > 0.0, format!("{} duplicated", percent(duplicated))),
        (delayed > 0.0, format!("{} delayed by up to {delay}", percent(delayed))),
    ];
    let described: Vec<String> = parts.into_iter().filter(|part| part.0).map(|part| part.1).collect();
    described.join(", ")
}

fn loggp(model: &LogGp) -> Vec<[String; 2]> {
    vec![
        row("L", format!("{}, latency from end to end", model.latency)),
        row("o", format!("{}, overhead of the processor for a message", model.overhead)),
        row("g", format!("{}, gap between messages", model.gap)),
        row("G", format!("{}, gap between bytes", model.gap_per_byte)),
        row("O", format!("{}, overhead of the processor for a byte", model.overhead_per_byte)),
        match model.rendezvous {
            Some(size) => row("S", format!("{size}, from which a send waits for its receiver")),
            None => row("S", "none: no send waits for its receiver"),
        },
    ]
}

fn zero_load(times: &[ZeroLoad]) -> String {
    let mut rows = vec![["channels", "pairs of nodes", "empty packet", "full packet"].map(str::to_string)];
    for time in times {
        let full = time.full.map_or_else(|| "too long to compute".to_string(), range);
        rows.push([time.channels.to_string(), time.pairs.to_string(), range(time.empty), full]);
    }
    columns([Side::Right; 4], &rows)
}

fn range(range: Range) -> String {
    if range.least == range.most { range.least.to_string() } else { format!("{} to {}", range.least, range.most) }
}
