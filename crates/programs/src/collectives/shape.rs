//! What a collective does, as data: which blocks each rank has before it and which after it.

/// The shape of a collective among P ranks: from it follow how much data a rank brings and takes, what the right result is, and the
/// least that any algorithm has to move.
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
}

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
    pub const fn blocks(&self, ranks: u32) -> u32 {
        match self.blocks {
            Division::Nothing => 0,
            Division::Whole => 1,
            Division::PerRank => ranks,
        }
    }

    /// The blocks that rank `me` of `ranks` brings.
    pub fn brings(&self, me: u32, root: u32, ranks: u32) -> std::ops::Range<u32> {
        self.before.of(me, root, self.blocks(ranks))
    }

    /// The blocks that rank `me` of `ranks` ends with.
    pub fn takes(&self, me: u32, root: u32, ranks: u32) -> std::ops::Range<u32> {
        if self.reduction == Some(Reduction::PrefixBefore) && me == 0 {
            return 0..0;
        }
        self.after.of(me, root, self.blocks(ranks))
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

impl Holders {
    fn of(self, me: u32, root: u32, blocks: u32) -> std::ops::Range<u32> {
        match self {
            Holders::Root if me != root => 0..0,
            Holders::Root | Holders::Everyone => 0..blocks,
            Holders::Owner => me..me + 1,
        }
    }
}
