//! What is printed about a table that grew while clients asked: stage by stage, from one number of servers to twice as
//! many.

use linear_hash::growing::{Asked, GrowingClient, GrowingEnd, GrowingServer, Kind, Routing, Traffic};
use quantities::{Duration, Time};
use report::terminal::{Side, amount, columns, counted, rounded};
use serde_json::{Value, json};

use crate::Finding;

/// The percentiles that are told, in tenths of a percent: as whole numbers none is one too high.
const PERCENTILES: [(u64, &str); 3] = [(500, "p50"), (990, "p99"), (999, "p99.9")];

/// What all ranks did.
struct Whole<'a> {
    servers: Vec<&'a GrowingServer>,
    clients: Vec<&'a GrowingClient>,
    /// When splits began, in the order of time.
    splits: Vec<Time>,
}

/// Requests that were begun while there were as many servers.
struct Stage {
    /// From so many servers to so many.
    servers: (usize, usize),
    /// How long requests took, the shortest first.
    times: Vec<Duration>,
    detours: u64,
    maps: u64,
}

/// All of it.
pub(super) fn findings(ends: &[GrowingEnd], routing: Routing) -> Vec<Finding> {
    let whole = Whole::of(ends);
    vec![growth(&whole), requests(&whole, routing), wrong(&whole, routing), messages(&whole), work(&whole)]
}

impl<'a> Whole<'a> {
    fn of(ends: &'a [GrowingEnd]) -> Whole<'a> {
        let (mut servers, mut clients) = (Vec::new(), Vec::new());
        for end in ends {
            match end {
                GrowingEnd::Server(server) => servers.push(server),
                GrowingEnd::Client(client) => clients.push(client),
            }
        }
        let mut splits: Vec<Time> = servers.iter().flat_map(|server| &server.splits).copied().collect();
        splits.sort_unstable();
        Whole { servers, clients, splits }
    }

    fn asked(&self) -> impl Iterator<Item = &Asked> {
        self.clients.iter().flat_map(|client| &client.asked)
    }

    /// One for all, and one each for 1, 2 to 3, 4 to 7, ... servers.
    fn stages(&self) -> Vec<Stage> {
        let most = 1 + self.splits.len();
        let of = |first: usize| Stage::from(first, (2 * first - 1).min(most));
        let firsts = (0..usize::BITS).map(|power| 1 << power).take_while(|first| *first <= most);
        let mut stages: Vec<Stage> = std::iter::once(Stage::from(1, most)).chain(firsts.map(of)).collect();
        for asked in self.asked() {
            let servers = 1 + self.splits.partition_point(|split| *split <= asked.begun);
            for stage in [0, 1 + servers.ilog2() as usize] {
                stages[stage].add(asked);
            }
        }
        stages.iter_mut().for_each(|stage| stage.times.sort_unstable());
        stages
    }

    fn adjustments(&self) -> u64 {
        self.clients.iter().map(|client| client.adjustments).sum()
    }

    fn traffic(&self) -> Traffic {
        let of_servers = self.servers.iter().map(|server| &server.traffic);
        let mut all = Traffic::default();
        of_servers.chain(self.clients.iter().map(|client| &client.traffic)).for_each(|traffic| all.add(traffic));
        all
    }
}

impl Stage {
    const fn from(first: usize, last: usize) -> Stage {
        Stage { servers: (first, last), times: Vec::new(), detours: 0, maps: 0 }
    }

    fn add(&mut self, asked: &Asked) {
        self.times.push(asked.took);
        self.detours += u64::from(asked.detours);
        self.maps += u64::from(asked.maps);
    }

    /// The least time that so many tenths of a percent do not exceed.
    fn percentile(&self, tenths: u64) -> Duration {
        let rank = (tenths * self.times.len() as u64).div_ceil(1_000).max(1);
        self.times.get(rank as usize - 1).copied().unwrap_or_default()
    }

    fn most(&self) -> Duration {
        self.times.last().copied().unwrap_or_default()
    }

    fn row(&self) -> [String; 8] {
        let (first, last) = self.servers;
        let servers = if first == last { first.to_string() } else { format!("{first} to {last}") };
        let [p50, p99, p999] = PERCENTILES.map(|(tenths, _)| rounded(self.percentile(tenths)));
        let count = self.times.len().to_string();
        [servers, count, p50, p99, p999, rounded(self.most()), self.detours.to_string(), self.maps.to_string()]
    }

