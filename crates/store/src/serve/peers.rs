//! The sockets that connect this member with others.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, ErrorKind, Read, Write};
use std::net::SocketAddr;

use mio::net::TcpStream;
use mio::{Interest, Registry, Token};

use super::outbox::Outbox;
use super::told::Told;
use crate::link::{Event, Link, Nonce, Secret};
use crate::member::{Identity, Peer};
use crate::record::Milliseconds;
use crate::tls::{Acceptor, Connector, Stream};

/// As much is read from a socket at a time. [B]
const READ: usize = 64 << 10;
/// A link is closed that is not open after so long. [ms]
const TIME_TO_OPEN: Milliseconds = 5_000;
/// After how long a member is called again that could not be reached. [ms]
const TIME_TO_CALL_AGAIN: Milliseconds = 500;
/// As many links wait to be opened by others at once.
const MOST_STRANGERS: usize = 64;
/// Messages are sealed as long as less than this waits for a socket. The rest stays where it can be dropped, or sent by another socket. [B]
const MOST_SEALED: usize = 1 << 20;
/// As much is read from a socket, or sealed for it, before others have their turn: some milliseconds' work. [B]
const MOST_IN_TURN: usize = 4 << 20;

/// A socket to another member, or to whoever takes itself for one.
#[derive(Debug)]
struct Socket {
    stream: Stream<TcpStream>,
    link: Link,
    since: Milliseconds,
    /// The address that was called, unless the other has called.
    called: Option<SocketAddr>,
    /// Who it is, once that is known.
    peer: Option<Peer>,
}

/// What comes from other members.
#[derive(Debug)]
pub enum Arrival {
    /// A member was called, or has called.
    Met(Peer),
    /// A socket leads to a member to which none led before.
    Reached(Peer),
    /// A message of a member.
    Message(Identity, Vec<u8>),
    /// No socket leads to a member any more that has led there.
    Lost(Peer),
}

/// What members need to speak TLS with each other.
#[derive(Clone, Debug)]
pub struct Tls {
    /// With those that call.
    pub acceptor: Acceptor,
    /// With those that are called.
    pub connector: Connector,
}

/// All sockets to members.
#[derive(Debug)]
pub struct Peers {
    own: Peer,
    secret: Secret,
    tls: Option<Tls>,
    sockets: BTreeMap<usize, Socket>,
    /// How often each member was rebuilt, as far as was heard.
    lives: BTreeMap<Identity, u32>,
    /// By which sockets each member is reached.
    tokens: BTreeMap<Identity, usize>,
    /// What is to be sent to each member.
    outboxes: BTreeMap<Identity, Outbox>,
    /// Members for whom something waits though no socket leads to them.
    unreached: BTreeSet<Identity>,
    /// As many messages were dropped that may be lost.
    dropped: u64,
    /// Where members are called, and when the next time.
    calls: BTreeMap<SocketAddr, Milliseconds>,
    /// Why nobody was met at an address that was called, the last time.
    failures: BTreeMap<SocketAddr, String>,
    /// Members that have something to send since the last [`Peers::flush`].
    unsent: BTreeSet<Identity>,
    /// Sockets that may have more to read than was read in their turn.
    unread: BTreeSet<usize>,
    buffer: Vec<u8>,
}

impl Peers {
    /// No socket yet.
    pub fn new(own: Peer, secret: Secret, tls: Option<Tls>) -> Peers {
        Peers {
            lives: BTreeMap::from([(own.identity, own.life)]),
            own,
            secret,
            tls,
            sockets: BTreeMap::new(),
            tokens: BTreeMap::new(),
            outboxes: BTreeMap::new(),
            unreached: BTreeSet::new(),
            dropped: 0,
            calls: BTreeMap::new(),
            failures: BTreeMap::new(),
            unsent: BTreeSet::new(),
            unread: BTreeSet::new(),
            buffer: vec![0; READ],
        }
    }

    /// Speaks TLS by other certificates from now on, with whom it connects.
    pub fn speak_tls(&mut self, tls: Option<Tls>) {
        self.tls = tls;
    }

    /// Whether a token is that of a member's socket.
    pub fn has(&self, token: usize) -> bool {
        self.sockets.contains_key(&token)
    }

