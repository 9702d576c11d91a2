//! The claims of papers, reproduced: what a paper states, what we find, and whether they agree.
//!
//! A paper is a list of [`Study`]s, one per figure. Each says what must be run, judges the claims that depend on it,
//! and draws the figure. Runs that several studies need are made once.

pub mod bcast;
mod cache;
mod claims;
pub mod cm5;
mod condition;
mod costs;
mod findings;
pub mod lh;
pub mod moc;
mod outcome;
mod points;
pub mod postal;
mod render;
mod robustness;
mod runs;
#[cfg(test)]
mod tests;

use std::fmt::{Debug, Write as _};
use std::sync::atomic::Ordering;

pub use cache::{RunCache, VERSION};
pub use claims::{Claim, Claims, ClaimsError, Condition, Difference, Kind};
pub use condition::{Bound, Data, Limit, Tolerance};
pub use costs::Costs;
pub use findings::{CaseValue, Cell, Findings, Ours, Quantity};
pub use outcome::{Check, ClaimOutcome, JudgedCondition, Verdict, tally};
pub use points::{By, FigurePoint, Point, Value, points};
pub use render::plain;
pub use robustness::{DRAWS, Robustness, RobustnessError, robustness};
pub use runs::{MissingAnswer, Progress, Runs, StudyRun, Watch, plan, run_all};

use experiment::Provenance;
use report::Element;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// A figure or section of a paper: what must be run for it, how its claims are judged, how it is drawn.
pub struct Study<J, A> {
    /// Its name in the paper: `figure 5`.
    pub place: &'static str,
    /// Its subject.
    pub title: &'static str,
    /// The claims that depend on it.
    pub claims: &'static [&'static str],
    /// What must be run.
    pub jobs: fn() -> Vec<J>,
    /// What the runs say about one of its claims: the quantities that its conditions test.
    pub judge: Judge<J, A>,
    /// The figure, with its caption, if there is one.
    pub draw: Draw<J, A>,
}

/// Another configuration of a study: the verdicts that it has, which are kept with its robustness, are shown beside.
#[derive(Clone, Copy, Debug)]
pub struct OtherConfiguration<J> {
    /// Its name.
    pub name: &'static str,
    /// A run of the study in this configuration.
    pub of: fn(&J) -> J,
}

/// What the runs say about a claim.
pub type Judge<J, A> = fn(&Claim, &Runs<J, A>) -> Result<Findings, MissingAnswer>;
/// The figure drawn from the runs, with the published numbers of the claims.
pub type Draw<J, A> = fn(&Claims, &Runs<J, A>) -> Result<Option<Drawing>, MissingAnswer>;

/// A redrawn figure.
pub struct Drawing {
    /// The keys of its lines and bars.
    pub legend: Option<Element>,
    /// Its charts or tables.
    pub panels: Vec<Element>,
    /// Their caption.
    pub caption: String,
}

/// The papers whose claims can be reproduced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PaperName {
    /// Simulation of a Mesh of Clos Wormhole Network.
    Moc,
    /// Broadcast and Global Combine Operations Using the Postal Model.
    Postal,
    /// Scheduling Regular and Irregular Communication Patterns on the CM-5.
    Cm5,
    /// Evaluation of LH*LH for a Multicomputer Architecture.
    Lh,
    /// Efficient Reliable Broadcast for Commodity Clusters.
    Bcast,
}

impl PaperName {
    /// All of them.
    pub const fn all() -> [PaperName; 5] {
        [PaperName::Moc, PaperName::Postal, PaperName::Cm5, PaperName::Lh, PaperName::Bcast]
    }

