//! Hosts at 100 Mbit/s with their own queues before a wire that loses nothing: every packet that is sent again is sent
//! again needlessly.
//!
//! ```text
//!     engine --- host's queue, 123 us a packet --- switch, a queue to each host, 123 us a packet --- engine
//! ```
//!
//! A host takes only a limited number of packets into its queue before older ones have left, as sockets with a small
//! buffer do.

use std::collections::{BTreeMap, VecDeque};

use endpoint::{Message, Source, Tag, Tags};
use maquette_messaging::{
    Awaited, Datagram, Destination, Engine, Parameters, Posted, Probe, Push, Repeat, Reporting, Timing,
};
use quantities::{Bytes, Duration, Rank, Time};

const RANKS: u32 = 8;
const WIRE: Duration = Duration::from_microseconds(20);

const fn ms(milliseconds: u64) -> Duration {
    Duration::from_microseconds(1_000 * milliseconds)
}

/// As on real networks, where everything is sent at once.
fn parameters() -> Parameters {
    Parameters {
        window: 256,
        repeat: Repeat::Selective,
        push: Push { first: 1_400, second: (64 << 10) - 1_400 },
        pushed_buffer: 1 << 20,
        timing: Timing { first: ms(20), least: ms(20), most: ms(500) },
        probe: Probe::Alone,
        reporting: Reporting { packets: 32, delay: ms(1) },
        batch: 16,
        ..Parameters::default()
    }
}

/// How long a datagram occupies the wire, including what Ethernet, IP and UDP add, at 80 ns a byte.
fn time_of(datagram: &Datagram) -> Duration {
    Duration::from_picoseconds((datagram.size() as u64 + 66).max(84) * 80_000)
}

#[derive(Default)]
struct Queue {
    idle: Time,
    /// When each packet in the queue will have left.
    leave: VecDeque<Time>,
}

impl Queue {
    /// When a datagram that arrives at `now` has left.
    fn take(&mut self, now: Time, datagram: &Datagram) -> Time {
        self.idle = self.idle.max(now) + time_of(datagram);
        self.leave.push_back(self.idle);
        self.idle
    }

    /// When there is room again.
    fn has_room_at(&mut self, now: Time, most: usize) -> Time {
        while self.leave.front().is_some_and(|&left| left <= now) {
            self.leave.pop_front();
        }
        let over = self.leave.len().saturating_sub(most);
        if over == 0 { now } else { self.leave[over - 1] }
    }
}

struct Hosts {
    now: Time,
    most: usize,
    engines: Vec<Engine>,
    hosts: Vec<Queue>,
    ports: Vec<Queue>,
    flying: BTreeMap<(Time, u64), (usize, Datagram)>,
    launched: u64,
    /// The receives, and where they are posted.
    posted: Vec<(usize, Posted)>,
    /// How many messages each has received.
    received: Vec<usize>,
}

impl Hosts {
    fn new(most: usize) -> Hosts {
        let queues = || (0..RANKS).map(|_| Queue::default()).collect();
        let engine = |rank| Engine::new(Rank(rank), RANKS, parameters()).unwrap();
        Hosts {
            now: Time::ZERO,
            most,
            engines: (0..RANKS).map(engine).collect(),
            hosts: queues(),
            ports: queues(),
            flying: BTreeMap::new(),
            launched: 0,
            posted: Vec::new(),
            received: vec![0; RANKS as usize],
        }
    }

    fn send(&mut self, from: u32, to: u32, size: u64) {
        let sent = self.engines[from as usize].send(Rank(to), Tag::default(), Message::of_size(Bytes(size))).unwrap();
        assert_eq!(sent, None, "the send queue is full");
        let what = Awaited::Message(Source::Rank(Rank(from)), Tags::Any);
        let posted = self.engines[to as usize].post(self.now, what).unwrap();
        self.posted.push((to as usize, posted));
    }

    /// When this host hands over more, or reads the clock.
    fn due(&mut self, host: usize) -> Option<Time> {
        let due = self.engines[host].deadline()?.max(self.now);
        Some(self.hosts[host].has_room_at(due, self.most).max(due))
    }

    fn drain(&mut self, host: usize) {
        if self.hosts[host].has_room_at(self.now, self.most) > self.now {
            return;
        }
        for (to, datagram) in self.engines[host].drain(self.now) {
            let Destination::One(to) = to else { panic!("nobody broadcasts") };
            let to = to.0 as usize;
            let left = self.hosts[host].take(self.now, &datagram);
            let arrival = self.ports[to].take(left + WIRE, &datagram) + WIRE;
            self.launched += 1;
            self.flying.insert((arrival, self.launched), (to, datagram));
        }
    }

