//! Files on disk: what is sent is read ahead of the network, and what is received is written behind it, each by its own
//! thread.

mod folder;
mod listing;
mod reader;
mod target;
mod unfinished;
mod writing;

pub use folder::{Folder, Wishes};
pub use listing::{Listing, Unsendable, list};
pub use reader::PieceReader;

use std::io;
use std::path::{Path, PathBuf};

use quantities::shown_path;

/// An error of a file or a folder.
#[derive(Clone, Debug, thiserror::Error)]
#[error("`{}`: {what}", shown_path(path))]
pub struct FileError {
    /// Its path.
    pub path: PathBuf,
    /// What is wrong with it.
    pub what: String,
}

impl FileError {
    fn new(path: &Path, what: impl ToString) -> FileError {
        FileError { path: path.to_path_buf(), what: what.to_string() }
    }

    fn io(path: &Path) -> impl FnOnce(io::Error) -> FileError + '_ {
        move |cause| FileError::new(path, cause)
    }
}
