//! How a member is restored from its journal: it repeats what it did, without sending anything.

use std::collections::BTreeMap;

use linear_hash::{Applied, Contents, Control, OutputOf, Server, ServerOutput, Shape, Table, ToServerOf};

use super::recording::{Begun, Standing, Taken, Welcome};
use super::requests::Requests;
use super::{Identity, Member, Message, Output, Peer, Policy, Role, Sequenced};

/// The bits for the request numbers of one run of a member: no run has more requests.
const REQUESTS_OF_A_RUN: u32 = 40;

impl<C: Contents> Member<C> {
    /// A run of this member begins, the `run`-th: its requests have numbers that none before had.
    pub(crate) fn begin_run(&mut self, run: u64, own: Peer, policy: Policy) {
        self.client.requests = Requests::new(own.identity, policy.patience, run << REQUESTS_OF_A_RUN);
        (self.membership.own, self.policy) = (own, policy);
        self.membership.connected.clear();
        self.measure_anew();
    }

    /// Like [`Member::founding`], for a member that has nothing yet.
    pub(crate) fn found(&mut self) {
        let contents = self.hosted.make.contents(0);
        self.hosted.servers.insert(0, Server::keeping(contents, 0, self.growth()));
        self.learn_host(0, self.membership.own.identity);
        self.membership.waiting = None;
    }

    /// Restores what it knew of the pool.
    pub(crate) fn stand(&mut self, standing: Standing) {
        let Standing { peers, relays, welcome, placement, asked, departures, moves } = standing;
        self.locations.hints = placement.clone();
        (self.membership.departures, self.hosted.moves) = (departures, moves);
        (self.membership.peers, self.membership.relays, self.locations.placement, self.asked) =
            (peers, relays, placement, asked);
        self.membership.waiting = (welcome == Welcome::Awaited).then(Vec::new);
        self.membership.away = if let Welcome::Without(away) = welcome { away } else { BTreeMap::new() };
        self.measure_anew();
    }

    fn measure_anew(&mut self) {
        let (growth, bounds) = (self.growth(), self.asked.bounds());
        self.hosted.servers.values_mut().for_each(|server| server.set_growth(growth, bounds));
    }

    /// A server took a message. Returns whether there was such a message.
    pub(crate) fn take_again(&mut self, taken: Taken, message: Option<ToServerOf<C>>) -> bool {
        let Taken { sequenced, origin, from, to, pace } = taken;
        let (member, message) = match (sequenced, message) {
            (Some((member, number)), Some(message)) if self.reliable.receives(member, number) => {
                (origin.unwrap_or(member), message)
            }
            (None, None) => {
                let mut messages = self.hosted.messages.iter();
                let next = messages.position(|(sender, receiver, _)| (*sender, *receiver) == (from, to));
                let Some((.., message)) = next.and_then(|next| self.hosted.messages.remove(next)) else { return false };
                (self.membership.own.identity, message)
            }
            _ => return false,
        };
        if let (Some(server), Some(pace)) = (self.hosted.servers.get_mut(&to), pace) {
            server.set_pace(pace);
        }
        self.quietly(|member_itself, outputs| member_itself.deliver(member, from, to, message, outputs));
        true
    }

    /// A server began something by itself. Returns whether that server exists.
    pub(crate) fn begin_again(&mut self, begun: Begun) -> bool {
        let Some(server) = self.hosted.servers.get_mut(&begun.server) else { return false };
        let mut effects: Vec<OutputOf<C>> = Vec::new();
        server.set_pace(begun.pace);
        if begun.moves {
            self.quietly(|member, outputs| member.set_off(begun.server, outputs));
            return true;
        }
        server.begin_again(begun.splits, begun.shrinks, &mut effects);
        effects.retain(|output| matches!(output, ServerOutput::Server(..)));
        self.quietly(|member, outputs| member.pass_on(begun.server, effects, outputs));
        true
    }

    /// Runs `does` and drops its outputs: messages to members were sent before, or are not acknowledged yet; clients
    /// are gone.
    fn quietly(&mut self, does: impl FnOnce(&mut Member<C>, &mut Vec<Output<C>>)) {
        does(self, &mut Vec::new());
        self.client.messages.clear();
    }

    /// A server answered a request. Returns whether that server exists.
    pub(crate) fn remember(&mut self, server: u32, client: u64, applied: Applied<C::Outcome>) -> bool {
        self.hosted.servers.get_mut(&server).map(|server| server.remember(client, applied)).is_some()
    }

