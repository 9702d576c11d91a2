//! How members hear how many servers there are to be, when somebody asks for more or fewer than records ask for.
//!
//! As soon as all have heard of it, whoever has the token has, too; until then the file may begin to change and then think otherwise, but it is sound
//! all the while. What was asked last is what holds: a number that grows tells it from what was asked before.

use programs::linear_hash::{Bounds, Contents, Server};
use quantities::Time;
use serde::{Deserialize, Serialize};

use super::{Identity, Member, Message, Output};

/// What somebody has asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Asked {
    /// How often something was asked for before, and by which member this.
    order: (u64, Identity),
    /// How many servers there are to be.
    bounds: Bounds,
}

impl Asked {
    /// How often something was asked for before.
    pub(super) const fn times(&self) -> u64 {
        self.order.0
    }

    /// How many servers there are to be.
    pub(super) const fn bounds(&self) -> Bounds {
        self.bounds
    }
}

impl Default for Asked {
    fn default() -> Asked {
        Asked { order: (0, Identity(0)), bounds: Bounds::default() }
    }
}

impl<C: Contents> Member<C> {
    /// Has the file grow or shrink until there are so many servers.
    pub fn resize(&mut self, now: Time, bounds: Bounds, outputs: &mut Vec<Output<C>>) {
        let order = (self.asked.order.0 + 1, self.own.identity);
        self.hear_of_resizing(self.own.identity, Asked { order, bounds }, outputs);
        self.settle(now, outputs);
    }

    /// As many servers as members host at most.
    pub fn most_servers(&self) -> u32 {
        self.growth().most_servers
    }

    /// As many records a server has room for.
    pub const fn capacity(&self) -> u64 {
        self.policy.growth.capacity
    }

    /// Hears what was asked for, and passes it on if that is news: along the tree of who welcomed whom, as news of members.
    pub(super) fn hear_of_resizing(&mut self, from: Identity, asked: Asked, outputs: &mut Vec<Output<C>>) {
        if asked.order <= self.asked.order {
            return;
        }
        self.asked = asked;
        for &relay in self.relays.iter().filter(|&&relay| relay != from) {
            outputs.push(Output::Send(relay, Message::Resize(asked)));
        }
        self.of_each_server(outputs, |server, told| server.keep_within(asked.bounds, told));
    }

    /// Tells a new member, unless nothing was ever asked for.
    pub(super) fn tell_of_resizing(&self, new: Identity, outputs: &mut Vec<Output<C>>) {
        if self.asked != Asked::default() {
            outputs.push(Output::Send(new, Message::Resize(self.asked)));
        }
    }

    /// A server that is to come here.
    pub(super) fn new_server(&self, number: u32) -> Server<C> {
        let mut server = Server::keeping((self.make.0)(number), number, self.growth());
        // Without the token it has nothing to say to that.
        server.keep_within(self.asked.bounds, &mut Vec::new());
        server
    }
}
