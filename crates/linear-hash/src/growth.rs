//! When a table of servers grows and shrinks.

use quantities::Bytes;
use serde::{Deserialize, Serialize};

use super::Extent;

/// When a server splits, and when two merge.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Growth {
    /// V: the capacity of a server. [entries]
    pub capacity: u64,
    /// M: the share of it that is used, usually 0.7 to 0.9.
    pub sensitivity: f64,
    /// The share of it below which the file shrinks, by the same estimate; none for a file that only grows, as in the
    /// papers. At most half of M, or a file that has just shrunk would grow again.
    pub shrink: Option<f64>,
    /// Whether splits are spaced out to prevent cascades: the server with the token splits only when it also has more
    /// than V entries itself, and not before it has answered as many requests as it receives between two splits on
    /// average.
    pub apart: bool,
    /// The most servers.
    pub most_servers: u32,
    /// How much is sent at a time while a server splits, merges or is scanned: whole local buckets up to this many
    /// entries, or [`Growth::LARGEST_CHUNK`].
    pub chunk: u64,
}

/// How many servers there should be, regardless of their entries, as set by the operator. Messages between servers do
/// not carry it: each has to be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bounds {
    /// The file grows to this many, and then does not shrink below.
    pub least: u32,
    /// The file shrinks to this many, and then does not grow beyond.
    pub most: u32,
}

impl Default for Bounds {
    /// As many as the entries require.
    fn default() -> Bounds {
        Bounds { least: 1, most: u32::MAX }
    }
}

impl Growth {
    /// A chunk of this size is full, however few entries it has: messages stay far below the longest that is read.
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

    /// Whether a server with `entries` entries splits, which has answered `since` requests since it got the token.
    ///
    /// ```text
    ///   entries > T                                       as it is
    ///   entries > max(T, V)  and  since >= M V / 2^i      where splits are spaced out
    /// ```
    ///
    /// In a file that grows evenly there are M V inserts between two splits, of which server n receives a 2^i-th.
    /// Splitting only on a collision is the load control of the LH* paper; the spacing is our addition.
    pub(super) fn splits(&self, entries: u64, file: Extent, since: u64) -> bool {
        let due = entries as f64 > self.threshold(file);
        let between = self.sensitivity * self.capacity as f64 / f64::from(1_u32 << file.i());
        due && (!self.apart || entries > self.capacity && since as f64 >= between)
    }

    /// The server with the token lets the file shrink when it has fewer entries than this.
    pub fn shrink_threshold(&self, file: Extent) -> f64 {
        self.shrink.map_or(0.0, |least| self.share(least, file))
    }

    /// The mean number of entries of server n if all servers together use this share of their capacity: it has the keys
    /// of one of 2^i classes.
    fn share(&self, share: f64, file: Extent) -> f64 {
        let before = f64::from(1_u32 << file.i());
        share * self.capacity as f64 * f64::from(file.buckets()) / before
    }

    /// After the parent of the last server has found the two together too large, the file does not try to shrink again
    /// for this many requests.
    pub(super) const fn rest(&self) -> u64 {
        1 + self.capacity / 4
    }
}

/// A chunk: the part of a transfer that is sent at a time.
pub(super) struct Chunk {
    /// How many more entries fit; an empty bucket takes time too, and counts as one.
    room: u64,
    /// Its size. [B]
    size: u64,
}

impl Growth {
    /// An empty chunk.
    pub(super) fn new_chunk(&self) -> Chunk {
        self.chunk_of(1)
    }

    /// An empty chunk with so many times as much room.
    pub(super) fn chunk_of(&self, times: u64) -> Chunk {
        Chunk { room: self.chunk.max(1).saturating_mul(times), size: 0 }
    }
}

impl Chunk {
    /// Adds a bucket whose entries have these sizes.
    pub(super) fn add(&mut self, sizes: impl IntoIterator<Item = Bytes>) {
        self.room = self.room.saturating_sub(1);
        for size in sizes {
            self.room = self.room.saturating_sub(1);
            self.size = self.size.saturating_add(size.0);
        }
    }

    /// Whether nothing more fits.
    pub(super) const fn is_full(&self) -> bool {
        self.room == 0 || self.size >= Growth::LARGEST_CHUNK.0
    }
}
