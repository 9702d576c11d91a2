//! Builds a table: the sizes of its servers and chunks, and the measurements of a finished build.

use quantities::{Bytes, Duration, Time};
use serde::{Deserialize, Serialize};

use super::{ClientEnd, Insert, Key, RankEnd, ServerEnd};

/// At most this many points describe the course of a build.
const POINTS: usize = 100;
/// Roughly how much an entry takes in a chunk besides its key and its body. [B]
const ENTRY_HEADER: u64 = 16;

/// V such that, with a uniform hash, the last server joins the file as the last of `keys` keys are inserted, if servers
/// are filled to the share M. [entries]
pub fn filled_capacity(keys: usize, servers: u32, sensitivity: f64) -> u64 {
    ((keys as f64 / (sensitivity * f64::from(servers))).ceil() as u64).max(1)
}

/// How many entries with these keys and bodies make a chunk of size `chunk`.
pub fn entries_of_chunk(chunk: Bytes, keys: &[Key], body: Bytes) -> u64 {
    let total: u64 = keys.iter().map(|key| key.len() as u64).sum();
    let mean = total / (keys.len() as u64).max(1);
    (chunk.0 / mean.saturating_add(ENTRY_HEADER).saturating_add(body.0)).max(1)
}

/// A finished build.
#[derive(Clone, Debug)]
pub struct Built<'a> {
    servers: Vec<&'a ServerEnd>,
    clients: Vec<&'a ClientEnd>,
    /// When inserts were acknowledged, in order of time.
    acknowledged: Vec<Time>,
    /// The splits, in order of time.
    splits: Vec<Split>,
}

/// A split of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Split {
    /// When it began.
    pub at: Time,
    /// How many inserts had been acknowledged by then.
    pub inserts: usize,
    /// The server that split.
    pub server: usize,
}

impl<'a> Built<'a> {
    /// The build that servers and clients ended with.
    pub fn new(ends: &'a [RankEnd]) -> Built<'a> {
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
        let by = |at: Time| acknowledged.partition_point(|&time| time <= at);
        let of = |(server, end): (usize, &&ServerEnd)| {
            end.splits.iter().map(|&at| Split { at, inserts: by(at), server }).collect::<Vec<Split>>()
        };
        let mut splits: Vec<Split> = servers.iter().enumerate().flat_map(of).collect();
        splits.sort_unstable();
        Built { servers, clients, acknowledged, splits }
    }

    fn each_insert(&self) -> impl Iterator<Item = &Insert> {
        self.clients.iter().flat_map(|client| &client.inserts)
    }

    /// How many inserts there were.
    pub fn inserts(&self) -> usize {
        self.acknowledged.len()
    }

    /// How many of them stored something: those whose key was new.
    pub fn stored(&self) -> usize {
        self.each_insert().filter(|insert| insert.stored).count()
    }

    /// How long the build took until this many inserts were acknowledged.
    pub fn until(&self, inserts: usize) -> Duration {
        let last = inserts.checked_sub(1).and_then(|index| self.acknowledged.get(index));
        last.copied().unwrap_or(Time::ZERO).since(Time::ZERO)
    }

    /// Numbers of inserts that describe the course of the build: evenly spaced, the last being all of them.
    pub fn points(&self) -> impl Iterator<Item = usize> {
        let all = self.inserts();
        let points = POINTS.min(all);
        (1..=points).map(move |point| all * point / points)
    }

    /// The mean time of an insert, as the application sees it: the time so far divided by the inserts so far.
    pub fn mean_time(&self, inserts: usize) -> Duration {
        Duration::from_picoseconds(self.until(inserts).picoseconds() / inserts.max(1) as u64)
    }

    /// The largest mean time over the course of the build. The very first inserts are too few for a mean.
    pub fn worst_mean_time(&self) -> Duration {
        self.points().map(|inserts| self.mean_time(inserts)).max().unwrap_or_default()
    }

    /// The time of the longest insert.
    pub fn longest(&self) -> Duration {
        self.each_insert().map(|insert| insert.acknowledged.since(insert.begun)).max().unwrap_or_default()
    }

    /// The splits, in order of time.
    pub fn splits(&self) -> &[Split] {
        &self.splits
    }

    /// How many messages clients sent, and how many servers.
    pub fn messages(&self) -> (u64, u64) {
        let by_clients = self.clients.iter().map(|client| client.messages).sum();
        (by_clients, self.servers.iter().map(|server| server.messages).sum())
    }

    /// The mean number of messages per insert.
    pub fn messages_per_insert(&self) -> f64 {
        let (by_clients, by_servers) = self.messages();
        (by_clients + by_servers) as f64 / self.inserts().max(1) as f64
    }

    /// How many image adjustments clients received.
    pub fn adjustments(&self) -> u64 {
        self.clients.iter().map(|client| client.counts.adjustments).sum()
    }

    /// How often a server forwarded a request to another.
    pub fn forwards(&self) -> u64 {
        self.servers.iter().map(|server| server.counts.forwarded).sum()
    }

    /// The most times that one request was forwarded.
    pub fn most_forwards(&self) -> u32 {
        self.clients.iter().map(|client| client.counts.most_forwards).max().unwrap_or(0)
    }

    /// All servers, including those that did not join the file.
    pub fn servers(&self) -> &[&'a ServerEnd] {
        &self.servers
    }

    /// How many entries each server of the file has.
    pub fn entries(&self) -> Vec<u64> {
        self.servers.iter().filter_map(|server| server.entries).collect()
    }

    /// The share of their capacity that the servers of the file use, if each has room for `capacity` entries.
    pub fn load_factor(&self, capacity: u64) -> f64 {
        let entries = self.entries();
        entries.iter().sum::<u64>() as f64 / (capacity as f64 * entries.len().max(1) as f64)
    }

    /// The share of their capacity that the servers of the file used, averaged over all inserts since the first split
    /// began; none without a split. The load factor at the end depends on where between two splits the build ended.
    pub fn mean_load_factor(&self, capacity: u64) -> Option<f64> {
        let first = self.splits.first()?.at;
        let stored = self.each_insert().filter(|insert| insert.stored).map(|insert| insert.acknowledged);
        let mut stored: Vec<Time> = stored.collect();
        stored.sort_unstable();
        let servers = |at: Time| 1 + self.splits.partition_point(|split| split.at <= at);
        let load = |(before, &at): (usize, &Time)| (before + 1) as f64 / (servers(at) as f64 * capacity as f64);
        let loads: Vec<f64> = stored.iter().enumerate().filter(|(_, at)| **at >= first).map(load).collect();
        Some(loads.iter().sum::<f64>() / loads.len().max(1) as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_keys_just_fill_all_servers() {
        assert_eq!(filled_capacity(180_000, 11, 0.8), 20_455);
        assert_eq!(filled_capacity(0, 11, 0.8), 1);
    }

    #[test]
    fn a_chunk_has_at_least_one_entry() {
        let keys = [Key::from(*b"abcd"), Key::from(*b"ef")];
        assert_eq!(entries_of_chunk(Bytes(190), &keys, Bytes(0)), 10);
        assert_eq!(entries_of_chunk(Bytes(190), &keys, Bytes(8192)), 1);
        assert_eq!(entries_of_chunk(Bytes(190), &[], Bytes(u64::MAX)), 1);
    }
}
