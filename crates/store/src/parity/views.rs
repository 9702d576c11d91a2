//! Views: which parity members a group has, and how one view succeeds another.
//!
//! ```text
//!   candidate                              members of the group
//!   | Ask(number) ---------------------------->|   a promise: nothing with a lower number is recorded any more
//!   |<------------------- Granted(last view)   |   from a majority, and none knows a later view
//!   | Record(view) --------------------------->|
//!   |<------------------------- Recorded       |   from a majority of them: it is the group's view from now on
//! ```
//!
//! It is Paxos (L. Lamport, "The part-time parliament", ACM TOCS 16(2), 1998), except that a candidate whose parity may
//! be stale gives up instead of going on with another candidate's view. The members of a group are the members it
//! covers and its parity members; successive views differ by one parity member, so that a majority of one and a
//! majority of the next intersect.
//!
//! Only the candidate itself counts who has recorded its view. So a view is void once its candidate has given it up
//! without having learned that it was chosen: by a restart, or for another's view. Such a candidate forgets the view,
//! and when it then grants another one precedence, other members' records of the void view no longer stand against
//! that. The candidate may be lost before it can grant anything. So when it follows again, it also says up to which
//! number it has given up its views, and its lead keeps that in mind. Neither does a later view stand against another
//! one if only half of the group or fewer can have recorded it, those counted that have not answered: the others have
//! promised not to record it any more, so it is not chosen, and never will be.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::member::Identity;

/// The number of a view, with the candidate that asks for it: no two are the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Number(pub u64, pub Identity);

impl Default for Number {
    fn default() -> Number {
        Number(0, Identity(0))
    }
}

/// The parity members of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct View {
    /// The group.
    pub group: Number,
    /// The view's number.
    pub number: Number,
    /// The parity member to which the others report changes of their files.
    pub lead: Identity,
    /// The parity member that must hold a change too before it is acknowledged.
    pub follower: Option<Identity>,
}

impl View {
    /// Whether a member keeps parity in it.
    pub fn has(&self, member: Identity) -> bool {
        self.lead == member || self.follower == Some(member)
    }

    /// The other parity member.
    pub fn other_than(&self, member: Identity) -> Option<Identity> {
        [Some(self.lead), self.follower].into_iter().flatten().find(|other| *other != member)
    }
}

/// A member's promises and records, which must survive a restart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Acceptor {
    /// Its group's view, as far as it knows.
    pub settled: Option<View>,
    /// A later view that it has recorded, and that may be its group's.
    recorded: Option<View>,
    /// It records nothing with a lower number.
    promised: Number,
    /// Of a parity member: views for which the other one in the group's view was the candidate are void up to this
    /// number.
    #[serde(default)]
    void: Number,
}

impl Acceptor {
    /// The acceptor of a member in a group with this view.
    pub fn of(view: Option<View>) -> Acceptor {
        let promised = view.map(|view| view.number).unwrap_or_default();
        Acceptor { settled: view, recorded: None, promised, void: Number::default() }
    }

    /// The last view it knows of.
    pub fn newest(&self) -> Option<View> {
        self.recorded.or(self.settled)
    }

    fn is_of(&self, group: Number) -> bool {
        self.settled.is_some_and(|view| view.group == group)
    }

    /// A candidate asks for a promise. Returns the last view if granted, or else the number promised to another
    /// candidate.
    pub fn ask(&mut self, group: Number, number: Number) -> Option<Result<View, Number>> {
        let newest = self.newest().filter(|_| self.is_of(group))?;
        if number < self.promised {
            return Some(Err(self.promised));
        }
        self.promised = number;
        Some(Ok(newest))
    }

    /// A candidate asks for a view to be recorded. Fails with the number promised to another candidate, if that is
    /// higher.
    pub fn record(&mut self, view: View) -> Option<Result<(), Number>> {
        if !self.is_of(view.group) {
            return None;
        }
        if view.number < self.promised {
            return Some(Err(self.promised));
        }
        self.promised = view.number;
        if self.newest().is_none_or(|newest| newest.number < view.number) {
            self.recorded = Some(view);
        }
        Some(Ok(()))
    }

    /// Learns that a view is its group's. Returns whether that is news.
    pub fn learn(&mut self, view: View) -> bool {
        let is_newer = self.settled.is_none_or(|known| known.group != view.group || known.number < view.number);
        if is_newer {
            (self.settled, self.void) = (Some(view), Number::default());
            self.recorded.take_if(|recorded| recorded.group != view.group || recorded.number <= view.number);
            self.promised = self.promised.max(view.number);
        }
        is_newer
    }

    /// Forgets a recorded view for which this member itself was the candidate: nobody counts who has recorded it any
    /// more.
    pub(super) fn give_up(&mut self, own: Identity) {
        self.recorded.take_if(|recorded| recorded.lead == own);
    }