    /// The file that says how robust its conditions are, from the root of the project.
    pub const fn robustness_file(self) -> &'static str {
        match self {
            PaperName::Moc => "experiments/moc/robustness.toml",
            PaperName::Postal => "experiments/postal/robustness.toml",
            PaperName::Cm5 => "experiments/cm5/robustness.toml",
            PaperName::Lh => "experiments/lh/robustness.toml",
            PaperName::Bcast => "experiments/bcast/robustness.toml",
        }
    }

    /// Its name, as it is written on a command line.
    pub const fn name(self) -> &'static str {
        match self {
            PaperName::Moc => "moc",
            PaperName::Postal => "postal",
            PaperName::Cm5 => "cm5",
            PaperName::Lh => "lh",
            PaperName::Bcast => "bcast",
        }
    }

    /// Its title.
    pub const fn about(self) -> &'static str {
        match self {
            PaperName::Moc => "Simulation of a Mesh of Clos Wormhole Network",
            PaperName::Postal => "Broadcast and Global Combine Operations Using the Postal Model",
            PaperName::Cm5 => "Scheduling Regular and Irregular Communication Patterns on the CM-5",
            PaperName::Lh => "Evaluation of LH*LH for a Multicomputer Architecture",
            PaperName::Bcast => "Efficient Reliable Broadcast for Commodity Clusters",
        }
    }
}

/// The outcome of every claim of some papers.
#[derive(Clone, Debug)]
pub struct Reproduction {
    /// One for every claim, in the order of the papers.
    pub outcomes: Vec<ClaimOutcome>,
    /// The report, one HTML file.
    pub html: String,
    /// Whether it was stopped before everything was run.
    pub interrupted: bool,
}

/// Reproduces the claims of `papers`, one paper after another, the one with the least work first, so that there is soon
/// something to read. `watch` receives the overall progress, and `judged` the claims of each paper as soon as they are
/// judged. With a `cache`, earlier runs are not repeated.
///
/// # Errors
/// An error in a file of claims.
pub fn reproduce(
    papers: &[PaperName],
    watch: &Watch<'_>,
    cache: Option<&dyn RunCache>,
    judged: &dyn Fn(&[ClaimOutcome]),
) -> Result<Reproduction, ClaimsError> {
    let mut work: Vec<(PaperName, f64)> = papers.iter().map(|&paper| (paper, estimate(paper).1)).collect();
    work.sort_by(|(_, one), (_, other)| one.total_cmp(other));
    let all: f64 = work.iter().map(|(_, work)| work).sum();
    let mut chapters = Vec::new();
    let mut before = 0.0;
    for (paper, work) in work {
        let progress = |progress: Progress<'_>| {
            let share = if all > 0.0 { (before + progress.share * work) / all } else { progress.share };
            (watch.progress)(Progress { share, ..progress });
        };
        let chapter = chapter(paper, &Watch { progress: &progress, ..*watch }, cache)?;
        judged(&chapter.outcomes);
        chapters.push((paper, chapter));
        before += work;
    }
    chapters.sort_by_key(|(paper, _)| papers.iter().position(|other| other == paper));
    Ok(Reproduction::of(chapters.into_iter().map(|(_, chapter)| chapter).collect()))
}

fn chapter(paper: PaperName, watch: &Watch<'_>, cache: Option<&dyn RunCache>) -> Result<Chapter, ClaimsError> {
    match paper {
        PaperName::Moc => conclude(moc::SUBJECT, moc::paper()?, &once(cache, paper, moc::run), watch),
        PaperName::Postal => conclude(postal::SUBJECT, postal::paper()?, &once(cache, paper, postal::run), watch),
        PaperName::Cm5 => conclude(cm5::SUBJECT, cm5::paper()?, &once(cache, paper, cm5::run), watch),
        PaperName::Lh => conclude(lh::SUBJECT, lh::paper()?, &once(cache, paper, lh::run), watch),
        PaperName::Bcast => conclude(bcast::SUBJECT, bcast::paper()?, &once(cache, paper, bcast::run), watch),
    }
}

/// `run`, which is skipped where `cache` has an answer of `paper`.
fn once<J: StudyRun + Debug, A: Serialize + DeserializeOwned>(
    cache: Option<&dyn RunCache>,
    paper: PaperName,
    run: fn(&J) -> Result<A, String>,
) -> impl Fn(&J) -> Result<A, String> + Sync {
    move |job| cache::once(cache, paper.name(), job, &run)
}

