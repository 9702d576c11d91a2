//! The replay of one rank's calls.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::task::{Context, Poll};

use endpoint::{Endpoint, Error, Message, Received, Result, Source, Tag, Tags};
use quantities::{Bytes, Duration, Rank};
use trace_format::{Call, Collective, Transfer};

use super::collective::perform;
use super::resolve::FIRST_OF_COLLECTIVES;
use super::{Algorithms, Trace};
use collectives::Subgroup;

/// How many collectives of one communicator may be under way at once: each has a tag of its own.
const TURNS: u32 = 64;

/// An operation that was begun.
enum RequestState<'run> {
    /// The operation is under way.
    UnderWay(Pin<Box<dyn Future<Output = Result<()>> + 'run>>),
    /// A receive of a message from the rank itself, with this tag or any, and its room. [B]
    FromItself(Option<u32>, u64),
    /// The operation is over.
    Over(Result<()>),
}

/// One rank of a replay.
pub(super) struct RankReplay<'run, E> {
    endpoint: &'run E,
    trace: &'run Trace,
    algorithms: &'run Algorithms,
    /// The operation behind each request.
    requests: Vec<Option<RequestState<'run>>>,
    /// The requests that are collectives under way: the rank must keep polling them.
    collectives: Vec<u32>,
    /// For each communicator, how many of its collectives were called.
    called: Vec<u32>,
    /// Messages received by a probe, which the next receive of their source and tag gets.
    probed: Vec<Received>,
    /// The tags and sizes of messages that the rank has sent to itself and not yet received.
    to_itself: Vec<(u32, u64)>,
}

impl<'run, E: Endpoint> RankReplay<'run, E> {
    pub(super) fn new(endpoint: &'run E, trace: &'run Trace, algorithms: &'run Algorithms) -> Self {
        RankReplay {
            endpoint,
            trace,
            algorithms,
            requests: Vec::new(),
            collectives: Vec::new(),
            called: vec![0; trace.communicators.len()],
            probed: Vec::new(),
            to_itself: Vec::new(),
        }
    }

    /// Computes for `work`.
    pub(super) async fn compute(&mut self, work: Duration) {
        let computing = self.endpoint.compute(work);
        self.meanwhile(computing).await;
    }

    /// Performs a call.
    pub(super) async fn call(&mut self, call: &'run Call) -> Result<()> {
        match call {
            Call::Send(message) => {
                let sending = self.send(message);
                self.until_over(sending).await
            }
            Call::Receive(message) => {
                let receiving = self.receive(message);
                self.until_over(receiving).await
            }
            Call::SendReceive(transfer) => self.send_receive(transfer).await,
            Call::BeginSend(request, message) => {
                let sending = self.send(message);
                self.begin(*request, sending).await;
                Ok(())
            }
            Call::BeginReceive(request, message) => {
                let receiving = self.receive(message);
                self.begin(*request, receiving).await;
                Ok(())
            }
            Call::Wait(requests) => {
                for &request in requests {
                    let begun = self.end(request)?;
                    self.until_over(begun).await?;
                }
                Ok(())
            }
            Call::Free(request) => self.end(*request).map(drop),
            Call::Probe(message) => self.probe(message).await,
            Call::Collective(collective) => {
                let performing = self.collective(collective)?;
                self.meanwhile(performing).await
            }
            Call::BeginCollective(request, collective) => {
                let performing = self.collective(collective)?;
                self.begin(*request, RequestState::UnderWay(Box::pin(performing))).await;
                self.collectives.push(*request);
                Ok(())
            }
            // Matches are known from the beginning, and so are the receives that get nothing.
            Call::Matched(..) | Call::Cancelled(_) | Call::Communicator(..) | Call::Finalize(_) => Ok(()),
            Call::Unsupported(name) => Err(Error::Unfit(format!("a replay cannot follow {name}"))),
        }
    }

    /// The rank of the member that a message of a communicator names.
    fn rank_of(&self, message: &trace_format::Message) -> Option<Rank> {
        Some(self.trace.communicators[message.communicator as usize].rank_at(message.partner?))
    }

