//! What all ranks of an all-reduce agree on.

use endpoint::{Endpoint, Message, Result};

use super::Combine;
use super::operator::check_elements;
use crate::Group;

/// When the sends of a machine end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Sends {
    /// When the message has left, or earlier.
    #[default]
    Early,
    /// When the receiving program has taken the message.
    Synchronous,
}

/// What all ranks of an all-reduce agree on.
#[derive(Clone, Copy, Debug)]
pub struct AllReduceContext<'a, C> {
    /// The ranks that take part.
    pub group: &'a Group,
    /// The operator that combines two messages.
    pub operator: &'a C,
    /// When the machine's sends end, for the census, which posts a receive some rounds after the message is sent.
    pub sends: Sends,
}

impl<C: Combine> AllReduceContext<'_, C> {
    /// The place of this rank in the group, if it is in it; checks that its `message` then consists of whole elements.
    pub(super) fn place<E: Endpoint>(&self, endpoint: &E, message: &Message) -> Result<Option<u32>> {
        self.group.check(endpoint.size())?;
        let place = self.group.place_of(endpoint.rank());
        if place.is_some() {
            check_elements(self.operator, message)?;
        }
        Ok(place)
    }
}
