//! A rank on top of datagrams: a loop around the state machines.

use std::cell::{Cell, Ref, RefCell};
use std::future::poll_fn;
use std::ops::Range;
use std::task::Poll;

use endpoint::executor::{OperationEvent, number_of};
use endpoint::{
    Endpoint, Error, Event, Message, Operation, Outcome, Received, Request, Result, Source, StartStatus, Tag, Tags,
};
use quantities::{Duration, Rank, Time};

use crate::operations::{Calls, NewOperation, NumberedEvent, Operations};
use crate::{CopyCost, Datagram, Datagrams, Engine, Parameters, ProgramState};

/// A rank on a network of datagrams.
///
/// Its operations are begun with [`Messenger::begin`], any number at once, and progress while [`Messenger::run`] is
/// polled. It is also an endpoint by itself, for a program that does one thing at a time and is not run by an executor.
/// In that case it reads the network only while its program sends, receives or computes through it; a program that
/// computes elsewhere for longer than the patience of the others appears dead to them.
///
/// A send ends once its message is in the send queue, which is sent while the program does something else with the
/// endpoint. A broadcast longer than the pushed buffer is held up by every receiver that does not receive it.
#[derive(Debug)]
pub struct Messenger<D> {
    network: D,
    engine: RefCell<Engine>,
    operations: RefCell<Operations>,
    patience: Option<Duration>,
    busy: Cell<bool>,
}

/// While it lives, the endpoint does one thing and can't begin another.
struct Busy<'a, D>(&'a Messenger<D>);

impl<D> Drop for Busy<'_, D> {
    fn drop(&mut self) {
        self.0.busy.set(false);
    }
}

impl<D: Datagrams> Messenger<D> {
    /// Rank `me` of `size` ranks.
    ///
    /// # Errors
    /// Those of [`Engine::new`].
    pub fn new(network: D, me: Rank, size: u32, parameters: Parameters) -> Result<Messenger<D>> {
        let engine = RefCell::new(Engine::new(me, size, parameters)?);
        let operations = RefCell::new(Operations::new());
        Ok(Messenger { network, engine, operations, patience: None, busy: Cell::new(false) })
    }

    /// The same rank, where calls of its program also occupy the processor.
    #[must_use]
    pub fn with_calls(mut self, calls: Calls) -> Messenger<D> {
        self.operations.get_mut().set_calls(calls);
        self
    }

    /// The same rank, which shares memory with the others among `ranks`: datagrams between them are never lost nor
    /// overtaken, however long they are. A message that comes before its receive waits in the pushed buffer, and
    /// copying it from there costs `copy`.
    #[must_use]
    pub fn with_shared_memory(mut self, ranks: Range<u32>, copy: CopyCost) -> Messenger<D> {
        self.engine = RefCell::new(self.engine.into_inner().with_neighbours(ranks));
        self.operations.get_mut().set_copy(copy);
        self
    }

    /// The same rank, which waits at most this long for anything that has no deadline, and then ends it with
    /// [`Error::Deadlock`].
    #[must_use]
    pub fn with_patience(mut self, patience: Duration) -> Messenger<D> {
        self.operations.get_mut().set_patience(patience);
        self.patience = Some(patience);
        self
    }

