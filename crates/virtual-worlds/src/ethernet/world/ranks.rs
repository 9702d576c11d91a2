//! The ranks of a run as futures: each is polled when something has happened at its node.

use std::cell::{Cell, RefCell};
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Waker};

use endpoint::{Needs, Result, deadlock_of};
use machines::model::Ethernet;
use messaging::{Datagram, Doing, Messenger, Parameters, stuck};
use quantities::{Bytes, Rank, Time};

use super::ethernet_endpoint::{Calls, EthernetEndpoint, Record};
use super::port::Port;
use crate::answer::{Answer, MessagingStatistics, Run};
use crate::ethernet::{Network, Notice};
use crate::horizon::{beyond, counted};
use crate::stop::{Reached, Stop};

/// After so many events it is looked whether all ranks wait for what nobody has sent.
const EVENTS_BETWEEN_LOOKS: u64 = 4_096;

/// What a run is.
pub(super) struct Setting<'a> {
    pub(super) ethernet: &'a Ethernet,
    pub(super) parameters: Parameters,
    pub(super) ranks: u32,
    pub(super) seed: u64,
    pub(super) with_timeline: bool,
    pub(super) with_frames: bool,
    pub(super) stop: Stop,
}

/// How a rank's program ended, and when.
type Results<T> = RefCell<Vec<Option<(Result<T>, Time)>>>;

/// A rank's program, and its answers to others after that. It does not end.
type Running<'run> = Pin<Box<dyn Future<Output = ()> + 'run>>;

