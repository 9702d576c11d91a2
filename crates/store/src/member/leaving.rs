//! How a member leaves in order: its servers move to other members, and all of these know where they are before it
//! exits.
//!
//! ```text
//!   member that leaves                 each other member
//!   | Leaving                               |
//!   |-------------------------------------->| opens no more servers there
//!   |<----------------------------- Noted --|
//!   once all have noted it: a server moves
//!   | Leaving, which servers moved where    |
//!   |-------------------------------------->| and so on, until none is left
//!   |<------------------------------ Noted -| and whether it has unacknowledged messages to the leaving member
//!   once none has:
//!   | Leaving, the moves are over           |
//!   |-------------------------------------->| forgets it
//!   |<------------------------------ Noted -|
//!   it may exit
//! ```
//!
//! Each message carries the full state, and is sent again until it is answered. A member that was admitted meanwhile is
//! told by the one that let it in, and has to note the departure too. Parity members and spares are told as well, also
//! by each of the others, but not waited for.

use std::collections::{BTreeMap, BTreeSet};

use linear_hash::{Contents, Server};
use quantities::Time;
use serde::{Deserialize, Serialize};

use super::{Identity, Member, Message, Output, Peer, Role};

/// The stages of leaving.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum LeavingStage {
    /// Its servers are moving away.
    #[default]
    Moving,
    /// It has no servers any more, and the others forget it.
    Over,
    /// The others have forgotten it; only the member itself is in this stage.
    Gone,
}

/// The departure of a member.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Departure {
    /// Its stage.
    pub stage: LeavingStage,
    /// Its servers, and the member to which each has moved.
    pub moved: BTreeMap<u32, Identity>,
    /// Once the moves are over: the members to which it passed on news.
    relays: BTreeSet<Identity>,
}

/// What a member knows of another's departure.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Noted {
    stage: LeavingStage,
    moved: usize,
    /// Whether its messages to the other's servers have all been acknowledged.
    is_quiet: bool,
    /// The members that host servers, as far as its own servers need to know.
    pub(super) hosts: BTreeSet<Identity>,
    /// The members it knows.
    pub(super) peers: Vec<Peer>,
}

/// What others know of this member's departure.
#[derive(Debug, Default)]
pub(super) struct Announced {
    /// What each was told last.
    informed: BTreeMap<Identity, (LeavingStage, usize)>,
    /// What each has noted, and whether it has no unacknowledged messages.
    noted: BTreeMap<Identity, (LeavingStage, usize, bool)>,
    /// The members that host servers, as each has said when it noted something last.
    hosts: BTreeMap<Identity, BTreeSet<Identity>>,
}

impl<C: Contents> Member<C> {
    /// Moves all servers to other members, and then leaves.
    pub fn leave(&mut self, now: Time, outputs: &mut Vec<Output<C>>) {
        if self.membership.departure().is_none() {
            self.membership.departures.insert(self.membership.own.identity, Departure::default());
            self.record_standing();
            self.reconsider(outputs);
        }
        self.go_on_leaving(outputs);
        self.settle(now, outputs);
    }

    /// The members for which it waits: they have not noted its latest progress.
    pub fn uninformed(&self) -> impl Iterator<Item = &Peer> {
        self.awaited().filter(|peer| !self.has_noted(peer.identity))
    }

    /// Members that may host servers. The others need not be up: they send nothing to servers, and hear of the
    /// departure when they are back. So do those that are not connected and have no server. Whether one has, the host
    /// of the server that it was split off from knows: that one has noted the departure, and named it, or is not up
    /// itself, and is known to another one, up to a host that this member knows.
    fn awaited(&self) -> impl Iterator<Item = &Peer> {
        let is_idle = |peer: Identity| {
            let is_named = self.membership.announced.hosts.values().any(|hosts| hosts.contains(&peer));
            self.membership.away.contains_key(&peer) && !is_named && !self.locations.may_have_servers(peer)
        };
        self.membership.peers.values().filter(move |peer| peer.role == Role::Data && !is_idle(peer.identity))
    }

    /// The most servers that the other members can host.
    pub fn most_servers_of_others(&self) -> u32 {
        self.most_servers_of(self.membership.hosts().filter(|host| host.identity != self.membership.own.identity))
    }

    /// A server has moved from this member to another.
    pub(super) fn has_moved(&mut self, server: u32, host: Identity) {
        self.membership.departures.entry(self.membership.own.identity).or_default().moved.insert(server, host);
        self.learn_host(server, host);
    }

