//! Which routers the channels of a plan lead to.

use crate::model::{ChannelEnd, ChannelId};
use crate::topology::Plan;

/// For every router, its channels to other routers, in the order of their numbers.
pub(crate) struct Neighbours {
    out: Vec<Vec<(ChannelId, usize)>>,
    into: Vec<Vec<(ChannelId, usize)>>,
}

impl Neighbours {
    pub(crate) fn of(plan: &Plan) -> Neighbours {
        let mut out = vec![Vec::new(); plan.routers.len()];
        let mut into = vec![Vec::new(); plan.routers.len()];
        for (number, channel) in plan.channels.iter().enumerate() {
            if let (ChannelEnd::Router(from), ChannelEnd::Router(to)) = (channel.from, channel.to) {
                let number = ChannelId(number as u32);
                out[from.0 as usize].push((number, to.0 as usize));
                into[to.0 as usize].push((number, from.0 as usize));
            }
        }
        Neighbours { out, into }
    }

    pub(crate) fn routers(&self) -> usize {
        self.out.len()
    }
    /// The channels from a router, each with the router that it leads to.
    pub(crate) fn out(&self, router: usize) -> &[(ChannelId, usize)] {
        &self.out[router]
    }
    /// The channels to a router, each with the router that it comes from.
    pub(crate) fn into(&self, router: usize) -> &[(ChannelId, usize)] {
        &self.into[router]
    }
}
