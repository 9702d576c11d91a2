//! The blocks of a collective's data that a rank has at a time.

use std::collections::BTreeMap;

use endpoint::{Error, Message, Result};
use quantities::Bytes;

use crate::all_reduce::{Combine, combined};
use crate::pieces::{joined, piece};

/// How large the blocks of a collective are, which all its ranks know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sizes {
    /// All of this size. [B]
    Same(Bytes),
    /// Each of its own, by its number. [B]
    Each(Vec<Bytes>),
    /// As the messages say that arrive: blocks that come together are of one size.
    Unknown,
}

impl Sizes {
    /// The size of a block; nothing, if there is no such block. [B]
    pub fn of(&self, block: u64) -> Bytes {
        match self {
            Sizes::Same(bytes) => *bytes,
            Sizes::Each(bytes) => {
                usize::try_from(block).ok().and_then(|block| bytes.get(block)).copied().unwrap_or_default()
            }
            Sizes::Unknown => Bytes(0),
        }
    }

    /// The largest of the blocks. [B]
    pub fn largest(&self) -> Bytes {
        match self {
            Sizes::Same(bytes) => *bytes,
            Sizes::Each(bytes) => bytes.iter().copied().max().unwrap_or_default(),
            Sizes::Unknown => Bytes(0),
        }
    }
}

/// The block of a collective that has only one.
pub(crate) const WHOLE: u64 = 0;

/// The blocks that a rank has. Algorithms take blocks out to send them and put in those that they receive; a message of
/// several blocks has them in the order in which they are named.
///
/// If any block is only a size, no contents are kept, so that a simulation of P ranks with P blocks each does not need
/// memory proportional to P squared.
#[derive(Clone, Debug)]
pub struct Blocks<'a> {
    sizes: &'a Sizes,
    contents: Option<BTreeMap<u64, Message>>,
    received: Bytes,
}

