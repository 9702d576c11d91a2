//! One parity of a group, stripe by stripe.
//!
//! ```text
//!                 column 0      column 1      column 2      column 3      parity
//!   stripe 0      log.3         snapshot.2    log.1         log.7         p(0)
//!   stripe 1      log.3         log.2         -             log.7         p(1)
//!   stripe 2      snapshot.3    -             -             log.8         p(2)
//! ```
//!
//! Where nothing lies there are zeros. A column's own member knows nothing of stripes: it tells how its files change, and whoever keeps the parity
//! says where they lie.

use std::collections::BTreeMap;

use super::code::{COLUMNS, Code};
use super::column::{BLOCK, Change, Column, Piece};

/// Why a parity can't follow a change. It is worth nothing any more, and has to be made anew.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("what a stripe held was not what was taken out of it")]
pub struct Corrupt;

/// One parity of all stripes of a group.
#[derive(Debug)]
pub struct Stripes {
    code: Code,
    /// Which of the k parities it is.
    number: usize,
    columns: [Column; COLUMNS],
    /// The parity of each stripe in which something lies.
    parity: BTreeMap<u32, Box<[u8]>>,
}

/// A stripe at some moment, of which one column is lost.
#[derive(Clone, Debug)]
pub struct Stripe {
    parity: Vec<u8>,
    /// Which column is lost.
    lost: usize,
    /// What was lost in it.
    pub piece: Piece,
    /// What else lies in it, by column.
    pub others: Vec<(usize, Piece)>,
}

impl Stripes {
    /// Of a group whose columns have nothing; parity `number` of k.
    pub fn new(k: usize, number: usize) -> Stripes {
        Stripes { code: Code::new(k), number, columns: Default::default(), parity: BTreeMap::new() }
    }

    /// A column.
    pub const fn column(&self, column: usize) -> &Column {
        &self.columns[column]
    }

    /// What the parity takes. [B]
    pub fn size(&self) -> u64 {
        (self.parity.len() * BLOCK) as u64
    }

    /// Follows a change of a column. Whether it goes with what the column has; if not, nothing is changed.
    ///
    /// # Errors
    /// [`Corrupt`]
    pub fn follow(&mut self, column: usize, change: &Change) -> Result<bool, Corrupt> {
        if !self.columns[column].allows(change) {
            return Ok(false);
        }
        for (stripe, at, range) in self.columns[column].follow(change) {
            let (first, term) = self.code.term(self.number, column, at, &change.bytes[range]).ok_or(Corrupt)?;
            let block = self.parity.entry(stripe).or_insert_with(|| vec![0; BLOCK].into());
            block[first..].iter_mut().zip(&term).for_each(|(byte, term)| *byte ^= term);
            if self.columns.iter().all(|column| column.piece(stripe).is_none()) {
                let over = self.parity.remove(&stripe).unwrap_or_default();
                if over.iter().any(|byte| *byte != 0) {
                    return Err(Corrupt);
                }
            }
        }
        Ok(true)
    }

    /// A stripe as it is now, if a lost column has something there.
    pub fn stripe(&self, stripe: u32, lost: usize) -> Option<Stripe> {
        let piece = self.columns[lost].piece(stripe)?;
        let others = (0..COLUMNS).filter(|column| *column != lost);
        let others = others.filter_map(|column| Some((column, self.columns[column].piece(stripe)?))).collect();
        Some(Stripe { parity: self.parity.get(&stripe)?.to_vec(), lost, piece, others })
    }

    /// What was lost of a stripe, out of what the others have there, in the order of [`Stripe::others`].
    pub fn decode(&mut self, stripe: &Stripe, others: &[Vec<u8>]) -> Option<Vec<u8>> {
        let mut blocks: [Vec<u8>; COLUMNS] = std::array::from_fn(|_| vec![0; BLOCK]);
        for ((column, piece), bytes) in stripe.others.iter().zip(others) {
            if bytes.len() != piece.length {
                return None;
            }
            blocks[*column][..bytes.len()].copy_from_slice(bytes);
        }
        let columns = std::array::from_fn(|column| (column != stripe.lost).then_some(&*blocks[column]));
        let decoded = self.code.decode(&columns, &[(self.number, &stripe.parity)])?;
        let (_, mut block) = decoded.into_iter().next()?;
        block.truncate(stripe.piece.length);
        Some(block)
    }
}