    /// The state machine, as it stands while the program waits.
    pub fn engine(&self) -> Ref<'_, Engine> {
        self.engine.borrow()
    }

    /// The network below.
    pub const fn network(&self) -> &D {
        &self.network
    }

    /// What the program is doing: the operations that have not ended.
    pub fn program_state(&self) -> ProgramState {
        let operations = self.operations.borrow();
        if operations.is_empty() && self.busy.get() {
            return ProgramState::CanContinue;
        }
        operations.waits_for().map_or(ProgramState::CanContinue, ProgramState::Waits)
    }

    /// Whether no operation is in progress.
    pub fn is_idle(&self) -> bool {
        let operations = self.operations.borrow();
        operations.is_empty() && !operations.has_events()
    }

    /// Begins an operation. When it is over, [`Messenger::take_event`] returns its `number`.
    pub fn begin(&self, number: u32, operation: Operation) {
        self.operations.borrow_mut().begin(self.network.now(), NewOperation::new(number, operation));
    }

    /// Begins a request, on any processor; the others continue meanwhile. Every event is reported when it happens,
    /// never ahead: so the time from which a request may begin has always come.
    ///
    /// # Errors
    /// [`Error::ToItself`]: a rank sends no message to itself.
    pub fn start(&self, request: Request) -> Result<StartStatus> {
        let partner = match request.operation {
            Operation::Send { to, .. } => Some(to),
            Operation::Receive { from: Source::Rank(from), .. } | Operation::ReceiveMulticast(from) => Some(from),
            _ => None,
        };
        if partner == Some(self.rank()) {
            return Err(Error::ToItself(self.rank()));
        }
        let receives = matches!(request.operation, Operation::Receive { .. } | Operation::ReceiveMulticast(_));
        let number = number_of(&request);
        let operation =
            NewOperation::of_request(number, Request { reports_start: request.reports_start && !receives, ..request });
        self.operations.borrow_mut().begin(self.network.now(), operation);
        Ok(if receives { StartStatus::Started } else { StartStatus::Later })
    }

    /// The next event of an operation.
    pub fn take_event(&self) -> Option<OperationEvent> {
        let NumberedEvent { number, event } = self.operations.borrow_mut().take_event()?;
        Some(OperationEvent { rank: self.engine().rank(), number, at: self.network.now(), event })
    }

    /// Runs the operations and answers other ranks, for ever. It yields, to be polled again, when operations are over,
    /// so that their owner can begin others.
    pub async fn run(&self) {
        let mut arrived = Vec::new();
        loop {
            let step = async {
                let until = self.step(&mut arrived).await?;
                match until {
                    Next::AtOnce => Ok(()),
                    Next::At(until) => self.network.receive(until, &mut arrived).await,
                }
            };
            if let Err(error) = step.await {
                self.operations.borrow_mut().fail(&error);
                return std::future::pending().await;
            }
            if self.operations.borrow().has_events() {
                yield_once().await;
            }
        }
    }

    /// Drops the operations in progress: nobody needs their results any more.
    pub fn forget_operations(&self) {
        self.operations.borrow_mut().clear(&mut self.engine.borrow_mut());
    }

    /// Waits until everything that was sent has arrived at those ranks that are still there. More can be sent
    /// afterwards.
    ///
    /// # Errors
    /// [`Error::Lost`] when a rank was gone before it had everything that was sent to it; errors of the network.
    pub async fn flush(&self) -> Result<()> {
        self.run_until(Engine::is_quiet).await?;
        self.engine.borrow().failure().map_or(Ok(()), |rank| Err(Error::Lost(rank)))
    }

    /// Waits until everything that was sent has arrived; then says goodbye to all other ranks and waits until they have
    /// done the same. Nothing can be sent or received afterwards.
    ///
    /// # Errors
    /// [`Error::Lost`] when a rank was gone before it had everything that was sent to it; errors of the network.
    pub async fn end(&self) -> Result<()> {
        let others: Vec<Rank> = (0..self.size()).map(Rank).filter(|&rank| rank != self.rank()).collect();
        self.end_with(&others).await
    }

    /// Like [`Messenger::end`], but only for the ranks that this one communicates with: the others are told nothing,
    /// and nobody waits for them. Where one rank sends to n - 1 that don't know each other, n - 1 pairs say goodbye
    /// instead of n (n - 1) / 2.
    ///
    /// # Errors
    /// Those of [`Messenger::end`]; [`Error::NoSuchRank`] and [`Error::ToItself`].
    pub async fn end_with(&self, ranks: &[Rank]) -> Result<()> {
        self.run_until(Engine::is_quiet).await?;
        self.engine.borrow_mut().end_with(self.network.now(), ranks)?;
        self.run_until(Engine::is_over).await?;
        self.engine.borrow().failure().map_or(Ok(()), |rank| Err(Error::Lost(rank)))
    }

    /// Keeps answering other ranks for ever.
    ///
    /// # Errors
    /// Errors of the network.
    pub async fn serve(&self) -> Result<()> {
        self.run_until(|_| false).await
    }

    /// Runs the network and the state machine until everything to be sent has been handed over and the engine
    /// `is_done`.
    async fn run_until(&self, is_done: impl Fn(&Engine) -> bool) -> Result<()> {
        let _busy = self.become_busy()?;
        let limit = self.patience.map(|patience| self.network.now() + patience);
        let mut arrived = Vec::new();
        loop {
            let next = self.step(&mut arrived).await?;
            if !self.operations.borrow().sends() && is_done(&self.engine.borrow()) {
                return Ok(());
            }
            if limit.is_some_and(|limit| limit <= self.network.now()) {
                return Err(crate::operations::timed_out(self.rank()));
            }
            if let Next::At(until) = next {
                self.network.receive([until, limit].into_iter().flatten().min(), &mut arrived).await?;
            }
        }
    }

    /// Passes what has arrived to the state machines, and sends what they have to send.
    async fn step(&self, arrived: &mut Vec<Datagram>) -> Result<Next> {
        if self.operations.borrow().has_new_receives() {
            self.catch_up().await?;
        }
        let now = self.network.now();
        let (to_send, next) = {
            let (engine, operations) = (&mut *self.engine.borrow_mut(), &mut *self.operations.borrow_mut());
            operations.post(now, engine);
            arrived.drain(..).for_each(|datagram| engine.take(now, &datagram));
            engine.wake(now);
            operations.advance(now, engine);
            (engine.drain(now), engine.deadline())
        };
        if !to_send.is_empty() {
            self.network.send(&to_send).await?;
        }
        let operations = &mut *self.operations.borrow_mut();
        operations.settle(now, &mut self.engine.borrow_mut());
        if operations.can_continue() {
            return Ok(Next::AtOnce);
        }
        Ok(Next::At([next, operations.deadline()].into_iter().flatten().min()))
    }

    /// Reads what has arrived already.
    async fn catch_up(&self) -> Result<()> {
        let mut arrived = Vec::new();
        let now = self.network.now();
        self.network.receive(Some(now), &mut arrived).await?;
        let mut engine = self.engine.borrow_mut();
        arrived.iter().for_each(|datagram| engine.take(now, datagram));
        Ok(())
    }

    /// Begins the one thing that may be done at a time.
    fn become_busy(&self) -> Result<Busy<'_, D>> {
        if self.busy.replace(true) {
            return Err(Error::Unfit("an endpoint that no executor runs does one thing at a time".to_owned()));
        }
        Ok(Busy(self))
    }

    /// Carries out an operation of a program that does one thing at a time.
    async fn run_operation(&self, operation: Operation) -> Result<Outcome> {
        let [outcome] = self.run_operations([operation]).await?;
        outcome
    }

    /// Carries out several operations that begin together and are one step to a program that does one thing at a time.
    async fn run_operations<const N: usize>(&self, operations: [Operation; N]) -> Result<[Result<Outcome>; N]> {
        let _busy = self.become_busy()?;
        // Nothing remains of operations whose future was dropped.
        self.forget_operations();
        (0..).zip(operations).for_each(|(number, operation)| self.begin(number, operation));
        let mut outcomes = [const { None }; N];
        let mut arrived = Vec::new();
        loop {
            let next = self.step(&mut arrived).await?;
            while let Some(NumberedEvent { number, event }) = self.operations.borrow_mut().take_event() {
                if let (Event::Completed(outcome), Some(place)) = (event, outcomes.get_mut(number as usize)) {
                    *place = Some(outcome);
                }
            }
            if outcomes.iter().all(Option::is_some) {
                return Ok(outcomes.map(|outcome| outcome.unwrap_or(Err(Error::Stopped))));
            }
            if let Next::At(until) = next {
                self.network.receive(until, &mut arrived).await?;
            }
        }
    }
}

