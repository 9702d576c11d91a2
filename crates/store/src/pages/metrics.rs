//! The state of a member, in the text format of Prometheus.
//!
//! Source: Prometheus, "Exposition formats", version 0.0.4 of the text format, and "Metric and label naming".

use std::fmt::{Display, Write};

use super::state::{MemberState, ServerLine};
use super::turns::Turns;
use crate::node::{GroupState, Node};
use crate::parity::state::{ParityState, RebuildingState};

/// Readings beside the member's state.
#[derive(Clone, Copy, Debug)]
pub struct Readings<'a> {
    /// The number of members, as far as it knows.
    pub members: usize,
    /// Whether this member has been admitted to a pool.
    pub is_welcome: bool,
    /// Image adjustments that it has received as a client.
    pub adjustments: u64,
    /// How long turns of the loop took.
    pub turns: &'a Turns,
    /// The number of messages to other members that were dropped.
    pub dropped: u64,
    /// Data waiting to be sent to other members. [B]
    pub waiting: usize,
}

/// A text that grows by one metric after another.
#[derive(Default)]
struct Text(String);

/// The value of a metric for one server.
type OfServer = fn(&ServerLine) -> u64;

impl Text {
    fn head(&mut self, name: &str, kind: &str, help: &str) {
        // Writing to a string can't fail.
        let _ = write!(self.0, "# HELP maquette_store_{name} {help}\n# TYPE maquette_store_{name} {kind}\n");
    }

    fn value(&mut self, name: &str, labels: &str, value: impl Display) {
        let _ = writeln!(self.0, "maquette_store_{name}{labels} {value}");
    }

    fn one(&mut self, name: &str, kind: &str, help: &str, value: impl Display) {
        self.head(name, kind, help);
        self.value(name, "", value);
    }

    fn of_servers(&mut self, servers: &[ServerLine], rows: &[(&str, &str, &str, OfServer)]) {
        for (name, kind, help, of) in rows {
            self.head(name, kind, help);
            servers
                .iter()
                .for_each(|server| self.value(name, &format!("{{server=\"{}\"}}", server.server), of(server)));
        }
    }

    fn of_turns(&mut self, turns: &Turns) {
        self.head(
            "turn_seconds",
            "histogram",
            "Turns of the loop that serves all clients: a request waits for others for one turn at most.",
        );
        for (bound, count) in turns.cumulative() {
            self.value("turn_seconds_bucket", &format!("{{le=\"{}\"}}", bound as f64 / 1e6), count);
        }
        self.value("turn_seconds_bucket", "{le=\"+Inf\"}", turns.count());
        self.value("turn_seconds_sum", "", turns.sum().as_secs_f64());
        self.value("turn_seconds_count", "", turns.count());
    }
}

/// The metrics of each server.
const OF_SERVERS: [(&str, &str, &str, OfServer); 15] = [
    ("server_level", "gauge", "Level of a server: its slots agree in that many leading bits.", |it| it.level.into()),
    ("server_slots", "gauge", "Slots of a server.", |it| u64::from(it.last_slot - it.first_slot) + 1),
    ("server_steady", "gauge", "Whether a server neither splits nor merges.", |it| it.is_steady.into()),
    ("server_token", "gauge", "Servers of the file, on the server that has the token; otherwise 0.", |it| {
        it.token.unwrap_or(0).into()
    }),
    ("records", "gauge", "Records, including those that have expired but are not deleted yet.", |it| it.records),
    ("records_expiring", "gauge", "Records that expire.", |it| it.expiring),
    ("memory_bytes", "gauge", "Memory of the records and their table.", |it| it.memory),
    ("server_requests_total", "counter", "Requests that a server has answered.", |it| it.answered),
    ("forwards_total", "counter", "Requests that a server has forwarded to the right one.", |it| it.forwarded),
    ("splits_total", "counter", "Splits of a server.", |it| it.splits),
    ("merges_total", "counter", "Merges of a server with one that it had split off.", |it| it.merges),
    ("hits_total", "counter", "Lookups that found a record.", |it| it.hits),
    ("misses_total", "counter", "Lookups that found none.", |it| it.misses),
    ("expired_total", "counter", "Expired records that were deleted.", |it| it.expired),
    ("evicted_total", "counter", "Records that were evicted to make room for others.", |it| it.evicted),
];

