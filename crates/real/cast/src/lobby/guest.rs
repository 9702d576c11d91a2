//! A receiver's side of the lobby.

use std::collections::BTreeSet;
use std::net::SocketAddr;

use quantities::{Duration, Time};

use super::{Announce, Answer, Ask, Call, Join, LobbyMessage, Present, Token};

/// How often it asks until it is called.
const BETWEEN_JOINS: Duration = Duration::from_microseconds(250_000);
/// The sender counts as gone when it has not answered for this long.
const GONE: Duration = Duration::from_microseconds(5_000_000);
/// An answer to a join older than this many joins is no longer a sign of life.
const RECENT: u64 = 8;
/// How many finished runs of senders are remembered.
const MOST_RUNS: usize = 1_000;

/// What a receiver learns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Heard {
    /// A transfer is available there, and its sender has just answered.
    Answered(Announce, SocketAddr),
    /// It is called to a round, by this sender.
    Called(Call, SocketAddr),
}

/// A receiver, and what it waits for.
#[derive(Clone, Debug)]
pub struct Guest {
    name: String,
    nonce: Token,
    /// How many questions were asked with this nonce.
    asked: u64,
    /// The port of its socket for rounds.
    port: u16,
    wants: Option<Wanted>,
    /// Finished runs of senders.
    over: BTreeSet<Token>,
}

/// The transfer that it has joined.
#[derive(Clone, Copy, Debug)]
struct Wanted {
    run: Token,
    member: Token,
    host: SocketAddr,
    /// When it asks next, and when it last heard from its sender.
    asks_at: Time,
    heard: Time,
    /// The last of its questions that was answered.
    answered: u64,
    /// The round that it is in, or was last in; and whether it is present now.
    session: u32,
    is_there: bool,
}

impl Guest {
    /// A receiver of this name, whose socket for rounds has this port, and that wants nothing yet. Nobody else has
    /// drawn this nonce.
    pub const fn new(name: String, nonce: Token, port: u16) -> Guest {
        Guest { name, nonce, asked: 0, port, wants: None, over: BTreeSet::new() }
    }

    /// Joins what `host` has announced and just confirmed.
    pub fn join(&mut self, now: Time, run: Token, member: Token, host: SocketAddr) {
        let answered = self.asked;
        self.wants =
            Some(Wanted { run, member, host, asks_at: now, heard: now, answered, session: 0, is_there: false });
    }

    /// Leaves the transfer; returns what to send then.
    pub fn leave(&mut self) -> Option<(SocketAddr, LobbyMessage)> {
        let left = self.nonce;
        self.forget().map(|wanted| (wanted.host, LobbyMessage::Leave(left)))
    }

    /// This run of a sender is finished.
    pub fn is_over(&mut self, run: Token) {
        if self.over.len() >= MOST_RUNS {
            self.over.clear();
        }
        self.over.insert(run);
        self.forget();
    }

    /// It wants nothing any more. Everything sent to it until now is void: a nonce is used for one sender, once.
    fn forget(&mut self) -> Option<Wanted> {
        self.nonce = self.nonce.next();
        self.asked = 0;
        self.wants.take()
    }

    /// Handles a message, and puts answers into `answers`.
    pub fn take(
        &mut self,
        now: Time,
        from: SocketAddr,
        message: LobbyMessage,
        answers: &mut Vec<(SocketAddr, LobbyMessage)>,
    ) -> Option<Heard> {
        match (message, &mut self.wants) {
            // It may be an old announcement, replayed by somebody: only an answer shows that its sender is alive.
            (LobbyMessage::Announce(Announce { run, .. }), None) if !self.over.contains(&run) => {
                self.asked += 1;
                answers.push((from, LobbyMessage::Ask(Ask { run, nonce: self.nonce, number: self.asked })));
                None
            }
            (LobbyMessage::Answer(Answer { announce, nonce, number }), wants) if nonce == self.nonce => match wants {
                None => {
                    let is_new = number <= self.asked && !self.over.contains(&announce.run);
                    is_new.then_some(Heard::Answered(announce, from))
                }
                Some(wanted) => {
                    let is_recent = number > wanted.answered && number <= self.asked && number + RECENT > self.asked;
                    if is_recent && announce.run == wanted.run && from == wanted.host {
                        (wanted.heard, wanted.answered) = (now, number);
                    }
                    None
                }
            },
            (LobbyMessage::Call(call), Some(wanted)) if call.nonce == self.nonce && from == wanted.host => {
                if wanted.is_there && call.session == wanted.session {
                    answers.push((from, present(self.nonce, call.session)));
                    return None;
                }
                let is_fit = call.session > wanted.session && (1..call.ranks).contains(&call.rank) && call.port > 0;
                is_fit.then(|| {
                    wanted.heard = now;
                    Heard::Called(call, from)
                })
            }
            _ => None,
        }
    }

    /// It is ready for the round to which it was called; returns what to send then.
    pub fn is_there(&mut self, session: u32) -> Option<(SocketAddr, LobbyMessage)> {
        let wanted = self.wants.as_mut()?;
        (wanted.session, wanted.is_there) = (session, true);
        Some((wanted.host, present(self.nonce, session)))
    }

    /// The round is over, and it wants another.
    pub fn comes_back(&mut self, now: Time) {
        if let Some(wanted) = &mut self.wants {
            (wanted.is_there, wanted.asks_at, wanted.heard) = (false, now, now);
        }
    }

    /// What to send now.
    pub fn due(&mut self, now: Time) -> Option<(SocketAddr, LobbyMessage)> {
        let wanted = self.wants.as_mut().filter(|wanted| !wanted.is_there && wanted.asks_at <= now)?;
        wanted.asks_at = now + BETWEEN_JOINS;
        self.asked += 1;
        let Wanted { run, member, host, session, .. } = *wanted;
        let (nonce, number, port) = (self.nonce, self.asked, self.port);
        let name: String = self.name.chars().take(100).collect();
        Some((host, LobbyMessage::Join(Join { run, member, nonce, number, name, port, last: session })))
    }

    /// When there will be something to send.
    pub fn deadline(&self) -> Option<Time> {
        self.wants.filter(|wanted| !wanted.is_there).map(|wanted| wanted.asks_at.min(wanted.heard + GONE))
    }

    /// Whether nothing has been heard from the sender for long: then it wants nothing more.
    pub fn is_left(&mut self, now: Time) -> bool {
        let is_left = self.wants.is_some_and(|wanted| !wanted.is_there && wanted.heard + GONE <= now);
        if is_left {
            self.forget();
        }
        is_left
    }
}

const fn present(nonce: Token, session: u32) -> LobbyMessage {
    LobbyMessage::Present(Present { nonce, session })
}
