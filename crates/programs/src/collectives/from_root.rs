//! Ranks numbered from the root of a collective on.

use quantities::Rank;

/// The numbers of ranks from a root on: the root is 0, the rank after it 1, and so on round the ring of all ranks.
#[derive(Clone, Copy, Debug)]
pub struct FromRoot {
    /// The root.
    pub root: Rank,
    /// How many ranks there are.
    pub size: u32,
}

impl FromRoot {
    /// The number of a rank.
    pub fn number(self, Rank(rank): Rank) -> u32 {
        let Rank(root) = self.root;
        if rank >= root { rank - root } else { self.size - root + rank }
    }

    /// The rank with a number below `size`.
    pub fn rank(self, number: u32) -> Rank {
        let room = self.size - self.root.0;
        Rank(if number < room { self.root.0 + number } else { number - room })
    }

    /// The ranks with these numbers, as blocks of a collective that has one for each rank.
    pub fn blocks(self, numbers: std::ops::Range<u32>) -> impl Iterator<Item = u32> {
        numbers.map(move |number| self.rank(number).0)
    }
}
