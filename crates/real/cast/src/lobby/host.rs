//! The sender's side of the lobby.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;

use quantities::{Duration, Time};

use super::{Announce, Answer, Ask, Call, Join, LobbyMessage, Present, Token};
use crate::round::ReceiverOutcome;
use quantities::shown;

/// The most receivers known at a time.
const MOST_MEMBERS: usize = 1_024;
/// How many times a receiver may start anew.
const MOST_NONCES: usize = 64;
/// The most answers waiting to be sent.
const MOST_ANSWERS: usize = 4_096;
/// How often the offer is announced.
const BETWEEN_ANNOUNCES: Duration = ms(500);
/// How often a receiver is called until it is present, and for how long.
const BETWEEN_CALLS: Duration = ms(25);
const CALLS: Duration = ms(1_500);
/// A receiver that has not asked again for this long has left.
const FORGOTTEN: Duration = ms(3_000);
/// How many times a receiver may be lost and still come back.
const MOST_LOSSES: u32 = 5;

const fn ms(milliseconds: u64) -> Duration {
    Duration::from_microseconds(1_000 * milliseconds)
}

/// Where a message is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum To {
    /// Everyone who listens.
    Group,
    /// One.
    One(SocketAddr),
}

/// A receiver that takes part in a round.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Called {
    /// Its identity.
    pub member: Token,
    /// Its name.
    pub name: String,
    /// The address of its socket for rounds.
    pub address: SocketAddr,
}

#[derive(Clone, Debug)]
struct Member {
    name: String,
    nonce: Token,
    /// The number of its last join with the current nonce, and its former nonces.
    number: u64,
    former: BTreeSet<Token>,
    /// Its address in the lobby, and its port for rounds.
    lobby: SocketAddr,
    port: u16,
    heard: Time,
    state: MemberStatus,
    losses: u32,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum MemberStatus {
    /// It has waited for a round, since then.
    Waits(Time),
    /// It is called, with this rank; and when it is called again.
    Called(u16, Time),
    /// It takes part in the round.
    TakesPart(u16),
    /// It was lost in a round, and has not come back.
    Lost,
    /// It has everything.
    Done,
    /// It does not want it.
    Out,
}

impl Member {
    /// Whether a join with this nonce and number is new, not the replay of a recorded one.
    fn is_fresh(&self, nonce: Token, number: u64) -> bool {
        if nonce == self.nonce {
            number > self.number
        } else {
            !self.former.contains(&nonce) && self.former.len() < MOST_NONCES
        }
    }
}

/// The receivers, and which of them has what.
#[derive(Clone, Debug)]
pub struct Host {
    announce: Announce,
    announces_at: Time,
    members: BTreeMap<Token, Member>,
    /// The round that is being called or in progress, and since when.
    call: Option<(Call, Time)>,
    /// When a receiver last joined.
    joined: Option<Time>,
    /// The answers to be sent.
    answers: Vec<(To, LobbyMessage)>,
}

impl Host {
    /// A host that announces this, at once.
    pub const fn new(announce: Announce) -> Host {
        let members = BTreeMap::new();
        Host { announce, announces_at: Time::ZERO, members, call: None, joined: None, answers: Vec::new() }
    }

    /// Handles a message; returns the name of a receiver that is new, or is back.
    pub fn take(&mut self, now: Time, from: SocketAddr, message: LobbyMessage) -> Option<String> {
        match message {
            LobbyMessage::Ask(Ask { run, nonce, number }) if run == self.announce.run => {
                self.answer(from, nonce, number);
                None
            }
            LobbyMessage::Join(join) if join.run == self.announce.run && join.port > 0 => {
                let (nonce, number) = (join.nonce, join.number);
                let (joined, may_come) = self.join(now, from, join);
                if may_come {
                    self.answer(from, nonce, number);
                }
                joined
            }
            LobbyMessage::Present(present) => {
                self.present(now, &present);
                None
            }
            LobbyMessage::Leave(nonce) => {
                let left = self.members.values_mut().find(|member| member.nonce == nonce)?;
                // Nothing more counts with this nonce.
                left.number = u64::MAX;
                if !matches!(left.state, MemberStatus::Done | MemberStatus::Out) {
                    left.state = MemberStatus::Lost;
                }
                None
            }
            _ => None,
        }
    }

