//! `maquette reproduce`: a paper's claims, run again.

use std::fs;
use std::path::PathBuf;

use clap::Args;

use super::failure::Failure;
use super::progress::Bar;
use super::{Said, cores};
use crate::interrupt;
use crate::output::{Unwritable, WholeFile};
use crate::reproduce::{self, PaperName, Progress, Watch};

/// Run the claims of a paper again, and write a report with its figures drawn anew.
///
/// Each claim is met, missed or not run; the exit status is 1 when one is missed. Ctrl-C ends it early: what was run by
/// then is judged and written.
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  maquette reproduce moc --json > claims.jsonl")]
pub(super) struct Arguments {
    /// Which paper.
    paper: PaperName,
    /// The folder that index.html, the report, is written to.
    #[arg(long, value_name = "FOLDER", default_value = "report")]
    report: PathBuf,
    /// How many runs go on at once; as many as there are cores, if left out.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
}

impl Arguments {
    pub(super) fn execute(self, as_json: bool) -> Result<Said, Failure> {
        fs::create_dir_all(&self.report).map_err(|cause| Unwritable { path: self.report.clone(), cause })?;
        let file = WholeFile::create(&self.report.join("index.html"))?;
        let threads = self.threads.map_or_else(cores, usize::from);
        let bar = Bar::new();
        let progress = |progress: Progress<'_>| {
            let Progress { done, total, share, .. } = progress;
            bar.show(share, format!("{done} of {total} runs"));
        };
        let watch = Watch { progress: &progress, interrupted: interrupt::flag(), threads };
        let reproduction = reproduce::reproduce(self.paper, &watch);
        drop(bar);
        file.fill(reproduction.html.as_bytes())?;
        let text = if as_json {
            reproduction.json_lines()
        } else {
            format!("{}The report is in {}.\n", reproduction.text(), self.report.join("index.html").display())
        };
        Ok(Said { text, status: reproduction.exit_status().into() })
    }
}
