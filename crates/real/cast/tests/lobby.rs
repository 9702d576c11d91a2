//! A sender and receivers in a lobby whose datagrams are lost, or recorded and replayed, in simulated time: who is
//! called to which round, and with which rank.

use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4};

use maquette_cast::lobby::{Announce, Ask, Call, Guest, Heard, Host, Join, LobbyMessage, Present, To, Token};
use maquette_cast::manifest::Id;
use maquette_cast::round::ReceiverOutcome;
use proptest::prelude::*;
use quantities::splitmix64::Draws;
use quantities::{Duration, Time};

const RUN: Token = Token([9; 16]);
const HOST: u16 = 1;
/// Somebody who replays what was recorded, and answers nothing.
const GONE: u16 = 66;

fn at(port: u16) -> SocketAddr {
    SocketAddr::V4(SocketAddrV4::new(Ipv4Addr::LOCALHOST, port))
}

const fn ms(milliseconds: u64) -> Duration {
    Duration::from_microseconds(1_000 * milliseconds)
}

fn announce(run: Token) -> Announce {
    Announce { transfer: Id([1; 16]), run, title: "title".to_string(), files: 1, bytes: 1 }
}

fn host() -> Host {
    Host::new(announce(RUN))
}

fn call(session: u32) -> Call {
    Call { nonce: RUN, session, rank: 0, ranks: 0, port: 7, datagram: 1_472, salt: RUN }
}

/// A receiver: guest g has port 100 + g in the lobby.
struct Receiver {
    guest: Guest,
    /// The round that it is in, and with which rank.
    round: Option<Call>,
}

struct Simulation {
    now: Time,
    draws: Draws,
    /// Per hundred datagrams.
    loss: u64,
    host: Host,
    run: Token,
    receivers: Vec<Receiver>,
    session: u32,
    /// In flight: from, to, what.
    flying: Vec<(SocketAddr, SocketAddr, LobbyMessage)>,
    /// Everything ever sent, also in an earlier cast; and in how many of a hundred milliseconds some of it is replayed.
    recorded: Vec<(SocketAddr, SocketAddr, LobbyMessage)>,
    replays: u64,
}

impl Simulation {
    fn new(receivers: u16, loss: u64, seed: u64) -> Simulation {
        let receiver = |number: u16| {
            let token = Token([number as u8 + 10; 16]);
            Receiver { guest: Guest::new(format!("r{number}"), token, 1_000 + number), round: None }
        };
        let receivers = (0..receivers).map(receiver).collect();
        let (now, draws) = (Time::ZERO, Draws(seed));
        let (flying, recorded) = (Vec::new(), Vec::new());
        Simulation { now, draws, loss, host: host(), run: RUN, receivers, session: 0, flying, recorded, replays: 0 }
    }

    /// Another cast, by another run of a sender to receivers that were restarted, on a network on which somebody has
    /// recorded the earlier cast.
    fn after(earlier: Simulation, replays: u64, seed: u64) -> Simulation {
        let count = earlier.receivers.len() as u16;
        let mut later = Simulation::new(count, earlier.loss, seed);
        later.run = Token([8; 16]);
        later.host = Host::new(announce(later.run));
        for (number, receiver) in later.receivers.iter_mut().enumerate() {
            receiver.guest = Guest::new(format!("r{number}"), Token([number as u8 + 50; 16]), 1_000 + number as u16);
        }
        (later.recorded, later.replays) = (earlier.recorded, replays);
        later
    }

    fn ends(&mut self, limit: Duration) -> bool {
        let end = self.now + limit;
        while self.host.done() < self.receivers.len() && self.now < end {
            let (waiting, _) = self.host.waiting(self.now);
            if waiting > 0 { self.round() } else { self.step() }
        }
        self.host.done() == self.receivers.len()
    }

    fn send(&mut self, from: SocketAddr, to: SocketAddr, message: LobbyMessage) {
        self.recorded.push((from, to, message.clone()));
        if self.draws.below(100) >= self.loss {
            self.flying.push((from, to, message));
        }
    }

    /// Advances by a millisecond.
    fn step(&mut self) {
        self.now += ms(1);
        let now = self.now;
        if self.draws.below(100) < self.replays && !self.recorded.is_empty() {
            let which = self.draws.below(self.recorded.len() as u64) as usize;
            self.flying.push(self.recorded[which].clone());
        }
        for (from, to, message) in std::mem::take(&mut self.flying) {
            match to.port() {
                HOST => drop(self.host.take(now, from, message)),
                GONE => {}
                port => self.receive(usize::from(port - 100), from, message),
            }
        }
        for (to, message) in self.host.due(now) {
            match to {
                To::One(to) => self.send(at(HOST), to, message),
                To::Group => {
                    (0..self.receivers.len() as u16).for_each(|it| self.send(at(HOST), at(100 + it), message.clone()));
                }
            }
        }
        for number in 0..self.receivers.len() {
            let due = self.receivers[number].guest.due(now);
            due.into_iter().for_each(|(to, message)| self.send(at(100 + number as u16), to, message));
        }
    }

