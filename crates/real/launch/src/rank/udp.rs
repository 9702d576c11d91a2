//! Ranks that communicate over UDP.

use std::net::{IpAddr, Ipv4Addr, UdpSocket};

use endpoint::executor::{Machine, OperationEvent};
use endpoint::{Endpoint, Error, Needs, Operation, Request, Result, StartStatus, Tag, Tagged};
use messaging::{Messenger, Messengers, Parameters, Push, Reporting};
use quantities::{Duration, Rank, Rate, Time};
use real_worlds::udp::{Group, UdpCounts, UdpNetwork, UdpSettings};
use real_worlds::{Clock, block_on, real_parameters};

use super::{RankLink, SETTLE_TIME, synchronize};
use crate::sealing::Network;
use crate::secret::Secret;
use crate::wire::{Record, Roster, Tuning};

/// How much of what a rank sends may be in its host's queue, as the kernel counts: some sixty packets. Nothing in that
/// queue can be called late, and at 100 Mbit/s it stays there for less than half of the least retransmission time. [B]
const MOST_BACKLOG: usize = 128 << 10;
/// How many packets a window has at least, however long they are: enough for some reports in each.
const LEAST_WINDOW: u32 = 8;
/// How long a rank waits for a message by default.
const DEFAULT_PATIENCE: Duration = Duration::from_microseconds(60_000_000);
/// The tag for messages between two runs of a program, which no program uses: some ranks are done before others, which
/// may still receive from any source.
const MEETING: Tag = Tag(u32::MAX);

/// A rank's messenger.
#[derive(Debug)]
pub(super) struct UdpRank {
    messenger: Messenger<Network>,
    same_clock: bool,
    /// The counters of the network when the last run began.
    before: UdpCounts,
    /// Datagrams that runs of the program have sent, and the bytes of messages in them.
    datagrams: u64,
    copied: u64,
}

impl UdpRank {
    pub(super) fn new(me: Rank, roster: &Roster, socket: UdpSocket, secret: &Secret) -> Result<UdpRank> {
        let address = socket.local_addr().map_err(|error| Error::Network(error.to_string()))?.ip();
        let has_local_peers = roster.ranks.iter().filter(|rank| rank.ip() == address).count() > 1;
        let interface = match address {
            IpAddr::V4(address) => address,
            IpAddr::V6(_) => Ipv4Addr::UNSPECIFIED,
        };
        let group = roster.group.map(|address| Group { address, interface, hops: 1, has_local_peers });
        let usual = parameters(roster);
        let secret = Some(secret).filter(|_| !roster.tuning.trusted_network);
        let parameters = Parameters { datagram: Network::inner(usual.datagram, secret.is_some()), ..usual };
        let clock = roster.zero.map_or_else(Clock::starting_now, Clock::starting_at);
        let network = UdpNetwork::new(UdpSettings {
            me,
            ranks: roster.ranks.iter().copied().map(Some).collect(),
            socket,
            group,
            rate: roster.tuning.rate.map(Rate::from_bits_per_second),
            longest: usual.datagram,
            clock,
        })?;
        let held_back = network.port().limit_backlog(MOST_BACKLOG);
        held_back.map_err(|error| Error::Network(error.to_string()))?;
        let size = u32::try_from(roster.ranks.len()).unwrap_or(u32::MAX);
        let network = Network::new(network, (me, size), roster.session, secret);
        let patience = roster.tuning.patience.map_or(DEFAULT_PATIENCE, Duration::from_picoseconds);
        let messenger = Messenger::new(network, me, size, parameters)?.with_patience(patience);
        Ok(UdpRank {
            messenger,
            same_clock: roster.zero.is_some(),
            before: UdpCounts::default(),
            datagrams: 0,
            copied: 0,
        })
    }

    /// The counters of the network.
    fn counts(&self) -> UdpCounts {
        self.messenger.network().counts()
    }
}

impl RankLink for UdpRank {
    fn rank(&self) -> Rank {
        self.messenger.rank()
    }

