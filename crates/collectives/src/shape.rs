//! What a collective does, as data: which blocks each rank has before it and which after it.

use quantities::Rank;

/// The shape of a collective among P ranks: from it follow how much data a rank brings and takes, what the right result
/// is, and the least that any algorithm has to move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Into which blocks the data are divided.
    pub blocks: Division,
    /// Who has them before.
    pub before: Holders,
    /// Who has them after.
    pub after: Holders,
    /// Whose data a block is the combination of, if it is one.
    pub reduction: Option<Reduction>,
}

/// Into which blocks the data of a collective are divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Division {
    /// There are none: ranks only wait for each other.
    Nothing,
    /// One block.
    Whole,
    /// A block for each rank: block p is that of rank p.
    PerRank,
    /// A block for each pair of P ranks: block r P + c goes from rank r to rank c.
    PerPair,
}

/// Who has the blocks of a collective.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holders {
    /// The root has all of them.
    Root,
    /// Every rank has all of them.
    Everyone,
    /// Every rank has its own.
    Owner,
    /// Of the blocks of pairs, every rank has those that go from it.
    Sender,
    /// Of the blocks of pairs, every rank has those that go to it.
    Receiver,
}

/// The block that goes from one of `ranks` ranks to another, where there is one for each pair.
pub const fn of_pair(Rank(from): Rank, Rank(to): Rank, ranks: u32) -> u64 {
    from as u64 * ranks as u64 + to as u64
}

/// The numbers of blocks, as far from each other: in a matrix of the blocks of pairs a row, or a column.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BlockNumbers {
    first: u64,
    distance: u64,
    count: u64,
}

impl BlockNumbers {
    /// So many from the first on.
    const fn from(first: u64, distance: u64, count: u64) -> BlockNumbers {
        BlockNumbers { first, distance, count }
    }

    /// Whether a block is one of them.
    pub const fn contains(&self, block: u64) -> bool {
        if self.count == 0 || block < self.first {
            return false;
        }
        let beyond = block - self.first;
        beyond.is_multiple_of(self.distance) && beyond / self.distance < self.count
    }

    /// Whether there are none.
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }
}

impl Iterator for BlockNumbers {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        self.count = self.count.checked_sub(1)?;
        let block = self.first;
        self.first = block.saturating_add(self.distance);
        Some(block)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.count as usize, Some(self.count as usize))
    }
}

impl ExactSizeIterator for BlockNumbers {}

/// Whose data a block is the combination of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reduction {
    /// That of all ranks.
    All,
    /// At rank p, that of ranks 0 to p.
    Prefix,
    /// At rank p, that of ranks 0 to p - 1; rank 0 has nothing.
    PrefixBefore,
}

impl Shape {
    /// Whether one rank differs from the others.
    pub const fn has_root(&self) -> bool {
        matches!(self.before, Holders::Root) || matches!(self.after, Holders::Root)
    }

    /// How many blocks there are among `ranks` ranks.
    pub const fn blocks(&self, ranks: u32) -> u64 {
        match self.blocks {
            Division::Nothing => 0,
            Division::Whole => 1,
            Division::PerRank => ranks as u64,
            Division::PerPair => ranks as u64 * ranks as u64,
        }
    }

    /// Whether every rank has a block for every other.
    pub const fn is_exchange(&self) -> bool {
        matches!(self.blocks, Division::PerPair)
    }

    /// How many blocks an algorithm joins to one message at most: half of what a rank has, where every one has some for
    /// every other; otherwise all.
    pub const fn most_joined(&self, ranks: u32) -> u64 {
        let joined = if self.is_exchange() { ranks as u64 / 2 } else { self.blocks(ranks) };
        if joined > 0 { joined } else { 1 }
    }

    /// The blocks that rank `me` of `ranks` brings.
    pub fn brings(&self, me: u32, root: u32, ranks: u32) -> BlockNumbers {
        self.before.of(me, root, ranks, self.blocks(ranks))
    }

    /// The blocks that rank `me` of `ranks` ends with.
    pub fn takes(&self, me: u32, root: u32, ranks: u32) -> BlockNumbers {
        if self.reduction == Some(Reduction::PrefixBefore) && me == 0 {
            return BlockNumbers::default();
        }
        self.after.of(me, root, ranks, self.blocks(ranks))
    }

