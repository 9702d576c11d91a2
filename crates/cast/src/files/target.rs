//! Where received files go: below the folder that was named, and nowhere else.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::ErrorKind;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::FileError;
use crate::manifest::{Entry, Kind, Manifest};

/// Says whether all files of `manifest` can be put below `into`: nothing is in the way, or only files that may be replaced. No link
/// is followed below `into`.
pub(super) fn check(manifest: &Manifest, into: &Path, overwrite: bool) -> Result<(), FileError> {
    manifest.entries().iter().try_for_each(|entry| check_entry(entry, into, overwrite))
}

fn check_entry(entry: &Entry, into: &Path, overwrite: bool) -> Result<(), FileError> {
    for folder in entry.name.folders() {
        check_folder(&into.join(folder))?;
    }
    let path = entry.name.below(into);
    match (entry.kind, fs::symlink_metadata(&path)) {
        (_, Err(error)) if error.kind() == ErrorKind::NotFound => Ok(()),
        (_, Err(error)) => Err(FileError::new(&path, error)),
        (Kind::Folder, Ok(_)) => check_folder(&path),
        (Kind::File { .. }, Ok(there)) if there.is_dir() => Err(FileError::new(&path, "a folder is in the way")),
        (Kind::File { .. }, Ok(_)) if overwrite => Ok(()),
        (Kind::File { .. }, Ok(_)) => Err(FileError::new(&path, "it is there already; --overwrite replaces it")),
    }
}

fn check_folder(path: &Path) -> Result<(), FileError> {
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Err(error) => Err(FileError::new(path, error)),
        Ok(there) if there.is_dir() => Ok(()),
        Ok(there) if there.is_symlink() => Err(FileError::new(path, "it is a link, and links are not followed")),
        Ok(_) => Err(FileError::new(path, "it is in the way: it is no folder")),
    }
}

/// Puts the file `whole` in its place; or makes the folder.
pub(super) fn place(entry: &Entry, whole: &Path, into: &Path, overwrite: bool) -> Result<(), FileError> {
    check_entry(entry, into, overwrite)?;
    for folder in entry.name.folders() {
        make_folder(&into.join(folder))?;
    }
    let path = entry.name.below(into);
    let Kind::File { executable, .. } = entry.kind else { return make_folder(&path) };
    if executable {
        let mut permissions = fs::metadata(whole).map_err(FileError::io(whole))?.permissions();
        // Who may read it may run it.
        permissions.set_mode(permissions.mode() | (permissions.mode() & 0o444) >> 2);
        fs::set_permissions(whole, permissions).map_err(FileError::io(whole))?;
    }
    fs::rename(whole, &path).map_err(FileError::io(&path))
}

fn make_folder(path: &Path) -> Result<(), FileError> {
    match fs::create_dir(path) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => Err(FileError::new(path, error)),
        _ => check_folder(path),
    }
}

/// Sees to it that the disk has the names of all files, too.
pub(super) fn sync(manifest: &Manifest, into: &Path) -> Result<(), FileError> {
    let inner = manifest.entries().iter().flat_map(|entry| entry.name.folders());
    let folders: BTreeSet<PathBuf> = inner.map(|folder| into.join(folder)).chain([into.to_path_buf()]).collect();
    folders
        .iter()
        .try_for_each(|folder| File::open(folder).and_then(|folder| folder.sync_all()).map_err(FileError::io(folder)))
}
