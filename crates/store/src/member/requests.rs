//! The requests of a member as a client of the file.

use std::collections::{BTreeMap, BTreeSet};

use linear_hash::{
    Client, ClientOutput, Contents, Image, Request, Scan, ScanKind, ScanOutput, ScanRequest, Span, ToClientOf,
};
use quantities::{Duration, Time};

use super::Identity;

/// Identifies a request of this member.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ticket(pub u64);

/// The answer to a request, or a part of it.
#[derive(Debug)]
pub enum Answer<C: Contents> {
    /// The outcome of an operation.
    Outcome(C::Outcome),
    /// Some of the entries that a scan finds; more may follow.
    Found(Vec<C::Found>),
    /// The entries read from a place on, and the place to go on from; none at the end.
    Read(Vec<C::Found>, Option<u64>),
    /// A scan is over: all servers have answered, and have this number of entries.
    Count(u64),
}

/// A message to be sent for a request.
#[derive(Debug)]
pub(super) enum Sending<C: Contents> {
    Request(u32, Request<C::Operation>),
    Scan(u32, ScanRequest),
}

/// The results of a message from a server to a client: messages to send, and answers.
pub(super) type Taken<C> = (Vec<Sending<C>>, Vec<(Ticket, Answer<C>)>);

/// An LH* client has one request under way. A member has many, and so it acts as several clients, which share one
/// image.
#[derive(Debug)]
pub(super) struct Requests<C: Contents> {
    identity: Identity,
    patience: Duration,
    places: Vec<NumberedClient<C>>,
    /// Places without a request.
    free: Vec<u32>,
    /// When each place with a request has to be woken.
    deadlines: BTreeSet<(Time, u32)>,
    /// The place of each ticket that has no answer yet.
    by_ticket: BTreeMap<Ticket, u32>,
    tickets: u64,
    /// The first number of requests and of scans.
    first: u64,
    scans: u64,
}

/// A client with a number, which has one request or scan at a time.
#[derive(Debug)]
struct NumberedClient<C: Contents> {
    client: Client<C::Operation>,
    ticket: Ticket,
    scan: Option<Scan>,
    /// What was found so far, if that is all given at once at the end.
    read: Option<Vec<C::Found>>,
    deadline: Option<Time>,
    /// How much later than others its request is sent again, since it is large.
    extra: Duration,
    /// Whether it is sent again without that, as a link was renewed on which it may have been lost.
    is_hurried: bool,
}

impl<C: Contents> NumberedClient<C> {
    /// When it has to be woken.
    fn next_deadline(&self) -> Option<Time> {
        let extra = if self.is_hurried { Duration::ZERO } else { self.extra };
        let of_request = || self.client.deadline().map(|again| again + extra);
        self.scan.as_ref().map_or_else(of_request, Scan::deadline)
    }
}

/// The member and the place of the client with this number.
pub(super) const fn place_of(client: u64) -> (Identity, u32) {
    (Identity((client >> 32) as u32), client as u32)
}

impl<C: Contents> Requests<C> {
    pub(super) fn new(identity: Identity, patience: Duration, first: u64) -> Requests<C> {
        let (places, free, deadlines) = (Vec::new(), Vec::new(), BTreeSet::new());
        let (by_ticket, tickets, scans) = (BTreeMap::new(), 0, first);
        Requests { identity, patience, places, free, deadlines, by_ticket, tickets, first, scans }
    }

    pub(super) fn deadline(&self) -> Option<Time> {
        self.deadlines.first().map(|(time, _)| *time)
    }

    pub(super) fn under_way(&self) -> usize {
        self.by_ticket.len()
    }

    /// The image adjustments that its clients have received.
    pub(super) fn adjustments(&self) -> u64 {
        self.places.iter().map(|place| place.client.counts.adjustments).sum()
    }

    const fn number(&self, place: u32) -> u64 {
        (self.identity.0 as u64) << 32 | place as u64
    }

    /// A place for another request, with a new ticket.
    fn place(&mut self) -> (u32, Ticket) {
        let ticket = Ticket(self.tickets);
        self.tickets += 1;
        if let Some(place) = self.free.pop() {
            let reused = &mut self.places[place as usize];
            (reused.ticket, reused.extra, reused.is_hurried) = (ticket, Duration::ZERO, false);
            self.by_ticket.insert(ticket, place);
            return (place, ticket);
        }
        let place = self.places.len() as u32;
        self.by_ticket.insert(ticket, place);
        let client = Client::new(self.number(place), self.patience).from_request(self.first);
        let (extra, is_hurried) = (Duration::ZERO, false);
        self.places.push(NumberedClient { client, ticket, scan: None, read: None, deadline: None, extra, is_hurried });
        (place, ticket)
    }

    /// Begins a request for the key with hash C. It is sent again so much later than others.
    pub(super) fn ask(
        &mut self,
        now: Time,
        c: u64,
        operation: C::Operation,
        extra: Duration,
        image: Image,
    ) -> (Ticket, Vec<Sending<C>>) {
        let (place, ticket) = self.place();
        let NumberedClient { client, extra: of_place, .. } = &mut self.places[place as usize];
        *of_place = extra;
        client.adopt(image);
        let sending = match client.ask::<C::Outcome>(now, c, operation) {
            ClientOutput::Send(server, request) => vec![Sending::Request(server, request)],
            ClientOutput::Done(_) => Vec::new(),
        };
        self.keep(place);
        (ticket, sending)
    }