    fn answer(&mut self, to: SocketAddr, nonce: Token, number: u64) {
        if self.answers.len() < MOST_ANSWERS {
            let announce = self.announce.clone();
            self.answers.push((To::One(to), LobbyMessage::Answer(Answer { announce, nonce, number })));
        }
    }

    /// The name of a receiver that comes or is back; and whether it may wait to be called, or already does.
    fn join(&mut self, now: Time, from: SocketAddr, join: Join) -> (Option<String>, bool) {
        let name = format!("{} ({})", shown(&join.name), from.ip());
        let session = self.call.as_ref().map_or(0, |(call, _)| call.session);
        let Join { member: token, nonce, number, port, last, .. } = join;
        let Some(member) = self.members.get_mut(&token) else {
            if self.members.len() >= MOST_MEMBERS {
                return (None, false);
            }
            let (state, former) = (MemberStatus::Waits(now), BTreeSet::new());
            let member =
                Member { name: name.clone(), nonce, number, former, lobby: from, port, heard: now, state, losses: 0 };
            self.members.insert(token, member);
            self.joined = Some(now);
            return (Some(name), true);
        };
        if !member.is_fresh(nonce, number) {
            return (None, false);
        }
        // A receiver in a round does not ask for another, unless it has left the round, or starts anew.
        let is_new = nonce != member.nonce;
        let comes = match member.state {
            MemberStatus::TakesPart(_) | MemberStatus::Called(..) => is_new || last == session,
            MemberStatus::Lost => member.losses <= MOST_LOSSES,
            MemberStatus::Waits(_) | MemberStatus::Done | MemberStatus::Out => is_new && member.losses <= MOST_LOSSES,
        };
        if is_new && !comes {
            return (None, false);
        }
        if is_new {
            member.former.insert(member.nonce);
        }
        (member.heard, member.lobby, member.port) = (now, from, port);
        (member.nonce, member.number) = (nonce, number);
        if comes {
            member.losses += u32::from(matches!(member.state, MemberStatus::TakesPart(_)));
            member.state = MemberStatus::Waits(now);
            self.joined = Some(now);
        }
        (comes.then_some(name), !matches!(member.state, MemberStatus::Lost | MemberStatus::Done | MemberStatus::Out))
    }

    fn present(&mut self, now: Time, present: &Present) {
        let Some((call, _)) = &self.call else { return };
        let member = self.members.values_mut().find(|member| member.nonce == present.nonce);
        if let Some(member) = member.filter(|_| call.session == present.session)
            && let MemberStatus::Called(rank, _) = member.state
        {
            member.state = MemberStatus::TakesPart(rank);
            member.heard = now;
        }
    }

    /// What to send now.
    pub fn due(&mut self, now: Time) -> Vec<(To, LobbyMessage)> {
        let mut due = std::mem::take(&mut self.answers);
        if self.announces_at <= now {
            self.announces_at = now + BETWEEN_ANNOUNCES;
            due.push((To::Group, LobbyMessage::Announce(self.announce.clone())));
        }
        let Some((call, _)) = &self.call else { return due };
        for member in self.members.values_mut() {
            if let MemberStatus::Called(rank, at) = &mut member.state
                && *at <= now
            {
                *at = now + BETWEEN_CALLS;
                due.push((
                    To::One(member.lobby),
                    LobbyMessage::Call(Call { nonce: member.nonce, rank: *rank, ..call.clone() }),
                ));
            }
        }
        due
    }

    /// When there will be something to send.
    pub fn deadline(&self) -> Time {
        let calls = self.members.values().filter_map(|member| match member.state {
            MemberStatus::Called(_, at) => Some(at),
            _ => None,
        });
        let answers = self.answers.first().map(|_| Time::ZERO);
        calls.chain(answers).chain([self.announces_at]).min().unwrap_or(self.announces_at)
    }

