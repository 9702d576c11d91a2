//! How a group stands, as whoever runs the pool is shown it.

use serde::{Deserialize, Serialize};

use crate::record::Milliseconds;

/// What a parity member knows of its group. Members are named in hexadecimal.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ParityState {
    /// Whether it leads its group.
    pub leads: bool,
    /// The other parity member of its group, if there is one.
    pub other: Option<String>,
    /// Whether that one has all of its parity, as the one knows that leads.
    pub is_backed: bool,
    /// As many members of the group as the pool is to survive the loss of.
    pub promised: usize,
    /// As many of them as may be lost now, as the one knows that leads.
    pub survives: usize,
    /// Whose parity it keeps.
    pub columns: Vec<SeatState>,
    /// What is being rebuilt.
    pub rebuilding: Option<RebuildingState>,
    /// As many spares stand by as it reaches.
    pub spares: usize,
    /// What the parity takes. [B]
    pub bytes: u64,
    /// As many members were rebuilt since it was started.
    pub rebuilt: u64,
}

impl ParityState {
    /// Whether as many members of the group may be lost as is promised, as the one knows that leads.
    pub const fn is_whole(&self) -> bool {
        self.survives == self.promised
    }
}

/// How a member of a group stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeatState {
    /// Which.
    pub member: String,
    /// Whether it could be rebuilt.
    pub is_complete: bool,
    /// Whether it is being rebuilt.
    pub is_being_rebuilt: bool,
    /// Whether it is about to leave the group.
    pub leaves: bool,
    /// For how long nothing was heard of it. [ms]
    pub silent: Milliseconds,
}

/// How far a rebuilding has come.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RebuildingState {
    /// The member that is lost; none, where the parity of the one that follows is made.
    pub member: Option<String>,
    /// Who is given that: a spare, or the parity member that follows.
    pub to: String,
    /// As many stripes it has.
    pub done: usize,
    /// Of so many.
    pub stripes: usize,
}
