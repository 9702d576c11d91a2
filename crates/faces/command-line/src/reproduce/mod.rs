//! `maquette reproduce`: reproduces the claims of papers.

mod cache;
mod robustness;

use std::fs;
use std::path::PathBuf;

use clap::Args;

use super::choice::choice;
use super::failure::Failure;
use super::progress::Bar;
use super::quantity::whole;
use super::{CommandOutput, cores, print};
use formats::interrupt;
use formats::output::{Unwritable, WholeFile};
use studies::{ClaimOutcome, PaperName, Progress, RunCache, Watch};

use cache::CachedRuns;

/// Reproduce the claims of papers, and write a report with their figures redrawn.
///
/// A claim is one or more conditions. Each is met, met with parameters that were fitted to it, missed, contradictory
/// (the paper itself prints something else) or not run; the exit status is 1 when one is missed. The paper with the
/// least work comes first, and the outcome for each paper is printed as soon as it is known. Ctrl-C ends it early: the
/// runs done by then are judged and reported. Results of runs are kept beside the report, and a run is repeated only
/// when something that it depends on has changed.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  maquette reproduce moc postal --json > claims.jsonl\n  \
                       maquette reproduce postal --robustness --draws 10")]
pub(super) struct Arguments {
    /// Which papers; all, if left out.
    #[arg(value_parser = choice::<PaperName>())]
    papers: Vec<PaperName>,
    /// The folder that index.html, the report, is written to.
    #[arg(long, value_name = "FOLDER", default_value = "report")]
    report: PathBuf,
    /// Repeat all runs, even those whose results are kept beside the report.
    #[arg(long)]
    again: bool,
    /// How many runs are made at the same time; as many as there are cores, if left out.
    #[arg(long, value_name = "N", value_parser = whole(1..=u16::MAX))]
    threads: Option<u16>,
    /// In place of a report, judge each condition with draws within 5 % of the costs that were chosen, and keep in how
    /// many of them it holds in EXPERIMENTS/PAPER/robustness.toml. Draws that are there are continued.
    #[arg(long)]
    robustness: bool,
    /// How many draws there are to be.
    #[arg(long, value_name = "N", default_value_t = studies::DRAWS, requires = "robustness")]
    #[arg(value_parser = whole(1..=u32::MAX))]
    draws: u32,
    /// The folder with a folder for each paper.
    #[arg(long, value_name = "FOLDER", default_value = "experiments", requires = "robustness")]
    experiments: PathBuf,
}

impl Arguments {
    pub(super) fn execute(self, as_json: bool) -> Result<CommandOutput, Failure> {
        let papers = chosen(&self.papers);
        let threads = self.threads.map_or_else(cores, usize::from);
        if self.robustness {
            return robustness::execute(&papers, (self.draws, &self.experiments), threads, as_json);
        }
        fs::create_dir_all(&self.report).map_err(|cause| Unwritable { path: self.report.clone(), cause })?;
        let file = WholeFile::create(&self.report.join("index.html"))?;
        let cache = CachedRuns::open(&self.report, self.again)?;
        let bar = Bar::new();
        let progress = |progress: Progress<'_>| {
            let Progress { done, total, share, .. } = progress;
            bar.show(share, format!("{done} of {total} runs"));
        };
        let watch = Watch { progress: &progress, interrupted: interrupt::flag(), threads };
        let judged = |outcomes: &[ClaimOutcome]| {
            if !as_json {
                // A reader that has stopped reading does not mind; the report is written all the same.
                let _ = bar.aside(|| print(&studies::verdicts(outcomes)));
            }
        };
        let reproduction = studies::reproduce(&papers, &watch, Some(&cache as &dyn RunCache), &judged)?;
        drop(bar);
        file.fill(reproduction.html.as_bytes())?;
        let text = if as_json {
            reproduction.json_lines()
        } else {
            let report = self.report.join("index.html");
            format!("{}{}The report is in {}.\n", reproduction.tally_text(), cache.reused_text(), report.display())
        };
        Ok(CommandOutput { text, status: reproduction.exit_status().into() })
    }
}

/// The papers that are asked for, each once; all, if none is.
fn chosen(papers: &[PaperName]) -> Vec<PaperName> {
    let asked_for = if papers.is_empty() { &PaperName::all()[..] } else { papers };
    let mut chosen: Vec<PaperName> = Vec::new();
    for paper in asked_for {
        if !chosen.contains(paper) {
            chosen.push(*paper);
        }
    }
    chosen
}
