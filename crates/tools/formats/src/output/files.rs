//! Tracks which files this thread's command reads and writes, so that none is both read and written.
//!
//! A file is identified by what it is, not by its name: links and other paths to it count. One that does not exist yet
//! is identified by its folder and its name in it.

use std::cell::RefCell;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::{fs, io};

/// The identity of a file, whatever its name.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Identity {
    /// It exists: its device and its inode number there.
    There(u64, u64),
    /// It does not exist yet: its folder and its name.
    NotYet(Box<Identity>, OsString),
}

/// Files by identity, with the names by which they were given.
#[derive(Debug, Default)]
struct Files {
    read: Vec<(Identity, PathBuf)>,
    written: Vec<(Identity, PathBuf)>,
}

thread_local! {
    static FILES: RefCell<Files> = RefCell::default();
}

/// Forgets what an earlier command read and wrote.
pub fn forget() {
    FILES.with_borrow_mut(|files| *files = Files::default());
}

/// Records that the command reads `path`.
///
/// # Errors
/// When it also writes it.
pub fn reads(path: &Path) -> io::Result<()> {
    let Some(identity) = identity(path) else { return Ok(()) };
    FILES.with_borrow_mut(|files| {
        refuse(&files.written, &identity, "is also to be written")?;
        files.read.push((identity, path.to_path_buf()));
        Ok(())
    })
}

/// Records that the command writes `path`, until [`written`].
///
/// # Errors
/// When it also reads it, or writes it as something else.
pub(super) fn writes(path: &Path) -> io::Result<()> {
    let Some(identity) = identity(path) else { return Ok(()) };
    FILES.with_borrow_mut(|files| {
        refuse(&files.read, &identity, "is also read")?;
        refuse(&files.written, &identity, "is also to be written")?;
        files.written.push((identity, path.to_path_buf()));
        Ok(())
    })
}

/// Records that `path` is no longer being written.
pub(super) fn written(path: &Path) {
    FILES.with_borrow_mut(|files| files.written.retain(|(_, known)| known != path));
}

fn refuse(files: &[(Identity, PathBuf)], identity: &Identity, why: &str) -> io::Result<()> {
    let Some((_, known)) = files.iter().find(|file| file.0 == *identity) else { return Ok(()) };
    let reason = format!("it is the same file as `{}`, which {why}", known.display());
    Err(io::Error::new(io::ErrorKind::InvalidInput, reason))
}

/// The identity of the file of this name. None for a device or a pipe, which may be read and written at once, nor for a
/// name that no file can have, which fails when it is read or written.
fn identity(path: &Path) -> Option<Identity> {
    if let Ok(metadata) = fs::metadata(path) {
        return if metadata.is_file() { of_metadata(path, &metadata) } else { None };
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let folder = of_metadata(folder, &fs::metadata(folder).ok()?)?;
    Some(Identity::NotYet(Box::new(folder), path.file_name()?.to_os_string()))
}

#[cfg(unix)]
fn of_metadata(_: &Path, metadata: &fs::Metadata) -> Option<Identity> {
    use std::os::unix::fs::MetadataExt;
    Some(Identity::There(metadata.dev(), metadata.ino()))
}

#[cfg(not(unix))]
fn of_metadata(path: &Path, _: &fs::Metadata) -> Option<Identity> {
    let resolved = fs::canonicalize(path).ok()?;
    Some(Identity::NotYet(Box::new(Identity::There(0, 0)), resolved.into_os_string()))
}

#[cfg(test)]
mod tests {
    use super::{forget, reads, writes, written};
    use std::fs;
    use std::path::PathBuf;

    fn folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("maquette-same-{name}-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        folder
    }

    #[test]
    fn what_is_read_is_not_written_by_whatever_name() {
        let folder = folder("read");
        let file = folder.join("a");
        fs::write(&file, "a").unwrap();
        fs::hard_link(&file, folder.join("hard")).unwrap();
        std::os::unix::fs::symlink(&file, folder.join("soft")).unwrap();
        reads(&file).unwrap();
        for name in ["a", "hard", "soft", "./a"] {
            let error = writes(&folder.join(name)).unwrap_err().to_string();
            assert!(
                error.starts_with("it is the same file as `") && error.ends_with("a`, which is also read"),
                "{error}"
            );
        }
        writes(&folder.join("b")).unwrap();
        forget();
        writes(&file).unwrap();
        assert!(reads(&folder.join("soft")).is_err());
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn what_is_not_there_yet_is_written_once() {
        let folder = folder("new");
        std::os::unix::fs::symlink(&folder, folder.join("again")).unwrap();
        writes(&folder.join("new")).unwrap();
        assert!(writes(&folder.join("again/new")).is_err());
        written(&folder.join("new"));
        writes(&folder.join("again/new")).unwrap();
        writes("/dev/null".as_ref()).unwrap();
        writes("/dev/null".as_ref()).unwrap();
        fs::remove_dir_all(folder).unwrap();
    }
}
