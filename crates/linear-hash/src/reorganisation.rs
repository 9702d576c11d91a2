//! How a server splits, and merges again with what it had split off.
//!
//! ```text
//!   split                              merge
//!   n            2^i + n               parent          last            token is with server n
//!   | Open          |                    |<- Shrink ------------------- |
//!   |-------------->|                    | Leave        |               before: local tables come to one shape
//!   | Chunk         |                    |------------->|
//!   |-------------->|                    |<-- Leaving --|
//!   |<-- Received --|                    |-- Received ->|
//!   | last Chunk    |                    |<---- Chunk --|
//!   |-------------->|                    |-- Received ->|
//!   Token to n + 1                       |<- last Chunk |               Token stays with the parent
//! ```
//!
//! All the while both answer for the buckets that they have, and know where to forward requests for the others.

use serde::{Deserialize, Serialize};

use super::contents::{Contents, OutputOf, ToServerOf};
use super::{
    Applied, Bounds, Bucket, EntryPlace, Extent, Growth, Server, ServerOutput, Split, Table, ToServer, forward,
};

/// What a server is doing besides answering requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Change {
    /// Half of its table is going to this server.
    SplitsTo(u32),
    /// All of its table is going to this one.
    LeavesFor(u32),
    /// It takes over the table of this one.
    TakesOver(u32),
    /// It moves to another place.
    MovesAway,
    /// It moves here from another place.
    Arrives,
}

impl<C: Contents> Server<C> {
    /// Begins to split, if this server has the token and is not busy, and exceeds the threshold or more servers are
    /// wanted.
    pub(super) fn consider_split(&mut self, outputs: &mut Vec<OutputOf<C>>) {
        let (Some(file), None, Some(table)) = (self.token, self.change, self.contents.table_mut()) else { return };
        let most = self.growth.most_servers.min(self.bounds.most);
        let is_own = |split: &Split| split.from == self.number && split.level == table.level() + 1;
        let next = file.next_split().filter(|split| split.to < most && is_own(split));
        let Some(Split { to, level, .. }) = next else { return };
        let is_due = file.buckets() < self.bounds.least || self.growth.splits(table.len(), file, self.since);
        if !table.is_whole() || !is_due {
            return;
        }
        self.change = Some(Change::SplitsTo(to));
        self.counts.splits += 1;
        let extent = table.halve();
        self.known_to_receiver.clear();
        outputs.push(ServerOutput::Server(to, ToServer::Open { level, extent }));
        self.ship(outputs);
    }

    /// Sets the parameters of growth from now on.
    pub fn grow_by(&mut self, growth: Growth, outputs: &mut Vec<OutputOf<C>>) {
        self.growth = growth;
        self.consider_split(outputs);
    }

    /// Lets the file grow or shrink until its number of servers is within bounds, as soon as this server can act on
    /// that.
    pub fn keep_within(&mut self, bounds: Bounds, outputs: &mut Vec<OutputOf<C>>) {
        self.bounds = bounds;
        self.consider_split(outputs);
        self.consider_shrinking(outputs);
    }

    /// Checks whether an idle file should shrink: to be called now and then, but not often.
    pub fn poll(&mut self, outputs: &mut Vec<OutputOf<C>>) {
        self.rest = 0;
        self.consider_shrinking(outputs);
    }

    /// Sends the token back, if this server has it and is not busy, and is below the threshold or fewer servers are
    /// wanted: called whenever it has answered a request that stores nothing. A file without requests does not change,
    /// except by [`Server::poll`].
    pub(super) fn consider_shrinking(&mut self, outputs: &mut Vec<OutputOf<C>>) {
        let (Some(file), None, Some(table)) = (self.token, self.change, self.contents.table()) else { return };
        let Some(Split { from, .. }) = file.last_split() else { return };
        let few = (table.len() as f64) < self.growth.shrink_threshold(file) && file.buckets() > self.bounds.least;
        let is_due = file.buckets() > self.bounds.most || few && self.rest == 0;
        if !is_due || !table.is_whole() {
            return;
        }
        self.token = None;
        if from == self.number {
            self.begin_merge(file, outputs);
        } else {
            outputs.push(ServerOutput::Server(from, ToServer::Shrink(file)));
        }
    }

