//! The event loop: sockets, the clock and random numbers. All decisions are made elsewhere.

mod clients;
mod clock;
mod deferred;
mod group;
pub(crate) mod http;
mod listeners;
mod monitor;
mod observability;
pub(crate) mod outbox;
mod pace;
mod parity;
mod peer_message;
pub(crate) mod peers;
mod persistence;

use std::io;
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::{Duration, Instant};

use mio::Events;
use mio::net::TcpStream;

use crate::bucket::Bucket;
use crate::connection::Pause;
use crate::host::Host;
use crate::journal::disk::{self, Data, Recovered};
use crate::large::encoding::encode;
use crate::large::{LARGE, Pieces};
use crate::link::{EphemeralKey, Secret};
use crate::log::Event;
use crate::member::{Answer, Durability, Identity, Message, Output, Peer, Policy, Role, SharedSettings, Ticket};
use crate::node::{Node, Settings};
use crate::record::Milliseconds;
use clients::{Clients, Disconnection};
use clock::Clock;
use deferred::{DeferredMessages, Prepared};
pub use group::Promise;
use listeners::{DISK, ListenerKind, Listeners};
use observability::Observability;
pub use observability::ReloadCertificates;
use outbox::Outgoing;
use peer_message::PeerMessage;
pub use peers::Tls;
use peers::{Arrival, Peers};
use persistence::Persistence;

/// The most ready sockets that one poll reports.
const EVENTS: usize = 1_024;
/// The longest that the loop waits before it checks whether it is to end.
const LONGEST_WAIT: Duration = Duration::from_millis(100);
/// How many expired records are swept out before clients are served again: a few hundred microseconds' work.
const SWEPT: usize = 256;
/// How many records of a cleared table are dropped before clients are served again: less than a millisecond's work.
const DROPPED: usize = 1_024;
/// How long a client waits for another member. [ms]
pub(crate) const LONGEST_WAIT_FOR_MEMBER: Milliseconds = 10_000;
/// How long it waits while a large message is arriving, which may be its reply. [ms]
pub(crate) const LONGEST_WITH_LARGE: Milliseconds = 60_000;
/// How often clients are checked for timeouts. [ms]
const TICK: Milliseconds = 1_000;
/// How many new clients are accepted before the present ones are served.
const MOST_ACCEPTED: usize = 64;

/// Why a node can't be served.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// It can't listen on an address.
    #[error("can't listen on {address}: {cause}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// Why it can't.
        cause: io::Error,
    },
    /// The system refuses to wait for sockets.
    #[error("can't wait for clients: {0}")]
    Wait(#[from] io::Error),
    /// Its data can't be read back from disk, or nothing can be stored there.
    #[error(transparent)]
    Data(disk::Error),
    /// Another process is this member now.
    #[error(
        "this member was silent for too long, or had lost its data, and was rebuilt on another one: \
         restart it in an empty directory"
    )]
    Replaced,
    /// The pool that it asked to admit it has other settings.
    #[error("not admitted by {by}, since all members of a pool need the same options: {}", .pool.differences(.own))]
    OtherSettings {
        /// The member that was asked.
        by: SocketAddr,
        /// The settings of this process.
        own: SharedSettings,
        /// Those of the pool.
        pool: SharedSettings,
    },
    /// Clients' changes can't be stored on disk any more. None of those lost was acknowledged.
    #[error("the store exits because it can't keep what clients store: {0}")]
    Persistence(disk::Error),
}

