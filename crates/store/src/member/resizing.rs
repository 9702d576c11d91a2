//! How members hear of the number of servers, when an operator asks for more or fewer than the records need.
//!
//! Once all members have heard of it, so has the holder of the token; until then the file may begin to change and then
//! change back, but it stays sound. The last request counts: a growing number tells it from earlier ones.

use linear_hash::{Bounds, Contents, Server};
use quantities::Time;
use serde::{Deserialize, Serialize};

use super::{Identity, Member, Message, Output};

/// A request to resize the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResizeRequest {
    /// The number of this request, and the member that has made it.
    order: (u64, Identity),
    /// The bounds on the number of servers.
    bounds: Bounds,
}

impl ResizeRequest {
    /// How often resizing was requested so far.
    pub(super) const fn times(&self) -> u64 {
        self.order.0
    }

    /// The bounds on the number of servers.
    pub(super) const fn bounds(&self) -> Bounds {
        self.bounds
    }
}

impl Default for ResizeRequest {
    fn default() -> ResizeRequest {
        ResizeRequest { order: (0, Identity(0)), bounds: Bounds::default() }
    }
}

impl<C: Contents> Member<C> {
    /// Has the file grow or shrink until the number of servers is within these bounds.
    pub fn resize(&mut self, now: Time, bounds: Bounds, outputs: &mut Vec<Output<C>>) {
        let order = (self.asked.order.0 + 1, self.membership.own.identity);
        self.receive_resizing(self.membership.own.identity, ResizeRequest { order, bounds }, outputs);
        self.settle(now, outputs);
    }

    /// The most servers that the members host.
    pub fn most_servers(&self) -> u32 {
        self.growth().most_servers
    }

    /// The number of records for which a server has room.
    pub const fn capacity(&self) -> u64 {
        self.policy.growth.capacity
    }

    /// Takes a request to resize, and passes it on if it is new: along the tree of who welcomed whom, as news of
    /// members.
    pub(super) fn receive_resizing(&mut self, from: Identity, asked: ResizeRequest, outputs: &mut Vec<Output<C>>) {
        if asked.order <= self.asked.order {
            return;
        }
        self.asked = asked;
        for &relay in self.membership.relays.iter().filter(|&&relay| relay != from) {
            outputs.push(Output::Send(relay, Message::Resize(asked)));
        }
        self.of_each_server(outputs, |server, sent| server.keep_within(asked.bounds, sent));
    }

    /// Tells a new member of the last request, if there was any.
    pub(super) fn announce_resizing(&self, new: Identity, outputs: &mut Vec<Output<C>>) {
        if self.asked != ResizeRequest::default() {
            outputs.push(Output::Send(new, Message::Resize(self.asked)));
        }
    }

    /// A new server of this member.
    pub(super) fn new_server(&self, number: u32) -> Server<C> {
        let mut server = Server::keeping(self.hosted.make.contents(number), number, self.growth());
        // Without the token this produces no messages.
        server.keep_within(self.asked.bounds, &mut Vec::new());
        server
    }
}
