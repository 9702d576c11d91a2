//! How a server answers a scan.

use super::contents::{Contents, OutputOf};
use super::growth::Chunk;
use super::message::{ScanAnswer, ScanKind, ScanRequest};
use super::{Hashed, Server, ServerOutput, Span, ToClient, forward};

impl<C: Contents> Server<C> {
    /// Takes a part of a scan. If the first key that has to be read is moving to another server, or has not arrived yet, it waits until
    /// that is over; repeated requests for the same part are remembered once.
    pub fn scan(&mut self, request: ScanRequest, outputs: &mut Vec<OutputOf<C>>) {
        if let Some(answer) = self.scanned(&request) {
            let ScanRequest { client, number, span, .. } = request;
            outputs.push(ServerOutput::Client(client, ToClient::Scanned { number, span, answer }));
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

    /// The answer, unless the request has to wait.
    fn scanned(&self, request: &ScanRequest) -> Option<ScanAnswer<C::Found>> {
        let server = self.number;
        let Some(table) = self.table() else { return Some(ScanAnswer::Gone { server }) };
        let level = table.level();
        if forward(server, level, request.span.c()).is_some() {
            return Some(ScanAnswer::Elsewhere { server, level });
        }
        let own = request.span.within(level);
        let of_all = |(server, level): (u32, u32), count| {
            Some(ScanAnswer::Part { server, level, last: own.last, count, entries: Vec::new() })
        };
        match request.kind {
            ScanKind::Levels => return of_all(table.counted(server), 0),
            ScanKind::Count if table.is_whole() && own == Span::of_bucket(u64::from(server), level) => {
                return of_all((server, level), table.len());
            }
            ScanKind::Count | ScanKind::Entries => {}
        }
        let Read { last, count, entries } = read(&self.contents, own, request.kind, self.growth.new_chunk())?;
        Some(ScanAnswer::Part { server, level, last, count, entries })
    }
}

/// What was read of a span.
struct Read<F> {
    last: u64,
    count: u64,
    entries: Vec<F>,
}

/// Reads a span one local bucket at a time, until it has a chunk or reaches keys that are moving; none if it begins with such keys.
/// Entries that are only counted also fill chunks, since counting takes time.
fn read<C: Contents>(contents: &C, span: Span, kind: ScanKind, mut chunk: Chunk) -> Option<Read<C::Found>> {
    let table = contents.table()?;
    let (mut read, mut rest): (Option<Read<C::Found>>, _) = (None, Some(span));
    while let Some(span) = rest.filter(|_| !chunk.is_full()) {
        let Some((level, bucket)) = table.settled(span.c()) else { break };
        let part = span.within(level);
        let found = bucket.filter(|entry| part.contains(entry.c()));
        chunk.add(found.clone().map(C::size));
        let so_far = read.get_or_insert(Read { last: part.last, count: 0, entries: Vec::new() });
        so_far.last = part.last;
        so_far.count += found.clone().count() as u64;
        if kind == ScanKind::Entries {
            so_far.entries.extend(found.filter_map(|entry| contents.found(entry)));
        }
        rest = span.after(part.last);
    }
    read
}
