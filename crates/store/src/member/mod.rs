//! A member of the pool: the LH*LH servers that one process hosts, and the LH* client through which it sends requests to others' servers.
//!
//! ```text
//!   ask ──> client ──> image: which server ──> placement: which member
//!                                                 │ this one             another one
//!                                                 v                      v
//!                                              Server                 Message ──> its Member
//!   Done <── client <──────────────────────────── reply <──────────────── Message
//! ```
//!
//! There is no directory. The placement of servers travels with the token and with the message that opens a server. That is enough, since a server
//! forwards requests only to servers that existed when the token last came by: so a member knows the hosts that its own servers need. As a
//! client, a member sends a request to the server of its image or, if it does not know the host of that one, to the nearest ancestor by splits whose
//! host it knows: the member there knows more, and the client learns it from the reply.
//!
//! There is neither clock nor socket: the time is an argument, and messages are outputs.

mod away;
mod check;
mod joining;
mod leaving;
mod message;
mod moving;
mod placement;
mod recording;
mod reliable;
mod replaying;
mod requests;
mod resizing;
mod settings;
mod spans;
mod work;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt;

use programs::linear_hash::{Contents, Growth, Image, Server, ServerCounts, Span, ToClientOf, ToServerOf, h};
use quantities::{Duration, Time};

pub use check::MOST_SERVERS;
use leaving::Announced;
pub use leaving::{Departure, Noted, Stage};
pub(crate) use message::Subject;
pub use message::{Identity, Message, Peer, Role};
pub use placement::Placement;
use placement::parent;
pub use recording::{Begun, Recorder, Standing, Taken};
use reliable::Reliable;
pub use reliable::{Sequenced, Shared};
use requests::Requests;
pub use requests::{Answer, Ticket};
pub use resizing::Asked;
pub use settings::{Durability, SharedSettings};
pub use spans::rest_from;

/// An output of a member.
#[derive(Debug)]
pub enum Output<C: Contents> {
    /// A message to another member.
    Send(Identity, Message<C>),
    /// The answer to the request with a ticket.
    Done(Ticket, Answer<C>),
}

/// A member's policy.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Policy {
    /// When servers split and merge. The most servers follow from the number of members.
    pub growth: Growth,
    /// The most servers per member, on average.
    pub servers_each: u32,
    /// The time after which an unanswered request is sent again.
    pub patience: Duration,
    /// How the pool's records survive the end of a process and the loss of a disk.
    pub durability: Durability,
}

/// A member of the pool.
#[derive(Debug)]
pub struct Member<C: Contents> {
    own: Peer,
    policy: Policy,
    /// The other members.
    peers: BTreeMap<Identity, Peer>,
    /// The members to which it passes on news of members: the one that welcomed it, and those that it welcomed.
    relays: BTreeSet<Identity>,
    /// The members to which there is a link.
    connected: BTreeSet<Identity>,
    /// The others that may host servers, and how many each hosts, as far as known.
    away: BTreeMap<Identity, u32>,
    /// New members that asked to join before this one was welcomed itself, with their settings; `None` once it was.
    waiting: Option<Vec<(Peer, SharedSettings)>>,
    /// Members that have other settings than this one, and which, since they were last taken.
    differing: Vec<(Identity, SharedSettings)>,
    servers: BTreeMap<u32, Server<C>>,
    /// The host of each server, as servers have told each other: messages between servers are routed by it.
    placement: Placement,
    /// The host of each server, for requests as a client: it may be out of date, and is corrected then.
    hints: Placement,
    /// The members that have answered as hosts of servers. The others are known by hearsay: a server may still be on its way to them.
    confirmed: Placement,
    /// The number of servers that an operator has asked for.
    asked: Asked,
    /// The members that are leaving or have left, this one included, and where their servers went.
    departures: BTreeMap<Identity, Departure>,
    /// If this one is leaving, what others know of that.
    announced: Announced,
    /// Servers that move, with the member at the other end.
    moves: BTreeMap<u32, Identity>,
    image: Image,
    requests: Requests<C>,
    /// Messages between servers of this member, and those that have overtaken a server on its way here: sender, receiver and message.
    to_servers: VecDeque<(u32, u32, ToServerOf<C>)>,
    /// Messages from its servers to its clients: receiver and message.
    to_clients: VecDeque<(u64, ToClientOf<C>)>,
    /// Since when scans of its own servers have waited, if they have: others have their turn between their parts.
    goes_on: Option<Time>,
    /// Messages to servers of other members.
    reliable: Reliable<C>,
    make: Make<C>,
    recorder: Option<Box<dyn Recorder<C>>>,
}