    /// Another member has acknowledged messages.
    pub(crate) fn was_acknowledged(&mut self, by: Identity, number: u64) {
        self.reliable.was_acknowledged(by, number);
    }

    /// The contents of a server of this member.
    pub(crate) fn contents_of(&mut self, server: u32) -> Option<&mut C> {
        self.hosted.servers.get_mut(&server).map(Server::contents_mut)
    }

    /// Restores a server, whose entries are still to come.
    pub(crate) fn resume(&mut self, number: u32, control: Control<C::Outcome>, shape: Option<Shape>) {
        let mut contents = self.hosted.make.contents(number);
        if let Some(shape) = shape {
            contents.open(Table::of_shape(shape));
        }
        self.hosted
            .servers
            .insert(number, Server::resume(contents, number, (self.growth(), self.asked.bounds()), control));
    }

    /// Restores the sequence numbers between this member and another one.
    pub(crate) fn resume_sequences(&mut self, with: Identity, sent: u64, received: u64) {
        self.reliable.restore_counts(with, sent, received);
    }

    /// Restores a message that was not acknowledged yet.
    pub(crate) fn resume_unacknowledged(&mut self, to: Identity, sequenced: Sequenced<C>) {
        self.reliable.keep(to, sequenced);
    }

    /// Restores a message between two servers of this member that was not taken yet.
    pub(crate) fn resume_message(&mut self, from: u32, to: u32, message: ToServerOf<C>) {
        self.hosted.messages.push_back((from, to, message));
    }

    /// For each other member, how many sequenced messages were sent to it and received from it, and those that it has
    /// not acknowledged.
    pub(crate) fn sequences(&self) -> impl Iterator<Item = (Identity, u64, u64, impl Iterator<Item = &Sequenced<C>>)> {
        self.reliable
            .counts()
            .map(|(other, sent, received)| (other, sent, received, self.reliable.unacknowledged(other)))
    }

    /// The messages that its own servers have yet to take from each other.
    pub(crate) fn messages(&self) -> impl Iterator<Item = &(u32, u32, ToServerOf<C>)> {
        self.hosted.messages.iter()
    }

    /// It is back: it checks whether servers should split under the present policy, and tells its address to all
    /// members it knows.
    pub fn is_back(&mut self, outputs: &mut Vec<Output<C>>) {
        self.membership.forget_former_spares();
        self.membership.find_who_is_away(&self.locations.placement);
        self.record_standing();
        self.reconsider(outputs);
        self.announce_return(outputs);
    }

    /// It was taken for lost, and goes on in another life. Others that have heard of a life before this one believe it
    /// only in this one.
    pub fn begin_life(&mut self, life: u32, outputs: &mut Vec<Output<C>>) {
        self.membership.own.life = life;
        self.announce_return(outputs);
    }

    fn announce_return(&self, outputs: &mut Vec<Output<C>>) {
        for peer in self.membership.peers.keys() {
            outputs.push(Output::Send(*peer, Message::Back(self.membership.own.clone(), self.settings())));
        }
    }

    /// Another member is reached: it may have a new address, and is sent again what it has not acknowledged. One that
    /// was taken for lost and lives on is ignored.
    pub fn connect(&mut self, peer: Peer, outputs: &mut Vec<Output<C>>) {
        let identity = peer.identity;
        self.client.requests.hurry();
        if self.membership.has_gone(identity) && peer.role != Role::Spare {
            // It was lost while it was leaving, and a spare has become it.
            self.membership.forget_spares_at(&[peer.address]);
            self.record_standing();
        }
        if let Some(known) = self.membership.peers.get_mut(&identity) {
            if known.life > peer.life {
                return;
            }
            if *known != peer {
                *known = peer;
                self.membership.forget_former_spares();
                self.record_standing();
            }
        }
        self.membership.connected.insert(identity);
        self.adapt_to_who_is_away(outputs);
        outputs.extend(
            self.reliable
                .unacknowledged(identity)
                .map(|sequenced| Output::Send(identity, Message::Sequenced(sequenced.clone()))),
        );
        self.announce_leaving_again(Some(identity), outputs);
        self.send_departures(identity, outputs);
    }

    /// Members that have messages to acknowledge.
    pub fn behind(&self) -> impl Iterator<Item = Identity> {
        self.reliable.behind()
    }
}
