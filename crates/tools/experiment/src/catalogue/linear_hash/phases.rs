//! What is printed about what clients do with a table after they have built it.

use linear_hash::{ClientEnd, ClientPhase, Phase, RankEnd, ServerCounts, ServerEnd};
use quantities::{Duration, Time};
use serde_json::{Value, json};

use crate::Finding;
use report::terminal::{Side, columns, rounded};

/// A phase, of all ranks together.
struct Whole {
    name: &'static str,
    time: Duration,
    operations: u64,
    longest: Duration,
    found: u64,
    messages: u64,
    adjustments: u64,
    forwards: u64,
    splits: u64,
    merges: u64,
    servers: u64,
    entries: u64,
}

/// What is printed about the phases after the build; nothing if there are none.
pub(super) fn findings(names: &[Phase], ends: &[RankEnd]) -> Vec<Finding> {
    let phases: Vec<Whole> = (0..).zip(names).map(|(number, &phase)| Whole::new(phase, number, ends)).collect();
    if phases.is_empty() {
        return Vec::new();
    }
    const HEADS: [&str; 12] = [
        "",
        "time",
        "operations",
        "mean",
        "longest",
        "messages",
        "found",
        "adjustments",
        "forwards",
        "splits",
        "merges",
        "servers",
    ];
    let rows: Vec<[String; 12]> =
        std::iter::once(HEADS.map(str::to_string)).chain(phases.iter().map(Whole::row)).collect();
    let sides = std::array::from_fn(|column| if column == 0 { Side::Left } else { Side::Right });
    vec![Finding {
        name: "then",
        text: columns(sides, &rows),
        key: "then",
        value: phases.iter().map(Whole::json).collect::<Vec<Value>>().into(),
    }]
}

/// What a server had counted, and how many messages it had sent, when this phase after the build was over; the build if
/// none.
fn of_server(server: &ServerEnd, phase: Option<usize>) -> (ServerCounts, u64) {
    phase
        .and_then(|phase| server.then.get(phase))
        .map_or((server.counts, server.messages), |it| (it.counts, it.messages))
}

/// The same of a client, of image adjustments and of messages.
fn of_client(client: &ClientEnd, phase: Option<usize>) -> (u64, u64) {
    let (counts, messages) = phase
        .and_then(|phase| client.then.get(phase))
        .map_or((client.counts, client.messages), |it| (it.counts, it.messages));
    (counts.adjustments, messages)
}

impl Whole {
    fn new(phase: Phase, number: usize, ends: &[RankEnd]) -> Whole {
        let mut whole = Whole {
            name: phase.name(),
            time: Duration::ZERO,
            operations: 0,
            longest: Duration::ZERO,
            found: 0,
            messages: 0,
            adjustments: 0,
            forwards: 0,
            splits: 0,
            merges: 0,
            servers: 0,
            entries: 0,
        };
        for end in ends {
            match end {
                RankEnd::Server(server) => whole.add_server(server, number),
                RankEnd::Client(client) => whole.add_client(client, number),
            }
        }
        let phases = ends.iter().filter_map(|end| match end {
            RankEnd::Client(client) => client.then.get(number),
            RankEnd::Server(_) => None,
        });
        let busy = phases.filter(|phase| phase.operations > 0);
        let (begun, ended): (Vec<Time>, Vec<Time>) = busy.map(|phase| (phase.begun, phase.ended)).unzip();
        let (begun, ended) = (begun.into_iter().min(), ended.into_iter().max());
        whole.time = begun.zip(ended).map_or(Duration::ZERO, |(begun, ended)| ended.since(begun));
        whole
    }

    fn add_server(&mut self, server: &ServerEnd, number: usize) {
        let (counts, messages) = of_server(server, Some(number));
        let (before, messages_before) = of_server(server, number.checked_sub(1));
        self.messages += messages - messages_before;
        self.forwards += counts.forwarded - before.forwarded;
        self.splits += counts.splits - before.splits;
        self.merges += counts.merges - before.merges;
        if let Some(entries) = server.then.get(number).and_then(|phase| phase.entries) {
            self.servers += 1;
            self.entries += entries;
        }
    }

    fn add_client(&mut self, client: &ClientEnd, number: usize) {
        let (adjustments, messages) = of_client(client, Some(number));
        let (adjustments_before, messages_before) = of_client(client, number.checked_sub(1));
        self.messages += messages - messages_before;
        self.adjustments += adjustments - adjustments_before;
        if let Some(ClientPhase { operations, found, longest, .. }) = client.then.get(number) {
            self.operations += operations;
            self.found += found;
            self.longest = self.longest.max(*longest);
        }
    }

    /// What an operation takes on the mean, as the application has it: the phase's time by its operations.
    fn mean(&self) -> Option<Duration> {
        self.time.picoseconds().checked_div(self.operations).map(Duration::from_picoseconds)
    }

    fn messages_each(&self) -> f64 {
        self.messages as f64 / self.operations.max(1) as f64
    }

    fn row(&self) -> [String; 12] {
        let counts = [self.found, self.adjustments, self.forwards, self.splits, self.merges, self.servers];
        let [found, adjustments, forwards, splits, merges, servers] = counts.map(|count| count.to_string());
        let operations = self.operations.to_string();
        let name = self.name.to_string();
        let Some(mean) = self.mean() else {
            // Nobody was asked for anything.
            let none = String::new;
            return [name, none(), operations, none(), none(), none(), none(), none(), none(), splits, merges, servers];
        };
        let (time, mean, longest) = (rounded(self.time), rounded(mean), rounded(self.longest));
        let messages = format!("{:.4}", self.messages_each());
        [name, time, operations, mean, longest, messages, found, adjustments, forwards, splits, merges, servers]
    }

    fn json(&self) -> Value {
        json!({
            "phase": self.name,
            "time_ps": self.time.picoseconds(),
            "operations": self.operations,
            "mean_ps": self.mean().map(Duration::picoseconds),
            "longest_ps": self.longest.picoseconds(),
            "messages": self.messages,
            "messages_per_operation": self.messages_each(),
            "found": self.found,
            "adjustments": self.adjustments,
            "forwards": self.forwards,
            "splits": self.splits,
            "merges": self.merges,
            "servers": self.servers,
            "entries": self.entries,
        })
    }
}
