//! How full the servers are while a file grows and shrinks, where every message arrives at once.

use std::collections::VecDeque;

use endpoint::Message;
use maquette_programs::linear_hash::{
    Extent, Growth, Key, Operation, Request, Server, ServerOutput, ToClient, ToServer,
};

/// A file, and one client that knows all of it.
struct File {
    servers: Vec<Server>,
    requests: u64,
    hash: fn(u64) -> u64,
}

impl File {
    fn new(growth: Growth, hash: fn(u64) -> u64) -> File {
        let servers = (0..growth.most_servers).map(|number| Server::new(number, growth)).collect();
        File { servers, requests: 0, hash }
    }

    /// How many servers there are.
    fn size(&self) -> u32 {
        self.servers.iter().filter(|server| server.table().is_some()).count() as u32
    }

    fn entries(&self) -> u64 {
        self.servers.iter().filter_map(Server::table).map(|table| table.len()).sum()
    }

    /// How much of their room the servers use on the mean.
    fn load(&self, growth: Growth) -> f64 {
        self.entries() as f64 / (f64::from(self.size()) * growth.capacity as f64)
    }

    fn splits(&self) -> u64 {
        self.servers.iter().map(|server| server.counts.splits).sum()
    }

    /// Has a request done, with all that follows from it.
    fn request(&mut self, key: u64, operation: fn(Key) -> Operation) {
        let (c, number) = ((self.hash)(key), self.requests);
        self.requests += 1;
        let request = Request { client: 0, number, c, operation: operation(key.to_le_bytes().into()), forwards: 0 };
        let first = Extent::of(self.size()).index(c);
        let mut under_way = VecDeque::from([(first, first, ToServer::Forward(request))]);
        let mut answered = false;
        while let Some((from, to, message)) = under_way.pop_front() {
            let mut outputs = Vec::new();
            self.servers[to as usize].take(from, message, &mut outputs);
            for output in outputs {
                match output {
                    ServerOutput::Server(next, message) => under_way.push_back((to, next, message)),
                    ServerOutput::Client(_, ToClient::Reply { .. }) => answered = true,
                    ServerOutput::Client(_, other) => panic!("{other:?}"),
                }
            }
        }
        assert!(answered);
    }
}

fn uniform(key: u64) -> u64 {
    let mixed = key.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed ^ (mixed >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 17
}

fn insert(key: Key) -> Operation {
    Operation::Insert(key, Message::default())
}

fn growth() -> Growth {
    Growth { capacity: 500, sensitivity: 0.8, shrink: None, apart: false, most_servers: 300, chunk: 64 }
}

/// Grows, keeps its size while a third is removed and stored again, and comes down to one server as all is removed.
#[test]
fn a_file_grows_and_shrinks_and_does_neither_in_between() {
    let growth = Growth { shrink: Some(0.3), ..growth() };
    let mut file = File::new(growth, uniform);
    let keys = 20_000;
    (0..keys).for_each(|key| file.request(key, insert));
    let (size, splits) = (file.size(), file.splits());
    assert!((45..=55).contains(&size), "{size} servers");
    for _ in 0..3 {
        (0..keys / 3).for_each(|key| file.request(key, Operation::Remove));
        (0..keys / 3).for_each(|key| file.request(key, insert));
        assert!(file.size() == size && file.splits() == splits);
    }
    for key in 0..keys {
        file.request(key, Operation::Remove);
        assert!(file.size() == 1 || file.load(growth) > 0.2, "{} servers for {}", file.size(), file.entries());
    }
    assert_eq!((file.size(), file.entries()), (1, 0));
    (0..keys).for_each(|key| file.request(key, insert));
    assert!(file.size().abs_diff(size) <= 3);
}

/// Without being told to, a file does not shrink.
#[test]
fn a_file_keeps_its_servers_by_default() {
    let mut file = File::new(growth(), uniform);
    (0..5_000).for_each(|key| file.request(key, insert));
    let size = file.size();
    (0..5_000).for_each(|key| file.request(key, Operation::Remove));
    assert_eq!((file.size(), file.entries()), (size, 0));
}

/// How much of their room the servers use on the mean over all inserts, from two servers on; and the fewest inserts in which three
/// splits begin.
fn grown(growth: Growth, keys: u64, hash: fn(u64) -> u64) -> (f64, u64) {
    let mut file = File::new(growth, hash);
    let (mut loads, mut splits) = (Vec::new(), Vec::new());
    for key in 0..keys {
        file.request(key, insert);
        let new = file.splits() - splits.len() as u64;
        splits.extend((0..new).map(|_| key));
        if file.size() >= 2 && key.is_multiple_of(16) {
            loads.push(file.load(growth));
        }
    }
    let three = splits.windows(3).map(|three| three[2] - three[0]);
    (loads.iter().sum::<f64>() / loads.len() as f64, three.min().unwrap())
}

/// Some of the lowest four bits come often and some seldom, as where they follow from the last letter of a word.
fn skewed(key: u64) -> u64 {
    const LOWEST: [u64; 16] = [0, 0, 0, 0, 8, 8, 4, 12, 2, 1, 3, 5, 6, 9, 10, 15];
    let mixed = uniform(key);
    mixed << 4 | LOWEST[(mixed >> 40 & 15) as usize]
}

/// Eleven servers, as in the paper: with its threshold three quarters full at most, fuller where splits are kept apart.
#[test]
fn servers_are_as_full_as_the_threshold_says() {
    let growth = Growth { capacity: 1_800, most_servers: 11, ..growth() };
    let (load, _) = grown(growth, 15_840, uniform);
    assert!((0.65..0.78).contains(&load), "{load}");
    let (load, _) = grown(Growth { apart: true, ..growth }, 15_840, uniform);
    assert!((0.80..0.95).contains(&load), "{load}");
}

/// Several servers split upon one insert, unless splits are kept apart.
#[test]
fn splits_that_are_kept_apart_do_not_follow_upon_each_other() {
    let (_, cascade) = grown(growth(), 40_000, skewed);
    let (_, apart) = grown(Growth { apart: true, ..growth() }, 40_000, skewed);
    assert!(cascade == 0 && apart > 400, "three splits in {cascade} inserts, and in {apart}");
}