    /// Tells a member, or all, once more: the message may have been lost.
    pub(super) fn announce_leaving_again(&mut self, whom: Option<Identity>, outputs: &mut Vec<Output<C>>) {
        match whom {
            Some(whom) => drop(self.membership.announced.informed.remove(&whom)),
            None => self.membership.announced.informed.retain(|who, informed| {
                let noted = self.membership.announced.noted.get(who);
                noted.is_some_and(|(stage, moved, is_quiet)| (*stage, *moved) == *informed && *is_quiet)
            }),
        }
        self.go_on_leaving(outputs);
    }

    /// Takes the next step, if this member is leaving.
    pub(super) fn go_on_leaving(&mut self, outputs: &mut Vec<Output<C>>) {
        let departure = self
            .membership
            .departure()
            .filter(|departure| departure.stage != LeavingStage::Gone && self.membership.is_welcome());
        let Some(departure) = departure else { return };
        let (stage, others_know) = (departure.stage, self.uninformed().next().is_none());
        self.announce_leaving(outputs);
        match stage {
            LeavingStage::Moving if self.hosted.servers.is_empty() && self.hosted.messages.is_empty() => {
                if others_know && self.reliable.behind().next().is_none() {
                    self.reach(LeavingStage::Over, outputs);
                }
            }
            LeavingStage::Moving
                if self.awaited().all(|peer| self.membership.announced.noted.contains_key(&peer.identity)) =>
            {
                self.move_next(outputs);
            }
            LeavingStage::Over if others_know => self.reach(LeavingStage::Gone, outputs),
            LeavingStage::Moving | LeavingStage::Over | LeavingStage::Gone => {}
        }
    }

    fn reach(&mut self, stage: LeavingStage, outputs: &mut Vec<Output<C>>) {
        let relays = self.membership.relays.clone();
        let departure = self.membership.departures.entry(self.membership.own.identity).or_default();
        (departure.stage, departure.relays) = (stage, relays);
        self.record_standing();
        self.go_on_leaving(outputs);
    }

    /// Moves the next server that is not busy, unless one is moving.
    fn move_next(&mut self, outputs: &mut Vec<Output<C>>) {
        let next = self.hosted.servers.iter().find(|(_, server)| server.is_steady()).map(|(number, _)| *number);
        let Some(next) = next.filter(|_| !self.hosted.servers.values().any(Server::moves_away)) else { return };
        let host = self.least_loaded(self.image().extent().buckets());
        // If there is no other host, it waits until there is one.
        if host != self.membership.own.identity {
            self.begin_to_move(next, host, outputs);
            self.go_on_leaving(outputs);
        }
    }

    /// Tells its progress to the others that were not told yet.
    fn announce_leaving(&mut self, outputs: &mut Vec<Output<C>>) {
        let Some(departure) = self.membership.departures.get(&self.membership.own.identity) else { return };
        let now = (departure.stage, departure.moved.len());
        let due: Vec<Identity> = self
            .membership
            .peers
            .keys()
            .filter(|peer| self.membership.announced.informed.get(peer) != Some(&now))
            .copied()
            .collect();
        if due.is_empty() {
            return;
        }
        for peer in due {
            self.membership.announced.informed.insert(peer, now);
            outputs.push(Output::Send(peer, Message::Leaving(departure.clone())));
        }
        // What others have been told must survive a restart.
        self.record_standing();
        self.recorder.iter_mut().for_each(|recorder| recorder.sends_sequenced());
    }

    fn has_noted(&self, peer: Identity) -> bool {
        let due = self.membership.departure().map(|departure| (departure.stage, departure.moved.len()));
        let noted = self.membership.announced.noted.get(&peer).filter(|(.., is_quiet)| *is_quiet);
        noted.is_some_and(|(stage, moved, _)| Some((*stage, *moved)) == due)
    }

    /// Another member has noted this one's progress.
    pub(super) fn was_noted(&mut self, by: Identity, noted: Noted, outputs: &mut Vec<Output<C>>) {
        let Noted { stage, moved, is_quiet, hosts, peers } = noted;
        if self.membership.departure().is_some() {
            self.membership.announced.noted.insert(by, (stage, moved, is_quiet));
            self.membership.announced.hosts.insert(by, hosts);
            self.learn_of_all(by, peers, outputs);
        }
    }

    /// Another member announces its departure, and is told what this one has noted.
    pub(super) fn is_told_of_leaving(&mut self, who: Identity, departure: Departure, outputs: &mut Vec<Output<C>>) {
        if who != self.membership.own.identity {
            self.receive_departure(who, departure, outputs);
            self.note(who, outputs);
        }
    }

