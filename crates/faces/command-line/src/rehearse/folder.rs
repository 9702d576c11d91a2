//! The output of a rehearsal: the fitted description, the predictions, the outcome.

use std::fs;
use std::path::{Path, PathBuf};

use experiment::{Error, Provenance};
use formats::input::InputFile;
use formats::output::WholeFile;
use tuning::rehearsal::Predictions;

use super::text::RehearsalReport;
use crate::failure::Failure;

/// The output folder.
pub(super) struct Folder {
    path: PathBuf,
    /// Whether it was made for this rehearsal.
    is_new: bool,
}

const FITTED: &str = "fitted.toml";
const PREDICTIONS: &str = "predictions.json";
pub(super) const OUTCOME: &str = "outcome.json";
const PAGE: &str = "index.html";

impl Folder {
    /// The folder `path`, which is created if it does not exist.
    ///
    /// # Errors
    /// If it has predictions, which nothing may replace, or if it cannot be created.
    pub(super) fn new(path: &Path) -> Result<Folder, Failure> {
        if path.join(PREDICTIONS).exists() {
            let allowed = "another folder: what was predicted stays as it is";
            return Err(Failure::argument("--out", format!("{PREDICTIONS} in {}", path.display()), allowed));
        }
        let is_new = !path.exists();
        fs::create_dir_all(path).map_err(|cause| Failure::argument("--out", cause, "a folder that can be made"))?;
        Ok(Folder { path: path.to_owned(), is_new })
    }

    /// Writes the predictions; returns the digest of the file.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub(super) fn write_predictions(&self, predictions: &Predictions) -> Result<String, Failure> {
        let wrong =
            |error: serde_json::Error| Failure::from(Error::parameter("predictions", error, "what JSON can hold"));
        let (path, text) = (self.path.join(PREDICTIONS), predictions.to_json().map_err(wrong)?);
        WholeFile::create(&self.path.join(FITTED))?.fill(predictions.description.as_bytes())?;
        for (number, state) in (2..).zip(predictions.states.iter().skip(1)) {
            let name = format!("fitted-{number}.toml");
            WholeFile::create(&self.path.join(name))?.fill(state.description.as_bytes())?;
        }
        WholeFile::create(&path)?.fill(text.as_bytes())?;
        Ok(InputFile::new(&path, text.as_bytes()).blake3().to_owned())
    }

    /// Writes the outcome, and the page that shows it.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub(super) fn write_outcome(&self, report: &RehearsalReport<'_>, provenance: &Provenance) -> Result<(), Failure> {
        WholeFile::create(&self.path.join(OUTCOME))?.fill(crate::json(&report.json(provenance)).as_bytes())?;
        Ok(WholeFile::create(&self.path.join(PAGE))?.fill(report.page(provenance).as_bytes())?)
    }
}

impl Drop for Folder {
    /// Removes it if it is new and nothing was written to it, since the rehearsal ended before.
    fn drop(&mut self) {
        if self.is_new {
            // A folder with files in it stays.
            let _ = fs::remove_dir(&self.path);
        }
    }
}