    fn json(&self) -> Value {
        let mut value = json!({
            "servers": [self.servers.0, self.servers.1],
            "requests": self.times.len(),
            "worst_ps": self.most().picoseconds(),
            "detours": self.detours,
            "maps": self.maps,
        });
        for (tenths, name) in PERCENTILES {
            value[format!("{name}_ps")] = json!(self.percentile(tenths).picoseconds());
        }
        value
    }
}

fn growth(whole: &Whole<'_>) -> Finding {
    let reached = whole.servers.iter().map(|server| server.file.buckets()).max().unwrap_or(1);
    let last = whole.splits.last().map_or(Duration::ZERO, |last| last.since(Time::ZERO));
    let entries: u64 = whole.servers.iter().filter_map(|server| server.entries).sum();
    let text = format!("1 to {}, the last after {}; {entries} entries", counted(reached, "server"), rounded(last));
    let value = json!({"servers": reached, "last_split_ps": last.picoseconds(), "entries": entries});
    Finding { name: "growth", text, key: "growth", value }
}

fn requests(whole: &Whole<'_>, routing: Routing) -> Finding {
    let detours = if routing == Routing::Forward { "forwards" } else { "detours" };
    let heads = ["servers", "requests", "p50", "p99", "p99.9", "worst", detours, "maps"].map(str::to_owned);
    let stages = whole.stages();
    let rows: Vec<[String; 8]> = std::iter::once(heads).chain(stages.iter().map(Stage::row)).collect();
    let mut sides = [Side::Right; 8];
    sides[0] = Side::Left;
    let value = stages.iter().map(Stage::json).collect();
    Finding { name: "requests", text: columns(sides, &rows), key: "stages", value }
}

/// How often clients were wrong.
fn wrong(whole: &Whole<'_>, routing: Routing) -> Finding {
    let (clients, splits, adjustments) = (whole.clients.len(), whole.splits.len(), whole.adjustments());
    let each = adjustments as f64 / clients.max(1) as f64;
    let a_split = each / splits.max(1) as f64;
    let most = whole.asked().map(|asked| asked.detours).max().unwrap_or(0);
    let forwards: u64 = whole.servers.iter().map(|server| server.counts.forwarded).sum();
    let name = if routing == Routing::Forward { "adjustments" } else { "MOVED" };
    Finding {
        name,
        text: format!(
            "{adjustments}, {each:.2} a client, {a_split:.4} a client and split; {forwards} requests forwarded between servers; at most \
             {most} detours of one request"
        ),
        key: "adjustments",
        value: json!({
            "all": adjustments, "a_client": each, "a_client_and_split": a_split, "forwards": forwards, "most_detours": most,
        }),
    }
}

fn messages(whole: &Whole<'_>) -> Finding {
    let traffic = whole.traffic();
    let there = Kind::ALL.map(|kind| (kind, traffic.of(kind))).into_iter().filter(|(_, (messages, _))| *messages > 0);
    let heads = ["", "messages", "bytes"].map(str::to_owned);
    let row =
        |(kind, (messages, bytes)): (Kind, (u64, _))| [kind.name().to_owned(), messages.to_string(), amount(bytes)];
    let rows: Vec<[String; 3]> = std::iter::once(heads).chain(there.map(row)).collect();
    let one = |kind: Kind| {
        let (messages, bytes) = traffic.of(kind);
        json!({"kind": kind.name(), "messages": messages, "bytes": bytes.0})
    };
    Finding {
        name: "by kind",
        text: columns([Side::Left, Side::Right, Side::Right], &rows),
        key: "by_kind",
        value: Kind::ALL.map(one).to_vec().into(),
    }
}

/// What servers computed for.
fn work(whole: &Whole<'_>) -> Finding {
    let sum = |of: fn(&GrowingServer) -> Duration| -> Duration {
        whole.servers.iter().fold(Duration::ZERO, |sum, server| sum + of(server))
    };
    let (on_requests, on_maps) = (sum(|server| server.on_requests), sum(|server| server.on_maps));
    let busiest = whole.servers.iter().map(|server| server.on_requests + server.on_maps).max().unwrap_or_default();
    Finding {
        name: "server time",
        text: format!(
            "{} on requests, {} on maps, in all; {} at the busiest",
            rounded(on_requests),
            rounded(on_maps),
            rounded(busiest)
        ),
        key: "server_time",
        value: json!({
            "on_requests_ps": on_requests.picoseconds(),
            "on_maps_ps": on_maps.picoseconds(),
            "busiest_ps": busiest.picoseconds(),
        }),
    }
}
