//! A column of a group: the files of one member's journal, laid out block by block in stripes.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::{Deserialize, Serialize};

/// A block of a column, and so of a stripe. [B]
pub const BLOCK: usize = 64 << 10;

/// The kind of a file of a journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Kind {
    /// A log of what was done.
    Log,
    /// A snapshot of the whole state.
    Snapshot,
}

/// A file of a member's journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct FileName {
    /// Its kind.
    pub kind: Kind,
    /// Its number.
    pub number: u64,
}

impl FileName {
    /// The log with this number.
    pub const fn log(number: u64) -> FileName {
        FileName { kind: Kind::Log, number }
    }

    /// The snapshot with this number.
    pub const fn snapshot(number: u64) -> FileName {
        FileName { kind: Kind::Snapshot, number }
    }
}

impl fmt::Display for FileName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.kind {
            Kind::Log => "log",
            Kind::Snapshot => "snapshot",
        };
        write!(formatter, "{kind}.{}", self.number)
    }
}

/// The extent of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Extent {
    /// Its length. [B]
    pub length: u64,
    /// Whether nothing follows: a snapshot is worthless before it is whole.
    pub is_whole: bool,
}

/// A change of a file: it grows, or shrinks from its end; when its last byte is gone, so is the file. A parity follows
/// both in the same way, as exclusive or is its own inverse.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// The file.
    pub file: FileName,
    /// Where the bytes begin. [B]
    pub at: u64,
    /// The bytes added or taken away.
    #[serde(with = "as_bytes")]
    pub bytes: Vec<u8>,
    /// Which of the two.
    pub effect: Effect,
}

/// The effect of a change on its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Effect {
    /// It grows.
    Grows,
    /// It grows for the last time.
    Ends,
    /// It shrinks.
    Shrinks,
}

/// Encodes bytes as a whole instead of one by one; decoding yields the same.
pub(super) mod as_bytes {
    use serde::{Deserialize, Deserializer, Serializer};

    pub fn serialize<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(bytes)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
        <&[u8]>::deserialize(deserializer).map(<[u8]>::to_vec)
    }
}

/// A part of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Piece {
    /// The file.
    pub file: FileName,
    /// Where it begins in the file. [B]
    pub at: u64,
    /// Its length. [B]
    pub length: usize,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct File {
    extent: Extent,
    /// The stripe of each of its blocks.
    stripes: Vec<u32>,
}

/// The layout of a member's files in stripes, as a lead sends it to its follower. It depends on all changes that the
/// column has seen, not only on the files now: removed files have left gaps.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ColumnLayout(Vec<(FileName, File)>);

impl ColumnLayout {
    /// All files with their extents.
    pub(super) fn files(&self) -> impl Iterator<Item = (FileName, Extent)> {
        self.0.iter().map(|(name, file)| (*name, file.extent))
    }

    /// The stripes of all blocks.
    pub(super) fn stripes(&self) -> impl Iterator<Item = u32> {
        self.0.iter().flat_map(|(_, file)| file.stripes.iter().copied())
    }

    /// How many blocks are missing or superfluous for their files' lengths, share a stripe, or belong to a file that is
    /// named twice.
    pub(super) fn misplaced(&self) -> usize {
        let needs = |file: &File| file.extent.length.div_ceil(BLOCK as u64) as usize;
        let wrong = |file: &File| file.stripes.len().abs_diff(needs(file)) + usize::from(file.extent.length == 0);
        let names: BTreeSet<FileName> = self.0.iter().map(|(name, _)| *name).collect();
        let stripes: BTreeSet<u32> = self.stripes().collect();
        let twice = self.0.len() - names.len() + self.stripes().count() - stripes.len();
        twice + self.0.iter().map(|(_, file)| wrong(file)).sum::<usize>()
    }
}

/// The layout of a member's files, as far as a parity has followed them.
#[derive(Debug, Default)]
pub struct Column {
    files: BTreeMap<FileName, File>,
    /// The file and the block number in each stripe.
    stripes: BTreeMap<u32, (FileName, u64)>,
    /// Empty stripes before the last occupied one.
    free: BTreeSet<u32>,
}

