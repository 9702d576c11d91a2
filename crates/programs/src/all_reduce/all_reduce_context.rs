//! Who combines what.

use endpoint::{Endpoint, Message, Result};

use super::Combine;
use super::operator::check_elements;
use crate::Group;

/// When the sends of a machine are over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Sends {
    /// When the message has left, or even before.
    #[default]
    Early,
    /// When the receiving program has taken the message.
    Synchronous,
}

/// What all ranks of a global combine agree on.
#[derive(Clone, Copy, Debug)]
pub struct AllReduceContext<'a, C> {
    /// Who takes part.
    pub group: &'a Group,
    /// How two messages become one.
    pub operator: &'a C,
    /// When the sends of the machine are over, for an algorithm that asks for a message later than it is sent: the census.
    pub sends: Sends,
}

impl<C: Combine> AllReduceContext<'_, C> {
    /// The place of this rank in the group, if it is in it. Its `message` is known to consist of whole elements then.
    pub(super) fn place<E: Endpoint>(&self, endpoint: &E, message: &Message) -> Result<Option<u32>> {
        self.group.check(endpoint.size())?;
        let place = self.group.place_of(endpoint.rank());
        if place.is_some() {
            check_elements(self.operator, message)?;
        }
        Ok(place)
    }
}
