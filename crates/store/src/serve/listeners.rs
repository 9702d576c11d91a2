//! The sockets at which a node listens, and the events of all its sockets.

use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use mio::net::{TcpListener, TcpStream};
use mio::{Events, Interest, Poll, Registry, Token, Waker};

use super::Error;
use crate::tls::{Acceptor, Stream};

/// The event that the disk has done something.
pub(super) const DISK: Token = Token(usize::MAX);

/// What kind of connection a listener accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ListenerKind {
    Clients,
    Followers,
    Members,
    Http,
}

/// The sockets at which a node listens; their tokens are the lowest. All must be there before any connection is
/// accepted.
pub(super) struct Listeners {
    poll: Poll,
    /// Wakes the loop when the disk has done something.
    pub waker: Arc<Waker>,
    listeners: Vec<(TcpListener, ListenerKind)>,
    next_token: usize,
    /// Accepts TLS of clients and browsers, if they use it.
    pub acceptor: Option<Acceptor>,
}

impl Listeners {
    /// None yet.
    pub(super) fn open() -> io::Result<Listeners> {
        let poll = Poll::new()?;
        let waker = Arc::new(Waker::new(poll.registry(), DISK)?);
        Ok(Listeners { poll, waker, listeners: Vec::new(), next_token: 0, acceptor: None })
    }

    /// Listens at an address.
    pub(super) fn listen(&mut self, address: SocketAddr, kind: ListenerKind) -> Result<(), Error> {
        let token = self.new_token();
        let listener = TcpListener::bind(address).and_then(|mut listener| {
            self.registry().register(&mut listener, Token(token), Interest::READABLE)?;
            Ok(listener)
        });
        self.listeners.push((listener.map_err(|cause| Error::Listen { address, cause })?, kind));
        Ok(())
    }

    /// The addresses for connections of a kind.
    pub(super) fn addresses(&self, kind: ListenerKind) -> Vec<SocketAddr> {
        let listeners = self.listeners.iter().filter(|(_, of)| *of == kind);
        listeners.filter_map(|(listener, _)| listener.local_addr().ok()).collect()
    }

    /// Whether a token is that of a listener.
    pub(super) const fn has(&self, token: usize) -> bool {
        token < self.listeners.len()
    }

    /// The tokens of all listeners.
    pub(super) const fn tokens(&self) -> Range<usize> {
        0..self.listeners.len()
    }

    /// The next connection that waits at a listener.
    pub(super) fn accept(&self, listener: usize) -> Option<(TcpStream, SocketAddr, ListenerKind)> {
        let (listener, kind) = &self.listeners[listener];
        let (stream, address) = listener.accept().ok()?;
        Some((stream, address, *kind))
    }

    /// Registers the connection of a client or a browser. Returns its token.
    pub(super) fn register(&mut self, mut stream: TcpStream) -> io::Result<(usize, Stream<TcpStream>)> {
        let token = self.new_token();
        self.registry().register(&mut stream, Token(token), Interest::READABLE | Interest::WRITABLE)?;
        Ok((token, Stream::accepted(stream, self.acceptor.as_ref())?))
    }

    /// Where sockets are registered.
    pub(super) fn registry(&self) -> &Registry {
        self.poll.registry()
    }

    /// A token for another socket.
    pub(super) const fn new_token(&mut self) -> usize {
        self.next_token += 1;
        self.next_token - 1
    }

    /// Waits for events. Returns whether it was not interrupted.
    pub(super) fn wait(&mut self, events: &mut Events, longest: Duration) -> io::Result<bool> {
        match self.poll.poll(events, Some(longest)) {
            Err(error) if error.kind() == ErrorKind::Interrupted => Ok(false),
            outcome => outcome.map(|()| true),
        }
    }
}
