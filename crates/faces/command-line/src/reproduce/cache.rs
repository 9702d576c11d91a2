//! The results of runs, kept in a file next to the report: a line that identifies the simulator, then a line of JSON
//! for each run.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use formats::input;
use formats::output::Unwritable;
use quantities::Bytes;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use studies::{RunCache, VERSION};

use crate::failure::Failure;

/// The name of the file.
const NAME: &str = "runs.jsonl";
/// The longest file that is read.
const LONGEST: Bytes = Bytes(4 << 30);

/// The line that a file begins with.
#[derive(PartialEq, Serialize, Deserialize)]
struct Head {
    simulated_by: String,
}

/// The line of a run.
#[derive(Serialize, Deserialize)]
struct Line<'a> {
    run: std::borrow::Cow<'a, str>,
    #[serde(borrow)]
    answer: std::borrow::Cow<'a, RawValue>,
}

/// The kept results of runs.
pub(super) struct CachedRuns {
    /// The results of earlier commands.
    earlier: BTreeMap<String, String>,
    /// How many of these were asked for.
    found: AtomicUsize,
    file: Mutex<File>,
}

impl CachedRuns {
    /// The results kept in `folder`; none if the runs are to be made `again`, or were made by another version of the
    /// simulator.
    ///
    /// # Errors
    /// A file that cannot be read or written.
    pub(super) fn open(folder: &Path, again: bool) -> Result<CachedRuns, Failure> {
        let path = folder.join(NAME);
        let unwritable = |cause| Unwritable { path: path.clone(), cause };
        let head = serde_json::to_string(&Head { simulated_by: VERSION.to_string() })
            .map_err(|error| unwritable(error.into()))?;
        let text = match input::read_text(&path, LONGEST) {
            Ok(text) if !again => text,
            Ok(_) => String::new(),
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => String::new(),
            Err(cause) => return Err(unwritable(cause).into()),
        };
        let (whole, earlier) = answers_below(&head, &text);
        let mut file = OpenOptions::new().create(true).append(true).open(&path).map_err(unwritable)?;
        file.set_len(whole as u64).map_err(unwritable)?;
        if whole == 0 {
            writeln!(file, "{head}").map_err(unwritable)?;
        }
        Ok(CachedRuns { earlier, found: AtomicUsize::new(0), file: Mutex::new(file) })
    }

    /// A line that says how many runs were not repeated; empty if all were made.
    pub(super) fn reused_text(&self) -> String {
        match self.found.load(Ordering::Relaxed) {
            0 => String::new(),
            1 => "1 run is from an earlier reproduction; --again repeats it.\n".to_string(),
            found => format!("{found} runs are from an earlier reproduction; --again repeats them.\n"),
        }
    }
}

/// The length of the usable part of `text`, which begins with `head` and ends before a truncated line, and the results
/// in it. [B]
fn answers_below(head: &str, text: &str) -> (usize, BTreeMap<String, String>) {
    let mut answers = BTreeMap::new();
    let mut lines = text.split_inclusive('\n');
    let Some(first) = lines.next().filter(|line| line.strip_suffix('\n') == Some(head)) else { return (0, answers) };
    let mut whole = first.len();
    for line in lines {
        let Ok(Line { run, answer }) = serde_json::from_str(line) else { break };
        if !line.ends_with('\n') {
            break;
        }
        answers.insert(run.into_owned(), answer.get().to_string());
        whole += line.len();
    }
    (whole, answers)
}

impl RunCache for CachedRuns {
    fn find(&self, run: &str) -> Option<String> {
        let answer = self.earlier.get(run)?;
        self.found.fetch_add(1, Ordering::Relaxed);
        Some(answer.clone())
    }

    fn keep(&self, run: &str, answer: &str) {
        let Ok(answer) = serde_json::from_str::<&RawValue>(answer) else { return };
        let line = Line { run: run.into(), answer: std::borrow::Cow::Borrowed(answer) };
        if let Ok(mut line) = serde_json::to_string(&line) {
            line.push('\n');
            let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
            // If there is no room, the run is repeated the next time.
            let _ = file.write_all(line.as_bytes());
        }
    }
}
