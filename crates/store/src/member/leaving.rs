//! How a member leaves in order: its servers move to others, and all others know where they are before it ends.
//!
//! ```text
//!   member that leaves                 each other member
//!   | Leaving                               |
//!   |-------------------------------------->| opens nothing there any more
//!   |<----------------------------- Noted --|
//!   once all have noted it: a server moves
//!   | Leaving, what has moved where         |
//!   |-------------------------------------->| and so on, until none is left
//!   |<------------------------------ Noted -| with whether it has anything under way to the one that leaves
//!   once none has:
//!   | Leaving, and it is over               |
//!   |-------------------------------------->| forgets it
//!   |<------------------------------ Noted -|
//!   it may end
//! ```
//!
//! Each message says all that there is to say, and is sent again as often as there is no answer. A member that was let in meanwhile is told of
//! by the one that has let it in, and has to note it, too. Parity members and spares are told, also by each of the others,
//! and not waited for.

use std::collections::{BTreeMap, BTreeSet};

use programs::linear_hash::{Contents, Server};
use quantities::Time;
use serde::{Deserialize, Serialize};

use super::{Identity, Member, Message, Output, Peer, Role};

/// How far a member has come with leaving.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Stage {
    /// Its servers move away.
    #[default]
    Moving,
    /// It has none, and the others forget it.
    Over,
    /// They have; nobody but itself says so.
    Gone,
}

/// A member leaves.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Departure {
    /// How far it has come.
    pub stage: Stage,
    /// Its servers, and to which member each has moved.
    pub moved: BTreeMap<u32, Identity>,
    /// When it is over: to whom it has passed on news.
    relays: BTreeSet<Identity>,
}

/// What a member knows of another one that leaves.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Noted {
    stage: Stage,
    moved: usize,
    /// Whether all that it has told the other's servers was taken.
    is_quiet: bool,
    /// The members that it knows.
    pub(super) peers: Vec<Peer>,
}

/// What others have heard of it that this member leaves.
#[derive(Debug, Default)]
pub(super) struct Announced {
    /// What they were told last.
    told: BTreeMap<Identity, (Stage, usize)>,
    /// What they have noted, and whether nothing of theirs is under way.
    noted: BTreeMap<Identity, (Stage, usize, bool)>,
}

impl<C: Contents> Member<C> {
    /// Has all servers move to other members, and leaves then.
    pub fn leave(&mut self, now: Time, outputs: &mut Vec<Output<C>>) {
        if self.departure().is_none() {
            self.departures.insert(self.own.identity, Departure::default());
            self.record_standing();
            self.reconsider(outputs);
        }
        self.go_on_leaving(outputs);
        self.settle(now, outputs);
    }

    /// How far it has come with leaving, if it leaves.
    pub fn departure(&self) -> Option<&Departure> {
        self.departures.get(&self.own.identity)
    }

    /// Whether it has left: nobody knows it any more.
    pub fn has_left(&self) -> bool {
        self.departure().is_some_and(|departure| departure.stage == Stage::Gone)
    }

    /// Another member that is about to leave.
    pub fn who_leaves(&self) -> Option<&Peer> {
        self.departures.keys().find_map(|identity| self.peers.get(identity))
    }

    /// Those that have not noted yet how far it has come with leaving, and for which it waits.
    pub fn not_heard(&self) -> impl Iterator<Item = &Peer> {
        self.awaited().filter(|peer| !self.has_noted(peer.identity))
    }

    /// Members that may host servers. Others need not be there: they tell nobody's servers anything, and hear of it when they are there again.
    fn awaited(&self) -> impl Iterator<Item = &Peer> {
        self.peers.values().filter(|peer| peer.role == Role::Data)
    }

    /// As many servers as other members host at most.
    pub fn most_servers_of_others(&self) -> u32 {
        let others = self.hosts().filter(|host| host.identity != self.own.identity).count();
        self.most_servers_of(others)
    }

    /// Whether a member has left, as far as that is known here.
    pub fn has_gone(&self, identity: Identity) -> bool {
        let departure = self.departures.get(&identity).filter(|_| identity != self.own.identity);
        departure.is_some_and(|departure| departure.stage >= Stage::Over)
    }

