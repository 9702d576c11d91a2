//! A rank's endpoint in the clock world.

use std::cell::RefCell;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use endpoint::{Endpoint, Error, Message, Needs, Received, Result, Source, Tag, Tags, check_partner};
use quantities::{Duration, Rank, Time};

use super::no_hardware;
use super::state::SharedState;

/// The endpoint of one rank.
#[derive(Clone, Copy, Debug)]
pub(super) struct ClockEndpoint<'run> {
    rank: Rank,
    state: &'run RefCell<SharedState>,
    needs: Needs,
}

impl<'run> ClockEndpoint<'run> {
    pub(super) fn new(rank: Rank, state: &'run RefCell<SharedState>, needs: Needs) -> ClockEndpoint<'run> {
        ClockEndpoint { rank, state, needs }
    }

    /// Checks that `other` is a rank with which messages can be exchanged.
    fn check(&self, other: Rank) -> Result<()> {
        check_partner(self.rank, other, self.size())
    }

    /// Checks that no other operation of this rank is under way.
    fn check_alone(&self) -> Result<()> {
        if self.state.borrow().is_waiting(self.rank) { self.needs.check_overlap() } else { Ok(()) }
    }
}

// The futures are written out by hand: a compiler-generated one would keep a second copy of the message in every rank.
impl Endpoint for ClockEndpoint<'_> {
    fn rank(&self) -> Rank {
        self.rank
    }

    fn size(&self) -> u32 {
        self.state.borrow().size()
    }

    fn now(&self) -> Time {
        self.state.borrow().now(self.rank)
    }

    #[allow(refining_impl_trait)] // no code names the type
    fn send_tagged(&self, to: Rank, tag: Tag, message: Message) -> Send<'_> {
        Send { endpoint: self, to, tag, message: Some(message), rested: false }
    }

    #[allow(refining_impl_trait)] // as above
    fn receive_matching(&self, from: Source, tags: Tags, deadline: Option<Time>) -> Receive<'_> {
        Receive { endpoint: self, from, tags, deadline, begun: false }
    }

    /// A rank that runs ahead of the others can't know what has arrived.
    async fn probe(&self, _: Source, _: Tags, _: Option<Time>) -> Result<Received> {
        Err(Error::Undeclared("ANY_SOURCE"))
    }

    #[allow(refining_impl_trait)] // as above, and without a future around it
    fn send(&self, to: Rank, message: Message) -> Send<'_> {
        self.send_tagged(to, Tag::default(), message)
    }

    #[allow(refining_impl_trait)] // as above
    fn sendrecv_tagged(&self, to: Rank, tag: Tag, message: Message, from: Rank, tags: Tags) -> SendReceive<'_> {
        let stage = SendrecvStage::Sends { message: Some(message), rested: false };
        SendReceive { endpoint: self, to, tag, from, tags, stage }
    }

    #[allow(refining_impl_trait)] // as above, and without a future around it
    fn sendrecv(&self, to: Rank, message: Message, from: Rank) -> SendReceiveMessage<'_> {
        SendReceiveMessage(self.sendrecv_tagged(to, Tag::default(), message, from, Tags::Any))
    }

    async fn compute(&self, work: Duration) {
        self.state.borrow_mut().compute(self.rank, work);
    }

    async fn sleep_until(&self, time: Time) {
        self.state.borrow_mut().sleep_until(self.rank, time);
    }

    async fn multicast(&self, _: Message) -> Result<()> {
        self.needs.check_multicast()?;
        Err(no_hardware())
    }

    async fn receive_multicast(&self, _: Rank) -> Result<Message> {
        self.needs.check_multicast()?;
        Err(no_hardware())
    }
}

/// A send: it completes at once, unless it waits for its receiver. It may let other ranks run first.
#[derive(Debug)]
pub(super) struct Send<'endpoint> {
    endpoint: &'endpoint ClockEndpoint<'endpoint>,
    to: Rank,
    tag: Tag,
    /// The message to be sent; nothing once it is on its way.
    message: Option<Message>,
    /// Whether it has let other ranks run.
    rested: bool,
}

impl Future for Send<'_> {
    type Output = Result<()>;

    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Result<()>> {
        if self.message.is_some() && !self.rested {
            self.endpoint.check(self.to)?;
            self.endpoint.check_alone()?;
            self.rested = true;
            if self.endpoint.state.borrow_mut().rest_before_sending(self.endpoint.rank, self.to) {
                return Poll::Pending;
            }
        }
        let Some(message) = self.message.take() else {
            // It was polled before, and waits until its receiver has the message.
            let waits = self.endpoint.state.borrow().is_waiting(self.endpoint.rank);
            return if waits { Poll::Pending } else { Poll::Ready(Ok(())) };
        };
        match self.endpoint.state.borrow_mut().send(self.endpoint.rank, self.to, self.tag, message) {
            true => Poll::Pending,
            false => Poll::Ready(Ok(())),
        }
    }
}