/// The metrics of a member.
pub fn metrics(state: &MemberState, node: &Node, readings: &Readings<'_>) -> String {
    let mut text = Text::default();
    of_member(&mut text, state, readings);
    let (counts, settings) = (&node.counts, &node.settings);
    let rows: [(&str, &str, &str, u64); 15] = [
        ("clients", "gauge", "Clients that are connected.", state.clients),
        ("clients_limit", "gauge", "The most clients at once.", settings.most_clients as u64),
        ("connections_total", "counter", "Connections of clients.", counts.connections),
        ("connections_rejected_total", "counter", "Clients that were turned away.", counts.rejected),
        ("requests_total", "counter", "Requests of clients that were carried out.", counts.commands),
        ("errors_total", "counter", "Replies that were errors.", counts.errors),
        ("out_of_memory_total", "counter", "Requests that were refused with OOM.", counts.out_of_memory),
        ("wrong_passwords_total", "counter", "Wrong passwords that were given.", counts.wrong_passwords),
        ("tls_failures_total", "counter", "Clients that did not speak TLS as required.", counts.tls_failures),
        (
            "http_requests_total",
            "counter",
            "Clients disconnected because they sent an HTTP request.",
            counts.http_requests,
        ),
        ("received_bytes_total", "counter", "Bytes received from clients.", counts.received),
        ("sent_bytes_total", "counter", "Bytes sent to clients.", counts.sent),
        (
            "adjustments_total",
            "counter",
            "Image adjustments that this member received as a client.",
            readings.adjustments,
        ),
        ("messages_dropped_total", "counter", "Messages dropped because members did not take them.", readings.dropped),
        ("messages_waiting_bytes", "gauge", "Bytes that wait to be sent to other members.", readings.waiting as u64),
    ];
    rows.into_iter().for_each(|(name, kind, help, value)| text.one(name, kind, help, value));
    if let Some(most) = state.most_memory {
        text.one("memory_limit_bytes", "gauge", "The most memory that records of a server may take.", most);
    }
    of_group(&mut text, node);
    text.of_servers(&state.servers, &OF_SERVERS);
    text.of_turns(readings.turns);
    let begun = node.since as f64 / 1e3;
    let _ = write!(
        text.0,
        "# HELP process_resident_memory_bytes What the process has in memory.\n# TYPE process_resident_memory_bytes gauge\n\
         process_resident_memory_bytes {}\n# HELP process_start_time_seconds When it began, since 1970.\n\
         # TYPE process_start_time_seconds gauge\nprocess_start_time_seconds {begun}\n",
        state.resident
    );
    text.0
}

/// The metrics of its role in a group with parity, if it has one.
fn of_group(text: &mut Text, node: &Node) {
    match &node.group {
        Some(GroupState::Data { is_covered, .. }) => {
            let help = "Whether this member can be rebuilt if it is lost.";
            text.one("parity_covered", "gauge", help, u8::from(*is_covered));
        }
        Some(GroupState::Parity(state)) => of_parity(text, state),
        Some(GroupState::Spare { .. }) | None => {}
    }
}

/// The metrics of a parity member's group.
fn of_parity(text: &mut Text, state: &ParityState) {
    let covered = state.columns.iter().filter(|column| column.is_complete).count();
    let (leads, whole, backed) = (u8::from(state.leads), u8::from(state.is_whole()), u8::from(state.is_backed));
    text.one("parity_members", "gauge", "Members of this member's group.", state.columns.len());
    text.one("parity_members_covered", "gauge", "Members of the group that can be rebuilt.", covered);
    text.one("parity_leads", "gauge", "Whether this parity member leads its group.", leads);
    text.one(
        "parity_backed",
        "gauge",
        "On the parity member that leads: whether the other one has all of its parity.",
        backed,
    );
    let help = "On the parity member that leads: how many members of the group may be lost now.";
    text.one("parity_survives", "gauge", help, state.survives);
    text.one("parity_promised", "gauge", "How many members of the group may be lost when it is whole.", state.promised);
    text.one("parity_whole", "gauge", "On the parity member that leads: whether that many may be lost now.", whole);
    text.one("parity_spares", "gauge", "Spares that stand by.", state.spares);
    text.one("parity_bytes", "gauge", "Memory of the parity.", state.bytes);
    text.one("parity_members_rebuilt_total", "counter", "Members that were lost and rebuilt.", state.rebuilt);
    let help =
        "How much of a lost member has been rebuilt, from 0 to 1; of a parity member where the label member is empty.";
    text.head("parity_rebuilding_ratio", "gauge", help);
    if let Some(RebuildingState { member, to, done, stripes }) = &state.rebuilding {
        let member = member.as_deref().unwrap_or_default();
        let ratio = *done as f64 / (*stripes).max(1) as f64;
        text.value("parity_rebuilding_ratio", &format!("{{member=\"{member}\",to=\"{to}\"}}"), ratio);
    }
}

fn of_member(text: &mut Text, state: &MemberState, readings: &Readings<'_>) {
    text.head("info", "gauge", "Which member this is; always 1.");
    // Numbers and addresses contain no quotation marks.
    let labels = format!(
        "{{version=\"{}\",member=\"{}\",address=\"{}\",slots_address=\"{}\"}}",
        env!("CARGO_PKG_VERSION"),
        state.member,
        state.address,
        state.slots_address
    );
    text.value("info", &labels, 1);
    text.one("members", "gauge", "Members of the pool, as far as this one knows.", readings.members);
    text.one(
        "member_welcome",
        "gauge",
        "Whether this member has been admitted to a pool.",
        u8::from(readings.is_welcome),
    );
    text.one("servers", "gauge", "Servers that this member hosts.", state.servers.len());
    text.one("server_capacity_records", "gauge", "Records that a server has room for.", state.capacity);
}