/// Makes the contents of a new server, by its number.
struct Make<C>(Box<dyn Fn(u32) -> C>);

impl<C> fmt::Debug for Make<C> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Make")
    }
}

impl<C: Contents> Member<C> {
    /// The first member of a pool, with server 0.
    pub fn founding(own: Peer, policy: Policy, make: impl Fn(u32) -> C + 'static) -> Member<C> {
        let mut member = Member::joining(own, policy, make);
        member.found();
        member
    }

    /// A member that another one has yet to welcome, and that then stands by until a split needs it.
    pub fn joining(own: Peer, policy: Policy, make: impl Fn(u32) -> C + 'static) -> Member<C> {
        Member {
            requests: Requests::new(own.identity, policy.patience, 0),
            own,
            policy,
            peers: BTreeMap::new(),
            relays: BTreeSet::new(),
            connected: BTreeSet::new(),
            away: BTreeMap::new(),
            waiting: Some(Vec::new()),
            differing: Vec::new(),
            servers: BTreeMap::new(),
            placement: Placement::default(),
            hints: Placement::default(),
            confirmed: Placement::default(),
            asked: Asked::default(),
            departures: BTreeMap::new(),
            announced: Announced::default(),
            moves: BTreeMap::new(),
            image: Image::default(),
            to_servers: VecDeque::new(),
            to_clients: VecDeque::new(),
            goes_on: None,
            reliable: Reliable::new(),
            make: Make(Box::new(make)),
            recorder: None,
        }
    }

    /// This member.
    pub const fn own(&self) -> &Peer {
        &self.own
    }

    /// Its policy.
    pub const fn policy(&self) -> &Policy {
        &self.policy
    }

    /// Whether it is part of a pool: it has founded one, or was welcomed.
    pub const fn is_welcome(&self) -> bool {
        self.waiting.is_none()
    }

    /// The other members.
    pub fn peers(&self) -> impl Iterator<Item = &Peer> {
        self.peers.values()
    }

    /// Its image of the file, which includes the levels of its own servers.
    pub fn image(&self) -> Image {
        let levels = self.servers.iter().filter_map(|(number, server)| Some((*number, server.table()?.level())));
        levels.fold(self.image, |mut image, (number, level)| {
            image.adjust(number, level);
            image
        })
    }

    /// The host of each server, as far as this member knows.
    pub const fn hints(&self) -> &Placement {
        &self.hints
    }

    /// The servers that it hosts.
    pub fn servers(&self) -> impl Iterator<Item = (u32, &Server<C>)> {
        self.servers.iter().map(|(number, server)| (*number, server))
    }

    /// The sums of its servers' counts.
    pub fn counts(&self) -> ServerCounts {
        let mut sum = ServerCounts::default();
        for server in self.servers.values() {
            sum.answered += server.counts.answered;
            sum.forwarded += server.counts.forwarded;
            sum.splits += server.counts.splits;
            sum.merges += server.counts.merges;
        }
        sum
    }

    /// The image adjustments that it has received as a client.
    pub fn adjustments(&self) -> u64 {
        self.requests.adjustments()
    }

    /// The server that has the place of key C, if this member hosts it: then it can be accessed without a request.
    pub fn holder(&mut self, c: u64) -> Option<(u32, &mut C)> {
        let held = self.servers.iter_mut().find(|(_, server)| server.holds(c));
        held.map(|(number, server)| (*number, server.contents_mut()))
    }

    /// Server 0, if it has all keys: then no key has to be looked up.
    #[inline]
    pub fn holder_of_all(&mut self) -> Option<&mut C> {
        let server = self.servers.get_mut(&0).filter(|server| server.is_steady())?;
        server.table().is_some_and(|table| table.level() == 0).then(|| server.contents_mut())
    }

    /// The contents of its servers.
    pub fn contents_mut(&mut self) -> impl Iterator<Item = &mut C> {
        self.servers.values_mut().map(Server::contents_mut)
    }

