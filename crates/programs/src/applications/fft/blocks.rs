//! Rows and columns of a distributed array, and the blocks that ranks exchange.

use std::ops::Range;

use endpoint::{Error, Message, Result};
use quantities::{Bytes, Rank};
use rustfft::num_complex::Complex32;

use crate::applications::values::{packed, unpacked};

/// The size of a complex number: two in single precision. [B]
const NUMBER: u64 = 8;

/// A square array whose rows are distributed over ranks.
#[derive(Clone, Copy, Debug)]
pub(super) struct ArrayLayout {
    pub(super) size: u32,
    pub(super) ranks: u32,
}

impl ArrayLayout {
    /// The rows of a rank; after the exchange, its columns.
    pub(super) fn rows(&self, Rank(rank): Rank) -> Range<u32> {
        let first = |rank: u64| (u64::from(self.size) * rank / u64::from(self.ranks)) as u32;
        first(u64::from(rank))..first(u64::from(rank) + 1)
    }

    /// The size of a message: the largest block that two ranks exchange. All messages have this size, since some
    /// algorithms forward them. If N is a multiple of P, 8 (N / P)^2. [B]
    pub(super) fn block(&self) -> Bytes {
        let most = u64::from(self.size.div_ceil(self.ranks.max(1)));
        Bytes(NUMBER * most * most)
    }

    /// The block of `rows` (those of rank `me`) in the columns of rank `to`, padded with zeros to the size of a
    /// message.
    pub(super) fn message(&self, me: Rank, rows: &[Complex32], to: Rank) -> Message {
        let (height, columns) = (self.rows(me).len(), self.rows(to));
        let row = |number: usize| &rows[number * self.size as usize..][columns.start as usize..columns.end as usize];
        let numbers = (0..height).flat_map(row).map(|number| [number.re, number.im]);
        let nothing = (self.block().0 / NUMBER) as usize - height * columns.len();
        packed(numbers.chain(std::iter::repeat_n([0.0f32; 2], nothing)))
    }

    /// Stores the block that rank `from` sent in its place in the `columns` of rank `me`, one column after the other.
    ///
    /// # Errors
    /// [`Error::Unfit`] when the message does not have the right size.
    pub(super) fn take(&self, me: Rank, columns: &mut [Complex32], from: Rank, message: &Message) -> Result<()> {
        let due = self.block();
        let numbers = unpacked::<[f32; 2]>(message).filter(|_| message.size() == due);
        let Some(numbers) = numbers else {
            let found = message.size();
            return Err(Error::Unfit(format!("rank {from} sent {found} of its rows; {due} were due")));
        };
        let (rows, width) = (self.rows(from), self.rows(me).len());
        for (line, row) in rows.enumerate() {
            for (column, &[re, im]) in numbers[line * width..(line + 1) * width].iter().enumerate() {
                columns[column * self.size as usize + row as usize] = Complex32::new(re, im);
            }
        }
        Ok(())
    }

    /// Moves the block that a rank sends to itself.
    pub(super) fn keep(&self, me: Rank, rows: &[Complex32], columns: &mut [Complex32]) {
        let (size, own) = (self.size as usize, self.rows(me));
        for (line, row) in own.clone().enumerate() {
            for (column, place) in own.clone().enumerate() {
                columns[column * size + row as usize] = rows[line * size + place as usize];
            }
        }
    }
}
