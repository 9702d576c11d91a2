//! What exchanges have in common in which every message goes straight to its receiver.

use std::cell::{Cell, RefCell};

use endpoint::{Endpoint, Error, Message, Result};
use quantities::{Bytes, Rank};

use crate::catalogue::{Cost, Stretch};
use crate::{Blocks, of_pair};

/// The blocks of a rank during an exchange: what it has for each other is taken out, and what it has from them put in.
pub(super) struct Transit<'a, 'b> {
    blocks: RefCell<&'a mut Blocks<'b>>,
    me: Rank,
    ranks: u32,
    /// The size of each message, if that is all that is known: then nothing is looked up for each of P squared.
    each: Option<Bytes>,
    /// How much came of such messages. [B]
    received: Cell<u64>,
    wrong: Cell<Option<Error>>,
}

impl<'a, 'b> Transit<'a, 'b> {
    /// Those of a rank of `endpoint`.
    pub(super) fn new<E: Endpoint>(endpoint: &E, blocks: &'a mut Blocks<'b>) -> Transit<'a, 'b> {
        let (me, ranks, each) = (endpoint.rank(), endpoint.size(), blocks.only_sizes());
        Transit { blocks: RefCell::new(blocks), me, ranks, each, received: Cell::new(0), wrong: Cell::new(None) }
    }

    /// The message for a rank.
    pub(super) fn message_for(&self, to: Rank) -> Message {
        if let Some(bytes) = self.each {
            return Message::of_size(bytes);
        }
        self.kept(self.blocks.borrow_mut().hand_over_one(of_pair(self.me, to, self.ranks)))
    }

    /// Takes the message from a rank.
    pub(super) fn take(&self, from: Rank, message: &Message) {
        if self.each == Some(message.size()) {
            return self.received.set(self.received.get() + message.size().0);
        }
        self.kept(self.blocks.borrow_mut().put([of_pair(from, self.me, self.ranks)], message));
    }

    /// What went wrong, if anything did.
    ///
    /// # Errors
    /// A block that the rank did not have, or of another size than it should have.
    pub(super) fn end(self) -> Result<()> {
        self.blocks.into_inner().count_received(Bytes(self.received.get()));
        self.wrong.into_inner().map_or(Ok(()), Err)
    }

    fn kept<T: Default>(&self, done: Result<T>) -> T {
        done.unwrap_or_else(|error| {
            self.wrong.set(Some(error));
            T::default()
        })
    }
}

/// How many messages go between so many ranks.
pub(super) fn messages(ranks: u32) -> u64 {
    u64::from(ranks) * u64::from(ranks.saturating_sub(1))
}

/// The cost of so many steps, in each of which every rank exchanges a message with another.
pub(super) fn cost(ranks: u32, bytes: Bytes) -> Cost {
    let n = f64::from(ranks);
    Cost::of(n * n, bytes, vec![Stretch::of(0.0, n, bytes)])
}
