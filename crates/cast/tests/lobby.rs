//! A sender and receivers in a lobby whose datagrams are lost, in simulated time: who is called to which round, as what.

use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4};

use maquette_cast::lobby::{Announce, Call, Guest, Heard, Host, Join, Said, To, Token};
use maquette_cast::manifest::Id;
use maquette_cast::round::Outcome;
use proptest::prelude::*;
use quantities::{Duration, Time};

const RUN: Token = Token([9; 16]);
const HOST: u16 = 1;

fn at(port: u16) -> SocketAddr {
    SocketAddr::V4(SocketAddrV4::new(Ipv4Addr::LOCALHOST, port))
}

const fn ms(milliseconds: u64) -> Duration {
    Duration::from_microseconds(1_000 * milliseconds)
}

fn host() -> Host {
    Host::new(Announce { transfer: Id([1; 16]), run: RUN, title: "title".to_string(), files: 1, bytes: 1 })
}

fn call(session: u32) -> Call {
    Call { nonce: RUN, session, rank: 0, ranks: 0, port: 7, datagram: 1_472, salt: RUN }
}

/// SplitMix64.
struct Draws(u64);

impl Draws {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        ((mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb) >> 33) % limit
    }
}

/// A receiver: guest g has port 100 + g in the lobby.
struct Receiver {
    guest: Guest,
    /// The round that it is in, and as which rank.
    round: Option<Call>,
}

struct Simulation {
    now: Time,
    draws: Draws,
    /// Of a hundred datagrams.
    loss: u64,
    host: Host,
    receivers: Vec<Receiver>,
    session: u32,
    /// On their way: from, to, what.
    flying: Vec<(SocketAddr, SocketAddr, Said)>,
}

impl Simulation {
    fn new(receivers: u16, loss: u64, seed: u64) -> Simulation {
        let receiver = |number: u16| {
            let token = Token([number as u8 + 10; 16]);
            Receiver { guest: Guest::new(format!("r{number}"), token, 1_000 + number), round: None }
        };
        let receivers = (0..receivers).map(receiver).collect();
        let (now, draws) = (Time::ZERO, Draws(seed));
        Simulation { now, draws, loss, host: host(), receivers, session: 0, flying: Vec::new() }
    }

    fn say(&mut self, from: SocketAddr, to: SocketAddr, said: Said) {
        if self.draws.below(100) >= self.loss {
            self.flying.push((from, to, said));
        }
    }

    /// A millisecond.
    fn step(&mut self) {
        self.now += ms(1);
        let now = self.now;
        for (from, to, said) in std::mem::take(&mut self.flying) {
            match to.port() {
                HOST => drop(self.host.take(now, from, said)),
                port => self.hear(usize::from(port - 100), from, said),
            }
        }
        for (to, said) in self.host.due(now) {
            match to {
                To::One(to) => self.say(at(HOST), to, said),
                To::Group => {
                    (0..self.receivers.len() as u16).for_each(|it| self.say(at(HOST), at(100 + it), said.clone()));
                }
            }
        }
        for number in 0..self.receivers.len() {
            let due = self.receivers[number].guest.due(now);
            due.into_iter().for_each(|(to, said)| self.say(at(100 + number as u16), to, said));
        }
    }

    fn hear(&mut self, number: usize, from: SocketAddr, said: Said) {
        let (now, own) = (self.now, at(100 + number as u16));
        let Receiver { guest, round } = &mut self.receivers[number];
        let mut answers = Vec::new();
        match guest.take(now, from, said, &mut answers) {
            Some(Heard::Announced(announce, from)) => guest.join(now, announce.run, Token([number as u8; 16]), from),
            Some(Heard::Called(call, _)) => {
                answers.extend(guest.is_there(call.session));
                *round = Some(call);
            }
            None => {}
        }
        answers.into_iter().for_each(|(to, said)| self.say(own, to, said));
    }

