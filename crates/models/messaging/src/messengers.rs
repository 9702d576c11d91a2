//! All ranks of a world as one machine of the executor, except for the carrier of their datagrams.

use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Waker};

use endpoint::executor::OperationEvent;
use endpoint::{Error, Operation, Request, Result, StartStatus};
use quantities::Rank;

use crate::{Datagrams, Messenger, ProgramState, stuck};

/// Ranks of a program, one messenger each. A world reports whose datagrams have arrived or whose time has come, and is
/// told which operations are over.
pub struct Messengers<'run, D> {
    messengers: &'run [Messenger<D>],
    running: Vec<Pin<Box<dyn Future<Output = ()> + 'run>>>,
    /// The ranks that have something to do at once, in this order.
    ready: VecDeque<usize>,
    events: VecDeque<OperationEvent>,
    ended: Vec<bool>,
    left: usize,
}

impl<'run, D: Datagrams> Messengers<'run, D> {
    /// One messenger for each rank from 0 on.
    pub fn new(messengers: &'run [Messenger<D>]) -> Messengers<'run, D> {
        let running =
            |messenger: &'run Messenger<D>| -> Pin<Box<dyn Future<Output = ()> + 'run>> { Box::pin(messenger.run()) };
        Messengers {
            messengers,
            running: messengers.iter().map(running).collect(),
            ready: (0..messengers.len()).collect(),
            events: VecDeque::new(),
            ended: vec![false; messengers.len()],
            left: messengers.len(),
        }
    }

    /// The messengers, in order of rank.
    pub const fn all(&self) -> &'run [Messenger<D>] {
        self.messengers
    }

    /// Begins an operation of this rank.
    pub fn begin(&self, rank: Rank, number: u32, operation: Operation) {
        if let Some(messenger) = self.messengers.get(rank.0 as usize) {
            messenger.begin(number, operation);
        }
    }

    /// Begins a request of this rank.
    ///
    /// # Errors
    /// Those of [`Messenger::start`].
    pub fn start(&self, rank: Rank, request: Request) -> Result<StartStatus> {
        let no_such_rank = Error::NoSuchRank { rank, size: self.messengers.len() as u32 };
        self.messengers.get(rank.0 as usize).ok_or(no_such_rank)?.start(request)
    }

    /// The program of this rank has ended. The rank keeps answering others.
    pub fn end(&mut self, rank: Rank) {
        if let Some(ended) = self.ended.get_mut(rank.0 as usize) {
            self.left -= usize::from(!*ended);
            *ended = true;
        }
    }

    /// Whether all programs have ended.
    pub const fn have_ended(&self) -> bool {
        self.left == 0
    }

    /// Something has arrived for this rank, or its time has come.
    pub fn wake(&mut self, rank: usize) {
        self.ready.push_back(rank);
    }

    /// The next operation that is over, as long as there is one before anything else has to happen.
    pub fn next_event(&mut self) -> Option<OperationEvent> {
        loop {
            if let Some(event) = self.events.pop_front() {
                return Some(event);
            }
            let rank = self.ready.pop_front()?;
            self.poll(rank);
        }
    }

    fn poll(&mut self, rank: usize) {
        let (Some(running), Some(messenger)) = (self.running.get_mut(rank), self.messengers.get(rank)) else { return };
        let _ = running.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        self.events.extend(std::iter::from_fn(|| messenger.take_event()));
        if !self.events.is_empty() {
            // Its program continues, and then this rank does, before any other.
            self.ready.push_front(rank);
        }
    }

    /// Whether no operation is in progress.
    pub fn are_idle(&self) -> bool {
        self.events.is_empty() && self.messengers.iter().all(Messenger::is_idle)
    }

    /// Whether some programs have not ended and none of them can ever continue.
    pub fn are_stuck(&self) -> bool {
        let state = |(messenger, ended): (&Messenger<D>, &bool)| {
            if *ended { ProgramState::Ended } else { messenger.program_state() }
        };
        // One that can continue is enough.
        let waits = |state: ProgramState| (state != ProgramState::CanContinue).then_some(state);
        let state: Option<Vec<ProgramState>> = self.messengers.iter().zip(&self.ended).map(state).map(waits).collect();
        state.is_some_and(|state| stuck(&state, |rank| self.messengers[rank.0 as usize].engine()).is_some())
    }
}

impl<D> std::fmt::Debug for Messengers<'_, D> {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Messengers").field("ready", &self.ready).field("events", &self.events).finish_non_exhaustive()
    }
}
