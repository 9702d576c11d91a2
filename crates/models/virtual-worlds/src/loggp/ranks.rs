//! The ranks of a run as futures, and the loop that runs them.

use std::cell::RefCell;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use endpoint::{Error, Result, WaitsFor, deadlock_of};
use quantities::Rank;

use crate::stop::{ProgressSnapshot, Stop};

/// Decides which rank runs next.
pub(super) trait Turns {
    /// The next rank that can begin or go on, if there is one.
    fn next_turn(&mut self) -> Option<Rank>;
    /// Everything that a rank waits for, in the order in which it was begun.
    fn waits_for(&self, rank: Rank) -> impl Iterator<Item = WaitsFor>;
    /// The progress of the run when it is the turn of `rank`.
    fn reached(&self, rank: Rank) -> ProgressSnapshot;
}

/// The ranks of a run.
///
/// A rank's future is created only when its turn comes, and the allocation of one that has ended is reused. So there
/// are never more futures than ranks that wait: in a broadcast none, whatever the number of ranks.
pub(super) struct Ranks<F, T> {
    /// The futures of the ranks that wait.
    waiting: Vec<Option<Pin<Box<F>>>>,
    /// Allocations whose future has ended.
    idle: Vec<Pin<Box<F>>>,
    /// The results of the ranks that have ended.
    results: Vec<Option<Result<T>>>,
    stop: Stop,
}

impl<F: Future<Output = Result<T>>, T> Ranks<F, T> {
    pub(super) fn new(size: u32, stop: Stop) -> Ranks<F, T> {
        let (mut waiting, mut results) = (Vec::new(), Vec::new());
        waiting.resize_with(size as usize, || None);
        results.resize_with(size as usize, || None);
        Ranks { waiting, idle: Vec::new(), results, stop }
    }

    /// Runs all ranks to their end; the report of a deadlock calls each what `name` returns.
    pub(super) fn run(
        mut self,
        turns: &RefCell<impl Turns>,
        name: impl Fn(Rank) -> String,
        start: impl Fn(Rank) -> F,
    ) -> Result<Vec<Result<T>>> {
        loop {
            let turn = turns.borrow_mut().next_turn();
            let Some(rank) = turn else { break };
            self.stop.go_on(|| turns.borrow().reached(rank))?;
            let future = match self.waiting[rank.0 as usize].take() {
                Some(future) => future,
                None => self.place(start(rank)),
            };
            self.poll(rank, future);
        }
        if self.results.iter().any(Option::is_none) {
            return Err(self.deadlock(&*turns.borrow(), name));
        }
        Ok(self.results.into_iter().flatten().collect())
    }

    /// Allocates `future`, which can't be moved once it runs.
    fn place(&mut self, future: F) -> Pin<Box<F>> {
        match self.idle.pop() {
            Some(mut place) => {
                place.set(future);
                place
            }
            None => Box::pin(future),
        }
    }

    /// Runs `rank` until it ends or waits.
    fn poll(&mut self, rank: Rank, mut future: Pin<Box<F>>) {
        match future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(result) => {
                self.results[rank.0 as usize] = Some(result);
                self.idle.push(future);
            }
            Poll::Pending => self.waiting[rank.0 as usize] = Some(future),
        }
    }

    fn deadlock(&self, turns: &impl Turns, name: impl Fn(Rank) -> String) -> Error {
        let ranks = || (0..self.results.len() as u32).map(Rank);
        let waiting: Vec<_> = ranks().flat_map(|rank| turns.waits_for(rank).map(move |what| (rank, what))).collect();
        let result = |rank: Rank| self.results[rank.0 as usize].as_ref();
        let failed = ranks().find_map(|rank| Some((rank, result(rank)?.as_ref().err()?)));
        deadlock_of(name, &waiting, failed)
    }
}
