//! The sender's side of the lobby.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;

use quantities::{Duration, Time};

use super::{Announce, Answer, Ask, Call, Join, LobbyMessage, Present, Token};
use crate::round::Outcome;
use quantities::shown;

/// The most receivers that are known at a time.
const MOST_MEMBERS: usize = 1_024;
/// A receiver may begin anew so often.
const MOST_NONCES: usize = 64;
/// The most answers that wait to be sent.
const MOST_ANSWERS: usize = 4_096;
/// How often it is told what can be had.
const BETWEEN_ANNOUNCES: Duration = ms(500);
/// How often a receiver is called until it is there; and for how long.
const BETWEEN_CALLS: Duration = ms(25);
const CALLS: Duration = ms(1_500);
/// A receiver that has not asked again for so long has left.
const FORGOTTEN: Duration = ms(3_000);
/// So often a receiver may be lost before it may not come back.
const MOST_LOSSES: u32 = 5;

const fn ms(milliseconds: u64) -> Duration {
    Duration::from_microseconds(1_000 * milliseconds)
}

/// To whom something is sent.
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
    /// Which.
    pub member: Token,
    /// What it is called.
    pub name: String,
    /// The address of its socket for rounds.
    pub address: SocketAddr,
}

#[derive(Clone, Debug)]
struct Member {
    name: String,
    nonce: Token,
    /// The number of its last join with that nonce, and the nonces that it had before.
    number: u64,
    former: BTreeSet<Token>,
    /// Where it is in the lobby, and its port for rounds.
    lobby: SocketAddr,
    port: u16,
    heard: Time,
    state: State,
    losses: u32,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum State {
    /// It waits for a round, since then.
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
    /// Whether a join with that nonce and number is none that was sent before: by somebody who sends again what was recorded.
    fn is_fresh(&self, nonce: Token, number: u64) -> bool {
        if nonce == self.nonce {
            number > self.number
        } else {
            !self.former.contains(&nonce) && self.former.len() < MOST_NONCES
        }
    }
}

/// Who is there, and who has what.
#[derive(Clone, Debug)]
pub struct Host {
    announce: Announce,
    announces_at: Time,
    members: BTreeMap<Token, Member>,
    /// The round that is being called, or goes on, and since when.
    call: Option<(Call, Time)>,
    /// When somebody joined last.
    joined: Option<Time>,
    /// What is to be answered.
    answers: Vec<(To, LobbyMessage)>,
}

impl Host {
    /// One that announces this, at once.
    pub const fn new(announce: Announce) -> Host {
        let members = BTreeMap::new();
        Host { announce, announces_at: Time::ZERO, members, call: None, joined: None, answers: Vec::new() }
    }

