//! Where received files go: below the given folder, and nowhere else.
//!
//! They get the modes of the sender's files, without the bits that the receiver's umask removes. Existing folders keep
//! theirs. A new folder is created writable for its owner, and gets its final mode when everything is in place: nobody
//! else may ever do more in it than in the end.

use std::collections::BTreeSet;
use std::fs::{self, DirBuilder, File, Permissions};
use std::io::ErrorKind;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use nix::fcntl::{AT_FDCWD, AtFlags};
use nix::unistd::{AccessFlags, faccessat};

use super::FileError;
use crate::manifest::{Kind, Manifest, ManifestEntry};

/// Checks that all files of `manifest` can be put below `into`: nothing is in the way, except files that may be
/// replaced. No link is followed below `into`.
pub(super) fn check(manifest: &Manifest, into: &Path, overwrite: bool) -> Result<(), FileError> {
    manifest.entries().iter().try_for_each(|entry| check_entry(entry, into, overwrite))
}

fn check_entry(entry: &ManifestEntry, into: &Path, overwrite: bool) -> Result<(), FileError> {
    let mut innermost = into.to_path_buf();
    for folder in entry.name.folders().map(|folder| into.join(folder)) {
        check_folder(&folder)?;
        innermost = if folder.exists() { folder } else { innermost };
    }
    faccessat(AT_FDCWD, &innermost, AccessFlags::W_OK | AccessFlags::X_OK, AtFlags::AT_EACCESS)
        .map_err(|error| FileError::new(&innermost, format!("nothing can be written in it: {}", error.desc())))?;
    let path = entry.name.below(into);
    match (&entry.kind, fs::symlink_metadata(&path)) {
        (_, Err(error)) if error.kind() == ErrorKind::NotFound => Ok(()),
        (_, Err(error)) => Err(FileError::new(&path, error)),
        (Kind::Folder { .. }, Ok(_)) => check_folder(&path),
        (_, Ok(there)) if there.is_dir() => Err(FileError::new(&path, "a folder is in the way")),
        (_, Ok(_)) if overwrite => Ok(()),
        (_, Ok(_)) => Err(FileError::new(&path, "it is there already; --overwrite replaces it")),
    }
}

fn check_folder(path: &Path) -> Result<(), FileError> {
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Err(error) => Err(FileError::new(path, error)),
        Ok(there) if there.is_dir() => Ok(()),
        Ok(there) if there.is_symlink() => Err(FileError::new(path, "it is a link, and links are not followed")),
        Ok(_) => Err(FileError::new(path, "it is in the way: it is not a folder")),
    }
}

/// Puts the complete file `whole` in place, or creates the folder or the link; returns true for a folder that did not
/// exist.
pub(super) fn place(entry: &ManifestEntry, whole: &Path, into: &Path, overwrite: bool) -> Result<bool, FileError> {
    check_entry(entry, into, overwrite)?;
    for folder in entry.name.folders() {
        make_folder(&into.join(folder), 0o777)?;
    }
    let path = entry.name.below(into);
    match &entry.kind {
        Kind::Folder { mode } => return make_folder(&path, u32::from(*mode)),
        Kind::File { mode, .. } => restrict(whole, u32::from(*mode))?,
        Kind::Link { target } => match fs::remove_file(whole) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(FileError::new(whole, error)),
            _ => symlink(target.as_str(), whole).map_err(FileError::io(whole))?,
        },
    }
    // A link that is in place is replaced, and not followed.
    fs::rename(whole, &path).map_err(FileError::io(&path)).map(|()| false)
}

/// Creates a folder with this mode, as far as the umask permits, that its owner can write in; false if it exists.
fn make_folder(path: &Path, mode: u32) -> Result<bool, FileError> {
    match DirBuilder::new().mode(mode | 0o700).create(path) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => check_folder(path).map(|()| false),
        Err(error) => Err(FileError::new(path, error)),
        Ok(()) => Ok(true),
    }
}

/// Removes from a file or folder the permissions that `mode` lacks. It was created with everything that the umask
/// permits. Other bits, such as those that a folder may inherit from its parent, stay.
pub(super) fn restrict(path: &Path, mode: u32) -> Result<(), FileError> {
    let now = fs::metadata(path).map_err(FileError::io(path))?.permissions().mode();
    fs::set_permissions(path, Permissions::from_mode(now & (mode | !0o777))).map_err(FileError::io(path))
}

/// Makes sure that the names of all files are on disk, too.
pub(super) fn sync(manifest: &Manifest, into: &Path) -> Result<(), FileError> {
    let inner = manifest.entries().iter().flat_map(|entry| entry.name.folders());
    let folders: BTreeSet<PathBuf> = inner.map(|folder| into.join(folder)).chain([into.to_path_buf()]).collect();
    folders
        .iter()
        .try_for_each(|folder| File::open(folder).and_then(|folder| folder.sync_all()).map_err(FileError::io(folder)))
}
