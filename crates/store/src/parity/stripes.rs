//! One parity of a group, stripe by stripe.
//!
//! ```text
//!                 column 0      column 1      column 2      column 3      parity
//!   stripe 0      log.3         snapshot.2    log.1         log.7         p(0)
//!   stripe 1      log.3         log.2         -             log.7         p(1)
//!   stripe 2      snapshot.3    -             -             log.8         p(2)
//! ```
//!
//! Empty places count as zeros. A column's own member knows nothing of stripes: it reports how its files change, and
//! its parity member decides where they lie. A group's two parities agree on that, as both have seen the same changes,
//! or one was given the other's layout.
//!
//! A parity that was given a layout is made while the columns go on changing. For each stripe it gets two messages:
//! that the stripe begins, from when on it follows changes, and the stripe's parity as of that moment. The sum of both
//! is its block, in whichever order they arrive.

use std::collections::{BTreeMap, BTreeSet};

use super::code::{COLUMNS, Code};
use super::column::{BLOCK, Change, Column, ColumnLayout, Piece};

/// The error of a parity that can't follow a change. It is worthless then, and has to be made anew.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the content removed from a stripe differs from what it held")]
pub struct Corrupt;

/// One parity of all stripes of a group.
#[derive(Debug)]
pub struct Stripes {
    code: Code,
    /// How many parities the group has.
    k: usize,
    /// The number of this one.
    number: usize,
    columns: [Column; COLUMNS],
    /// The parity of each occupied stripe.
    parity: BTreeMap<u32, Box<[u8]>>,
    /// Until the parity is made: by stripe, the request whose answer brings its parity as of its beginning.
    unmade: Option<BTreeMap<u32, u64>>,
}

/// A stripe at one moment.
#[derive(Clone, Debug)]
pub struct Stripe {
    /// Its block of this parity.
    parity: Vec<u8>,
    /// Its pieces by column, without columns that are lost or absent.
    pub others: Vec<(usize, Piece)>,
    /// Its piece of the column to be rebuilt.
    pub lost: Option<(usize, Piece)>,
    /// Another column that is absent, if it has a piece in this stripe.
    pub absent: Option<usize>,
}

fn add(block: &mut [u8], bytes: &[u8]) {
    block.iter_mut().zip(bytes).for_each(|(byte, other)| *byte ^= other);
}

impl Stripes {
    /// Parity `number` of k, of a group whose columns are empty.
    pub fn new(k: usize, number: usize) -> Stripes {
        Stripes { code: Code::new(k), k, number, columns: Default::default(), parity: BTreeMap::new(), unmade: None }
    }

    /// A parity of a group whose columns are already laid out: the parity of their content has yet to come.
    pub fn unmade(k: usize, number: usize, columns: [ColumnLayout; COLUMNS]) -> Stripes {
        Stripes { columns: columns.map(Column::of), unmade: Some(BTreeMap::new()), ..Stripes::new(k, number) }
    }

    /// A column.
    pub const fn column(&self, column: usize) -> &Column {
        &self.columns[column]
    }

    /// Its number among the k parities.
    pub const fn number(&self) -> usize {
        self.number
    }

    /// Where the blocks of all columns lie.
    pub fn layouts(&self) -> [ColumnLayout; COLUMNS] {
        self.columns.each_ref().map(Column::layout)
    }

    /// The occupied stripes.
    pub fn occupied(&self) -> BTreeSet<u32> {
        self.columns.iter().flat_map(Column::stripes).collect()
    }

    /// The size of the parity. [B]
    pub fn size(&self) -> u64 {
        (self.parity.len() * BLOCK) as u64
    }

    /// Follows a change of a column. Returns whether it fits the column's state; if not, nothing is changed.
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
            self.let_go_of(stripe)?;
        }
        Ok(true)
    }

    /// A stripe that has become empty has no parity: what a column takes next is all that it holds, also while the
    /// parity is being made.
    fn let_go_of(&mut self, stripe: u32) -> Result<(), Corrupt> {
        if self.columns.iter().any(|column| column.piece(stripe).is_some()) {
            return Ok(());
        }
        let over = self.parity.remove(&stripe).unwrap_or_default();
        if let Some(unmade) = &mut self.unmade {
            // It may have been emptied of what it held before it began, or before the answer came. That answer counts
            // no more.
            unmade.remove(&stripe);
            return Ok(());
        }
        if over.iter().any(|byte| *byte != 0) { Err(Corrupt) } else { Ok(()) }
    }

    /// A stripe follows changes from now on. Its parity as of now comes in the answer to this request.
    pub fn begin_stripe(&mut self, stripe: u32, request: u64) {
        if let Some(unmade) = &mut self.unmade {
            unmade.insert(stripe, request);
            self.parity.remove(&stripe);
        }
    }

    /// Takes a stripe's parity as of its beginning.
    pub fn make(&mut self, stripe: u32, request: u64, bytes: &[u8]) {
        let Some(unmade) = &mut self.unmade else { return };
        if bytes.len() == BLOCK && unmade.get(&stripe) == Some(&request) {
            unmade.remove(&stripe);
            add(self.parity.entry(stripe).or_insert_with(|| vec![0; BLOCK].into()), bytes);
        }
    }

    /// Every stripe has been made.
    ///
    /// # Errors
    /// [`Corrupt`]
    pub fn end_making(&mut self) -> Result<(), Corrupt> {
        self.unmade = None;
        let stripes: Vec<u32> = self.parity.keys().copied().collect();
        stripes.into_iter().try_for_each(|stripe| self.let_go_of(stripe))
    }

    /// Whether the parity is complete.
    pub const fn is_made(&self) -> bool {
        self.unmade.is_none()
    }

    /// The parity of a stripe.
    pub fn block(&self, stripe: u32) -> Option<&[u8]> {
        self.parity.get(&stripe).map(|block| &**block)
    }

    /// A stripe as it is now, if a lost column has a piece in it; another column may be absent too.
    pub fn stripe(&self, stripe: u32, lost: usize, absent: Option<usize>) -> Option<Stripe> {
        let piece = self.columns[lost].piece(stripe)?;
        let absent = absent.filter(|column| self.columns[*column].piece(stripe).is_some());
        let others = self.pieces(stripe).filter(|(column, _)| *column != lost && Some(*column) != absent).collect();
        Some(Stripe { parity: self.block(stripe)?.to_vec(), others, lost: Some((lost, piece)), absent })
    }

    /// A stripe as it is now, to make another parity of it.
    pub fn whole_stripe(&self, stripe: u32) -> Stripe {
        Stripe { parity: Vec::new(), others: self.pieces(stripe).collect(), lost: None, absent: None }
    }

    fn pieces(&self, stripe: u32) -> impl Iterator<Item = (usize, Piece)> {
        (0..COLUMNS).filter_map(move |column| Some((column, self.columns[column].piece(stripe)?)))
    }

    /// The lost piece of a stripe, or its block of the other parity. It is computed from the other columns' blocks, in
    /// the order of [`Stripe::others`], and from the other parity's block, which is needed if two columns are missing.
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
