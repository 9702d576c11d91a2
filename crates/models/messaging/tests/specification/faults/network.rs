//! A network that loses, repeats, delays, reorders and damages datagrams.

use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::future::poll_fn;
use std::rc::Rc;
use std::task::Poll;

use endpoint::Result;
use maquette_messaging::{Datagram, Datagrams, Destination};
use quantities::{Duration, Rank, Time};

use super::draws::Draws;

/// A network interface holds at most this many unread datagrams.
const RING: usize = 64;

/// What an Ethernet adds to a datagram: UDP, IP, frame, preamble, gap. [B]
const AROUND: u64 = 8 + 20 + 18 + 8 + 12;

/// What goes wrong.
#[derive(Clone, Copy, Debug)]
pub struct Faults {
    /// Datagrams that are lost, independently for each receiver. [%]
    pub loss: u64,
    /// Datagrams that begin a burst of losses, and the longest burst.
    pub bursts: (u64, u64),
    /// Datagrams that arrive twice. [%]
    pub repeated: u64,
    /// The most by which a datagram is delayed beyond the least, so that it may be overtaken. [us]
    pub delay: u64,
    /// Datagrams with a flipped bit. [%]
    pub damaged: u64,
    /// Datagrams that are accompanied by one of another session, or one that means nothing. [%]
    pub strange: u64,
    /// Datagrams at which their receiver pauses, and the longest pause. [%], [us]
    pub stops: (u64, u64),
    /// How long a byte takes on every link, of which each rank has one to a switch and one from it; zero for no time.
    /// [ps]
    pub byte_time: u64,
    /// How many bytes for one rank the switch holds before it drops the rest. [B]
    pub queue: u64,
    /// The only rank whose incoming datagrams are lost.
    pub only_to: Option<Rank>,
    /// Whether ranks leave when their programs have ended, and answer nothing more.
    pub leave: bool,
    /// Whether to record all datagrams.
    pub record: bool,
    /// A rank that dies, and when.
    pub dies: Option<(Rank, Time)>,
}

impl Faults {
    /// Nothing happens to any datagram.
    pub const NONE: Faults = Faults {
        loss: 0,
        bursts: (0, 0),
        repeated: 0,
        delay: 0,
        damaged: 0,
        strange: 0,
        stops: (0, 0),
        byte_time: 0,
        queue: 0,
        only_to: None,
        leave: false,
        record: false,
        dies: None,
    };
}

impl Default for Faults {
    fn default() -> Faults {
        Faults::NONE
    }
}

#[derive(Debug)]
pub struct Network {
    pub now: Time,
    faults: Faults,
    draws: Draws,
    flying: BTreeMap<(Time, u64), (usize, Datagram)>,
    launched: u64,
    pub ranks: Vec<Interface>,
    /// How many datagrams were sent.
    pub sent: usize,
    /// All of them, if recorded.
    pub record: Option<Vec<SentDatagram>>,
}

/// A datagram that was sent.
#[derive(Clone, Debug)]
pub struct SentDatagram {
    pub at: Time,
    pub from: Rank,
    pub to: Destination,
    pub datagram: Datagram,
}

/// One rank's interface to the network.
#[derive(Debug, Default)]
pub struct Interface {
    inbox: VecDeque<Datagram>,
    /// Until when it waits for something to arrive; none until it is polled.
    waits: Option<Option<Time>>,
    stopped_until: Time,
    /// Until when its link to the switch is occupied, and the link from it.
    sends_until: Time,
    receives_until: Time,
    /// It has left, and receives nothing more.
    pub left: bool,
    /// This many datagrams to it are lost before the next may arrive.
    burst: u64,
}

impl Network {
    pub fn new(ranks: u32, faults: Faults, draws: Draws) -> Network {
        let ranks = (0..ranks).map(|_| Interface::default()).collect();
        Network {
            now: Time::ZERO,
            faults,
            draws,
            flying: BTreeMap::new(),
            launched: 0,
            ranks,
            sent: 0,
            record: faults.record.then(Vec::new),
        }
    }

    fn send(&mut self, from: Rank, to: Destination, datagram: &Datagram) {
        self.sent += 1;
        let at = self.now;
        self.record
            .iter_mut()
            .for_each(|record| record.push(SentDatagram { at, from, to, datagram: datagram.clone() }));
        let length = Duration::from_picoseconds((datagram.size() as u64 + AROUND) * self.faults.byte_time);
        let source = &mut self.ranks[from.0 as usize];
        source.sends_until = source.sends_until.max(self.now) + length;
        let at = source.sends_until;
        match to {
            Destination::One(to) => self.forward(at, to, datagram, length),
            Destination::All => {
                let others = (0..self.ranks.len() as u32).map(Rank).filter(|&rank| rank != from);
                others.for_each(|to| self.forward(at, to, datagram, length));
            }
        }
    }

    /// From the switch, where the datagram is `at` that time, to its receiver.
    fn forward(&mut self, at: Time, to: Rank, datagram: &Datagram, length: Duration) {
        let Faults { byte_time, queue, .. } = self.faults;
        let receiver = &mut self.ranks[to.0 as usize];
        if receiver.receives_until.since(at).picoseconds() > queue.saturating_mul(byte_time) {
            return;
        }
        receiver.receives_until = receiver.receives_until.max(at) + length;
        let at = receiver.receives_until;
        self.carry(at, to, datagram);
    }

