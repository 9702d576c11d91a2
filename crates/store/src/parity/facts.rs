//! The facts that members of a group must keep across restarts.

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
    /// Of a parity member: the member in each column, and how often that member has been rebuilt.
    pub columns: [Option<(Identity, u32)>; COLUMNS],
    /// Of a parity member: which of these members are about to leave the group.
    #[serde(default)]
    pub leaving: [bool; COLUMNS],
    /// Of both, in a group that may have two parity members: its promises and records about which members these are.
    #[serde(default)]
    pub views: Acceptor,
}

/// The bits of a session's number that count the sessions of a run, and those that count the runs of a life; the rest count lives.
const SESSION_BITS: u32 = 16;
const RUN_BITS: u32 = 32;

impl Facts {
    /// The number before the first session of a run. Sessions have other numbers than those of all earlier runs, and of all earlier lives: the parity of
    /// a member may not have known of its last run, so that a run of its next life has the same number.
    pub fn sessions_before(&self, run: u64) -> u64 {
        (u64::from(self.life) << RUN_BITS | run) << SESSION_BITS
    }
}
