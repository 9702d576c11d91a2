//! Messages between servers of different members: each is taken exactly once and in order, although links break and
//! members are restarted.
//!
//! ```text
//!   sender                                       receiver
//!   | number = sent + 1                             |
//!   | Sequenced(number), until acknowledged ------->| takes it if number = received + 1, and ignores it otherwise
//!   |<------------------ Acknowledged(received) ----| once its effects are stored
//!   on each reconnection: all unacknowledged ------>|
//! ```

use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;

use linear_hash::{Contents, ToServerOf};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{Identity, Placement};

/// A message that is shared between the copy to send and the one for retransmission, since a chunk is large.
#[derive(Debug)]
pub struct Shared<T>(Rc<T>);

impl<T> Shared<T> {
    /// The message.
    pub fn get(&self) -> &T {
        &self.0
    }
}

impl<T: Clone> Shared<T> {
    /// The message; it is cloned if it is still shared.
    pub fn into_inner(self) -> T {
        Rc::unwrap_or_clone(self.0)
    }
}

impl<T> Clone for Shared<T> {
    fn clone(&self) -> Shared<T> {
        Shared(Rc::clone(&self.0))
    }
}

impl<T: Serialize> Serialize for Shared<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Shared<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Shared<T>, D::Error> {
        T::deserialize(deserializer).map(|shared| Shared(Rc::new(shared)))
    }
}

/// A message from a server of one member to a server of another.
#[derive(Debug, Serialize, Deserialize)]
#[serde(bound(
    serialize = "C::Entry: Serialize, C::Operation: Serialize, C::Outcome: Serialize",
    deserialize = "C::Entry: Deserialize<'de>, C::Operation: Deserialize<'de>, C::Outcome: Deserialize<'de>"
))]
pub struct Sequenced<C: Contents> {
    /// How many such messages the sender has sent to the receiver, this one included.
    pub number: u64,
    /// The sender's server.
    pub from: u32,
    /// The receiver's.
    pub to: u32,
    /// The message.
    pub message: Shared<ToServerOf<C>>,
    /// The placement of servers, with a message that opens a server or carries the token.
    pub placement: Option<Placement>,
    /// The host of the sender's server, if the message was for a server that has moved away from the member that passes
    /// it on.
    pub origin: Option<Identity>,
    /// The number under which the receiver has written all of the message to its journal before it takes it, if it has.
    #[serde(skip)]
    pub journaled: Option<u64>,
}

impl<C: Contents> Clone for Sequenced<C> {
    fn clone(&self) -> Sequenced<C> {
        let Sequenced { number, from, to, message, placement, origin, journaled } = self;
        let (message, placement) = (message.clone(), placement.clone());
        Sequenced { number: *number, from: *from, to: *to, message, placement, origin: *origin, journaled: *journaled }
    }
}

/// The state of the exchange between this member and another one.
#[derive(Debug)]
struct ExchangeState<C: Contents> {
    sent: u64,
    received: u64,
    unacknowledged: VecDeque<Sequenced<C>>,
}

/// The exchanges of a member with others: each message once and in order.
#[derive(Debug)]
pub(super) struct Reliable<C: Contents>(BTreeMap<Identity, ExchangeState<C>>);

impl<C: Contents> Reliable<C> {
    pub(super) const fn new() -> Reliable<C> {
        Reliable(BTreeMap::new())
    }

    fn with(&mut self, other: Identity) -> &mut ExchangeState<C> {
        self.0.entry(other).or_insert_with(|| ExchangeState { sent: 0, received: 0, unacknowledged: VecDeque::new() })
    }

    /// Numbers a message, and keeps it until the other member acknowledges it.
    pub(super) fn send(
        &mut self,
        other: Identity,
        (from, to): (u32, u32),
        message: ToServerOf<C>,
        placement: Option<Placement>,
        origin: Option<Identity>,
    ) -> Sequenced<C> {
        let exchange = self.with(other);
        exchange.sent += 1;
        let (number, message) = (exchange.sent, Shared(Rc::new(message)));
        let sequenced = Sequenced { number, from, to, message, placement, origin, journaled: None };
        exchange.unacknowledged.push_back(sequenced.clone());
        sequenced
    }

    /// Whether a message is the next one; if so, it counts as received.
    pub(super) fn receives(&mut self, other: Identity, number: u64) -> bool {
        let exchange = self.with(other);
        let is_next = number == exchange.received + 1;
        exchange.received += u64::from(is_next);
        is_next
    }

    /// The number of the last message received from another member.
    pub(super) fn received(&self, other: Identity) -> u64 {
        self.0.get(&other).map_or(0, |exchange| exchange.received)
    }

    /// Another member acknowledges all messages up to this one. Returns whether that is news.
    pub(super) fn was_acknowledged(&mut self, other: Identity, number: u64) -> bool {
        let unacknowledged = &mut self.with(other).unacknowledged;
        let before = unacknowledged.len();
        while unacknowledged.front().is_some_and(|sequenced| sequenced.number <= number) {
            unacknowledged.pop_front();
        }
        unacknowledged.len() < before
    }

    /// The messages that another member has not acknowledged.
    pub(super) fn unacknowledged(&self, other: Identity) -> impl Iterator<Item = &Sequenced<C>> {
        self.0.get(&other).into_iter().flat_map(|exchange| &exchange.unacknowledged)
    }

    /// The messages that other members have not acknowledged.
    pub(super) fn all_unacknowledged(&self) -> impl Iterator<Item = &Sequenced<C>> {
        self.0.values().flat_map(|exchange| &exchange.unacknowledged)
    }

    /// The members that have not acknowledged everything.
    pub(super) fn behind(&self) -> impl Iterator<Item = Identity> {
        self.0.iter().filter(|(_, exchange)| !exchange.unacknowledged.is_empty()).map(|(other, _)| *other)
    }

    /// For each other member, the numbers of messages sent to it and received from it.
    pub(super) fn counts(&self) -> impl Iterator<Item = (Identity, u64, u64)> {
        self.0.iter().map(|(other, exchange)| (*other, exchange.sent, exchange.received))
    }

    /// Restores the counts of messages sent and received.
    pub(super) fn restore_counts(&mut self, other: Identity, sent: u64, received: u64) {
        let exchange = self.with(other);
        (exchange.sent, exchange.received) = (sent, received);
    }

    /// Restores an unacknowledged message.
    pub(super) fn keep(&mut self, other: Identity, sequenced: Sequenced<C>) {
        self.with(other).unacknowledged.push_back(sequenced);
    }
}
