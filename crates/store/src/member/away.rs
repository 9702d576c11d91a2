//! Which members are away: no new server is opened at a member that is not connected, since it would never take over
//! its records.
//!
//! What is decided by this must be decided in the same way when the journal is replayed, so it is recorded like
//! everything else that the member knows of the pool, and changes only here.

use linear_hash::Contents;

use super::{Identity, Member, Output, Peer};

impl<C: Contents> Member<C> {
    /// The link to a member is gone.
    pub fn disconnect(&mut self, identity: Identity, outputs: &mut Vec<Output<C>>) {
        self.membership.connected.remove(&identity);
        self.adapt_to_who_is_away(outputs);
    }

    /// Looks which members are away. Servers may split, or not any more, if that has changed.
    pub(super) fn adapt_to_who_is_away(&mut self, outputs: &mut Vec<Output<C>>) {
        if self.membership.find_who_is_away(&self.locations.placement) {
            self.record_standing();
            self.reconsider(outputs);
        }
    }

    /// The most servers that these members host: those that are away host no more than they do now.
    pub(super) fn most_servers_of<'a>(&self, hosts: impl Iterator<Item = &'a Peer>) -> u32 {
        let each = self.policy.servers_each;
        let of = |host: &Peer| self.membership.away.get(&host.identity).map_or(each, |servers| each.min(*servers));
        hosts.map(of).fold(0, u32::saturating_add).min(self.policy.growth.most_servers)
    }

    /// Whether a server of this member would split if all members were connected.
    pub fn waits_for_hosts(&self) -> bool {
        let all =
            u32::try_from(self.membership.hosts().count()).unwrap_or(u32::MAX).saturating_mul(self.policy.servers_each);
        let all = all.min(self.policy.growth.most_servers).min(self.asked.bounds().most);
        self.hosted.servers.values().any(|server| {
            let (Some(file), Some(table)) = (server.token(), server.table()) else { return false };
            let is_full = table.len() as f64 > self.policy.growth.threshold(file);
            is_full && (self.most_servers()..all).contains(&file.buckets())
        })
    }
}