    /// A send to be begun. A send to the rank itself is over at once: it is a copy in memory.
    fn send(&mut self, message: &trace_format::Message) -> RequestState<'run> {
        let Some(to) = self.rank_of(message) else {
            return RequestState::Over(Err(Error::Unfit("a send that names no receiver".to_owned())));
        };
        let tag = message.tag.unwrap_or_default();
        if to == self.endpoint.rank() {
            self.to_itself.push((tag, message.bytes));
            return RequestState::Over(Ok(()));
        }
        let (endpoint, message) = (self.endpoint, Message::of_size(Bytes(message.bytes)));
        RequestState::UnderWay(Box::pin(endpoint.send_tagged(to, Tag(tag), message)))
    }

    /// A receive to be begun.
    fn receive(&mut self, message: &trace_format::Message) -> RequestState<'run> {
        let from = self.rank_of(message);
        let tags = message.tag.map_or(Tags::Any, |tag| Tags::Only(Tag(tag)));
        let (me, trace, room) = (self.endpoint.rank(), self.trace, message.bytes);
        if let Some(place) = self.probed.iter().position(|probed| is_of(probed, from, tags)) {
            return RequestState::Over(fitting(trace, self.probed.remove(place), me, room));
        }
        if from == Some(me) {
            return RequestState::FromItself(message.tag, room);
        }
        let (endpoint, from) = (self.endpoint, from.map_or(Source::Any, Source::Rank));
        RequestState::UnderWay(Box::pin(async move {
            let received = endpoint.receive_matching(from, tags, None).await?;
            fitting(trace, received, me, room)
        }))
    }

    /// Begins both, the send first.
    async fn send_receive(&mut self, Transfer { send, receive }: &Transfer) -> Result<()> {
        let sending = polled(self.send(send)).await;
        let receiving = polled(self.receive(receive)).await;
        let sent = self.until_over(sending).await;
        let received = self.until_over(receiving).await;
        sent.and(received)
    }

    /// Receives a message ahead of the call that will ask for it.
    async fn probe(&mut self, message: &trace_format::Message) -> Result<()> {
        let (from, tags) = (self.rank_of(message), message.tag.map_or(Tags::Any, |tag| Tags::Only(Tag(tag))));
        if from == Some(self.endpoint.rank()) || self.probed.iter().any(|probed| is_of(probed, from, tags)) {
            return Ok(());
        }
        let receiving = self.endpoint.receive_matching(from.map_or(Source::Any, Source::Rank), tags, None);
        let received = self.meanwhile(receiving).await?;
        self.probed.push(received);
        Ok(())
    }

    /// A collective to be begun.
    fn collective(&mut self, collective: &'run Collective) -> Result<impl Future<Output = Result<()>> + 'run> {
        let place = collective.communicator as usize;
        let turn = self.called[place] % TURNS;
        self.called[place] = self.called[place].wrapping_add(1);
        let tag = Tag(FIRST_OF_COLLECTIVES + collective.communicator * TURNS + turn);
        let communicator = Subgroup::new(self.endpoint, &self.trace.communicators[place], Some(tag))?;
        let algorithms = self.algorithms;
        Ok(async move { perform(algorithms, &communicator, collective).await })
    }

    /// Begins the operation behind a request.
    async fn begin(&mut self, request: u32, begun: RequestState<'run>) {
        let begun = polled(begun).await;
        let place = request as usize;
        if self.requests.len() <= place {
            self.requests.resize_with(place + 1, || None);
        }
        self.requests[place] = Some(begun);
    }

    /// Ends a request, which can't be asked for again; returns its operation.
    fn end(&mut self, request: u32) -> Result<RequestState<'run>> {
        self.collectives.retain(|&other| other != request);
        let begun = self.requests.get_mut(request as usize).and_then(Option::take);
        begun.ok_or_else(|| Error::Unfit(format!("request {request} is not under way")))
    }

    async fn until_over(&mut self, begun: RequestState<'run>) -> Result<()> {
        match begun {
            RequestState::UnderWay(future) => self.meanwhile(future).await,
            RequestState::Over(result) => result,
            RequestState::FromItself(tag, room) => {
                let sent = self.to_itself.iter().position(|&(sent, _)| tag.is_none_or(|tag| tag == sent));
                let nothing = || Error::Unfit("a rank waits for a message that it has not sent itself".to_owned());
                let (tag, bytes) = self.to_itself.remove(sent.ok_or_else(nothing)?);
                let (from, message) = (self.endpoint.rank(), Message::of_size(Bytes(bytes)));
                fitting(self.trace, Received { from, tag: Tag(tag), message }, from, room)
            }
        }
    }

    /// Waits for `future`, while the collectives under way go on.
    async fn meanwhile<F: Future>(&mut self, future: F) -> F::Output {
        if self.collectives.is_empty() {
            return future.await;
        }
        let mut future = pin!(future);
        poll_fn(|context| {
            self.go_on(context);
            future.as_mut().poll(context)
        })
        .await
    }

    /// Polls the collectives that are under way.
    fn go_on(&mut self, context: &mut Context<'_>) {
        let requests = &mut self.requests;
        self.collectives.retain(|&request| {
            let Some(begun) = &mut requests[request as usize] else { return false };
            let RequestState::UnderWay(future) = begun else { return false };
            let Poll::Ready(result) = future.as_mut().poll(context) else { return true };
            *begun = RequestState::Over(result);
            false
        });
    }
}

/// Whether a message that a probe has received is one that a receive asks for.
fn is_of(probed: &Received, from: Option<Rank>, tags: Tags) -> bool {
    from.is_none_or(|from| from == probed.from) && tags.include(probed.tag)
}

/// Checks that a receive of rank `me` has room for the message that it got, whose tag is that of the trace in an error.
fn fitting(trace: &Trace, received: Received, me: Rank, room: u64) -> Result<()> {
    let tag = trace.tag_of(received.tag);
    Received { tag, ..received }.fitting(me, Bytes(room)).map(drop)
}

/// Begins an operation, which happens when it is first polled.
async fn polled(begun: RequestState<'_>) -> RequestState<'_> {
    let RequestState::UnderWay(mut future) = begun else { return begun };
    match poll_fn(|context| Poll::Ready(future.as_mut().poll(context))).await {
        Poll::Ready(result) => RequestState::Over(result),
        Poll::Pending => RequestState::UnderWay(future),
    }
}
