//! Messages divided into blocks of whole elements.

use endpoint::Message;

use super::Combine;
use crate::pieces::{block_start, piece};

/// Where the blocks of a message begin, each of which consists of whole elements.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Blocks {
    elements: u64,
    element: u64,
    count: u32,
}

impl Blocks {
    /// `count` blocks of `message`; their sizes differ by at most one element.
    pub(crate) fn of<C: Combine>(operator: &C, message: &Message, count: u32) -> Blocks {
        let element = operator.element().max(1);
        Blocks { elements: message.size().0 / element, element, count }
    }

    /// Where a block begins; the last ends where the next would begin. [B]
    pub(crate) fn start(&self, block: u32) -> u64 {
        block_start(self.elements, self.count, block) * self.element
    }

    /// The content of one block.
    pub(super) fn cut(&self, message: &Message, block: u32) -> Message {
        piece(message, self.start(block)..self.start(block + 1))
    }
}
