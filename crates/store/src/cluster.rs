//! Which member has which slots, for clients that follow slots.
//!
//! A server of level j <= 14 has the keys whose slots share their first j bits: a range of 2^(14-j) slots. So the
//! ranges follow from the extent of the file alone.

use linear_hash::{Contents, Extent, Server, ServerCounts, Span};

use crate::bucket::Bucket;
use crate::member::{Identity, Member, Peer};
use crate::slot::SLOT_BITS;

/// A range of slots, and the member that has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SlotRange {
    /// The first slot.
    pub first: u16,
    /// The last.
    pub last: u16,
    /// The name of the member that has it: 40 hexadecimal digits.
    pub member: String,
    /// The host at which clients that follow slots reach it.
    pub host: String,
    /// The port.
    pub port: u16,
    /// The port at which other members reach it.
    pub members_port: u16,
}

/// All ranges, as a member knows them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SlotMap {
    /// The name of the member that knows them.
    pub own: String,
    /// In the order of slots.
    pub ranges: Vec<SlotRange>,
    /// How many members there are.
    pub members: usize,
    /// How many servers there are.
    pub servers: u32,
}

/// The name of a member, as Redis writes that of a node: 40 hexadecimal digits.
fn name(identity: Identity) -> String {
    format!("{:040x}", identity.0)
}

/// The first and the last slot of these keys.
pub const fn slots_of(keys: Span) -> (u16, u16) {
    (slot_at(keys.first), slot_at(keys.last))
}

/// The keys of a slot.
pub const fn span_of_slot(slot: u16) -> Span {
    let first = (slot as u64) << (u64::BITS - SLOT_BITS);
    Span { first, last: first | u64::MAX >> SLOT_BITS }
}

/// The slot of a place: places are in the order of slots.
const fn slot_at(place: u64) -> u16 {
    (place >> (u64::BITS - SLOT_BITS)) as u16
}

/// The state of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerState {
    /// Its number.
    pub number: u32,
    /// Its level.
    pub level: u32,
    /// How many records it has.
    pub records: u64,
    /// How many of them expire.
    pub expiring: u64,
    /// The memory of the bucket. [B]
    pub memory: usize,
    /// Whether it neither splits nor merges.
    pub is_steady: bool,
    /// How many servers there are, if it has the token.
    pub token: Option<u32>,
}

/// The state of a member.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PoolState {
    /// All members that it knows, itself first, and whether each is connected.
    pub members: Vec<(Peer, bool)>,
    /// Its servers.
    pub servers: Vec<ServerState>,
    /// What its servers have counted.
    pub counts: ServerCounts,
}

impl PoolState {
    /// The state of this member.
    pub fn of(member: &Member<Bucket>) -> PoolState {
        let state = |(number, server): (u32, &Server<Bucket>)| {
            let (table, bucket) = (server.table()?, server.contents());
            Some(ServerState {
                number,
                level: table.level(),
                records: table.len(),
                expiring: bucket.expiring(),
                memory: bucket.memory(),
                is_steady: server.is_steady(),
                token: server.token().map(Extent::buckets),
            })
        };
        let servers = member.servers().filter_map(state).collect();
        let members = [member.own()].into_iter().chain(member.membership().peers());
        let members = members.map(|peer| (peer.clone(), member.membership().is_connected(peer.identity))).collect();
        PoolState { members, servers, counts: member.hosted().counts() }
    }
}

impl SlotMap {
    /// The slots as a member knows them: each server of its image, at the member where it is, or where it came from.
    pub fn of<C: Contents>(member: &Member<C>) -> SlotMap {
        let (file, mut ranges, mut rest) = (member.image().extent(), Vec::<SlotRange>::new(), Some(Span::ALL));
        while let Some(span) = rest {
            let server = file.index(span.c());
            let own = span.within(file.level(server).min(SLOT_BITS));
            rest = span.after(own.last);
            let Some(peer) = member.host_of(server).and_then(|host| member.membership().peer(host)) else { continue };
            let range = SlotRange {
                first: slot_at(own.first),
                last: slot_at(own.last),
                member: name(peer.identity),
                host: peer.clients.ip().to_string(),
                port: peer.clients.port(),
                members_port: peer.address.port(),
            };
            match ranges.last_mut() {
                Some(last) if last.member == range.member && last.last + 1 == range.first => last.last = range.last,
                _ => ranges.push(range),
            }
        }
        SlotMap {
            own: name(member.own().identity),
            ranges,
            members: 1 + member.membership().peers().count(),
            servers: file.buckets(),
        }
    }

    /// The ranges of each member that has any, member by member.
    pub fn by_member(&self) -> Vec<Vec<&SlotRange>> {
        let mut members: Vec<Vec<&SlotRange>> = Vec::new();
        for range in &self.ranges {
            match members.iter_mut().find(|of| of.iter().all(|one| one.member == range.member)) {
                Some(of) => of.push(range),
                None => members.push(vec![range]),
            }
        }
        members
    }
}
