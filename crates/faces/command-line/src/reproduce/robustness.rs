//! `maquette reproduce --robustness`: in how many draws of the chosen costs each condition holds.

use std::fs;
use std::io;
use std::path::Path;

use formats::interrupt;
use formats::output::{Unwritable, WholeFile};
use quantities::Bytes;
use studies::{PaperName, Progress, Robustness, Watch};

use crate::CommandOutput;
use crate::failure::Failure;
use crate::progress::Bar;

/// The longest file that is read.
const LONGEST: Bytes = Bytes(1 << 20);

/// Makes draws of each of `papers` until there are as many as wanted, and keeps the counts after each.
///
/// # Errors
/// A file that cannot be read or written, or a file of claims with an error.
pub(super) fn execute(
    papers: &[PaperName],
    (draws, experiments): (u32, &Path),
    threads: usize,
    as_json: bool,
) -> Result<CommandOutput, Failure> {
    let bar = Bar::new();
    let mut text = String::new();
    for (number, &paper) in papers.iter().enumerate() {
        let folder = experiments.join(paper.name());
        fs::create_dir_all(&folder).map_err(|cause| Unwritable { path: folder.clone(), cause })?;
        let path = folder.join("robustness.toml");
        // It is not an input, which an output may not replace, but what is continued.
        let before = match quantities::read_at_most(&path, LONGEST) {
            Ok(text) => Robustness::parse(&path.display().to_string(), &String::from_utf8_lossy(&text))?,
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => None,
            Err(cause) => return Err(Unwritable { path, cause }.into()),
        };
        let progress = |progress: Progress<'_>| {
            let share = (number as f64 + progress.share) / papers.len() as f64;
            bar.show(share, format!("{}: {} of {} runs", paper.name(), progress.done, progress.total));
        };
        let watch = Watch { progress: &progress, interrupted: interrupt::flag(), threads };
        let mut last = None;
        studies::robustness(paper, draws, before, &watch, &mut |counted: &Robustness| {
            WholeFile::create(&path)?.fill(counted.text(paper).as_bytes())?;
            last = Some(counted.clone());
            Ok::<(), Failure>(())
        })?;
        text += &line((paper, &path), last.as_ref(), as_json);
    }
    drop(bar);
    let status = if interrupt::flag().load(std::sync::atomic::Ordering::Relaxed) { 130 } else { 0 };
    Ok(CommandOutput { text, status })
}

/// What is reported of a paper of which there are `counted` draws now in the file at `path`; none, if no further draw
/// was made.
fn line((paper, path): (PaperName, &Path), counted: Option<&Robustness>, as_json: bool) -> String {
    let draws = counted.map_or(0, |counted| counted.draws);
    if as_json {
        let claims = counted.map(|counted| &counted.claims);
        return serde_json::json!({"paper": paper.name(), "draws": draws, "claims": claims}).to_string() + "\n";
    }
    match counted {
        Some(_) => format!("{}: {draws} draws are in {}\n", paper.name(), path.display()),
        None => format!("{}: no further draw was made\n", paper.name()),
    }
}
