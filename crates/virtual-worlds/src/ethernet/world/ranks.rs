//! The ranks of a GOAL schedule as futures: each is polled when something has happened at its node.

use std::cell::{Cell, RefCell};
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Waker};

use endpoint::{Result, deadlock};
use messaging::{Datagram, Doing, stuck};
use quantities::{Bytes, Rank, Time};

use super::ethernet_endpoint::EthernetEndpoint;
use super::record::Record;
use super::setting::{EVENTS_BETWEEN_LOOKS, Setting};
use crate::answer::Run;
use crate::ethernet::{Network, Notice};
use crate::horizon::beyond;
use crate::stop::Reached;

/// How a rank's program ended, and when.
type Results<T> = RefCell<Vec<Option<(Result<T>, Time)>>>;

/// A rank's program, and its answers to others after that. It does not end.
type Running<'run> = Pin<Box<dyn Future<Output = ()> + 'run>>;

impl Setting<'_> {
    /// Runs `start` on every rank until all have ended.
    pub(super) fn run<T>(&self, start: impl AsyncFn(&EthernetEndpoint<'_>) -> Result<T>) -> Run<T> {
        let network = self.network();
        let record = RefCell::new(Record::new(self.ranks, self.with_timeline));
        let endpoint = |rank| {
            let messenger = self.messenger(&network, Rank(rank))?;
            Ok(EthernetEndpoint { messenger, calls: self.calls(), record: &record })
        };
        let endpoints = (0..self.ranks).map(endpoint).collect::<Result<Vec<EthernetEndpoint<'_>>>>()?;
        let results: Results<T> = RefCell::new((0..self.ranks).map(|_| None).collect());
        let left = Cell::new(self.ranks);
        let (start, results_of, left_of) = (&start, &results, &left);
        let running = |(rank, endpoint)| -> Running<'_> {
            Box::pin(async move {
                let endpoint: &EthernetEndpoint<'_> = endpoint;
                let result = start(endpoint).await;
                results_of.borrow_mut()[rank] = Some((result, endpoint.now()));
                left_of.set(left_of.get() - 1);
                // A network that fails is the affair of those who still send.
                let _ = endpoint.messenger.serve().await;
            })
        };
        let mut running: Vec<Running<'_>> = endpoints.iter().enumerate().map(running).collect();
        self.drive(&mut running, (&network, &record), &endpoints, (&results, &left))?;
        drop(running);
        let no_broadcasts = vec![Bytes::default(); self.ranks as usize];
        let messaging = self.messaging(endpoints.iter().map(|endpoint| &endpoint.messenger), no_broadcasts);
        drop(endpoints);
        let (results, finish): (Vec<Result<T>>, Vec<Time>) = results.into_inner().into_iter().flatten().unzip();
        Ok((results, self.answer(network.into_inner(), record.into_inner(), finish, messaging)?))
    }

    /// Lets events happen until no program is `left`.
    fn drive<T>(
        &self,
        running: &mut [Running<'_>],
        (network, record): (&RefCell<Network<Datagram>>, &RefCell<Record>),
        endpoints: &[EthernetEndpoint<'_>],
        (results, left): (&Results<T>, &Cell<u32>),
    ) -> Result<()> {
        let mut poll = |rank: usize| {
            if let Some(future) = running.get_mut(rank) {
                let _ = future.as_mut().poll(&mut Context::from_waker(Waker::noop()));
            }
        };
        (0..endpoints.len()).for_each(&mut poll);
        for event in 1_u64.. {
            self.stop.go_on(|| reached(&network.borrow(), endpoints))?;
            if left.get() == 0 {
                break;
            }
            if event.is_multiple_of(EVENTS_BETWEEN_LOOKS) {
                look(endpoints, results)?;
            }
            if let Some(rank) = record.borrow().beyond {
                return Err(beyond(format_args!("what rank {rank} computes"), Time::HORIZON));
            }
            let notice = network.borrow_mut().next_notice()?;
            let Some(Notice::Room(rank) | Notice::Frame(rank) | Notice::Time(rank)) = notice else {
                look(endpoints, results)?;
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
fn look<T>(endpoints: &[EthernetEndpoint<'_>], results: &Results<T>) -> Result<()> {
    let results = results.borrow();
    let doing = |(endpoint, result): (&EthernetEndpoint<'_>, &Option<_>)| {
        if result.is_some() { Doing::Ended } else { endpoint.messenger.doing() }
    };
    let doing: Vec<Doing> = endpoints.iter().zip(results.iter()).map(doing).collect();
    let Some(waiting) = stuck(&doing, |rank| endpoints[rank.0 as usize].messenger.engine()) else { return Ok(()) };
    let failed = (0..).zip(results.iter()).find_map(|(rank, result)| match result {
        Some((Err(error), _)) => Some((Rank(rank), error)),
        _ => None,
    });
    Err(deadlock(&waiting, failed))
}
