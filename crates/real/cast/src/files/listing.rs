//! Which files are sent.

use std::ffi::OsStr;
use std::fs::{self, File, Metadata, ReadDir};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::FileError;
use crate::links::Target;
use crate::manifest::{Kind, MOST_ENTRIES, Manifest, ManifestEntry};
use crate::names::Name;

/// The files to be sent, as they were when listed.
#[derive(Clone, Debug)]
pub struct Listing {
    /// What is sent.
    pub manifest: Manifest,
    /// Where each entry of the manifest is, and what is not sent although it is in a listed folder.
    sources: Vec<Source>,
    /// What is in the folders and is neither a file nor a folder nor a link.
    pub left_out: Vec<PathBuf>,
    /// What cannot be sent and was left out as well, with the reasons.
    pub unsendable: Vec<FileError>,
}

/// What happens to files and folders that cannot be read, or whose names cannot be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unsendable {
    /// Nothing is sent.
    Refuse,
    /// The others are sent.
    Skip,
}

/// Where an entry is.
#[derive(Clone, Debug)]
pub(super) struct Source {
    pub(super) path: PathBuf,
    modified: Option<SystemTime>,
    length: u64,
    /// Where it leads, if it is a link that is sent as one.
    leads_to: Option<PathBuf>,
}

impl Source {
    /// Checks that what is there is unchanged.
    fn check_there(&self) -> Result<(), FileError> {
        match &self.leads_to {
            None => self.check(&fs::metadata(&self.path).map_err(FileError::io(&self.path))?),
            Some(target) if fs::read_link(&self.path).ok().as_ref() == Some(target) => Ok(()),
            Some(_) => Err(self.changed()),
        }
    }

    fn changed(&self) -> FileError {
        FileError::new(&self.path, "it changed while it was sent")
    }

    /// Checks that it is unchanged.
    pub(super) fn check(&self, now: &Metadata) -> Result<(), FileError> {
        let same = now.is_dir() || now.len() == self.length && now.modified().ok() == self.modified;
        if same { Ok(()) } else { Err(self.changed()) }
    }
}

impl Listing {
    pub(super) fn source(&self, entry: usize) -> Option<&Source> {
        self.sources.get(entry)
    }

    /// Checks that all files are unchanged.
    ///
    /// # Errors
    /// [`FileError`] for the first that is not.
    pub fn check(&self) -> Result<(), FileError> {
        self.sources.iter().try_for_each(Source::check_there)
    }
}

/// Lists files and folders, the latter with everything in them. Links are followed if they are named in `paths`; those
/// in folders are sent as links, if they lead to something within the same folder of `paths`.
///
/// # Errors
/// [`FileError`] for a path that does not exist, or if nothing is left to be sent; and for what cannot be read or has a
/// name that cannot be sent, unless these are skipped.
pub fn list(paths: &[PathBuf], unsendable: Unsendable) -> Result<Listing, FileError> {
    let mut found = FoundFiles { entries: Vec::new(), left_out: Vec::new(), unsendable, skipped: Vec::new() };
    for path in paths {
        let metadata = fs::metadata(path).map_err(FileError::io(path))?;
        let whole = fs::canonicalize(path).map_err(FileError::io(path))?;
        let name = path.file_name().or_else(|| whole.file_name());
        let name = name.ok_or_else(|| FileError::new(path, "it has no name"))?;
        if !metadata.is_dir() && !metadata.is_file() {
            return Err(FileError::new(path, "it is neither a file nor a folder"));
        }
        found.add(path, None, name, &metadata)?;
    }
    let FoundFiles { mut entries, left_out, skipped, .. } = found;
    let first = paths.first().map_or(Path::new(""), PathBuf::as_path);
    if entries.is_empty() && !skipped.is_empty() {
        return Err(FileError::new(first, "nothing is left to be sent"));
    }
    entries.sort_by(|(one, _), (other, _)| one.name.cmp(&other.name));
    let (entries, sources): (Vec<ManifestEntry>, Vec<Source>) = entries.into_iter().unzip();
    let manifest = Manifest::new(entries).map_err(|error| FileError::new(first, error))?;
    Ok(Listing { manifest, sources, left_out, unsendable: skipped })
}

struct FoundFiles {
    entries: Vec<(ManifestEntry, Source)>,
    left_out: Vec<PathBuf>,
    unsendable: Unsendable,
    skipped: Vec<FileError>,
}

impl FoundFiles {
    /// Adds what is at `path` under the name `own` in `folder`; or notes why it cannot be sent, if such entries are
    /// skipped.
    fn add(&mut self, path: &Path, folder: Option<&str>, own: &OsStr, metadata: &Metadata) -> Result<(), FileError> {
        let entry = sendable(path, folder, own, metadata);
        let (entry, inside) = match (entry, self.unsendable) {
            (Ok(entry), _) => entry,
            (Err(error), Unsendable::Skip) => {
                self.skipped.push(error);
                return Ok(());
            }
            (Err(FileError { path, what }), Unsendable::Refuse) => {
                return Err(FileError { path, what: format!("{what}; --skip-unsendable sends the others") });
            }
        };
        let name = entry.name.clone();
        let leads_to = match &entry.kind {
            Kind::Link { target } => Some(PathBuf::from(target.as_str())),
            Kind::File { .. } | Kind::Folder { .. } => None,
        };
        let (modified, length) = (metadata.modified().ok(), metadata.len());
        let source = Source { path: path.to_path_buf(), modified, length, leads_to };
        self.entries.push((entry, source));
        if self.entries.len() > MOST_ENTRIES {
            return Err(FileError::new(path, format!("more than {MOST_ENTRIES} files and folders")));
        }
        for entry in inside.into_iter().flatten() {
            let path = entry.map_err(FileError::io(path))?.path();
            let metadata = fs::symlink_metadata(&path).map_err(FileError::io(&path))?;
            match path.file_name() {
                Some(own) if metadata.is_dir() || metadata.is_file() || metadata.is_symlink() => {
                    self.add(&path, Some(name.as_str()), own, &metadata)?;
                }
                _ => self.left_out.push(path),
            }
        }
        Ok(())
    }
}

/// The entry for what is at `path`, and what a folder contains; an error if it cannot be sent.
fn sendable(
    path: &Path,
    folder: Option<&str>,
    own: &OsStr,
    metadata: &Metadata,
) -> Result<(ManifestEntry, Option<ReadDir>), FileError> {
    let own = own.to_str().ok_or_else(|| FileError::new(path, "its name is no text (UTF-8)"))?;
    let name = folder.map_or_else(|| own.to_string(), |folder| format!("{folder}/{own}"));
    let name = Name::new(name).map_err(|error| FileError::new(path, error))?;
    if metadata.is_symlink() {
        let target = fs::read_link(path).map_err(FileError::io(path))?;
        let target = target.to_str().ok_or_else(|| FileError::new(path, "its target is no text (UTF-8)"))?;
        let target = Target::new(target);
        target.check(&name).map_err(|error| FileError::new(path, error))?;
        return Ok((ManifestEntry { name, kind: Kind::Link { target } }, None));
    }
    // Bits beyond these, such as setuid, are not carried.
    let mode = (metadata.permissions().mode() & 0o777) as u16;
    if metadata.is_dir() {
        let inside = fs::read_dir(path).map_err(FileError::io(path))?;
        return Ok((ManifestEntry { name, kind: Kind::Folder { mode } }, Some(inside)));
    }
    // If it cannot be read, it is better to know now than in the middle.
    File::open(path).map_err(FileError::io(path))?;
    Ok((ManifestEntry { name, kind: Kind::File { size: metadata.len(), mode } }, None))
}