/// The cost of a reproduction of `paper`: the number of runs, and roughly how many seconds of one core.
pub fn estimate(paper: PaperName) -> (usize, f64) {
    match paper {
        PaperName::Moc => costs(&moc::STUDIES, moc::PACKET_HOPS_PER_SECOND),
        PaperName::Postal => costs(&postal::STUDIES, postal::PACKET_HOPS_PER_SECOND),
        PaperName::Cm5 => costs(&cm5::STUDIES, cm5::PACKET_HOPS_PER_SECOND),
        PaperName::Lh => costs(&lh::STUDIES, lh::PACKET_HOPS_PER_SECOND),
        PaperName::Bcast => costs(&bcast::STUDIES, bcast::FRAMES_PER_SECOND),
    }
}

fn costs<J: StudyRun, A>(studies: &[Study<J, A>], per_second: f64) -> (usize, f64) {
    let jobs = plan(studies.iter().flat_map(|study| (study.jobs)()));
    (jobs.len(), jobs.iter().map(StudyRun::cost).sum::<f64>() / per_second)
}

/// A paper as a whole, as the report describes it.
#[derive(Clone, Debug)]
pub struct Paper {
    /// Its name on the command line.
    pub key: &'static str,
    /// The heading of its report.
    pub title: &'static str,
    /// What was done, in a sentence or two.
    pub lead: &'static str,
    /// Its claims.
    pub claims: Claims,
    /// In how many draws of the chosen costs their conditions hold, if that is known.
    pub robustness: Option<Robustness>,
    /// What the reader must know about how it was run.
    pub remarks: Vec<&'static str>,
    /// The machines that were used: name, then assumed parameters.
    pub machines: Vec<(String, String)>,
}

/// The findings for one paper.
#[derive(Clone, Debug)]
pub struct Chapter {
    paper: Paper,
    outcomes: Vec<ClaimOutcome>,
    sections: Vec<Element>,
    interrupted: bool,
}

/// What is shown of a paper.
pub struct Subject<'a, J, A> {
    /// Its figures and sections.
    pub studies: &'a [Study<J, A>],
    /// Another configuration of all of their runs, if there is one.
    pub other: Option<OtherConfiguration<J>>,
    /// A point of each figure, for readers to have it themselves.
    pub points: &'a [Point<J, A>],
}

fn conclude<J: StudyRun, A: Send>(
    subject: Subject<'_, J, A>,
    paper: Paper,
    run: &(dyn Fn(&J) -> Result<A, String> + Sync),
    watch: &Watch<'_>,
) -> Result<Chapter, ClaimsError> {
    let Subject { studies, ref other, .. } = subject;
    let jobs = plan(studies.iter().flat_map(|study| (study.jobs)()));
    let runs = run_all(&jobs, run, watch);
    let judged = paper.claims.all.iter().filter_map(|claim| judge(studies, paper.claims.file, claim, &runs));
    let mut outcomes = judged.collect::<Result<Vec<ClaimOutcome>, ClaimsError>>()?;
    if let (Some(other), Some(robustness)) = (other, &paper.robustness) {
        outcomes.iter_mut().for_each(|outcome| outcome.add_other(other.name, robustness.verdicts_elsewhere(outcome)));
    }
    let sections = render::sections(&paper, &subject, &outcomes, &runs);
    let interrupted = watch.interrupted.load(Ordering::Relaxed) && runs.len() < jobs.len();
    Ok(Chapter { paper, outcomes, sections, interrupted })
}

/// The outcome of a claim of `file`; nothing if no study treats it.
fn judge<J: StudyRun, A>(
    studies: &[Study<J, A>],
    file: &'static str,
    claim: &Claim,
    runs: &Runs<J, A>,
) -> Option<Result<ClaimOutcome, ClaimsError>> {
    let study = studies.iter().find(|study| study.claims.contains(&claim.id.as_str()))?;
    let ran = ran(&plan((study.jobs)()), runs);
    Some(ClaimOutcome::of(file, claim, (study.judge)(claim, runs), ran))
}

