//! When a table of servers grows and shrinks.

use quantities::Bytes;
use serde::{Deserialize, Serialize};

use super::Extent;

/// When a server splits, and when two become one.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Growth {
    /// V: what a server has room for. [entries]
    pub capacity: u64,
    /// M: the share of it that is used. 0.7 to 0.9 as a rule.
    pub sensitivity: f64,
    /// The share of it below which the file shrinks, by the same estimate; none for a file that only grows, as the papers' do.
    /// At most half of M, or a file that has just shrunk grows again.
    pub shrink: Option<f64>,
    /// Whether splits are kept apart, against cascades: the server with the token splits only when it has more than V entries itself,
    /// too, and not before it has answered as many requests as it is sent between two splits on the mean.
    pub apart: bool,
    /// As many servers as there can be.
    pub most_servers: u32,
    /// How much goes over at a time while a server splits, merges or is scanned: whole local buckets until there are so many entries,
    /// or [`Growth::LARGEST_CHUNK`].
    pub chunk: u64,
}

/// How many servers there are to be, however many entries they have: what somebody asks for who runs them. It does not travel with messages
/// between servers: each has to be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bounds {
    /// The file grows until there are so many, and then does not shrink below.
    pub least: u32,
    /// The file shrinks until there are so many, and then does not grow beyond.
    pub most: u32,
}

impl Default for Bounds {
    /// As many as entries ask for.
    fn default() -> Bounds {
        Bounds { least: 1, most: u32::MAX }
    }
}

impl Growth {
    /// As soon as a chunk has so much, it is full, however few entries that are: messages stay far below the longest that is read.
    pub const LARGEST_CHUNK: Bytes = Bytes(1 << 24);

    /// T: the server with the token splits when it has more entries than
    ///
    /// ```text
    ///   T = M V (2^i + n) / 2^i
    /// ```
    ///
    /// Source: LH*LH paper, section 3.
    pub fn threshold(&self, file: Extent) -> f64 {
        self.share(self.sensitivity, file)
    }

    /// Whether a server with so many entries, which has answered `since` requests since it has the token, splits.
    ///
    /// ```text
    ///   entries > T                                       as it is
    ///   entries > max(T, V)  and  since >= M V / 2^i      where splits are kept apart
    /// ```
    ///
    /// Of M V inserts, as many as there are between two splits of a file that grows evenly, server n is sent a 2^i-th. To split only where
    /// there is a collision, too, is what the LH* paper does with load control; the distance is ours.
    pub(super) fn splits(&self, entries: u64, file: Extent, since: u64) -> bool {
        let due = entries as f64 > self.threshold(file);
        let between = self.sensitivity * self.capacity as f64 / f64::from(1_u32 << file.i());
        due && (!self.apart || entries > self.capacity && since as f64 >= between)
    }

    /// The server with the token lets the file shrink when it has fewer entries than so many.
    pub fn shrink_threshold(&self, file: Extent) -> f64 {
        self.shrink.map_or(0.0, |least| self.share(least, file))
    }

    /// What server n has on the mean, if all servers together use this share of their room: it has the keys of one of 2^i classes.
    fn share(&self, share: f64, file: Extent) -> f64 {
        let before = f64::from(1_u32 << file.i());
        share * self.capacity as f64 * f64::from(file.buckets()) / before
    }

    /// After the parent of the last server has found both together too large, the file does not try to shrink again before so many
    /// requests.
    pub(super) const fn rest(&self) -> u64 {
        1 + self.capacity / 4
    }
}

/// What goes over at a time.
pub(super) struct Chunk {
    /// Entries that it still has room for; an empty bucket takes its time, too, and counts as one.
    room: u64,
    /// [B]
    size: u64,
}

impl Growth {
    /// A chunk with nothing in it.
    pub(super) fn new_chunk(&self) -> Chunk {
        Chunk { room: self.chunk.max(1), size: 0 }
    }
}

impl Chunk {
    /// Puts a bucket into it, whose entries have these sizes.
    pub(super) fn add(&mut self, sizes: impl IntoIterator<Item = Bytes>) {
        self.room = self.room.saturating_sub(1);
        for size in sizes {
            self.room = self.room.saturating_sub(1);
            self.size = self.size.saturating_add(size.0);
        }
    }

    /// Whether nothing more goes into it.
    pub(super) const fn is_full(&self) -> bool {
        self.room == 0 || self.size >= Growth::LARGEST_CHUNK.0
    }
}