/// How a node takes part in a pool.
#[derive(Clone, Debug)]
pub struct Pool {
    /// Where other members connect to it.
    pub members: SocketAddr,
    /// Where clients that follow slots connect.
    pub followers: SocketAddr,
    /// The address that it announces, if that differs from the one on which it listens.
    pub announced: Option<std::net::IpAddr>,
    /// Members that it asks to admit it; if there are none, it founds a pool.
    pub join: Vec<SocketAddr>,
    /// The secret that all members share.
    pub secret: Secret,
    /// What it needs to speak TLS with other members, if they use TLS.
    pub tls: Option<Tls>,
    /// When the file grows and shrinks.
    pub policy: Policy,
    /// Where it stores its data on disk, if it does.
    pub data: Option<Data>,
    /// Its role; a member that is restored from disk has its own already.
    pub role: Role,
    /// Which losses groups of members have to survive, if they keep parity.
    pub parity: Option<Promise>,
    /// Returns random numbers that nobody can guess.
    pub random: fn() -> io::Result<EphemeralKey>,
}

impl Pool {
    /// How records survive, as far as all members have to agree on it.
    fn durability(&self) -> Durability {
        let is_persistent = self.data.is_some();
        let of_group = |Promise { k, patience }: Promise| Durability { is_persistent, parity: k as u32, patience };
        self.parity.map_or(Durability { is_persistent, ..Durability::default() }, of_group)
    }
}

/// How long a member that has not been welcomed yet waits before it asks again. [ms]
const TIME_TO_JOIN_AGAIN: Milliseconds = 500;
/// How long a member goes on serving after it has left, so that the operator can ask whether it has. [ms]
const TIME_TO_SAY_SO: Milliseconds = 1_000;

/// How the node was started, as far as it has not changed since.
struct Configuration {
    settings: Settings,
    pool: Pool,
    /// Reads certificates again when the operator asks for that.
    reload: Option<ReloadCertificates>,
}

/// The clock, and when things were done that are done now and then.
struct Timers {
    clock: Clock,
    ticked: Milliseconds,
    /// When it asked other members last to admit it.
    joined: Milliseconds,
    /// When it left its pool, if it has.
    left: Option<Milliseconds>,
}

/// The links to other members, and what has arrived on them.
struct MemberLinks {
    sockets: Peers,
    arrivals: Vec<Arrival>,
    /// Messages that wait until their large values are prepared, or for clients.
    deferred: DeferredMessages,
}

impl MemberLinks {
    fn new(own: &Peer, pool: &Pool) -> MemberLinks {
        MemberLinks {
            sockets: Peers::new(own.clone(), pool.secret.clone(), pool.tls.clone()),
            arrivals: Vec::new(),
            deferred: DeferredMessages::default(),
        }
    }
}

/// A node that listens.
pub struct Server {
    listeners: Listeners,
    clients: Clients,
    links: MemberLinks,
    host: Host,
    /// Stores its data on disk, if it does.
    persistence: Option<Persistence>,
    configuration: Configuration,
    timers: Timers,
    observability: Observability,
}

impl Server {
    /// Listens on all these addresses; port 0 means any free port. `chance` seeds the random numbers.
    ///
    /// # Errors
    /// [`Error::Listen`], [`Error::Data`]
    pub fn listen(
        addresses: &[SocketAddr],
        settings: Settings,
        mut pool: Pool,
        chance: [u64; 3],
    ) -> Result<Server, Error> {
        let mut listeners = Listeners::open()?;
        addresses.iter().try_for_each(|address| listeners.listen(*address, ListenerKind::Clients))?;
        listeners.listen(pool.followers, ListenerKind::Followers)?;
        listeners.listen(pool.members, ListenerKind::Members)?;
        let bound = |kind: ListenerKind| listeners.addresses(kind).first().copied();
        let port = bound(ListenerKind::Clients).map_or(0, |address| address.port());
        let announced = |address: SocketAddr| SocketAddr::new(pool.announced.unwrap_or(address.ip()), address.port());
        let own = Peer {
            identity: Identity(chance[1] as u32),
            address: announced(bound(ListenerKind::Members).unwrap_or(pool.members)),
            clients: announced(bound(ListenerKind::Followers).unwrap_or(pool.followers)),
            role: pool.role,
            life: 0,
        };
        let clock = Clock::set();
        let now = clock.at(clock::instant());
        let node = Node::new(settings.clone(), port, chance, now);
        pool.join.retain(|address| *address != own.address);
        pool.policy.durability = pool.durability();
        let founds = pool.join.is_empty();
        let (host, persistence) = match pool.data.clone() {
            None => (Host::new(node, own, pool.policy, founds), None),
            Some(data) => {
                let (host, persistence) =
                    Persistence::begin(data, &pool, node, own, founds, 0, &listeners.waker).map_err(Error::Data)?;
                (host, Some(persistence))
            }
        };
        Ok(Server {
            listeners,
            clients: Clients::default(),
            links: MemberLinks::new(host.member().own(), &pool),
            host,
            persistence,
            configuration: Configuration { settings, pool, reload: None },
            timers: Timers { clock, ticked: now, joined: 0, left: None },
            observability: Observability::default(),
        })
    }