    /// As many messages were dropped as were too much for members that did not take them.
    pub const fn dropped(&self) -> u64 {
        self.dropped
    }

    /// What waits for members. [B]
    pub fn waiting(&self) -> usize {
        self.outboxes.values().map(Outbox::size).sum::<usize>()
            + self.sockets.values().map(|socket| socket.link.unsent().len()).sum::<usize>()
    }

    /// Why nobody was met at an address, the last time that it was called.
    pub fn failure(&self, address: SocketAddr) -> Option<&str> {
        self.failures.get(&address).map(String::as_str)
    }

    /// Somebody has called.
    pub fn let_in(&mut self, registry: &Registry, token: usize, stream: TcpStream, nonce: Nonce, now: Milliseconds) {
        if self.sockets.values().filter(|socket| !socket.link.is_open()).count() < MOST_STRANGERS {
            // One that can't be registered is closed.
            let _ = self.add(registry, token, stream, None, nonce, now);
        }
    }

    /// Calls whoever listens at an address, unless that is under way.
    ///
    /// # Errors
    /// What the system says.
    pub fn call(
        &mut self,
        registry: &Registry,
        token: usize,
        address: SocketAddr,
        nonce: Nonce,
        now: Milliseconds,
    ) -> io::Result<()> {
        if self.sockets.values().any(|socket| socket.called == Some(address) && !socket.link.is_open()) {
            return Ok(());
        }
        let called =
            TcpStream::connect(address).and_then(|stream| self.add(registry, token, stream, Some(address), nonce, now));
        called.inspect_err(|error| drop(self.failures.insert(address, plain(error))))
    }

    fn add(
        &mut self,
        registry: &Registry,
        token: usize,
        mut stream: TcpStream,
        called: Option<SocketAddr>,
        nonce: Nonce,
        now: Milliseconds,
    ) -> io::Result<()> {
        registry.register(&mut stream, Token(token), Interest::READABLE | Interest::WRITABLE)?;
        stream.set_nodelay(true)?;
        let tls = self.tls.as_ref();
        let stream = match called {
            Some(address) => Stream::connected(stream, tls.map(|tls| &tls.connector), address.ip()),
            None => Stream::accepted(stream, tls.map(|tls| &tls.acceptor)),
        }?;
        let link = Link::new(called.is_some(), self.secret.clone(), nonce, &self.own);
        self.sockets.insert(token, Socket { stream, link, since: now, called, peer: None });
        Ok(())
    }

