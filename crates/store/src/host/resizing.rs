//! CLUSTER GROW and CLUSTER SHRINK: more or fewer servers than the records need.

use linear_hash::Bounds;

use super::{Host, time};
use crate::resp::{Arguments, Reply, number};

/// A command to resize the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resize {
    /// To so many more servers.
    Grow(u32),
    /// To so many fewer.
    Shrink(u32),
}

impl Resize {
    /// By how many servers a request wants to resize the file.
    pub(super) fn by(arguments: Arguments<'_>) -> Option<u32> {
        let by = match arguments.len() {
            2 => Some(1),
            3 => number::integer(arguments.get(2)),
            _ => None,
        };
        u32::try_from(by?).ok()
    }
}

impl Host {
    /// Has the file, which has `records` records, grow or shrink, and replies how many servers there will be. All
    /// servers were just asked for their levels.
    pub(super) fn resize(&mut self, resize: Resize, records: u64, reply: &mut Reply) {
        match self.bounds_for(resize, records) {
            Ok((servers, bounds)) => {
                let now = time(&self.node.borrow());
                self.member.resize(now, bounds, &mut self.outputs);
                reply.count(servers.into());
            }
            Err(refusal) => reply.error(&refusal),
        }
    }

    fn bounds_for(&self, resize: Resize, records: u64) -> Result<(u32, Bounds), String> {
        let servers = self.member.image().extent().buckets();
        match resize {
            // As many as the records need.
            Resize::Grow(0) | Resize::Shrink(0) => Ok((servers, Bounds::default())),
            Resize::Grow(by) => {
                let (most, least) = (self.member.most_servers(), servers.saturating_add(by));
                if least > most {
                    let (members, away) =
                        (self.member.membership().hosts().count(), self.member.membership().hosts_away().count());
                    let gone = if away == 0 { String::new() } else { format!(", {away} of them not connected,") };
                    return Err(format!(
                        "ERR no room for {least} servers: {members} members{gone} host at most {most} together; \
                         more members have to join"
                    ));
                }
                Ok((least, Bounds { least, most: u32::MAX }))
            }
            Resize::Shrink(by) => {
                let most = servers.saturating_sub(by);
                let capacity = self.member.capacity();
                if most == 0 {
                    return Err(format!("ERR there are {servers} servers, and one has to remain"));
                }
                if records > capacity.saturating_mul(most.into()) {
                    return Err(format!(
                        "ERR no room for {records} records on {most} servers, each of which has room for {capacity}"
                    ));
                }
                Ok((most, Bounds { least: 1, most }))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, SocketAddr};

    use linear_hash::Growth;
    use quantities::Duration;

    use super::*;
    use crate::member::{Durability, Identity, Message, Peer, Policy, Role};
    use crate::node::{Node, Settings};

    fn peer(number: u32) -> Peer {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, number as u16));
        Peer { identity: Identity(number), address, clients: address, role: Role::Data, life: 0 }
    }

    #[test]
    fn a_refusal_to_grow_tells_how_many_members_there_are_and_how_many_of_them_are_away() {
        let growth = Growth { capacity: 10, sensitivity: 0.8, shrink: None, apart: false, most_servers: 16, chunk: 4 };
        let patience = Duration::from_microseconds(10);
        let policy = Policy { growth, servers_each: 2, patience, durability: Durability::default() };
        let mut host = Host::new(Node::new(Settings::default(), 6379, [1; 3], 0), peer(1), policy, true);
        for other in [2, 3] {
            host.with_member(|member, now, outputs| {
                let joins = Message::Join(peer(other), member.settings());
                member.receive(now, Identity(other), joins, outputs);
                member.connect(peer(other), outputs);
            });
        }
        let refusal = |host: &Host| host.bounds_for(Resize::Grow(9), 0).unwrap_err();
        assert_eq!(
            refusal(&host),
            "ERR no room for 10 servers: 3 members host at most 6 together; more members have to join"
        );
        host.with_member(|member, _, outputs| member.disconnect(Identity(3), outputs));
        assert_eq!(
            refusal(&host),
            "ERR no room for 10 servers: 3 members, 1 of them not connected, host at most 4 together; \
             more members have to join"
        );
    }
}
