//! A member's disk, in memory.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io;
use std::rc::Rc;

use maquette_store::journal::frame::whole;
use maquette_store::parity::column::{Extent, FileName, Kind, Piece};
use maquette_store::parity::data::Files;

/// The files of a disk: the content of each, and whether it is whole.
pub type Contents = BTreeMap<FileName, (Vec<u8>, bool)>;

/// A disk.
#[derive(Clone, Default)]
pub struct Disk(pub Rc<RefCell<Contents>>);

impl Disk {
    /// The newest snapshot, and the logs after it.
    pub fn recoverable(&self) -> Vec<u8> {
        let files = self.0.borrow();
        let newest = files.iter().rfind(|(file, (_, is_whole))| file.kind == Kind::Snapshot && *is_whole);
        let first = newest.map_or(0, |(file, _)| file.number);
        let logs = files.iter().filter(|(file, _)| file.kind == Kind::Log && file.number >= first);
        newest.into_iter().chain(logs).flat_map(|(_, (bytes, _))| bytes.clone()).collect()
    }

    pub fn last_log(&self) -> u64 {
        self.0.borrow().keys().filter(|file| file.kind == Kind::Log).map(|file| file.number).max().unwrap_or(0)
    }

    pub fn write(&self, file: FileName, bytes: &[u8]) {
        self.0.borrow_mut().entry(file).or_default().0.extend_from_slice(bytes);
    }

    pub fn write_at(&self, piece: Piece, bytes: &[u8]) {
        let mut files = self.0.borrow_mut();
        let (file, from) = (&mut files.entry(piece.file).or_default().0, piece.at as usize);
        file.resize(file.len().max(from + bytes.len()), 0);
        file[from..from + bytes.len()].copy_from_slice(bytes);
    }
}

impl Files for Disk {
    fn all(&self) -> io::Result<BTreeMap<FileName, Extent>> {
        let files = self.0.borrow();
        let extent = |(bytes, is_whole): &(Vec<u8>, bool)| Extent { length: bytes.len() as u64, is_whole: *is_whole };
        Ok(files.iter().map(|(file, it)| (*file, extent(it))).collect())
    }

    fn read(&self, piece: Piece) -> io::Result<Vec<u8>> {
        let files = self.0.borrow();
        let (bytes, _) = files.get(&piece.file).ok_or(io::ErrorKind::NotFound)?;
        let from = piece.at as usize;
        bytes.get(from..from + piece.length).map(<[u8]>::to_vec).ok_or(io::ErrorKind::UnexpectedEof.into())
    }

    fn frames(&self, log: u64, at: u64, end: u64, most: u64) -> io::Result<Vec<u8>> {
        let rest = self.read(Piece { file: FileName::log(log), at, length: (end - at) as usize })?;
        let (length, _) = whole(&rest[..rest.len().min(most as usize)]);
        let length = if length > 0 { length } else { whole(&rest[..whole(&rest).0]).0 };
        Ok(rest[..length].to_vec())
    }

    fn remove(&self, file: FileName) -> io::Result<()> {
        assert!(self.0.borrow_mut().remove(&file).is_some(), "{file} is removed once");
        Ok(())
    }
}
