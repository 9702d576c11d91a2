//! What runs gave, kept in a file beside the report: a line that says what simulated them, then one of JSON for each run.

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
use studies::{Keeper, VERSION};

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

/// What runs gave.
pub(super) struct KeptRuns {
    /// What earlier commands found out.
    earlier: BTreeMap<String, String>,
    /// How many of these were asked for.
    found: AtomicUsize,
    file: Mutex<File>,
}

impl KeptRuns {
    /// The runs whose answers are kept in `folder`; none if they are to be made `again`, or were simulated by something else.
    ///
    /// # Errors
    /// A file that can't be read or written.
    pub(super) fn open(folder: &Path, again: bool) -> Result<KeptRuns, Failure> {
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
        Ok(KeptRuns { earlier, found: AtomicUsize::new(0), file: Mutex::new(file) })
    }

    /// How many runs were not made again, in a line; nothing if all were made.
    pub(super) fn told(&self) -> String {
        match self.found.load(Ordering::Relaxed) {
            0 => String::new(),
            1 => "1 run is of an earlier time; --again makes it again.\n".to_string(),
            found => format!("{found} runs are of an earlier time; --again makes them again.\n"),
        }
    }
}

/// How long the part of `text` is that can be used, which begins with `head` and ends before a line that was cut short, and what
/// its runs gave. [B]
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

impl Keeper for KeptRuns {
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
            // Where there is no room, the run is made again the next time.
            let _ = file.write_all(line.as_bytes());
        }
    }
}
