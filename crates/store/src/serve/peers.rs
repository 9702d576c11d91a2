//! The sockets that connect this member to others.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, ErrorKind, Read, Write};
use std::net::SocketAddr;

use mio::net::TcpStream;
use mio::{Interest, Registry, Token};

use super::outbox::{Outbox, Outgoing};
use super::peer_message::PeerMessage;
use crate::large::LARGE;
use crate::link::{EphemeralKey, Link, LinkEvent, Secret};
use crate::member::{Identity, Peer, Subject};
use crate::record::Milliseconds;
use crate::tls::{Acceptor, Connector, Stream};

/// How much is read from a socket at a time. [B]
const READ: usize = 64 << 10;
/// A link that is not open after this time is closed. [ms]
pub(crate) const TIME_TO_OPEN: Milliseconds = 5_000;
/// After this time a member that could not be reached is connected to again. [ms]
const TIME_TO_RECONNECT: Milliseconds = 500;
/// The most links that others have begun and not opened yet.
pub(crate) const MOST_STRANGERS: usize = 64;
/// Messages are sealed as long as less than this waits for a socket. The others can still be dropped, or sent by
/// another socket. [B]
const MOST_SEALED: usize = 256 << 10;
/// How much is read from a socket, or sealed for it, before others have their turn. Assumed: about a millisecond's
/// work. [B]
const MOST_IN_TURN: usize = 512 << 10;

/// A socket to another member, or to a process that claims to be one.
#[derive(Debug)]
struct Socket {
    stream: Stream<TcpStream>,
    link: Link,
    since: Milliseconds,
    /// The address that it connects to, unless the other side has connected.
    connects_to: Option<SocketAddr>,
    /// The member at the other end, once that is known.
    peer: Option<Peer>,
    /// The large request or reply that was begun last, unless all of it is sealed.
    sealing: Option<Subject>,
}

/// An event from another member.
#[derive(Debug)]
pub enum Arrival {
    /// A link to a member has opened, whichever side has connected.
    Identified(Peer),
    /// A member is connected that was not before.
    Connected(Peer),
    /// A message from a member.
    Message(Identity, Vec<u8>),
    /// The last socket to a member has closed.
    Disconnected(Peer),
}

/// What members need to speak TLS with each other.
#[derive(Clone, Debug)]
pub struct Tls {
    /// For members that connect.
    pub acceptor: Acceptor,
    /// For members that it connects to.
    pub connector: Connector,
}