    /// Who is to be called now: members for whom something waits and who are not reached. Where another member has answered, they are no more: who
    /// called there would meet that one again, and break off what is under way on the socket that leads to it.
    pub fn due_calls<'a>(
        &mut self,
        known: impl Fn(Identity) -> Option<&'a Peer>,
        now: Milliseconds,
    ) -> Vec<SocketAddr> {
        let mut due = Vec::new();
        let met = self.sockets.values().filter_map(|socket| socket.peer.as_ref());
        let taken: BTreeSet<SocketAddr> = met.chain([&self.own]).map(|peer| peer.address).collect();
        let unreached = self.unreached.iter().filter_map(|identity| known(*identity));
        for peer in unreached.filter(|peer| !taken.contains(&peer.address)) {
            let next = self.calls.entry(peer.address).or_insert(0);
            if *next <= now {
                *next = now + TIME_TO_CALL_AGAIN;
                due.push(peer.address);
            }
        }
        due
    }

    /// A message to a member, which is sent with the next [`Peers::flush`], or as soon as the member is reached. One that may be lost is dropped
    /// when too much waits for that member.
    pub fn send(&mut self, to: Identity, message: Vec<u8>, may_be_lost: bool) {
        self.dropped += self.outboxes.entry(to).or_default().push(message, may_be_lost);
        if self.tokens.contains_key(&to) {
            self.unsent.insert(to)
        } else {
            self.unreached.insert(to)
        };
    }

    /// Whether a socket leads to a member.
    pub fn reaches(&self, member: Identity) -> bool {
        self.tokens.contains_key(&member)
    }

    /// A member is there no more: nothing is kept for it.
    pub fn forget(&mut self, member: Identity) {
        self.outboxes.remove(&member);
        self.unreached.remove(&member);
    }

    /// A member is to be called, if it is not reached.
    pub fn expect(&mut self, member: Identity) {
        if !self.tokens.contains_key(&member) {
            self.unreached.insert(member);
        }
    }

    /// Sends what there is to send, all messages to a member at once.
    pub fn flush(&mut self) {
        for identity in std::mem::take(&mut self.unsent) {
            // A socket that is broken tells so when it is read.
            let _ = self.flush_to(identity);
        }
    }

    fn flush_to(&mut self, identity: Identity) -> io::Result<()> {
        let Some(socket) = self.tokens.get(&identity).and_then(|token| self.sockets.get_mut(token)) else {
            return Ok(());
        };
        let mut sealed = 0;
        while socket.link.unsent().len() < MOST_SEALED {
            if sealed >= MOST_IN_TURN {
                self.unsent.insert(identity);
                break;
            }
            let before = socket.link.unsent().len();
            if socket.link.seal_more(MOST_SEALED) {
                let Some(message) = self.outboxes.get_mut(&identity).and_then(Outbox::pop) else { break };
                socket.link.begin(message);
            }
            sealed += socket.link.unsent().len() - before;
            if socket.link.unsent().len() >= MOST_SEALED {
                socket.flush()?;
            }
        }
        socket.flush()
    }

    /// Whether there is more to do for a socket than was done in its turn, though it tells nothing new.
    pub fn has_more(&self) -> bool {
        !self.unread.is_empty() || !self.unsent.is_empty()
    }

    /// Sockets of which not all was read that had come.
    pub fn take_unread(&mut self) -> BTreeSet<usize> {
        std::mem::take(&mut self.unread)
    }

    /// A socket has something to read, or room to send: what comes of it.
    pub fn turn(&mut self, token: usize, arrivals: &mut Vec<Arrival>) {
        let Some(socket) = self.sockets.get_mut(&token) else { return };
        let mut events = Vec::new();
        let outcome = socket.read(&mut self.buffer, &mut events).and_then(|has_more| {
            if has_more {
                self.unread.insert(token);
            }
            socket.flush()
        });
        for event in events {
            match event {
                // It listens where another member did before, and has called that one.
                Event::Met(peer) if (peer.identity, peer.life) == (self.own.identity, self.own.life) => {
                    return self.end(token, &io::Error::other("this is the store that calls"), arrivals);
                }
                Event::Met(peer) if self.lives.get(&peer.identity).is_some_and(|life| *life > peer.life) => {
                    self.tell_that_it_is_lost(token, self.lives[&peer.identity]);
                }
                Event::Met(peer) => {
                    self.lives.insert(peer.identity, peer.life);
                    let is_former = |it: &Peer| it.identity == peer.identity && it.life < peer.life;
                    let former = self.sockets.iter().filter(|(_, socket)| socket.peer.as_ref().is_some_and(is_former));
                    let former: Vec<usize> = former.map(|(token, _)| *token).collect();
                    former.into_iter().for_each(|token| self.tell_that_it_is_lost(token, peer.life));
                    if !self.tokens.contains_key(&peer.identity) {
                        arrivals.push(Arrival::Reached(peer.clone()));
                    }
                    self.meet(token, &peer);
                    arrivals.push(Arrival::Met(peer));
                }
                Event::Message(message) => {
                    arrivals.extend(self.identity(token).map(|it| Arrival::Message(it, message)))
                }
            }
        }
        let identity = self.identity(token).filter(|identity| self.tokens.get(identity) == Some(&token));
        let outcome = outcome.and_then(|()| identity.map_or(Ok(()), |identity| self.flush_to(identity)));
        if let Err(error) = outcome {
            self.end(token, &error, arrivals);
        }
    }

    /// Whoever is there was taken for lost, and somebody else is that member now. It is told so, and nothing that it says is taken.
    fn tell_that_it_is_lost(&mut self, token: usize, life: u32) {
        let Some(socket) = self.sockets.get_mut(&token) else { return };
        socket.peer = None;
        socket.link.send(&Told::lost(life));
        // Should it fail, the other one calls again.
        let _ = socket.flush();
    }

    fn identity(&self, token: usize) -> Option<Identity> {
        self.sockets.get(&token)?.peer.as_ref().map(|peer| peer.identity)
    }

    /// It is known now to whom a socket leads.
    fn meet(&mut self, token: usize, peer: &Peer) {
        let Some(socket) = self.sockets.get_mut(&token) else { return };
        socket.peer = Some(peer.clone());
        if let Some(address) = socket.called {
            self.failures.remove(&address);
        }
        // The newest is one on which somebody listens. What is lost with another one is asked for again, or sent again as not acknowledged.
        self.tokens.insert(peer.identity, token);
        self.unreached.remove(&peer.identity);
    }

    fn end(&mut self, token: usize, error: &io::Error, arrivals: &mut Vec<Arrival>) {
        let Some(mut socket) = self.sockets.remove(&token) else { return };
        socket.stream.close();
        let Some(peer) = socket.peer else {
            if let Some(address) = socket.called {
                self.failures.insert(address, why(error, &socket.link));
            }
            return;
        };
        if self.tokens.get(&peer.identity) != Some(&token) {
            return;
        }
        // Of two members that have called each other at once one socket is left.
        let other =
            self.sockets.iter().find(|(_, socket)| socket.peer.as_ref().is_some_and(|it| it.identity == peer.identity));
        match other.map(|(token, _)| *token) {
            Some(other) => {
                self.tokens.insert(peer.identity, other);
                self.unsent.insert(peer.identity);
            }
            None => {
                self.tokens.remove(&peer.identity);
                if self.outboxes.get(&peer.identity).is_some_and(|outbox| !outbox.is_empty()) {
                    self.unreached.insert(peer.identity);
                }
                arrivals.push(Arrival::Lost(peer));
            }
        }
    }

    /// Closes what was not opened in time.
    pub fn look(&mut self, now: Milliseconds, arrivals: &mut Vec<Arrival>) {
        let late = |socket: &Socket| !socket.link.is_open() && now.saturating_sub(socket.since) > TIME_TO_OPEN;
        let late: Vec<usize> =
            self.sockets.iter().filter(|(_, socket)| late(socket)).map(|(token, _)| *token).collect();
        late.into_iter().for_each(|token| self.end(token, &ErrorKind::TimedOut.into(), arrivals));
    }
}

