//! The ranks of a run: each continues when something has arrived for it, or its time has come.

use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4, UdpSocket};

use endpoint::executor::{self, Machine, OperationEvent};
use endpoint::{Error, Operation, Program, Request, Result, StartStatus};
use messaging::{Messenger, Messengers, Parameters};
use quantities::{Rank, Time};

use super::polled::PolledNetwork;
use crate::udp::{Group, UdpNetwork, UdpPort, UdpSettings, wait_for_any};
use crate::{Clock, QUESTION_INTERVAL};

/// After this many waits, checks whether all ranks wait for messages that nobody has sent.
const WAITS_BETWEEN_CHECKS: u64 = 256;

/// Tells whether a run is to continue.
type ShouldContinue<'run> = &'run dyn Fn() -> bool;

/// The setting of a run.
pub(super) struct Setting {
    pub(super) parameters: Parameters,
    pub(super) sockets: Vec<UdpSocket>,
    pub(super) group: Option<SocketAddrV4>,
    pub(super) interface: Ipv4Addr,
}

impl Setting {
    /// Runs `program` on every rank until all have ended.
    pub(super) fn run<P: Program>(
        self,
        program: &P,
        should_continue: Option<ShouldContinue<'_>>,
    ) -> Result<Vec<Result<P::Output>>> {
        let parameters = self.parameters;
        let clock = Clock::starting_now();
        let networks = self.networks(clock)?;
        let ranks = networks.len() as u32;
        let messenger = |(rank, network)| Messenger::new(PolledNetwork::new(network), Rank(rank), ranks, parameters);
        let messengers = (0..).zip(networks).map(messenger).collect::<Result<Vec<Messenger<PolledNetwork>>>>()?;
        let mut running = Running {
            clock,
            ports: messengers.iter().map(|messenger| messenger.network().network.port()).collect(),
            messengers: Messengers::new(&messengers),
            silent: false,
            waits: 0,
            should_continue,
        };
        let ended = executor::run(&mut running, ranks, program, false)?;
        ended.all_checked(program)
    }

    fn networks(self, clock: Clock) -> Result<Vec<UdpNetwork>> {
        let addresses = self.sockets.iter().map(UdpSocket::local_addr);
        let addresses = addresses.collect::<std::io::Result<Vec<SocketAddr>>>().map_err(failed)?;
        let interface = self.interface;
        let group = self.group.map(|address| Group { address, interface, hops: 1, has_local_peers: true });
        let longest = self.parameters.datagram;
        let network = |(me, socket)| {
            let ranks = addresses.iter().copied().map(Some).collect();
            UdpNetwork::new(UdpSettings { me: Rank(me), ranks, socket, group, rate: None, longest, clock })
        };
        (0..).zip(self.sockets).map(network).collect()
    }
}

fn failed(error: std::io::Error) -> Error {
    Error::Network(error.to_string())
}

/// Ranks whose datagrams arrive through sockets.
struct Running<'run> {
    clock: Clock,
    ports: Vec<&'run UdpPort>,
    messengers: Messengers<'run, PolledNetwork>,
    /// Whether the last wait ended without anything arriving.
    silent: bool,
    waits: u64,
    should_continue: Option<ShouldContinue<'run>>,
}

impl Machine for Running<'_> {
    fn now(&self) -> Time {
        self.clock.now()
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
            if self.messengers.have_ended() {
                return Ok(None);
            }
            let until = || self.messengers.all().iter().map(|messenger| messenger.network().until());
            let first = until().flatten().min();
            self.waits += 1;
            // If no rank waits for a time, nothing may ever arrive.
            let looks = first.is_none() || self.silent || self.waits.is_multiple_of(WAITS_BETWEEN_CHECKS);
            if looks && self.messengers.are_stuck() {
                return Ok(None);
            }
            let until_asked = match self.should_continue {
                Some(should_continue) if !should_continue() => return Err(Error::Stopped),
                Some(_) => Some(self.now() + QUESTION_INTERVAL),
                None => None,
            };
            let came = wait_for_any(&self.ports, first.into_iter().chain(until_asked).min()).map_err(failed)?;
            self.silent = came.is_empty();
            let now = self.now();
            let due = until().enumerate().filter(|(_, until)| until.is_some_and(|until| until <= now));
            let due: Vec<usize> = due.map(|(rank, _)| rank).collect();
            came.into_iter().chain(due).for_each(|rank| self.messengers.wake(rank));
        }
    }

    fn ended(&mut self, rank: Rank) {
        self.messengers.end(rank);
    }
}
