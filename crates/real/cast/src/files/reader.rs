//! Pieces read ahead of the network.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, SyncSender, TryRecvError, channel, sync_channel};
use std::thread;

use super::{FileError, Listing};
use crate::manifest::{Places, Span};
use crate::round::{Digest, PIECE_HEADER, Piece, Supply, piece, room_for_piece};

/// How many pieces are read ahead.
const AHEAD: usize = 3;

/// Reads and hashes pieces on a thread of its own.
///
/// ```text
///     announce -- pieces wanted --> thread: read, hash -- at most AHEAD pieces --> next
/// ```
#[derive(Debug)]
pub struct PieceReader {
    listing: Arc<Listing>,
    /// The current announcement, whose pieces are wanted; those of earlier ones are thrown away.
    turn: u64,
    wanted: Sender<(u64, Vec<u32>)>,
    read: Receiver<(u64, Result<Piece, String>)>,
}

impl PieceReader {
    /// A reader of these files.
    pub fn new(listing: Listing) -> PieceReader {
        let (wanted, asked) = channel();
        let (give, read) = sync_channel(AHEAD);
        let listing = Arc::new(listing);
        let reading = Reading { places: listing.manifest.places(), listing: listing.clone(), file: None };
        // If the system can't start the thread, the next piece reports it.
        let _ = thread::Builder::new().spawn(move || reading.run(&asked, &give));
        PieceReader { listing, turn: 0, wanted, read }
    }
}

impl Supply for PieceReader {
    fn announce(&mut self, pieces: Vec<u32>) {
        self.turn += 1;
        // If the thread has ended, the next piece reports it.
        let _ = self.wanted.send((self.turn, pieces));
    }

    fn next(&mut self) -> Result<Option<Piece>, String> {
        loop {
            match self.read.try_recv() {
                Ok((turn, piece)) if turn == self.turn => return piece.map(Some),
                Ok(_) => {}
                Err(TryRecvError::Empty) => return Ok(None),
                Err(TryRecvError::Disconnected) => return Err("the files are read no more".to_string()),
            }
        }
    }

    fn end(&mut self) -> Result<(), String> {
        self.listing.check().map_err(|error| error.to_string())
    }
}

/// The state of the thread.
struct Reading {
    listing: Arc<Listing>,
    places: Places,
    /// The file that was read last.
    file: Option<(usize, File)>,
}

impl Reading {
    fn run(mut self, asked: &Receiver<(u64, Vec<u32>)>, give: &SyncSender<(u64, Result<Piece, String>)>) {
        let mut next = asked.recv().ok();
        while let Some((turn, pieces)) = next.take() {
            for index in pieces {
                let piece = self.piece(index).map_err(|error| error.to_string());
                if give.send((turn, piece)).is_err() {
                    return;
                }
                next = asked.try_recv().ok();
                if next.is_some() {
                    break;
                }
            }
            next = next.or_else(|| asked.recv().ok());
        }
    }

    fn piece(&mut self, index: u32) -> Result<Piece, FileError> {
        let mut room = room_for_piece(self.listing.manifest.length(index));
        let mut start = PIECE_HEADER;
        for span in self.places.spans(index) {
            self.read(span, &mut room[start..start + span.length])?;
            start += span.length;
        }
        let digest = Digest::of(&room[PIECE_HEADER..]);
        Ok(Piece { index, digest, message: piece(index, digest, room) })
    }

    fn read(&mut self, Span { entry, offset, .. }: Span, into: &mut [u8]) -> Result<(), FileError> {
        let Some(source) = self.listing.source(entry) else { return Ok(()) };
        if self.file.as_ref().is_none_or(|(open, _)| *open != entry) {
            let file = File::open(&source.path).map_err(FileError::io(&source.path))?;
            source.check(&file.metadata().map_err(FileError::io(&source.path))?)?;
            self.file = Some((entry, file));
        }
        let file = self.file.as_ref().map(|(_, file)| file);
        file.map_or(Ok(()), |file| file.read_exact_at(into, offset)).map_err(FileError::io(&source.path))
    }
}
