//! How a member stands, and all members, as the live page and Prometheus are told.

use std::net::SocketAddr;

use serde::{Deserialize, Serialize};

use crate::host::Host;
use crate::node::GroupState;
use crate::slot::slots_of_server;

/// How a server stands.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerLine {
    /// Which.
    pub server: u32,
    /// Its level.
    pub level: u32,
    /// The first of its slots.
    pub first_slot: u16,
    /// The last.
    pub last_slot: u16,
    /// How many records it has.
    pub records: u64,
    /// How many of them expire.
    pub expiring: u64,
    /// What they take. [B]
    pub memory: u64,
    /// Whether it neither splits nor merges.
    pub is_steady: bool,
    /// How many servers there are, if it has the token.
    pub token: Option<u32>,
    /// Requests that it has answered.
    pub answered: u64,
    /// Requests that it has sent on to other servers: of each the client's image was adjusted.
    pub forwarded: u64,
    /// How often it has split.
    pub splits: u64,
    /// How often it has taken over what it had split off.
    pub merges: u64,
    /// Lookups that found something.
    pub hits: u64,
    /// Lookups that did not.
    pub misses: u64,
    /// Records that were swept out when they had expired.
    pub expired: u64,
    /// Records that had to go for others.
    pub evicted: u64,
}

/// How a member stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemberState {
    /// Which, in hexadecimal.
    pub member: String,
    /// Where other members call.
    pub address: SocketAddr,
    /// Where clients reach it that follow slots.
    pub slots_address: SocketAddr,
    /// For how long it has been there. [s]
    pub seconds: u64,
    /// How many clients are connected.
    pub clients: u64,
    /// Requests of clients that were carried out by it.
    pub requests: u64,
    /// Replies that were errors.
    pub errors: u64,
    /// What the process has in memory. [B]
    pub resident: u64,
    /// The most that records may take. [B]
    pub most_memory: Option<u64>,
    /// As many records each of its servers has room for.
    pub capacity: u64,
    /// Its servers; none, where it stands by.
    pub servers: Vec<ServerLine>,
    /// Its part in a group of which parity is kept, if it has one.
    pub group: Option<GroupState>,
}

/// A member, as another one knows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Heard {
    /// Which, in hexadecimal.
    pub member: String,
    /// Where other members call it.
    pub address: SocketAddr,
    /// For how long it has told nothing of itself; none, if it never has. [ms]
    pub silent: Option<u64>,
    /// What it told.
    pub state: Option<MemberState>,
}

/// How the pool stands, as far as a member knows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PoolView {
    /// The version of the member that says so.
    pub version: &'static str,
    /// Which member that is.
    pub own: String,
    /// Whether it is part of a pool yet.
    pub is_welcome: bool,
    /// Now. [ms since 1970]
    pub now: u64,
    /// All members, itself first.
    pub members: Vec<Heard>,
}

impl MemberState {
    /// Of the member that a process hosts.
    pub fn of(host: &Host) -> MemberState {
        let (member, node) = (host.member(), host.node().borrow());
        let own = member.own();
        let servers = member.servers().filter_map(|(number, server)| {
            let (table, bucket) = (server.table()?, server.contents());
            let (slots, counts) = (slots_of_server(number, table.level()), server.counts);
            Some(ServerLine {
                server: number,
                level: table.level(),
                first_slot: *slots.start(),
                last_slot: *slots.end(),
                records: table.len(),
                expiring: bucket.expiring(),
                memory: bucket.memory() as u64,
                is_steady: server.is_steady(),
                token: server.token().map(|file| file.buckets()),
                answered: counts.answered,
                forwarded: counts.forwarded,
                splits: counts.splits,
                merges: counts.merges,
                hits: bucket.counts.hits,
                misses: bucket.counts.misses,
                expired: bucket.counts.expired,
                evicted: bucket.counts.evicted,
            })
        });
        MemberState {
            member: own.identity.to_string(),
            address: own.address,
            slots_address: own.clients,
            seconds: node.now.saturating_sub(node.since) / 1000,
            clients: node.clients.len() as u64,
            requests: node.counts.commands,
            errors: node.counts.errors,
            resident: node.resident.0,
            most_memory: node.settings.most_memory.map(|most| most as u64),
            capacity: member.policy().growth.capacity,
            servers: servers.collect(),
            group: node.group.clone(),
        }
    }
}
