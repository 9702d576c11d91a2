//! The loop: sockets, the clock and chance, and nothing that is decided.

use std::collections::{BTreeMap, VecDeque};
use std::io::{self, ErrorKind, Read, Write};
use std::net::SocketAddr;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use mio::net::{TcpListener, TcpStream};
use mio::{Events, Interest, Poll, Token};

use crate::bucket::Bucket;
use crate::connection::{Connection, Pause};
use crate::node::{Node, Settings};
use crate::record::Milliseconds;

/// Sockets that are ready at once, as far as one look tells.
const EVENTS: usize = 1_024;
/// As long the loop waits at most before it looks whether it is to end.
const LONGEST_WAIT: Duration = Duration::from_millis(100);
/// As many expired records are swept out before clients are served again: some hundred microseconds' work.
const SWEPT: usize = 256;
/// As often clients are looked at that have had their time. [ms]
const LOOK: Milliseconds = 1_000;
/// As many clients are let in before those that are there are served.
const LET_IN: usize = 64;

/// Why a node can't be served.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// It can't listen there.
    #[error("can't listen on {address}: {cause}")]
    Listen {
        /// Where.
        address: SocketAddr,
        /// Why not.
        cause: io::Error,
    },
    /// The system refuses to wait for sockets.
    #[error("can't wait for clients: {0}")]
    Wait(#[from] io::Error),
}

/// A client's socket.
struct Peer {
    stream: TcpStream,
    connection: Connection,
    /// Whether the socket may have more to read than was read.
    has_more: bool,
    /// Whether it is among those whose turn comes.
    is_queued: bool,
}

/// A node that listens.
pub struct Server {
    poll: Poll,
    listeners: Vec<TcpListener>,
    peers: BTreeMap<usize, Peer>,
    /// Whose turn it is, though their sockets tell nothing new.
    queue: VecDeque<usize>,
    next_token: usize,
    bucket: Bucket,
    node: Node,
    looked: Milliseconds,
}

impl Server {
    /// Listens on all these addresses; on a port that is free, where one is 0. Chance begins with numbers that are handed in.
    ///
    /// # Errors
    /// [`Error::Listen`]
    pub fn listen(addresses: &[SocketAddr], settings: Settings, chance: [u64; 3]) -> Result<Server, Error> {
        let poll = Poll::new()?;
        let mut listeners = Vec::new();
        for (number, &address) in addresses.iter().enumerate() {
            let listener = TcpListener::bind(address).and_then(|mut listener| {
                poll.registry().register(&mut listener, Token(number), Interest::READABLE)?;
                Ok(listener)
            });
            listeners.push(listener.map_err(|cause| Error::Listen { address, cause })?);
        }
        let port = listeners.first().and_then(|listener| listener.local_addr().ok()).map_or(0, |it| it.port());
        let now = unix_time();
        let node = Node::new(settings, port, chance, now);
        let next_token = listeners.len();
        Ok(Server {
            poll,
            listeners,
            peers: BTreeMap::new(),
            queue: VecDeque::new(),
            next_token,
            bucket: Bucket::default(),
            node,
            looked: now,
        })
    }

    /// Where it listens.
    pub fn addresses(&self) -> Vec<SocketAddr> {
        self.listeners.iter().filter_map(|listener| listener.local_addr().ok()).collect()
    }

    /// Serves until it is to end.
    ///
    /// # Errors
    /// [`Error::Wait`]
    pub fn serve(&mut self, ends: impl Fn() -> bool) -> Result<(), Error> {
        let mut events = Events::with_capacity(EVENTS);
        let mut is_swept = true;
        while !ends() {
            let idle = self.queue.is_empty() && is_swept;
            let wait = if idle { LONGEST_WAIT } else { Duration::ZERO };
            match self.poll.poll(&mut events, Some(wait)) {
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                outcome => outcome?,
            }
            let now = unix_time();
            is_swept = self.bucket.sweep(now, SWEPT);
            for event in &events {
                let token = event.token().0;
                if token < self.listeners.len() {
                    self.let_in(token, now);
                } else {
                    self.mark(token, event.is_readable() || event.is_read_closed() || event.is_error());
                }
            }
            for _ in 0..self.queue.len() {
                if let Some(token) = self.queue.pop_front() {
                    self.turn(token, now);
                }
            }
            if now.saturating_sub(self.looked) >= LOOK || now < self.looked {
                self.look(now);
            }
        }
        Ok(())
    }

    /// It is a client's turn.
    fn mark(&mut self, token: usize, has_more: bool) {
        let Some(peer) = self.peers.get_mut(&token) else { return };
        peer.has_more |= has_more;
        if !peer.is_queued {
            peer.is_queued = true;
            self.queue.push_back(token);
        }
    }

