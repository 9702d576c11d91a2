//! Who combines what.

use endpoint::{Endpoint, Message, Result};

use super::Combine;
use super::operator::check_elements;
use crate::Group;
use crate::sends::{Sends, Trade};
use crate::shift::Shift;

/// What all ranks of a global combine agree on.
#[derive(Clone, Copy, Debug)]
pub struct Together<'a, C> {
    /// Who takes part.
    pub group: &'a Group,
    /// How two messages become one.
    pub operator: &'a C,
    /// When the sends of the machine are over.
    pub sends: Sends,
}

impl<C: Combine> Together<'_, C> {
    /// The place of this rank in the group, if it is in it. Its `word` is known to consist of whole elements then.
    pub(super) fn place<E: Endpoint>(&self, endpoint: &E, word: &Message) -> Result<Option<u32>> {
        self.group.check(endpoint.size())?;
        let place = self.group.place_of(endpoint.rank());
        if place.is_some() {
            check_elements(self.operator, word)?;
        }
        Ok(place)
    }

    /// What a rank does in a shift of places.
    pub(super) fn trade(&self, shift: Shift) -> Trade {
        Trade::along(shift, self.group, self.sends)
    }

    /// What place `me` does in an exchange with place `partner`.
    pub(super) fn exchange(&self, me: u32, partner: u32) -> Trade {
        Trade::between(me, partner, self.group, self.sends)
    }
}
