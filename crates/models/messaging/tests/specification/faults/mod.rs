//! A world whose network loses, repeats, delays and damages datagrams, and whose ranks pause or die: all of it
//! determined by a seed.

#![allow(dead_code)] // every test uses what it needs

pub mod draws;
pub mod network;

use std::cell::RefCell;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Waker};

use draws::Draws;
use endpoint::executor::{self, Machine, OperationEvent};
use endpoint::{Error, Operation, Program, Request, Result, Run, StartStatus, World, deadlock};
use maquette_messaging::{Messenger, Messengers, Parameters, ProgramState, stuck};
use network::{Faults, Network, Wire};
use quantities::{Rank, Time};

/// A run that gets this far never ends: three hours.
const END: Time = Time::from_picoseconds(10_000_000_000_000_000);

/// One rank's endpoint.
pub type Node = Rc<Messenger<Wire>>;
type Polled<'a> = Pin<Box<dyn Future<Output = ()> + 'a>>;

/// The world: the same seed gives the same run.
#[derive(Clone, Copy, Debug)]
pub struct Faulty {
    pub parameters: Parameters,
    pub faults: Faults,
    pub seed: u64,
}

/// How a run ended.
pub struct Ended<T> {
    pub results: Vec<Result<T>>,
    pub ranks: Vec<Node>,
    pub network: Rc<RefCell<Network>>,
}

impl Faulty {
    pub fn perfect(parameters: Parameters) -> Faulty {
        Faulty { parameters, faults: Faults::default(), seed: 0 }
    }

    fn network(&self, ranks: u32) -> Rc<RefCell<Network>> {
        Rc::new(RefCell::new(Network::new(ranks, self.faults, Draws(self.seed))))
    }

    fn messenger(&self, rank: Rank, ranks: u32, network: &Rc<RefCell<Network>>) -> Result<Messenger<Wire>> {
        Messenger::new(Wire { rank, network: network.clone() }, rank, ranks, self.parameters)
    }

    /// Runs `program`, which does one thing at a time, on every rank. A rank keeps answering others when its program
    /// has ended.
    pub fn run_ranks<'a, T: 'a, F>(&self, ranks: u32, program: impl Fn(Node) -> F) -> Result<Ended<T>>
    where
        F: Future<Output = Result<T>> + 'a,
    {
        let network = self.network(ranks);
        let messenger = |rank| Ok(Rc::new(self.messenger(rank, ranks, &network)?));
        let endpoints: Vec<Node> = (0..ranks).map(Rank).map(messenger).collect::<Result<_>>()?;
        let results: Rc<RefCell<Vec<Option<Result<T>>>>> =
            Rc::new(RefCell::new(std::iter::repeat_with(|| None).take(ranks as usize).collect()));
        let start = |(rank, endpoint): (usize, &Node)| {
            let (program, endpoint, results) = (program(endpoint.clone()), endpoint.clone(), results.clone());
            let (network, leaves) = (network.clone(), self.faults.leave);
            let running: Polled<'a> = Box::pin(async move {
                let result = program.await;
                results.borrow_mut()[rank] = Some(result);
                network.borrow_mut().ranks[rank].left = leaves;
                if leaves {
                    std::future::pending().await
                }
                endpoint.serve().await.unwrap();
            });
            running
        };
        let mut running: Vec<Polled<'a>> = endpoints.iter().enumerate().map(start).collect();
        run_all(&mut running, &endpoints, &network, &results)?;
        drop(running);
        let results = results.take().into_iter().map(|result| result.unwrap_or(Err(Error::Stopped))).collect();
        Ok(Ended { results, ranks: endpoints, network })
    }
}

