//! Which members there are, as far as this one knows: who is connected, who is away, and who leaves.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;

use super::leaving::{Announced, Departure, LeavingStage};
use super::recording::Welcome;
use super::{Identity, Peer, Placement, Role, SharedSettings};

/// The members of a pool.
#[derive(Debug)]
pub struct Membership {
    /// This member.
    pub(super) own: Peer,
    /// The other members.
    pub(super) peers: BTreeMap<Identity, Peer>,
    /// The members to which it passes on news of members: the one that welcomed it, and those that it welcomed.
    pub(super) relays: BTreeSet<Identity>,
    /// The members to which there is a link.
    pub(super) connected: BTreeSet<Identity>,
    /// The others that may host servers, and how many each hosts, as far as known.
    pub(super) away: BTreeMap<Identity, u32>,
    /// New members that asked to join before this one was welcomed itself, with their settings; `None` once it was.
    pub(super) waiting: Option<Vec<(Peer, SharedSettings)>>,
    /// Members that have other settings than this one, and which, since they were last taken.
    pub(super) differing: Vec<(Identity, SharedSettings)>,
    /// The members that are leaving or have left, this one included, and where their servers went.
    pub(super) departures: BTreeMap<Identity, Departure>,
    /// If this one is leaving, what others know of that.
    pub(super) announced: Announced,
}

impl Membership {
    /// A member that knows no other, and has yet to be welcomed.
    pub(super) fn new(own: Peer) -> Membership {
        Membership {
            own,
            peers: BTreeMap::new(),
            relays: BTreeSet::new(),
            connected: BTreeSet::new(),
            away: BTreeMap::new(),
            waiting: Some(Vec::new()),
            differing: Vec::new(),
            departures: BTreeMap::new(),
            announced: Announced::default(),
        }
    }

    /// Whether it is part of a pool: it has founded one, or was welcomed.
    pub const fn is_welcome(&self) -> bool {
        self.waiting.is_none()
    }

    /// The other members.
    pub fn peers(&self) -> impl Iterator<Item = &Peer> {
        self.peers.values()
    }

    /// A member by its identity.
    pub fn peer(&self, identity: Identity) -> Option<&Peer> {
        if identity == self.own.identity { Some(&self.own) } else { self.peers.get(&identity) }
    }

    /// The members that may host servers.
    pub fn hosts(&self) -> impl Iterator<Item = &Peer> {
        let may_host = |peer: &&Peer| peer.role == Role::Data && !self.departures.contains_key(&peer.identity);
        self.peers.values().chain([&self.own]).filter(may_host)
    }

    /// Its departure, if it is leaving.
    pub fn departure(&self) -> Option<&Departure> {
        self.departures.get(&self.own.identity)
    }

    /// Whether it has left: no other member knows it any more.
    pub fn has_left(&self) -> bool {
        self.departure().is_some_and(|departure| departure.stage == LeavingStage::Gone)
    }

    /// Another member that is about to leave.
    pub fn who_leaves(&self) -> Option<&Peer> {
        self.departures.keys().find_map(|identity| self.peers.get(identity))
    }

    /// Whether a member has left, as far as this one knows.
    pub fn has_gone(&self, identity: Identity) -> bool {
        let departure = self.departures.get(&identity).filter(|_| identity != self.own.identity);
        departure.is_some_and(|departure| departure.stage >= LeavingStage::Over)
    }

    /// The present host of a server that `host` once hosted; none, if that is not known.
    pub(super) fn host_by_now(&self, server: u32, host: Identity) -> Option<Identity> {
        let mut host = host;
        // It can have moved once per departure.
        for _ in 0..=self.departures.len() {
            let Some(departure) = self.departures.get(&host) else { return Some(host) };
            match departure.moved.get(&server) {
                Some(next) => host = *next,
                None => return Some(host).filter(|host| !self.has_gone(*host)),
            }
        }
        None
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

    /// Looks which members are away. Returns whether that has changed; then it is to be recorded, and splits are to be
    /// reconsidered.
    pub(super) fn find_who_is_away(&mut self, placement: &Placement) -> bool {
        let loads = placement.loads(u32::MAX);
        let absent = self.peers.values().filter(|peer| peer.role == Role::Data && !self.is_connected(peer.identity));
        let away: BTreeMap<Identity, u32> =
            absent.map(|peer| (peer.identity, loads.get(&peer.identity).copied().unwrap_or(0))).collect();
        let has_changed = away != self.away;
        self.away = away;
        has_changed
    }

    /// Whether it admits a member. While it leaves, it does so only if its own servers may move there: if it has
    /// admitted that one before, which may not have heard of that, or if there is no other host.
    pub(super) fn admits(&self, new: &Peer) -> bool {
        let Some(departure) = self.departure() else { return true };
        let is_moving = departure.stage == LeavingStage::Moving;
        is_moving && (self.peers.contains_key(&new.identity) || self.hosts().next().is_none())
    }

    /// A spare that has become a lost member is known under that name only.
    pub(super) fn forget_former_spares(&mut self) {
        let others = self.peers.values().chain([&self.own]).filter(|peer| peer.role != Role::Spare);
        let addresses: Vec<SocketAddr> = others.map(|peer| peer.address).collect();
        self.forget_spares_at(&addresses);
    }

    pub(super) fn forget_spares_at(&mut self, addresses: &[SocketAddr]) {
        let is_former = |peer: &&Peer| peer.role == Role::Spare && addresses.contains(&peer.address);
        let former: Vec<Identity> = self.peers.values().filter(is_former).map(|peer| peer.identity).collect();
        for spare in former {
            self.peers.remove(&spare);
            self.relays.remove(&spare);
        }
    }

    pub(super) fn is_former_spare(&self, peer: &Peer) -> bool {
        let mut others = self.peers.values().chain([&self.own]).filter(|peer| peer.role != Role::Spare);
        peer.role == Role::Spare && others.any(|other| other.address == peer.address)
    }

    pub(super) fn welcome_to_record(&self) -> Welcome {
        match (self.is_welcome(), self.away.is_empty()) {
            (false, _) => Welcome::Awaited,
            (true, true) => Welcome::Given,
            (true, false) => Welcome::Without(self.away.clone()),
        }
    }

    /// Forgets a member that is gone. Its relays pass on news among themselves.
    pub(super) fn forget(&mut self, who: Identity, its_relays: BTreeSet<Identity>) {
        self.peers.remove(&who);
        if self.relays.remove(&who) {
            let known = its_relays.into_iter().filter(|relay| self.peers.contains_key(relay));
            self.relays.extend(known);
        }
    }
}
