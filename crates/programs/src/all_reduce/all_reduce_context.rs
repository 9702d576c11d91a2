//! Who combines what.

use endpoint::{Endpoint, Message, Result};

use super::Combine;
use super::operator::check_elements;
use crate::Group;
use crate::sends::{Sendrecv, Sends};
use crate::shift::Shift;

/// What all ranks of a global combine agree on.
#[derive(Clone, Copy, Debug)]
pub struct AllReduceContext<'a, C> {
    /// Who takes part.
    pub group: &'a Group,
    /// How two messages become one.
    pub operator: &'a C,
    /// When the sends of the machine are over.
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

    /// What a rank does in a shift of places.
    pub(super) fn sendrecv(&self, shift: Shift) -> Sendrecv {
        Sendrecv::along(shift, self.group, self.sends)
    }

    /// What place `me` does in an exchange with place `partner`.
    pub(super) fn exchange(&self, me: u32, partner: u32) -> Sendrecv {
        Sendrecv::between(me, partner, self.group, self.sends)
    }
}
