//! What clients do with a table once it is built, phase by phase.

use quantities::{Duration, Time};

use super::{ClientCounts, Extent, Key, LinearHash, Operation, ServerCounts};
use endpoint::Message;

/// What clients do with an existing table. In all phases except the last three, each works through its own part of the
/// keys, one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// They insert the keys, as for the build.
    Insert,
    /// They put the keys, replacing old values.
    Put,
    /// They get the keys.
    Get,
    /// They ask whether the keys have values.
    Contains,
    /// They remove the keys.
    Remove,
    /// The first client scans the table and receives all its entries; the others wait.
    Scan,
    /// The first client asks the servers to count their entries; the others wait.
    Count,
    /// They forget their images, as if they were new.
    Forget,
}

impl Phase {
    /// All of them.
    pub const fn all() -> [Phase; 8] {
        use Phase::{Contains, Count, Forget, Get, Insert, Put, Remove, Scan};
        [Insert, Put, Get, Contains, Remove, Scan, Count, Forget]
    }

    /// Its name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Phase::Insert => "insert",
            Phase::Put => "put",
            Phase::Get => "get",
            Phase::Contains => "contains",
            Phase::Remove => "remove",
            Phase::Scan => "scan",
            Phase::Count => "count",
            Phase::Forget => "forget",
        }
    }

    /// What it is, in a line.
    pub const fn about(self) -> &'static str {
        match self {
            Phase::Insert => "Insert the keys: what is there already stays",
            Phase::Put => "Put the keys, whatever is there",
            Phase::Get => "Get what is stored under the keys",
            Phase::Contains => "Ask whether the keys are there",
            Phase::Remove => "Remove the keys",
            Phase::Scan => "The first client scans the whole table",
            Phase::Count => "The first client has the whole table counted",
            Phase::Forget => "Forget which servers there are, as new clients",
        }
    }

    /// The operation for a key; none in a phase without operations on single keys.
    pub(super) fn operation(self, program: &LinearHash, key: &Key) -> Option<Operation> {
        let (key, body) = (key.clone(), || Message::of_size(program.body));
        match self {
            Phase::Insert => Some(Operation::Insert(key, body())),
            Phase::Put => Some(Operation::Put(key, body())),
            Phase::Get => Some(Operation::Get(key)),
            Phase::Contains => Some(Operation::Contains(key)),
            Phase::Remove => Some(Operation::Remove(key)),
            Phase::Scan | Phase::Count | Phase::Forget => None,
        }
    }
}

/// A client's results when a phase is over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientPhase {
    /// When it began the phase.
    pub begun: Time,
    /// When its last operation was answered.
    pub ended: Time,
    /// How many operations it did.
    pub operations: u64,
    /// How many keys had a value; for inserts and scans, how many entries it stored or found.
    pub found: u64,
    /// The time of the longest operation.
    pub longest: Duration,
    /// Its counters since the beginning.
    pub counts: ClientCounts,
    /// How many messages it has sent since the beginning, except those that end phases.
    pub messages: u64,
}

/// A server's results when a phase is over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerPhase {
    /// How many entries it has; none if it is not in the file.
    pub entries: Option<u64>,
    /// Its counters since the beginning.
    pub counts: ServerCounts,
    /// How many messages it has sent since the beginning, except those that end phases.
    pub messages: u64,
    /// How far the file has grown.
    pub file: Extent,
}

quantities::written_by_name!(Phase);
