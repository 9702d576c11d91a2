//! A scan of all servers, part by part, with proof that every server has answered.

use std::collections::BTreeMap;

use quantities::{Duration, Time};

use super::client::longer;
use super::message::{Body, Key, ScanAnswer, ScanKind, ScanRequest};
use super::{Image, Span, ToClient};

/// The most open spans, whatever servers claim about their number: one more covers all that remains.
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
///   on the answer of server a of level j to the span p..q, which it has read up to r:
///     strike out p..r; open r + 1..q, cut where, by the image adjusted for a and j, another server begins
///   over when no span is open
/// ```
///
/// A server reads a chunk at a time and remembers nothing between two: only the client knows where the next part begins, which stays
/// meaningful whichever server has the keys by then, since splits and merges preserve the order of places.
///
/// At the end the answered spans cover all keys, and no key is in two of them: a key that exists all the while is found once. For a key
/// that is stored or removed meanwhile, the scan sees one of its states. A server that splits or merges answers at once for the keys that
/// stay, for those that move once they have moved, and for its level, which is the one before until the split or the merge is over, at
/// once. One that has left says so, and the span is requested from the server that took over. A duplicate answer finds its span
/// already struck out.
///
/// Cost: 2 M messages with a correct image, and 2 for each further chunk, in as many rounds as the largest server has chunks;
/// a round or two more with an outdated image. As many chunks are under way at a time as there are servers.
///
/// Source: LH* paper, section on parallel operations with deterministic termination; the spans are our addition.
#[derive(Clone, Debug)]
pub struct Scan {
    client: u64,
    number: u64,
    kind: ScanKind,
    image: Image,
    patience: Duration,
    open: BTreeMap<Span, Asked>,
    count: u64,
}

/// The server that was asked for a span, and when to ask again.
#[derive(Clone, Copy, Debug)]
struct Asked {
    server: u32,
    again: Time,
    /// How long it waits until then.
    patience: Duration,
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
        let mut scan = Scan { client, number, kind, image, patience, open: BTreeMap::new(), count: 0 };
        let outputs = scan.ask(Span::ALL, now);
        (scan, outputs)
    }

    /// Begins a scan that reads from `place` and asks only one server, the one that has this place.
    pub fn begin_at<F>(
        (client, number): (u64, u64),
        place: u64,
        image: Image,
        patience: Duration,
        now: Time,
    ) -> (Scan, Vec<ScanOutput<F>>) {
        let mut scan =
            Scan { client, number, kind: ScanKind::Entries, image, patience, open: BTreeMap::new(), count: 0 };
        let rest = Span { first: place, last: u64::MAX };
        let own = rest.within(image.extent().level(image.address(rest.c())));
        let output = scan.send(own, patience, now);
        (scan, vec![output])
    }

    /// Its current image of the table.
    pub const fn image(&self) -> Image {
        self.image
    }

    /// Whether it waits for an answer to this span of the scan with this number.
    pub fn waits_for(&self, number: u64, span: Span) -> bool {
        number == self.number && self.open.contains_key(&span)
    }

    /// Whether all keys have been answered for.
    pub fn is_over(&self) -> bool {
        self.open.is_empty()
    }

    /// When [`Scan::wake`] is due, if nothing arrives before.
    pub fn deadline(&self) -> Option<Time> {
        self.open.values().map(|asked| asked.again).min()
    }

    /// Asks for a span: all servers that have parts of it according to the image, as long as not too many spans are open.
    fn ask<F>(&mut self, span: Span, now: Time) -> Vec<ScanOutput<F>> {
        let (mut outputs, mut rest) = (Vec::new(), Some(span));
        while let Some(span) = rest {
            let server = self.image.address(span.c());
            let own = span.within(self.image.extent().level(server));
            let part = if self.open.len() < MOST_OPEN { own } else { span };
            outputs.push(self.send(part, self.patience, now));
            rest = span.after(part.last);
        }
        outputs
    }

    fn send<F>(&mut self, span: Span, patience: Duration, now: Time) -> ScanOutput<F> {
        let server = self.image.address(span.c());
        self.open.insert(span, Asked { server, again: now + patience, patience });
        let request = ScanRequest { client: self.client, number: self.number, span, kind: self.kind };
        ScanOutput::Send(server, request)
    }

    /// Asks again for the spans whose deadline has passed.
    pub fn wake<F>(&mut self, now: Time) -> Vec<ScanOutput<F>> {
        let due = self.open.iter().filter(|(_, asked)| asked.again <= now);
        let due: Vec<(Span, Duration)> = due.map(|(span, asked)| (*span, asked.patience)).collect();
        due.into_iter().map(|(span, patience)| self.send(span, longer(patience, self.patience), now)).collect()
    }

    /// Takes a message from a server.
    pub fn take<R, F>(&mut self, now: Time, message: ToClient<R, F>) -> Vec<ScanOutput<F>> {
        let ToClient::Scanned { number, span, answer } = message else { return Vec::new() };
        let Some(asked) = self.open.get(&span).filter(|_| number == self.number).copied() else { return Vec::new() };
        match answer {
            ScanAnswer::Part { server, level, last, count, entries } => {
                self.image.adjust(server, level);
                self.record_answered(span, last, now, count, entries)
            }
            // Only the server asked last may redirect, or a duplicate answer would cause a second request.
            ScanAnswer::Elsewhere { server, level } if server == asked.server => {
                self.image.adjust(server, level);
                self.ask_again(span, now)
            }
            ScanAnswer::Gone { server } if server == asked.server => {
                self.image.gone(server);
                self.ask_again(span, now)
            }
            ScanAnswer::Elsewhere { .. } | ScanAnswer::Gone { .. } => Vec::new(),
        }
    }

    fn ask_again<F>(&mut self, span: Span, now: Time) -> Vec<ScanOutput<F>> {
        self.open.remove(&span);
        self.ask(span, now)
    }

    /// A span has been answered up to the place `last`; asks for the rest.
    fn record_answered<F>(
        &mut self,
        span: Span,
        last: u64,
        now: Time,
        count: u64,
        entries: Vec<F>,
    ) -> Vec<ScanOutput<F>> {
        self.open.remove(&span);
        self.count = self.count.saturating_add(count);
        let mut outputs = span.after(last).map(|rest| self.ask(rest, now)).unwrap_or_default();
        if !entries.is_empty() {
            outputs.push(ScanOutput::Found(entries));
        }
        if self.is_over() {
            outputs.push(ScanOutput::Done(self.count));
        }
        outputs
    }
}