    fn size(&self) -> u32 {
        self.messenger.size()
    }

    fn same_clock(&self) -> bool {
        self.same_clock
    }

    fn synchronize(&mut self, first: Option<Rank>) -> Result<()> {
        let meeting = Tagged::new(&self.messenger, MEETING);
        block_on(synchronize(&meeting, self.same_clock, first))?
    }

    fn run(&mut self, _: Needs, program: &mut dyn FnMut(&mut dyn Machine) -> Result<()>) -> Result<()> {
        self.before = self.counts();
        let alone = Messengers::new(std::slice::from_ref(&self.messenger));
        program(&mut UdpMachine { messenger: &self.messenger, alone })
    }

    fn settle(&mut self) -> Result<()> {
        block_on(async {
            self.messenger.compute(SETTLE_TIME).await;
            self.messenger.flush().await
        })??;
        self.messenger.forget_operations();
        let (before, after) = (&self.before, self.counts());
        self.datagrams += after.datagrams - before.datagrams;
        self.copied += after.payloads - before.payloads;
        Ok(())
    }

    fn end(&mut self, record: &mut Record) -> Result<()> {
        block_on(self.messenger.end())??;
        (record.datagrams, record.copied) = (self.datagrams, self.copied);
        record.repeated = self.messenger.engine().repeated();
        record.needless = self.messenger.engine().needless();
        let UdpCounts { received, strangers, unreadable, .. } = self.counts();
        (record.received, record.strangers) = (received, strangers);
        record.forged = self.messenger.network().forged() + unreadable;
        Ok(())
    }
}

/// The rank, as the executor sees it. Its network blocks while nothing arrives, so that there is nothing else to wait
/// for.
struct UdpMachine<'run> {
    messenger: &'run Messenger<Network>,
    alone: Messengers<'run, Network>,
}

/// Its number among the ranks of this process, of which it is the only one.
const ONLY: Rank = Rank(0);

impl Machine for UdpMachine<'_> {
    fn now(&self) -> Time {
        self.messenger.now()
    }

    fn check(&self, _: &Operation) -> Result<()> {
        Ok(())
    }

    fn begin(&mut self, _: Rank, number: u32, operation: Operation) {
        self.alone.begin(ONLY, number, operation);
    }

    fn start(&mut self, _: Rank, request: Request) -> Result<StartStatus> {
        self.alone.start(ONLY, request)
    }

    fn reports_starts(&self) -> bool {
        true
    }

    fn next_event(&mut self) -> Result<Option<OperationEvent>> {
        // If the program waits for nothing that it began, nothing will ever arrive.
        if self.alone.have_ended() || self.alone.are_idle() {
            return Ok(None);
        }
        Ok(self.alone.next_event())
    }

    fn ended(&mut self, _: Rank) {
        self.alone.end(ONLY);
    }
}

fn parameters(roster: &Roster) -> Parameters {
    let usual = real_parameters(roster.session);
    let Tuning { window, datagram, repair, .. } = roster.tuning;
    let datagram = datagram.unwrap_or(usual.datagram as u32);
    let window = window.unwrap_or_else(|| {
        // As many bytes as usual, in fewer packets: a socket's buffer has to hold them.
        let as_many = u64::from(usual.window) * usual.datagram as u64 / u64::from(datagram.max(1));
        as_many.clamp(u64::from(LEAST_WINDOW), u64::from(usual.window)) as u32
    });
    // Several reports to a window, however small.
    let packets = usual.reporting.packets.min(u64::from(window / 4).max(1));
    let reporting = Reporting { packets, ..usual.reporting };
    // As much as usual is pushed in all, of which the first packet has what fits in.
    let all = usual.push.first + usual.push.second;
    let first = usual.push.first.saturating_add(datagram).saturating_sub(usual.datagram as u32).min(all);
    let push = Push { first, second: all - first };
    Parameters {
        datagram: datagram as usize,
        window,
        push,
        reporting,
        repeat: repair.map_or(usual.repeat, Into::into),
        ..usual
    }
}
