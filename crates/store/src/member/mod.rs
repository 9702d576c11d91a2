//! A member of the pool: the LH*LH servers that one process hosts, and the LH* client through which it asks those of others.
//!
//! ```text
//!   ask ──> client ──> image: which server ──> placement: which member
//!                                                 │ this one             another one
//!                                                 v                      v
//!                                              Server                 Message ──> its Member
//!   Done <── client <──────────────────────────── reply <──────────────── Message
//! ```
//!
//! There is no directory. Who hosts which server travels with the token, and with what opens a server, since servers send requests on only to
//! servers that were there when the token last came by; so a member knows whom its own servers have to know. What it asks as a client goes to the
//! server of its image, or, where it does not know who hosts that, to the one that it came of by splits: somebody there knows, and by the reply so
//! does the client.
//!
//! Neither clock nor socket: the time is an argument, what is to be sent comes out.

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
mod work;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt;

use programs::linear_hash::{Applied, Contents, Growth, Image, Server, ServerCounts, Span, ToClientOf, ToServerOf, h};
use quantities::{Duration, Time};

pub use check::MOST_SERVERS;
use leaving::Announced;
pub use leaving::{Departure, Noted, Stage};
pub use message::{Identity, Message, Peer, Role};
pub use placement::Placement;
use placement::parent;
pub use recording::{Begun, Recorder, Standing, Taken};
use reliable::Reliable;
pub use reliable::{Sequenced, Shared};
use requests::Requests;
pub use requests::{Answer, Ticket};
pub use resizing::Asked;

/// What a member does.
#[derive(Debug)]
pub enum Output<C: Contents> {
    /// Sends a message to another member.
    Send(Identity, Message<C>),
    /// What was asked for under a ticket has its answer.
    Done(Ticket, Answer<C>),
}

/// How a member takes part.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Policy {
    /// When servers split and merge. As many servers as there can be follow from the members.
    pub growth: Growth,
    /// As many servers a member hosts at most, on the mean.
    pub servers_each: u32,
    /// After how long a request is sent again that nobody has answered.
    pub patience: Duration,
}

/// A member of the pool.
#[derive(Debug)]
pub struct Member<C: Contents> {
    own: Peer,
    policy: Policy,
    /// The other members, by who they are.
    peers: BTreeMap<Identity, Peer>,
    /// Those of them to whom it passes on that a member has come: the one that welcomed it, and those that it welcomed.
    relays: BTreeSet<Identity>,
    /// New members that have asked before this one was welcomed itself; none of them from then on.
    waiting: Option<Vec<Peer>>,
    servers: BTreeMap<u32, Server<C>>,
    /// Who hosts which server, as servers have told each other: what they tell each other next goes by that.
    placement: Placement,
    /// The same as far as anybody knows who asks as a client: it may be out of date, and then somebody says so.
    hints: Placement,
    /// Who has spoken as the host of a server. Others were only said to be: it may be on its way to them still.
    heard: Placement,
    /// How many servers there are to be, as somebody has asked for.
    asked: Asked,
    /// The members that leave, or have left, and where their servers went; this one, too.
    departures: BTreeMap<Identity, Departure>,
    /// If this one leaves, what others have heard of that.
    announced: Announced,
    /// Servers that move, with the member at the other end.
    moves: BTreeMap<u32, Identity>,
    image: Image,
    requests: Requests<C>,
    /// What servers of this member have to tell each other: from whom, to whom, and what.
    to_servers: VecDeque<(u32, u32, ToServerOf<C>)>,
    /// And its clients: to which, and what.
    to_clients: VecDeque<(u64, ToClientOf<C>)>,
    /// What they have to tell servers of other members.
    reliable: Reliable<C>,
    make: Make<C>,
    recorder: Option<Box<dyn Recorder<C>>>,
    /// By server and client, how requests went that is not written down yet.
    unwritten: BTreeMap<(u32, u64), Applied<C::Outcome>>,
}

