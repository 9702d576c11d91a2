//! The turns of a member that is part of a group: no reply leaves before the parity holds its change; and a spare
//! becomes a lost member.

use super::group::Group;
use super::monitor::Monitor;
use super::peer_message::PeerMessage;
use super::persistence::Persistence;
use super::{Error, MemberLinks, Server};
use crate::log::Event;
use crate::member::Peer;
use crate::node::Node;
use crate::pages::MemberState;
use crate::record::Milliseconds;

/// How long a client's replies may be held back. After that the client is disconnected: the outcome of its request is
/// unknown. [ms]
const LONGEST_WAIT: Milliseconds = 10_000;

impl Server {
    pub(super) fn group(&mut self) -> Option<&mut Group> {
        self.persistence.as_mut()?.group.as_mut()
    }

    /// Sends the group's messages, and does what is due by time.
    pub(super) fn run_group(&mut self) -> Result<(), Error> {
        let Some(Persistence { at, group: Some(group), .. }) = &mut self.persistence else { return Ok(()) };
        if group.is_replaced() {
            return Err(Error::Replaced);
        }
        let member = self.host.member();
        if member.membership().departure().is_some() {
            group.leave(member.membership().has_left(), *at);
        }
        group.tick(*at);
        self.host.node().borrow_mut().group = Some(group.state());
        let wanted = group.wants(self.host.member().membership().peers());
        let output = group.take_output().map_err(Error::Persistence)?;
        let life = group.take_new_life();
        for (to, message) in output.sends {
            self.send_to_member(to, &PeerMessage::Group(message), false);
        }
        output.events.iter().for_each(|event| self.report(event));
        wanted.into_iter().for_each(|member| self.links.sockets.expect(member));
        if let Some(life) = life {
            self.host.with_member(|member, _, outputs| member.begin_life(life, outputs));
            self.links.sockets.begin_life(life, &mut self.links.arrivals);
        }
        Ok(())
    }

    /// Without its parity member nothing can be acknowledged: a client that waits for too long is disconnected.
    pub(super) fn end_clients_that_wait_for_parity(&mut self) {
        let Some(persistence) = &self.persistence else { return };
        let late = persistence.waiting().filter(|turn| persistence.at.saturating_sub(turn.since()) > LONGEST_WAIT);
        let late: Vec<usize> = late.flat_map(|turn| turn.clients.iter().map(|(token, _)| *token)).collect();
        late.into_iter().for_each(|token| self.end(token));
    }

    /// A spare that has received all data of a lost member is that member from now on. Its clients and the other
    /// members have to connect again.
    pub(super) fn become_another(&mut self, now: Milliseconds) -> Result<(), Error> {
        let Some(successor) = self.group().and_then(|group| group.becomes.take()) else { return Ok(()) };
        let Some(data) = self.configuration.pool.data.clone() else { return Ok(()) };
        self.clients.tokens(|_| true).into_iter().for_each(|token| self.end(token));
        self.clients.queue.clear();
        let chance = std::array::from_fn(|_| self.host.node().borrow_mut().draw());
        let node = Node::new(self.configuration.settings.clone(), self.host.node().borrow().port, chance, now);
        let own = Peer { identity: successor.identity, ..self.own().clone() };
        // The former persistence holds the lock on the directory, and is dropped here.
        let at = self.persistence.take().map_or(0, |persistence| persistence.at);
        let (host, persistence) =
            Persistence::begin(data, &self.configuration.pool, node, own, false, at, &self.listeners.waker)
                .map_err(Error::Data)?;
        self.links = MemberLinks::new(host.member().own(), &self.configuration.pool);
        (self.host, self.persistence) = (host, Some(persistence));
        self.observability.monitor =
            Monitor::new(&MemberState::of(&self.host).servers, self.host.member().membership().is_welcome(), now);
        self.report(&Event::Becomes { member: successor.identity.to_string() });
        Ok(())
    }
}