/// When there is something to do next.
enum Next {
    AtOnce,
    /// At this time, or when something arrives.
    At(Option<Time>),
}

/// Yields once, so that the poller can do something before it polls again.
async fn yield_once() {
    let mut stopped = false;
    poll_fn(|_| if std::mem::replace(&mut stopped, true) { Poll::Ready(()) } else { Poll::Pending }).await;
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
        self.run_operation(Operation::Send { to, tag, message }).await.map(|_| ())
    }

    async fn receive_matching(&self, from: Source, tags: Tags, deadline: Option<Time>) -> Result<Received> {
        self.run_operation(Operation::Receive { from, tags, deadline }).await?.received()
    }

    async fn probe(&self, from: Source, tags: Tags, deadline: Option<Time>) -> Result<Received> {
        self.run_operation(Operation::Probe { from, tags, deadline }).await?.received()
    }

    async fn sendrecv_tagged(&self, to: Rank, tag: Tag, message: Message, from: Rank, tags: Tags) -> Result<Received> {
        let send = Operation::Send { to, tag, message };
        let receive = Operation::Receive { from: Source::Rank(from), tags, deadline: None };
        let [sent, received] = self.run_operations([send, receive]).await?;
        sent.and(received)?.received()
    }

    async fn compute(&self, work: Duration) {
        // A network failure is an error of the next send or receive; the work is done all the same.
        let _ = self.run_operation(Operation::Compute(work)).await;
    }

    async fn sleep_until(&self, time: Time) {
        let _ = self.run_operation(Operation::Sleep(time)).await;
    }

    async fn multicast(&self, message: Message) -> Result<()> {
        self.run_operation(Operation::Multicast(message)).await.map(|_| ())
    }

    async fn receive_multicast(&self, from: Rank) -> Result<Message> {
        self.run_operation(Operation::ReceiveMulticast(from)).await?.received().map(|received| received.message)
    }
}
