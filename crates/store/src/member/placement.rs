//! Who hosts which server.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Identity;

/// Who hosts which server, as far as a member knows.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Placement(BTreeMap<u32, Identity>);

/// The server from which server a was split off: a without its highest bit.
pub const fn parent(a: u32) -> u32 {
    match a.checked_ilog2() {
        Some(highest) => a ^ 1 << highest,
        None => 0,
    }
}

impl Placement {
    /// The host of a server.
    pub fn host(&self, server: u32) -> Option<Identity> {
        self.0.get(&server).copied()
    }

    /// Sets the host of a server.
    pub fn learn(&mut self, server: u32, host: Identity) {
        self.0.insert(server, host);
    }

    /// Removes a server that has ended.
    pub fn end(&mut self, server: u32) {
        self.0.remove(&server);
    }

    /// Forgets that `host` hosts a server, since it does not.
    pub fn forget(&mut self, server: u32, host: Identity) {
        if self.host(server) == Some(host) {
            self.0.remove(&server);
        }
    }

    /// Forgets all servers of a host.
    pub fn forget_all(&mut self, host: Identity) {
        self.0.retain(|_, of| *of != host);
    }

    /// The first server whose host is known among server a, its parent, its parent's parent and so on.
    pub fn nearest(&self, a: u32) -> Option<(u32, Identity)> {
        let mut server = a;
        loop {
            if let Some(host) = self.host(server) {
                return Some((server, host));
            }
            if server == 0 {
                return None;
            }
            server = parent(server);
        }
    }

    /// The number of the first `servers` servers on each host.
    pub fn loads(&self, servers: u32) -> BTreeMap<Identity, u32> {
        let mut loads = BTreeMap::new();
        for host in self.0.range(..servers).map(|(_, host)| *host) {
            *loads.entry(host).or_default() += 1;
        }
        loads
    }

    /// Every server with its host.
    pub fn iter(&self) -> impl Iterator<Item = (u32, Identity)> {
        self.0.iter().map(|(server, host)| (*server, *host))
    }
}

/// Where servers are, by three sources.
#[derive(Debug, Default)]
pub struct Locations {
    /// The host of each server, as servers have told each other: messages between servers are routed by it.
    pub placement: Placement,
    /// The host of each server, for requests as a client: it may be out of date, and is corrected then.
    pub hints: Placement,
    /// The members that have answered as hosts of servers. The others are known by hearsay: a server may still be on
    /// its way to them.
    pub confirmed: Placement,
}

impl Locations {
    /// The server itself, or its nearest ancestor whose host this member knows. A host that was asked before the server
    /// had arrived has answered that it is not there; if no other host is known, that one is asked again.
    pub fn nearest(&self, server: u32) -> Option<(u32, Identity)> {
        self.hints.nearest(server).or_else(|| self.placement.nearest(server))
    }

    /// Forgets that a member hosts a server.
    pub fn forget_host(&mut self, server: u32, host: Identity) {
        self.placement.forget(server, host);
        self.forget_hint(server, host);
    }

    /// Forgets that a member has spoken as the host of a server, or was said to be it.
    pub fn forget_hint(&mut self, server: u32, host: Identity) {
        self.hints.forget(server, host);
        self.confirmed.forget(server, host);
    }

    /// Whether a member is known to host servers, or to have hosted some that may be there still.
    pub fn may_have_servers(&self, identity: Identity) -> bool {
        let mut known = self.placement.iter().chain(self.hints.iter()).chain(self.confirmed.iter());
        known.any(|(_, host)| host == identity)
    }

    /// Forgets a server that has ended.
    pub fn end(&mut self, server: u32) {
        [&mut self.placement, &mut self.hints, &mut self.confirmed].into_iter().for_each(|of| of.end(server));
    }

    /// Forgets all servers of a host.
    pub fn forget_all(&mut self, host: Identity) {
        [&mut self.placement, &mut self.hints, &mut self.confirmed].into_iter().for_each(|of| of.forget_all(host));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use linear_hash::Extent;

    #[test]
    fn a_parent_is_the_server_that_was_split() {
        let mut file = Extent::default();
        for _ in 0..100 {
            let split = file.grow().unwrap();
            assert_eq!(parent(split.to), split.from);
        }
        assert_eq!(parent(0), 0);
    }

    #[test]
    fn the_nearest_ancestor_with_a_known_host_is_found() {
        let mut placement = Placement::default();
        assert_eq!(placement.nearest(13), None);
        placement.learn(0, Identity(7));
        assert_eq!(placement.nearest(13), Some((0, Identity(7))));
        placement.learn(5, Identity(8));
        assert_eq!(placement.nearest(13), Some((5, Identity(8))));
        placement.forget(5, Identity(7));
        assert_eq!(placement.nearest(5), Some((5, Identity(8))));
        placement.forget(5, Identity(8));
        assert_eq!(placement.nearest(5), Some((0, Identity(7))));
    }
}