    /// The highest number that it has promised, or that it has asked for itself.
    pub(super) const fn promised(&self) -> Number {
        self.promised
    }

    /// The other parity member of the group's view has given up all views that it asked for up to this number.
    pub(super) fn receive_void(&mut self, void: Number) {
        self.void = self.void.max(void);
    }

    /// Whether a view can't become the group's any more: it is older, or void.
    pub(super) fn is_over(&self, view: View) -> bool {
        let is_of_pair = |settled: View| settled.has(view.lead) && view.number <= self.void;
        self.settled.is_some_and(|settled| view.number <= settled.number || is_of_pair(settled))
    }

    /// Learns of a number promised elsewhere.
    pub(super) fn receive_number(&mut self, promised: Number) {
        self.promised = self.promised.max(promised);
    }

    /// A number that the candidate has not seen yet, and promises to itself.
    pub(super) fn next(&mut self, candidate: Identity) -> Number {
        self.promised = Number(self.promised.0 + 1, candidate);
        self.promised
    }
}

/// A member's promise to a candidate.
#[derive(Debug)]
struct Grant {
    /// Whether it is a parity member that has all of a parity.
    has_parity: bool,
    /// The other candidate whose view it knows, if that is later than the group's view as the candidate knows it.
    later: Option<Identity>,
}

/// An attempt to get a view chosen.
#[derive(Debug)]
pub(super) struct Candidacy {
    /// The view.
    pub(super) view: View,
    /// The members of the group, itself included.
    members: BTreeSet<Identity>,
    /// The promises of members.
    granted: BTreeMap<Identity, Grant>,
    /// The members that have recorded it, once recording was asked for.
    recorded: Option<BTreeSet<Identity>>,
}

impl Candidacy {
    pub(super) fn new(view: View, members: BTreeSet<Identity>) -> Candidacy {
        Candidacy { view, members, granted: BTreeMap::new(), recorded: None }
    }

    /// Whether members were asked to record it. Then it can't be withdrawn.
    pub(super) const fn is_recorded(&self) -> bool {
        self.recorded.is_some()
    }

    /// A member has promised, and knows a later view of another candidate or none.
    pub(super) fn was_granted(&mut self, by: Identity, has_parity: bool, later: Option<Identity>) {
        if self.members.contains(&by) {
            self.granted.insert(by, Grant { has_parity, later });
        }
    }

    /// Whether a member has promised, and knows no later view, or one that its candidate has given up.
    fn counts(&self, member: Identity) -> bool {
        let knows_none = |member| self.granted.get(&member).is_some_and(|grant| grant.later.is_none());
        let later = self.granted.get(&member).and_then(|grant| grant.later);
        knows_none(member) || later.is_some_and(knows_none)
    }

    /// A member has left the group.
    pub(super) fn forget(&mut self, member: Identity) {
        self.members.remove(&member);
        self.granted.remove(&member);
        if let Some(recorded) = &mut self.recorded {
            recorded.remove(&member);
        }
    }

    /// Whether a majority has promised, and no later view is the group's, or can become that.
    pub(super) fn is_granted(&self) -> bool {
        let half = self.members.len() / 2;
        let may_know_later = self.members.iter().filter(|member| !self.counts(**member)).count();
        self.granted.len() > half && may_know_later <= half
    }

    /// Whether all of these have promised.
    pub(super) fn has_all(&self, mut members: impl Iterator<Item = Identity>) -> bool {
        members.all(|member| self.granted.contains_key(&member))
    }

    /// Whether a parity member that has no parity has promised.
    pub(super) fn has_nothing(&self, member: Identity) -> bool {
        self.granted.get(&member).is_some_and(|grant| !grant.has_parity)
    }

    /// Members are asked to record it from now on.
    pub(super) fn begin_recording(&mut self) {
        self.recorded = Some(BTreeSet::new());
    }

    /// A member has recorded it.
    pub(super) fn was_recorded(&mut self, by: Identity) {
        if let Some(recorded) = self.recorded.as_mut().filter(|_| self.members.contains(&by)) {
            recorded.insert(by);
        }
    }

    /// Whether it is the group's view.
    pub(super) fn is_chosen(&self) -> bool {
        self.recorded.as_ref().is_some_and(|recorded| recorded.len() > self.members.len() / 2)
    }

    /// The members whose answer is still missing.
    pub(super) fn silent(&self) -> impl Iterator<Item = Identity> {
        let has_spoken = |member: &Identity| match &self.recorded {
            Some(recorded) => recorded.contains(member),
            None => self.counts(*member),
        };
        self.members.iter().copied().filter(move |member| !has_spoken(member))
    }
}
