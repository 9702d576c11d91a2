//! Patterns: a matrix of the bytes to be sent.

use quantities::{Bytes, Rank};

use super::Transfer;
use quantities::shuffle::below;

/// The most ranks of a pattern.
pub const MOST_RANKS: u32 = 1 << 14;

/// The most messages of a pattern.
pub const MOST_MESSAGES: usize = 1 << 26;

/// How many bytes each rank has for each other: the rows of a square matrix, of which only nonempty entries are stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    ranks: u32,
    /// Sorted by sender, then by receiver.
    messages: Vec<Transfer>,
    /// Where the messages of each sender begin, and where those of the last one end.
    rows: Vec<usize>,
    /// What each rank has for itself, which no network carries; empty if nobody has anything. [B]
    own: Vec<Bytes>,
}

/// What is wrong with a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PatternError {
    /// No ranks, or too many.
    #[error("a pattern has 1 to {MOST_RANKS} ranks, not {0}")]
    Ranks(u32),
    /// The matrix does not have a row and a column per rank.
    #[error("a pattern of {ranks} ranks has {} entries, not {entries}", u64::from(*ranks) * u64::from(*ranks))]
    NotSquare {
        /// How many ranks it is for.
        ranks: u32,
        /// How many entries there are.
        entries: usize,
    },
    /// A rank sends to itself.
    #[error("rank {rank} sends {bytes} to itself, which is no message")]
    ToItself {
        /// The rank.
        rank: Rank,
        /// How much.
        bytes: Bytes,
    },
    /// A rank that does not exist.
    #[error("rank {rank} does not exist; there are {ranks}")]
    NoSuchRank {
        /// The rank.
        rank: Rank,
        /// How many ranks there are.
        ranks: u32,
    },
    /// Two messages from one rank to another.
    #[error("rank {from} has two messages for rank {to}")]
    Twice {
        /// The sender.
        from: Rank,
        /// The receiver.
        to: Rank,
    },
    /// More messages than allowed.
    #[error("a pattern has at most {MOST_MESSAGES} messages, not {0}")]
    Messages(u64),
    /// More bytes than can be counted.
    #[error("the messages of a pattern are at most {} bytes together", u64::MAX)]
    Bytes,
    /// A density that is not between 0 and 1.
    #[error("a density is from 0 to 1, not {0} millionths")]
    Density(u64),
}

impl Pattern {
    /// The pattern of a matrix: `bytes[i * ranks + j]` is what rank i has for rank j, and 0 is no message. What is on
    /// the diagonal stays at its rank.
    ///
    /// # Errors
    /// A matrix that is not square, or is too large.
    pub fn new(ranks: u32, bytes: Vec<u64>) -> Result<Pattern, PatternError> {
        check_ranks(ranks)?;
        if bytes.len() as u64 != u64::from(ranks) * u64::from(ranks) {
            return Err(PatternError::NotSquare { ranks, entries: bytes.len() });
        }
        let own = bytes.iter().step_by(ranks as usize + 1).map(|&bytes| Bytes(bytes)).collect();
        let rows = (0..ranks).map(Rank).zip(bytes.chunks_exact(ranks as usize));
        let messages = rows.flat_map(|(from, row)| {
            let sent = (0..ranks).map(Rank).zip(row).filter(move |&(to, &bytes)| bytes > 0 && to != from);
            sent.map(move |(to, &bytes)| Transfer { from, to, bytes: Bytes(bytes) })
        });
        Pattern::of_messages(ranks, messages.collect())?.with_own(own)
    }

    /// The same, where each rank, in their order, has so much for itself.
    ///
    /// # Errors
    /// Not as many as there are ranks; more bytes than can be counted.
    pub fn with_own(self, own: Vec<Bytes>) -> Result<Pattern, PatternError> {
        if own.len() != self.ranks as usize {
            return Err(PatternError::NotSquare { ranks: self.ranks, entries: own.len() });
        }
        let total = own.iter().try_fold(0_u64, |sum, bytes| sum.checked_add(bytes.0)).ok_or(PatternError::Bytes)?;
        Ok(Pattern { own: if total == 0 { Vec::new() } else { own }, ..self })
    }

    /// The pattern of a list of messages, in any order. Unlike in a matrix, a message may be of 0 bytes.
    ///
    /// # Errors
    /// Ranks that do not exist, a message from a rank to itself, two messages from one rank to another, too many ranks,
    /// messages or bytes.
    pub fn of_messages(ranks: u32, mut messages: Vec<Transfer>) -> Result<Pattern, PatternError> {
        check_ranks(ranks)?;
        if messages.len() > MOST_MESSAGES {
            return Err(PatternError::Messages(messages.len() as u64));
        }
        messages.sort_unstable();
        let mut total: u64 = 0;
        let mut before = None;
        for &Transfer { from, to, bytes } in &messages {
            if let Some(rank) = [from, to].into_iter().find(|rank| rank.0 >= ranks) {
                return Err(PatternError::NoSuchRank { rank, ranks });
            }
            if from == to {
                return Err(PatternError::ToItself { rank: from, bytes });
            }
            if before.replace((from, to)) == Some((from, to)) {
                return Err(PatternError::Twice { from, to });
            }
            total = total.checked_add(bytes.0).ok_or(PatternError::Bytes)?;
        }
        let mut rows = vec![0; ranks as usize + 1];
        for message in &messages {
            rows[message.from.0 as usize + 1] += 1;
        }
        for rank in 0..ranks as usize {
            rows[rank + 1] += rows[rank];
        }
        Ok(Pattern { ranks, messages, rows, own: Vec::new() })
    }

