//! How members find together.
//!
//! ```text
//!   new member       any member        those that it passes news on to
//!   | Join             |                  |
//!   |----------------->|                  |
//!   |<-- Welcome ------| Member           |
//!                      |----------------->|----> ...
//! ```
//!
//! Who welcomed whom makes up a tree, along which everybody hears of a new member once: N - 1 messages.

use programs::linear_hash::Contents;

use super::placement::parent;
use super::{Identity, Member, Message, Output, Peer, Placement};

impl<C: Contents> Member<C> {
    /// Asks a member to welcome this one.
    pub fn join(&self, at: Identity, outputs: &mut Vec<Output<C>>) {
        outputs.push(Output::Send(at, Message::Join(self.own.clone())));
    }

    pub(super) fn welcome(&mut self, new: Peer, outputs: &mut Vec<Output<C>>) {
        if let Some(waiting) = &mut self.waiting {
            return waiting.push(new);
        }
        let there = self.peers.values().filter(|peer| peer.identity != new.identity).chain([&self.own]);
        let welcome = Message::Welcome(there.cloned().collect(), self.placement.clone());
        outputs.push(Output::Send(new.identity, welcome));
        let identity = new.identity;
        self.hear_of(identity, new, outputs);
        self.relays.insert(identity);
    }

    pub(super) fn be_welcomed(
        &mut self,
        by: Identity,
        there: Vec<Peer>,
        placement: &Placement,
        outputs: &mut Vec<Output<C>>,
    ) {
        self.relays.insert(by);
        let others = there.into_iter().filter(|peer| peer.identity != self.own.identity);
        self.peers.extend(others.map(|peer| (peer.identity, peer)));
        self.learn(placement);
        self.reconsider(outputs);
        for new in self.waiting.take().into_iter().flatten() {
            self.welcome(new, outputs);
        }
    }

    /// Hears of a member, and passes it on if that is news.
    pub(super) fn hear_of(&mut self, from: Identity, new: Peer, outputs: &mut Vec<Output<C>>) {
        if new.identity == self.own.identity || self.peers.insert(new.identity, new.clone()).is_some() {
            return;
        }
        for &relay in self.relays.iter().filter(|&&relay| relay != from) {
            outputs.push(Output::Send(relay, Message::Member(new.clone())));
        }
        self.reconsider(outputs);
    }

    /// Learns who hosts which server. Of those that it hosts itself, and of those that came of these, it knows best.
    pub(super) fn learn(&mut self, placement: &Placement) {
        for (server, host) in placement.iter() {
            if !self.servers.contains_key(&server) && !self.servers.contains_key(&parent(server)) {
                self.placement.learn(server, host);
            }
        }
    }
}
