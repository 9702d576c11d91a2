//! The endpoint trait on top of datagrams: a loop around the state machine.

use std::cell::{Cell, Ref, RefCell};

use endpoint::{Endpoint, Error, Message, Needs, Received, Result, Source, Tag, Tags};
use quantities::{Duration, Rank, Time};

use crate::{Awaited, Datagrams, Engine, Parameters};

/// A rank's endpoint on a network of datagrams.
///
/// It reads the network whenever its program sends, receives or computes by it, and only then: a program that computes otherwise for
/// longer than the patience of others seems gone to them.
///
/// A send ends once its message is in the send queue; what is in it goes out while the program does something else with the
/// endpoint. A broadcast longer than the pushed buffer is held up by every receiver that does not receive it.
#[derive(Debug)]
pub struct Messenger<D> {
    network: D,
    engine: RefCell<Engine>,
    waits_for: Cell<Option<Awaited>>,
    needs: Needs,
    busy: Cell<bool>,
}

/// While it is there, the endpoint does one thing and can't begin another.
struct Busy<'a>(&'a Cell<bool>);

impl Drop for Busy<'_> {
    fn drop(&mut self) {
        self.0.set(false);
    }
}

impl<D: Datagrams> Messenger<D> {
    /// Rank `me` of `size` ranks.
    ///
    /// # Errors
    /// As [`Engine::new`].
    pub fn new(network: D, me: Rank, size: u32, parameters: Parameters) -> Result<Messenger<D>> {
        let engine = RefCell::new(Engine::new(me, size, parameters)?);
        Ok(Messenger { network, engine, waits_for: Cell::new(None), needs: Needs::EVERYTHING, busy: Cell::new(false) })
    }

    /// From now on its program does no more than it `needs`; before, everything is allowed.
    pub fn hold_to(&mut self, needs: Needs) {
        self.needs = needs;
    }

    /// The state machine, as it is while the program waits.
    pub fn engine(&self) -> Ref<'_, Engine> {
        self.engine.borrow()
    }

    /// What the program waits for, if it waits for it without a deadline.
    pub fn waits_for(&self) -> Option<Awaited> {
        self.waits_for.get()
    }

    /// Waits until everything that was sent has arrived, as far as there is still anyone for it. More can be sent after it.
    ///
    /// # Errors
    /// [`Error::Lost`] when a rank was gone before it had all that was sent to it; those of the network.
    pub async fn flush(&self) -> Result<()> {
        self.until(None, |engine, _| Ok(engine.is_quiet().then_some(()))).await?;
        self.engine.borrow().failure().map_or(Ok(()), |rank| Err(Error::Lost(rank)))
    }

    /// Waits until everything that was sent has arrived; then says goodbye to all other ranks, and waits until they have as well.
    /// Nothing can be sent or received after it.
    ///
    /// # Errors
    /// [`Error::Lost`] when a rank was gone before it had all that was sent to it; those of the network.
    pub async fn end(&self) -> Result<()> {
        let others: Vec<Rank> = (0..self.size()).map(Rank).filter(|&rank| rank != self.rank()).collect();
        self.end_with(&others).await
    }

    /// As [`Messenger::end`], but for those ranks that this one has to do with: the others are told nothing, and nobody waits for
    /// them. Where one rank sends to n - 1 that don't know each other, this says goodbye in n - 1 pairs instead of n (n - 1) / 2.
    ///
    /// # Errors
    /// As [`Messenger::end`]; [`Error::NoSuchRank`] and [`Error::ToItself`].
    pub async fn end_with(&self, ranks: &[Rank]) -> Result<()> {
        self.until(None, |engine, _| Ok(engine.is_quiet().then_some(()))).await?;
        self.engine.borrow_mut().end_with(self.network.now(), ranks)?;
        self.until(None, |engine, _| Ok(engine.is_over().then_some(()))).await?;
        self.engine.borrow().failure().map_or(Ok(()), |rank| Err(Error::Lost(rank)))
    }

    /// Goes on answering others for ever.
    ///
    /// # Errors
    /// Those of the network.
    pub async fn serve(&self) -> Result<()> {
        self.until(None, |_, _| Ok(None::<()>)).await?;
        Ok(())
    }

    /// Lets the network and the state machine go on until `found` finds something, or it is `deadline`.
    async fn until<T>(
        &self,
        deadline: Option<Time>,
        mut found: impl FnMut(&mut Engine, Time) -> Result<Option<T>>,
    ) -> Result<Option<T>> {
        let _busy = self.begin()?;
        let mut arrived = Vec::new();
        loop {
            let now = self.network.now();
            let (result, to_send, next) = {
                let mut engine = self.engine.borrow_mut();
                arrived.drain(..).for_each(|datagram| engine.take(now, &datagram));
                engine.wake(now);
                let result = found(&mut engine, now);
                (result, engine.drain(now), engine.deadline())
            };
            if !to_send.is_empty() {
                self.network.send(&to_send).await?;
            }
            match result? {
                Some(found) => return Ok(Some(found)),
                None if deadline.is_some_and(|deadline| deadline <= now) => return Ok(None),
                None => {}
            }
            let until = [next, deadline].into_iter().flatten().min();
            self.network.receive(until, &mut arrived).await?;
        }
    }

    /// Begins an operation, if none is under way.
    fn begin(&self) -> Result<Busy<'_>> {
        if self.busy.replace(true) {
            self.needs.check_overlap()?;
            return Err(Error::Unfit("a rank whose messages go over datagrams does one thing at a time".to_owned()));
        }
        Ok(Busy(&self.busy))
    }

    /// Reads what is there already.
    async fn catch_up(&self) -> Result<()> {
        let mut arrived = Vec::new();
        let now = self.network.now();
        self.network.receive(Some(now), &mut arrived).await?;
        let mut engine = self.engine.borrow_mut();
        arrived.iter().for_each(|datagram| engine.take(now, datagram));
        Ok(())
    }

    async fn receive_what(&self, what: Awaited, deadline: Option<Time>) -> Result<Option<(Rank, Message)>> {
        self.catch_up().await?;
        self.engine.borrow_mut().post(self.network.now(), what)?;
        self.waits_for.set(Some(what).filter(|_| deadline.is_none()));
        let result = self.until(deadline, |engine, now| engine.received(now, what)).await;
        self.waits_for.set(None);
        result
    }

    async fn submit(
        &self,
        message: Message,
        submit: impl Fn(&mut Engine, Message) -> Result<Option<Message>>,
    ) -> Result<()> {
        let mut message = Some(message);
        let submit = |engine: &mut Engine, _| {
            message = match message.take() {
                Some(message) => submit(engine, message)?,
                None => None,
            };
            Ok(message.is_none().then_some(()))
        };
        self.until(None, submit).await?;
        Ok(())
    }
}

