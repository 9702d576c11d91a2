//! Which parity members a group has, and how another view of that takes the place of the last one.
//!
//! ```text
//!   candidate                              members of the group
//!   | Ask(number) ---------------------------->|   a promise: nothing with a lower number is recorded any more
//!   |<------------------- Granted(last view)   |   from more than half of them, and none knows a view later than the candidate's
//!   | Record(view) --------------------------->|
//!   |<------------------------- Recorded       |   from more than half of them: it is the group's view from now on
//! ```
//!
//! It is Paxos (L. Lamport, "The part-time parliament", ACM TOCS 16(2), 1998), where a candidate whose parity may be stale gives up instead of
//! going on with another's view. Members of a group are those whose parity is kept and its parity members; views differ by one parity member, so that
//! more than half of one and more than half of the next have a member in common.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::member::Identity;

/// Numbers views, and whoever asks for one: none has the same as another.
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
    /// Which group.
    pub group: Number,
    /// Which view of it.
    pub number: Number,
    /// Whom its members tell how their files change.
    pub lead: Identity,
    /// Who must hold that, too, before they are told that it is held.
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

/// What a member has promised and recorded. It must not forget that.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Acceptor {
    /// Its group's view, as far as it knows.
    pub settled: Option<View>,
    /// A view that it has recorded after that, and that may be its group's.
    recorded: Option<View>,
    /// It records nothing with a lower number.
    promised: Number,
}

impl Acceptor {
    /// One that is in a group with this view.
    pub fn of(view: Option<View>) -> Acceptor {
        let promised = view.map(|view| view.number).unwrap_or_default();
        Acceptor { settled: view, recorded: None, promised }
    }

    /// The last view that it knows of.
    pub fn newest(&self) -> Option<View> {
        self.recorded.or(self.settled)
    }

    fn is_of(&self, group: Number) -> bool {
        self.settled.is_some_and(|view| view.group == group)
    }

    /// A candidate asks for a promise: the last view, if it is given; or else the number that was promised to another.
    pub fn ask(&mut self, group: Number, number: Number) -> Option<Result<View, Number>> {
        let newest = self.newest().filter(|_| self.is_of(group))?;
        if number < self.promised {
            return Some(Err(self.promised));
        }
        self.promised = number;
        Some(Ok(newest))
    }

    /// A candidate wants a view to be recorded: it is, or another number was promised.
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

    /// A view is its group's. Whether that was not known.
    pub fn learn(&mut self, view: View) -> bool {
        let is_newer = self.settled.is_none_or(|known| known.group != view.group || known.number < view.number);
        if is_newer {
            self.settled = Some(view);
            self.recorded.take_if(|recorded| recorded.group != view.group || recorded.number <= view.number);
            self.promised = self.promised.max(view.number);
        }
        is_newer
    }

    /// Another number was promised elsewhere.
    pub(super) fn hear(&mut self, promised: Number) {
        self.promised = self.promised.max(promised);
    }

    /// A number that a candidate has not seen yet, which it promises itself.
    pub(super) fn next(&mut self, candidate: Identity) -> Number {
        self.promised = Number(self.promised.0 + 1, candidate);
        self.promised
    }
}

/// Someone who wants a view to be its group's.
#[derive(Debug)]
pub(super) struct Candidacy {
    /// The view.
    pub(super) view: View,
    /// The members of the group, itself included.
    members: BTreeSet<Identity>,
    /// Who has promised, and whether that is a parity member that has parity.
    granted: BTreeMap<Identity, bool>,
    /// Who has recorded it, if it was ever asked for.
    recorded: Option<BTreeSet<Identity>>,
}

impl Candidacy {
    pub(super) fn new(view: View, members: BTreeSet<Identity>) -> Candidacy {
        Candidacy { view, members, granted: BTreeMap::new(), recorded: None }
    }

    /// Whether somebody was asked to record it. Then it can't be taken back.
    pub(super) const fn is_recorded(&self) -> bool {
        self.recorded.is_some()
    }

    /// A member has promised.
    pub(super) fn was_granted(&mut self, by: Identity, has_parity: bool) {
        if self.members.contains(&by) {
            self.granted.insert(by, has_parity);
        }
    }

    /// A member of the group is one no more.
    pub(super) fn forget(&mut self, member: Identity) {
        self.members.remove(&member);
        self.granted.remove(&member);
        if let Some(recorded) = &mut self.recorded {
            recorded.remove(&member);
        }
    }

    /// Whether more than half of all have promised.
    pub(super) fn is_granted(&self) -> bool {
        self.granted.len() > self.members.len() / 2
    }

    /// Whether all of these have promised.
    pub(super) fn has_all(&self, mut members: impl Iterator<Item = Identity>) -> bool {
        members.all(|member| self.granted.contains_key(&member))
    }

    /// Whether a parity member has promised that has none.
    pub(super) fn has_nothing(&self, member: Identity) -> bool {
        self.granted.get(&member) == Some(&false)
    }

    /// From now on members are asked to record it.
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

    /// Who has still to say something.
    pub(super) fn silent(&self) -> impl Iterator<Item = Identity> {
        let has_spoken = |member: &Identity| match &self.recorded {
            Some(recorded) => recorded.contains(member),
            None => self.granted.contains_key(member),
        };
        self.members.iter().copied().filter(move |member| !has_spoken(member))
    }
}