    /// A rank that brings a block.
    pub const fn bringer(&self, block: u64, root: u32, ranks: u32) -> u32 {
        match self.before {
            Holders::Root => root,
            Holders::Everyone => 0,
            Holders::Owner => block as u32,
            Holders::Sender => (block / ranks as u64) as u32,
            Holders::Receiver => (block % ranks as u64) as u32,
        }
    }

    /// A rank that ends with a block, if any but a root does.
    const fn taker(&self, block: u64, ranks: u32) -> u32 {
        match self.blocks {
            Division::PerPair => (block % ranks as u64) as u32,
            Division::Nothing | Division::Whole | Division::PerRank => block as u32,
        }
    }

    /// The ranks whose data a block is combined from at rank `me`, of those that bring it.
    pub fn combines(&self, me: u32, ranks: u32) -> std::ops::Range<u32> {
        match self.reduction {
            None | Some(Reduction::All) => 0..ranks,
            Some(Reduction::Prefix) => 0..me + 1,
            Some(Reduction::PrefixBefore) => 0..me,
        }
    }
}

/// What a rank has to move, in blocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Into it.
    pub received: u64,
    /// Out of it.
    pub sent: u64,
}

/// The least that any algorithm of a collective has to move, in blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeastTraffic {
    /// Into some rank.
    pub received: u64,
    /// Out of some rank.
    pub sent: u64,
    /// Into and out of one and the same rank: one of those for which this is most.
    pub of_one: Traffic,
    /// How many ranks' data must come together somewhere, or to how many ranks that of one must come.
    pub ranks: u32,
}

impl Shape {
    /// The least that moves into and out of the ranks that have most to receive and to send.
    ///
    /// A rank receives each block that it takes and did not bring, and each that it takes as a combination of more than
    /// its own. It sends each block that it brings and another rank needs of it: combined with those of others it is
    /// one block still. What all ranks send is received by all, so that some rank receives at least as much as all send
    /// on the mean, and the other way round.
    pub fn least_traffic(&self, ranks: u32) -> LeastTraffic {
        // All ranks but the root, which is the first, and the last are alike.
        let last = ranks.saturating_sub(1);
        let most_and_all = |of: &dyn Fn(u32) -> u64| {
            let ends = [of(0), if last > 0 { of(last) } else { 0 }];
            let between = if ranks > 2 { of(1) } else { 0 };
            let all = ends[0] + ends[1] + between * u64::from(ranks.saturating_sub(2));
            (ends[0].max(ends[1]).max(between), all.div_ceil(u64::from(ranks).max(1)))
        };
        let (received, mean_received) = most_and_all(&|me| self.received_by(me, ranks));
        let (sent, mean_sent) = most_and_all(&|me| self.sent_by(me, ranks));
        let of = |me: u32| Traffic { received: self.received_by(me, ranks), sent: self.sent_by(me, ranks) };
        let kinds = [0, 1, last].into_iter().filter(|me| *me < ranks).map(of);
        let of_one = kinds.max_by_key(|traffic| traffic.received + traffic.sent).unwrap_or_default();
        let informed = if self.blocks == Division::Nothing || received > 0 { ranks } else { 1 };
        LeastTraffic { received: received.max(mean_sent), sent: sent.max(mean_received), of_one, ranks: informed }
    }

    /// How many blocks a rank has to receive, where the root is rank 0.
    fn received_by(&self, me: u32, ranks: u32) -> u64 {
        let own = self.brings(me, 0, ranks);
        let foreign = |block: &u64| match self.reduction {
            None => !own.contains(*block),
            Some(_) => self.combines(me, ranks).any(|from| from != me),
        };
        self.takes(me, 0, ranks).filter(foreign).count() as u64
    }

