//! A member of the pool: the LH*LH servers that one process hosts, and the LH* client through which it sends requests
//! to others' servers.
//!
//! ```text
//!   ask ──> client ──> image: which server ──> placement: which member
//!                                                 │ this one             another one
//!                                                 v                      v
//!                                              Server                 Message ──> its Member
//!   Done <── client <──────────────────────────── reply <──────────────── Message
//! ```
//!
//! There is no directory. The placement of servers travels with the token and with the message that opens a server.
//! That is enough, since a server forwards requests only to servers that existed when the token last came by: so a
//! member knows the hosts that its own servers need. As a client, a member sends a request to the server of its image
//! or, if it does not know the host of that one, to the nearest ancestor by splits whose host it knows: the member
//! there knows more, and the client learns it from the reply.
//!
//! There is neither clock nor socket: the time is an argument, and messages are outputs.

mod away;
mod check;
mod hosted;
mod joining;
mod leaving;
mod membership;
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

use std::collections::VecDeque;

use linear_hash::{Contents, Growth, Image, Server, Span, ToClientOf, h};
use quantities::{Duration, Time};

pub use check::MOST_SERVERS;
pub use hosted::HostedServers;
pub use leaving::{Departure, LeavingStage, Noted};
pub use membership::Membership;
pub(crate) use message::Subject;
pub use message::{Identity, Message, Peer, Role};
pub use placement::Placement;
use placement::{Locations, parent};
pub use recording::{Begun, Recorder, Standing, Taken};
use reliable::Reliable;
pub use reliable::{Sequenced, Shared};
use requests::Requests;
pub use requests::{Answer, Ticket};
pub use resizing::ResizeRequest;
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
    policy: Policy,
    /// The number of servers that an operator has asked for.
    asked: ResizeRequest,
    membership: Membership,
    locations: Locations,
    hosted: HostedServers<C>,
    client: PoolClient<C>,
    /// Messages to servers of other members.
    reliable: Reliable<C>,
    recorder: Option<Box<dyn Recorder<C>>>,
}

