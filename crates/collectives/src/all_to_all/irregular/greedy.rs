//! Every rank takes the first free partner.

use quantities::Rank;

use crate::schedule::{Pattern, Schedule, Transfer};

/// Greedy scheduling: in each step each rank in turn, if it is still free, takes the lowest-numbered free rank that it
/// has a message for; if that rank also has a message for it, they exchange.
///
/// ```text
///   while there are messages to send:
///       for i = 0 to P - 1:
///           if i is free: j = the first free rank that i has to send to
///               i sends to j; if j also has to send to i: they exchange
///               i and j are free no more in this step
/// ```
///
/// For a complete exchange among a power of two of ranks, the result is the steps of pairwise exchange. It needs at
/// most 2 D - 1 steps, where the busiest rank has D partners; a rank that only sends does not receive from a third one.
///
/// Source: CM-5 paper, section 4.4, figure 12.
pub fn greedy(pattern: &Pattern) -> Schedule {
    let ranks = pattern.ranks() as usize;
    let mut to_send = BitMatrix::new(ranks);
    for message in pattern.messages() {
        to_send.set(message.from, message.to);
    }
    let mut left = pattern.messages().len();
    let mut steps = Vec::new();
    let mut free = BitRow::new(ranks);
    while left > 0 {
        free.fill(ranks);
        let mut step = Vec::new();
        for i in (0..ranks as u32).map(Rank) {
            if !free.has(i) {
                continue;
            }
            let Some(j) = to_send.first_common(i, &free) else { continue };
            for (from, to) in [(i, j), (j, i)] {
                if to_send.clear(from, to) {
                    step.push(Transfer { from, to, bytes: pattern.bytes(from, to) });
                }
            }
            free.clear(i);
            free.clear(j);
        }
        left -= step.len();
        steps.push(step);
    }
    Schedule::new(pattern.ranks(), steps)
}

const WORD: usize = u64::BITS as usize;

/// A set of ranks.
struct BitRow(Vec<u64>);

impl BitRow {
    fn new(ranks: usize) -> BitRow {
        BitRow(vec![0; ranks.div_ceil(WORD)])
    }

    /// Makes it the set of all ranks below `ranks`.
    fn fill(&mut self, ranks: usize) {
        for (index, word) in self.0.iter_mut().enumerate() {
            let beyond = ((index + 1) * WORD).saturating_sub(ranks);
            *word = u64::MAX >> beyond;
        }
    }

    fn has(&self, Rank(rank): Rank) -> bool {
        self.0[rank as usize / WORD] >> (rank as usize % WORD) & 1 == 1
    }

    fn clear(&mut self, Rank(rank): Rank) {
        self.0[rank as usize / WORD] &= !(1 << (rank as usize % WORD));
    }
}

/// For each rank a set of ranks.
struct BitMatrix {
    words: usize,
    bits: Vec<u64>,
}

impl BitMatrix {
    fn new(ranks: usize) -> BitMatrix {
        let words = ranks.div_ceil(WORD);
        BitMatrix { words, bits: vec![0; ranks * words] }
    }

    fn place(&self, Rank(row): Rank, Rank(rank): Rank) -> (usize, u64) {
        (row as usize * self.words + rank as usize / WORD, 1 << (rank as usize % WORD))
    }

    fn set(&mut self, row: Rank, rank: Rank) {
        let (word, bit) = self.place(row, rank);
        self.bits[word] |= bit;
    }

    /// Removes `rank` from the set of `row`; returns whether it was there.
    fn clear(&mut self, row: Rank, rank: Rank) -> bool {
        let (word, bit) = self.place(row, rank);
        let was_there = self.bits[word] & bit != 0;
        self.bits[word] &= !bit;
        was_there
    }

    /// The lowest rank that is both in the set of `row` and in `others`.
    fn first_common(&self, Rank(row): Rank, others: &BitRow) -> Option<Rank> {
        let words = &self.bits[row as usize * self.words..][..self.words];
        let common = words.iter().zip(&others.0).map(|(one, other)| one & other).enumerate();
        let (index, word) = { common }.find(|&(_, word)| word != 0)?;
        Some(Rank((index * WORD) as u32 + word.trailing_zeros()))
    }
}
