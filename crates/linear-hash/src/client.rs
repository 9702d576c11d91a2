//! A client, which makes one request at a time.
//!
//! Source: Litwin, Neimat and Schneider, "LH*: a scalable, distributed data structure", ACM Transactions on Database
//! Systems 21(4), 1996: the image of a client and its adjustment.

use quantities::{Duration, Time};

use super::{Image, Operation, OperationOutcome, Request, ToClient};

/// A client's wait before it repeats a request grows to at most this many times the first wait.
const MOST_PATIENCE: u64 = 1 << 10;

/// How long to wait next time, given this wait and the first one.
pub(super) fn longer(patience: Duration, first: Duration) -> Duration {
    let most = first.picoseconds().saturating_mul(MOST_PATIENCE);
    Duration::from_picoseconds(patience.picoseconds().saturating_mul(2).min(most))
}

/// A client's state: its image, and the request under way. `O` is the type of its operations.
#[derive(Clone, Debug)]
pub struct Client<O = Operation> {
    number: u64,
    image: Image,
    requests: u64,
    under_way: Option<UnderWay<O>>,
    /// How long it waits for an answer before it first repeats a request.
    patience: Duration,
    /// Its counters.
    pub counts: ClientCounts,
}

#[derive(Clone, Debug)]
struct UnderWay<O> {
    request: Request<O>,
    /// When it is repeated if nobody has answered.
    again: Time,
    /// Doubles each time, so that a busy server does not get busier.
    patience: Duration,
}

/// What a client counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClientCounts {
    /// Image adjustments that it received.
    pub adjustments: u64,
    /// Requests that it repeated because nobody answered.
    pub repeated: u64,
    /// Requests that it repeated because servers asked it to.
    pub bounced: u64,
    /// The largest number of times that one request was forwarded between servers.
    pub most_forwards: u32,
}

/// An action of a client: `O` is the type of its operations, and `R` that of their outcomes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClientOutput<O = Operation, R = OperationOutcome> {
    /// Sends a request to a server.
    Send(u32, Request<O>),
    /// Has the answer to its request.
    Done(R),
}

impl<O: Clone> Client<O> {
    /// A client that knows one server, and repeats a request after `patience`.
    pub fn new(number: u64, patience: Duration) -> Client<O> {
        let (image, counts) = (Image::default(), ClientCounts::default());
        Client { number, image, requests: 0, under_way: None, patience, counts }
    }

    /// The same client, with this number for its next request: a restarted client must not reuse numbers.
    pub fn from_request(mut self, number: u64) -> Client<O> {
        self.requests = number;
        self
    }

    /// Its image of the table.
    pub const fn image(&self) -> Image {
        self.image
    }

    /// Adopts another client's image of the table.
    pub const fn adopt(&mut self, image: Image) {
        self.image = image;
    }

    /// Forgets its image of the table: it knows one server again.
    pub fn forget(&mut self) {
        self.image = Image::default();
    }

    /// Whether it waits for an answer.
    pub const fn is_waiting(&self) -> bool {
        self.under_way.is_some()
    }

    /// When [`Client::wake`] is due, if nothing arrives before.
    pub fn deadline(&self) -> Option<Time> {
        self.under_way.as_ref().map(|under_way| under_way.again)
    }

    /// Begins a request for the key with hash C. Any earlier request must be over.
    pub fn ask<R>(&mut self, now: Time, c: u64, operation: O) -> ClientOutput<O, R> {
        let request = Request { client: self.number, number: self.requests, c, operation, forwards: 0 };
        self.requests += 1;
        self.send(now, request, self.patience)
    }

    fn send<R>(&mut self, now: Time, request: Request<O>, patience: Duration) -> ClientOutput<O, R> {
        self.under_way = Some(UnderWay { request: request.clone(), again: now + patience, patience });
        ClientOutput::Send(self.image.address(request.c), request)
    }

    /// Repeats the request if its deadline has passed.
    pub fn wake<R>(&mut self, now: Time) -> Option<ClientOutput<O, R>> {
        let UnderWay { request, patience, .. } = self.under_way.clone().filter(|it| it.again <= now)?;
        self.counts.repeated += 1;
        Some(self.send(now, request, longer(patience, self.patience)))
    }

    /// Stops waiting for the answer to its request, which may nevertheless be carried out.
    pub fn give_up(&mut self) {
        self.under_way = None;
    }

    /// Takes a message from a server.
    pub fn take<R, F>(&mut self, now: Time, message: ToClient<R, F>) -> Option<ClientOutput<O, R>> {
        let waits_for = |number| self.under_way.as_ref().is_some_and(|it| it.request.number == number);
        match message {
            ToClient::Adjust { server, level } => {
                self.counts.adjustments += 1;
                self.image.adjust(server, level);
                None
            }
            ToClient::Reply { number, outcome, forwards } if waits_for(number) => {
                self.counts.most_forwards = self.counts.most_forwards.max(forwards);
                self.under_way = None;
                Some(ClientOutput::Done(outcome))
            }
            ToClient::Gone { number, server } if waits_for(number) => {
                self.image.gone(server);
                self.bounced(now)
            }
            ToClient::Again { number } if waits_for(number) => self.bounced(now),
            ToClient::Reply { .. } | ToClient::Gone { .. } | ToClient::Again { .. } | ToClient::Scanned { .. } => None,
        }
    }

    /// Repeats a request that servers could not deliver.
    fn bounced<R>(&mut self, now: Time) -> Option<ClientOutput<O, R>> {
        let UnderWay { request, patience, .. } = self.under_way.take()?;
        self.counts.bounced += 1;
        Some(self.send(now, request, patience))
    }
}
