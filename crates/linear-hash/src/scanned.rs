//! How a server answers a scan.

use super::contents::{Contents, OutputOf};
use super::message::{LeftOut, ScanAnswer, ScanKind, ScanPart, ScanRequest};
use super::reorganisation::Change;
use super::{BucketRange, EntryPlace, Hashed, Server, ServerOutput, Span, Table, ToClient, forward, h};

/// How many times as many local buckets are counted at a time as are sent.
const COUNTED: u64 = 16;

impl<C: Contents> Server<C> {
    /// Takes a part of a scan. It waits only for keys that another server has left out, as they were on their way here;
    /// repeated requests for the same part are remembered once.
    pub fn scan(&mut self, request: ScanRequest, outputs: &mut Vec<OutputOf<C>>) {
        if let Some(answer) = self.scanned(&request) {
            let ScanRequest { client, number, part, .. } = request;
            outputs.push(ServerOutput::Client(client, ToClient::Scanned { number, part, answer }));
        } else if !self.scans.contains(&request) {
            self.scans.push(request);
        }
    }

    /// Answers the waiting parts of scans that it can answer now.
    pub(super) fn answer_scans(&mut self, outputs: &mut Vec<OutputOf<C>>) {
        for request in std::mem::take(&mut self.scans) {
            self.scan(request, outputs);
        }
    }

    /// Whether it is moving away, and the other half of it has everything that is asked for.
    pub fn has_sent(&self, part: &ScanPart) -> bool {
        let gone = || self.table().and_then(Table::absent);
        let has_gone = |asked: BucketRange| gone().and_then(|gone| asked.and(gone)) == Some(asked);
        self.moves_away() && part.buckets.is_some_and(has_gone)
    }

    /// Whether it is moving here, and the other half of it is to be asked first.
    pub fn answers_second(&self, request: &ScanRequest) -> bool {
        let is_arriving = self.change == Some(Change::Arrives) && self.table().is_some_and(|table| !table.is_whole());
        is_arriving && request.part.buckets.is_none() && request.kind != ScanKind::Levels
    }

    /// The answer, unless the request has to wait.
    fn scanned(&self, request: &ScanRequest) -> Option<ScanAnswer<C::Found>> {
        let server = self.number;
        let Some(table) = self.table() else { return Some(ScanAnswer::Gone { server }) };
        let (level, span) = (table.level(), request.part.span);
        if forward(server, level, span.c()).is_some() {
            return Some(ScanAnswer::Elsewhere { server, level });
        }
        let own = span.within(level);
        let of_all = |(server, level): (u32, u32), count| {
            Some(ScanAnswer::Part { server, level, last: own.last, count, entries: Vec::new(), left_out: None })
        };
        let is_all = request.part.buckets.is_none() && own == Span::of_bucket(u64::from(server), level);
        match request.kind {
            ScanKind::Levels => return of_all(table.counted(server), 0),
            ScanKind::Count if table.is_whole() && is_all => return of_all((server, level), table.len()),
            ScanKind::Marked if table.is_whole() && is_all => return of_all((server, level), self.contents.marked()),
            ScanKind::Count | ScanKind::Marked | ScanKind::Entries => {}
        }
        // Keys that move are in parts of their own.
        let own = own.within(table.absent().map_or(level, |absent| absent.level));
        let part = ScanPart { span: own, ..request.part };
        let Read { last, count, entries, left_out } = self.read(table, part, request.kind)?;
        let left_out = left_out.map(|buckets| LeftOut { server: self.other(level), buckets });
        Some(ScanAnswer::Part { server, level, last, count, entries, left_out })
    }

    /// The other one of the two servers between which keys are moving.
    fn other(&self, level: u32) -> u32 {
        match self.change {
            Some(Change::SplitsTo(other) | Change::LeavesFor(other) | Change::TakesOver(other)) => other,
            Some(Change::MovesAway | Change::Arrives) => self.number,
            // This one is being created by a split of that one.
            None => h(level.saturating_sub(1), self.number.into()),
        }
    }

    /// Reads a part one local bucket at a time, until it has a chunk or reaches keys that it has to wait for; none if
    /// it begins with such keys. Entries that are only counted don't fill chunks, but their buckets do, since looking
    /// at them takes time.
    ///
    /// ```text
    ///   of the keys that are moving, the server that they leave reads what it still has, and leaves out what it has sent;
    ///   the server that they come to reads what has arrived, and leaves out the rest, unless that was left out by the other one
    /// ```
    fn read(&self, table: &Table<C::Entry>, part: ScanPart, kind: ScanKind) -> Option<Read<C::Found>> {
        let absent = table.absent();
        let asked = absent.and_then(|absent| part.buckets.map_or(Some(absent), |buckets| buckets.and(absent)));
        let has_all_beside = |c| part.buckets.is_none_or(|buckets| asked.is_some() && buckets.contains(c));
        let times = if kind == ScanKind::Entries { 1 } else { COUNTED };
        let (mut chunk, mut read, mut rest) = (self.growth.chunk_of(times), None, Some(part.span));
        while let Some(span) = rest.filter(|_| !chunk.is_full()) {
            let (c, level) = (span.c(), table.bucket_level(span.c()));
            let local = span.within(level);
            let is_left_out = match (table.place(c), asked) {
                (EntryPlace::Held, _) => false,
                // A bucket of which nothing was asked for.
                (_, Some(asked)) if !asked.contains(c) => false,
                (EntryPlace::Awaited, _) if part.buckets.is_some() => break,
                (_, Some(_)) => true,
                (_, None) => break,
            };
            let so_far: &mut Read<C::Found> = read.get_or_insert_default();
            so_far.last = local.last;
            if is_left_out {
                so_far.left_out = asked;
            }
            let is_whole = local.is_bucket(level) && has_all_beside(c);
            let beside = table.entries_beside(c).into_iter().flatten();
            let found = beside.filter(|entry| is_whole || local.contains(entry.c()) && part.contains(entry.c()));
            so_far.count +=
                found.clone().filter(|entry| kind != ScanKind::Marked || C::is_marked(entry)).count() as u64;
            if kind == ScanKind::Entries {
                chunk.add(found.clone().map(C::size));
                so_far.entries.extend(found.filter_map(|entry| self.contents.found(entry)));
            } else {
                chunk.add([]);
            }
            rest = span.after(local.last);
        }
        read
    }
}

/// What was read of a part.
struct Read<F> {
    last: u64,
    count: u64,
    entries: Vec<F>,
    left_out: Option<BucketRange>,
}

impl<F> Default for Read<F> {
    fn default() -> Read<F> {
        Read { last: 0, count: 0, entries: Vec::new(), left_out: None }
    }
}
