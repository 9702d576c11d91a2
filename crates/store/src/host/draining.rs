//! CLUSTER DRAIN: makes this member leave in order. Repeated, it reports the progress.

use std::collections::BTreeSet;

use super::{Host, time};
use crate::member::{Departure, Identity, LeavingStage, Peer, Role};
use crate::node::GroupState;
use crate::resp::Reply;

impl Host {
    /// Whether the member is leaving already.
    pub(super) fn leaves(&self) -> bool {
        self.member.membership().departure().is_some()
    }

    /// Makes the member leave, unless it is leaving already, and replies with its progress. All servers were just asked
    /// for their levels.
    pub(super) fn leave_pool(&mut self, reply: &mut Reply) {
        if !self.leaves() {
            if let Some(refusal) = self.refuses_to_leave() {
                return reply.error(&refusal);
            }
            let now = time(&self.node.borrow());
            self.member.leave(now, &mut self.outputs);
        }
        if let Some(departure) = self.member.membership().departure() {
            self.reply_with_progress(departure, reply);
        }
    }

    /// Replies with the stage, the number of servers still here, the servers that have moved with their hosts, and the
    /// members it waits for.
    fn reply_with_progress(&self, departure: &Departure, reply: &mut Reply) {
        // Its disk may still be needed to rebuild others of its group.
        let (parity_member, is_given) = match &self.node.borrow().group {
            Some(GroupState::Data { covered_by, .. }) => (covered_by.clone(), false),
            Some(GroupState::Spare { is_given }) => (None, *is_given),
            Some(GroupState::Parity(_)) | None => (None, false),
        };
        let stage: &[u8] = match departure.stage {
            LeavingStage::Moving => b"moving",
            LeavingStage::Over => b"leaving",
            LeavingStage::Gone if parity_member.is_some() || is_given => b"leaving",
            LeavingStage::Gone => b"left",
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
        let is_parity_member =
            |peer: &&Peer| departure.stage == LeavingStage::Gone && Some(peer.identity.to_string()) == parity_member;
        let waits = self.member.uninformed().chain(self.member.membership().peers().filter(is_parity_member));
        // A member without `--data` that was started again has the address of the one that it was.
        let waits: BTreeSet<String> = waits.map(|peer| peer.clients.to_string()).collect();
        reply.array(waits.len());
        waits.iter().for_each(|address| reply.bulk(address.as_bytes()));
    }

    fn address_of(&self, member: Identity) -> String {
        self.member.membership().peer(member).map_or_else(|| member.to_string(), |peer| peer.clients.to_string())
    }

    fn refuses_to_leave(&self) -> Option<String> {
        let (member, servers) = (&self.member, self.member.image().extent().buckets());
        let is_other_host = |peer: &&Peer| peer.role == Role::Data;
        let (others, most) =
            (member.membership().peers().filter(is_other_host).count(), member.most_servers_of_others());
        if let Some(other) = member.membership().who_leaves() {
            return Some(format!("ERR the member at {} is leaving: try again when it has left", other.clients));
        }
        match &self.node.borrow().group {
            Some(GroupState::Parity(state)) if !state.columns.is_empty() => {
                let why = "ERR a parity member with a group can't be drained";
                return Some(format!("{why}: with --parity 2, end it, and another parity member takes its place"));
            }
            Some(GroupState::Spare { is_given: true }) => {
                return Some(
                    "ERR a lost member is being rebuilt on this spare: try again when that is done".to_owned(),
                );
            }
            _ => {}
        }
        if member.own().role != Role::Data {
            return None;
        }
        if others == 0 {
            return Some("ERR there is no other member to which its servers could move".into());
        }
        let is_too_few = servers > most;
        is_too_few
            .then(|| format!("ERR no room for {servers} servers: {others} other members host at most {most} together"))
    }
}