/// What was run, in a line: the number of runs and the first and the last of them.
fn ran<J: StudyRun, A>(jobs: &[J], runs: &Runs<J, A>) -> String {
    let ended = jobs.iter().filter(|job| runs.get(job).is_ok()).count();
    match (jobs.first(), jobs.last()) {
        (Some(first), Some(last)) if jobs.len() > 1 => {
            format!("{ended} of {} runs, from {first} to {last}", jobs.len())
        }
        (Some(only), _) => format!("{ended} of 1 run: {only}"),
        _ => "the descriptions of the machines; nothing was simulated".to_string(),
    }
}

/// Verdicts as a table for a terminal, with remarks on each claim that was not met, that was fitted, or whose rule was
/// changed.
pub fn verdicts(outcomes: &[ClaimOutcome]) -> String {
    let width = outcomes.iter().map(|outcome| outcome.id.len()).max().unwrap_or(0);
    let mut text = String::new();
    for outcome in outcomes {
        let ours = render::plain(&outcome.ours);
        let unit = outcome.unit.as_deref().unwrap_or("");
        let _ = writeln!(text, "{:10}  {:width$}  {ours} {unit}", outcome.verdict.name(), outcome.id);
        for remark in outcome.remarks().into_iter().chain(outcome.differs_elsewhere()) {
            let _ = writeln!(text, "{:10}  {:width$}  {remark}", "", "");
        }
    }
    text
}

impl Reproduction {
    fn of(chapters: Vec<Chapter>) -> Reproduction {
        Reproduction {
            html: render::page(&chapters),
            interrupted: chapters.iter().any(|chapter| chapter.interrupted),
            outcomes: chapters.into_iter().flat_map(|chapter| chapter.outcomes).collect(),
        }
    }

    /// One JSON object per claim, each on a line of its own.
    pub fn json_lines(&self) -> String {
        let experiment = Provenance::of("reproduce");
        let object = |outcome: &ClaimOutcome| experiment.added_to(serde_json::to_value(outcome).unwrap_or_default());
        let line = |outcome: &ClaimOutcome| object(outcome).to_string() + "\n";
        self.outcomes.iter().map(line).collect()
    }

    /// How many conditions and claims have each verdict, and what was run: a line each.
    pub fn tally_text(&self) -> String {
        let counts = |of: &str, tally: [usize; 5]| {
            let counts =
                Verdict::ALL.iter().zip(tally).filter(|(verdict, count)| *count > 0 || **verdict != Verdict::NotRun);
            let counts = counts.map(|(verdict, count)| format!("{count} {}", verdict.words()));
            format!("{} {of}: {}\n", tally.iter().sum::<usize>(), counts.collect::<Vec<_>>().join("; "))
        };
        let conditions = counts("conditions", self.tally_of_conditions());
        conditions + &counts("claims", self.tally()) + &Provenance::of("reproduce").line()
    }

    /// How many claims have each verdict, in the order of [`Verdict::ALL`].
    pub fn tally(&self) -> [usize; 5] {
        tally(self.outcomes.iter().map(|outcome| outcome.verdict))
    }

    /// How many conditions of claims have each verdict, in the order of [`Verdict::ALL`].
    pub fn tally_of_conditions(&self) -> [usize; 5] {
        tally(self.outcomes.iter().flat_map(|outcome| &outcome.conditions).map(|condition| condition.verdict))
    }

    /// The exit status of the command: 1 if a claim was missed, 130 if it was interrupted, else 0.
    pub fn exit_status(&self) -> u8 {
        let missed = self.outcomes.iter().filter(|outcome| outcome.verdict == Verdict::Missed).count();
        match (missed, self.interrupted) {
            (0, false) => 0,
            (0, true) => 130,
            _ => 1,
        }
    }
}
