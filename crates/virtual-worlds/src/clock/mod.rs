//! The contention-free world: no network, a clock at every rank, and messages that cost what LogGP says.
//!
//! Programs here receive from named ranks only. What such a program does, and when, does not depend on the order in which
//! its ranks are run (they are a Kahn network), as nothing is shared between them. So there is no queue of events: a rank
//! runs, ahead of all others if need be, until it waits for a message that was not sent yet; then another one runs.
//!
//! What a message of s bytes costs, as in LogGOPSim (Hoefler, Schneider and Lumsdaine, "LogGOPSim: simulating large-scale
//! applications in the LogGOPS model", 2010):
//!
//! ```text
//!   sender    |-- o + (s-1) O --|
//!             |-- g + (s-1) G -------| network interface
//!             |-- o --|---- L ----|
//!   receiver                      |-- o + max((s-1) O, (s-1) G) --|
//!                                 |-- g + (s-1) G -------| network interface
//! ```
//!
//! A send starts when processor and network interface are free; a message is taken when it has arrived, its receiver asks
//! for it, and the receiver's interface is free. A send of S bytes or more ends when its message is taken. The receiver
//! pays o when it receives, not when the message arrives, and gaps between received messages count in the order in
//! which the program receives them: this is where a world without events must differ from one with them.

mod costs;
pub mod goal;
mod here;
mod mailbox;
mod state;

use std::cell::RefCell;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use endpoint::{Error, Program, Result, World, deadlock};
use machines::model::LogGp;
use quantities::Rank;

use crate::answer::Answer;
use costs::Costs;
use here::Here;
use state::State;

/// Why a run that comes to the end of time has no answer.
const TOO_LONG: &str = "the run is longer than the 213 days that picoseconds can count";

/// The contention-free world of one machine.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    model: LogGp,
    with_timeline: bool,
}

impl Clock {
    /// A world in which messages cost what `model` says.
    pub const fn new(model: LogGp) -> Clock {
        Clock { model, with_timeline: false }
    }

    /// The same world, which also records what every rank does when.
    pub const fn with_timeline(self) -> Clock {
        Clock { with_timeline: true, ..self }
    }

    /// Runs `program` on `ranks` ranks: what each rank ended with, in order of rank, and what the run tells.
    ///
    /// # Errors
    /// A deadlock, with who waits for whom; a run that comes to the end of time.
    pub fn run_with_answer<P: Program>(&self, ranks: u32, program: &P) -> Result<(Vec<Result<P::Output>>, Answer)> {
        let state = RefCell::new(State::new(Costs::new(&self.model), ranks, self.with_timeline));
        let results = Ranks::new(ranks).run(&state, |rank| {
            let here = Here::new(rank, &state);
            async move { program.run(&here).await }
        })?;
        let state = state.into_inner();
        if state.ran_out_of_time() {
            return Err(Error::Unfit(TOO_LONG.to_owned()));
        }
        Ok((results, state.into_answer()))
    }
}

impl World for Clock {
    fn run<P: Program>(&self, ranks: u32, program: &P) -> Result<Vec<Result<P::Output>>> {
        Ok(self.run_with_answer(ranks, program)?.0)
    }
}

/// The ranks of a run as futures.
///
/// A rank's future is only made when its turn comes, and the place of one that has ended is used again. So there are never
/// more of them than ranks that wait: in a broadcast none, whatever the number of ranks.
struct Ranks<F, T> {
    /// The futures of the ranks that wait.
    waiting: Vec<Option<Pin<Box<F>>>>,
    /// Places whose future has ended.
    idle: Vec<Pin<Box<F>>>,
    /// What the ranks that are done ended with.
    results: Vec<Option<Result<T>>>,
}

impl<F: Future<Output = Result<T>>, T> Ranks<F, T> {
    fn new(size: u32) -> Ranks<F, T> {
        let (mut waiting, mut results) = (Vec::new(), Vec::new());
        waiting.resize_with(size as usize, || None);
        results.resize_with(size as usize, || None);
        Ranks { waiting, idle: Vec::new(), results }
    }

    /// Runs all of them to their end.
    fn run(mut self, state: &RefCell<State>, start: impl Fn(Rank) -> F) -> Result<Vec<Result<T>>> {
        let mut starting = 0..self.results.len() as u32;
        loop {
            // Ranks that were woken go first: what they wait for is then in few mailboxes.
            let woken = state.borrow_mut().next_ready();
            if let Some(rank) = woken {
                if let Some(future) = self.waiting[rank.0 as usize].take() {
                    self.poll(rank, future);
                }
            } else if let Some(rank) = starting.next().map(Rank) {
                let future = self.place(start(rank));
                self.poll(rank, future);
            } else {
                break;
            }
        }
        if self.results.iter().any(Option::is_none) {
            return Err(self.deadlock(&state.borrow()));
        }
        Ok(self.results.into_iter().flatten().collect())
    }

    /// A place for `future`, which can't be moved once it runs.
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

    fn deadlock(&self, state: &State) -> Error {
        let ranks = || (0..self.results.len() as u32).map(Rank);
        let waiting: Vec<_> = ranks().filter_map(|rank| Some((rank, state.waits_for(rank)?))).collect();
        let result = |rank: Rank| self.results[rank.0 as usize].as_ref();
        let failed = ranks().find_map(|rank| Some((rank, result(rank)?.as_ref().err()?)));
        deadlock(&waiting, failed)
    }
}