    /// Takes over the last server of the file, which this one's split created: while it has the token, no other server
    /// changes.
    fn begin_merge(&mut self, file: Extent, outputs: &mut Vec<OutputOf<C>>) {
        let (Some(Split { from, to, level }), Some(table)) = (file.last_split(), self.contents.table_mut()) else {
            return;
        };
        self.token = Some(file);
        if from != self.number || level != table.level() {
            return;
        }
        self.change = Some(Change::TakesOver(to));
        table.hold_still();
        outputs.push(ServerOutput::Server(to, ToServer::Leave { buckets: 0 }));
    }

    /// Prepares to leave for server `to`, which has `buckets` local buckets.
    pub(super) fn prepare_to_leave(&mut self, to: u32, buckets: u32, outputs: &mut Vec<OutputOf<C>>) {
        let Some(table) = self.contents.table_mut() else { return };
        self.change = Some(Change::LeavesFor(to));
        self.known_to_receiver.clear();
        table.hold_still();
        table.widen(buckets, 0, self.growth.chunk);
        let (buckets, entries) = (table.extent().buckets(), table.len());
        outputs.push(ServerOutput::Server(to, ToServer::Leaving { buckets, entries }));
    }

    /// Takes over a table of `buckets` local buckets as soon as this one has the same shape, unless the two together
    /// are too large.
    fn prepare_to_join(&mut self, from: u32, buckets: u32, entries: u64, outputs: &mut Vec<OutputOf<C>>) {
        let (Some(file), Some(table)) = (self.token, self.contents.table_mut()) else { return };
        let smaller = Extent::of(file.buckets() - 1);
        let are_too_large = (table.len() + entries) as f64 > self.growth.threshold(smaller);
        if are_too_large && file.buckets() <= self.bounds.most {
            table.go_on();
            self.change = None;
            outputs.push(ServerOutput::Server(from, ToServer::Stay));
            return self.return_token(file, outputs);
        }
        let both = 2 * buckets.max(table.extent().buckets());
        let ready = table.widen(buckets, both, self.growth.chunk) && table.join(buckets);
        let own = table.extent().buckets();
        let next = if ready { ToServer::Received } else { ToServer::Leave { buckets: own } };
        outputs.push(ServerOutput::Server(from, next));
    }

    /// The file does not shrink for now, and server n gets the token back.
    pub(super) fn return_token(&mut self, file: Extent, outputs: &mut Vec<OutputOf<C>>) {
        if file.n() == self.number {
            self.retain_token(file, outputs);
        } else {
            self.token = None;
            outputs.push(ServerOutput::Server(file.n(), ToServer::Keep(file)));
        }
    }

    fn retain_token(&mut self, file: Extent, outputs: &mut Vec<OutputOf<C>>) {
        self.token = Some(file);
        self.rest = self.growth.rest();
        self.consider_split(outputs);
    }

    /// Ships the next chunk of a table that is halved or leaves. After the last one the token is passed on, or the
    /// server leaves the file.
    pub(super) fn ship(&mut self, outputs: &mut Vec<OutputOf<C>>) {
        let to = match self.change {
            Some(Change::SplitsTo(to) | Change::LeavesFor(to)) => to,
            Some(Change::MovesAway) => self.number,
            Some(Change::TakesOver(_) | Change::Arrives) | None => return,
        };
        let (mut buckets, mut chunk, mut last) = (Vec::new(), self.growth.new_chunk(), false);
        while !chunk.is_full() {
            let Some(bucket) = self.contents.ship() else {
                last = true;
                break;
            };
            chunk.add(bucket.iter().map(C::size));
            buckets.push(bucket);
        }
        let applied = self.news();
        outputs.push(ServerOutput::Server(to, ToServer::Chunk { buckets, applied, last }));
        if !last {
            return;
        }
        match self.change.take() {
            Some(Change::LeavesFor(_)) => self.contents.close(),
            Some(Change::MovesAway) => self.be_gone(outputs),
            _ => self.pass_on_the_token(outputs),
        }
    }