    /// A round from its call to its end: all that take part know it, as different ranks.
    fn round(&mut self) {
        self.session += 1;
        self.host.call(self.now, call(self.session));
        let is_assembled = loop {
            match self.host.is_assembled(self.now) {
                Some(is_assembled) => break is_assembled,
                None => self.step(),
            }
        };
        if !is_assembled {
            self.host.give_up(self.now);
            return;
        }
        for (rank, called) in (1..).zip(self.host.roster()) {
            let number = usize::from(called.address.port() - 1_000);
            let Receiver { guest, round } = &mut self.receivers[number];
            let round = round.take().unwrap();
            assert_eq!((round.session, round.rank), (self.session, rank));
            let outcome = match self.draws.below(4) {
                0 => Outcome::Lacks(1),
                _ => Outcome::Done,
            };
            self.host.ended(self.now, called.member, &outcome, false);
            if outcome == Outcome::Done { guest.forget() } else { guest.comes_back(self.now) }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(64) })]

    #[test]
    fn all_are_called_until_they_have_everything_whatever_is_lost(receivers in 1_u16..12, loss in 0_u64..50, seed: u64) {
        let mut simulation = Simulation::new(receivers, loss, seed);
        // A receiver that is done wants nothing more, whoever announces it.
        let run_is_over = |simulation: &Simulation| simulation.host.done() == usize::from(receivers);
        while !run_is_over(&simulation) {
            prop_assert!(simulation.now < Time::ZERO + ms(120_000), "{} have it", simulation.host.done());
            let (waiting, _) = simulation.host.waiting(simulation.now);
            if waiting > 0 { simulation.round() } else { simulation.step() }
        }
        prop_assert_eq!(simulation.host.without(), Vec::<String>::new());
    }
}

fn join(member: u8, nonce: u8, last: u32) -> Said {
    let name = "a\u{1b}[2Jb".to_string();
    Said::Join(Join { run: RUN, member: Token([member; 16]), nonce: Token([nonce; 16]), name, port: 9, last })
}

#[test]
fn a_receiver_that_begins_anew_is_the_same_and_one_of_another_run_is_none() {
    let mut host = host();
    assert_eq!(host.take(Time::ZERO, at(2), join(1, 1, 0)).as_deref(), Some("a\u{FFFD}[2Jb (127.0.0.1)"));
    assert_eq!(host.take(Time::ZERO, at(2), join(1, 1, 0)), None, "it asks again");
    assert!(host.take(Time::ZERO, at(3), join(1, 2, 0)).is_some(), "it was started again");
    let Said::Join(other) = join(2, 3, 0) else { return };
    assert_eq!(host.take(Time::ZERO, at(2), Said::Join(Join { run: Token([0; 16]), ..other })), None);
    assert_eq!(host.waiting(Time::ZERO).0, 1);
    assert_eq!(host.call(Time::ZERO, call(1)), 1);
}

#[test]
fn who_comes_out_of_a_round_too_often_is_not_called_again() {
    let mut host = host();
    let mut rounds = 0;
    for session in 1..20 {
        host.take(Time::ZERO, at(2), join(1, 1, session - 1));
        rounds += u32::from(host.call(Time::ZERO, call(session)));
        let here = maquette_cast::lobby::Here { nonce: Token([1; 16]), session };
        host.take(Time::ZERO, at(2), Said::Here(here));
        host.roster().iter().for_each(|called| host.ended(Time::ZERO, called.member, &Outcome::Lost, true));
    }
    assert_eq!((rounds, host.without().len(), host.done()), (6, 1, 0));
}

#[test]
fn more_receivers_than_anybody_has_are_not_remembered() {
    let mut host = host();
    for number in 0..5_000_u32 {
        let mut token = [0; 16];
        token[..4].copy_from_slice(&number.to_be_bytes());
        let token = Token(token);
        let join = Join { run: RUN, member: token, nonce: token, name: String::new(), port: 9, last: 0 };
        host.take(Time::ZERO, at(2), Said::Join(join));
    }
    assert_eq!(host.call(Time::ZERO, call(1)), 1_024);
}