    /// Hears that another member is leaving, from that member or from a third one.
    pub(super) fn receive_departure(&mut self, who: Identity, received: Departure, outputs: &mut Vec<Output<C>>) {
        if who == self.membership.own.identity {
            return;
        }
        let before = self.membership.departures.get(&who).cloned();
        let departure = self.membership.departures.entry(who).or_default();
        departure.stage = departure.stage.max(received.stage.min(LeavingStage::Over));
        let is_over = departure.stage == LeavingStage::Over;
        let news: Vec<(u32, Identity)> =
            received.moved.into_iter().filter(|(server, _)| !departure.moved.contains_key(server)).collect();
        departure.moved.extend(news.iter().copied());
        for (server, host) in news {
            self.receive_move(server, who, host);
        }
        if is_over && before.as_ref().is_none_or(|before| before.stage < LeavingStage::Over) {
            self.forget_member(who, received.relays);
            let others = self.membership.peers.values().filter(|peer| peer.role != Role::Data);
            others.for_each(|peer| self.send_departures(peer.identity, outputs));
        }
        if before.as_ref() != self.membership.departures.get(&who) {
            self.record_standing();
        }
        if before.is_none() {
            self.reconsider(outputs);
        }
    }

    /// Tells a member which ones have left: a parity member or a spare, for which no departure waits, or a member that
    /// one of these has admitted.
    pub(super) fn send_departures(&self, peer: Identity, outputs: &mut Vec<Output<C>>) {
        let over = self.membership.departures.iter().filter(|(who, _)| self.membership.has_gone(**who));
        let over: Vec<(Identity, Departure)> = over.map(|(who, departure)| (*who, departure.clone())).collect();
        if self.membership.own.role == Role::Data && !over.is_empty() {
            outputs.push(Output::Send(peer, Message::There(Vec::new(), over)));
        }
    }

    /// Tells a member that has asked for a server which has moved away from this one. Others hear of that by its
    /// progress, except those that have left before: they were forgotten, but may wait for answers to requests of their
    /// own.
    pub(super) fn send_new_place(&self, server: u32, asker: Identity, outputs: &mut Vec<Output<C>>) {
        let has_moved =
            |departure: &&Departure| departure.moved.contains_key(&server) && self.membership.has_gone(asker);
        if let Some(departure) = self.membership.departure().filter(has_moved) {
            outputs.push(Output::Send(
                asker,
                Message::There(Vec::new(), vec![(self.membership.own.identity, departure.clone())]),
            ));
        }
    }

    /// A server has moved from one member to another. If this member knows a third host, that is more recent.
    fn receive_move(&mut self, server: u32, from: Identity, to: Identity) {
        if self.locations.placement.host(server).is_none_or(|host| host == from)
            && !self.hosted.servers.contains_key(&server)
        {
            self.learn_host(server, to);
        } else if self.locations.hints.host(server) == Some(from) {
            self.hint(server, to);
        }
    }

    /// Forgets a member that is gone. Its relays pass on news among themselves.
    fn forget_member(&mut self, who: Identity, its_relays: BTreeSet<Identity>) {
        self.membership.forget(who, its_relays);
        self.locations.forget_all(who);
    }

    /// Tells a leaving member what this one has noted. One that is not admitted yet notes nothing: if only the leaving
    /// member can admit it, that must not leave before.
    pub(super) fn note(&mut self, who: Identity, outputs: &mut Vec<Output<C>>) {
        let departure = self.membership.departures.get(&who).filter(|_| self.membership.is_welcome());
        let Some(Departure { stage, moved, .. }) = departure else { return };
        let is_quiet = self.reliable.unacknowledged(who).next().is_none();
        let peers = self.membership.peers.values().filter(|peer| peer.identity != who).cloned().collect();
        let hosts = self.locations.placement.iter().map(|(_, host)| host).collect();
        let noted = Noted { stage: *stage, moved: moved.len(), is_quiet, hosts, peers };
        outputs.push(Output::Send(who, Message::Noted(noted)));
        self.recorder.iter_mut().for_each(|recorder| recorder.sends_sequenced());
    }

    /// Tells a leaving member that it has acknowledged everything sent to it.
    pub(super) fn note_that_nothing_is_under_way(&mut self, who: Identity, outputs: &mut Vec<Output<C>>) {
        if self.membership.departures.contains_key(&who) && self.reliable.unacknowledged(who).next().is_none() {
            self.note(who, outputs);
        }
    }
}
