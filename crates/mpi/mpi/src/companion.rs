//! A library of this project that is loaded into a process beside an MPI library, to call that in its own way.

use std::path::{Path, PathBuf};

use crate::OpenError;

/// The longest answer. [B]
const LONGEST: usize = 1 << 20;

/// The function that answers: it is passed the request with its length, and room for an answer, and returns the
/// answer's length.
type Answers = unsafe extern "C" fn(*const u8, usize, *mut u8, usize) -> usize;

/// A library that answers requests with texts, through a function of its own. It stays open until the process ends.
#[derive(Debug)]
pub struct Companion {
    path: PathBuf,
    answers: Answers,
}

impl Companion {
    /// Opens the library at `path`, whose function `name` answers.
    ///
    /// # Errors
    /// The library can't be opened, or has no such function.
    pub fn open(path: &Path, name: &str) -> Result<Companion, OpenError> {
        let unreadable =
            |error: libloading::Error| OpenError::Unreadable { path: path.to_path_buf(), problem: error.to_string() };
        // SAFETY: a library may do anything when it is opened; those of this project do nothing then.
        let library = unsafe { libloading::Library::new(path) }.map_err(unreadable)?;
        // SAFETY: functions of libraries of this project that answer requests have this type.
        let answers = *unsafe { library.get::<Answers>(name.as_bytes()) }.map_err(unreadable)?;
        std::mem::forget(library);
        Ok(Companion { path: path.to_path_buf(), answers })
    }

    /// Its answer to a request, from the thread on which MPI has begun; nothing if it is too long.
    pub fn answer(&self, request: &str) -> Option<String> {
        let mut room = vec![0_u8; LONGEST];
        // SAFETY: the text and the room have these lengths.
        let length = unsafe { (self.answers)(request.as_ptr(), request.len(), room.as_mut_ptr(), room.len()) };
        room.truncate(length);
        (length <= LONGEST).then(|| String::from_utf8_lossy(&room).into_owned())
    }

    /// The path of the library.
    pub fn path(&self) -> &Path {
        &self.path
    }
}
