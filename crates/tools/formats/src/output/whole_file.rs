//! Files that are whole or absent.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use super::files;
use crate::interrupt;

use quantities::shown_path;

/// A file that cannot be written.
#[derive(Debug, thiserror::Error)]
#[error("cannot write `{}`: {cause}", shown_path(path))]
pub struct Unwritable {
    /// The file, as it was named.
    pub path: PathBuf,
    /// The system's error.
    pub cause: io::Error,
}

/// A file that is written under another name in the same folder, and renamed when it is whole.
///
/// Creating one shows whether the file can be written, so it is created before a long run begins. One that is dropped
/// before [`WholeFile::finish`] leaves nothing behind.
#[derive(Debug)]
pub struct WholeFile {
    /// The file that was asked for.
    path: PathBuf,
    /// Its name until it is whole; none where nothing is renamed, as for a pipe.
    unfinished: Option<PathBuf>,
    writer: BufWriter<File>,
}

impl WholeFile {
    /// Begins the file `path`.
    ///
    /// # Errors
    /// When no file of this name can be written.
    pub fn create(path: &Path) -> Result<WholeFile, Unwritable> {
        let fail = |cause| Unwritable { path: path.to_path_buf(), cause };
        if path.is_dir() {
            return Err(fail(io::Error::new(io::ErrorKind::IsADirectory, "it is a folder")));
        }
        files::writes(path).map_err(fail)?;
        WholeFile::begin(path).inspect_err(|_| files::written(path)).map_err(fail)
    }

    fn begin(path: &Path) -> io::Result<WholeFile> {
        // A device or a pipe is written directly: replacing it by a file is not what was meant.
        let unfinished = (!path.exists() || path.is_file()).then(|| unfinished_name(path)).transpose()?;
        let file = match &unfinished {
            Some(name) => {
                interrupt::removes(name);
                File::create(name).inspect_err(|_| interrupt::keeps(name))?
            }
            None => File::options().write(true).open(path)?,
        };
        Ok(WholeFile { path: path.to_path_buf(), unfinished, writer: BufWriter::new(file) })
    }

    /// Renames the file to its final name, now that it is whole.
    ///
    /// # Errors
    /// When its end cannot be written.
    pub fn finish(mut self) -> Result<(), Unwritable> {
        let flushed = self.writer.flush();
        let renamed = flushed.and_then(|()| match &self.unfinished {
            Some(name) => fs::rename(name, place(&self.path)).inspect(|()| interrupt::keeps(name)),
            None => Ok(()),
        });
        match renamed {
            Ok(()) => {
                self.unfinished = None;
                Ok(())
            }
            Err(cause) => Err(self.unwritable(cause)),
        }
    }

    /// Writes all of `content`, and finishes the file.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn fill(mut self, content: &[u8]) -> Result<(), Unwritable> {
        match self.writer.write_all(content) {
            Ok(()) => self.finish(),
            Err(cause) => Err(self.unwritable(cause)),
        }
    }

    /// The error that this file cannot be written, because of `cause`.
    pub fn unwritable(&self, cause: io::Error) -> Unwritable {
        Unwritable { path: self.path.clone(), cause }
    }
}

impl Write for WholeFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.writer.write(bytes)
    }
    fn flush(&mut self) -> io::Result<()> {
        self.writer.flush()
    }
}

impl Drop for WholeFile {
    fn drop(&mut self) {
        if let Some(name) = &self.unfinished {
            // If this fails, there is nobody left to report it to.
            let _ = fs::remove_file(name);
            interrupt::keeps(name);
        }
        files::written(&self.path);
    }
}

/// Writes `content` to the file `path`, or leaves the old file as it was.
///
/// # Errors
/// When it cannot be written.
pub fn write_whole(path: &Path, content: &[u8]) -> Result<(), Unwritable> {
    WholeFile::create(path)?.fill(content)
}

/// Where `path` leads: a link's target is replaced, not the link.
fn place(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf())
}

/// The longest file name that all usual file systems allow. [B]
const LONGEST_NAME: usize = 255;

/// A hidden name in the folder of `path`, and so on the same disk. A long name is cut to its beginning and given a
/// number, since another may begin the same way.
fn unfinished_name(path: &Path) -> io::Result<PathBuf> {
    let place = place(path);
    let name =
        place.file_name().ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "it is not a file's name"))?;
    let process = std::process::id();
    let whole = format!(".unfinished-{process}");
    let mut hidden = OsString::from(".");
    if 1 + name.len() + whole.len() <= LONGEST_NAME {
        hidden.push(name);
        hidden.push(whole);
    } else {
        static SHORTENED: AtomicU32 = AtomicU32::new(0);
        let number = SHORTENED.fetch_add(1, Ordering::Relaxed);
        hidden.push(name.to_string_lossy().chars().take(LONGEST_NAME / 8).collect::<String>());
        hidden.push(format!(".unfinished-{process}-{number}"));
    }
    Ok(place.with_file_name(hidden))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("maquette-{name}-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        folder
    }

    fn names(folder: &Path) -> Vec<String> {
        let name = |entry: io::Result<fs::DirEntry>| entry.unwrap().file_name().into_string().unwrap();
        fs::read_dir(folder).unwrap().map(name).collect()
    }

    #[test]
    fn a_file_appears_when_it_is_whole() {
        let folder = folder("whole");
        let mut file = WholeFile::create(&folder.join("a.csv")).unwrap();
        file.write_all(b"1,2\n").unwrap();
        assert!(!folder.join("a.csv").exists());
        file.finish().unwrap();
        assert_eq!(fs::read(folder.join("a.csv")).unwrap(), b"1,2\n");
        assert_eq!(names(&folder), ["a.csv"]);
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn one_that_is_given_up_leaves_the_old_one_and_nothing_else() {
        let folder = folder("given-up");
        write_whole(&folder.join("a.csv"), b"old").unwrap();
        let mut file = WholeFile::create(&folder.join("a.csv")).unwrap();
        file.write_all(b"new").unwrap();
        drop(file);
        assert_eq!(fs::read(folder.join("a.csv")).unwrap(), b"old");
        assert_eq!(names(&folder), ["a.csv"]);
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn what_cannot_be_written_is_found_at_once() {
        let folder = folder("unwritable");
        assert!(WholeFile::create(&folder).is_err());
        assert!(WholeFile::create(&folder.join("no/such/folder.csv")).is_err());
        assert!(WholeFile::create(Path::new("")).is_err());
        fs::remove_dir_all(folder).unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn a_device_is_written_and_stays_a_device() {
        write_whole(Path::new("/dev/null"), b"nothing").unwrap();
        assert!(!Path::new("/dev/null").is_file());
    }
}
