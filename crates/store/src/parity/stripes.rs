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
//! says where they lie. Where a group has two parities, they say the same, as both have seen the same changes, or the one was told the other's layout.
//!
//! A parity that was told a layout is made while columns go on to change: of each stripe it is told once when it begins, from when on it
//! follows changes, and once what lay there at that moment. The sum of both is its block, whichever comes first.

use std::collections::{BTreeMap, BTreeSet};

use super::code::{COLUMNS, Code};
use super::column::{BLOCK, Change, Column, Layout, Piece};

/// Why a parity can't follow a change. It is worth nothing any more, and has to be made anew.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the content removed from a stripe differs from what it held")]
pub struct Corrupt;

/// One parity of all stripes of a group.
#[derive(Debug)]
pub struct Stripes {
    code: Code,
    /// How many parities the group has.
    k: usize,
    /// Which of these it is.
    number: usize,
    columns: [Column; COLUMNS],
    /// The parity of each stripe in which something lies; and until all is made, of those in which something has lain.
    parity: BTreeMap<u32, Box<[u8]>>,
    /// Until all is made: as whose answer what lay there is taken, by stripe.
    unmade: Option<BTreeMap<u32, u64>>,
}

/// A stripe at some moment.
#[derive(Clone, Debug)]
pub struct Stripe {
    /// The parity that was asked.
    parity: Vec<u8>,
    /// What lies in it, by column, but for those that are lost.
    pub others: Vec<(usize, Piece)>,
    /// What of the column to be rebuilt lies in it.
    pub lost: Option<(usize, Piece)>,
    /// Another column that is not there, if something of it lies in it.
    pub absent: Option<usize>,
}

fn add(block: &mut [u8], bytes: &[u8]) {
    block.iter_mut().zip(bytes).for_each(|(byte, other)| *byte ^= other);
}

impl Stripes {
    /// Of a group whose columns have nothing; parity `number` of k.
    pub fn new(k: usize, number: usize) -> Stripes {
        Stripes { code: Code::new(k), k, number, columns: Default::default(), parity: BTreeMap::new(), unmade: None }
    }

    /// Of a group whose columns have something already: what lies there has yet to be told.
    pub fn unmade(k: usize, number: usize, columns: [Layout; COLUMNS]) -> Stripes {
        Stripes { columns: columns.map(Column::of), unmade: Some(BTreeMap::new()), ..Stripes::new(k, number) }
    }

    /// A column.
    pub const fn column(&self, column: usize) -> &Column {
        &self.columns[column]
    }

    /// Which of the k parities it is.
    pub const fn number(&self) -> usize {
        self.number
    }

    /// Where the blocks of all columns lie.
    pub fn layouts(&self) -> [Layout; COLUMNS] {
        self.columns.each_ref().map(Column::layout)
    }

    /// The stripes in which something lies.
    pub fn occupied(&self) -> BTreeSet<u32> {
        self.columns.iter().flat_map(Column::stripes).collect()
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
            add(&mut block[first..], &term);
            if self.unmade.is_none() {
                self.let_go_of(stripe)?;
            }
        }
        Ok(true)
    }

    /// A stripe in which nothing lies any more has no parity.
    fn let_go_of(&mut self, stripe: u32) -> Result<(), Corrupt> {
        if self.columns.iter().any(|column| column.piece(stripe).is_some()) {
            return Ok(());
        }
        let over = self.parity.remove(&stripe).unwrap_or_default();
        if over.iter().any(|byte| *byte != 0) { Err(Corrupt) } else { Ok(()) }
    }

    /// From now on a stripe follows changes. What lies in it now comes as an answer with this number.
    pub fn begin_stripe(&mut self, stripe: u32, request: u64) {
        if let Some(unmade) = &mut self.unmade {
            unmade.insert(stripe, request);
            self.parity.remove(&stripe);
        }
    }

    /// What lay in a stripe when it began.
    pub fn make(&mut self, stripe: u32, request: u64, bytes: &[u8]) {
        let Some(unmade) = &mut self.unmade else { return };
        if bytes.len() == BLOCK && unmade.get(&stripe) == Some(&request) {
            unmade.remove(&stripe);
            add(self.parity.entry(stripe).or_insert_with(|| vec![0; BLOCK].into()), bytes);
        }
    }

    /// All is made.
    ///
    /// # Errors
    /// [`Corrupt`]
    pub fn end_making(&mut self) -> Result<(), Corrupt> {
        self.unmade = None;
        let stripes: Vec<u32> = self.parity.keys().copied().collect();
        stripes.into_iter().try_for_each(|stripe| self.let_go_of(stripe))
    }

    /// Whether it is all that a parity is.
    pub const fn is_made(&self) -> bool {
        self.unmade.is_none()
    }

    /// The parity of a stripe.
    pub fn block(&self, stripe: u32) -> Option<&[u8]> {
        self.parity.get(&stripe).map(|block| &**block)
    }

    /// A stripe as it is now, if a lost column has something there; another column may not be there either.
    pub fn stripe(&self, stripe: u32, lost: usize, absent: Option<usize>) -> Option<Stripe> {
        let piece = self.columns[lost].piece(stripe)?;
        let absent = absent.filter(|column| self.columns[*column].piece(stripe).is_some());
        let others = self.pieces(stripe).filter(|(column, _)| *column != lost && Some(*column) != absent).collect();
        Some(Stripe { parity: self.block(stripe)?.to_vec(), others, lost: Some((lost, piece)), absent })
    }

    /// A stripe as it is now, of which another parity is to be made.
    pub fn whole_stripe(&self, stripe: u32) -> Stripe {
        Stripe { parity: Vec::new(), others: self.pieces(stripe).collect(), lost: None, absent: None }
    }

    fn pieces(&self, stripe: u32) -> impl Iterator<Item = (usize, Piece)> {
        (0..COLUMNS).filter_map(move |column| Some((column, self.columns[column].piece(stripe)?)))
    }

    /// What was lost of a stripe, or its other parity; out of what the others have there, in the order of [`Stripe::others`], and of that other
    /// parity's block, which is needed where two columns are not there.
    pub fn decode(&mut self, stripe: &Stripe, others: &[Vec<u8>], parity: Option<&[u8]>) -> Option<Vec<u8>> {
        let mut blocks: [Vec<u8>; COLUMNS] = std::array::from_fn(|_| vec![0; BLOCK]);
        for ((column, piece), bytes) in stripe.others.iter().zip(others) {
            if bytes.len() != piece.length {
                return None;
            }
            blocks[*column][..bytes.len()].copy_from_slice(bytes);
        }
        let other = self.k - 1 - self.number;
        let Some((lost, piece)) = stripe.lost else { return self.code.encode(other, &blocks) };
        let is_there = |column: usize| column != lost && Some(column) != stripe.absent;
        let columns = std::array::from_fn(|column| is_there(column).then_some(&*blocks[column]));
        let own = [(self.number, &*stripe.parity)];
        let parities: Vec<(usize, &[u8])> = own.into_iter().chain(parity.map(|parity| (other, parity))).collect();
        let decoded = self.code.decode(&columns, &parities)?;
        let (_, mut block) = decoded.into_iter().find(|(column, _)| *column == lost)?;
        block.truncate(piece.length);
        Some(block)
    }
}