impl Setting<'_> {
    /// Runs `start` on every rank until all have ended.
    /// A rank is called what `name` calls it in the report of a deadlock.
    pub(super) fn run<T>(
        &self,
        needs: Needs,
        name: impl Fn(Rank) -> String,
        start: impl AsyncFn(&EthernetEndpoint<'_>) -> Result<T>,
    ) -> Run<T> {
        let network = Network::new(self.ethernet, self.ranks, self.seed);
        let network = RefCell::new(if self.with_frames { network.with_log() } else { network });
        let record = RefCell::new(Record::new(self.ranks, self.with_timeline));
        let endpoint = |rank| {
            let port = Port::new(&network, self.ethernet, Rank(rank), self.ranks);
            let mut messenger = Messenger::new(port, Rank(rank), self.ranks, self.parameters)?;
            messenger.hold_to(needs);
            Ok(EthernetEndpoint::new(messenger, Calls::of(self.ethernet), &record))
        };
        let endpoints = (0..self.ranks).map(endpoint).collect::<Result<Vec<EthernetEndpoint<'_>>>>()?;
        let results: Results<T> = RefCell::new((0..self.ranks).map(|_| None).collect());
        let left = Cell::new(self.ranks);
        let (start, results_of, left_of) = (&start, &results, &left);
        let running = |(rank, endpoint)| -> Running<'_> {
            Box::pin(async move {
                let endpoint: &EthernetEndpoint<'_> = endpoint;
                let result = start(endpoint).await;
                results_of.borrow_mut()[rank] = Some((result, endpoint::Endpoint::now(endpoint)));
                left_of.set(left_of.get() - 1);
                // A network that fails is the affair of those who still send.
                let _ = endpoint.messenger.serve().await;
            })
        };
        let mut running: Vec<Running<'_>> = endpoints.iter().enumerate().map(running).collect();
        self.drive(&mut running, (&network, &record), &endpoints, (&results, &left, &name))?;
        drop(running);
        let messaging = Some(self.messaging(&endpoints));
        drop(endpoints);
        let mut network = network.into_inner();
        let (ethernet, frame_log) = (network.statistics(), network.take_log());
        let (results, finish): (Vec<Result<T>>, Vec<Time>) = results.into_inner().into_iter().flatten().unzip();
        let record = record.into_inner();
        let unreceived = record.unreceived();
        let Record { messages, ranks, timeline, .. } = record;
        let packets = ethernet.sent;
        let ethernet = Some(ethernet);
        let answer = Answer { finish, messages, packets, ranks, timeline, ethernet, frame_log, ..Answer::default() };
        Ok((results, counted(Answer { messaging, unreceived, ..answer })?))
    }

    /// What messages needed.
    fn messaging(&self, endpoints: &[EthernetEndpoint<'_>]) -> MessagingStatistics {
        let repeated = endpoints.iter().flat_map(|it| {
            let (from, engine) = (endpoint::Endpoint::rank(it), it.messenger.engine());
            let to = |to| Some((from, to, engine.repeated_to(to))).filter(|(_, _, count)| *count > 0);
            (0..self.ranks).map(Rank).filter_map(to).collect::<Vec<_>>()
        });
        MessagingStatistics {
            parameters: self.parameters,
            broadcast_memory: endpoints.iter().map(|it| Bytes(it.broadcast_memory.get())).collect(),
            repeated: repeated.collect(),
        }
    }

    /// Lets events happen until no program is `left`.
    fn drive<T>(
        &self,
        running: &mut [Running<'_>],
        (network, record): (&RefCell<Network<Datagram>>, &RefCell<Record>),
        endpoints: &[EthernetEndpoint<'_>],
        (results, left, name): (&Results<T>, &Cell<u32>, &impl Fn(Rank) -> String),
    ) -> Result<()> {
        let mut poll = |rank: usize| {
            if let (Some(future), Some(endpoint)) = (running.get_mut(rank), endpoints.get(rank)) {
                let _ = future.as_mut().poll(&mut Context::from_waker(Waker::noop()));
                endpoint.measure_memory();
            }
        };
        (0..endpoints.len()).for_each(&mut poll);
        for event in 1_u64.. {
            self.stop.go_on(|| reached(&network.borrow(), endpoints))?;
            if left.get() == 0 {
                break;
            }
            if event.is_multiple_of(EVENTS_BETWEEN_LOOKS) {
                look(endpoints, results, name)?;
            }
            if let Some(rank) = record.borrow().beyond {
                return Err(beyond(format_args!("what rank {rank} computes"), Time::HORIZON));
            }
            let notice = network.borrow_mut().next_notice()?;
            let Some(Notice::Room(rank) | Notice::Frame(rank) | Notice::Time(rank)) = notice else {
                look(endpoints, results, name)?;
                // Someone waits for a deadline that is too late to be counted.
                return Err(beyond("what a rank waits for", Time::HORIZON));
            };
            poll(rank.0 as usize);
        }
        Ok(())
    }
}

/// How far the run has come.
fn reached(network: &Network<Datagram>, endpoints: &[EthernetEndpoint<'_>]) -> Reached {
    let messages = endpoints.first().map_or(0, |endpoint| endpoint.record.borrow().messages);
    Reached { time: network.now(), messages, packets: network.arrived() }
}

/// An error when no rank can ever go on.
fn look<T>(endpoints: &[EthernetEndpoint<'_>], results: &Results<T>, name: impl Fn(Rank) -> String) -> Result<()> {
    let results = results.borrow();
    let doing = |(endpoint, result): (&EthernetEndpoint<'_>, &Option<_>)| match (result, endpoint.messenger.waits_for())
    {
        (Some(_), _) => Doing::Ended,
        (None, Some(what)) => Doing::Waits(what),
        (None, None) => Doing::GoesOn,
    };
    let doing: Vec<Doing> = endpoints.iter().zip(results.iter()).map(doing).collect();
    let Some(waiting) = stuck(&doing, |rank| endpoints[rank.0 as usize].messenger.engine()) else { return Ok(()) };
    let failed = (0..).zip(results.iter()).find_map(|(rank, result)| match result {
        Some((Err(error), _)) => Some((Rank(rank), error)),
        _ => None,
    });
    Err(deadlock_of(name, &waiting, failed))
}
