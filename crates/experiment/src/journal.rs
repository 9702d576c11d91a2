//! The finished part of a sweep, kept on disk while it runs: a line that identifies the sweep, then a line of JSON for each row.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use formats::input;
use formats::output::Unwritable;
use quantities::Bytes;

use crate::Error;
use crate::sweep::{Row, Sweep};

/// The longest journal accepted.
const LONGEST: Bytes = Bytes(8 << 30);

/// The finished part of a sweep.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    file: File,
}

impl Journal {
    /// The journal of the `sweep` whose table goes to the file `out`, and the rows already in it.
    ///
    /// # Errors
    /// If the file can't be read or written, or is the journal of another sweep.
    pub fn open(out: &Path, sweep: &Sweep) -> Result<(Journal, Vec<Row>), Error> {
        let mut name = out.file_name().unwrap_or_default().to_owned();
        name.push(".done.jsonl");
        let path = out.with_file_name(name);
        let head = sweep.json().to_string();
        let rows = match input::read_text(&path, LONGEST) {
            Ok(text) => rows_of(&path, &text, &head)?,
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => Vec::new(),
            Err(cause) => return Err(Error::Unreadable { path, cause }),
        };
        let unwritable = |cause| Unwritable { path: path.clone(), cause };
        // Rewriting it removes a line that was cut short.
        let mut file = File::create(&path).map_err(unwritable)?;
        writeln!(file, "{head}").map_err(unwritable)?;
        drop(file);
        let file = OpenOptions::new().append(true).open(&path).map_err(unwritable)?;
        let mut journal = Journal { path, file };
        rows.iter().try_for_each(|row| journal.add(row))?;
        Ok((journal, rows))
    }

    /// Adds a row.
    ///
    /// # Errors
    /// If the file can't be written.
    pub fn add(&mut self, row: &Row) -> Result<(), Error> {
        let unwritable = |cause| Unwritable { path: self.path.clone(), cause };
        let mut line = serde_json::to_string(row).map_err(|error| unwritable(error.into()))?;
        line.push('\n');
        Ok(self.file.write_all(line.as_bytes()).map_err(unwritable)?)
    }

    /// Removes it: the table has been written.
    ///
    /// # Errors
    /// If the file can't be removed.
    pub fn remove(self) -> Result<(), Error> {
        Ok(fs::remove_file(&self.path).map_err(|cause| Unwritable { path: self.path, cause })?)
    }
}

/// The rows of a journal that begins with `head`. An incomplete last line does not count.
fn rows_of(path: &Path, text: &str, head: &str) -> Result<Vec<Row>, Error> {
    let mut lines = text.lines();
    if lines.next() != Some(head) {
        let problem =
            "found the finished points of another sweep; allowed are those of this one, or no such file".to_owned();
        return Err(Error::Text { file: path.display().to_string(), place: None, problem, suggestion: None });
    }
    Ok(lines.map_while(|line| serde_json::from_str(line).ok()).collect())
}
