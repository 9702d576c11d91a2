//! The state of a group, as shown to the operator.

use serde::{Deserialize, Serialize};

use crate::record::Milliseconds;

/// What a parity member knows of its group. Members are named in hexadecimal.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ParityState {
    /// Whether it leads its group.
    pub leads: bool,
    /// The other parity member of its group, if there is one.
    pub other: Option<String>,
    /// Whether the other one has all of its parity, as far as the lead knows, and the lead has not asked to go on
    /// without it.
    pub is_backed: bool,
    /// How many members of the group the pool should survive losing.
    pub promised: usize,
    /// How many of them may be lost now, as far as the lead knows.
    pub survives: usize,
    /// The members that it covers.
    pub columns: Vec<SeatState>,
    /// What is being rebuilt.
    pub rebuilding: Option<RebuildingState>,
    /// How many spares it reaches.
    pub spares: usize,
    /// The size of the parity. [B]
    pub bytes: u64,
    /// How many members have been rebuilt since it was started.
    pub rebuilt: u64,
}

impl ParityState {
    /// Whether as many members of the group may be lost as promised, as far as the lead knows.
    pub const fn is_whole(&self) -> bool {
        self.survives == self.promised
    }
}

/// The state of a member of a group.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeatState {
    /// The member.
    pub member: String,
    /// Whether it can be rebuilt.
    pub is_complete: bool,
    /// Whether it is being rebuilt.
    pub is_being_rebuilt: bool,
    /// Whether it is about to leave the group.
    pub leaves: bool,
    /// For how long nothing has been heard from it. [ms]
    pub silent: Milliseconds,
}

/// The progress of a rebuilding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RebuildingState {
    /// The lost member; none, if the follower's parity is being made.
    pub member: Option<String>,
    /// The receiver: a spare, or the follower.
    pub to: String,
    /// How many stripes it has.
    pub done: usize,
    /// Out of this many.
    pub stripes: usize,
}