    /// Who hosts a server now that somebody has hosted; none, if nobody knows.
    pub(super) fn host_by_now(&self, server: u32, host: Identity) -> Option<Identity> {
        let mut host = host;
        // As often as it can have moved.
        for _ in 0..=self.departures.len() {
            let Some(departure) = self.departures.get(&host) else { return Some(host) };
            match departure.moved.get(&server) {
                Some(next) => host = *next,
                None => return Some(host).filter(|host| !self.has_gone(*host)),
            }
        }
        None
    }

    /// A server has moved from here to another member.
    pub(super) fn has_moved(&mut self, server: u32, host: Identity) {
        self.departures.entry(self.own.identity).or_default().moved.insert(server, host);
        self.learn_host(server, host);
    }

    /// Tells a member, or all, as if they had not been told: they may not have heard.
    pub(super) fn tell_again(&mut self, whom: Option<Identity>, outputs: &mut Vec<Output<C>>) {
        match whom {
            Some(whom) => drop(self.announced.told.remove(&whom)),
            None => self.announced.told.retain(|who, told| {
                let noted = self.announced.noted.get(who);
                noted.is_some_and(|(stage, moved, is_quiet)| (*stage, *moved) == *told && *is_quiet)
            }),
        }
        self.go_on_leaving(outputs);
    }

    /// Does what is next, if this member leaves.
    pub(super) fn go_on_leaving(&mut self, outputs: &mut Vec<Output<C>>) {
        let departure = self.departure().filter(|departure| departure.stage != Stage::Gone && self.is_welcome());
        let Some(departure) = departure else { return };
        let (stage, others_know) = (departure.stage, self.not_heard().next().is_none());
        self.tell_of_leaving(outputs);
        match stage {
            Stage::Moving if self.servers.is_empty() && self.to_servers.is_empty() => {
                if others_know && self.reliable.behind().next().is_none() {
                    self.reach(Stage::Over, outputs);
                }
            }
            Stage::Moving if self.awaited().all(|peer| self.announced.noted.contains_key(&peer.identity)) => {
                self.move_next(outputs);
            }
            Stage::Over if others_know => self.reach(Stage::Gone, outputs),
            Stage::Moving | Stage::Over | Stage::Gone => {}
        }
    }

    fn reach(&mut self, stage: Stage, outputs: &mut Vec<Output<C>>) {
        let relays = self.relays.clone();
        let departure = self.departures.entry(self.own.identity).or_default();
        (departure.stage, departure.relays) = (stage, relays);
        self.record_standing();
        self.go_on_leaving(outputs);
    }

    /// Has the next server move that is not busy, unless one moves.
    fn move_next(&mut self, outputs: &mut Vec<Output<C>>) {
        let next = self.servers.iter().find(|(_, server)| server.is_steady()).map(|(number, _)| *number);
        let Some(next) = next.filter(|_| !self.servers.values().any(Server::moves_away)) else { return };
        let host = self.least_loaded(self.image().extent().buckets());
        // Without any other host it waits until there is one.
        if host != self.own.identity {
            self.begin_to_move(next, host, outputs);
            self.go_on_leaving(outputs);
        }
    }

    /// Tells the others how far it has come, but those that were told.
    fn tell_of_leaving(&mut self, outputs: &mut Vec<Output<C>>) {
        let Some(departure) = self.departures.get(&self.own.identity) else { return };
        let now = (departure.stage, departure.moved.len());
        let due: Vec<Identity> =
            self.peers.keys().filter(|peer| self.announced.told.get(peer) != Some(&now)).copied().collect();
        if due.is_empty() {
            return;
        }
        for peer in due {
            self.announced.told.insert(peer, now);
            outputs.push(Output::Send(peer, Message::Leaving(departure.clone())));
        }
        // It must not forget what others know.
        self.record_standing();
        self.recorder.iter_mut().for_each(|recorder| recorder.sends_sequenced());
    }

    fn has_noted(&self, peer: Identity) -> bool {
        let due = self.departure().map(|departure| (departure.stage, departure.moved.len()));
        let noted = self.announced.noted.get(&peer).filter(|(.., is_quiet)| *is_quiet);
        noted.is_some_and(|(stage, moved, _)| Some((*stage, *moved)) == due)
    }

