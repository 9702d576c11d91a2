//! Who hosts which server.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Identity;

/// Who hosts which server, as far as somebody knows.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Placement(BTreeMap<u32, Identity>);

/// Server a came of this one by a split, the last one of the level before: its number without the highest bit.
pub const fn parent(a: u32) -> u32 {
    match a.checked_ilog2() {
        Some(highest) => a ^ 1 << highest,
        None => 0,
    }
}

impl Placement {
    /// Who hosts a server.
    pub fn host(&self, server: u32) -> Option<Identity> {
        self.0.get(&server).copied()
    }

    /// Learns who hosts a server.
    pub fn learn(&mut self, server: u32, host: Identity) {
        self.0.insert(server, host);
    }

    /// A server is there no more.
    pub fn end(&mut self, server: u32) {
        self.0.remove(&server);
    }

    /// Forgets that `host` hosts a server, since it does not.
    pub fn forget(&mut self, server: u32, host: Identity) {
        if self.host(server) == Some(host) {
            self.0.remove(&server);
        }
    }

    /// A member hosts nothing any more.
    pub fn forget_all(&mut self, host: Identity) {
        self.0.retain(|_, of| *of != host);
    }

    /// The server whose host is known and that is nearest to server a on the way to where it came from: itself, its parent, its parent's ...
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

    /// How many of the first `servers` servers each host has.
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

#[cfg(test)]
mod tests {
    use super::*;
    use programs::linear_hash::Extent;

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
    fn who_is_not_known_is_looked_for_where_it_came_from() {
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