    /// The clients' last requests, with the outcomes of those whose keys have now left. For the others, the receiver of
    /// the keys needs only the numbers, since older requests may still be repeated.
    fn news(&mut self) -> Vec<(u64, Applied<C::Outcome>)> {
        let (number, Some(table)) = (self.number, self.contents.table()) else { return Vec::new() };
        let gone = |c| table.place(c) == EntryPlace::Shipped || forward(number, table.level(), c).is_some();
        let applied = self.applied.iter_mut().map(|(client, record)| {
            let outcome = if gone(record.c) { record.outcome.take() } else { None };
            (*client, Applied { outcome, ..*record })
        });
        let news = applied.filter(|(client, record)| {
            let known = self.known_to_receiver.insert(*client, record.number);
            record.outcome.is_some() || known != Some(record.number)
        });
        news.collect()
    }

    fn pass_on_the_token(&mut self, outputs: &mut Vec<OutputOf<C>>) {
        let Some(mut file) = self.token.take() else { return };
        file.grow();
        if file.n() == self.number {
            self.token = Some(file);
            self.since = 0;
            self.consider_split(outputs);
        } else {
            outputs.push(ServerOutput::Server(file.n(), ToServer::Token(file)));
        }
    }

    /// The last server has left: this one, whose split created it, is server n of the new file.
    fn end_merge(&mut self, outputs: &mut Vec<OutputOf<C>>) {
        self.change = None;
        self.counts.merges += 1;
        if let Some(file) = &mut self.token {
            file.shrink();
        }
        self.consider_split(outputs);
        self.consider_shrinking(outputs);
    }

    /// Takes a message from server `from`.
    pub fn take(&mut self, from: u32, message: ToServerOf<C>, outputs: &mut Vec<OutputOf<C>>) {
        match message {
            ToServer::Forward(request) => self.request(request, outputs),
            ToServer::Token(file) => {
                self.token = Some(file);
                self.since = 0;
                self.consider_split(outputs);
            }
            ToServer::Open { level, extent } if from == self.number => self.begin_arrival(level, extent),
            ToServer::Open { level, extent } => self.contents.open(Table::filling(level, extent)),
            ToServer::Shrink(file) if self.moves() => self.return_token(file, outputs),
            ToServer::Leave { buckets } if self.moves() => self.asked_to_leave = Some((from, buckets)),
            ToServer::Moved { token, leave } => self.end_arrival(token, leave, outputs),
            ToServer::Chunk { buckets, applied, last } => self.receive(from, buckets, applied, last, outputs),
            ToServer::Received => {
                if let (Some(table), Some(Change::LeavesFor(_))) = (self.contents.table_mut(), self.change) {
                    table.leave();
                }
                self.ship(outputs);
            }
            ToServer::Shrink(file) => self.begin_merge(file, outputs),
            ToServer::Leave { buckets } => self.prepare_to_leave(from, buckets, outputs),
            ToServer::Leaving { buckets, entries } => self.prepare_to_join(from, buckets, entries, outputs),
            ToServer::Stay => {
                self.change = None;
                self.contents.table_mut().into_iter().for_each(Table::go_on);
            }
            ToServer::Keep(file) => self.retain_token(file, outputs),
        }
        self.answer_scans(outputs);
    }

    /// Takes in a chunk.
    fn receive(
        &mut self,
        from: u32,
        buckets: Vec<Bucket<C::Entry>>,
        applied: Vec<(u64, Applied<C::Outcome>)>,
        last: bool,
        outputs: &mut Vec<OutputOf<C>>,
    ) {
        if self.contents.table().is_none() {
            return;
        }
        buckets.into_iter().for_each(|bucket| self.contents.arrive(bucket));
        self.learn(applied);
        if !last {
            outputs.push(ServerOutput::Server(from, ToServer::Received));
        }
        if last && self.change == Some(Change::TakesOver(from)) {
            self.end_merge(outputs);
        } else {
            self.consider_split(outputs);
        }
    }

    /// Learns what another server knows of the clients' last requests.
    fn learn(&mut self, applied: Vec<(u64, Applied<C::Outcome>)>) {
        for (client, record) in applied {
            let known = self.applied.entry(client).or_insert_with(|| record.clone());
            if (known.number, known.outcome.is_some()) < (record.number, record.outcome.is_some()) {
                *known = record;
            }
        }
    }
}
