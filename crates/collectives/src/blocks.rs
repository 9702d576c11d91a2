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
    pub fn of(&self, block: u32) -> Bytes {
        match self {
            Sizes::Same(bytes) => *bytes,
            Sizes::Each(bytes) => bytes.get(block as usize).copied().unwrap_or_default(),
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

/// The blocks that a rank has. Algorithms take blocks out to send them and put in those that they receive; a message of
/// several blocks has them in the order in which they are named.
///
/// If any block is only a size, no contents are kept, so that a simulation of P ranks with P blocks each does not need
/// memory proportional to P squared.
#[derive(Clone, Debug)]
pub struct Blocks<'a> {
    sizes: &'a Sizes,
    contents: Option<BTreeMap<u32, Message>>,
}

impl<'a> Blocks<'a> {
    /// None yet.
    pub fn new(sizes: &'a Sizes) -> Blocks<'a> {
        Blocks { sizes, contents: Some(BTreeMap::new()) }
    }

    /// All of them, of which only the sizes are known.
    pub fn without_contents(sizes: &'a Sizes) -> Blocks<'a> {
        Blocks { sizes, contents: None }
    }

    /// The size of a block. [B]
    pub fn size_of(&self, block: u32) -> Bytes {
        self.sizes.of(block)
    }

    /// The message that consists of these blocks, of which the rank has each.
    ///
    /// # Errors
    /// A block that the rank does not have: a mistake of the algorithm.
    pub fn take(&self, blocks: impl IntoIterator<Item = u32>) -> Result<Message> {
        let Some(contents) = &self.contents else {
            let bytes = blocks.into_iter().map(|block| self.sizes.of(block).0).sum();
            return Ok(Message::of_size(Bytes(bytes)));
        };
        let missing = |block| Error::Unfit(format!("block {block} is to be sent by a rank that does not have it"));
        let found = blocks.into_iter().map(|block| contents.get(&block).cloned().ok_or_else(|| missing(block)));
        Ok(joined(&found.collect::<Result<Vec<Message>>>()?))
    }

    /// The blocks of `message`, which consists of these.
    ///
    /// # Errors
    /// A message of another size.
    pub fn put(&mut self, blocks: impl IntoIterator<Item = u32, IntoIter: Clone>, message: &Message) -> Result<()> {
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
        blocks: impl IntoIterator<Item = u32, IntoIter: Clone>,
        operator: &C,
        message: &Message,
        place: Place,
    ) -> Result<()> {
        self.each(blocks, message, |contents, block, part| {
            let own = contents.get(&block).cloned().unwrap_or_default();
            let both = match place {
                Place::Before => combined(operator, &part, &own)?,
                Place::After => combined(operator, &own, &part)?,
            };
            contents.insert(block, both);
            Ok(())
        })
    }

    /// Does something with each block of a message, as long as there are contents.
    fn each(
        &mut self,
        blocks: impl IntoIterator<Item = u32, IntoIter: Clone>,
        message: &Message,
        mut take: impl FnMut(&mut BTreeMap<u32, Message>, u32, Message) -> Result<()>,
    ) -> Result<()> {
        let Bytes(size) = message.size();
        let is_whole = message.whole_content().is_some();
        let (blocks, unknown) = (blocks.into_iter(), *self.sizes == Sizes::Unknown);
        // Blocks of unknown sizes that come in one message are alike.
        let each = if unknown { size / (blocks.clone().count().max(1) as u64) } else { 0 };
        let mut begin = 0;
        for block in blocks {
            let end = begin + if unknown { each } else { self.sizes.of(block).0 };
            if end > size {
                return Err(mismatch(message, end));
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
        if begin == size { Ok(()) } else { Err(mismatch(message, begin)) }
    }
}

/// Whether a received block comes before one's own in a combination, or after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// It is of ranks before.
    Before,
    /// It is of ranks after.
    After,
}

fn mismatch(message: &Message, expected: u64) -> Error {
    let found = message.size().0;
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
        blocks.put([3, 1, 0], &Message::from(b"abcde".to_vec())).unwrap();
        assert_eq!(blocks.take([0, 3]).unwrap(), Message::from(b"deabc".to_vec()));
        assert_eq!(blocks.take([1]).unwrap(), Message::from(Vec::new()));
        assert!(blocks.take([2]).is_err());
        blocks.combine([0], &Operator::Xor, &Message::from(vec![1, 1]), Place::Before).unwrap();
        assert_eq!(blocks.take([0]).unwrap(), Message::from(vec![b'd' ^ 1, b'e' ^ 1]));
        for wrong in [1, 4] {
            assert!(matches!(blocks.put([0, 2], &Message::of_size(Bytes(wrong))), Err(Error::Mismatch(_))), "{wrong}");
        }
    }

    #[test]
    fn where_one_block_is_a_size_all_are() {
        let sizes = Sizes::Same(Bytes(4));
        let mut blocks = Blocks::new(&sizes);
        blocks.put([0], &Message::from(vec![0; 4])).unwrap();
        blocks.put(1..1000, &Message::of_size(Bytes(999 * 4))).unwrap();
        assert_eq!(blocks.take(0..1000).unwrap(), Message::of_size(Bytes(4000)));
    }
}
