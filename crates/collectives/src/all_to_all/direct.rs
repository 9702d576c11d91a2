//! What exchanges have in common in which every message goes straight to its receiver.

use std::cell::{Cell, RefCell};

use endpoint::{Endpoint, Error, Message, Result};
use quantities::{Bytes, Rank};

use crate::blocks::mismatch;
use crate::catalogue::{Cost, Stretch};
use crate::{Blocks, of_pair};

/// Runs an exchange of the blocks of a rank, and ends with an error if a block is missing or of another size than it
/// should be. The exchange is compiled twice: once for any blocks, and once for messages that are all of one size and
/// nothing else. Then nothing is looked up for each of P squared messages, and none is moved to be looked at.
macro_rules! direct {
    ($blocks:ident of $endpoint:ident: |$message_for:ident, $take:ident| $exchange:expr) => {
        match $blocks.only_sizes() {
            Some(bytes) => {
                let sizes = $crate::all_to_all::direct::OnlySizes::new(bytes);
                let $message_for = |_| endpoint::Message::of_size(bytes);
                let $take = |_, message: endpoint::Message| sizes.take(message.size());
                $exchange.await?;
                sizes.end($blocks)
            }
            None => {
                let transit = $crate::all_to_all::direct::Transit::new($endpoint, $blocks);
                let $message_for = |to| transit.message_for(to);
                let $take = |from, message: endpoint::Message| transit.take(from, &message);
                $exchange.await?;
                transit.end()
            }
        }
    };
}
pub(super) use direct;

/// An exchange of messages that are only sizes, all of the same.
pub(super) struct OnlySizes {
    each: Bytes,
    /// How much came, and the size of a message that has another. [B]
    received: Cell<u64>,
    wrong: Cell<Option<Bytes>>,
}

impl OnlySizes {
    pub(super) const fn new(each: Bytes) -> OnlySizes {
        OnlySizes { each, received: Cell::new(0), wrong: Cell::new(None) }
    }

    /// Takes a message of this size.
    #[inline]
    pub(super) fn take(&self, size: Bytes) {
        self.received.set(self.received.get() + size.0);
        if size != self.each {
            self.wrong.set(Some(size));
        }
    }

    /// Counts what came.
    ///
    /// # Errors
    /// A message of another size.
    pub(super) fn end(self, blocks: &mut Blocks<'_>) -> Result<()> {
        blocks.count_received(Bytes(self.received.get()));
        match self.wrong.get() {
            Some(wrong) => Err(mismatch(wrong, self.each)),
            None => Ok(()),
        }
    }
}

/// The blocks of a rank during an exchange: what it has for each other is taken out, and what it has from them put in.
pub(super) struct Transit<'a, 'b> {
    blocks: RefCell<&'a mut Blocks<'b>>,
    me: Rank,
    ranks: u32,
    wrong: Cell<Option<Error>>,
}

impl<'a, 'b> Transit<'a, 'b> {
    /// Those of a rank of `endpoint`.
    pub(super) fn new<E: Endpoint>(endpoint: &E, blocks: &'a mut Blocks<'b>) -> Transit<'a, 'b> {
        let (me, ranks) = (endpoint.rank(), endpoint.size());
        Transit { blocks: RefCell::new(blocks), me, ranks, wrong: Cell::new(None) }
    }

    /// The message for a rank.
    pub(super) fn message_for(&self, to: Rank) -> Message {
        self.kept(self.blocks.borrow_mut().hand_over_one(of_pair(self.me, to, self.ranks)))
    }

    /// Takes the message from a rank.
    pub(super) fn take(&self, from: Rank, message: &Message) {
        self.kept(self.blocks.borrow_mut().put([of_pair(from, self.me, self.ranks)], message));
    }

    /// What went wrong, if anything did.
    ///
    /// # Errors
    /// A block that the rank did not have, or of another size than it should have.
    pub(super) fn end(self) -> Result<()> {
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
