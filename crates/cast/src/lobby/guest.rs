//! A receiver's side of the lobby.

use std::net::SocketAddr;

use quantities::{Duration, Time};

use super::{Announce, Call, Here, Join, Said, Token};

/// How often it asks until it is called.
const BETWEEN_JOINS: Duration = Duration::from_microseconds(250_000);
/// The sender is gone when it does not announce anything for so long.
const GONE: Duration = Duration::from_microseconds(5_000_000);

/// What a receiver hears.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Heard {
    /// Something can be had there.
    Announced(Announce, SocketAddr),
    /// It is called to a round, by whom is there.
    Called(Call, SocketAddr),
}

/// A receiver, and what it waits for.
#[derive(Clone, Debug)]
pub struct Guest {
    name: String,
    nonce: Token,
    /// The port of its socket for rounds.
    port: u16,
    wants: Option<Wanted>,
}

/// What it has joined.
#[derive(Clone, Copy, Debug)]
struct Wanted {
    run: Token,
    member: Token,
    host: SocketAddr,
    /// When it asks next, and when it last heard of its sender.
    asks_at: Time,
    heard: Time,
    /// The round that it is in, or was in last; whether it is there now.
    session: u32,
    is_there: bool,
}

impl Guest {
    /// A receiver of that name, whose socket for rounds has this port, and that wants nothing yet.
    pub const fn new(name: String, nonce: Token, port: u16) -> Guest {
        Guest { name, nonce, port, wants: None }
    }

    /// It wants what `host` has announced.
    pub fn join(&mut self, now: Time, run: Token, member: Token, host: SocketAddr) {
        self.wants = Some(Wanted { run, member, host, asks_at: now, heard: now, session: 0, is_there: false });
    }

    /// It wants it no more; what is to be said of that.
    pub fn leave(&mut self) -> Option<(SocketAddr, Said)> {
        self.wants.take().map(|wanted| (wanted.host, Said::Leave(self.nonce)))
    }

    /// It wants nothing any more, and the sender knows.
    pub const fn forget(&mut self) {
        self.wants = None;
    }

    /// Takes what somebody says, and puts what is to be answered into `answers`.
    pub fn take(
        &mut self,
        now: Time,
        from: SocketAddr,
        said: Said,
        answers: &mut Vec<(SocketAddr, Said)>,
    ) -> Option<Heard> {
        match (said, &mut self.wants) {
            (Said::Announce(announce), None) => Some(Heard::Announced(announce, from)),
            (Said::Announce(announce), Some(wanted)) => {
                if announce.run == wanted.run && from == wanted.host {
                    wanted.heard = now;
                }
                None
            }
            (Said::Call(call), Some(wanted)) if call.nonce == self.nonce && from == wanted.host => {
                wanted.heard = now;
                if wanted.is_there && call.session == wanted.session {
                    answers.push((from, here(self.nonce, call.session)));
                    return None;
                }
                let is_fit = call.session > wanted.session && (1..call.ranks).contains(&call.rank);
                (is_fit && call.port > 0).then_some(Heard::Called(call, from))
            }
            _ => None,
        }
    }

    /// It is ready for the round to which it was called; what is to be said of that.
    pub fn is_there(&mut self, session: u32) -> Option<(SocketAddr, Said)> {
        let wanted = self.wants.as_mut()?;
        (wanted.session, wanted.is_there) = (session, true);
        Some((wanted.host, here(self.nonce, session)))
    }

    /// The round is over, and it wants another.
    pub fn comes_back(&mut self, now: Time) {
        if let Some(wanted) = &mut self.wants {
            (wanted.is_there, wanted.asks_at, wanted.heard) = (false, now, now);
        }
    }

    /// What is to be said now.
    pub fn due(&mut self, now: Time) -> Option<(SocketAddr, Said)> {
        let wanted = self.wants.as_mut().filter(|wanted| !wanted.is_there && wanted.asks_at <= now)?;
        wanted.asks_at = now + BETWEEN_JOINS;
        let Wanted { run, member, host, session, .. } = *wanted;
        let name: String = self.name.chars().take(100).collect();
        Some((host, Said::Join(Join { run, member, nonce: self.nonce, name, port: self.port, last: session })))
    }

    /// When something will be to be said.
    pub fn deadline(&self) -> Option<Time> {
        self.wants.filter(|wanted| !wanted.is_there).map(|wanted| wanted.asks_at.min(wanted.heard + GONE))
    }

    /// Whether nothing was heard of the sender for long: then it wants nothing more.
    pub fn is_left(&mut self, now: Time) -> bool {
        let is_left = self.wants.is_some_and(|wanted| !wanted.is_there && wanted.heard + GONE <= now);
        if is_left {
            self.wants = None;
        }
        is_left
    }
}

const fn here(nonce: Token, session: u32) -> Said {
    Said::Here(Here { nonce, session })
}
