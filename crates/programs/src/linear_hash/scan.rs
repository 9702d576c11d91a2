//! A scan of all servers, with proof that every one has answered.

use std::collections::BTreeMap;

use quantities::{Duration, Time};
use serde::{Deserialize, Serialize};

use super::client::longer;
use super::message::{Body, Key, ScanAnswer, ScanRequest};
use super::{Image, Server, ServerOutput, ToClient, h};

/// A class of keys: those with `h_level(C) = residue`.
///
/// Server a of level j has class (a, j). The classes of all servers together are all keys, and no two have a key in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Class {
    /// What is left of C.
    pub residue: u32,
    /// By the hash function of this level.
    pub level: u32,
}

impl Class {
    /// Whether all keys of another class are in this one.
    pub const fn covers(self, part: Class) -> bool {
        part.level >= self.level && h(self.level, part.residue as u64) == self.residue
    }

    /// What remains of it without a class that it covers: those of the servers that came of the splits of the part's server.
    fn without(self, part: Class) -> impl Iterator<Item = Class> {
        (self.level..part.level)
            .map(move |k| Class { residue: h(k + 1, u64::from(part.residue)) ^ 1 << k, level: k + 1 })
    }

    /// Its share of all keys, in 2^-32.
    const fn share(self) -> u64 {
        1 << (32 - self.level)
    }
}

/// What a scan does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ScanOutput {
    /// Sends a request to a server.
    Send(u32, ScanRequest),
    /// Has found these.
    Found(Vec<(Key, Body)>),
    /// Is over: so many keys are there. Every server has answered.
    Done(u64),
}

/// A client's scan: it asks all servers of its image at once, each for its class of keys.
///
/// ```text
///   open = the classes of the servers of the image
///   on the answer of server a of level j, asked for class c of them:
///     strike out c; if (a, j) is only a part of c: open the rest of c, class by class
///   over when no class is open
/// ```
///
/// The classes that were answered are all keys, then, and none is in two of them: a key that is there all the while is found once.
/// Of a key that is stored or removed meanwhile the scan sees one state that it had. A server that splits or merges answers when
/// that is over; one that has left says so, and its class is asked of the server that took over. Answers that come twice
/// find their class struck out.
///
/// Cost: 2 M messages with a true image, in one round; with an image of one server 2 M in log2 M rounds.
///
/// Source: LH* paper, section on parallel operations with deterministic termination; the classes are ours.
#[derive(Clone, Debug)]
pub struct Scan {
    client: u32,
    number: u64,
    counting: bool,
    image: Image,
    patience: Duration,
    /// When each class that is open is asked for again, and the patience until then.
    open: BTreeMap<Class, (Time, Duration)>,
    /// What has been answered, in 2^-32 of all keys.
    answered: u64,
    count: u64,
}

impl Scan {
    /// Begins a client's scan of this number, for all entries or only for how many there are.
    pub fn begin(
        (client, number): (u32, u64),
        image: Image,
        counting: bool,
        patience: Duration,
        now: Time,
    ) -> (Scan, Vec<ScanOutput>) {
        let mut scan = Scan { client, number, counting, image, patience, open: BTreeMap::new(), answered: 0, count: 0 };
        let servers = (0..image.extent().buckets()).map(|a| Class { residue: a, level: image.extent().level(a) });
        let outputs = servers.map(|class| scan.ask(class, patience, now)).collect();
        (scan, outputs)
    }

    /// What it believes of the table by now.
    pub const fn image(&self) -> Image {
        self.image
    }

    /// Whether all keys have been answered for.
    pub const fn is_over(&self) -> bool {
        self.answered == Class { residue: 0, level: 0 }.share()
    }

    /// When it wants to be asked again, if nothing comes before.
    pub fn deadline(&self) -> Option<Time> {
        self.open.values().map(|(again, _)| *again).min()
    }

    fn ask(&mut self, class: Class, patience: Duration, now: Time) -> ScanOutput {
        self.open.insert(class, (now + patience, patience));
        let request = ScanRequest { client: self.client, number: self.number, class, counting: self.counting };
        ScanOutput::Send(self.image.address(u64::from(class.residue)), request)
    }

