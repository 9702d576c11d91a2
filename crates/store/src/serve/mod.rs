//! The loop: sockets, the clock and chance, and nothing that is decided.

mod peers;

use std::collections::{BTreeMap, VecDeque};
use std::io::{self, ErrorKind, Read, Write};
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use mio::net::{TcpListener, TcpStream};
use mio::{Events, Interest, Poll, Token};

use crate::bucket::Bucket;
use crate::connection::{Connection, Pause};
use crate::host::Host;
use crate::link::{Nonce, Secret};
use crate::member::{Answer, Identity, Message, Output, Peer as MemberPeer, Policy, Ticket};
use crate::node::{Node, Settings};
use crate::record::Milliseconds;
use peers::{Arrival, Peers};

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

/// How a node takes part in a pool.
#[derive(Clone, Debug)]
pub struct Pool {
    /// Where other members call it.
    pub members: SocketAddr,
    /// Where clients reach it that follow slots.
    pub followers: SocketAddr,
    /// The address that others are told, where that is not the one on which it listens.
    pub announced: Option<std::net::IpAddr>,
    /// Members that it asks to be let in; it founds a pool, if there are none.
    pub join: Vec<SocketAddr>,
    /// What all members know.
    pub secret: Secret,
    /// When the file grows and shrinks.
    pub policy: Policy,
    /// Gives numbers that nobody can guess.
    pub random: fn() -> io::Result<Nonce>,
}

/// Who calls at a listener.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Callers {
    Clients,
    Followers,
    Members,
}

/// As long as no member has welcomed this one, one is asked again after so long. [ms]
const TIME_TO_JOIN_AGAIN: Milliseconds = 500;

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
    listeners: Vec<(TcpListener, Callers)>,
    peers: BTreeMap<usize, Peer>,
    /// Whose turn it is, though their sockets tell nothing new.
    queue: VecDeque<usize>,
    next_token: usize,
    host: Host,
    members: Peers,
    pool: Pool,
    /// Which client waits for what.
    tickets: BTreeMap<Ticket, usize>,
    arrivals: Vec<Arrival>,
    looked: Milliseconds,
    joined: Milliseconds,
}

impl Server {
    /// Listens on all these addresses; on a port that is free, where one is 0. Chance begins with numbers that are handed in.
    ///
    /// # Errors
    /// [`Error::Listen`]
    pub fn listen(
        addresses: &[SocketAddr],
        settings: Settings,
        mut pool: Pool,
        chance: [u64; 3],
    ) -> Result<Server, Error> {
        let poll = Poll::new()?;
        let mut listeners = Vec::new();
        let clients = addresses.iter().map(|address| (*address, Callers::Clients));
        let all = clients.chain([(pool.followers, Callers::Followers), (pool.members, Callers::Members)]);
        for (number, (address, callers)) in all.enumerate() {
            let listener = TcpListener::bind(address).and_then(|mut listener| {
                poll.registry().register(&mut listener, Token(number), Interest::READABLE)?;
                Ok(listener)
            });
            listeners.push((listener.map_err(|cause| Error::Listen { address, cause })?, callers));
        }
        let bound = |callers: Callers| {
            let listener = listeners.iter().find(|(_, at)| *at == callers);
            listener.and_then(|(listener, _)| listener.local_addr().ok())
        };
        let port = bound(Callers::Clients).map_or(0, |address| address.port());
        let announced = |address: SocketAddr| SocketAddr::new(pool.announced.unwrap_or(address.ip()), address.port());
        let own = MemberPeer {
            identity: Identity(chance[1] as u32),
            address: announced(bound(Callers::Members).unwrap_or(pool.members)),
            clients: announced(bound(Callers::Followers).unwrap_or(pool.followers)),
        };
        let now = unix_time();
        let node = Node::new(settings, port, chance, now);
        let next_token = listeners.len();
        pool.join.retain(|address| *address != own.address);
        let host = Host::new(node, own.clone(), pool.policy, pool.join.is_empty());
        Ok(Server {
            poll,
            listeners,
            peers: BTreeMap::new(),
            queue: VecDeque::new(),
            next_token,
            host,
            members: Peers::new(own, pool.secret.clone()),
            pool,
            tickets: BTreeMap::new(),
            arrivals: Vec::new(),
            looked: now,
            joined: 0,
        })
    }