    /// The other member to which a client is redirected for the key C, and the keys that go there: the host of the key's server by this member's
    /// image, or of the nearest ancestor of that server, if it has spoken as such. So it has an ancestor of the key's server, and has the key or
    /// knows a server that is nearer to it; a member that was only said to host a server may know less than this one, and would redirect back.
    pub fn sends_to(&self, c: u64) -> Option<(Identity, Span)> {
        let file = self.image().extent();
        let server = file.index(c);
        let (nearest, host) = self.nearest_confirmed(server).filter(|(_, host)| *host != self.own.identity)?;
        // It also takes the keys of all its descendants whose hosts have not spoken.
        let (mut level, first) = (file.level(server), nearest.checked_ilog2().map_or(0, |highest| highest + 1));
        while level > first && self.knows_no_other(nearest, level - 1, c) {
            level -= 1;
        }
        Some((host, Span::of_bucket(h(level, c).into(), level)))
    }

    /// Whether no other server is known to have keys that agree with C on a level.
    fn knows_no_other(&self, server: u32, level: u32, c: u64) -> bool {
        let known = self.servers.keys().copied().chain(self.confirmed.iter().map(|(server, _)| server));
        known.filter(|other| *other != server).all(|other| h(level, other.into()) != h(level, c))
    }

    /// The server itself or its nearest ancestor whose host has spoken as such.
    fn nearest_confirmed(&self, server: u32) -> Option<(u32, Identity)> {
        let confirmed = |server: u32| match self.confirmed.host(server) {
            _ if self.servers.contains_key(&server) => Some(self.own.identity),
            Some(host) if self.hints.host(server) == Some(host) => Some(host),
            // A server that moves away from this member may not have arrived yet.
            _ => self.departure().filter(|own| own.moved.contains_key(&server)).map(|_| self.own.identity),
        };
        let mut nearest = server;
        loop {
            match confirmed(nearest) {
                None if nearest > 0 => nearest = parent(nearest),
                confirmed => return confirmed.map(|host| (nearest, host)),
            }
        }
    }

    /// The host of a server or of its nearest ancestor, from the most reliable source.
    pub fn host_of(&self, server: u32) -> Option<Identity> {
        self.nearest_confirmed(server).or_else(|| self.nearest(server)).map(|(_, host)| host)
    }

    /// The server itself, or its nearest ancestor whose host this member knows. A host that was asked before the server had
    /// arrived has answered that it is not there; if no other host is known, that one is asked again.
    fn nearest(&self, server: u32) -> Option<(u32, Identity)> {
        self.hints.nearest(server).or_else(|| self.placement.nearest(server))
    }

    /// A member by its identity.
    pub fn peer(&self, identity: Identity) -> Option<&Peer> {
        if identity == self.own.identity { Some(&self.own) } else { self.peers.get(&identity) }
    }

    /// The members that may host servers.
    pub fn hosts(&self) -> impl Iterator<Item = &Peer> {
        let may_host = |peer: &&Peer| peer.role == Role::Data && !self.departures.contains_key(&peer.identity);
        self.peers.values().chain([&self.own]).filter(may_host)
    }

    /// The number of its own requests and scans that have no answer yet.
    pub fn requests_under_way(&self) -> usize {
        self.requests.under_way()
    }

    /// When it has to be woken, if no message arrives before.
    pub fn deadline(&self) -> Option<Time> {
        self.goes_on.into_iter().chain(self.requests.deadline()).min()
    }

    /// Whether it has to be woken at once.
    pub const fn goes_on(&self) -> bool {
        self.goes_on.is_some()
    }

    /// Learns a server's host from the server itself; or its present host, if it has moved since.
    fn learn_host(&mut self, server: u32, host: Identity) {
        let Some(host) = self.host_by_now(server, host) else { return };
        self.placement.learn(server, host);
        self.hint(server, host);
    }

    /// Takes a hint about a server's host. For its own servers it ignores hints of others.
    fn hint(&mut self, server: u32, host: Identity) {
        let Some(host) = self.host_by_now(server, host) else { return };
        if host == self.own.identity || !self.servers.contains_key(&server) {
            self.hints.learn(server, host);
        }
    }

    /// A member has spoken as the host of a server.
    fn receive_host(&mut self, server: u32, host: Identity) {
        self.confirmed.learn(server, host);
        self.hint(server, host);
    }

    /// Forgets that a member hosts a server.
    fn forget_host(&mut self, server: u32, host: Identity) {
        self.placement.forget(server, host);
        self.forget_hint(server, host);
    }

    fn forget_hint(&mut self, server: u32, host: Identity) {
        self.hints.forget(server, host);
        self.confirmed.forget(server, host);
    }

    fn growth(&self) -> Growth {
        Growth { most_servers: self.most_servers_of(self.hosts()), ..self.policy.growth }
    }
}