    /// Calls all receivers that wait to a round; `call` lacks only the ranks. Returns how many there are.
    pub fn call(&mut self, now: Time, call: Call) -> u16 {
        let mut rank = 0;
        for member in self.members.values_mut() {
            match member.state {
                MemberStatus::Waits(_) if member.heard + FORGOTTEN < now => member.state = MemberStatus::Lost,
                MemberStatus::Waits(_) if rank < u16::MAX - 1 => {
                    rank += 1;
                    member.state = MemberStatus::Called(rank, now);
                }
                _ => {}
            }
        }
        self.call = Some((Call { ranks: rank + 1, ..call }, now));
        rank
    }

    /// Whether all that were called are present (true), or it is too late for the rest (false).
    pub fn is_assembled(&self, now: Time) -> Option<bool> {
        let missing = self.members.values().any(|member| matches!(member.state, MemberStatus::Called(..)));
        let since = self.call.as_ref().map_or(now, |(_, since)| *since);
        if missing { (since + CALLS <= now).then_some(false) } else { Some(true) }
    }

    /// Gives up on the receivers that were called and did not come, and returns their names; the others wait for
    /// another round.
    pub fn give_up(&mut self, now: Time) -> Vec<String> {
        let mut absent = Vec::new();
        for member in self.members.values_mut() {
            match member.state {
                MemberStatus::Called(..) => {
                    member.state = MemberStatus::Lost;
                    member.losses += 1;
                    absent.push(member.name.clone());
                }
                MemberStatus::TakesPart(_) => {
                    member.state = MemberStatus::Waits(now);
                    member.heard = now;
                }
                _ => {}
            }
        }
        absent
    }

    /// The participants, rank 1 first.
    pub fn roster(&self) -> Vec<Called> {
        let mut roster: Vec<(u16, Called)> = Vec::new();
        for (member, it) in &self.members {
            if let MemberStatus::TakesPart(rank) = it.state {
                let address = SocketAddr::new(it.lobby.ip(), it.port);
                roster.push((rank, Called { member: *member, name: it.name.clone(), address }));
            }
        }
        roster.sort_by_key(|(rank, _)| *rank);
        roster.into_iter().map(|(_, called)| called).collect()
    }

    /// A round has ended with this outcome for this receiver; `whole` tells whether the round sent everything that some
    /// receiver lacked.
    pub fn ended(&mut self, now: Time, member: Token, outcome: &ReceiverOutcome, whole: bool) {
        let Some(member) = self.members.get_mut(&member).filter(|it| matches!(it.state, MemberStatus::TakesPart(_)))
        else {
            return;
        };
        member.state = match outcome {
            ReceiverOutcome::Done => MemberStatus::Done,
            ReceiverOutcome::Refuses(_) => MemberStatus::Out,
            ReceiverOutcome::Lost => {
                member.losses += 1;
                MemberStatus::Lost
            }
            // It will ask again, but need not be waited for.
            ReceiverOutcome::Lacks(_) => {
                member.losses += u32::from(whole);
                if member.losses > MOST_LOSSES { MemberStatus::Out } else { MemberStatus::Waits(now) }
            }
        };
        member.heard = now;
    }

    /// How many receivers wait for a round, and since when the first of them has.
    pub fn waiting(&self, now: Time) -> (usize, Option<Time>) {
        let since = |member: &Member| match member.state {
            MemberStatus::Waits(since) if member.heard + FORGOTTEN >= now => Some(since),
            _ => None,
        };
        let waiting = self.members.values().filter_map(since);
        (waiting.clone().count(), waiting.min())
    }

    /// How many receivers have everything.
    pub fn done(&self) -> usize {
        self.members.values().filter(|member| member.state == MemberStatus::Done).count()
    }

    /// The names of those that joined and do not have everything.
    pub fn without(&self) -> Vec<String> {
        let without = self.members.values().filter(|member| member.state != MemberStatus::Done);
        without.map(|member| member.name.clone()).collect()
    }

    /// When a receiver last joined.
    pub const fn joined(&self) -> Option<Time> {
        self.joined
    }
}
