//! The printed report of a launch.

use std::net::SocketAddrV4;

use quantities::{Bytes, Duration};
use serde::Serialize;
use serde_json::{Value, json};

use experiment::Provenance;
use launch::wire::{JsonText, Record, times};
use report::terminal::{Side, columns, counted, rounded};

/// The sum over all ranks.
fn total(records: &[Record], of: impl Fn(&Record) -> u64) -> u64 {
    records.iter().map(of).sum()
}

/// What carried the messages.
#[derive(Clone, Copy, Debug)]
pub(super) enum Network<'a> {
    /// UDP, and multicast to that group if there was one.
    Udp(Option<SocketAddrV4>),
    /// A library of MPI.
    Mpi {
        /// Its own version string.
        library: &'a str,
        /// The computer of each rank.
        computers: &'a [String],
    },
}

/// The report in JSON.
#[derive(Serialize)]
struct Report<'a> {
    #[serde(flatten)]
    report: Value,
    /// What the ranks of a user's program returned, in their own text.
    #[serde(skip_serializing_if = "Option::is_none")]
    returned: Option<Vec<Option<&'a JsonText>>>,
}

pub(super) fn summary(
    arguments: &[String],
    network: Network<'_>,
    records: &[Record],
    experiment: &Provenance,
    as_json: bool,
) -> String {
    let times = times(records);
    if as_json {
        let report = experiment.added_to(json_of(arguments, network, records, &times));
        let some_returned = records.iter().any(|record| record.returned.is_some());
        let returned = some_returned.then(|| records.iter().map(|record| record.returned.as_ref()).collect());
        crate::json(&Report { report, returned })
    } else {
        text(&arguments.join(" "), network, records, times, experiment)
    }
}

fn text(
    program: &str,
    network: Network<'_>,
    records: &[Record],
    mut times: Vec<Duration>,
    experiment: &Provenance,
) -> String {
    times.sort_unstable();
    let time = |place: usize| times.get(place).copied().map_or_else(String::new, rounded);
    let last = times.len().saturating_sub(1);
    let time = match times.len() {
        0 | 1 => time(0),
        runs => format!("{} (median of {runs}; {} to {})", time(last / 2), time(0), time(last)),
    };
    let (messages, bytes) = (total(records, |it| it.messages), total(records, |it| it.bytes));
    let mut rows =
        vec![["time".to_owned(), time], ["messages".to_owned(), format!("{messages}, {} in total", Bytes(bytes))]];
    let network = match network {
        Network::Udp(group) => {
            rows.extend(datagrams(records, bytes));
            match group {
                Some(group) => format!("UDP and multicast to {group}"),
                None => "UDP, broadcasts to one rank after another".to_owned(),
            }
        }
        Network::Mpi { library, .. } => format!("MPI ({library})"),
    };
    let left: u64 = not_received(records).map(|(_, _, messages)| messages).sum();
    if left > 0 {
        rows.push(["not received".to_owned(), left.to_string()]);
    }
    let ranks = counted(records.len(), "rank");
    let what = experiment.line();
    let returned = (0..).zip(records).filter_map(|(rank, record)| returned(rank, record));
    let returned: String = returned.collect();
    format!("{program}\non {ranks} by {network}\n{what}\n{}{returned}", columns([Side::Left, Side::Left], &rows))
}

/// The fate of the datagrams that carried messages of `bytes` in total.
fn datagrams(records: &[Record], bytes: u64) -> Vec<[String; 2]> {
    let (datagrams, repeated) = (total(records, |it| it.datagrams), total(records, |it| it.repeated));
    let copied = total(records, |it| it.copied);
    let needless = match total(records, |it| it.needless) {
        0 => String::new(),
        needless => format!(", {needless} of them needlessly"),
    };
    let object = format!("{datagrams} sent for them; {repeated} packets sent again{needless}");
    let mut rows = vec![["datagrams".to_owned(), object]];
    if bytes > 0 {
        let copies = copied as f64 / bytes as f64;
        let text = format!("{} by the kernel on sending, {copies:.2} times the messages", Bytes(copied));
        rows.push(["copied".to_owned(), text]);
    }
    let strangers = total(records, |it| it.strangers);
    if strangers > 0 {
        rows.push(["strangers".to_owned(), format!("{strangers} datagrams from other senders, ignored")]);
    }
    let forged = total(records, |it| it.forged);
    if forged > 0 {
        let text = format!("{forged} datagrams that only claimed to be from ranks, ignored");
        rows.push(["forged".to_owned(), text]);
    }
    rows
}

/// What a rank's program returned, in a line, if it returned anything.
fn returned(rank: u32, record: &Record) -> Option<String> {
    let returned = record.returned.as_ref().filter(|returned| !returned.is_null())?;
    Some(format!("rank {rank}: {}\n", returned.text()))
}

/// The messages that no program received: sender, receiver and number.
fn not_received(records: &[Record]) -> impl Iterator<Item = (usize, usize, u64)> {
    records.iter().enumerate().flat_map(move |(from, record)| {
        record.sent_to.iter().enumerate().filter_map(move |(to, sent)| {
            let received = records.get(to)?.received_from.get(from).copied().unwrap_or(0);
            Some((from, to, sent.saturating_sub(received))).filter(|(_, _, left)| *left > 0)
        })
    })
}

fn json_of(arguments: &[String], network: Network<'_>, records: &[Record], times: &[Duration]) -> Value {
    let left = |(from, to, messages): (usize, usize, u64)| json!({"from": from, "to": to, "messages": messages});
    let mut object = json!({
        "program": arguments.join(" "),
        "arguments": arguments,
        "nodes": records.len(),
        "times_ps": times.iter().map(|time| time.picoseconds()).collect::<Vec<u64>>(),
        "messages": total(records, |it| it.messages),
        "bytes": total(records, |it| it.bytes),
        "not_received": not_received(records).map(left).collect::<Vec<Value>>(),
    });
    let rank = |record: &Record| {
        json!({
            "times_ps": record.times,
            "preempted": record.preempted,
            "messages": record.messages,
            "bytes": record.bytes,
        })
    };
    let mut ranks: Vec<Value> = records.iter().map(rank).collect();
    match network {
        Network::Udp(group) => {
            object["group"] = json!(group.map(|group| group.to_string()));
            for (key, of) in OF_DATAGRAMS {
                object[key] = json!(total(records, of));
                ranks.iter_mut().zip(records).for_each(|(rank, record)| rank[key] = json!(of(record)));
            }
            ranks.iter_mut().zip(records).for_each(|(rank, record)| rank["received"] = json!(record.received));
        }
        Network::Mpi { library, computers } => {
            object["mpi_library"] = json!(library);
            ranks.iter_mut().zip(computers).for_each(|(rank, computer)| rank["computer"] = json!(computer));
        }
    }
    object["ranks"] = json!(ranks);
    object
}

/// A count of a record.
type Count = fn(&Record) -> u64;

/// What is reported about the datagrams of each rank, and of all.
const OF_DATAGRAMS: [(&str, Count); 6] = [
    ("datagrams", |it| it.datagrams),
    ("copied_bytes", |it| it.copied),
    ("repeated", |it| it.repeated),
    ("needless", |it| it.needless),
    ("strangers", |it| it.strangers),
    ("forged", |it| it.forged),
];
