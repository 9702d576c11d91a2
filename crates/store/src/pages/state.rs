//! The state of a member and of the pool, as the live page and Prometheus receive it.

use std::net::SocketAddr;

use serde::{Deserialize, Serialize};

use crate::host::Host;
use crate::node::GroupState;
use crate::slot::slots_of_server;

/// The state of a server.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerLine {
    /// Its number.
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
    /// Their memory. [B]
    pub memory: u64,
    /// Whether it is neither splitting nor merging.
    pub is_steady: bool,
    /// The number of servers, if it has the token.
    pub token: Option<u32>,
    /// Requests that it has answered.
    pub answered: u64,
    /// Requests that it has forwarded to other servers; each has adjusted the client's image.
    pub forwarded: u64,
    /// How often it has split.
    pub splits: u64,
    /// How often it has merged a server that it had split off.
    pub merges: u64,
    /// Lookups that found something.
    pub hits: u64,
    /// Lookups that did not.
    pub misses: u64,
    /// Expired records that were swept out.
    pub expired: u64,
    /// Records that were evicted to make room for others.
    pub evicted: u64,
}

/// The state of a member.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemberState {
    /// Its identity, in hexadecimal.
    pub member: String,
    /// Where other members connect.
    pub address: SocketAddr,
    /// Where clients that follow slots connect.
    pub slots_address: SocketAddr,
    /// For how long it has been running. [s]
    pub seconds: u64,
    /// How many clients are connected.
    pub clients: u64,
    /// Clients' requests that it has executed.
    pub requests: u64,
    /// Replies that were errors.
    pub errors: u64,
    /// The process's resident memory. [B]
    pub resident: u64,
    /// The most memory for records. [B]
    pub most_memory: Option<u64>,
    /// How many records each of its servers has room for.
    pub capacity: u64,
    /// Its servers; none if it stands by.
    pub servers: Vec<ServerLine>,
    /// Its part in a parity group, if it has one.
    pub group: Option<GroupState>,
}

/// A member, as another one has heard of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MemberView {
    /// Its identity, in hexadecimal.
    pub member: String,
    /// Where other members connect to it.
    pub address: SocketAddr,
    /// The time since it last reported its state; none if it never has. [ms]
    pub silent: Option<u64>,
    /// The state that it reported.
    pub state: Option<MemberState>,
}

/// The state of the pool, as far as a member knows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PoolView {
    /// The version of the reporting member.
    pub version: &'static str,
    /// The reporting member.
    pub own: String,
    /// Whether this member has been admitted to a pool.
    pub is_welcome: bool,
    /// The time of the report. [ms since 1970]
    pub now: u64,
    /// All members, the reporting one first.
    pub members: Vec<MemberView>,
}

impl MemberState {
    /// The state of the member that a process hosts.
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