    /// Complete exchange: every rank has a message of `bytes` for every other one.
    ///
    /// # Errors
    /// Too many ranks or messages.
    pub fn complete(ranks: u32, bytes: Bytes) -> Result<Pattern, PatternError> {
        check_ranks(ranks)?;
        let count = u64::from(ranks) * u64::from(ranks - 1);
        if count > MOST_MESSAGES as u64 {
            return Err(PatternError::Messages(count));
        }
        let pairs = (0..ranks).flat_map(|from| (0..ranks).map(move |to| (from, to))).filter(|(from, to)| from != to);
        Pattern::of_messages(
            ranks,
            pairs.map(|(from, to)| Transfer { from: Rank(from), to: Rank(to), bytes }).collect(),
        )
    }

    /// A random pattern of `millionths` of the messages of a complete exchange, rounded to the nearest number, each of
    /// `bytes`. Every such pattern is equally likely; `seed` determines which one.
    ///
    /// # Errors
    /// Too many ranks or messages, more than a million millionths.
    pub fn random(ranks: u32, millionths: u64, bytes: Bytes, seed: u64) -> Result<Pattern, PatternError> {
        check_ranks(ranks)?;
        if millionths > 1_000_000 {
            return Err(PatternError::Density(millionths));
        }
        let pairs = ranks * (ranks - 1); // below 2^28
        let count = (u64::from(pairs) * millionths + 500_000) / 1_000_000;
        if count > MOST_MESSAGES as u64 {
            return Err(PatternError::Messages(count));
        }
        let messages = sample(pairs, count as u32, seed).map(|pair| {
            let (from, other) = (pair / (ranks - 1), pair % (ranks - 1));
            Transfer { from: Rank(from), to: Rank(other + u32::from(other >= from)), bytes }
        });
        Pattern::of_messages(ranks, messages.collect())
    }

    /// How many ranks there are.
    pub fn ranks(&self) -> u32 {
        self.ranks
    }

    /// All messages, sorted by sender, then by receiver.
    pub fn messages(&self) -> &[Transfer] {
        &self.messages
    }

    /// The messages of one sender, sorted by receiver; none if there is no such rank.
    pub fn of_sender(&self, from: Rank) -> &[Transfer] {
        let bounds = self.rows.get(from.0 as usize).zip(self.rows.get(from.0 as usize + 1));
        bounds.map_or(&[], |(&first, &end)| &self.messages[first..end])
    }

    /// The message from one rank to another, if there is one.
    pub fn message(&self, from: Rank, to: Rank) -> Option<Transfer> {
        let row = self.of_sender(from);
        row.binary_search_by_key(&to, |message| message.to).ok().map(|index| row[index])
    }

    /// How much one rank has for another. [B]
    pub fn bytes(&self, from: Rank, to: Rank) -> Bytes {
        self.message(from, to).map_or(Bytes(0), |message| message.bytes)
    }

    /// How much a rank has for itself: it stays there. [B]
    pub fn own(&self, rank: Rank) -> Bytes {
        self.own.get(rank.0 as usize).copied().unwrap_or(Bytes(0))
    }

    /// How much all ranks have for themselves together. [B]
    pub fn own_in_all(&self) -> Bytes {
        Bytes(self.own.iter().map(|bytes| bytes.0).sum())
    }

    /// How many messages each rank sends and how many it receives, in order of rank.
    pub fn degrees(&self) -> Vec<(u32, u32)> {
        let mut degrees = vec![(0, 0); self.ranks as usize];
        for message in &self.messages {
            degrees[message.from.0 as usize].0 += 1;
            degrees[message.to.0 as usize].1 += 1;
        }
        degrees
    }

    /// How many bytes each rank sends and how many it receives, in order of rank. [B]
    pub fn loads(&self) -> Vec<(Bytes, Bytes)> {
        let mut loads = vec![(Bytes(0), Bytes(0)); self.ranks as usize];
        for message in &self.messages {
            loads[message.from.0 as usize].0.0 += message.bytes.0;
            loads[message.to.0 as usize].1.0 += message.bytes.0;
        }
        loads
    }

    /// The most messages that one rank sends, or receives: the least number of steps.
    pub fn most_messages_of_a_rank(&self) -> u32 {
        self.degrees().into_iter().map(|(sent, received)| sent.max(received)).max().unwrap_or(0)
    }

    /// The most bytes that one rank sends, or receives. [B]
    pub fn most_bytes_of_a_rank(&self) -> Bytes {
        self.loads().into_iter().map(|(sent, received)| sent.max(received)).max().unwrap_or(Bytes(0))
    }

    /// The share of the messages of a complete exchange that it has, from 0 to 1.
    pub fn density(&self) -> f64 {
        let pairs = u64::from(self.ranks) * u64::from(self.ranks.saturating_sub(1));
        if pairs == 0 { 0.0 } else { self.messages.len() as f64 / pairs as f64 }
    }
}

fn check_ranks(ranks: u32) -> Result<(), PatternError> {
    if ranks == 0 || ranks > MOST_RANKS { Err(PatternError::Ranks(ranks)) } else { Ok(()) }
}

/// `count` different numbers below `limit` in order, every choice being equally likely: each number is taken with the
/// probability that remains for it (Knuth, "The art of computer programming", volume 2, algorithm 3.4.2 S).
fn sample(limit: u32, count: u32, seed: u64) -> impl Iterator<Item = u32> {
    let (mut state, mut wanted) = (seed, count);
    (0..limit).filter(move |&number| {
        let taken = below(&mut state, limit - number) < wanted;
        wanted -= u32::from(taken);
        taken
    })
}