    /// Takes what somebody says; the name of a receiver that is new, or is back.
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
                // It has said its last with this nonce.
                left.number = u64::MAX;
                if !matches!(left.state, State::Done | State::Out) {
                    left.state = State::Lost;
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

    /// The name of a receiver that comes, or is back; and whether it may wait to be called, or is at it.
    fn join(&mut self, now: Time, from: SocketAddr, join: Join) -> (Option<String>, bool) {
        let name = format!("{} ({})", shown(&join.name), from.ip());
        let session = self.call.as_ref().map_or(0, |(call, _)| call.session);
        let Join { member: token, nonce, number, port, last, .. } = join;
        let Some(member) = self.members.get_mut(&token) else {
            if self.members.len() >= MOST_MEMBERS {
                return (None, false);
            }
            let (state, former) = (State::Waits(now), BTreeSet::new());
            let member =
                Member { name: name.clone(), nonce, number, former, lobby: from, port, heard: now, state, losses: 0 };
            self.members.insert(token, member);
            self.joined = Some(now);
            return (Some(name), true);
        };
        if !member.is_fresh(nonce, number) {
            return (None, false);
        }
        // Who is in a round asks for no other one, unless it has come out of it, or begins anew.
        let is_new = nonce != member.nonce;
        let comes = match member.state {
            State::TakesPart(_) | State::Called(..) => is_new || last == session,
            State::Lost => member.losses <= MOST_LOSSES,
            State::Waits(_) | State::Done | State::Out => is_new && member.losses <= MOST_LOSSES,
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
            member.losses += u32::from(matches!(member.state, State::TakesPart(_)));
            member.state = State::Waits(now);
            self.joined = Some(now);
        }
        (comes.then_some(name), !matches!(member.state, State::Lost | State::Done | State::Out))
    }

    fn present(&mut self, now: Time, present: &Present) {
        let Some((call, _)) = &self.call else { return };
        let member = self.members.values_mut().find(|member| member.nonce == present.nonce);
        if let Some(member) = member.filter(|_| call.session == present.session)
            && let State::Called(rank, _) = member.state
        {
            member.state = State::TakesPart(rank);
            member.heard = now;
        }
    }

    /// What is to be sent now.
    pub fn due(&mut self, now: Time) -> Vec<(To, LobbyMessage)> {
        let mut due = std::mem::take(&mut self.answers);
        if self.announces_at <= now {
            self.announces_at = now + BETWEEN_ANNOUNCES;
            due.push((To::Group, LobbyMessage::Announce(self.announce.clone())));
        }
        let Some((call, _)) = &self.call else { return due };
        for member in self.members.values_mut() {
            if let State::Called(rank, at) = &mut member.state
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

    /// When something will be to be sent.
    pub fn deadline(&self) -> Time {
        let calls = self.members.values().filter_map(|member| match member.state {
            State::Called(_, at) => Some(at),
            _ => None,
        });
        let answers = self.answers.first().map(|_| Time::ZERO);
        calls.chain(answers).chain([self.announces_at]).min().unwrap_or(self.announces_at)
    }

    /// Calls all that wait to a round, of which `call` says everything but who is who; how many they are.
    pub fn call(&mut self, now: Time, call: Call) -> u16 {
        let mut rank = 0;
        for member in self.members.values_mut() {
            match member.state {
                State::Waits(_) if member.heard + FORGOTTEN < now => member.state = State::Lost,
                State::Waits(_) if rank < u16::MAX - 1 => {
                    rank += 1;
                    member.state = State::Called(rank, now);
                }
                _ => {}
            }
        }
        self.call = Some((Call { ranks: rank + 1, ..call }, now));
        rank
    }

    /// Whether all that were called are there: true; or that it is too late for those who are not: false.
    pub fn is_assembled(&self, now: Time) -> Option<bool> {
        let missing = self.members.values().any(|member| matches!(member.state, State::Called(..)));
        let since = self.call.as_ref().map_or(now, |(_, since)| *since);
        if missing { (since + CALLS <= now).then_some(false) } else { Some(true) }
    }

    /// Gives up on those who were called and did not come; the others wait for another round. Their names.
    pub fn give_up(&mut self, now: Time) -> Vec<String> {
        let mut absent = Vec::new();
        for member in self.members.values_mut() {
            match member.state {
                State::Called(..) => {
                    member.state = State::Lost;
                    member.losses += 1;
                    absent.push(member.name.clone());
                }
                State::TakesPart(_) => {
                    member.state = State::Waits(now);
                    member.heard = now;
                }
                _ => {}
            }
        }
        absent
    }

    /// Who takes part, rank 1 first.
    pub fn roster(&self) -> Vec<Called> {
        let mut roster: Vec<(u16, Called)> = Vec::new();
        for (member, it) in &self.members {
            if let State::TakesPart(rank) = it.state {
                let address = SocketAddr::new(it.lobby.ip(), it.port);
                roster.push((rank, Called { member: *member, name: it.name.clone(), address }));
            }
        }
        roster.sort_by_key(|(rank, _)| *rank);
        roster.into_iter().map(|(_, called)| called).collect()
    }

    /// A round has ended so for this receiver; `whole` says whether everything was sent in it that somebody lacked.
    pub fn ended(&mut self, now: Time, member: Token, outcome: &Outcome, whole: bool) {
        let Some(member) = self.members.get_mut(&member).filter(|it| matches!(it.state, State::TakesPart(_))) else {
            return;
        };
        member.state = match outcome {
            Outcome::Done => State::Done,
            Outcome::Refuses(_) => State::Out,
            Outcome::Lost => {
                member.losses += 1;
                State::Lost
            }
            // It will ask again, but need not be waited for.
            Outcome::Lacks(_) => {
                member.losses += u32::from(whole);
                if member.losses > MOST_LOSSES { State::Out } else { State::Waits(now) }
            }
        };
        member.heard = now;
    }

    /// How many wait for a round, and since when the first of them does.
    pub fn waiting(&self, now: Time) -> (usize, Option<Time>) {
        let since = |member: &Member| match member.state {
            State::Waits(since) if member.heard + FORGOTTEN >= now => Some(since),
            _ => None,
        };
        let waiting = self.members.values().filter_map(since);
        (waiting.clone().count(), waiting.min())
    }

    /// How many have everything.
    pub fn done(&self) -> usize {
        self.members.values().filter(|member| member.state == State::Done).count()
    }

    /// The names of those that joined and have not got everything.
    pub fn without(&self) -> Vec<String> {
        let without = self.members.values().filter(|member| member.state != State::Done);
        without.map(|member| member.name.clone()).collect()
    }

    /// When somebody joined last.
    pub const fn joined(&self) -> Option<Time> {
        self.joined
    }
}