fn run_all<T>(
    running: &mut [Polled<'_>],
    endpoints: &[Node],
    network: &RefCell<Network>,
    results: &RefCell<Vec<Option<Result<T>>>>,
) -> Result<()> {
    loop {
        for (rank, future) in running.iter_mut().enumerate() {
            if network.borrow().may_run(rank) {
                assert!(
                    future.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending(),
                    "it serves for ever"
                );
            }
        }
        let left: Vec<usize> = (0..endpoints.len())
            .filter(|&rank| results.borrow()[rank].is_none() && !network.borrow().is_dead(rank))
            .collect();
        if left.is_empty() {
            return Ok(());
        }
        // The others notice a dead rank when their patience ends.
        if (0..endpoints.len()).all(|rank| !network.borrow().is_dead(rank)) {
            check(endpoints, results)?;
        }
        if !network.borrow_mut().advance() || network.borrow().now > END {
            let waits: Vec<_> = left.iter().map(|&rank| endpoints[rank].program_state()).collect();
            return Err(Error::Unfit(format!("it never ends: ranks {left:?} wait for {waits:?}")));
        }
    }
}

/// An error if no rank can ever continue.
fn check<T>(endpoints: &[Node], results: &RefCell<Vec<Option<Result<T>>>>) -> Result<()> {
    let results = results.borrow();
    let state = |(endpoint, result): (&Node, &Option<Result<T>>)| {
        if result.is_some() { ProgramState::Ended } else { endpoint.program_state() }
    };
    let waits = |state: ProgramState| (state != ProgramState::CanContinue).then_some(state);
    let state: Option<Vec<ProgramState>> = endpoints.iter().zip(results.iter()).map(state).map(waits).collect();
    let Some(state) = state else { return Ok(()) };
    let Some(waiting) = stuck(&state, |rank| endpoints[rank.0 as usize].engine()) else { return Ok(()) };
    let failed = results.iter().zip(0..).find_map(|(result, rank)| match result {
        Some(Err(error)) => Some((Rank(rank), error)),
        _ => None,
    });
    Err(deadlock(&waiting, failed))
}

impl World for Faulty {
    type Answer = ();

    fn run<P: Program>(&self, ranks: u32, program: &P) -> Run<P::Output, ()> {
        let network = self.network(ranks);
        let messenger = |rank| self.messenger(Rank(rank), ranks, &network);
        let messengers = (0..ranks).map(messenger).collect::<Result<Vec<_>>>()?;
        let mut running = Running { network, messengers: Messengers::new(&messengers) };
        let ended = executor::run(&mut running, ranks, program, false)?;
        Ok((ended.all_checked(program)?, ()))
    }
}

/// Ranks that an executor runs. None of them dies or leaves.
struct Running<'run> {
    network: Rc<RefCell<Network>>,
    messengers: Messengers<'run, Wire>,
}

impl Machine for Running<'_> {
    fn now(&self) -> Time {
        self.network.borrow().now
    }

    fn check(&self, _: &Operation) -> Result<()> {
        Ok(())
    }

    fn begin(&mut self, rank: Rank, number: u32, operation: Operation) {
        self.messengers.begin(rank, number, operation);
    }

    fn start(&mut self, rank: Rank, request: Request) -> Result<StartStatus> {
        self.messengers.start(rank, request)
    }

    fn reports_starts(&self) -> bool {
        true
    }

    fn next_event(&mut self) -> Result<Option<OperationEvent>> {
        loop {
            if let Some(over) = self.messengers.next_event() {
                return Ok(Some(over));
            }
            if self.messengers.have_ended() || self.messengers.are_stuck() {
                return Ok(None);
            }
            let mut network = self.network.borrow_mut();
            if !network.advance() || network.now > END {
                let state: Vec<ProgramState> = self.messengers.all().iter().map(Messenger::program_state).collect();
                return Err(Error::Unfit(format!("it never ends: the ranks do {state:?}")));
            }
            let runs = (0..network.ranks.len()).filter(|&rank| network.may_run(rank));
            runs.for_each(|rank| self.messengers.wake(rank));
        }
    }

    fn ended(&mut self, rank: Rank) {
        self.messengers.end(rank);
    }
}
