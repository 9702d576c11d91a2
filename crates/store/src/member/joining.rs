//! How members join a pool and learn of each other.
//!
//! ```text
//!   new member       any member        its relays
//!   | Join             |                  |
//!   |----------------->|                  |
//!   |<-- Welcome ------| Member           |
//!                      |----------------->|----> ...
//! ```
//!
//! The welcomes form a tree, along which every member hears of a new one once: N - 1 messages. A new member whose
//! settings differ from the pool's gets `Differs` instead of a welcome.

use linear_hash::Contents;

use super::placement::parent;
use super::{Departure, Identity, LeavingStage, Member, Message, Output, Peer, Placement, SharedSettings};

impl<C: Contents> Member<C> {
    /// Asks a member to welcome this one.
    pub fn join(&self, at: Identity, outputs: &mut Vec<Output<C>>) {
        outputs.push(Output::Send(at, Message::Join(self.membership.own.clone(), self.settings())));
    }

    pub(super) fn welcome(&mut self, new: Peer, settings: SharedSettings, outputs: &mut Vec<Output<C>>) {
        if !self.membership.admits(&new) || self.membership.departures.contains_key(&new.identity) {
            return;
        }
        if let Some(waiting) = &mut self.membership.waiting {
            return waiting.push((new, settings));
        }
        if settings != self.settings() {
            return outputs.push(Output::Send(new.identity, Message::Differs(self.settings())));
        }
        let known =
            self.membership.peers.values().filter(|peer| peer.identity != new.identity).chain([&self.membership.own]);
        let departures = self.membership.departures.iter().map(|(who, departure)| (*who, departure.clone()));
        let welcome =
            Message::Welcome(known.cloned().collect(), self.locations.placement.clone(), departures.collect());
        outputs.push(Output::Send(new.identity, welcome));
        let identity = new.identity;
        self.announce_resizing(identity, outputs);
        self.learn_of(identity, new, outputs);
        self.membership.relays.insert(identity);
        self.record_standing();
        // It does not ask again once it is admitted. If this member forgot it then, as the power fails, nobody might
        // know it.
        self.recorder.iter_mut().for_each(|recorder| recorder.sends_sequenced());
    }

    pub(super) fn be_welcomed(
        &mut self,
        by: Identity,
        there: Vec<Peer>,
        placement: &Placement,
        departures: Vec<(Identity, Departure)>,
        outputs: &mut Vec<Output<C>>,
    ) {
        self.membership.relays.insert(by);
        let departed: Vec<Identity> = self.membership.departures.keys().copied().collect();
        for (who, departure) in departures {
            self.membership.departures.entry(who).or_insert(departure);
        }
        for peer in there {
            if peer.identity != self.membership.own.identity && !self.membership.has_gone(peer.identity) {
                self.membership.peers.insert(peer.identity, peer);
            }
        }
        // A member that welcomed it before may not have known of these departures.
        let departures = &self.membership.departures;
        self.membership.peers.retain(|identity, _| {
            departures.get(identity).is_none_or(|departure| departure.stage < LeavingStage::Over)
        });
        self.membership.forget_former_spares();
        self.learn(placement);
        let waiting = self.membership.waiting.take();
        self.membership.find_who_is_away(&self.locations.placement);
        self.record_standing();
        self.reconsider(outputs);
        // Those were waiting for this.
        departed.into_iter().for_each(|who| self.note(who, outputs));
        for (new, settings) in waiting.into_iter().flatten() {
            self.welcome(new, settings, outputs);
        }
    }

    /// A member is back, and is told which members have come meanwhile, and which have left.
    pub(super) fn receive_returning(&mut self, back: Peer, settings: SharedSettings, outputs: &mut Vec<Output<C>>) {
        let identity = back.identity;
        if settings != self.settings() {
            outputs.push(Output::Send(identity, Message::Differs(self.settings())));
        }
        self.learn_of(identity, back, outputs);
        let others = self.membership.peers.values().filter(|peer| peer.identity != identity);
        let departures = self.membership.departures.iter().map(|(who, departure)| (*who, departure.clone()));
        outputs.push(Output::Send(identity, Message::There(others.cloned().collect(), departures.collect())));
    }

    /// Learns which members there are.
    pub(super) fn learn_of_all(&mut self, from: Identity, peers: Vec<Peer>, outputs: &mut Vec<Output<C>>) {
        peers.into_iter().for_each(|peer| self.learn_of(from, peer, outputs));
    }

    /// Learns of a member, and passes that on if it is news.
    pub(super) fn learn_of(&mut self, from: Identity, new: Peer, outputs: &mut Vec<Output<C>>) {
        let is_known =
            new.identity == self.membership.own.identity || self.membership.peers.contains_key(&new.identity);
        if is_known || self.membership.is_former_spare(&new) || self.membership.has_gone(new.identity) {
            return;
        }
        self.membership.peers.insert(new.identity, new.clone());
        self.membership.forget_former_spares();
        self.membership.find_who_is_away(&self.locations.placement);
        self.record_standing();
        for &relay in self.membership.relays.iter().filter(|&&relay| relay != from) {
            outputs.push(Output::Send(relay, Message::Member(new.clone())));
        }
        // The member that admit it may not have known yet.
        self.send_departures(new.identity, outputs);
        self.reconsider(outputs);
    }

    /// Learns which member hosts which server. About its own servers, and those split off from them, it knows best.
    pub(super) fn learn(&mut self, placement: &Placement) {
        for (server, host) in placement.iter() {
            if !self.hosted.servers.contains_key(&server) && !self.hosted.servers.contains_key(&parent(server)) {
                self.learn_host(server, host);
            }
        }
    }
}
