//! Pieces from memory, and into memory.

use std::vec::IntoIter;

use bytes::Bytes;

use super::manifest::Manifest;
use super::round::{Digest, PIECE_HEADER, Piece, Store, Supply, piece, room_for_piece};

/// The pieces of content that is in memory.
#[derive(Clone, Debug)]
pub struct FromMemory {
    pieces: Vec<Bytes>,
    announced: IntoIter<u32>,
}

impl FromMemory {
    /// A supply of these pieces, the first first.
    pub fn new(pieces: Vec<Bytes>) -> FromMemory {
        FromMemory { pieces, announced: IntoIter::default() }
    }
}

impl Supply for FromMemory {
    fn announce(&mut self, pieces: Vec<u32>) {
        self.announced = pieces.into_iter();
    }

    fn next(&mut self) -> Result<Option<Piece>, String> {
        let announced = self.announced.next();
        let Some((index, content)) = announced.and_then(|index| Some((index, self.pieces.get(index as usize)?))) else {
            return Err("a piece that does not exist".to_owned());
        };
        let digest = Digest::of(content);
        let mut room = room_for_piece(content.len());
        room[PIECE_HEADER..].copy_from_slice(content);
        Ok(Some(Piece { index, digest, message: piece(index, digest, room) }))
    }

    fn end(&mut self) -> Result<(), String> {
        Ok(())
    }
}

/// What a receiver has, in memory.
#[derive(Clone, Debug, Default)]
pub struct InMemory {
    manifest: Option<Manifest>,
    pieces: Vec<Option<(Digest, Bytes)>>,
    came: u32,
}

impl InMemory {
    /// A store that has these pieces already.
    pub fn with(pieces: impl IntoIterator<Item = Bytes>) -> InMemory {
        let pieces = pieces.into_iter().map(|content| Some((Digest::of(&content), content))).collect();
        InMemory { pieces, ..InMemory::default() }
    }

    /// The pieces that it has, the first first.
    pub fn pieces(&self) -> Vec<Bytes> {
        self.pieces.iter().flatten().map(|(_, content)| content.clone()).collect()
    }

    /// How many pieces have come, and were what they were to be.
    pub const fn came(&self) -> u32 {
        self.came
    }

    fn lacking(&self) -> u32 {
        u32::try_from(self.pieces.iter().filter(|piece| piece.is_none()).count()).unwrap_or(u32::MAX)
    }
}

impl Store for InMemory {
    fn open(&mut self, manifest: &Manifest) -> Result<Vec<(u32, Digest)>, String> {
        self.pieces.resize(manifest.pieces() as usize, None);
        self.manifest = Some(manifest.clone());
        let has = (0..).zip(&self.pieces);
        Ok(has.filter_map(|(index, piece)| Some((index, piece.as_ref()?.0))).collect())
    }

    fn has_room(&mut self) -> Result<bool, String> {
        Ok(true)
    }

    fn put(&mut self, index: u32, digest: Digest, content: Bytes) -> bool {
        let length = self.manifest.as_ref().map(|manifest| manifest.length(index));
        let Some(place) = self.pieces.get_mut(index as usize) else { return false };
        if length != Some(content.len()) || Digest::of(&content) != digest {
            return false;
        }
        self.came += 1;
        place.replace((digest, content)).is_none()
    }

    fn missing(&mut self) -> Result<Option<u32>, String> {
        Ok(Some(self.lacking()))
    }

    fn finish(&mut self, whole: Digest) -> Result<bool, String> {
        let manifest = self.manifest.as_ref().map(Manifest::encode).unwrap_or_default();
        let digests = self.pieces.iter().flatten().map(|(digest, _)| *digest);
        if Digest::of_all(&manifest, digests) == whole {
            Ok(true)
        } else {
            Err("what came is not what was sent: the hash of all is another".to_owned())
        }
    }
}
