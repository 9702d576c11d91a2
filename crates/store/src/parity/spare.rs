//! A spare's part: it keeps what it is given of a lost member, and becomes that member.
//!
//! **One that leaves does not stop a rebuilding.** What it is being given it goes on to take, and does not end before that is over. Of a parity member that
//! offers another one it refuses the first offer: it is made to another spare then, if there is one. When it is asked again, there
//! is none, and it becomes that member, which does not leave.

use std::collections::BTreeMap;

use super::message::Successor;
use crate::member::Identity;
use crate::record::Milliseconds;

/// A spare that was given nothing for so many times the patience may be given another member.
const PATIENCE_WITH_A_GIVER: Milliseconds = 3;

/// A member that stands by.
#[derive(Debug)]
pub struct Spare {
    patience: Milliseconds,
    given: Option<Given>,
    leaves: bool,
    /// While it leaves: the first rebuilding that it has refused, by who had offered it.
    refused: BTreeMap<Identity, u64>,
}

#[derive(Debug)]
struct Given {
    by: Identity,
    rebuilding: u64,
    at: Milliseconds,
}

/// What is to become of a part of a lost member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taking {
    /// It is the first one, and all that came before is worth nothing.
    First,
    /// It belongs to what came before.
    Further,
    /// It is not taken: another parity member gives this spare another one, or it leaves, and another spare may take that.
    Refused,
}

impl Spare {
    /// One that was given nothing.
    pub const fn new(patience: Milliseconds) -> Spare {
        Spare { patience, given: None, leaves: false, refused: BTreeMap::new() }
    }

    /// Whether it was given something.
    pub const fn is_given(&self) -> bool {
        self.given.is_some()
    }

    /// It is about to leave, unless it is given something: where nothing comes any more of that, it is not.
    pub fn leave(&mut self, now: Milliseconds) {
        self.leaves = true;
        let patience = PATIENCE_WITH_A_GIVER * self.patience;
        self.given.take_if(|given| now.saturating_sub(given.at) >= patience);
    }

    /// A part of a lost member has come.
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

    /// No link leads to a member any more: what it gave is worth nothing.
    pub fn loses(&mut self, member: Identity) {
        self.given.take_if(|given| given.by == member);
    }

    /// Whether it has all of the member that it is to become.
    pub fn becomes(&self, by: Identity, successor: &Successor) -> bool {
        self.given.as_ref().is_some_and(|given| given.by == by && given.rebuilding == successor.rebuilding)
    }
}
