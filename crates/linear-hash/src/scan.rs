//! A scan of all servers, part by part, with proof that every server has answered.

use std::collections::BTreeMap;

use quantities::{Duration, Time};

use super::client::longer;
use super::message::{Body, Key, LeftOut, ScanAnswer, ScanKind, ScanPart, ScanRequest};
use super::{Image, Span, ToClient};

/// The most open parts, whatever servers claim about their number: one more covers all that remains.
const MOST_OPEN: usize = 1 << 16;

/// An action of a scan. `F` is what it finds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ScanOutput<F = (Key, Body)> {
    /// Sends a request to a server.
    Send(u32, ScanRequest),
    /// Has found these entries.
    Found(Vec<F>),
    /// Is over, with the number of keys, unless it asks for levels only. Every server has answered.
    Done(u64),
}

/// A client's scan: it asks all servers of its image at once, each for its span of keys.
///
/// ```text
///   open = the spans of the servers of the image
///   on the answer of server a of level j to the span p..q, which it has read up to r, without the local buckets B:
///     strike out p..r; open r + 1..q, cut where, by the image adjusted for a and j, another server begins
///     open the keys of B in p..r, and ask the server for them that a names
///   over when nothing is open
/// ```
///
/// A server reads a chunk at a time and remembers nothing between two: only the client knows where the next part
/// begins, which stays meaningful whichever server has the keys by then, since splits and merges preserve the order of
/// places.
///
/// At the end the answered parts cover all keys, and no key is in two of them: a key that exists all the while is found
/// once. For a key that is stored or removed meanwhile, the scan sees one of its states. It goes on while keys move
/// between two servers: the one that they leave answers for those that it still has, and the other one for the rest, as
/// soon as the chunk that was on its way has arrived. A split or a merge changes the servers' levels at its end, at
/// once. A server that has left says so, and the part is requested from the server that took over. A duplicate answer
/// finds its part already struck out.
///
/// Cost: 2 M messages with a correct image, and 2 for each further chunk, in as many rounds as the largest server has
/// chunks; a round or two more with an outdated image, and up to 4 messages more for each chunk of keys that are
/// moving. As many chunks are under way at a time as there are servers, and as many again where keys are moving.
///
/// Source: LH* paper, section on parallel operations with deterministic termination; the spans are our addition.
#[derive(Clone, Debug)]
pub struct Scan {
    client: u64,
    number: u64,
    kind: ScanKind,
    image: Image,
    patience: Duration,
    open: BTreeMap<ScanPart, PartRequest>,
    count: u64,
    reach: Reach,
}

/// How far a scan goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reach {
    /// Over all keys.
    All,
    /// As far as the first server reads in one go, which has not answered yet.
    OneGo,
    /// Up to this place, which that server has reached.
    UpTo(u64),
}

/// The server that was asked for a part, and when to ask again.
#[derive(Clone, Copy, Debug)]
struct PartRequest {
    server: u32,
    again: Time,
    /// How long it waits until then.
    patience: Duration,
    /// The server that was asked before, and said that it is not in the file.
    gone: Option<u32>,
}

impl Scan {
    /// Begins a client's scan with this number.
    pub fn begin<F>(
        (client, number): (u64, u64),
        image: Image,
        kind: ScanKind,
        patience: Duration,
        now: Time,
    ) -> (Scan, Vec<ScanOutput<F>>) {
        Scan::begin_within((client, number), &[Span::ALL], image, kind, (patience, now))
    }

    /// Begins a scan of these spans, of which there is at least one and no two have a key in common.
    pub fn begin_within<F>(
        (client, number): (u64, u64),
        spans: &[Span],
        image: Image,
        kind: ScanKind,
        (patience, now): (Duration, Time),
    ) -> (Scan, Vec<ScanOutput<F>>) {
        Scan::from((client, number), spans, (kind, Reach::All), image, (patience, now))
    }

    /// Begins a scan that reads entries from the first place of a span on, as many as the server of this place reads of
    /// the span in one go.
    pub fn begin_at<F>(
        (client, number): (u64, u64),
        span: Span,
        image: Image,
        patience: Duration,
        now: Time,
    ) -> (Scan, Vec<ScanOutput<F>>) {
        Scan::from((client, number), &[span], (ScanKind::Entries, Reach::OneGo), image, (patience, now))
    }

    fn from<F>(
        (client, number): (u64, u64),
        spans: &[Span],
        (kind, reach): (ScanKind, Reach),
        image: Image,
        (patience, now): (Duration, Time),
    ) -> (Scan, Vec<ScanOutput<F>>) {
        let mut scan = Scan { client, number, kind, image, patience, open: BTreeMap::new(), count: 0, reach };
        let parts = spans.iter().map(|span| ScanPart { span: *span, buckets: None });
        let outputs = parts.flat_map(|part| scan.ask(part, None, now)).collect();
        (scan, outputs)
    }

    /// Its current image of the table.
    pub const fn image(&self) -> Image {
        self.image
    }

    /// Whether all keys that it asks for have been answered for.
    pub fn is_over(&self) -> bool {
        self.open.is_empty()
    }