/// The LH* client of a member, with its requests.
#[derive(Debug)]
struct PoolClient<C: Contents> {
    image: Image,
    requests: Requests<C>,
    /// Messages from servers of this member: receiver and message.
    messages: VecDeque<(u64, ToClientOf<C>)>,
    /// Since when scans of its own servers have waited, if they have: others have their turn between their parts.
    goes_on: Option<Time>,
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
        let requests = Requests::new(own.identity, policy.patience, 0);
        Member {
            policy,
            asked: ResizeRequest::default(),
            membership: Membership::new(own),
            locations: Locations::default(),
            hosted: HostedServers::new(make),
            client: PoolClient { image: Image::default(), requests, messages: VecDeque::new(), goes_on: None },
            reliable: Reliable::new(),
            recorder: None,
        }
    }

    /// This member.
    pub const fn own(&self) -> &Peer {
        &self.membership.own
    }

    /// The members that it knows.
    pub const fn membership(&self) -> &Membership {
        &self.membership
    }

    /// The servers that it hosts.
    pub const fn hosted(&self) -> &HostedServers<C> {
        &self.hosted
    }

    /// Its policy.
    pub const fn policy(&self) -> &Policy {
        &self.policy
    }

    /// Its image of the file, which includes the levels of its own servers.
    pub fn image(&self) -> Image {
        let levels = self.hosted.servers.iter().filter_map(|(number, server)| Some((*number, server.table()?.level())));
        levels.fold(self.client.image, |mut image, (number, level)| {
            image.adjust(number, level);
            image
        })
    }

    /// The host of each server, as far as this member knows.
    pub const fn hints(&self) -> &Placement {
        &self.locations.hints
    }

    /// The servers that it hosts.
    pub fn servers(&self) -> impl Iterator<Item = (u32, &Server<C>)> {
        self.hosted.servers.iter().map(|(number, server)| (*number, server))
    }

    /// The image adjustments that it has received as a client.
    pub fn adjustments(&self) -> u64 {
        self.client.requests.adjustments()
    }

    /// The server that has the place of key C, if this member hosts it: then it can be accessed without a request.
    pub fn holder(&mut self, c: u64) -> Option<(u32, &mut C)> {
        let held = self.hosted.servers.iter_mut().find(|(_, server)| server.holds(c));
        held.map(|(number, server)| (*number, server.contents_mut()))
    }

    /// Server 0, if it has all keys: then no key has to be looked up.
    #[inline]
    pub fn holder_of_all(&mut self) -> Option<&mut C> {
        let server = self.hosted.servers.get_mut(&0).filter(|server| server.is_steady())?;
        server.table().is_some_and(|table| table.level() == 0).then(|| server.contents_mut())
    }

    /// The contents of its servers.
    pub fn contents_mut(&mut self) -> impl Iterator<Item = &mut C> {
        self.hosted.servers.values_mut().map(Server::contents_mut)
    }

    /// The other member to which a client is redirected for the key C, and the keys that go there: the host of the
    /// key's server by this member's image, or of the nearest ancestor of that server, if it has spoken as such. So it
    /// has an ancestor of the key's server, and has the key or knows a server that is nearer to it; a member that was
    /// only said to host a server may know less than this one, and would redirect back.
    pub fn sends_to(&self, c: u64) -> Option<(Identity, Span)> {
        let file = self.image().extent();
        let server = file.index(c);
        let (nearest, host) =
            self.nearest_confirmed(server).filter(|(_, host)| *host != self.membership.own.identity)?;
        // It also takes the keys of all its descendants whose hosts have not spoken.
        let (mut level, first) = (file.level(server), nearest.checked_ilog2().map_or(0, |highest| highest + 1));
        while level > first && self.knows_no_other(nearest, level - 1, c) {
            level -= 1;
        }
        Some((host, Span::of_bucket(h(level, c).into(), level)))
    }

    /// Whether no other server is known to have keys that agree with C on a level.
    fn knows_no_other(&self, server: u32, level: u32, c: u64) -> bool {
        let known =
            self.hosted.servers.keys().copied().chain(self.locations.confirmed.iter().map(|(server, _)| server));
        known.filter(|other| *other != server).all(|other| h(level, other.into()) != h(level, c))
    }

    /// The server itself or its nearest ancestor whose host has spoken as such.
    fn nearest_confirmed(&self, server: u32) -> Option<(u32, Identity)> {
        let confirmed = |server: u32| match self.locations.confirmed.host(server) {
            _ if self.hosted.servers.contains_key(&server) => Some(self.membership.own.identity),
            Some(host) if self.locations.hints.host(server) == Some(host) => Some(host),
            // A server that moves away from this member may not have arrived yet.
            _ => self
                .membership
                .departure()
                .filter(|own| own.moved.contains_key(&server))
                .map(|_| self.membership.own.identity),
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
        self.nearest_confirmed(server).or_else(|| self.locations.nearest(server)).map(|(_, host)| host)
    }

    /// The number of its own requests and scans that have no answer yet.
    pub fn requests_under_way(&self) -> usize {
        self.client.requests.under_way()
    }

    /// When it has to be woken, if no message arrives before.
    pub fn deadline(&self) -> Option<Time> {
        self.client.goes_on.into_iter().chain(self.client.requests.deadline()).min()
    }

    /// Whether it has to be woken at once.
    pub const fn goes_on(&self) -> bool {
        self.client.goes_on.is_some()
    }

    /// Learns a server's host from the server itself; or its present host, if it has moved since.
    fn learn_host(&mut self, server: u32, host: Identity) {
        let Some(host) = self.membership.host_by_now(server, host) else { return };
        self.locations.placement.learn(server, host);
        self.hint(server, host);
    }

    /// Takes a hint about a server's host. For its own servers it ignores hints of others.
    fn hint(&mut self, server: u32, host: Identity) {
        let Some(host) = self.membership.host_by_now(server, host) else { return };
        if host == self.membership.own.identity || !self.hosted.servers.contains_key(&server) {
            self.locations.hints.learn(server, host);
        }
    }

    /// A member has spoken as the host of a server.
    fn receive_host(&mut self, server: u32, host: Identity) {
        self.locations.confirmed.learn(server, host);
        self.hint(server, host);
    }

    fn growth(&self) -> Growth {
        Growth { most_servers: self.most_servers_of(self.membership.hosts()), ..self.policy.growth }
    }
}
