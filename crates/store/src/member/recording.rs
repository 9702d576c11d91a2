//! What a member writes down so that it can be brought back: what it can't know from what was written before.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use programs::linear_hash::{Applied, Contents, OutputOf, Pace, Server, ServerOutput, ToClient, ToServer, ToServerOf};
use serde::{Deserialize, Serialize};

use super::{Asked, Departure, Identity, Member, Peer, Placement};

/// What a member knows of the pool.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Standing {
    pub(super) peers: BTreeMap<Identity, Peer>,
    pub(super) relays: BTreeSet<Identity>,
    pub(super) is_welcome: bool,
    pub(super) placement: Placement,
    pub(super) asked: Asked,
    pub(super) departures: BTreeMap<Identity, Departure>,
    pub(super) moves: BTreeMap<u32, Identity>,
}

/// A message that a server takes, and its state that changes with each request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Taken {
    /// Of a sequenced message, who sent it, and its number; none for one that a server of the same member has sent, the next that waits.
    pub sequenced: Option<(Identity, u64)>,
    /// Who hosts the server that has sent it, if that is not who has passed it on.
    pub origin: Option<Identity>,
    /// Which server has sent it.
    pub from: u32,
    /// Which one takes it.
    pub to: u32,
    /// What that one had counted before; none, if it is there only from now on.
    pub pace: Option<Pace>,
}

/// What a server has begun by itself, and its state that changes with each request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Begun {
    /// Which server.
    pub server: u32,
    /// What it has counted.
    pub pace: Pace,
    /// Whether it splits.
    pub splits: bool,
    /// Whether it lets the file shrink, after that if it does both.
    pub shrinks: bool,
    /// Whether it moves elsewhere, and nothing else.
    pub moves: bool,
}

/// Writes down what a member does. What happens to entries, their contents write down themselves.
pub trait Recorder<C: Contents>: fmt::Debug {
    /// What the member knows of the pool, which may be the same as before.
    fn stands(&mut self, standing: Standing);
    /// A server takes a message; a sequenced one is given.
    fn takes(&mut self, taken: Taken, message: Option<&ToServerOf<C>>);
    /// A server has begun something by itself.
    fn begins(&mut self, begun: Begun);
    /// A server has answered a request that may have changed something.
    fn answers(&mut self, server: u32, client: u64, applied: &Applied<C::Outcome>);
    /// Whether an operation may change something.
    fn changes(&self, operation: &C::Operation) -> bool;
    /// A sequenced message is sent: it must not leave before all this is kept for good.
    fn sends_sequenced(&mut self);
    /// Another member has acknowledged all messages up to this one.
    fn is_acknowledged(&mut self, by: Identity, number: u64);
}

impl<C: Contents> Member<C> {
    /// Has everything written down from now on.
    pub fn record_with(&mut self, recorder: Box<dyn Recorder<C>>) {
        self.recorder = Some(recorder);
        self.record_standing();
    }

    /// What it knows of the pool.
    pub(crate) fn standing(&self) -> Standing {
        Standing {
            peers: self.peers.clone(),
            relays: self.relays.clone(),
            is_welcome: self.is_welcome(),
            placement: self.placement.clone(),
            asked: self.asked,
            departures: self.departures.clone(),
            moves: self.moves.clone(),
        }
    }

    /// What is routed and who hosts what is opened depends on this: it is written down before whatever that matters for.
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
        message: Option<&ToServerOf<C>>,
    ) {
        self.record_standing();
        self.record_unwritten(to);
        let pace = self.servers.get(&to).map(Server::pace);
        if let Some(recorder) = &mut self.recorder {
            recorder.takes(Taken { sequenced, origin, from, to, pace }, message);
        }
    }

    /// Writes down what a server has begun by itself, if it has, as what it tells others says.
    pub(super) fn record_beginning(&mut self, number: u32, pace: Option<Pace>, told: &[OutputOf<C>]) {
        if self.recorder.is_none() {
            return;
        }
        let tells = |is: fn(&ToServerOf<C>) -> bool| {
            told.iter().any(|output| matches!(output, ServerOutput::Server(_, message) if is(message)))
        };
        let splits = tells(|message| matches!(message, ToServer::Open { .. }));
        let shrinks = tells(|message| matches!(message, ToServer::Shrink(_) | ToServer::Leave { .. }));
        let Some(pace) = pace.filter(|_| splits || shrinks) else { return };
        self.record_standing();
        self.record_unwritten(number);
        if let Some(recorder) = &mut self.recorder {
            recorder.begins(Begun { server: number, pace, splits, shrinks, moves: false });
        }
    }

    /// Writes down that a server begins to move.
    pub(super) fn record_moving(&mut self, number: u32, pace: Pace) {
        self.record_standing();
        self.record_unwritten(number);
        if let Some(recorder) = &mut self.recorder {
            recorder.begins(Begun { server: number, pace, splits: false, shrinks: false, moves: true });
        }
    }

    /// Writes down how a client's request went, if this server has answered it just now. Of one that changes nothing that can wait until other
    /// servers learn its number: from then on they take it for one whose outcome this server knows.
    pub(super) fn record_answer(
        &mut self,
        server: u32,
        (client, number, c): (u64, u64, u64),
        changes: bool,
        told: &[OutputOf<C>],
    ) {
        let replied = told.iter().find_map(|output| match output {
            ServerOutput::Client(to, ToClient::Reply { number: replied, outcome, .. })
                if (*to, *replied) == (client, number) =>
            {
                Some(outcome.clone())
            }
            _ => None,
        });
        let (Some(recorder), Some(outcome)) = (&mut self.recorder, replied) else { return };
        let applied = Applied { number, c, outcome: Some(outcome) };
        if changes {
            self.unwritten.remove(&(server, client));
            recorder.answers(server, client, &applied);
        } else {
            self.unwritten.insert((server, client), applied);
        }
    }

    /// Writes down what has waited: the server may tell others of it now.
    fn record_unwritten(&mut self, server: u32) {
        let Some(recorder) = &mut self.recorder else { return };
        let mut of_server = self.unwritten.split_off(&(server, 0));
        let mut others = of_server.split_off(&(server + 1, 0));
        self.unwritten.append(&mut others);
        of_server.iter().for_each(|((_, client), applied)| recorder.answers(server, *client, applied));
    }
}