    /// The place from which another scan is to go on; none if this one has reached the end, or has not been answered
    /// yet.
    pub const fn next_place(&self) -> Option<u64> {
        match self.reach {
            Reach::UpTo(last) => last.checked_add(1),
            Reach::All | Reach::OneGo => None,
        }
    }

    /// When [`Scan::wake`] is due, if nothing arrives before.
    pub fn deadline(&self) -> Option<Time> {
        self.open.values().map(|asked| asked.again).min()
    }

    /// Asks for a part: all servers that have some of it according to the image, as long as not too many parts are
    /// open; or only the first of them, if it decides how far the scan goes.
    fn ask<F>(&mut self, part: ScanPart, gone: Option<u32>, now: Time) -> Vec<ScanOutput<F>> {
        let (mut outputs, mut rest) = (Vec::new(), Some(part.span));
        while let Some(span) = rest {
            let server = self.image.address(span.c());
            let own = span.within(self.image.extent().level(server));
            let span = if self.open.len() < MOST_OPEN { own } else { span };
            outputs.push(self.send(server, ScanPart { span, ..part }, self.asked(server, gone, now)));
            rest = part.span.after(span.last).filter(|_| self.reach != Reach::OneGo);
        }
        outputs
    }

    fn asked(&self, server: u32, gone: Option<u32>, now: Time) -> PartRequest {
        PartRequest { server, again: now + self.patience, patience: self.patience, gone }
    }

    fn send<F>(&mut self, server: u32, part: ScanPart, asked: PartRequest) -> ScanOutput<F> {
        self.open.insert(part, asked);
        let request = ScanRequest { client: self.client, number: self.number, part, kind: self.kind };
        ScanOutput::Send(server, request)
    }

    /// Asks again for the parts whose deadline has passed.
    pub fn wake<F>(&mut self, now: Time) -> Vec<ScanOutput<F>> {
        let due = self.open.iter().filter(|(_, asked)| asked.again <= now);
        let due: Vec<(ScanPart, Duration)> = due.map(|(part, asked)| (*part, asked.patience)).collect();
        let again = due.into_iter().map(|(part, patience)| {
            let server = self.image.address(part.span.c());
            let patience = longer(patience, self.patience);
            self.send(server, part, PartRequest { server, again: now + patience, patience, gone: None })
        });
        again.collect()
    }

    /// Takes a message from a server.
    pub fn take<R, F>(&mut self, now: Time, message: ToClient<R, F>) -> Vec<ScanOutput<F>> {
        let ToClient::Scanned { number, part, answer } = message else { return Vec::new() };
        let Some(asked) = self.open.get(&part).filter(|_| number == self.number).copied() else { return Vec::new() };
        match answer {
            ScanAnswer::Part { server, level, last, count, entries, left_out } => {
                self.image.adjust(server, level);
                self.record_answered((part, asked), last, now, (count, entries, left_out))
            }
            // Only the server asked last may redirect, or a duplicate answer would cause a second request.
            ScanAnswer::Elsewhere { server, level } if server == asked.server => {
                self.image.adjust(server, level);
                self.ask_again(part, None, now)
            }
            ScanAnswer::Gone { server } if server == asked.server => {
                self.image.gone(server);
                self.ask_again(part, Some(server), now)
            }
            ScanAnswer::Elsewhere { .. } | ScanAnswer::Gone { .. } => Vec::new(),
        }
    }

    fn ask_again<F>(&mut self, part: ScanPart, gone: Option<u32>, now: Time) -> Vec<ScanOutput<F>> {
        self.open.remove(&part);
        self.ask(part, gone, now)
    }

    /// Asks for keys that were left out of a part. If the server that has them has just said that it is not in the
    /// file, it does not know yet of the split that creates it, and they are asked for later.
    fn ask_for_left_out<F>(
        &mut self,
        (span, asked): (Span, PartRequest),
        LeftOut { server, buckets }: LeftOut,
        now: Time,
    ) -> Option<ScanOutput<F>> {
        let (part, next) = (ScanPart { span, buckets: Some(buckets) }, self.asked(server, None, now));
        if asked.gone == Some(server) {
            self.open.insert(part, next);
            return None;
        }
        Some(self.send(server, part, next))
    }

    /// A part has been answered up to the place `last`, except for what was left out; asks for that, and for the rest.
    fn record_answered<F>(
        &mut self,
        (part, asked): (ScanPart, PartRequest),
        last: u64,
        now: Time,
        (count, entries, left_out): (u64, Vec<F>, Option<LeftOut>),
    ) -> Vec<ScanOutput<F>> {
        self.open.remove(&part);
        self.count = self.count.saturating_add(count);
        let read = Span { last, ..part.span };
        let left_out = left_out.and_then(|left_out| self.ask_for_left_out((read, asked), left_out, now));
        let mut outputs = Vec::from_iter(left_out);
        if self.reach == Reach::OneGo {
            self.reach = Reach::UpTo(last);
        } else if let Some(span) = part.span.after(last) {
            outputs.append(&mut self.ask(ScanPart { span, ..part }, None, now));
        }
        if !entries.is_empty() {
            outputs.push(ScanOutput::Found(entries));
        }
        if self.is_over() {
            outputs.push(ScanOutput::Done(self.count));
        }
        outputs
    }
}
