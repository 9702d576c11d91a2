//! The servers that a member hosts.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;

use linear_hash::{Contents, Server, ServerCounts, Span, ToServerOf};

use super::Identity;
use super::placement::parent;

/// The servers that a member hosts.
#[derive(Debug)]
pub struct HostedServers<C: Contents> {
    pub(super) servers: BTreeMap<u32, Server<C>>,
    /// Servers that move, with the member at the other end.
    pub(super) moves: BTreeMap<u32, Identity>,
    /// Messages between servers of this member, and those that have overtaken a server on its way here: sender,
    /// receiver and message.
    pub(super) messages: VecDeque<(u32, u32, ToServerOf<C>)>,
    pub(super) make: Make<C>,
}

/// Makes the contents of a new server, by its number.
pub(super) struct Make<C>(Box<dyn Fn(u32) -> C>);

impl<C> Make<C> {
    /// The contents of a server with this number.
    pub(super) fn contents(&self, number: u32) -> C {
        (self.0)(number)
    }
}

impl<C> fmt::Debug for Make<C> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Make")
    }
}

impl<C: Contents> HostedServers<C> {
    /// None yet.
    pub(super) fn new(make: impl Fn(u32) -> C + 'static) -> HostedServers<C> {
        HostedServers {
            servers: BTreeMap::new(),
            moves: BTreeMap::new(),
            messages: VecDeque::new(),
            make: Make(Box::new(make)),
        }
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

    /// Whether the server can't exist, because its ancestor here has not split often enough.
    pub fn is_not_in_the_file(&self, server: u32) -> bool {
        let (mut child, mut ancestor) = (server, parent(server));
        while !self.servers.contains_key(&ancestor) && ancestor > 0 {
            (child, ancestor) = (ancestor, parent(ancestor));
        }
        let level = self.servers.get(&ancestor).and_then(Server::table).map(|table| table.level());
        level.is_some_and(|level| child.checked_ilog2().is_some_and(|split| level <= split))
    }

    /// The spans of the servers that this member hosts, in the order of places: each from the end of the split that
    /// creates the server, or of its move, on. While nothing changes, each key is in a span of exactly one member.
    /// While a server splits, it still answers for all its keys.
    pub fn own_spans(&self) -> Vec<Span> {
        let span = |(number, server): (&u32, &Server<C>)| server.table()?.answers_for(*number);
        let mut spans: Vec<Span> = self.servers.iter().filter_map(span).collect();
        spans.sort_unstable();
        spans
    }
}