    /// Where it listens for clients.
    pub fn addresses(&self) -> Vec<SocketAddr> {
        self.listeners.addresses(ListenerKind::Clients)
    }

    /// Where other members, and clients that follow slots, reach it.
    pub const fn own(&self) -> &Peer {
        self.host.member().own()
    }

    /// What it found on disk when it started, if it stores anything there.
    pub fn found(&self) -> Option<&Recovered> {
        self.persistence.as_ref().map(|persistence| &persistence.found)
    }

    /// Serves until it is to end.
    ///
    /// # Errors
    /// [`Error::Wait`], [`Error::Persistence`]
    pub fn serve(&mut self, ends: impl Fn() -> bool) -> Result<(), Error> {
        let mut events = Events::with_capacity(EVENTS);
        let mut is_swept = true;
        self.begin();
        while !ends() && !self.has_left_for_long() {
            let has_more = self.links.sockets.has_more() || self.host.member().goes_on();
            let idle = self.clients.queue.is_empty() && is_swept && !has_more;
            let longest = self.links.deferred.pause(&self.host, clock::instant()).unwrap_or(LONGEST_WAIT);
            let wait = if idle { longest } else { Duration::ZERO };
            if !self.listeners.wait(&mut events, wait)? {
                continue;
            }
            let begun = clock::instant();
            let now = self.timers.clock.at(begun);
            self.host.node().borrow_mut().now = now;
            if let Some(persistence) = &mut self.persistence {
                persistence.at = self.timers.clock.since_start(begun);
            }
            is_swept = true;
            for bucket in self.host.buckets() {
                is_swept &= bucket.sweep(now, SWEPT);
            }
            // One server after the other.
            is_swept &= self.host.buckets().all(|bucket| bucket.drop_cleared(DROPPED));
            let mut unread = self.links.sockets.take_unread();
            for event in events.iter().filter(|event| event.token() != DISK) {
                let token = event.token().0;
                if self.listeners.has(token) {
                    self.accept(token, now);
                } else if self.links.sockets.has(token) {
                    unread.remove(&token);
                    self.links.sockets.turn(token, &mut self.links.arrivals);
                } else {
                    self.wake(token, event.is_readable(), event.is_read_closed() || event.is_error());
                }
            }
            for token in unread {
                self.links.sockets.turn(token, &mut self.links.arrivals);
            }
            for token in std::mem::take(&mut self.clients.queue) {
                self.turn(token, now);
            }
            self.disconnect_killed();
            if now.saturating_sub(self.timers.ticked) >= TICK || now < self.timers.ticked {
                self.tick(now)?;
            }
            self.run_member(now, begun)?;
            self.end_turn(begun);
            self.become_another(now)?;
        }
        self.end_of_service();
        self.persistence.as_mut().map_or(Ok(()), Persistence::end).map_err(Error::Persistence)
    }

    /// A client's or a browser's socket has something to read, which may be its end, or room to send.
    fn wake(&mut self, token: usize, is_readable: bool, is_ending: bool) {
        if !self.clients.wake(token, is_readable, is_ending) {
            self.serve_http(token);
        }
    }