    /// How many blocks a rank has to send, where the root is rank 0.
    fn sent_by(&self, me: u32, ranks: u32) -> u64 {
        let needs = |rank: u32, block: u64| {
            let takes = rank != me && rank < ranks && self.takes(rank, 0, ranks).contains(block);
            takes
                && match self.reduction {
                    None => !self.brings(rank, 0, ranks).contains(block),
                    Some(_) => self.combines(rank, ranks).contains(&me),
                }
        };
        let needed = |block: &u64| {
            let ranks = [0, 1, ranks.saturating_sub(1), self.taker(*block, ranks)];
            ranks.into_iter().any(|rank| needs(rank, *block))
        };
        self.brings(me, 0, ranks).filter(needed).count() as u64
    }

    /// The least that must cross between `beside` of the ranks and all others, in either direction.
    pub fn least_between(&self, beside: u32, ranks: u32) -> u64 {
        let others = u64::from(ranks.saturating_sub(beside));
        let beside = u64::from(beside);
        if beside == 0 || others == 0 {
            return 0;
        }
        match (self.blocks, self.before, self.after) {
            (Division::Nothing, ..) => 0,
            (Division::Whole, ..) => 1,
            // The root is on one side, and the blocks of the other side cross.
            (Division::PerRank, Holders::Root, _) | (Division::PerRank, _, Holders::Root) => beside.min(others),
            (Division::PerRank, ..) => beside.max(others),
            (Division::PerPair, ..) => beside.saturating_mul(others),
        }
    }
}

impl Holders {
    fn of(self, me: u32, root: u32, ranks: u32, blocks: u64) -> BlockNumbers {
        let (me, ranks) = (u64::from(me), u64::from(ranks));
        match self {
            Holders::Root if me != u64::from(root) => BlockNumbers::default(),
            Holders::Root | Holders::Everyone => BlockNumbers::from(0, 1, blocks),
            Holders::Owner => BlockNumbers::from(me, 1, 1),
            Holders::Sender => BlockNumbers::from(me * ranks, 1, ranks),
            Holders::Receiver => BlockNumbers::from(me, ranks, ranks),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Collective;

    #[test]
    fn least_traffic_is_that_of_each_collective() {
        let of = |name: &str| {
            let least = Collective::named(name).unwrap().shape().least_traffic(5);
            (least.received, least.sent, least.ranks)
        };
        assert_eq!(of("barrier"), (0, 0, 5));
        assert_eq!(of("gather"), (4, 1, 5));
        assert_eq!(of("scatter"), (1, 4, 5));
        assert_eq!(of("all-gather"), (4, 4, 5));
        assert_eq!(of("reduce"), (1, 1, 5));
        assert_eq!(of("reduce-scatter"), (4, 4, 5));
        assert_eq!(of("scan"), (1, 1, 5));
        assert_eq!(of("exscan"), (1, 1, 5));
        assert_eq!(of("all-to-all"), (4, 4, 5));
        for collective in Collective::ALL {
            let alone = collective.shape().least_traffic(1);
            assert_eq!((alone.received, alone.sent), (0, 0), "{}", collective.name());
        }
    }

    #[test]
    fn what_crosses_is_that_of_the_side_that_needs_more() {
        let of = |name: &str, beside| Collective::named(name).unwrap().shape().least_between(beside, 8);
        assert_eq!([of("all-gather", 2), of("all-gather", 6), of("gather", 2), of("scan", 2)], [6, 6, 2, 1]);
        assert_eq!([of("all-gather", 0), of("reduce-scatter", 8), of("barrier", 4)], [0, 0, 0]);
        assert_eq!([of("all-to-all", 0), of("all-to-all", 2), of("all-to-all", 4)], [0, 12, 16]);
    }

    #[test]
    fn blocks_of_pairs_are_rows_and_columns() {
        let shape = Collective::named("all-to-all").unwrap().shape();
        let (row, column) = (shape.brings(1, 0, 4), shape.takes(1, 0, 4));
        assert_eq!((row.len(), column.len()), (4, 4));
        assert!(row.clone().eq([4, 5, 6, 7]) && column.clone().eq([1, 5, 9, 13]));
        for block in 0..16 {
            assert_eq!(row.contains(block), row.clone().any(|it| it == block), "{block}");
            assert_eq!(column.contains(block), column.clone().any(|it| it == block), "{block}");
        }
        let most = 100_000;
        assert_eq!(shape.takes(most - 1, 0, most).last(), Some(9_999_999_999));
    }
}
