//! What is said of a table that was built.

use programs::linear_hash::{ClientEnd, Insert, RankEnd, ServerEnd};
use quantities::{Duration, Time};
use serde_json::{Value, json};

use crate::command_line::run::summary::Finding;
use crate::command_line::terminal::rounded;

/// As many points the course of a build has.
const POINTS: usize = 100;
/// As many splits are told to a person one by one.
const SHOWN: usize = 16;

/// A table that was built.
pub(super) struct Built<'a> {
    servers: Vec<&'a ServerEnd>,
    clients: Vec<&'a ClientEnd>,
    /// When inserts were acknowledged, in the order of time.
    acknowledged: Vec<Time>,
    /// When servers split, in the order of time, and which.
    splits: Vec<(Time, usize)>,
}

impl<'a> Built<'a> {
    pub(super) fn new(ends: &'a [RankEnd]) -> Built<'a> {
        let (mut servers, mut clients) = (Vec::new(), Vec::new());
        for end in ends {
            match end {
                RankEnd::Server(server) => servers.push(server),
                RankEnd::Client(client) => clients.push(client),
            }
        }
        let inserts = clients.iter().flat_map(|client: &&ClientEnd| &client.inserts);
        let mut acknowledged: Vec<Time> = inserts.map(|insert| insert.acknowledged).collect();
        acknowledged.sort_unstable();
        let of = |(server, end): (usize, &&ServerEnd)| end.splits.iter().map(move |&at| (at, server)).collect();
        let mut splits: Vec<(Time, usize)> = servers.iter().enumerate().flat_map::<Vec<_>, _>(of).collect();
        splits.sort_unstable();
        Built { servers, clients, acknowledged, splits }
    }

    pub(super) fn findings(&self, capacity: u64) -> Vec<Finding> {
        vec![
            self.inserts(),
            self.build(),
            self.insert_time(),
            self.splits(),
            self.messages(),
            self.adjustments(),
            self.forwards(),
            self.load(capacity),
        ]
    }

    fn each_insert(&self) -> impl Iterator<Item = &Insert> {
        self.clients.iter().flat_map(|client| &client.inserts)
    }

    fn inserts(&self) -> Finding {
        let (all, stored) = (self.acknowledged.len(), self.each_insert().filter(|insert| insert.stored).count());
        let text =
            if stored == all { all.to_string() } else { format!("{all}, {} of them there already", all - stored) };
        Finding { name: "inserts", text, key: "inserts", value: json!({"all": all, "stored": stored}) }
    }

    /// How long the build took until that many inserts were acknowledged.
    fn until(&self, inserts: usize) -> Duration {
        let last = inserts.checked_sub(1).and_then(|index| self.acknowledged.get(index));
        last.copied().unwrap_or(Time::ZERO).since(Time::ZERO)
    }

    /// How long the build took, and its course.
    fn build(&self) -> Finding {
        let all = self.acknowledged.len();
        let points = POINTS.min(all);
        let course = (1..=points).map(|point| {
            let inserts = all * point / points;
            json!({"inserts": inserts, "at_ps": self.until(inserts).picoseconds()})
        });
        Finding {
            name: "build time",
            text: rounded(self.until(all)),
            key: "build",
            value: json!({"time_ps": self.until(all).picoseconds(), "course": course.collect::<Vec<Value>>()}),
        }
    }

    /// What an insert takes on the mean, as the application has it: the build so far by the inserts so far.
    fn insert_time(&self) -> Finding {
        let mean = |inserts: usize| self.until(inserts).picoseconds() / inserts.max(1) as u64;
        let all = self.acknowledged.len();
        // The very first ones are too few for a mean.
        let worst = (1..=POINTS).map(|point| mean((all * point / POINTS).max(1))).max().unwrap_or(0);
        let taken = self.each_insert().map(|insert| insert.acknowledged.since(insert.begun));
        let longest = taken.max().unwrap_or_default();
        let shown = |picoseconds| rounded(Duration::from_picoseconds(picoseconds));
        Finding {
            name: "time an insert",
            text: format!(
                "{} on the mean, at worst {} on the way; the longest took {}",
                shown(mean(all)),
                shown(worst),
                rounded(longest)
            ),
            key: "insert_time",
            value: json!({"mean_ps": mean(all), "worst_mean_ps": worst, "longest_ps": longest.picoseconds()}),
        }
    }

    /// How many inserts had been acknowledged by then.
    fn by(&self, at: Time) -> usize {
        self.acknowledged.partition_point(|&time| time <= at)
    }

    fn splits(&self) -> Finding {
        let shown: Vec<String> = self.splits.iter().take(SHOWN).map(|&(at, _)| self.by(at).to_string()).collect();
        let and_so_on = if self.splits.len() > SHOWN { ", and so on" } else { "" };
        let text = match self.splits.len() {
            0 => "none".to_string(),
            count => format!("{count}, after {} inserts{and_so_on}", shown.join(", ")),
        };
        let one = |&(at, server): &(Time, usize)| json!({"at_ps": at.picoseconds(), "inserts": self.by(at), "server": server});
        Finding { name: "splits", text, key: "splits", value: self.splits.iter().map(one).collect() }
    }

    fn messages(&self) -> Finding {
        let servers: u64 = self.servers.iter().map(|server| server.messages).sum();
        let clients: u64 = self.clients.iter().map(|client| client.messages).sum();
        let mean = (servers + clients) as f64 / self.acknowledged.len().max(1) as f64;
        Finding {
            name: "messages an insert",
            text: format!("{mean:.4}"),
            key: "messages_per_insert",
            value: json!({"mean": mean, "by_clients": clients, "by_servers": servers}),
        }
    }

    fn adjustments(&self) -> Finding {
        let count: u64 = self.clients.iter().map(|client| client.counts.adjustments).sum();
        Finding { name: "adjustments", text: count.to_string(), key: "adjustments", value: json!(count) }
    }

    fn forwards(&self) -> Finding {
        let count: u64 = self.servers.iter().map(|server| server.counts.forwarded).sum();
        let most = self.clients.iter().map(|client| client.counts.most_forwards).max().unwrap_or(0);
        Finding {
            name: "forwards",
            text: format!("{count}, of one insert at most {most}"),
            key: "forwards",
            value: json!({"all": count, "most_of_one": most}),
        }
    }

    /// How full servers are, and what each did.
    fn load(&self, capacity: u64) -> Finding {
        let entries: Vec<u64> = self.servers.iter().filter_map(|server| server.entries).collect();
        let total: u64 = entries.iter().sum();
        let share = total as f64 / (capacity as f64 * entries.len().max(1) as f64);
        let (least, most) = (entries.iter().min().unwrap_or(&0), entries.iter().max().unwrap_or(&0));
        let by_server = |server: &&ServerEnd| {
            json!({
                "entries": server.entries,
                "answered": server.counts.answered,
                "forwarded": server.counts.forwarded,
                "splits": server.counts.splits,
                "messages": server.messages,
            })
        };
        Finding {
            name: "load factor",
            text: format!("{share:.3} over {} servers with {least} to {most} entries each", entries.len()),
            key: "load",
            value: json!({
                "factor": share,
                "servers": entries.len(),
                "by_server": self.servers.iter().map(by_server).collect::<Vec<Value>>(),
            }),
        }
    }
}
