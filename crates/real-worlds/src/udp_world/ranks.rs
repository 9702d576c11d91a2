//! The ranks of a run as futures: each is polled when something has come for it, or its time has.

use std::cell::{Cell, RefCell};
use std::future::Future;
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4, UdpSocket};
use std::pin::Pin;
use std::task::{Context, Waker};

use endpoint::{Error, Needs, Result, deadlock};
use messaging::{Doing, Messenger, Parameters, stuck};
use quantities::{Rank, Time};

use super::polled::Polled;
use crate::Clock;
use crate::udp::{Group, UdpNetwork, UdpPort, UdpSettings, wait_for_any};

/// After so many waits it is looked whether all ranks wait for what nobody has sent.
const WAITS_BETWEEN_LOOKS: u64 = 256;

/// What a run is.
pub(super) struct Setting {
    pub(super) parameters: Parameters,
    pub(super) sockets: Vec<UdpSocket>,
    pub(super) group: Option<SocketAddrV4>,
    pub(super) interface: Ipv4Addr,
}

type UdpEndpoint<'run> = Messenger<Polled<'run>>;
/// How a rank's program ended.
type Results<T> = RefCell<Vec<Option<Result<T>>>>;
/// A rank's program, and its answers to others after that. It does not end.
type Running<'run> = Pin<Box<dyn Future<Output = ()> + 'run>>;

impl Setting {
    /// Runs `start` on every rank until all have ended.
    pub(super) fn run<T>(
        self,
        needs: Needs,
        start: impl AsyncFn(&UdpEndpoint<'_>) -> Result<T>,
    ) -> Result<Vec<Result<T>>> {
        let parameters = self.parameters;
        let networks = self.networks()?;
        let ranks = networks.len() as u32;
        let until: Vec<Cell<Option<Time>>> = networks.iter().map(|_| Cell::new(None)).collect();
        let endpoint = |(rank, (network, until))| {
            let mut messenger = Messenger::new(Polled { network, until }, Rank(rank), ranks, parameters)?;
            messenger.hold_to(needs);
            Ok(messenger)
        };
        let endpoints =
            (0..).zip(networks.iter().zip(&until)).map(endpoint).collect::<Result<Vec<UdpEndpoint<'_>>>>()?;
        let results: Results<T> = RefCell::new((0..ranks).map(|_| None).collect());
        let (start, results_of) = (&start, &results);
        let running = |(rank, endpoint): (usize, _)| -> Running<'_> {
            Box::pin(async move {
                let endpoint: &UdpEndpoint<'_> = endpoint;
                let result = start(endpoint).await;
                results_of.borrow_mut()[rank] = Some(result);
                // A network that fails is the affair of those who still send.
                let _ = endpoint.serve().await;
            })
        };
        let mut running: Vec<Running<'_>> = endpoints.iter().enumerate().map(running).collect();
        let ports: Vec<&UdpPort> = networks.iter().map(UdpNetwork::port).collect();
        drive(&mut running, &ports, &until, &endpoints, &results)?;
        drop(running);
        Ok(results.into_inner().into_iter().flatten().collect())
    }

    fn networks(self) -> Result<Vec<UdpNetwork>> {
        let network = |error: std::io::Error| Error::Network(error.to_string());
        let addresses = self.sockets.iter().map(UdpSocket::local_addr);
        let addresses = addresses.collect::<std::io::Result<Vec<SocketAddr>>>().map_err(network)?;
        let clock = Clock::starting_now();
        let interface = self.interface;
        let group = self.group.map(|address| Group { address, interface, hops: 1, others_here: true });
        let longest = self.parameters.datagram;
        let network = |(me, socket)| {
            let ranks = addresses.iter().copied().map(Some).collect();
            UdpNetwork::new(UdpSettings { me: Rank(me), ranks, socket, group, rate: None, longest, clock })
        };
        (0..).zip(self.sockets).map(network).collect()
    }
}

/// Lets datagrams come and time pass until all programs have ended.
fn drive<T>(
    running: &mut [Running<'_>],
    ports: &[&UdpPort],
    until: &[Cell<Option<Time>>],
    endpoints: &[UdpEndpoint<'_>],
    results: &Results<T>,
) -> Result<()> {
    let Some(clock) = ports.first() else { return Ok(()) };
    let mut silent = false;
    let mut next: Vec<usize> = (0..running.len()).collect();
    for wait in 1_u64.. {
        for &rank in &next {
            if let Some(future) = running.get_mut(rank) {
                let _ = future.as_mut().poll(&mut Context::from_waker(Waker::noop()));
            }
        }
        if results.borrow().iter().all(Option::is_some) {
            break;
        }
        let first = until.iter().filter_map(Cell::get).min();
        // Where nobody waits for a time, nothing may ever come.
        if first.is_none() || silent || wait.is_multiple_of(WAITS_BETWEEN_LOOKS) {
            look(endpoints, results)?;
        }
        let mut came = wait_for_any(ports, first).map_err(|error| Error::Network(error.to_string()))?;
        silent = came.is_empty();
        let now = clock.now();
        let due = until.iter().enumerate().filter(|(_, until)| until.get().is_some_and(|until| until <= now));
        came.extend(due.map(|(rank, _)| rank));
        next = came;
    }
    Ok(())
}

/// An error when no rank can ever go on.
fn look<T>(endpoints: &[UdpEndpoint<'_>], results: &Results<T>) -> Result<()> {
    let results = results.borrow();
    let doing = |(endpoint, result): (&UdpEndpoint<'_>, &Option<_>)| match (result, endpoint.waits_for()) {
        (Some(_), _) => Doing::Ended,
        (None, Some(what)) => Doing::Waits(what),
        (None, None) => Doing::GoesOn,
    };
    let doing: Vec<Doing> = endpoints.iter().zip(results.iter()).map(doing).collect();
    let Some(waiting) = stuck(&doing, |rank| endpoints[rank.0 as usize].engine()) else { return Ok(()) };
    let failed = (0..).zip(results.iter()).find_map(|(rank, result)| match result {
        Some(Err(error)) => Some((Rank(rank), error)),
        _ => None,
    });
    Err(deadlock(&waiting, failed))
}
