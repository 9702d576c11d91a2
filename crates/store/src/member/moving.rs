//! How a server moves from one member to another: its two halves exchange messages, under the same number.
//!
//! Others go on sending to the member that had it until they hear that it has moved: messages that must not be lost are
//! passed on from there, and a client's request is sent again.

use linear_hash::{Contents, Server, ToServer, ToServerOf};

use super::placement::parent;
use super::{Identity, Member, Output, Placement};

impl<C: Contents> Member<C> {
    /// Begins to move a server to another member.
    pub(super) fn begin_to_move(&mut self, number: u32, host: Identity, outputs: &mut Vec<Output<C>>) {
        let Some(pace) = self.hosted.servers.get(&number).map(Server::pace) else { return };
        self.hosted.moves.insert(number, host);
        // The server's level must not be lost with it.
        self.client.image = self.image();
        self.record_moving(number, pace);
        self.set_off(number, outputs);
    }

    /// Has the server move away. A small one is gone at once.
    pub(super) fn set_off(&mut self, number: u32, outputs: &mut Vec<Output<C>>) {
        let mut sent = Vec::new();
        self.hosted.servers.get_mut(&number).into_iter().for_each(|server| server.move_away(&mut sent));
        self.pass_on(number, sent, outputs);
        self.let_go(number);
    }

    /// Removes a server once all of it has moved away.
    fn let_go(&mut self, number: u32) {
        if self.hosted.servers.get(&number).is_some_and(|server| server.table().is_none()) {
            self.hosted.servers.remove(&number);
            if let Some(host) = self.hosted.moves.remove(&number) {
                self.has_moved(number, host);
            }
        }
    }

    /// Another member's server begins to move to this one.
    pub(super) fn begins_to_arrive(&mut self, number: u32, from: Identity) {
        self.hosted.moves.insert(number, from);
        self.hint(number, self.membership.own.identity);
    }

    /// Takes a message of the other half of a server that moves.
    pub(super) fn take_of_other_half(
        &mut self,
        member: Identity,
        number: u32,
        message: ToServerOf<C>,
        outputs: &mut Vec<Output<C>>,
    ) {
        let Some(server) =
            self.hosted.servers.get_mut(&number).filter(|_| self.hosted.moves.get(&number) == Some(&member))
        else {
            return;
        };
        let (mut sent, has_come) = (Vec::new(), matches!(message, ToServer::Moved { .. }));
        server.take(number, message, &mut sent);
        if has_come {
            self.hosted.moves.remove(&number);
            self.learn_host(number, self.membership.own.identity);
        }
        self.pass_on(number, sent, outputs);
        self.let_go(number);
    }

    /// Passes a message for a server that has moved away on to its present host.
    pub(super) fn pass_on_after_it(
        &mut self,
        member: Identity,
        from: u32,
        to: u32,
        message: ToServerOf<C>,
        outputs: &mut Vec<Output<C>>,
    ) {
        let own = self.membership.own.identity;
        let host = self.membership.departures.get(&own).and_then(|departure| departure.moved.get(&to)).copied();
        if let Some(host) = host.filter(|_| from != to) {
            self.send_sequenced(host, (from, to), message, Some(member), outputs);
        }
    }

    /// Learns the placement of servers from a member whose server moves to this one. With the token it is
    /// authoritative; without it, only for the servers that the moving server has split off, and for the one that asks
    /// it to leave.
    pub(super) fn learn_of_moving(&mut self, number: u32, message: &ToServerOf<C>, placement: &Placement) {
        let asks = match message {
            ToServer::Moved { token: Some(_), .. } => return self.learn(placement),
            ToServer::Moved { leave: Some((asks, _)), .. } => Some(*asks),
            _ => None,
        };
        for (server, host) in placement.iter().filter(|(server, _)| *server != number) {
            let is_known_best = parent(server) == number || asks == Some(server);
            // The host of a server's parent knows best whether there still is such a server: it may have taken it over
            // meanwhile.
            let knows_best = self.hosted.servers.contains_key(&server)
                || !is_known_best && self.hosted.servers.contains_key(&parent(server));
            if !knows_best && (is_known_best || self.locations.placement.host(server).is_none()) {
                self.learn_host(server, host);
            }
        }
    }
}
