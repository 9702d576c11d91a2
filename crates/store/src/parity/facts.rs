//! What members of a group must not forget, whatever becomes of their processes.

use serde::{Deserialize, Serialize};

use super::code::COLUMNS;
use super::views::Acceptor;
use crate::member::Identity;

/// Who keeps parity of whom.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Facts {
    /// Of a data member: who keeps parity of it.
    pub covered_by: Option<Identity>,
    /// Of a data member: how often it was rebuilt.
    pub life: u32,
    /// Of a parity member: whose parity it keeps, column by column, and how often these were rebuilt.
    pub columns: [Option<(Identity, u32)>; COLUMNS],
    /// Of a parity member: which of these are about to leave the group.
    #[serde(default)]
    pub leaving: [bool; COLUMNS],
    /// Of both, in a group with two parity members: what it has promised and recorded of which these are.
    #[serde(default)]
    pub views: Acceptor,
}