/// A receive: it completes as soon as the message was sent, however much later the message arrives.
#[derive(Debug)]
pub(super) struct Receive<'endpoint> {
    endpoint: &'endpoint ClockEndpoint<'endpoint>,
    from: Source,
    tags: Tags,
    deadline: Option<Time>,
    begun: bool,
}

impl Receive<'_> {
    /// The rank that it receives from, after checking that it may.
    fn begin(&mut self) -> Result<Rank> {
        // A rank that runs ahead of the others can't know whose message is next, nor what arrives by a deadline.
        let (Source::Rank(from), None) = (self.from, self.deadline) else {
            return Err(Error::Undeclared("ANY_SOURCE"));
        };
        if !self.begun {
            self.endpoint.check(from)?;
            self.endpoint.check_alone()?;
            self.begun = true;
        }
        Ok(from)
    }
}

impl Future for Receive<'_> {
    type Output = Result<Received>;

    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Result<Received>> {
        let from = self.begin()?;
        match self.endpoint.state.borrow_mut().receive(self.endpoint.rank, from, self.tags) {
            Some(received) => Poll::Ready(Ok(received)),
            None => Poll::Pending,
        }
    }
}

/// A send and a receive that are begun together. The processor finishes the send first; so if that does not wait for
/// its receiver, the two go one after the other. If it does, it completes when its message is taken, whatever the rank
/// receives meanwhile.
#[derive(Debug)]
pub(super) struct SendReceive<'endpoint> {
    endpoint: &'endpoint ClockEndpoint<'endpoint>,
    to: Rank,
    tag: Tag,
    from: Rank,
    tags: Tags,
    stage: SendrecvStage,
}

/// The same, returning only the message.
#[derive(Debug)]
pub(super) struct SendReceiveMessage<'endpoint>(SendReceive<'endpoint>);

impl Future for SendReceiveMessage<'_> {
    type Output = Result<Message>;

    #[inline]
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<Message>> {
        Pin::new(&mut self.0).poll(context).map_ok(|received| received.message)
    }
}

/// The progress of a sendrecv.
#[derive(Debug)]
enum SendrecvStage {
    /// It sends, as [`Send`] does.
    Sends { message: Option<Message>, rested: bool },
    /// It receives; the time is when the sendrecv was begun.
    Receives(Time),
    /// It has received, and waits until the message it sent is taken.
    Waits(Option<Received>),
}

impl SendReceive<'_> {
    /// Lets other ranks run first, if it should; then sends. Returns when it was begun.
    #[inline]
    fn send(&mut self, state: &mut SharedState) -> Poll<Result<Time>> {
        let SendReceive { endpoint: ClockEndpoint { rank, needs, .. }, to, from, tag, .. } = *self;
        let (message, rested) = match &mut self.stage {
            SendrecvStage::Sends { message, rested } => (message, rested),
            SendrecvStage::Receives(began) => return Poll::Ready(Ok(*began)),
            SendrecvStage::Waits(_) => return Poll::Ready(Ok(state.now(*rank))),
        };
        if !*rested {
            check_partner(*rank, to, state.size())?;
            check_partner(*rank, from, state.size())?;
            if state.is_waiting(*rank) {
                needs.check_overlap()?;
            }
            *rested = true;
            if state.rest_before_sending(*rank, to) {
                return Poll::Pending;
            }
        }
        let began = state.now(*rank);
        state.begin_sendrecv(*rank, to, tag, message.take().unwrap_or_default());
        self.stage = SendrecvStage::Receives(began);
        Poll::Ready(Ok(began))
    }
}

impl Future for SendReceive<'_> {
    type Output = Result<Received>;

    #[inline]
    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Result<Received>> {
        let SendReceive { endpoint, from, tags, .. } = *self;
        let state = &mut *endpoint.state.borrow_mut();
        let received = match self.send(state)? {
            Poll::Pending => return Poll::Pending,
            Poll::Ready(began) => match &mut self.stage {
                SendrecvStage::Waits(received) => received.take(),
                _ => state.receive_in_sendrecv(endpoint.rank, from, tags, began),
            },
        };
        let Some(received) = received else { return Poll::Pending };
        if state.end_sendrecv(endpoint.rank) {
            return Poll::Ready(Ok(received));
        }
        self.stage = SendrecvStage::Waits(Some(received));
        Poll::Pending
    }
}