    /// Lets clients in. One for whom there is no room is told so.
    fn let_in(&mut self, listener: usize, now: Milliseconds) {
        for _ in 0..LET_IN {
            // None waits, or there is no room for another socket: then it is asked again when it is looked at clients.
            let Ok((mut stream, address)) = self.listeners[listener].accept() else { return };
            if self.peers.len() >= self.node.settings.most_clients {
                self.node.counts.rejected += 1;
                let _ = stream.write(b"-ERR max number of clients reached\r\n");
                continue;
            }
            let token = self.next_token;
            self.next_token += 1;
            let interest = Interest::READABLE | Interest::WRITABLE;
            let ready = stream
                .set_nodelay(true)
                .and_then(|()| self.poll.registry().register(&mut stream, Token(token), interest));
            if ready.is_ok() {
                let local = stream.local_addr().map(|local| local.to_string()).unwrap_or_default();
                let client = self.node.connect(address.to_string(), local, now);
                let connection = Connection::new(client, &self.node);
                self.peers.insert(token, Peer { stream, connection, has_more: false, is_queued: false });
            }
        }
        self.queue.push_back(listener);
    }

    /// A client's turn: what it sends is read, carried out, and answered.
    fn turn(&mut self, token: usize, now: Milliseconds) {
        if token < self.listeners.len() {
            return self.let_in(token, now);
        }
        let Some(peer) = self.peers.get_mut(&token) else { return };
        peer.is_queued = false;
        match peer.turn(&mut self.bucket, &mut self.node, now) {
            Ok(true) => self.mark(token, false),
            Ok(false) => {}
            Err(_) => self.end(token),
        }
    }

    fn end(&mut self, token: usize) {
        let Some(mut peer) = self.peers.remove(&token) else { return };
        peer.connection.end(&mut self.bucket, &mut self.node);
    }

    /// Ends clients that have had their time, and measures what the process takes.
    fn look(&mut self, now: Milliseconds) {
        self.looked = now;
        let is_over =
            |peer: &Peer| peer.connection.is_overdue(&self.node, now) || peer.connection.session.client.is_killed.get();
        let over: Vec<usize> = self.peers.iter().filter(|(_, peer)| is_over(peer)).map(|(&token, _)| token).collect();
        over.into_iter().for_each(|token| self.end(token));
        (0..self.listeners.len()).for_each(|listener| self.let_in(listener, now));
        self.node.resident = resident().unwrap_or(self.node.resident);
    }
}

/// A client that has gone, or is to go.
struct Gone;

impl Peer {
    /// Whether it is to have another turn though its socket tells nothing new.
    fn turn(&mut self, bucket: &mut Bucket, node: &mut Node, now: Milliseconds) -> Result<bool, Gone> {
        self.send(node)?;
        let mut pause = self.connection.turn(bucket, node, now);
        if pause == Pause::Receive && self.has_more {
            self.receive(node)?;
            pause = self.connection.turn(bucket, node, now);
        }
        let all_sent = self.send(node)?;
        match pause {
            Pause::Leave if all_sent => Err(Gone),
            Pause::Leave => Ok(false),
            Pause::Turn => Ok(true),
            // What it was sent may have made room for more.
            Pause::Send => Ok(all_sent),
            Pause::Receive => Ok(self.has_more),
        }
    }

    /// Reads what there is room for. Less than that is all that there was.
    fn receive(&mut self, node: &mut Node) -> Result<(), Gone> {
        let room = self.connection.requests.room();
        let asked = room.len();
        match self.stream.read(room) {
            Ok(0) => Err(Gone),
            Ok(bytes) => {
                self.connection.requests.received(bytes);
                node.counts.received += bytes as u64;
                self.has_more = bytes == asked;
                Ok(())
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                self.has_more = false;
                Ok(())
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => Ok(()),
            Err(_) => Err(Gone),
        }
    }

    /// Sends what it takes; whether that was all.
    fn send(&mut self, node: &mut Node) -> Result<bool, Gone> {
        loop {
            let unsent = self.connection.reply.unsent();
            if unsent.is_empty() {
                return Ok(true);
            }
            match self.stream.write(unsent) {
                Ok(0) => return Err(Gone),
                Ok(bytes) => {
                    self.connection.reply.was_sent(bytes);
                    node.counts.sent += bytes as u64;
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(false),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => return Err(Gone),
            }
        }
    }
}

#[allow(clippy::disallowed_methods)] // a store is asked when keys expire
fn unix_time() -> Milliseconds {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    since.as_millis() as Milliseconds
}

/// What the process has in memory, and the most that it had, as Linux says. [B]
fn resident() -> Option<(u64, u64)> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let of = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name))?;
        line.trim().strip_suffix(" kB")?.parse::<u64>().ok().map(|kilobytes| kilobytes << 10)
    };
    Some((of("VmRSS:")?, of("VmHWM:")?))
}