impl<D: Datagrams> Endpoint for Messenger<D> {
    fn rank(&self) -> Rank {
        self.engine.borrow().rank()
    }

    fn size(&self) -> u32 {
        self.engine.borrow().size()
    }

    fn now(&self) -> Time {
        self.network.now()
    }

    async fn send_tagged(&self, to: Rank, tag: Tag, message: Message) -> Result<()> {
        untagged(Tags::Only(tag))?;
        self.submit(message, |engine, message| engine.send(to, message)).await
    }

    async fn receive_matching(&self, from: Source, tags: Tags, deadline: Option<Time>) -> Result<Received> {
        let awaited = match from {
            Source::Rank(from) => Awaited::MessageFrom(from),
            Source::Any => Awaited::Anything,
        };
        if from == Source::Any || deadline.is_some() {
            self.needs.check_any_source()?;
        }
        untagged(tags)?;
        match self.receive_what(awaited, deadline).await? {
            Some((from, message)) => Ok(Received { from, tag: Tag::default(), message }),
            None => {
                self.engine.borrow_mut().withdraw(awaited);
                Err(Error::Deadline(deadline.unwrap_or(Time::NEVER)))
            }
        }
    }

    async fn compute(&self, work: Duration) {
        let end = self.network.now() + work;
        // A network that fails is an error of the next send or receive; the work is done all the same.
        let _ = self.until(Some(end), |_, _| Ok(None::<()>)).await;
    }

    async fn multicast(&self, message: Message) -> Result<()> {
        self.needs.check_multicast()?;
        self.submit(message, Engine::multicast).await
    }

    async fn receive_multicast(&self, from: Rank) -> Result<Message> {
        self.needs.check_multicast()?;
        let received = self.receive_what(Awaited::BroadcastOf(from), None).await?;
        received.map(|(_, message)| message).ok_or(Error::Lost(from))
    }
}

/// That messages need no tag: datagrams carry none.
fn untagged(tags: Tags) -> Result<()> {
    if tags.include(Tag::default()) {
        return Ok(());
    }
    Err(Error::Unfit("messages over datagrams have no tags but 0".to_owned()))
}