/// Makes what a server keeps that is to come here, by its number.
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

    /// A member that has yet to be welcomed by another one, and stands by until a split needs it.
    pub fn joining(own: Peer, policy: Policy, make: impl Fn(u32) -> C + 'static) -> Member<C> {
        Member {
            requests: Requests::new(own.identity, policy.patience, 0),
            own,
            policy,
            peers: BTreeMap::new(),
            relays: BTreeSet::new(),
            waiting: Some(Vec::new()),
            servers: BTreeMap::new(),
            placement: Placement::default(),
            hints: Placement::default(),
            heard: Placement::default(),
            asked: Asked::default(),
            departures: BTreeMap::new(),
            announced: Announced::default(),
            moves: BTreeMap::new(),
            image: Image::default(),
            to_servers: VecDeque::new(),
            to_clients: VecDeque::new(),
            reliable: Reliable::new(),
            make: Make(Box::new(make)),
            recorder: None,
            unwritten: BTreeMap::new(),
        }
    }

    /// Who it is.
    pub const fn own(&self) -> &Peer {
        &self.own
    }

    /// How it takes part.
    pub const fn policy(&self) -> &Policy {
        &self.policy
    }

    /// Whether it is one: it founded the pool, or was welcomed.
    pub const fn is_welcome(&self) -> bool {
        self.waiting.is_none()
    }

    /// The others.
    pub fn peers(&self) -> impl Iterator<Item = &Peer> {
        self.peers.values()
    }

    /// What it believes of the file. Of its own servers it knows the levels without having asked.
    pub fn image(&self) -> Image {
        let levels = self.servers.iter().filter_map(|(number, server)| Some((*number, server.table()?.level())));
        levels.fold(self.image, |mut image, (number, level)| {
            image.adjust(number, level);
            image
        })
    }

    /// Who hosts which server, as far as it is known here.
    pub const fn hints(&self) -> &Placement {
        &self.hints
    }

    /// The servers that it hosts.
    pub fn servers(&self) -> impl Iterator<Item = (u32, &Server<C>)> {
        self.servers.iter().map(|(number, server)| (*number, server))
    }

    /// What its servers have counted, all together.
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

    /// Image adjustments that it was told as a client.
    pub fn adjustments(&self) -> u64 {
        self.requests.adjustments()
    }

    /// The server of the key C, if this member hosts it and its place is here: then it can be asked without a request.
    pub fn holder(&mut self, c: u64) -> Option<(u32, &mut C)> {
        let held = self.servers.iter_mut().find(|(_, server)| server.holds(c));
        held.map(|(number, server)| (*number, server.contents_mut()))
    }

    /// Server 0, if it has all keys: then it can be asked without asking which server has one.
    #[inline]
    pub fn holder_of_all(&mut self) -> Option<&mut C> {
        let server = self.servers.get_mut(&0).filter(|server| server.is_steady())?;
        server.table().is_some_and(|table| table.level() == 0).then(|| server.contents_mut())
    }

    /// What its servers keep.
    pub fn contents_mut(&mut self) -> impl Iterator<Item = &mut C> {
        self.servers.values_mut().map(Server::contents_mut)
    }

    /// Another member, to which somebody is sent who asks for the key C, and with which keys: the host of the key's server by this one's image, or of
    /// the one that it came of and so on, if it has spoken as such. So it has a server that the key's came of by splits, and knows one at least that
    /// is nearer to the key, or has it; a member that was only said to host a server may know less than this one, and would send them back.
    pub fn sends_to(&self, c: u64) -> Option<(Identity, Span)> {
        let file = self.image().extent();
        let server = file.index(c);
        let (nearest, host) = self.heard(server).filter(|(_, host)| *host != self.own.identity)?;
        // With it are the keys of all servers that came of it and were only said to be there.
        let (mut level, first) = (file.level(server), nearest.checked_ilog2().map_or(0, |highest| highest + 1));
        while level > first && self.knows_no_other(nearest, level - 1, c) {
            level -= 1;
        }
        Some((host, Span::of_bucket(h(level, c).into(), level)))
    }

    /// Whether no server but this one is known to have keys that are the same as C on a level.
    fn knows_no_other(&self, server: u32, level: u32, c: u64) -> bool {
        let known = self.servers.keys().copied().chain(self.heard.iter().map(|(server, _)| server));
        known.filter(|other| *other != server).all(|other| h(level, other.into()) != h(level, c))
    }

    /// The nearest server to this one on the way to where it came from whose host has spoken as such.
    fn heard(&self, server: u32) -> Option<(u32, Identity)> {
        let hears = |server: u32| match self.heard.host(server) {
            _ if self.servers.contains_key(&server) => Some(self.own.identity),
            Some(host) if self.hints.host(server) == Some(host) => Some(host),
            // What has moved away from here may not be there yet.
            _ => self.departure().filter(|own| own.moved.contains_key(&server)).map(|_| self.own.identity),
        };
        let mut nearest = server;
        loop {
            match hears(nearest) {
                None if nearest > 0 => nearest = parent(nearest),
                heard => return heard.map(|host| (nearest, host)),
            }
        }
    }

    /// The host of a server, or of one that it came of, of whom that is known best.
    pub fn host_of(&self, server: u32) -> Option<Identity> {
        self.heard(server).or_else(|| self.hints.nearest(server)).map(|(_, host)| host)
    }

    /// What a member is known as.
    pub fn peer(&self, identity: Identity) -> Option<&Peer> {
        if identity == self.own.identity { Some(&self.own) } else { self.peers.get(&identity) }
    }

    /// The members that host servers, or may.
    pub fn hosts(&self) -> impl Iterator<Item = &Peer> {
        let may_host = |peer: &&Peer| peer.role == Role::Data && !self.departures.contains_key(&peer.identity);
        self.peers.values().chain([&self.own]).filter(may_host)
    }

    /// As many requests and scans of its own have no answer yet.
    pub fn requests_under_way(&self) -> usize {
        self.requests.under_way()
    }

    /// When it wants to be woken, if nothing comes before.
    pub fn deadline(&self) -> Option<Time> {
        self.requests.deadline()
    }

    /// Knows by a server who hosts it; or who does by now, if the server has moved since.
    fn learn_host(&mut self, server: u32, host: Identity) {
        let Some(host) = self.host_by_now(server, host) else { return };
        self.placement.learn(server, host);
        self.hint(server, host);
    }

    /// Has heard who hosts a server. Of its own it knows best.
    fn hint(&mut self, server: u32, host: Identity) {
        let Some(host) = self.host_by_now(server, host) else { return };
        if host == self.own.identity || !self.servers.contains_key(&server) {
            self.hints.learn(server, host);
        }
    }

    /// Somebody has spoken as the host of a server.
    fn hear_host(&mut self, server: u32, host: Identity) {
        self.heard.learn(server, host);
        self.hint(server, host);
    }

    /// Does not take somebody for the host of a server any more.
    fn forget_host(&mut self, server: u32, host: Identity) {
        self.placement.forget(server, host);
        self.forget_hint(server, host);
    }

    fn forget_hint(&mut self, server: u32, host: Identity) {
        self.hints.forget(server, host);
        self.heard.forget(server, host);
    }

    fn growth(&self) -> Growth {
        Growth { most_servers: self.most_servers_of(self.hosts().count()), ..self.policy.growth }
    }

    /// As many servers as so many members host at most.
    fn most_servers_of(&self, members: usize) -> u32 {
        let members = u32::try_from(members).unwrap_or(u32::MAX);
        members.saturating_mul(self.policy.servers_each).min(self.policy.growth.most_servers)
    }
}
