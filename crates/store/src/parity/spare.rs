//! The role of a spare: it stores the parts of a lost member that it is given, and becomes that member.
//!
//! **A leaving spare does not stop a rebuilding.** It goes on storing the member it is being given, and does not exit
//! before that is over. When a parity member offers it another member, it refuses the first time, so that the offer
//! goes to another spare if there is one. If it is asked again, there is none, and it becomes that member, which does
//! not leave.

use std::collections::BTreeMap;

use super::message::Successor;
use crate::member::Identity;
use crate::record::Milliseconds;

/// A spare that has received nothing for this many times the patience may be given another member.
const PATIENCE_WITH_A_GIVER: Milliseconds = 3;

/// A member that stands by.
#[derive(Debug)]
pub struct Spare {
    patience: Milliseconds,
    given: Option<Given>,
    leaves: bool,
    /// While it leaves: the first rebuilding that it refused from each parity member.
    refused: BTreeMap<Identity, u64>,
}

#[derive(Debug)]
struct Given {
    by: Identity,
    rebuilding: u64,
    at: Milliseconds,
}

/// What to do with a part of a lost member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taking {
    /// Store it as the first part: everything received before is discarded.
    First,
    /// Store it with the parts received before.
    Further,
    /// Refuse it: another parity member is giving this spare a member, or the spare leaves and another one may take it.
    Refused,
}

impl Spare {
    /// A spare that has been given nothing.
    pub const fn new(patience: Milliseconds) -> Spare {
        Spare { patience, given: None, leaves: false, refused: BTreeMap::new() }
    }

    /// Whether it is being given a member.
    pub const fn is_given(&self) -> bool {
        self.given.is_some()
    }

    /// It is about to leave, unless it is being given a member. A giver that has been silent too long no longer counts.
    pub fn leave(&mut self, now: Milliseconds) {
        self.leaves = true;
        let patience = PATIENCE_WITH_A_GIVER * self.patience;
        self.given.take_if(|given| now.saturating_sub(given.at) >= patience);
    }

    /// A part of a lost member has arrived.
    pub fn takes(&mut self, now: Milliseconds, by: Identity, rebuilding: u64) -> Taking {
        let given = self.given.as_ref();
        if let Some(other) = given.filter(|given| given.by != by)
            && now.saturating_sub(other.at) < PATIENCE_WITH_A_GIVER * self.patience
        {
            return Taking::Refused;
        }
        let is_same = given.is_some_and(|given| given.by == by && given.rebuilding == rebuilding);
        if self.leaves && !is_same && *self.refused.entry(by).or_insert(rebuilding) == rebuilding {
            return Taking::Refused;
        }
        self.given = Some(Given { by, rebuilding, at: now });
        if is_same { Taking::Further } else { Taking::First }
    }

    /// The link to a member is gone: the parts it gave are worthless.
    pub fn disconnect(&mut self, member: Identity) {
        self.given.take_if(|given| given.by == member);
    }

    /// Whether it has everything of the member that it is to become.
    pub fn becomes(&self, by: Identity, successor: &Successor) -> bool {
        self.given.as_ref().is_some_and(|given| given.by == by && given.rebuilding == successor.rebuilding)
    }
}