    /// Asks again for the classes whose deadline has passed.
    pub fn wake(&mut self, now: Time) -> Vec<ScanOutput> {
        let due = self.open.iter().filter(|(_, (again, _))| *again <= now);
        let due: Vec<(Class, Duration)> = due.map(|(class, (_, patience))| (*class, *patience)).collect();
        due.into_iter().map(|(class, patience)| self.ask(class, longer(patience, self.patience), now)).collect()
    }

    /// Takes what a server says.
    pub fn take(&mut self, now: Time, message: ToClient) -> Vec<ScanOutput> {
        let ToClient::Scanned { number, class, answer } = message else { return Vec::new() };
        if number != self.number || !self.open.contains_key(&class) {
            return Vec::new();
        }
        match answer {
            ScanAnswer::Part { server, level, count, entries } => {
                self.image.adjust(server, level);
                let own = Class { residue: server, level };
                self.strike_out(class, if class.covers(own) { own } else { class }, now, count, entries)
            }
            ScanAnswer::Elsewhere { server, level } => {
                self.image.adjust(server, level);
                vec![self.ask(class, self.patience, now)]
            }
            ScanAnswer::Gone { server } => {
                self.image.gone(server);
                vec![self.ask(class, self.patience, now)]
            }
        }
    }

    /// Part of a class is answered for; the rest is asked for.
    fn strike_out(
        &mut self,
        class: Class,
        part: Class,
        now: Time,
        count: u64,
        entries: Vec<(Key, Body)>,
    ) -> Vec<ScanOutput> {
        self.open.remove(&class);
        self.answered += part.share();
        self.count += count;
        let mut outputs: Vec<ScanOutput> = class.without(part).map(|rest| self.ask(rest, self.patience, now)).collect();
        if !entries.is_empty() {
            outputs.push(ScanOutput::Found(entries));
        }
        if self.is_over() {
            outputs.push(ScanOutput::Done(self.count));
        }
        outputs
    }
}

impl Server {
    /// Takes a part of a scan. One that comes while the server splits or merges waits until that is over.
    pub fn scan(&mut self, request: ScanRequest, outputs: &mut Vec<ServerOutput>) {
        if self.is_busy() {
            if !self.scans.contains(&request) {
                self.scans.push(request);
            }
            return;
        }
        let ScanRequest { client, number, class, .. } = request;
        let answer = self.scanned(&request);
        outputs.push(ServerOutput::Client(client, ToClient::Scanned { number, class, answer }));
    }

    fn is_busy(&self) -> bool {
        self.change.is_some() || self.table.as_ref().is_some_and(|table| !table.is_whole())
    }

    /// Answers the scans that have waited, if this server is not busy any more.
    pub(super) fn answer_scans(&mut self, outputs: &mut Vec<ServerOutput>) {
        if !self.is_busy() {
            for request in std::mem::take(&mut self.scans) {
                self.scan(request, outputs);
            }
        }
    }

    fn scanned(&self, request: &ScanRequest) -> ScanAnswer {
        let server = self.number;
        let Some(table) = &self.table else { return ScanAnswer::Gone { server } };
        let level = table.level();
        let (own, class) = (Class { residue: server, level }, request.class);
        if class.covers(own) && request.counting {
            return ScanAnswer::Part { server, level, count: table.len(), entries: Vec::new() };
        }
        if !class.covers(own) && !own.covers(class) {
            return ScanAnswer::Elsewhere { server, level };
        }
        let asked_for = table.entries().filter(|entry| h(class.level, entry.c) == class.residue);
        if request.counting {
            return ScanAnswer::Part { server, level, count: asked_for.count() as u64, entries: Vec::new() };
        }
        let entries: Vec<(Key, Body)> = asked_for.map(|entry| (entry.key.clone(), entry.value.clone())).collect();
        ScanAnswer::Part { server, level, count: entries.len() as u64, entries }
    }
}