    /// Accepts connections. A client for which there is no room is told so.
    fn accept(&mut self, listener: usize, now: Milliseconds) {
        for _ in 0..MOST_ACCEPTED {
            // No connection waits, or there is no room for another socket: then `tick` tries again.
            let Some((stream, address, kind)) = self.listeners.accept(listener) else { return };
            match kind {
                ListenerKind::Members => self.accept_member(stream, now),
                ListenerKind::Http => {
                    self.observability.http.accept(&mut self.listeners, (stream, address), now);
                }
                ListenerKind::Clients | ListenerKind::Followers => {
                    let (node, follows) = (&mut self.host.node().borrow_mut(), kind == ListenerKind::Followers);
                    self.clients.accept(&mut self.listeners, (stream, address), follows, node, now);
                }
            }
        }
        self.clients.queue.push_back(listener);
    }

    /// A client's turn: its requests are executed and answered.
    fn turn(&mut self, token: usize, now: Milliseconds) {
        if self.listeners.has(token) {
            return self.accept(token, now);
        }
        let Some(outcome) = self.clients.work(token, &mut self.host) else { return };
        if let (Ok(pause), Some(persistence)) = (&outcome, &mut self.persistence) {
            return self.clients.hold(token, *pause, &mut persistence.turn);
        }
        self.send_replies(token, outcome);
    }

    /// Sends a client's replies.
    fn send_replies(&mut self, token: usize, outcome: Result<Pause, Disconnection>) {
        let Some(socket) = self.clients.sockets.get_mut(&token) else { return };
        let outcome = outcome.and_then(|pause| socket.send_replies(pause, &self.host));
        self.finish_turn(token, outcome);
    }

    /// Queues a client again that is to have another turn, and ends one that has gone.
    fn finish_turn(&mut self, token: usize, outcome: Result<bool, Disconnection>) {
        match outcome {
            Ok(true) => self.clients.mark(token, false),
            Ok(false) => {}
            Err(disconnection) => {
                let client = self.clients.address(token);
                match disconnection {
                    Disconnection::Ended => {}
                    Disconnection::SpeaksHttp => self.report(&Event::HttpRefused { client }),
                    Disconnection::NotUnderstood(why) => self.tls_failed(client, why),
                }
                self.end(token);
            }
        }
    }

    /// Sends the replies and messages that were held back until their effects were stored.
    fn send_held(&mut self) {
        while let Some(clients) = self.persistence.as_mut().and_then(Persistence::next_to_reply) {
            for (token, pause) in clients {
                if self.clients.release(token) {
                    self.send_replies(token, Ok(pause));
                }
            }
        }
        while let Some((to, message)) = self.persistence.as_mut().and_then(Persistence::next_to_send) {
            self.links.sockets.send(to, message);
        }
    }

    fn accept_member(&mut self, stream: TcpStream, now: Milliseconds) {
        // Without random numbers no member can be admitted; the other side tries again.
        let Ok(key) = (self.configuration.pool.random)() else { return };
        let token = self.listeners.new_token();
        self.links.sockets.accept(self.listeners.registry(), token, stream, key, now);
    }

    fn connect(&mut self, address: SocketAddr, now: Milliseconds) {
        let Ok(key) = (self.configuration.pool.random)() else { return };
        let token = self.listeners.new_token();
        // A member that can't be reached is tried again later.
        let _ = self.links.sockets.connect(self.listeners.registry(), token, address, key, now);
    }