/// What the system says, without its number.
fn plain(error: &io::Error) -> String {
    error.kind().to_string()
}

/// Why nobody was met by a socket that has ended.
fn why(error: &io::Error, link: &Link) -> String {
    match error.kind() {
        // Who can't open what this side has sealed ends the connection.
        ErrorKind::UnexpectedEof | ErrorKind::ConnectionReset | ErrorKind::BrokenPipe if link.has_met_a_store() => {
            crate::link::Error::Sealed.to_string()
        }
        ErrorKind::UnexpectedEof | ErrorKind::ConnectionReset | ErrorKind::BrokenPipe => {
            crate::link::Error::Stranger.to_string()
        }
        ErrorKind::TimedOut => format!("nobody has answered for {} s", TIME_TO_OPEN / 1000),
        ErrorKind::Other | ErrorKind::InvalidData => error.to_string(),
        _ => plain(error),
    }
}

impl Socket {
    /// Reads what has come, as much as may be at a time. Whether there may be more.
    fn read(&mut self, buffer: &mut [u8], events: &mut Vec<Event>) -> io::Result<bool> {
        let mut read = 0;
        while read < MOST_IN_TURN {
            match self.stream.read(buffer) {
                Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
                Ok(bytes) => {
                    read += bytes;
                    self.link.received(&buffer[..bytes]);
                    while let Some(event) = self.link.next_event().map_err(io::Error::other)? {
                        events.push(event);
                    }
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock || error.kind() == ErrorKind::NotConnected => {
                    return Ok(false);
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(true)
    }

    fn flush(&mut self) -> io::Result<()> {
        loop {
            let unsent = self.link.unsent();
            // What was written may still have to go out.
            let outcome = match unsent.is_empty() {
                true => self.stream.flush().map(|()| None),
                false => self.stream.write(unsent).map(Some),
            };
            match outcome {
                Ok(None) => return Ok(()),
                Ok(Some(0)) => return Err(ErrorKind::WriteZero.into()),
                Ok(Some(bytes)) => self.link.was_sent(bytes),
                Err(error) if error.kind() == ErrorKind::WouldBlock || error.kind() == ErrorKind::NotConnected => {
                    return Ok(());
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}

#[cfg(test)]
mod tests;
