//! Batches in a file, framed so that torn ones can be told from whole ones.
//!
//! ```text
//!   header of a file    "maquette store data\n", the version of the format [4 B], the number of the file [8 B]
//!   frame               the length of its content [8 B]
//!                       how much of the file was durable before the frame was written [8 B]
//!                       CRC32C of all the rest of the frame [4 B]
//!                       content
//! ```
//!
//! The file ends at a broken frame: what was being written when the process or the machine died was not promised to
//! anyone. But if a whole frame follows that says that more than this was durable by then, the file is damaged.

use std::io::{self, Read};

use crate::large::Pieces;

/// The size of what stands before the content of a frame. [B]
pub const FRAME_HEADER: usize = 20;
/// The beginning of each file.
const MAGIC: &[u8; 20] = b"maquette store data\n";
/// The version of the format.
pub const VERSION: u32 = 3;
/// The size of the header of a file. [B]
pub const FILE_HEADER: usize = MAGIC.len() + 4 + 8;
/// The most room that is reserved for a frame before it is read. [B]
const READ: u64 = 1 << 20;

/// The header of the file with this number.
pub fn file_header(number: u64) -> Vec<u8> {
    [&MAGIC[..], &VERSION.to_le_bytes(), &number.to_le_bytes()].concat()
}

/// What is wrong with the header of the file with this number.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HeaderError {
    /// The file is not of a store.
    #[error("it is not a file of a store")]
    Stranger,
    /// The file is of another version.
    #[error("it has version {0} of the format; this store reads version {VERSION}")]
    Version(u32),
    /// The file was written under another number.
    #[error("its header says that it is file {0}")]
    Number(u64),
}

/// Checks the header of the file with this number.
///
/// # Errors
/// [`HeaderError`]
pub fn check_file_header(header: &[u8; FILE_HEADER], number: u64) -> Result<(), HeaderError> {
    let Some(rest) = header.strip_prefix(MAGIC) else { return Err(HeaderError::Stranger) };
    let (version, found) = rest.split_at(4);
    let version = u32::from_le_bytes(version.try_into().unwrap_or_default());
    let found = u64::from_le_bytes(found.try_into().unwrap_or_default());
    match (version, found) {
        (VERSION, found) if found == number => Ok(()),
        (VERSION, found) => Err(HeaderError::Number(found)),
        (version, _) => Err(HeaderError::Version(version)),
    }
}

/// Makes a frame of pieces that begin with room for its header, while the first `kept` bytes of the file are durable.
pub fn close(pieces: &mut Pieces, kept: u64) {
    let length = pieces.len();
    let Some(content) = length.checked_sub(FRAME_HEADER) else { return };
    let header = FrameHeader { length: content as u64, kept, sum: 0 }.sealed(pieces.part(FRAME_HEADER..length));
    pieces.bytes[..FRAME_HEADER].copy_from_slice(&header);
}

/// How many of these bytes, the first of which begins a frame, are whole frames; and how long the next one is, if that
/// is known.
pub fn whole(bytes: &[u8]) -> (usize, Option<u64>) {
    let mut at = 0;
    while let Some(header) = bytes[at..].first_chunk() {
        let length = (FRAME_HEADER as u64).saturating_add(FrameHeader::of(header).length);
        match usize::try_from(length).ok().filter(|length| *length <= bytes.len() - at) {
            Some(length) => at += length,
            None => return (at, Some(length)),
        }
    }
    (at, None)
}

struct FrameHeader {
    length: u64,
    kept: u64,
    sum: u32,
}

impl FrameHeader {
    fn of(bytes: &[u8; FRAME_HEADER]) -> FrameHeader {
        let [a, b, c, d, e, f, g, h, rest @ ..] = *bytes;
        let [i, j, k, l, m, n, o, p, sum @ ..] = rest;
        let length = u64::from_le_bytes([a, b, c, d, e, f, g, h]);
        FrameHeader { length, kept: u64::from_le_bytes([i, j, k, l, m, n, o, p]), sum: u32::from_le_bytes(sum) }
    }

    fn sum_with<'a>(&self, content: impl IntoIterator<Item = &'a [u8]>) -> u32 {
        let sum = crc32c::crc32c(&self.length.to_le_bytes());
        let sum = crc32c::crc32c_append(sum, &self.kept.to_le_bytes());
        content.into_iter().fold(sum, crc32c::crc32c_append)
    }

    fn sealed<'a>(&self, content: impl IntoIterator<Item = &'a [u8]>) -> [u8; FRAME_HEADER] {
        let mut bytes = [0; FRAME_HEADER];
        bytes[..8].copy_from_slice(&self.length.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.kept.to_le_bytes());
        bytes[16..].copy_from_slice(&self.sum_with(content).to_le_bytes());
        bytes
    }
}

/// What comes next in a file.
#[derive(Debug, PartialEq, Eq)]
pub enum Next {
    /// A whole frame, whose content is in [`Frames::content`].
    Frame,
    /// Nothing: the file ends with a whole frame.
    End,
    /// Something that is no whole frame.
    Broken,
}

/// The frames of a file, one after another.
#[derive(Debug)]
pub struct Frames<R> {
    from: R,
    at: u64,
    length: u64,
    /// The content of the frame that was read last.
    pub content: Vec<u8>,
}

impl<R: Read> Frames<R> {
    /// The frames of a file that is `length` bytes long, the first `at` of which were read. [B]
    pub const fn new(from: R, at: u64, length: u64) -> Frames<R> {
        Frames { from, at, length, content: Vec::new() }
    }

    /// Where the next frame begins. [B]
    pub const fn at(&self) -> u64 {
        self.at
    }

    /// Reads the next frame.
    ///
    /// # Errors
    /// Errors of reading the file.
    pub fn next_frame(&mut self) -> io::Result<Next> {
        let left = self.length - self.at;
        if left == 0 {
            return Ok(Next::End);
        }
        let Some(most) = left.checked_sub(FRAME_HEADER as u64) else { return Ok(Next::Broken) };
        let mut header = [0; FRAME_HEADER];
        self.from.read_exact(&mut header)?;
        let header = FrameHeader::of(&header);
        // When a frame was written, no more of the file was durable than what stands before the frame.
        if header.length > most || header.kept > self.at {
            return Ok(Next::Broken);
        }
        self.content.clear();
        self.content.reserve(header.length.min(READ) as usize);
        if self.from.by_ref().take(header.length).read_to_end(&mut self.content)? as u64 != header.length
            || header.sum_with([&self.content[..]]) != header.sum
        {
            return Ok(Next::Broken);
        }
        self.at += FRAME_HEADER as u64 + header.length;
        Ok(Next::Frame)
    }
}

/// Whether `rest`, the part of a file from a broken frame at `at` on, holds a whole frame that was written when more
/// than `at` bytes were durable.
pub fn was_kept(rest: &[u8], at: u64) -> bool {
    rest.windows(FRAME_HEADER).enumerate().skip(1).any(|(start, header)| {
        let Ok(header) = header.try_into().map(FrameHeader::of) else { return false };
        let content = &rest[start + FRAME_HEADER..];
        let is_later = at < header.kept && header.kept <= at + start as u64;
        is_later
            && header.length <= content.len() as u64
            && header.sum_with([&content[..header.length as usize]]) == header.sum
    })
}