    /// Runs until every host has this many messages from each of `from`; returns when that is.
    fn run(&mut self, from: &[u32], messages: usize) -> Time {
        let done = |hosts: &Hosts| {
            (0..RANKS).all(|rank| {
                let others = from.iter().filter(|&&source| source != rank).count();
                hosts.received[rank as usize] == others * messages
            })
        };
        while !done(self) {
            assert!(self.now < Time::ZERO + ms(60_000), "it never ends: {:?}", self.received);
            for host in 0..self.engines.len() {
                self.engines[host].wake(self.now);
                self.drain(host);
            }
            let arrival = self.flying.first_key_value().map(|(&(at, _), _)| at);
            let now = self.now;
            let due = (0..self.engines.len()).filter_map(|host| self.due(host)).filter(|&at| at > now).min();
            self.now = arrival.into_iter().chain(due).min().expect("something happens next");
            while let Some(entry) = self.flying.first_entry().filter(|entry| entry.key().0 <= self.now) {
                let (to, datagram) = entry.remove();
                self.engines[to].take(self.now, &datagram);
                for (_, posted) in self.posted.iter().filter(|(receiver, _)| *receiver == to) {
                    let got = self.engines[to].received(self.now, *posted).unwrap();
                    self.received[to] += usize::from(got.is_some());
                }
            }
        }
        self.now
    }

    /// Packets that were sent again, and all packets.
    fn repeated(&self) -> (u64, u64) {
        let sum = |of: fn(&Engine) -> u64| self.engines.iter().map(of).sum();
        // The last of them are still in flight.
        assert!(sum(Engine::needless) <= sum(Engine::repeated));
        (sum(Engine::repeated), sum(|engine| engine.counts().sent))
    }
}

#[test]
fn windows_to_seven_receivers_that_queue_up_in_the_host_are_not_sent_again() {
    let mut hosts = Hosts::new(57);
    (1..RANKS).for_each(|to| hosts.send(0, to, 256 << 10));
    let took = hosts.run(&[0], 1).since(Time::ZERO);
    assert_eq!(hosts.repeated().0, 0);
    // The wire needs 7 * 182 packets of 1,538 bytes, 156.8 ms, and little more.
    assert!((ms(150)..ms(165)).contains(&took), "{took}");
}

#[test]
fn when_everybody_sends_to_everybody_less_than_a_hundredth_is_sent_again_needlessly() {
    for size in [64, 4 << 10, 64 << 10, 256 << 10] {
        let mut hosts = Hosts::new(57);
        for (from, to) in
            (0..RANKS).flat_map(|from| (0..RANKS).map(move |to| (from, to))).filter(|(from, to)| from != to)
        {
            hosts.send(from, to, size);
        }
        hosts.run(&(0..RANKS).collect::<Vec<_>>(), 1);
        let (repeated, sent) = hosts.repeated();
        assert!(repeated * 100 <= sent, "{size} bytes: {repeated} of {sent}");
    }
}

#[test]
fn a_batch_is_all_that_is_handed_over_at_once() {
    let mut engine = Engine::new(Rank(0), RANKS, parameters()).unwrap();
    for to in (1..RANKS).map(Rank) {
        assert_eq!(engine.send(to, Tag::default(), Message::of_size(Bytes(32 << 10))).unwrap(), None);
    }
    let mut batches = Vec::new();
    while engine.deadline() <= Some(Time::ZERO) {
        batches.push(engine.drain(Time::ZERO).len());
    }
    assert_eq!((batches.first(), batches.iter().sum::<usize>()), (Some(&16), 7 * 23));
    assert!(batches.iter().all(|&batch| batch <= 16), "{batches:?}");
}

/// If all ranks send to all others at once, no two of them begin with the same receiver, whose wire would be too slow
/// for both.
#[test]
fn each_rank_begins_with_another_receiver() {
    for me in 0..RANKS {
        let mut engine = Engine::new(Rank(me), RANKS, parameters()).unwrap();
        for to in (0..RANKS).filter(|&to| to != me).map(Rank) {
            assert_eq!(engine.send(to, Tag::default(), Message::of_size(Bytes(64 << 10))).unwrap(), None);
        }
        let next = Destination::One(Rank((me + 1) % RANKS));
        let receivers: Vec<Destination> = engine.drain(Time::ZERO).into_iter().map(|(to, _)| to).collect();
        assert_eq!(receivers, [next; 16], "rank {me}");
    }
}
