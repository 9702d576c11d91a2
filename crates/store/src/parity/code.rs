//! The Reed-Solomon code over the blocks of a stripe, m columns and k parities.
//!
//! ```text
//!   p_j = t_j(0, a_0) + ... + t_j(m-1, a_(m-1))     parity j; a_i is the block of column i, + is exclusive or
//!   t_j(i, a + d) = t_j(i, a) + t_j(i, d)           a parity follows a change d of a column by its term alone
//! ```
//!
//! Any m of the m + k blocks determine all others. With one parity the code is plain exclusive or: t(i, a) = a, and a
//! lost block is the sum of all others. With more, it is computed in groups of 64 bytes, each by itself, and so is the
//! term of a part of a block that starts and ends on a group.

use reed_solomon_simd::{ReedSolomonDecoder, ReedSolomonEncoder};

/// Columns of a group, m of the paper.
pub const COLUMNS: usize = 4;
/// The bytes that the code processes as a group. [B]
const GROUP: usize = 64;

/// The code of groups that survive the loss of k columns. It reuses its buffers from one call to the next.
pub struct Code {
    k: usize,
    encoder: Option<ReedSolomonEncoder>,
    decoder: Option<ReedSolomonDecoder>,
    /// An empty column.
    zeros: Vec<u8>,
}

impl std::fmt::Debug for Code {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "Code({COLUMNS} + {})", self.k)
    }
}

impl Code {
    /// The code with k parities.
    pub const fn new(k: usize) -> Code {
        Code { k, encoder: None, decoder: None, zeros: Vec::new() }
    }

    /// The term t_j(i, d) of bytes d that begin at `at` in a block of column i, and where the term begins. None, if
    /// there is no parity j.
    pub fn term(&mut self, parity: usize, column: usize, at: usize, bytes: &[u8]) -> Option<(usize, Vec<u8>)> {
        if self.k == 1 {
            return (parity == 0).then(|| (at, bytes.to_vec()));
        }
        let first = at / GROUP * GROUP;
        let length = (at + bytes.len()).next_multiple_of(GROUP) - first;
        let mut padded = vec![0; length];
        padded[at - first..at - first + bytes.len()].copy_from_slice(bytes);
        self.zeros.resize(self.zeros.len().max(length), 0);
        let mut encoder = match self.encoder.take() {
            Some(mut encoder) => encoder.reset(COLUMNS, self.k, length).ok().map(|()| encoder),
            None => ReedSolomonEncoder::new(COLUMNS, self.k, length).ok(),
        }?;
        for other in 0..COLUMNS {
            let shard = if other == column { &padded } else { &self.zeros[..length] };
            encoder.add_original_shard(shard).ok()?;
        }
        let term = encoder.encode().ok()?.recovery(parity)?.to_vec();
        self.encoder = Some(encoder);
        Some((first, term))
    }

    /// The block of a parity, from those of all columns, all of the same length. None, if there is no such parity, or
    /// only one.
    pub fn encode(&mut self, parity: usize, columns: &[Vec<u8>; COLUMNS]) -> Option<Vec<u8>> {
        let length = columns[0].len();
        if self.k == 1 {
            return None;
        }
        let mut encoder = match self.encoder.take() {
            Some(mut encoder) => encoder.reset(COLUMNS, self.k, length).ok().map(|()| encoder),
            None => ReedSolomonEncoder::new(COLUMNS, self.k, length).ok(),
        }?;
        columns.iter().try_for_each(|block| encoder.add_original_shard(block)).ok()?;
        let block = encoder.encode().ok()?.recovery(parity)?.to_vec();
        self.encoder = Some(encoder);
        Some(block)
    }

    /// The blocks of the columns that are `None` in the argument, from the others and some parities with their numbers,
    /// all of the same length. None, if these are too few.
    pub fn decode(
        &mut self,
        columns: &[Option<&[u8]>; COLUMNS],
        parities: &[(usize, &[u8])],
    ) -> Option<Vec<(usize, Vec<u8>)>> {
        let length = parities.first()?.1.len();
        if self.k == 1 {
            return sum_of_others(columns, parities.first()?.1);
        }
        let mut decoder = match self.decoder.take() {
            Some(mut decoder) => decoder.reset(COLUMNS, self.k, length).ok().map(|()| decoder),
            None => ReedSolomonDecoder::new(COLUMNS, self.k, length).ok(),
        }?;
        for (column, block) in columns.iter().enumerate() {
            if let Some(block) = block {
                decoder.add_original_shard(column, block).ok()?;
            }
        }
        for (parity, block) in parities {
            decoder.add_recovery_shard(*parity, block).ok()?;
        }
        let restored = decoder.decode().ok()?;
        let lost = columns.iter().enumerate().filter(|(_, block)| block.is_none());
        let blocks = lost.map(|(column, _)| Some((column, restored.restored_original(column)?.to_vec()))).collect();
        drop(restored);
        self.decoder = Some(decoder);
        blocks
    }
}

/// The lost column of a stripe with one parity, if exactly one is lost.
fn sum_of_others(columns: &[Option<&[u8]>; COLUMNS], parity: &[u8]) -> Option<Vec<(usize, Vec<u8>)>> {
    let mut lost = columns.iter().enumerate().filter(|(_, block)| block.is_none()).map(|(column, _)| column);
    let (Some(column), None) = (lost.next(), lost.next()) else { return None };
    let mut sum = parity.to_vec();
    for block in columns.iter().flatten() {
        sum.iter_mut().zip(*block).for_each(|(sum, byte)| *sum ^= byte);
    }
    Some(vec![(column, sum)])
}
