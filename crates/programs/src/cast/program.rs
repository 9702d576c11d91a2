//! A round as a program, from memory to memory.

use bytes::Bytes;
use endpoint::{Endpoint, Error, Needs, Program, Result};
use quantities::Rank;
use quantities::splitmix64::Draws;

use super::manifest::{Kind, Manifest, ManifestEntry, ManifestError};
use super::names::Name;
use super::round::{self, Ended, Goal, ReceiverOutcome, Transfer};
use super::{FromMemory, InMemory};

const SENDER: Rank = Rank(0);

/// Content goes from rank 0 to all others as `maquette cast` sends it: pieces that some receiver lacks are broadcast in
/// hardware, once for all. Every receiver checks each piece by its hash, and all of them by the hash of the whole.
///
/// n ranks, p pieces that somebody lacks, with s bytes in total: p + 3 broadcasts and 2 (n - 1) messages. With a
/// control network of rate r and latency L, an overhead o at both ends, B(s) = o + s / r + L + o, A for the time of a
/// byte from rank to rank, and c for that between two messages that rank 0 receives:
///
/// ```text
///   T = B(manifest) + A + (n-2) c + p o + (s + 37 p) / r + B(33) + A + (n-2) c + B(1)
///       what it is    who has what  the pieces             end     done          bye
/// ```
///
/// Where all have the first h pieces, each says so in 36 h bytes more.
///
/// Hashing is not part of that, and of no model: on a real machine it takes each rank the time for s bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cast {
    manifest: Manifest,
    pieces: Vec<Bytes>,
    /// How many of them, the first ones, every receiver has at first.
    known: u32,
}

/// What a rank ends with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CastEnd {
    /// All pieces.
    pub pieces: Vec<Bytes>,
    /// How many of them have come.
    pub came: u32,
}

impl Cast {
    /// A transfer of `content`, of which receivers have this share at first: so many of its pieces, rounded, from the
    /// first one on.
    ///
    /// # Errors
    /// More content than a transfer may have.
    pub fn new(content: Bytes, share: f64) -> std::result::Result<Cast, ManifestError> {
        let kind = Kind::File { size: content.len() as u64, mode: 0o644 };
        let manifest = Manifest::new(vec![ManifestEntry { name: Name::new("content")?, kind }])?;
        let mut rest = content;
        let pieces: Vec<Bytes> = (0..manifest.pieces()).map(|index| rest.split_to(manifest.length(index))).collect();
        let known = (share.clamp(0.0, 1.0) * f64::from(manifest.pieces())).round() as u32;
        Ok(Cast { manifest, pieces, known })
    }

    /// Content of `length` bytes, no two parts of which are alike.
    pub fn content(length: usize) -> Bytes {
        let mut draws = Draws(0);
        let mut content = Vec::with_capacity(length.next_multiple_of(8));
        while content.len() < length {
            content.extend(draws.next().to_le_bytes());
        }
        content.truncate(length);
        content.into()
    }

    /// What is sent, and how it is cut.
    pub const fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// The pieces, the first first.
    pub fn pieces(&self) -> &[Bytes] {
        &self.pieces
    }

    /// How many of them receivers have at first.
    pub const fn known(&self) -> u32 {
        self.known
    }

    async fn send<E: Endpoint>(&self, endpoint: &E) -> Result<CastEnd> {
        let has_all = CastEnd { pieces: self.pieces.clone(), came: 0 };
        if endpoint.size() == 1 {
            return Ok(has_all);
        }
        let mut supply = FromMemory::new(self.pieces.clone());
        let mut transfer = Transfer::new(&self.manifest);
        let outcomes = round::send(endpoint, &mut transfer, &mut supply, |_, _| Goal::All).await?;
        for (rank, outcome) in (1..).map(Rank).zip(outcomes) {
            match outcome {
                ReceiverOutcome::Done => {}
                ReceiverOutcome::Lacks(pieces) => return Err(self.lacks(rank, pieces)),
                ReceiverOutcome::Refuses(reason) => {
                    return Err(Error::Network(format!("rank {rank} refuses: {reason}")));
                }
                ReceiverOutcome::Lost => return Err(Error::Lost(rank)),
            }
        }
        Ok(has_all)
    }

    async fn receive<E: Endpoint>(&self, endpoint: &E) -> Result<CastEnd> {
        let mut store = InMemory::with(self.pieces.iter().take(self.known as usize).cloned());
        match round::receive(endpoint, &mut store, |_| {}).await? {
            Ended::Done => Ok(CastEnd { pieces: store.pieces(), came: store.came() }),
            Ended::Lacks(pieces) => Err(self.lacks(endpoint.rank(), pieces)),
            Ended::Left(reason) | Ended::Refused(reason) => Err(Error::Network(reason)),
        }
    }

    fn lacks(&self, rank: Rank, pieces: u32) -> Error {
        Error::Network(format!("rank {rank} lacks {pieces} of {} pieces", self.pieces.len()))
    }
}

impl Program for Cast {
    const NEEDS: Needs = Needs::MULTICAST;
    type Output = CastEnd;

    async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<CastEnd> {
        if endpoint.rank() == SENDER { self.send(endpoint).await } else { self.receive(endpoint).await }
    }

    fn check(&self, rank: Rank, found: &CastEnd) -> Result<()> {
        if found.pieces == self.pieces {
            return Ok(());
        }
        Err(Error::Network(format!("rank {rank} has something else than was sent")))
    }
}