    /// Another member has noted how far this one has come with leaving.
    pub(super) fn was_noted(&mut self, by: Identity, noted: Noted, outputs: &mut Vec<Output<C>>) {
        let Noted { stage, moved, is_quiet, peers } = noted;
        if self.departure().is_some() {
            self.announced.noted.insert(by, (stage, moved, is_quiet));
            self.hear_of_all(by, peers, outputs);
        }
    }

    /// Another member says that it leaves, and is told what is known here of that.
    pub(super) fn is_told_of_leaving(&mut self, who: Identity, departure: Departure, outputs: &mut Vec<Output<C>>) {
        if who != self.own.identity {
            self.hear_of_leaving(who, departure, outputs);
            self.note(who, outputs);
        }
    }

    /// Another member leaves, as itself or somebody else says.
    pub(super) fn hear_of_leaving(&mut self, who: Identity, heard: Departure, outputs: &mut Vec<Output<C>>) {
        if who == self.own.identity {
            return;
        }
        let before = self.departures.get(&who).cloned();
        let departure = self.departures.entry(who).or_default();
        departure.stage = departure.stage.max(heard.stage.min(Stage::Over));
        let is_over = departure.stage == Stage::Over;
        let news: Vec<(u32, Identity)> =
            heard.moved.into_iter().filter(|(server, _)| !departure.moved.contains_key(server)).collect();
        departure.moved.extend(news.iter().copied());
        for (server, host) in news {
            self.hear_of_move(server, who, host);
        }
        if is_over && before.as_ref().is_none_or(|before| before.stage < Stage::Over) {
            self.forget_member(who, heard.relays);
            let others = self.peers.values().filter(|peer| peer.role != Role::Data);
            others.for_each(|peer| self.tell_who_has_left(peer.identity, outputs));
        }
        if before.as_ref() != self.departures.get(&who) {
            self.record_standing();
        }
        if before.is_none() {
            self.reconsider(outputs);
        }
    }

    /// Tells a member who has left: a parity member or a spare, as whoever leaves does not wait until these know, or one that such a member has let in.
    pub(super) fn tell_who_has_left(&self, peer: Identity, outputs: &mut Vec<Output<C>>) {
        let over = self.departures.iter().filter(|(who, _)| self.has_gone(**who));
        let over: Vec<(Identity, Departure)> = over.map(|(who, departure)| (*who, departure.clone())).collect();
        if self.own.role == Role::Data && !over.is_empty() {
            outputs.push(Output::Send(peer, Message::There(Vec::new(), over)));
        }
    }

    /// A server has moved from one member to another. Whoever knows of it elsewhere knows something newer.
    fn hear_of_move(&mut self, server: u32, from: Identity, to: Identity) {
        if self.placement.host(server).is_none_or(|host| host == from) && !self.servers.contains_key(&server) {
            self.learn_host(server, to);
        } else if self.hints.host(server) == Some(from) {
            self.hint(server, to);
        }
    }

    /// A member is there no more. Those to whom it has passed on news do so among themselves.
    fn forget_member(&mut self, who: Identity, its_relays: BTreeSet<Identity>) {
        self.peers.remove(&who);
        if self.relays.remove(&who) {
            let known = its_relays.into_iter().filter(|relay| self.peers.contains_key(relay));
            self.relays.extend(known);
        }
        self.placement.forget_all(who);
        self.hints.forget_all(who);
        self.heard.forget_all(who);
    }

    /// Tells a member that leaves what is known here of that.
    fn note(&mut self, who: Identity, outputs: &mut Vec<Output<C>>) {
        let Some(Departure { stage, moved, .. }) = self.departures.get(&who) else { return };
        let is_quiet = self.reliable.unacknowledged(who).next().is_none();
        let peers = self.peers.values().filter(|peer| peer.identity != who).cloned().collect();
        let noted = Noted { stage: *stage, moved: moved.len(), is_quiet, peers };
        outputs.push(Output::Send(who, Message::Noted(noted)));
        self.recorder.iter_mut().for_each(|recorder| recorder.sends_sequenced());
    }

    /// Tells a member that leaves that it has taken all that it was told.
    pub(super) fn note_that_nothing_is_under_way(&mut self, who: Identity, outputs: &mut Vec<Output<C>>) {
        if self.departures.contains_key(&who) && self.reliable.unacknowledged(who).next().is_none() {
            self.note(who, outputs);
        }
    }
}