    fn receive(&mut self, number: usize, from: SocketAddr, message: LobbyMessage) {
        let (now, own) = (self.now, at(100 + number as u16));
        let Receiver { guest, round } = &mut self.receivers[number];
        let mut answers = Vec::new();
        match guest.take(now, from, message, &mut answers) {
            Some(Heard::Answered(announce, from)) => guest.join(now, announce.run, Token([number as u8; 16]), from),
            Some(Heard::Called(call, _)) => {
                answers.extend(guest.is_there(call.session));
                *round = Some(call);
            }
            None => {}
        }
        answers.into_iter().for_each(|(to, message)| self.send(own, to, message));
    }

    /// A round from its call to its end: all participants know it, with different ranks.
    fn round(&mut self) {
        self.session += 1;
        self.host.call(self.now, call(self.session));
        let is_assembled = loop {
            match self.host.is_assembled(self.now) {
                Some(is_assembled) => break is_assembled,
                None => self.step(),
            }
        };
        for guest in self.receivers.iter_mut().map(|receiver| &mut receiver.guest) {
            guest.is_left(self.now);
        }
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
                0 => ReceiverOutcome::Lacks(1),
                _ => ReceiverOutcome::Done,
            };
            self.host.ended(self.now, called.member, &outcome, false);
            if outcome == ReceiverOutcome::Done { guest.is_over(self.run) } else { guest.comes_back(self.now) }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(64) })]

    #[test]
    fn all_are_called_until_they_have_everything_whatever_is_lost(receivers in 1_u16..12, loss in 0_u64..50, seed: u64) {
        let mut simulation = Simulation::new(receivers, loss, seed);
        prop_assert!(simulation.ends(ms(120_000)), "{} have it", simulation.host.done());
        prop_assert_eq!(simulation.host.without(), Vec::<String>::new());
    }

    /// Whatever was sent in an earlier cast, or in this one, is replayed again and again: that holds nobody up.
    #[test]
    fn replayed_messages_keep_nobody_from_the_transfer(receivers in 1_u16..8, loss in 0_u64..30, seed: u64) {
        let mut earlier = Simulation::new(receivers, loss, seed);
        prop_assert!(earlier.ends(ms(120_000)));
        let mut later = Simulation::after(earlier, 50, seed);
        prop_assert!(later.ends(ms(120_000)), "{} have it", later.host.done());
        prop_assert_eq!(later.host.without(), Vec::<String>::new());
        // They are done, and the replays continue: nobody is back, and nobody is waited for.
        let joined = later.host.joined();
        (0..10_000).for_each(|_| later.step());
        prop_assert_eq!((later.host.done(), later.host.joined()), (usize::from(receivers), joined));
    }
}

/// A past bug: an announcement is replayed every two seconds, before there is a sender, and for as long as there is
/// one.
#[test]
fn an_old_announcement_binds_no_receiver_to_a_sender_that_is_gone() {
    let old = LobbyMessage::Announce(announce(Token([7; 16])));
    let mut simulation = Simulation::new(2, 0, 1);
    for _ in 0..3 {
        simulation.receive(0, at(GONE), old.clone());
        (0..2_000).for_each(|_| simulation.step());
    }
    let asked = simulation.recorded.iter().filter(|(_, to, _)| *to == at(GONE)).count();
    assert!(asked < 4, "it asks no more than once for each announcement");
    assert!(simulation.ends(ms(5_000)));
}

#[test]
fn a_sender_that_falls_silent_is_left_although_its_answers_are_sent_again() {
    let (mut guest, mut answers, host_address) = (Guest::new("r".to_string(), Token([1; 16]), 9), Vec::new(), at(HOST));
    let mut host = host();
    let mut now = Time::ZERO;
    guest.take(now, host_address, LobbyMessage::Announce(announce(RUN)), &mut answers);
    let Some((_, ask)) = answers.pop() else { panic!("it asks") };
    host.take(now, at(2), ask);
    let Some(Heard::Answered(found, _)) =
        host.due(now).into_iter().find_map(|(_, message)| guest.take(now, host_address, message, &mut answers))
    else {
        panic!("it is answered")
    };
    guest.join(now, found.run, Token([2; 16]), host_address);
    // For one second the sender answers, and all of that is recorded.
    let mut recorded = Vec::new();
    while !guest.is_left(now) {
        assert!(now < Time::ZERO + ms(7_000), "it is bound to a sender that is gone");
        if let Some((_, message)) = guest.due(now).filter(|_| now < Time::ZERO + ms(1_000)) {
            host.take(now, at(2), message);
            recorded.extend(host.due(now).into_iter().map(|(_, message)| message));
        }
        for message in recorded.clone() {
            guest.take(now, host_address, message, &mut answers);
        }
        now += ms(10);
    }
    assert!(now > Time::ZERO + ms(5_500), "it was left while it answered");
    // And the rest of the recording does not bind it again.
    let mut bound = recorded.into_iter().filter_map(|message| guest.take(now, host_address, message, &mut answers));
    assert_eq!(bound.next(), None);
}

