//! The facts that members of a group must keep across restarts.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::code::COLUMNS;
use super::views::Acceptor;
use crate::member::Identity;

/// Which member keeps parity of which others.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Facts {
    /// Of a data member: the parity member that covers it.
    pub covered_by: Option<Identity>,
    /// Of a data member: how often it has been rebuilt.
    pub life: u32,
    /// Of a parity member: the member in each column, and the last life that was given out for it.
    pub columns: [Option<(Identity, u32)>; COLUMNS],
    /// Of a parity member: for each of these members, the last life in which it has said hello. Where an older version
    /// has written none, it is the last one that was given out.
    #[serde(default)]
    pub confirmed: [Option<u32>; COLUMNS],
    /// Of a parity member: which of these members it has never had all data of. An older version has not recorded that.
    #[serde(default)]
    pub newcomers: [bool; COLUMNS],
    /// Of a parity member: the newcomers that have lost their places.
    #[serde(default)]
    pub let_go: BTreeSet<Identity>,
    /// Of a parity member: which of these members are about to leave the group.
    #[serde(default)]
    pub leaving: [bool; COLUMNS],
    /// Of both, in a group that may have two parity members: its promises and records about which members these are.
    #[serde(default)]
    pub views: Acceptor,
}

/// The bits of a session's number that count the sessions of a run, and those that count the runs of a life; the rest
/// count lives.
const SESSION_BITS: u32 = 16;
const RUN_BITS: u32 = 32;

impl Facts {
    /// The number before the first session of a run. Sessions have other numbers than those of all earlier runs, and of
    /// all earlier lives: the parity of a member may not have known of its last run, so that a run of its next life has
    /// the same number.
    pub fn sessions_before(&self, run: u64) -> u64 {
        (u64::from(self.life) << RUN_BITS | run) << SESSION_BITS
    }
}

/// The number of a session with the same run and count, but in another life.
pub(super) fn session_in(life: u32, session: u64) -> u64 {
    let bits = RUN_BITS + SESSION_BITS;
    u64::from(life) << bits | session & ((1 << bits) - 1)
}