impl<'a> Blocks<'a> {
    /// None yet.
    pub fn new(sizes: &'a Sizes) -> Blocks<'a> {
        Blocks { sizes, contents: Some(BTreeMap::new()), received: Bytes(0) }
    }

    /// Those that the rank brings.
    ///
    /// # Errors
    /// A message of another size than its block.
    pub fn brought<'m>(sizes: &'a Sizes, mut blocks: impl Iterator<Item = (u64, &'m Message)>) -> Result<Blocks<'a>> {
        let mut all = Blocks::new(sizes);
        blocks.try_for_each(|(block, message)| all.put([block], message))?;
        Ok(Blocks { received: Bytes(0), ..all })
    }

    /// All of them, of which only the sizes are known.
    pub fn without_contents(sizes: &'a Sizes) -> Blocks<'a> {
        Blocks { sizes, contents: None, received: Bytes(0) }
    }

    /// How many bytes were put in or combined since: for the rank itself, or to be passed on. [B]
    pub fn received(&self) -> Bytes {
        self.received
    }

    /// The size of each, if all are of one size, which is all that is known of them. [B]
    pub(crate) fn only_sizes(&self) -> Option<Bytes> {
        match self.sizes {
            Sizes::Same(bytes) if self.contents.is_none() => Some(*bytes),
            Sizes::Same(_) | Sizes::Each(_) | Sizes::Unknown => None,
        }
    }

    /// Counts bytes that were received without being put in. [B]
    pub(crate) fn count_received(&mut self, Bytes(received): Bytes) {
        self.received.0 += received;
    }

    /// The size of a block. [B]
    pub fn size_of(&self, block: u64) -> Bytes {
        self.sizes.of(block)
    }

    /// The message that consists of these blocks, of which the rank has each.
    ///
    /// # Errors
    /// A block that the rank does not have: a mistake of the algorithm.
    pub fn take(&self, blocks: impl IntoIterator<Item = impl Into<u64>>) -> Result<Message> {
        let blocks = blocks.into_iter().map(Into::into);
        let Some(contents) = &self.contents else { return Ok(Message::of_size(self.size_of_all(blocks))) };
        let found = blocks.map(|block| contents.get(&block).cloned().ok_or_else(|| missing(block)));
        Ok(joined(&found.collect::<Result<Vec<Message>>>()?))
    }

    /// A block, which the rank then has no longer.
    ///
    /// # Errors
    /// It does not have it.
    pub(crate) fn hand_over_one(&mut self, block: u64) -> Result<Message> {
        match &mut self.contents {
            Some(contents) => contents.remove(&block).ok_or_else(|| missing(block)),
            None => Ok(Message::of_size(self.sizes.of(block))),
        }
    }

    /// As [`Blocks::take`]; then the rank has them no longer.
    ///
    /// # Errors
    /// A block that the rank does not have.
    pub(crate) fn hand_over(&mut self, blocks: impl IntoIterator<Item = u64, IntoIter: Clone>) -> Result<Message> {
        let blocks = blocks.into_iter();
        let message = self.take(blocks.clone())?;
        if let Some(contents) = &mut self.contents {
            blocks.for_each(|block| drop(contents.remove(&block)));
        }
        Ok(message)
    }

    /// The blocks of `message`, which consists of these.
    ///
    /// # Errors
    /// A message of another size.
    pub fn put(
        &mut self,
        blocks: impl IntoIterator<Item = impl Into<u64>, IntoIter: Clone>,
        message: &Message,
    ) -> Result<()> {
        self.each(blocks, message, |contents, block, part| {
            contents.insert(block, part);
            Ok(())
        })
    }

    /// Combines the blocks of `message`, which consists of these, with those that the rank has: `received` first, or
    /// second.
    ///
    /// # Errors
    /// A message of another size.
    pub fn combine<C: Combine>(
        &mut self,
        blocks: impl IntoIterator<Item = impl Into<u64>, IntoIter: Clone>,
        operator: &C,
        message: &Message,
        place: OperandOrder,
    ) -> Result<()> {
        self.each(blocks, message, |contents, block, part| {
            let own = contents.get(&block).cloned().unwrap_or_default();
            let both = match place {
                OperandOrder::Before => combined(operator, &part, &own)?,
                OperandOrder::After => combined(operator, &own, &part)?,
            };
            contents.insert(block, both);
            Ok(())
        })
    }

    /// The size of these blocks together: at once, where they are of one size and so many. [B]
    fn size_of_all(&self, blocks: impl Iterator<Item = u64>) -> Bytes {
        match (self.sizes, blocks.size_hint()) {
            (Sizes::Same(bytes), (least, Some(most))) if least == most => Bytes(bytes.0.saturating_mul(most as u64)),
            _ => Bytes(blocks.map(|block| self.sizes.of(block).0).sum()),
        }
    }

    /// Does something with each block of a message, as long as there are contents.
    fn each(
        &mut self,
        blocks: impl IntoIterator<Item = impl Into<u64>, IntoIter: Clone>,
        message: &Message,
        mut take: impl FnMut(&mut BTreeMap<u64, Message>, u64, Message) -> Result<()>,
    ) -> Result<()> {
        let Bytes(size) = message.size();
        self.received.0 += size;
        let blocks = blocks.into_iter().map(Into::into);
        if self.contents.is_none() {
            let Bytes(expected) = self.size_of_all(blocks);
            let fits = expected == size || *self.sizes == Sizes::Unknown;
            return if fits { Ok(()) } else { Err(mismatch(message.size(), Bytes(expected))) };
        }
        let is_whole = message.whole_content().is_some();
        let unknown = *self.sizes == Sizes::Unknown;
        // Blocks of unknown sizes that come in one message are alike.
        let each = if unknown { size / (blocks.clone().count().max(1) as u64) } else { 0 };
        let mut begin = 0;
        for block in blocks {
            let end = begin + if unknown { each } else { self.sizes.of(block).0 };
            if end > size {
                return Err(mismatch(message.size(), Bytes(end)));
            }
            match &mut self.contents {
                Some(contents) if begin == end || is_whole || unknown => {
                    let part = match is_whole {
                        _ if begin == end => Message::from(Vec::new()),
                        true => piece(message, begin..end),
                        false => Message::of_size(Bytes(end - begin)),
                    };
                    take(contents, block, part)?;
                }
                _ => self.contents = None,
            }
            begin = end;
        }
        if begin == size { Ok(()) } else { Err(mismatch(message.size(), Bytes(begin))) }
    }
}

/// Whether a received block comes before one's own in a combination, or after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OperandOrder {
    /// It is of ranks before.
    Before,
    /// It is of ranks after.
    After,
}

fn missing(block: u64) -> Error {
    Error::Unfit(format!("block {block} is to be sent by a rank that does not have it"))
}

/// The error that a message has another size than its blocks.
pub(crate) fn mismatch(Bytes(found): Bytes, Bytes(expected): Bytes) -> Error {
    Error::Mismatch(format!(
        "blocks of {found} B, where {expected} B are expected; allowed is the same size at every rank"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::all_reduce::Operator;

    #[test]
    fn messages_are_taken_apart_and_joined_in_the_order_named() {
        let sizes = Sizes::Each([2, 0, 1, 3].map(Bytes).to_vec());
        let mut blocks = Blocks::new(&sizes);
        blocks.put([3_u32, 1, 0], &Message::from(b"abcde".to_vec())).unwrap();
        assert_eq!(blocks.take([0_u32, 3]).unwrap(), Message::from(b"deabc".to_vec()));
        assert_eq!(blocks.take([1_u32]).unwrap(), Message::from(Vec::new()));
        assert!(blocks.take([2_u32]).is_err());
        blocks.combine([WHOLE], &Operator::Xor, &Message::from(vec![1, 1]), OperandOrder::Before).unwrap();
        assert_eq!(blocks.take([WHOLE]).unwrap(), Message::from(vec![b'd' ^ 1, b'e' ^ 1]));
        for wrong in [1, 4] {
            assert!(
                matches!(blocks.put([0_u32, 2], &Message::of_size(Bytes(wrong))), Err(Error::Mismatch(_))),
                "{wrong}"
            );
        }
    }

    #[test]
    fn where_one_block_is_a_size_all_are() {
        let sizes = Sizes::Same(Bytes(4));
        let mut blocks = Blocks::new(&sizes);
        blocks.put([WHOLE], &Message::from(vec![0; 4])).unwrap();
        blocks.put(1..1000_u32, &Message::of_size(Bytes(999 * 4))).unwrap();
        assert_eq!(blocks.take(0..1000_u32).unwrap(), Message::of_size(Bytes(4000)));
    }
}
