//! Which members are away: no new server is opened at a member that is not connected, since it would never take over its records.
//!
//! What is decided by this must be decided in the same way when the journal is replayed, so it is recorded like everything else that the member
//! knows of the pool, and changes only here.

use std::collections::BTreeMap;

use programs::linear_hash::Contents;

use super::{Identity, Member, Output, Peer, Role};

impl<C: Contents> Member<C> {
    /// The link to a member is gone.
    pub fn disconnect(&mut self, identity: Identity, outputs: &mut Vec<Output<C>>) {
        self.connected.remove(&identity);
        self.adapt_to_who_is_away(outputs);
    }

    /// Looks which members are away. Servers may split, or not any more, if that has changed.
    pub(super) fn adapt_to_who_is_away(&mut self, outputs: &mut Vec<Output<C>>) {
        if self.find_who_is_away() {
            self.record_standing();
            self.reconsider(outputs);
        }
    }

    /// Looks which members are away. Returns whether that has changed; then it is to be recorded, and splits are to be reconsidered.
    pub(super) fn find_who_is_away(&mut self) -> bool {
        let loads = self.placement.loads(u32::MAX);
        let absent = self.peers.values().filter(|peer| peer.role == Role::Data && !self.is_connected(peer.identity));
        let away: BTreeMap<Identity, u32> =
            absent.map(|peer| (peer.identity, loads.get(&peer.identity).copied().unwrap_or(0))).collect();
        let has_changed = away != self.away;
        self.away = away;
        has_changed
    }

    /// Whether a member is this one, or there is a link to it.
    pub fn is_connected(&self, identity: Identity) -> bool {
        identity == self.own.identity || self.connected.contains(&identity)
    }

    /// Members of any role that are not connected, except those that leave.
    pub fn silent(&self) -> impl Iterator<Item = &Peer> {
        let stay = self.peers.values().filter(|peer| !self.departures.contains_key(&peer.identity));
        stay.filter(|peer| !self.is_connected(peer.identity))
    }

    /// Members that may host servers, and are not connected.
    pub fn hosts_away(&self) -> impl Iterator<Item = &Peer> {
        let away = self.away.keys().filter_map(|identity| self.peers.get(identity));
        away.filter(|peer| !self.departures.contains_key(&peer.identity))
    }

    /// The most servers that these members host: those that are away host no more than they do now.
    pub(super) fn most_servers_of<'a>(&self, hosts: impl Iterator<Item = &'a Peer>) -> u32 {
        let each = self.policy.servers_each;
        let of = |host: &Peer| self.away.get(&host.identity).map_or(each, |servers| each.min(*servers));
        hosts.map(of).fold(0, u32::saturating_add).min(self.policy.growth.most_servers)
    }

    /// Whether a server of this member would split if all members were connected.
    pub fn waits_for_hosts(&self) -> bool {
        let all = u32::try_from(self.hosts().count()).unwrap_or(u32::MAX).saturating_mul(self.policy.servers_each);
        let all = all.min(self.policy.growth.most_servers).min(self.asked.bounds().most);
        self.servers.values().any(|server| {
            let (Some(file), Some(table)) = (server.token(), server.table()) else { return false };
            let is_full = table.len() as f64 > self.policy.growth.threshold(file);
            is_full && (self.most_servers()..all).contains(&file.buckets())
        })
    }

    /// Whether a member is known to host servers, or to have hosted some that may be there still.
    pub(super) fn may_have_servers(&self, identity: Identity) -> bool {
        let mut known = self.placement.iter().chain(self.hints.iter()).chain(self.confirmed.iter());
        known.any(|(_, host)| host == identity)
    }
}
