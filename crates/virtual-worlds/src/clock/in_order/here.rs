//! A rank's endpoint where ranks do everything in the order of time.

use std::cell::RefCell;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use endpoint::{Endpoint, Error, Message, Needs, Result, check_partner};
use quantities::{Duration, Rank, Time};

use super::state::{Outcome, State, Verb};
use crate::clock::no_hardware;

/// One rank's view of a run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Here<'run> {
    rank: Rank,
    state: &'run RefCell<State>,
    needs: Needs,
}

impl<'run> Here<'run> {
    pub(super) fn new(rank: Rank, state: &'run RefCell<State>, needs: Needs) -> Here<'run> {
        Here { rank, state, needs }
    }

    /// That `other` is a rank that messages can go to and come from.
    fn check(&self, other: Rank) -> Result<()> {
        check_partner(self.rank, other, self.size())
    }

    fn step(&self, verb: Verb) -> Step<'_> {
        Step { here: self, verb: Some(verb) }
    }

    async fn message(&self, verb: Verb) -> Result<(Rank, Message)> {
        match self.step(verb).await? {
            Outcome::Received(from, message) => Ok((from, message)),
            Outcome::Done => Err(Error::Unfit("a receive ended without a message".to_owned())),
        }
    }
}

impl Endpoint for Here<'_> {
    fn rank(&self) -> Rank {
        self.rank
    }

    fn size(&self) -> u32 {
        self.state.borrow().size()
    }

    fn now(&self) -> Time {
        self.state.borrow().now(self.rank)
    }

    async fn send(&self, to: Rank, message: Message) -> Result<()> {
        self.check(to)?;
        self.step(Verb::Send(to, message)).await.map(|_| ())
    }

    async fn receive(&self, from: Rank) -> Result<Message> {
        self.check(from)?;
        self.message(Verb::Receive(from)).await.map(|(_, message)| message)
    }

    async fn compute(&self, work: Duration) {
        // A computation has no way to fail.
        let _ = self.step(Verb::Compute(work)).await;
    }

    async fn receive_any(&self, deadline: Option<Time>) -> Result<(Rank, Message)> {
        self.needs.check_any_source()?;
        self.message(Verb::ReceiveAny(deadline)).await
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

/// A verb from its beginning until the rank's clock has come to its end.
#[derive(Debug)]
struct Step<'here> {
    here: &'here Here<'here>,
    /// What is to be begun; nothing once it is.
    verb: Option<Verb>,
}

impl Future for Step<'_> {
    type Output = Result<Outcome>;

    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Result<Outcome>> {
        let here = self.here;
        let mut state = here.state.borrow_mut();
        match self.verb.take() {
            Some(verb) => {
                state.begin(here.rank, verb);
                Poll::Pending
            }
            None => state.take_outcome(here.rank).map_or(Poll::Pending, Poll::Ready),
        }
    }
}
