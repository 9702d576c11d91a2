//! The sockets that connect this member with others.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, ErrorKind, Read, Write};
use std::net::SocketAddr;

use mio::net::TcpStream;
use mio::{Interest, Registry, Token};

use crate::link::{Event, Link, Nonce, Secret};
use crate::member::{Identity, Peer};
use crate::record::Milliseconds;

/// As much is read from a socket at a time. [B]
const READ: usize = 64 << 10;
/// A link is closed that is not open after so long. [ms]
const TIME_TO_OPEN: Milliseconds = 5_000;
/// After how long a member is called again that could not be reached. [ms]
const TIME_TO_CALL_AGAIN: Milliseconds = 500;
/// As many links wait to be opened by others at once.
const MOST_STRANGERS: usize = 64;

/// A socket to another member, or to whoever takes itself for one.
#[derive(Debug)]
struct Socket {
    stream: TcpStream,
    link: Link,
    since: Milliseconds,
    /// Who it is, once that is known.
    identity: Option<Identity>,
}

/// What comes from other members.
#[derive(Debug)]
pub enum Arrival {
    /// A member was called, or has called.
    Met(Peer),
    /// A message of a member.
    Message(Identity, Vec<u8>),
}

/// All sockets to members.
#[derive(Debug)]
pub struct Peers {
    own: Peer,
    secret: Secret,
    sockets: BTreeMap<usize, Socket>,
    /// By which sockets each member is reached.
    tokens: BTreeMap<Identity, usize>,
    /// What is to be sent to members that are being called.
    waiting: BTreeMap<Identity, Vec<Vec<u8>>>,
    /// Where members are called, and when the next time.
    calls: BTreeMap<SocketAddr, Milliseconds>,
    /// Sockets that have something to send since the last [`Peers::flush`].
    unsent: BTreeSet<usize>,
    buffer: Vec<u8>,
}

impl Peers {
    /// No socket yet.
    pub fn new(own: Peer, secret: Secret) -> Peers {
        Peers {
            own,
            secret,
            sockets: BTreeMap::new(),
            tokens: BTreeMap::new(),
            waiting: BTreeMap::new(),
            calls: BTreeMap::new(),
            unsent: BTreeSet::new(),
            buffer: vec![0; READ],
        }
    }

    /// Whether a token is that of a member's socket.
    pub fn has(&self, token: usize) -> bool {
        self.sockets.contains_key(&token)
    }

    /// Somebody has called.
    pub fn let_in(&mut self, registry: &Registry, token: usize, stream: TcpStream, nonce: Nonce, now: Milliseconds) {
        if self.sockets.values().filter(|socket| !socket.link.is_open()).count() < MOST_STRANGERS {
            // One that can't be registered is closed.
            let _ = self.add(registry, token, stream, false, nonce, now);
        }
    }

