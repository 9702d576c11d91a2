//! Which files are sent.

use std::fs::{self, Metadata};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::FileError;
use crate::manifest::{Entry, Kind, MOST_ENTRIES, Manifest};
use crate::names::{DEEPEST, Name};

/// The files to be sent, as they were when they were listed.
#[derive(Clone, Debug)]
pub struct Listing {
    /// What is sent.
    pub manifest: Manifest,
    /// Where each entry of the manifest is, and what is not sent although it lies there.
    sources: Vec<Source>,
    /// What lies in folders and is neither a file nor a folder.
    pub left_out: Vec<PathBuf>,
}

/// Where an entry is.
#[derive(Clone, Debug)]
pub(super) struct Source {
    pub(super) path: PathBuf,
    modified: Option<SystemTime>,
    length: u64,
}

impl Source {
    /// Whether it is still as it was.
    pub(super) fn check(&self, now: &Metadata) -> Result<(), FileError> {
        let same = now.is_dir() || now.len() == self.length && now.modified().ok() == self.modified;
        if same { Ok(()) } else { Err(FileError::new(&self.path, "it changed while it was sent")) }
    }
}

impl Listing {
    pub(super) fn source(&self, entry: usize) -> Option<&Source> {
        self.sources.get(entry)
    }

    /// Says whether all files are still as they were.
    ///
    /// # Errors
    /// [`FileError`] for the first that is not.
    pub fn check(&self) -> Result<(), FileError> {
        self.sources.iter().try_for_each(|source| {
            let now = fs::metadata(&source.path).map_err(FileError::io(&source.path))?;
            source.check(&now)
        })
    }
}

/// Lists files and folders, these with all that is in them. Links are followed where they are named here, and nowhere else.
///
/// # Errors
/// [`FileError`] for what cannot be read, or has a name that cannot be sent.
pub fn list(paths: &[PathBuf]) -> Result<Listing, FileError> {
    let mut found = Found::default();
    for path in paths {
        let metadata = fs::metadata(path).map_err(FileError::io(path))?;
        let whole = fs::canonicalize(path).map_err(FileError::io(path))?;
        let name = path.file_name().or_else(|| whole.file_name());
        let name = name.ok_or_else(|| FileError::new(path, "it has no name"))?;
        let name = name.to_str().ok_or_else(|| FileError::new(path, "its name is no text"))?;
        if !metadata.is_dir() && !metadata.is_file() {
            return Err(FileError::new(path, "it is neither a file nor a folder"));
        }
        found.add(path, name.to_string(), &metadata)?;
    }
    found.entries.sort_by(|(one, _), (other, _)| one.name.cmp(&other.name));
    let (entries, sources): (Vec<Entry>, Vec<Source>) = found.entries.into_iter().unzip();
    let first = paths.first().map_or(Path::new(""), PathBuf::as_path);
    let manifest = Manifest::new(entries).map_err(|error| FileError::new(first, error))?;
    Ok(Listing { manifest, sources, left_out: found.left_out })
}

#[derive(Default)]
struct Found {
    entries: Vec<(Entry, Source)>,
    left_out: Vec<PathBuf>,
}

impl Found {
    fn add(&mut self, path: &Path, name: String, metadata: &Metadata) -> Result<(), FileError> {
        let folders = name.matches('/').count();
        let name = Name::new(name).map_err(|error| FileError::new(path, error))?;
        let kind = if metadata.is_dir() {
            Kind::Folder
        } else {
            Kind::File { size: metadata.len(), executable: metadata.permissions().mode() & 0o111 != 0 }
        };
        let source = Source { path: path.to_path_buf(), modified: metadata.modified().ok(), length: metadata.len() };
        self.entries.push((Entry { name: name.clone(), kind }, source));
        if self.entries.len() > MOST_ENTRIES || folders > DEEPEST {
            return Err(FileError::new(path, format!("more than {MOST_ENTRIES} files and folders")));
        }
        if metadata.is_dir() { self.inside(path, name.as_str()) } else { Ok(()) }
    }

    fn inside(&mut self, folder: &Path, name: &str) -> Result<(), FileError> {
        for entry in fs::read_dir(folder).map_err(FileError::io(folder))? {
            let path = entry.map_err(FileError::io(folder))?.path();
            let metadata = fs::symlink_metadata(&path).map_err(FileError::io(&path))?;
            if !metadata.is_dir() && !metadata.is_file() {
                self.left_out.push(path);
                continue;
            }
            let own = path.file_name().and_then(|own| own.to_str());
            let own = own.ok_or_else(|| FileError::new(&path, "its name is no text"))?;
            self.add(&path, format!("{name}/{own}"), &metadata)?;
        }
        Ok(())
    }
}
