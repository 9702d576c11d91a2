//! The settings that all members of a pool have in common: a member that asks to be admitted is refused if its own
//! differ.
//!
//! - `--capacity`: whichever server has the token decides, by its member's capacity, whether it splits, and so when all
//!   others may.
//! - `--servers`: the same server decides how many servers all members can host.
//! - `--data`: a member that is restarted goes on with the others where it was: one that forgets everything when it
//!   ends cannot.
//! - `--parity`: a member without parity is never rebuilt, and with 2 a group has two parity members that wait for each
//!   other.
//! - `--parity-patience`: a member that does not hear from its parity member serves for three quarters of its own
//!   patience, and is replaced after that of the parity member.

use linear_hash::Contents;
use serde::{Deserialize, Serialize};

use super::{Identity, Member};
use crate::record::Milliseconds;

/// How the records of a pool survive the end of a process and the loss of a disk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Durability {
    /// Whether members keep their data on disk.
    pub is_persistent: bool,
    /// How many members of a group may be lost with their disks.
    pub parity: u32,
    /// How long a member of a group may be silent before it is considered lost; 0 without parity. [ms]
    pub patience: Milliseconds,
}

/// The settings that all members of a pool have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SharedSettings {
    /// How many records a server has room for.
    pub capacity: u64,
    /// The most servers per member.
    pub servers_each: u32,
    /// How records survive.
    pub durability: Durability,
}

impl SharedSettings {
    /// The options in which a member that was `found` to have other settings differs from the pool that has these, and
    /// both values of each.
    pub fn differences(&self, found: &SharedSettings) -> String {
        let data = |of: &SharedSettings| if of.durability.is_persistent { "a directory" } else { "none" }.to_owned();
        let patience = |of: &SharedSettings| format!("{} s", of.durability.patience as f64 / 1000.0);
        let mut options = vec![
            ("--capacity", found.capacity.to_string(), self.capacity.to_string()),
            ("--servers", found.servers_each.to_string(), self.servers_each.to_string()),
            ("--data", data(found), data(self)),
            ("--parity", found.durability.parity.to_string(), self.durability.parity.to_string()),
        ];
        if found.durability.parity == self.durability.parity {
            options.push(("--parity-patience", patience(found), patience(self)));
        }
        let differing = options.into_iter().filter(|(_, found, there)| found != there);
        let texts = differing.map(|(option, found, there)| format!("{option}: found {found}, the pool has {there}"));
        texts.collect::<Vec<String>>().join("; ")
    }
}

impl<C: Contents> Member<C> {
    /// Its settings, of which all members need the same.
    pub const fn settings(&self) -> SharedSettings {
        let policy = &self.policy;
        SharedSettings {
            capacity: policy.growth.capacity,
            servers_each: policy.servers_each,
            durability: policy.durability,
        }
    }

    /// Takes the members that have turned out to have other settings, each with its settings.
    pub fn take_differing(&mut self) -> Vec<(Identity, SharedSettings)> {
        std::mem::take(&mut self.membership.differing)
    }
}