impl Column {
    /// A column with this layout.
    pub fn of(ColumnLayout(files): ColumnLayout) -> Column {
        let of_file = |(name, file): &(FileName, File)| {
            let name = *name;
            (0..).zip(file.stripes.clone()).map(move |(block, stripe)| (stripe, (name, block)))
        };
        let stripes: BTreeMap<u32, (FileName, u64)> = files.iter().flat_map(of_file).collect();
        let end = stripes.last_key_value().map_or(0, |(last, _)| last + 1);
        let free = (0..end).filter(|stripe| !stripes.contains_key(stripe)).collect();
        Column { files: files.into_iter().collect(), stripes, free }
    }

    /// Its layout.
    pub fn layout(&self) -> ColumnLayout {
        ColumnLayout(self.files.iter().map(|(name, file)| (*name, file.clone())).collect())
    }

    /// All files with their extents.
    pub fn files(&self) -> impl Iterator<Item = (FileName, Extent)> {
        self.files.iter().map(|(name, file)| (*name, file.extent))
    }

    /// Its piece in a stripe.
    pub fn piece(&self, stripe: u32) -> Option<Piece> {
        let (name, block) = *self.stripes.get(&stripe)?;
        let at = block * BLOCK as u64;
        let left = self.files.get(&name)?.extent.length - at;
        Some(Piece { file: name, at, length: left.min(BLOCK as u64) as usize })
    }

    /// The stripes that it occupies.
    pub fn stripes(&self) -> impl Iterator<Item = u32> {
        self.stripes.keys().copied()
    }

    /// At most this many stripes from the ends of its files, in the order in which they can be taken out.
    pub fn last_stripes(&self, most: usize) -> Vec<u32> {
        let from_the_end = self.files.values().rev().flat_map(|file| file.stripes.iter().rev());
        from_the_end.take(most).copied().collect()
    }

    /// Whether a change fits the files.
    pub fn allows(&self, change: &Change) -> bool {
        let extent = self.files.get(&change.file).map_or_else(Extent::default, |file| file.extent);
        let end = change.at.checked_add(change.bytes.len() as u64);
        match change.effect {
            Effect::Grows | Effect::Ends => change.at == extent.length && !extent.is_whole && end.is_some(),
            Effect::Shrinks => end == Some(extent.length) && !change.bytes.is_empty(),
        }
    }

    /// Follows an allowed change. Returns the stripe of each part of the change's bytes, and where the part begins in
    /// its block. A stripe that becomes empty is free afterwards.
    pub fn follow(&mut self, change: &Change) -> Vec<(u32, usize, std::ops::Range<usize>)> {
        let (length, is_whole) = match change.effect {
            Effect::Grows => (change.at + change.bytes.len() as u64, false),
            Effect::Ends => (change.at + change.bytes.len() as u64, true),
            Effect::Shrinks => (change.at, false),
        };
        self.take_stripes(change.file, length);
        let Some(file) = self.files.get_mut(&change.file) else { return Vec::new() };
        file.extent = Extent { length, is_whole };
        let (mut parts, mut from) = (Vec::new(), 0);
        while from < change.bytes.len() {
            let at = change.at + from as u64;
            let within = (at % BLOCK as u64) as usize;
            let to = change.bytes.len().min(from + BLOCK - within);
            parts.push((file.stripes[(at / BLOCK as u64) as usize], within, from..to));
            from = to;
        }
        self.leave_stripes(change.file, length);
        parts
    }

    /// Takes as many stripes for a file as it needs.
    fn take_stripes(&mut self, name: FileName, length: u64) {
        let file = self.files.entry(name).or_default();
        while ((file.stripes.len() * BLOCK) as u64) < length {
            let next = self.stripes.last_key_value().map_or(0, |(last, _)| last + 1);
            let stripe = self.free.pop_first().unwrap_or(next);
            self.stripes.insert(stripe, (name, file.stripes.len() as u64));
            file.stripes.push(stripe);
        }
    }

    /// Frees the stripes that a file no longer needs.
    fn leave_stripes(&mut self, name: FileName, length: u64) {
        let Some(file) = self.files.get_mut(&name) else { return };
        for stripe in file.stripes.drain(length.div_ceil(BLOCK as u64) as usize..) {
            self.stripes.remove(&stripe);
            self.free.insert(stripe);
        }
        let end = self.stripes.last_key_value().map_or(0, |(last, _)| last + 1);
        self.free.split_off(&end);
        if length == 0 {
            self.files.remove(&name);
        }
    }
}