/// All sockets to members.
#[derive(Debug)]
pub struct Peers {
    own: Peer,
    secret: Secret,
    tls: Option<Tls>,
    sockets: BTreeMap<usize, Socket>,
    /// How often each member was rebuilt, as far as this one has heard.
    lives: BTreeMap<Identity, u32>,
    /// The socket by which each member is reached.
    tokens: BTreeMap<Identity, usize>,
    /// The messages that wait for each member.
    outboxes: BTreeMap<Identity, Outbox>,
    /// Members that are to be reached and are not connected.
    unreached: BTreeSet<Identity>,
    /// How many messages that may be lost were dropped.
    dropped: u64,
    /// The addresses of members, and when each may be tried next.
    next_attempts: BTreeMap<SocketAddr, Milliseconds>,
    /// Why the last connection to an address has met no member.
    failures: BTreeMap<SocketAddr, String>,
    /// Members that have messages to be sent since the last [`Peers::flush`].
    unsent: BTreeSet<Identity>,
    /// Sockets that may have more to read after their turn.
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
            next_attempts: BTreeMap::new(),
            failures: BTreeMap::new(),
            unsent: BTreeSet::new(),
            unread: BTreeSet::new(),
            buffer: vec![0; READ],
        }
    }

    /// Uses other certificates for new connections from now on.
    pub fn speak_tls(&mut self, tls: Option<Tls>) {
        self.tls = tls;
    }

    /// Whether a token belongs to a member's socket.
    pub fn has(&self, token: usize) -> bool {
        self.sockets.contains_key(&token)
    }

    /// How many messages were dropped because too much waited for their receiver.
    pub const fn dropped(&self) -> u64 {
        self.dropped
    }

    /// The memory of all that waits to be sent to members. [B]
    pub fn waiting(&self) -> usize {
        self.outboxes.values().map(Outbox::size).sum::<usize>()
            + self.sockets.values().map(|socket| socket.link.unsent().len()).sum::<usize>()
    }

    /// Why the last connection to an address has met no member.
    pub fn failure(&self, address: SocketAddr) -> Option<&str> {
        self.failures.get(&address).map(String::as_str)
    }

    /// Accepts a connection.
    pub fn accept(
        &mut self,
        registry: &Registry,
        token: usize,
        stream: TcpStream,
        key: EphemeralKey,
        now: Milliseconds,
    ) {
        if self.sockets.values().filter(|socket| !socket.link.is_open()).count() < MOST_STRANGERS {
            // One that can't be registered is closed.
            let _ = self.add(registry, token, stream, None, key, now);
        }
    }

    /// Connects to an address, unless that is under way.
    ///
    /// # Errors
    /// The system's.
    pub fn connect(
        &mut self,
        registry: &Registry,
        token: usize,
        address: SocketAddr,
        key: EphemeralKey,
        now: Milliseconds,
    ) -> io::Result<()> {
        if self.sockets.values().any(|socket| socket.connects_to == Some(address) && !socket.link.is_open()) {
            return Ok(());
        }
        let connected =
            TcpStream::connect(address).and_then(|stream| self.add(registry, token, stream, Some(address), key, now));
        connected.inspect_err(|error| drop(self.failures.insert(address, plain(error))))
    }

    fn add(
        &mut self,
        registry: &Registry,
        token: usize,
        mut stream: TcpStream,
        connects_to: Option<SocketAddr>,
        key: EphemeralKey,
        now: Milliseconds,
    ) -> io::Result<()> {
        registry.register(&mut stream, Token(token), Interest::READABLE | Interest::WRITABLE)?;
        stream.set_nodelay(true)?;
        let tls = self.tls.as_ref();
        let stream = match connects_to {
            Some(address) => Stream::connected(stream, tls.map(|tls| &tls.connector), address.ip()),
            None => Stream::accepted(stream, tls.map(|tls| &tls.acceptor)),
        }?;
        let link = Link::new(connects_to.is_some(), &self.secret, key, &self.own);
        self.sockets.insert(token, Socket { stream, link, since: now, connects_to, peer: None, sealing: None });
        Ok(())
    }

    /// The addresses to connect to now: those of unreached members. If another member has answered at an address, the
    /// former one is not there any more: connecting would meet the other one again, and break off the traffic on its
    /// present socket.
    pub fn due_connections<'a>(
        &mut self,
        known: impl Fn(Identity) -> Option<&'a Peer>,
        now: Milliseconds,
    ) -> Vec<SocketAddr> {
        let mut due = Vec::new();
        if self.unreached.is_empty() {
            return due;
        }
        let met = self.sockets.values().filter_map(|socket| socket.peer.as_ref());
        let taken: BTreeSet<SocketAddr> = met.chain([&self.own]).map(|peer| peer.address).collect();
        let unreached = self.unreached.iter().filter_map(|identity| known(*identity));
        for peer in unreached.filter(|peer| !taken.contains(&peer.address)) {
            let next = self.next_attempts.entry(peer.address).or_insert(0);
            if *next <= now {
                *next = now + TIME_TO_RECONNECT;
                due.push(peer.address);
            }
        }
        due
    }

    /// Queues a message to a member, to be sent with the next [`Peers::flush`], or as soon as the member is reached. A
    /// message that may be lost is dropped when too much waits for that member, and a large one when the same is still
    /// being sent.
    pub fn send(&mut self, to: Identity, message: Outgoing) {
        if message.subject.is_some_and(|subject| self.is_sending(to, subject)) {
            return;
        }
        self.dropped += self.outboxes.entry(to).or_default().push(message);
        if self.tokens.contains_key(&to) {
            self.unsent.insert(to)
        } else {
            self.unreached.insert(to)
        };
    }

    /// Whether this request or reply waits for a member, or was sent to it only in part.
    fn is_sending(&self, to: Identity, subject: Subject) -> bool {
        let socket = self.tokens.get(&to).and_then(|token| self.sockets.get(token));
        socket.is_some_and(|socket| socket.sealing == Some(subject))
            || self.outboxes.get(&to).is_some_and(|outbox| outbox.has(subject))
    }

    /// Whether a large message is arriving from some member.
    pub fn receives_large(&self) -> bool {
        self.sockets.values().any(|socket| socket.link.begun() >= LARGE)
    }

    /// Whether a member is connected.
    pub fn reaches(&self, member: Identity) -> bool {
        self.tokens.contains_key(&member)
    }

    /// The address of a connected member: the one that it has connected to, or the one that is announced.
    pub fn address(&self, member: Identity) -> Option<SocketAddr> {
        let socket = self.sockets.get(self.tokens.get(&member)?)?;
        socket.connects_to.or_else(|| Some(socket.peer.as_ref()?.address))
    }

    /// Drops everything that waits for a member that has gone.
    pub fn forget(&mut self, member: Identity) {
        self.outboxes.remove(&member);
        self.unreached.remove(&member);
    }

    /// Has a member connected to, unless it is already.
    pub fn expect(&mut self, member: Identity) {
        if !self.tokens.contains_key(&member) {
            self.unreached.insert(member);
        }
    }

    /// Sends all messages that wait, all those to one member at once.
    pub fn flush(&mut self) {
        for identity in std::mem::take(&mut self.unsent) {
            // A broken socket fails when it is read.
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
                socket.sealing = None;
                let Some(message) = self.outboxes.get_mut(&identity).and_then(Outbox::pop) else { break };
                socket.sealing = message.subject;
                socket.link.begin(message.pieces);
            }
            sealed += socket.link.unsent().len() - before;
            if socket.link.unsent().len() >= MOST_SEALED {
                socket.flush()?;
            }
        }
        socket.flush()
    }

    /// Whether a socket needs another turn even if it reports nothing new.
    pub fn has_more(&self) -> bool {
        !self.unread.is_empty() || !self.unsent.is_empty()
    }

    /// Takes the sockets that may have more to read.
    pub fn take_unread(&mut self) -> BTreeSet<usize> {
        std::mem::take(&mut self.unread)
    }

    /// Handles a socket that has something to read, or room to send.
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
                // It has connected to the address of a former member, at which it listens itself now.
                LinkEvent::Identified(peer) if (peer.identity, peer.life) == (self.own.identity, self.own.life) => {
                    return self.end(token, &io::Error::other("this is the store that calls"), arrivals);
                }
                LinkEvent::Identified(peer) if self.lives.get(&peer.identity).is_some_and(|life| *life > peer.life) => {
                    self.report_lost(token, self.lives[&peer.identity]);
                }
                LinkEvent::Identified(peer) => {
                    self.lives.insert(peer.identity, peer.life);
                    let is_former = |it: &Peer| it.identity == peer.identity && it.life < peer.life;
                    let former = self.sockets.iter().filter(|(_, socket)| socket.peer.as_ref().is_some_and(is_former));
                    let former: Vec<usize> = former.map(|(token, _)| *token).collect();
                    former.into_iter().for_each(|token| self.report_lost(token, peer.life));
                    if !self.tokens.contains_key(&peer.identity) {
                        arrivals.push(Arrival::Connected(peer.clone()));
                    }
                    self.identify(token, &peer);
                    arrivals.push(Arrival::Identified(peer));
                }
                LinkEvent::Message(message) => {
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

    /// The member has another life, in which others have to meet it: all sockets are closed, and those members are
    /// connected to again.
    pub fn begin_life(&mut self, life: u32, arrivals: &mut Vec<Arrival>) {
        self.own.life = life;
        self.lives.insert(self.own.identity, life);
        self.unreached.extend(self.tokens.keys());
        for token in self.sockets.keys().copied().collect::<Vec<usize>>() {
            self.end(token, &io::Error::other("this member has another life"), arrivals);
        }
    }

    /// The process at the other end was taken for lost, and another one is that member now. It is told so, and its
    /// messages are ignored.
    fn report_lost(&mut self, token: usize, life: u32) {
        let Some(socket) = self.sockets.get_mut(&token) else { return };
        socket.peer = None;
        socket.link.send(&PeerMessage::lost(life));
        // If this fails, the other side connects again.
        let _ = socket.flush();
    }

    fn identity(&self, token: usize) -> Option<Identity> {
        self.sockets.get(&token)?.peer.as_ref().map(|peer| peer.identity)
    }

    /// Notes which member is at the other end of a socket.
    fn identify(&mut self, token: usize, peer: &Peer) {
        let Some(socket) = self.sockets.get_mut(&token) else { return };
        socket.peer = Some(peer.clone());
        if let Some(address) = socket.connects_to {
            self.failures.remove(&address);
        }
        // The newest socket is known to be alive. What is lost with an older one is asked for again, or sent again
        // since it was not acknowledged.
        self.tokens.insert(peer.identity, token);
        self.unreached.remove(&peer.identity);
    }

    fn end(&mut self, token: usize, error: &io::Error, arrivals: &mut Vec<Arrival>) {
        let Some(mut socket) = self.sockets.remove(&token) else { return };
        // If the other side was refused, it can tell by this that it has met a store.
        let _ = socket.flush();
        socket.stream.close();
        let Some(peer) = socket.peer else {
            if let Some(address) = socket.connects_to {
                self.failures.insert(address, why(error, &socket.link));
            }
            return;
        };
        if self.tokens.get(&peer.identity) != Some(&token) {
            return;
        }
        // If two members have connected to each other at the same time, the other socket is left.
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
                arrivals.push(Arrival::Disconnected(peer));
            }
        }
    }

    /// Closes links that were not opened in time.
    pub fn tick(&mut self, now: Milliseconds, arrivals: &mut Vec<Arrival>) {
        let late = |socket: &Socket| !socket.link.is_open() && now.saturating_sub(socket.since) > TIME_TO_OPEN;
        let late: Vec<usize> =
            self.sockets.iter().filter(|(_, socket)| late(socket)).map(|(token, _)| *token).collect();
        late.into_iter().for_each(|token| self.end(token, &ErrorKind::TimedOut.into(), arrivals));
    }
}

/// The system's error, without its number.
fn plain(error: &io::Error) -> String {
    error.kind().to_string()
}

/// Why a socket that has ended has met no member.
fn why(error: &io::Error, link: &Link) -> String {
    match error.kind() {
        // A store that can't open what this side has sealed ends the connection.
        ErrorKind::UnexpectedEof | ErrorKind::ConnectionReset | ErrorKind::BrokenPipe if link.has_met_a_store() => {
            crate::link::Error::Sealed.to_string()
        }
        ErrorKind::UnexpectedEof | ErrorKind::ConnectionReset | ErrorKind::BrokenPipe => {
            crate::link::Error::Stranger.to_string()
        }
        ErrorKind::TimedOut => format!("no answer for {} s", TIME_TO_OPEN / 1000),
        ErrorKind::Other | ErrorKind::InvalidData => error.to_string(),
        _ => plain(error),
    }
}

impl Socket {
    /// Reads what has arrived, up to the bound of one turn. Returns whether there may be more.
    fn read(&mut self, buffer: &mut [u8], events: &mut Vec<LinkEvent>) -> io::Result<bool> {
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
            // Earlier writes may still have to go out.
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