    /// Where it listens for clients.
    pub fn addresses(&self) -> Vec<SocketAddr> {
        let clients = self.listeners.iter().filter(|(_, callers)| *callers == Callers::Clients);
        clients.filter_map(|(listener, _)| listener.local_addr().ok()).collect()
    }

    /// Where it is reached by other members, and by clients that follow slots.
    pub const fn own(&self) -> &MemberPeer {
        self.host.member().own()
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
            self.host.node().borrow_mut().now = now;
            is_swept = true;
            for bucket in self.host.buckets() {
                is_swept &= bucket.sweep(now, SWEPT);
            }
            for event in &events {
                let token = event.token().0;
                if token < self.listeners.len() {
                    self.let_in(token, now);
                } else if self.members.has(token) {
                    self.members.turn(token, &mut self.arrivals);
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
            self.work_of_member(now);
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
            let (from, callers) = &self.listeners[listener];
            let callers = *callers;
            let Ok((mut stream, address)) = from.accept() else { return };
            if callers == Callers::Members {
                self.let_member_in(stream, now);
                continue;
            }
            let node = &mut *self.host.node().borrow_mut();
            if self.peers.len() >= node.settings.most_clients {
                node.counts.rejected += 1;
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
                let client = node.connect(address.to_string(), local, now);
                let mut connection = Connection::new(client, node);
                connection.session.follows_slots = callers == Callers::Followers;
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
        let outcome = peer.turn(&mut self.host);
        for ticket in peer.connection.waiting().iter().flat_map(|waiting| waiting.tickets()) {
            self.tickets.insert(ticket, token);
        }
        match outcome {
            Ok(true) => self.mark(token, false),
            Ok(false) => {}
            Err(_) => self.end(token),
        }
    }

    fn let_member_in(&mut self, stream: TcpStream, now: Milliseconds) {
        // Without random numbers nobody can be let in; who has called calls again.
        let Ok(nonce) = (self.pool.random)() else { return };
        let token = self.next_token;
        self.next_token += 1;
        self.members.let_in(self.poll.registry(), token, stream, nonce, now);
    }

    fn call(&mut self, address: SocketAddr, now: Milliseconds) {
        let Ok(nonce) = (self.pool.random)() else { return };
        let token = self.next_token;
        self.next_token += 1;
        // Whom nobody reaches is called again.
        let _ = self.members.call(self.poll.registry(), token, address, nonce, now);
    }

    /// Does what other members have asked for, and what this one has to tell them.
    fn work_of_member(&mut self, now: Milliseconds) {
        self.host.with_member(|member, at, outputs| {
            if member.deadline().is_some_and(|deadline| deadline <= at) {
                member.wake(at, outputs);
            }
        });
        for arrival in std::mem::take(&mut self.arrivals) {
            self.arrive(arrival);
        }
        loop {
            let outputs = self.host.take_outputs();
            if outputs.is_empty() {
                break;
            }
            outputs.into_iter().for_each(|output| self.put_out(output));
        }
        self.members.flush();
        if !self.host.member().is_welcome() && now.saturating_sub(self.joined) >= TIME_TO_JOIN_AGAIN {
            self.joined = now;
            self.pool.join.clone().into_iter().for_each(|address| self.call(address, now));
        }
        let due = self.members.due_calls(self.host.member().peers(), now);
        due.into_iter().for_each(|address| self.call(address, now));
    }

    fn arrive(&mut self, arrival: Arrival) {
        match arrival {
            Arrival::Met(peer) => self.host.with_member(|member, _, outputs| {
                if !member.is_welcome() {
                    member.join(peer.identity, outputs);
                }
            }),
            Arrival::Message(from, message) => {
                // What is no message comes of another version; what it was for is asked for again.
                if let Ok(message) = postcard::from_bytes::<Message<Bucket>>(&message) {
                    self.host.with_member(|member, now, outputs| member.take(now, from, message, outputs));
                }
            }
        }
    }

    fn put_out(&mut self, output: Output<Bucket>) {
        match output {
            Output::Send(to, message) => {
                // All that members tell each other can be written.
                if let Ok(message) = postcard::to_stdvec(&message) {
                    self.members.send(to, message);
                }
            }
            Output::Done(ticket, answer) => self.answer(ticket, answer),
        }
    }

    /// Gives a client what it has waited for, if it is still there.
    fn answer(&mut self, ticket: Ticket, answer: Answer<Bucket>) {
        let goes_on = matches!(answer, Answer::Found(_));
        let token = if goes_on { self.tickets.get(&ticket).copied() } else { self.tickets.remove(&ticket) };
        let Some((token, peer)) = token.and_then(|token| Some((token, self.peers.get_mut(&token)?))) else { return };
        peer.connection.answered(&mut self.host, ticket, answer);
        for ticket in peer.connection.waiting().iter().flat_map(|waiting| waiting.tickets()) {
            self.tickets.insert(ticket, token);
        }
        self.mark(token, false);
    }

    fn end(&mut self, token: usize) {
        let Some(mut peer) = self.peers.remove(&token) else { return };
        if let Some(waiting) = peer.connection.waiting() {
            self.host.give_up(waiting);
            for ticket in waiting.tickets() {
                self.tickets.remove(&ticket);
            }
        }
        peer.connection.end(&mut self.host);
    }

    /// Ends clients that have had their time, and measures what the process takes.
    fn look(&mut self, now: Milliseconds) {
        self.looked = now;
        let node = Rc::clone(self.host.node());
        let is_over = |peer: &Peer| {
            peer.connection.is_overdue(&node.borrow(), now) || peer.connection.session.client.is_killed.get()
        };
        let over: Vec<usize> = self.peers.iter().filter(|(_, peer)| is_over(peer)).map(|(&token, _)| token).collect();
        over.into_iter().for_each(|token| self.end(token));
        (0..self.listeners.len()).for_each(|listener| self.let_in(listener, now));
        let mut node = node.borrow_mut();
        node.resident = resident().unwrap_or(node.resident);
        drop(node);
        let mut told = Vec::new();
        for (&token, peer) in &mut self.peers {
            if peer.connection.gives_up(&mut self.host) {
                told.push(token);
            }
        }
        for token in told {
            self.tickets.retain(|_, of| *of != token);
            self.mark(token, false);
        }
        self.members.look(now);
        self.host.with_member(|member, at, outputs| member.look(at, outputs));
    }
}

/// A client that has gone, or is to go.
struct Gone;

impl Peer {
    /// Whether it is to have another turn though its socket tells nothing new.
    fn turn(&mut self, host: &mut Host) -> Result<bool, Gone> {
        self.send(host)?;
        let mut pause = self.connection.turn(host);
        if pause == Pause::Receive && self.has_more {
            self.receive(host)?;
            pause = self.connection.turn(host);
        }
        let all_sent = self.send(host)?;
        match pause {
            Pause::Leave if all_sent => Err(Gone),
            Pause::Leave => Ok(false),
            Pause::Turn => Ok(true),
            // What it was sent may have made room for more.
            Pause::Send => Ok(all_sent),
            Pause::Receive => Ok(self.has_more),
            Pause::Answer => Ok(false),
        }
    }

    /// Reads what there is room for. Less than that is all that there was.
    fn receive(&mut self, host: &Host) -> Result<(), Gone> {
        let room = self.connection.requests.room();
        let asked = room.len();
        match self.stream.read(room) {
            Ok(0) => Err(Gone),
            Ok(bytes) => {
                self.connection.requests.received(bytes);
                host.node().borrow_mut().counts.received += bytes as u64;
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
    fn send(&mut self, host: &Host) -> Result<bool, Gone> {
        loop {
            let unsent = self.connection.reply.unsent();
            if unsent.is_empty() {
                return Ok(true);
            }
            match self.stream.write(unsent) {
                Ok(0) => return Err(Gone),
                Ok(bytes) => {
                    self.connection.reply.was_sent(bytes);
                    host.node().borrow_mut().counts.sent += bytes as u64;
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