    /// Handles messages from other members, and sends this member's messages, in the turn that began at `begun`.
    fn run_member(&mut self, now: Milliseconds, begun: Instant) -> Result<(), Error> {
        self.host.with_member(|member, at, outputs| {
            if member.deadline().is_some_and(|deadline| deadline <= at) {
                member.wake(at, outputs);
            }
        });
        for arrival in std::mem::take(&mut self.links.arrivals) {
            self.handle_arrival(arrival, begun)?;
        }
        let mut batch = self.persistence.as_ref().map(Persistence::batch);
        let prepared = self.links.deferred.prepare(&mut self.host, batch.as_deref_mut(), begun);
        drop(batch);
        if let Some(Prepared { from, message, journaled }) = prepared {
            self.take_message(from, message);
            if let Some(persistence) = &self.persistence {
                journaled.iter().for_each(|one| persistence.batch().give_up(one));
            }
        }
        self.report_differing_members()?;
        loop {
            let outputs = self.host.take_outputs();
            if outputs.is_empty() {
                break;
            }
            outputs.into_iter().for_each(|output| self.deliver(output));
        }
        if let Some(persistence) = &mut self.persistence {
            persistence.commit(now).map_err(Error::Persistence)?;
            self.answer_savers()?;
            self.run_group()?;
            self.send_held();
        }
        self.links.sockets.flush();
        self.links.deferred.pace.end(&self.host, clock::instant);
        if !self.host.member().membership().is_welcome() && now.saturating_sub(self.timers.joined) >= TIME_TO_JOIN_AGAIN
        {
            self.timers.joined = now;
            self.configuration.pool.join.clone().into_iter().for_each(|address| self.connect(address, now));
        }
        if self.host.member().own().role == Role::Data {
            // No server is opened at a member that is not connected.
            self.host.member().membership().hosts_away().for_each(|host| self.links.sockets.expect(host.identity));
        }
        let due = self.links.sockets.due_connections(|identity| self.host.member().membership().peer(identity), now);
        due.into_iter().for_each(|address| self.connect(address, now));
        Ok(())
    }

    fn handle_arrival(&mut self, arrival: Arrival, begun: Instant) -> Result<(), Error> {
        match arrival {
            Arrival::Identified(peer) => {
                if let Some(Persistence { at, group: Some(group), .. }) = &mut self.persistence {
                    group.connect(*at, &peer);
                }
                self.host.with_member(|member, _, outputs| {
                    if !member.membership().is_welcome() {
                        member.join(peer.identity, outputs);
                    }
                    member.connect(peer, outputs);
                });
            }
            Arrival::Connected(peer) => {
                self.report(&Event::MemberConnected { member: peer.identity.to_string(), address: peer.address });
            }
            Arrival::Disconnected(peer) => {
                self.group().into_iter().for_each(|group| group.disconnect(peer.identity));
                self.host.with_member(|member, _, outputs| member.disconnect(peer.identity, outputs));
                let (member, address) = (peer.identity.to_string(), peer.address);
                if self.host.member().membership().has_gone(peer.identity) {
                    self.links.sockets.forget(peer.identity);
                    self.report(&Event::MemberLeft { member, address });
                } else {
                    self.report(&Event::MemberLost { member, address });
                }
            }
            Arrival::Message(from, message) => match PeerMessage::read(message) {
                Ok(PeerMessage::Message(message))
                    if self.host.takes_long(&message)
                        || self.links.deferred.holds_back(from, &message, &self.host, begun) =>
                {
                    self.links.deferred.push(from, message);
                }
                Ok(PeerMessage::Message(message)) => self.take_message(from, message),
                Ok(PeerMessage::Group(message)) => {
                    if let Some(persistence) = &mut self.persistence {
                        persistence.receive(from, message).map_err(Error::Persistence)?;
                    }
                }
                Ok(PeerMessage::Ask) => self.send_state(from),
                Ok(PeerMessage::State(state)) => {
                    self.observability.peer_states.receive(from, *state, self.host.node().borrow().now)
                }
                // The sender asks again.
                Err(error) => self.report(&Event::MessageRefused { member: from.to_string(), why: error.to_string() }),
            },
        }
        Ok(())
    }