    /// Begins a scan of these spans.
    pub(super) fn scan(
        &mut self,
        now: Time,
        spans: &[Span],
        kind: ScanKind,
        image: Image,
    ) -> (Ticket, Vec<Sending<C>>) {
        let (place, ticket) = self.place();
        self.scans += 1;
        let asking = (self.number(place), self.scans);
        let (scan, outputs) = Scan::begin_within::<C::Found>(asking, spans, image, kind, (self.patience, now));
        self.places[place as usize].scan = Some(scan);
        self.keep(place);
        (ticket, to_send(outputs))
    }

    /// Begins to read entries of a span.
    pub(super) fn read(&mut self, now: Time, span: Span, image: Image) -> (Ticket, Vec<Sending<C>>) {
        let (place, ticket) = self.place();
        self.scans += 1;
        let asking = (self.number(place), self.scans);
        let (scan, outputs) = Scan::begin_at::<C::Found>(asking, span, image, self.patience, now);
        let reading = &mut self.places[place as usize];
        (reading.scan, reading.read) = (Some(scan), Some(Vec::new()));
        self.keep(place);
        (ticket, to_send(outputs))
    }

    /// Takes a message from a server to a client. The image is the shared one.
    pub(super) fn take(&mut self, now: Time, place: u32, message: ToClientOf<C>, image: &mut Image) -> Taken<C> {
        let Some(NumberedClient { client, ticket, scan, read, .. }) = self.places.get_mut(place as usize) else {
            return Default::default();
        };
        let ticket = *ticket;
        let (sending, answers, is_over) = match (scan, message) {
            (Some(scan), message) => {
                let outputs = scan.take(now, message);
                *image = scan.image();
                let (mut sending, mut answers, mut is_over) = (Vec::new(), Vec::new(), false);
                for output in outputs {
                    match output {
                        ScanOutput::Send(server, request) => sending.push(Sending::Scan(server, request)),
                        ScanOutput::Found(entries) => match read {
                            Some(read) => read.extend(entries),
                            None => answers.push((ticket, Answer::Found(entries))),
                        },
                        ScanOutput::Done(count) => {
                            let read = read.take().map(|read| Answer::Read(read, scan.next_place()));
                            answers.push((ticket, read.unwrap_or(Answer::Count(count))));
                            is_over = true;
                        }
                    }
                }
                (sending, answers, is_over)
            }
            (None, message) => {
                client.adopt(*image);
                let output = client.take(now, message);
                *image = client.image();
                match output {
                    Some(ClientOutput::Send(server, request)) => {
                        (vec![Sending::Request(server, request)], Vec::new(), false)
                    }
                    Some(ClientOutput::Done(outcome)) => (Vec::new(), vec![(ticket, Answer::Outcome(outcome))], true),
                    None => return Default::default(),
                }
            }
        };
        if is_over {
            self.end(ticket, place);
        }
        self.keep(place);
        (sending, answers)
    }

    fn end(&mut self, ticket: Ticket, place: u32) {
        let over = &mut self.places[place as usize];
        (over.scan, over.read) = (None, None);
        self.free.push(place);
        self.by_ticket.remove(&ticket);
    }

    /// Gives up waiting for an answer.
    pub(super) fn give_up(&mut self, ticket: Ticket) {
        let Some(place) = self.by_ticket.get(&ticket).copied() else { return };
        self.places[place as usize].client.give_up();
        self.end(ticket, place);
        self.keep(place);
    }

    /// A link was renewed: requests that may have been lost with the former one are not waited for any longer than
    /// others.
    pub(super) fn hurry(&mut self) {
        let places: Vec<u32> = self.by_ticket.values().copied().collect();
        for place in places {
            let hurried = &mut self.places[place as usize];
            if hurried.extra > Duration::ZERO {
                hurried.is_hurried = true;
                self.keep(place);
            }
        }
    }

    /// Sends requests again that have been unanswered for too long.
    pub(super) fn wake(&mut self, now: Time, image: Image) -> Vec<Sending<C>> {
        let mut sending = Vec::new();
        while let Some(&(_, place)) = self.deadlines.first().filter(|(time, _)| *time <= now) {
            let NumberedClient { client, scan, is_hurried, .. } = &mut self.places[place as usize];
            *is_hurried = false;
            match scan {
                Some(scan) => sending.extend(to_send(scan.wake::<C::Found>(now))),
                None => {
                    client.adopt(image);
                    if let Some(ClientOutput::Send(server, request)) = client.wake::<C::Outcome>(now) {
                        sending.push(Sending::Request(server, request));
                    }
                }
            }
            self.keep(place);
        }
        sending
    }

    /// Updates the deadline of a place.
    fn keep(&mut self, place: u32) {
        let kept = &mut self.places[place as usize];
        let next = kept.next_deadline();
        if let Some(before) = std::mem::replace(&mut kept.deadline, next) {
            self.deadlines.remove(&(before, place));
        }
        if let Some(next) = next {
            self.deadlines.insert((next, place));
        }
    }
}

fn to_send<C: Contents>(outputs: Vec<ScanOutput<C::Found>>) -> Vec<Sending<C>> {
    let requests = outputs.into_iter().filter_map(|output| match output {
        ScanOutput::Send(server, request) => Some(Sending::Scan(server, request)),
        ScanOutput::Found(_) | ScanOutput::Done(_) => None,
    });
    requests.collect()
}