    /// Calls whoever listens at an address.
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
        self.add(registry, token, TcpStream::connect(address)?, true, nonce, now)
    }

    fn add(
        &mut self,
        registry: &Registry,
        token: usize,
        mut stream: TcpStream,
        has_called: bool,
        nonce: Nonce,
        now: Milliseconds,
    ) -> io::Result<()> {
        registry.register(&mut stream, Token(token), Interest::READABLE | Interest::WRITABLE)?;
        stream.set_nodelay(true)?;
        let link = Link::new(has_called, self.secret.clone(), nonce, &self.own);
        self.sockets.insert(token, Socket { stream, link, since: now, identity: None });
        Ok(())
    }

    /// Who is to be called now: members for whom something waits and who are not reached.
    pub fn due_calls<'a>(&mut self, known: impl Iterator<Item = &'a Peer>, now: Milliseconds) -> Vec<SocketAddr> {
        let mut due = Vec::new();
        for peer in known.filter(|peer| self.waiting.contains_key(&peer.identity)) {
            let next = self.calls.entry(peer.address).or_insert(0);
            if *next <= now {
                *next = now + TIME_TO_CALL_AGAIN;
                due.push(peer.address);
            }
        }
        due
    }

    /// A message to a member, which is sent with the next [`Peers::flush`], or as soon as the member is reached.
    pub fn send(&mut self, to: Identity, message: Vec<u8>) {
        match self.tokens.get(&to).and_then(|token| Some((*token, self.sockets.get_mut(token)?))) {
            Some((token, socket)) => {
                socket.link.send(&message);
                self.unsent.insert(token);
            }
            None => self.waiting.entry(to).or_default().push(message),
        }
    }

    /// Sends what there is to send, all messages to a member at once.
    pub fn flush(&mut self) {
        for token in std::mem::take(&mut self.unsent) {
            if let Some(socket) = self.sockets.get_mut(&token) {
                // A socket that is broken tells so when it is read.
                let _ = socket.flush();
            }
        }
    }

    /// A socket has something to read, or room to send: what comes of it.
    pub fn turn(&mut self, token: usize, arrivals: &mut Vec<Arrival>) {
        let Some(socket) = self.sockets.get_mut(&token) else { return };
        let outcome = socket.turn(&mut self.buffer);
        let met = outcome.events.iter().find_map(|event| match event {
            Event::Met(peer) => Some(peer.identity),
            Event::Message(_) => None,
        });
        if let Some(identity) = met {
            socket.identity = Some(identity);
            // Messages stay in order on one socket: the first that there was.
            self.tokens.entry(identity).or_insert(token);
        }
        let identity = socket.identity;
        for event in outcome.events {
            match (event, identity) {
                (Event::Met(peer), _) => arrivals.push(Arrival::Met(peer)),
                (Event::Message(message), Some(identity)) => arrivals.push(Arrival::Message(identity, message)),
                (Event::Message(_), None) => {}
            }
        }
        if outcome.is_over {
            self.end(token);
        } else if let Some(identity) = met {
            for message in self.waiting.remove(&identity).unwrap_or_default() {
                self.send(identity, message);
            }
        }
    }

    fn end(&mut self, token: usize) {
        let identity = self.sockets.remove(&token).and_then(|socket| socket.identity);
        if let Some(identity) = identity
            && self.tokens.get(&identity) == Some(&token)
        {
            // Of two members that have called each other at once one socket is left.
            let other = self.sockets.iter().find(|(_, socket)| socket.identity == Some(identity));
            match other.map(|(token, _)| *token) {
                Some(other) => drop(self.tokens.insert(identity, other)),
                None => drop(self.tokens.remove(&identity)),
            }
        }
    }

    /// Closes what was not opened in time.
    pub fn look(&mut self, now: Milliseconds) {
        let late = |socket: &Socket| !socket.link.is_open() && now.saturating_sub(socket.since) > TIME_TO_OPEN;
        let late: Vec<usize> =
            self.sockets.iter().filter(|(_, socket)| late(socket)).map(|(token, _)| *token).collect();
        late.into_iter().for_each(|token| self.end(token));
    }
}

/// What a socket's turn has brought.
struct Turn {
    events: Vec<Event>,
    is_over: bool,
}

impl Socket {
    fn turn(&mut self, buffer: &mut [u8]) -> Turn {
        let mut events = Vec::new();
        let read = self.read(buffer, &mut events);
        let is_over = read.is_err() || self.flush().is_err();
        Turn { events, is_over }
    }

    fn read(&mut self, buffer: &mut [u8], events: &mut Vec<Event>) -> io::Result<()> {
        loop {
            match self.stream.read(buffer) {
                Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
                Ok(bytes) => {
                    self.link.received(&buffer[..bytes]);
                    while let Some(event) = self.link.next_event().map_err(io::Error::other)? {
                        events.push(event);
                    }
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock || error.kind() == ErrorKind::NotConnected => {
                    return Ok(());
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        loop {
            let unsent = self.link.unsent();
            if unsent.is_empty() {
                return Ok(());
            }
            match self.stream.write(unsent) {
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                Ok(bytes) => self.link.was_sent(bytes),
                Err(error) if error.kind() == ErrorKind::WouldBlock || error.kind() == ErrorKind::NotConnected => {
                    return Ok(());
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}
