//! What a member records so that it can be restored: everything that does not follow from earlier records.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use linear_hash::{Applied, Contents, OutputOf, Pace, Server, ServerOutput, ToClient, ToServer, ToServerOf};
use serde::{Deserialize, Serialize};

use super::{Departure, Identity, Member, Peer, Placement, ResizeRequest};

/// Whether a member was admitted, and which others are away. Where all were connected, this is written as it was before
/// members could be away.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Welcome {
    /// It was not admitted yet.
    #[default]
    Awaited,
    /// It was admitted, and all members that may host servers are connected.
    Given,
    /// It was admitted, and these are not connected, which host so many servers.
    Without(BTreeMap<Identity, u32>),
}

/// What a member knows of the pool.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Standing {
    pub(super) peers: BTreeMap<Identity, Peer>,
    pub(super) relays: BTreeSet<Identity>,
    pub(super) welcome: Welcome,
    pub(super) placement: Placement,
    pub(super) asked: ResizeRequest,
    pub(super) departures: BTreeMap<Identity, Departure>,
    pub(super) moves: BTreeMap<u32, Identity>,
}

/// A message that a server takes, and its state that changes with each request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Taken {
    /// The sender and the number of a sequenced message; none for the next message between these two servers that waits
    /// within the member.
    pub sequenced: Option<(Identity, u64)>,
    /// The host of the server that has sent it, if another member has passed it on.
    pub origin: Option<Identity>,
    /// The server that has sent it.
    pub from: u32,
    /// The server that takes it.
    pub to: u32,
    /// What the taking server had counted before; none if this message creates it.
    pub pace: Option<Pace>,
}

/// What a server has begun on its own, and its state that changes with each request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Begun {
    /// The server.
    pub server: u32,
    /// What it has counted.
    pub pace: Pace,
    /// Whether it splits.
    pub splits: bool,
    /// Whether it lets the file shrink, after the split if it does both.
    pub shrinks: bool,
    /// Whether it moves to another member, and nothing else.
    pub moves: bool,
}

/// Records what a member does. Changes of entries are recorded by the servers' contents.
pub trait Recorder<C: Contents>: fmt::Debug {
    /// What the member knows of the pool, which may be the same as before.
    fn stands(&mut self, standing: Standing);
    /// A server takes a message, which is passed if it is a sequenced one, with the number under which the journal has
    /// all of it already, if it does.
    fn takes(&mut self, taken: Taken, message: Option<(&ToServerOf<C>, Option<u64>)>);
    /// A server has begun something on its own.
    fn begins(&mut self, begun: Begun);
    /// A server has answered a request that must not be executed again.
    fn answers(&mut self, server: u32, client: u64, applied: &Applied<C::Outcome>);
    /// A sequenced message is sent: it must not leave before everything so far is stored durably.
    fn sends_sequenced(&mut self);
    /// Another member has acknowledged all messages up to this one.
    fn is_acknowledged(&mut self, by: Identity, number: u64);
}

impl<C: Contents> Member<C> {
    /// Records everything from now on.
    pub fn record_with(&mut self, recorder: Box<dyn Recorder<C>>) {
        self.recorder = Some(recorder);
        self.record_standing();
    }

    /// What it knows of the pool.
    pub(crate) fn standing(&self) -> Standing {
        Standing {
            peers: self.membership.peers.clone(),
            relays: self.membership.relays.clone(),
            welcome: self.membership.welcome_to_record(),
            placement: self.locations.placement.clone(),
            asked: self.asked,
            departures: self.membership.departures.clone(),
            moves: self.hosted.moves.clone(),
        }
    }

    /// Records what the member knows of the pool. Routing and the hosts of new servers depend on it, so it is recorded
    /// before each step that uses it.
    pub(super) fn record_standing(&mut self) {
        if self.recorder.is_some() {
            let standing = self.standing();
            self.recorder.iter_mut().for_each(|recorder| recorder.stands(standing.clone()));
        }
    }

    pub(super) fn record_taking(
        &mut self,
        (sequenced, origin): (Option<(Identity, u64)>, Option<Identity>),
        from: u32,
        to: u32,
        message: Option<(&ToServerOf<C>, Option<u64>)>,
    ) {
        self.record_standing();
        let pace = self.hosted.servers.get(&to).map(Server::pace);
        if let Some(recorder) = &mut self.recorder {
            recorder.takes(Taken { sequenced, origin, from, to, pace }, message);
        }
    }

    /// Records what a server has begun on its own, if it has, by the messages that it sends.
    pub(super) fn record_beginning(&mut self, number: u32, pace: Option<Pace>, sent: &[OutputOf<C>]) {
        if self.recorder.is_none() {
            return;
        }
        let sends = |is: fn(&ToServerOf<C>) -> bool| {
            sent.iter().any(|output| matches!(output, ServerOutput::Server(_, message) if is(message)))
        };
        let splits = sends(|message| matches!(message, ToServer::Open { .. }));
        let shrinks = sends(|message| matches!(message, ToServer::Shrink(_) | ToServer::Leave { .. }));
        let Some(pace) = pace.filter(|_| splits || shrinks) else { return };
        self.record_standing();
        if let Some(recorder) = &mut self.recorder {
            recorder.begins(Begun { server: number, pace, splits, shrinks, moves: false });
        }
    }

    /// Records that a server begins to move.
    pub(super) fn record_moving(&mut self, number: u32, pace: Pace) {
        self.record_standing();
        if let Some(recorder) = &mut self.recorder {
            recorder.begins(Begun { server: number, pace, splits: false, shrinks: false, moves: true });
        }
    }

    /// Records the outcome of a client's request that this server has just answered. It is that of the reply: the
    /// server no longer has it if it has begun to split since, and the key has left.
    pub(super) fn record_answer(&mut self, server: u32, (client, number, c): (u64, u64, u64), sent: &[OutputOf<C>]) {
        let Some(recorder) = &mut self.recorder else { return };
        let replied = sent.iter().find_map(|output| match output {
            ServerOutput::Client(to, ToClient::Reply { number: replied, outcome, .. })
                if (*to, *replied) == (client, number) =>
            {
                Some(outcome.clone())
            }
            _ => None,
        });
        if let Some(outcome) = replied {
            recorder.answers(server, client, &Applied { number, c, outcome: Some(outcome) });
        }
    }
}
