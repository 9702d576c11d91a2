//! CLUSTER DRAIN: this member leaves in order. Asked again it says how far it has come.

use super::{Host, time};
use crate::member::{Departure, Identity, Peer, Role, Stage};
use crate::resp::{Arguments, Reply};

/// Whether a request is this one.
pub(super) fn is_asked_for(arguments: Arguments<'_>) -> bool {
    arguments.len() == 2 && arguments.get(1).eq_ignore_ascii_case(b"drain")
}

impl Host {
    /// Whether the member leaves already: then that is all that there is to say.
    pub(super) fn leaves(&self) -> bool {
        self.member.departure().is_some()
    }

    /// Has the member leave, unless it does already, and replies how far it has come. All servers were just asked for their levels.
    pub(super) fn drain(&mut self, reply: &mut Reply) {
        if !self.leaves() {
            if let Some(refusal) = self.refuses_to_leave() {
                return reply.error(&refusal);
            }
            let now = time(&self.node.borrow());
            self.member.leave(now, &mut self.outputs);
        }
        if let Some(departure) = self.member.departure() {
            self.say_how_far(departure, reply);
        }
    }

    /// How far it has come, the servers that are still here, those that have moved with where they are, and for whom it waits.
    fn say_how_far(&self, departure: &Departure, reply: &mut Reply) {
        let stage: &[u8] = match departure.stage {
            Stage::Moving => b"moving",
            Stage::Over => b"leaving",
            Stage::Gone => b"left",
        };
        reply.array(4);
        reply.bulk(stage);
        reply.count(self.member.servers().count() as u64);
        reply.array(departure.moved.len());
        for (server, host) in &departure.moved {
            reply.array(2);
            reply.integer(i64::from(*server));
            reply.bulk(self.address_of(*host).as_bytes());
        }
        let waits: Vec<String> = self.member.not_heard().map(|peer| peer.clients.to_string()).collect();
        reply.array(waits.len());
        waits.iter().for_each(|address| reply.bulk(address.as_bytes()));
    }

    fn address_of(&self, member: Identity) -> String {
        self.member.peer(member).map_or_else(|| member.to_string(), |peer| peer.clients.to_string())
    }

    fn refuses_to_leave(&self) -> Option<String> {
        let (member, servers) = (&self.member, self.member.image().extent().buckets());
        let (others, most) = (member.peers().count(), member.most_servers_of_others());
        let has_parity = |peer: &Peer| peer.role != Role::Data;
        if self.node.borrow().group.is_some() || member.peers().chain([member.own()]).any(has_parity) {
            return Some(
                "ERR a member of a pool with parity can't be drained: end it, and it is rebuilt on a spare".into(),
            );
        }
        if let Some(other) = member.who_leaves() {
            return Some(format!("ERR the member at {} is leaving: try again when it has left", other.clients));
        }
        if others == 0 {
            return Some("ERR there is no other member to which its servers could move".into());
        }
        let is_too_few = servers > most;
        is_too_few
            .then(|| format!("ERR no room for {servers} servers: {others} other members host at most {most} together"))
    }
}