    fn carry(&mut self, at: Time, to: Rank, datagram: &Datagram) {
        let Faults { loss, bursts, repeated, strange, .. } = self.faults;
        let interface = &mut self.ranks[to.0 as usize];
        if interface.burst == 0 && self.draws.percent(bursts.0) {
            interface.burst = 1 + self.draws.below(bursts.1);
        }
        if self.draws.percent(strange) {
            let other = self.strange(datagram);
            self.launch(at, to, other);
        }
        let interface = &mut self.ranks[to.0 as usize];
        if interface.burst > 0 {
            interface.burst -= 1;
            return;
        }
        let copies = 1 + u64::from(self.draws.percent(repeated));
        let loss = if self.faults.only_to.is_none_or(|only| only == to) { loss } else { 0 };
        for _ in 0..copies {
            if !self.draws.percent(loss) {
                let copy =
                    if self.draws.percent(self.faults.damaged) { self.damage(datagram) } else { datagram.clone() };
                self.launch(at, to, copy);
            }
        }
    }

    fn launch(&mut self, at: Time, to: Rank, datagram: Datagram) {
        let delay = Duration::from_microseconds(20 + self.draws.below(self.faults.delay + 1));
        self.launched += 1;
        self.flying.insert((at + delay, self.launched), (to.0 as usize, datagram));
    }

    /// The datagram with a flipped bit, if its header can still be read.
    fn damage(&mut self, datagram: &Datagram) -> Datagram {
        let mut bytes = datagram.to_bytes().to_vec();
        let seen = bytes.len() as u64 - datagram.payload().unseen().0;
        let place = self.draws.below(seen) as usize;
        bytes[place] ^= 1_u8 << self.draws.below(8);
        Datagram::from_bytes(&bytes.into()).unwrap_or_else(|_| datagram.clone())
    }

    /// The datagram as it would be in another session, or with bytes that mean nothing.
    fn strange(&mut self, datagram: &Datagram) -> Datagram {
        use maquette_messaging::packet::Packet;
        match Packet::decode(datagram) {
            Ok(packet) if self.draws.percent(50) => Packet { session: packet.session ^ 1, ..packet }.encode(),
            _ => {
                let mut bytes = datagram.to_bytes().to_vec();
                bytes.iter_mut().skip(4).for_each(|byte| *byte = self.draws.next() as u8);
                Datagram::from_bytes(&bytes.into()).unwrap_or_else(|_| datagram.clone())
            }
        }
    }

    pub fn is_dead(&self, rank: usize) -> bool {
        let dies = self.faults.dies.is_some_and(|(dies, when)| dies.0 as usize == rank && when <= self.now);
        dies || self.ranks[rank].left
    }

    /// Whether a rank has something to do now.
    pub fn may_run(&self, rank: usize) -> bool {
        let Interface { inbox, waits, stopped_until, .. } = &self.ranks[rank];
        let ready = !inbox.is_empty() || waits.is_none_or(|until| until.is_some_and(|until| until <= self.now));
        ready && *stopped_until <= self.now && !self.is_dead(rank)
    }

    /// Advances to the next event; false if there will never be one.
    pub fn advance(&mut self) -> bool {
        let dead: Vec<bool> = (0..self.ranks.len()).map(|rank| self.is_dead(rank)).collect();
        let alive = self.ranks.iter().zip(&dead).filter(|(_, dead)| !**dead).map(|(rank, _)| rank);
        let wakes = alive.filter_map(|it| {
            let ready = if it.inbox.is_empty() { it.waits.flatten() } else { Some(self.now) };
            ready.map(|at| at.max(it.stopped_until))
        });
        let arrival = self.flying.first_key_value().map(|(&(at, _), _)| at);
        let Some(next) = wakes.chain(arrival).min() else { return false };
        self.now = self.now.max(next);
        while let Some(entry) = self.flying.first_entry().filter(|entry| entry.key().0 <= self.now) {
            let (to, datagram) = entry.remove();
            let stops = self.draws.percent(self.faults.stops.0);
            let stop = Duration::from_microseconds(self.draws.below(self.faults.stops.1));
            let interface = &mut self.ranks[to];
            if stops {
                interface.stopped_until = interface.stopped_until.max(self.now + stop);
            }
            if interface.inbox.len() < RING {
                interface.inbox.push_back(datagram);
            }
        }
        true
    }
}

/// One rank's access to the network.
#[derive(Clone, Debug)]
pub struct Wire {
    pub rank: Rank,
    pub network: Rc<RefCell<Network>>,
}

impl Datagrams for Wire {
    fn now(&self) -> Time {
        self.network.borrow().now
    }

    async fn send(&self, datagrams: &[(Destination, Datagram)]) -> Result<()> {
        let mut network = self.network.borrow_mut();
        datagrams.iter().for_each(|(to, datagram)| network.send(self.rank, *to, datagram));
        Ok(())
    }

    async fn receive(&self, until: Option<Time>, arrived: &mut Vec<Datagram>) -> Result<()> {
        poll_fn(|_| {
            let mut network = self.network.borrow_mut();
            let now = network.now;
            let interface = &mut network.ranks[self.rank.0 as usize];
            if interface.inbox.is_empty() && until.is_none_or(|until| until > now) {
                interface.waits = Some(until);
                return Poll::Pending;
            }
            arrived.extend(interface.inbox.drain(..));
            Poll::Ready(Ok(()))
        })
        .await
    }
}