#[test]
fn a_replayed_join_or_leave_changes_nothing() {
    let mut host = host();
    let (now, later) = (Time::ZERO, Time::ZERO + ms(2_500));
    let (first, second) = (join(1, 1, 1), join(1, 2, 1));
    assert!(host.take(now, at(2), first.clone()).is_some() && host.take(now, at(2), second.clone()).is_some());
    host.due(now);
    for message in [first, LobbyMessage::Leave(Token([1; 16])), second] {
        assert_eq!(host.take(later, at(GONE), message), None);
    }
    let answered =
        |due: Vec<(To, LobbyMessage)>| due.iter().any(|(_, message)| matches!(message, LobbyMessage::Answer(_)));
    assert!(!answered(host.due(later)));
    assert_eq!(host.waiting(later).0, 1);
    assert_eq!(host.waiting(later + ms(1_000)).0, 0, "it was heard of last at the time of its own join");
    // The newer one is called, where it is.
    host.call(later, call(1));
    let called = host.due(later).into_iter().find_map(|(to, message)| match message {
        LobbyMessage::Call(call) => Some((to, call.nonce)),
        _ => None,
    });
    assert_eq!(called, Some((To::One(at(2)), Token([2; 16]))));
    // A receiver that has left is not brought back by its earlier messages, even if these were not heard then.
    host.take(later, at(2), LobbyMessage::Leave(Token([2; 16])));
    assert_eq!(host.take(later, at(GONE), join(1, 2, 9)), None);
}

#[test]
fn only_a_sender_of_that_run_answers() {
    let mut host = host();
    host.due(Time::ZERO);
    for run in [Token([0; 16]), RUN] {
        host.take(Time::ZERO, at(2), LobbyMessage::Ask(Ask { run, nonce: Token([1; 16]), number: 3 }));
    }
    let due = host.due(Time::ZERO);
    let [(To::One(to), LobbyMessage::Answer(answer))] = &due[..] else { panic!("{due:?}") };
    assert_eq!((*to, answer.nonce, answer.number, &answer.announce), (at(2), Token([1; 16]), 3, &announce(RUN)));
}

fn join(member: u8, nonce: u8, number: u64) -> LobbyMessage {
    join_after(member, nonce, number, 0)
}

/// A join of a receiver that took part in the round `last`.
fn join_after(member: u8, nonce: u8, number: u64, last: u32) -> LobbyMessage {
    let name = "a\u{1b}[2Jb".to_string();
    let (member, nonce) = (Token([member; 16]), Token([nonce; 16]));
    LobbyMessage::Join(Join { run: RUN, member, nonce, number, name, port: 9, last })
}

#[test]
fn a_restarted_receiver_is_the_same_and_one_of_another_run_is_ignored() {
    let mut host = host();
    assert_eq!(host.take(Time::ZERO, at(2), join(1, 1, 1)).as_deref(), Some("a\\u{1b}[2Jb (127.0.0.1)"));
    assert_eq!(host.take(Time::ZERO, at(2), join(1, 1, 2)), None, "it asks again");
    assert!(host.take(Time::ZERO, at(3), join(1, 2, 1)).is_some(), "it was started again");
    let LobbyMessage::Join(other) = join(2, 3, 1) else { return };
    assert_eq!(host.take(Time::ZERO, at(2), LobbyMessage::Join(Join { run: Token([0; 16]), ..other })), None);
    assert_eq!(host.waiting(Time::ZERO).0, 1);
    assert_eq!(host.call(Time::ZERO, call(1)), 1);
}

#[test]
fn a_receiver_lost_too_often_is_not_called_again() {
    let mut host = host();
    let mut rounds = 0;
    for session in 1..20 {
        host.take(Time::ZERO, at(2), join_after(1, 1, session.into(), session - 1));
        rounds += u32::from(host.call(Time::ZERO, call(session)));
        let present = Present { nonce: Token([1; 16]), session };
        host.take(Time::ZERO, at(2), LobbyMessage::Present(present));
        host.roster().iter().for_each(|called| host.ended(Time::ZERO, called.member, &ReceiverOutcome::Lost, true));
    }
    assert_eq!((rounds, host.without().len(), host.done()), (6, 1, 0));
}

#[test]
fn the_number_of_receivers_remembered_is_bounded() {
    let mut host = host();
    for number in 0..5_000_u32 {
        let mut token = [0; 16];
        token[..4].copy_from_slice(&number.to_be_bytes());
        let token = Token(token);
        let join = Join { run: RUN, member: token, nonce: token, number: 1, name: String::new(), port: 9, last: 0 };
        host.take(Time::ZERO, at(2), LobbyMessage::Join(join));
    }
    assert_eq!(host.call(Time::ZERO, call(1)), 1_024);
}
