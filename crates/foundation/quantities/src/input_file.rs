//! Files that a person names are read up to a limit: what looks like a file can be a device that never ends.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use crate::Bytes;

/// The content of the file `path`, text or bytes, of at most `most`.
///
/// # Errors
/// When it cannot be read; of the kind [`io::ErrorKind::FileTooLarge`] when it is longer than `most`, and then no more
/// than that is read.
pub fn read_at_most(path: &Path, most: Bytes) -> io::Result<Vec<u8>> {
    let mut content = Vec::new();
    BoundedFile::open(path, most)?.read_to_end(&mut content)?;
    Ok(content)
}

/// A file that is read up to a limit. A longer one is an error of the kind [`io::ErrorKind::FileTooLarge`].
#[derive(Debug)]
pub struct BoundedFile {
    file: io::Take<File>,
    most: Bytes,
}

impl BoundedFile {
    /// The file `path`, of at most `most`.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub fn open(path: &Path, most: Bytes) -> io::Result<BoundedFile> {
        Ok(BoundedFile { file: File::open(path)?.take(most.0.saturating_add(1)), most })
    }
}

impl Read for BoundedFile {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read(buffer)?;
        if read > 0 && self.file.limit() == 0 {
            let problem = format!("it is longer than {}, the most that is read", self.most);
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, problem));
        }
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::read_at_most;
    use crate::Bytes;

    #[test]
    fn a_file_is_read_up_to_the_bound_and_not_beyond() {
        let path = std::env::temp_dir().join(format!("maquette-bounded-{}", std::process::id()));
        std::fs::write(&path, [7; 100]).unwrap();
        assert_eq!(read_at_most(&path, Bytes(100)).unwrap(), [7; 100]);
        let error = read_at_most(&path, Bytes(99)).unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::FileTooLarge);
        assert_eq!(error.to_string(), "it is longer than 99 B, the most that is read");
        std::fs::remove_file(path).unwrap();
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_device_without_end_is_too_long() {
        let error = read_at_most("/dev/zero".as_ref(), Bytes(1 << 20)).unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::FileTooLarge);
    }
}