    /// Other members have other settings. That is an error if they don't let this one in, and logged if it has been
    /// restarted.
    fn report_differing_members(&mut self) -> Result<(), Error> {
        let (mut differing, own) = (Vec::new(), self.host.member().settings());
        self.host.with_member(|member, _, _| differing = member.take_differing());
        for (member, settings) in differing {
            let Some(by) = self.links.sockets.address(member) else { continue };
            if !self.host.member().membership().is_welcome() {
                return Err(Error::OtherSettings { by, own, pool: settings });
            }
            self.report(&Event::OtherSettings { member: by, differences: settings.differences(&own) });
        }
        Ok(())
    }

    fn take_message(&mut self, from: Identity, message: Message<Bucket>) {
        self.links.deferred.pace.begin(&message, clock::instant);
        self.host.with_member(|member, now, outputs| member.receive(now, from, message, outputs));
    }

    /// Sends a message of the member, or passes on an answer.
    fn deliver(&mut self, output: Output<Bucket>) {
        match output {
            // That member has gone.
            Output::Send(to, _) if self.host.member().membership().has_gone(to) && !self.links.sockets.reaches(to) => {}
            Output::Send(to, message) => {
                let (may_be_lost, subject) = (message.may_be_lost(), message.subject());
                // Every message between members can be serialized.
                let Ok(pieces) = encode(&PeerMessage::Message(message), Pieces::default()) else { return };
                let subject = subject.filter(|_| pieces.len() >= LARGE);
                let message = Outgoing { pieces, may_be_lost, subject };
                match &mut self.persistence {
                    Some(persistence) => persistence.turn.messages.push((to, message)),
                    None => self.links.sockets.send(to, message),
                }
            }
            Output::Done(ticket, answer) => self.answer(ticket, answer),
        }
    }

    /// Passes an answer on to the client that waits for it, if it is still connected.
    fn answer(&mut self, ticket: Ticket, answer: Answer<Bucket>) {
        let Some(token) = self.clients.answer(ticket, answer, &mut self.host) else { return };
        match &mut self.persistence {
            Some(persistence) => self.clients.hold(token, Pause::Turn, &mut persistence.turn),
            None => self.clients.mark(token, false),
        }
    }

    fn end(&mut self, token: usize) {
        self.clients.end(token, &mut self.host);
    }

    /// Periodic work: ends clients that have timed out, and measures the memory of the process.
    fn tick(&mut self, now: Milliseconds) -> Result<(), Error> {
        self.timers.ticked = now;
        self.timers.clock.set_again();
        let node = Rc::clone(self.host.node());
        let overdue = self.clients.tokens(|socket| socket.is_over(&node.borrow(), now));
        overdue.into_iter().for_each(|token| self.end_as_overdue(token));
        self.listeners.tokens().for_each(|listener| self.accept(listener, now));
        let mut node = node.borrow_mut();
        node.resident = resident().unwrap_or(node.resident);
        drop(node);
        self.check_snapshot()?;
        self.host.forget_copies(now);
        let receives_large = self.links.sockets.receives_large();
        self.clients.give_up(&mut self.host, if receives_large { LONGEST_WITH_LARGE } else { LONGEST_WAIT_FOR_MEMBER });
        self.end_clients_that_wait_for_parity();
        self.links.sockets.tick(now, &mut self.links.arrivals);
        self.host.member().behind().for_each(|member| self.links.sockets.expect(member));
        // Operators are told which members are silent, so all others are connected.
        self.host.member().membership().silent().for_each(|peer| self.links.sockets.expect(peer.identity));
        self.host.with_member(|member, at, outputs| member.tick(at, outputs));
        self.observability.http.tick(now);
        self.check_certificates();
        self.report_events(now);
        Ok(())
    }
}

/// The process's resident memory and its peak, as Linux reports them. [B]
fn resident() -> Option<(u64, u64)> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let of = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name))?;
        line.trim().strip_suffix(" kB")?.parse::<u64>().ok().map(|kilobytes| kilobytes << 10)
    };
    Some((of("VmRSS:")?, of("VmHWM:")?))
}
