//! How robust the verdicts are: in how many draws of the costs that were chosen each condition of a paper holds.
//!
//! `maquette reproduce --robustness` makes all runs of a paper again with each draw, judges every condition, and keeps
//! the counts in `experiments/<paper>/robustness.toml`, with the commit that made them. A report shows them beside the
//! verdicts.

use std::collections::BTreeMap;
use std::fmt::{Debug, Write as _};

use serde::Deserialize;

use experiment::build;

use super::claims::{Claim, ClaimsError};
use super::costs::{Costs, SPREAD};
use super::outcome::{ClaimOutcome, Verdict};
use super::runs::{Progress, Runs, StudyRun, Watch, plan, run_all};
use super::{Paper, PaperName, Study, Subject, bcast, cm5, lh, moc, postal};

/// Why robustness can't be counted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RobustnessError {
    /// An error in a file of claims.
    #[error(transparent)]
    Claims(#[from] ClaimsError),
    /// A file of draws that cannot be read.
    #[error("{file}:{line}: {problem}")]
    File {
        /// The file.
        file: String,
        /// In which line, from 1.
        line: usize,
        /// What is wrong there.
        problem: String,
    },
    /// A run that fails with drawn costs: nothing is known of the conditions that need it.
    #[error("draw {draw}: the run of {run} failed: {why}")]
    Run {
        /// The number of the draw, from 0.
        draw: u32,
        /// Which run.
        run: String,
        /// Why.
        why: String,
    },
}

/// A hash of the sources of everything on which a verdict depends: engines, programs, presets, jobs, claims.
const JUDGED_BY: &str = env!("MAQUETTE_JUDGED_BY");
/// How many draws are usual.
pub const DRAWS: u32 = 50;
/// A condition is robust if it holds in this share of the draws.
const ROBUST: f64 = 0.9;

/// In how many draws each condition of a paper holds.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Robustness {
    /// The commit that made the draws.
    pub commit: String,
    /// The hash of everything on which a verdict depends. Draws of another one are not continued.
    pub judged_by: String,
    /// How many draws there are.
    pub draws: u32,
    /// By how much a cost is varied at most. [%]
    pub within_percent: f64,
    /// For each claim and each of its conditions, in how many draws it holds.
    pub claims: BTreeMap<String, Vec<u32>>,
    /// The verdicts of the same in the other configuration of the study, if it has one.
    #[serde(default)]
    pub other: BTreeMap<String, Vec<Verdict>>,
}

impl Robustness {
    /// Reads the `text` of a `file`; none if there is nothing in it.
    ///
    /// # Errors
    /// What is wrong with it, and in which line.
    pub fn parse(file: &str, text: &str) -> Result<Option<Robustness>, RobustnessError> {
        Robustness::read(text).map_err(|(line, problem)| RobustnessError::File {
            file: file.to_string(),
            line,
            problem,
        })
    }

    /// The same of the file of `paper`, which is part of the program.
    ///
    /// # Errors
    /// What is wrong with it, and in which line.
    pub(crate) fn of_paper(paper: PaperName, text: &str) -> Result<Option<Robustness>, ClaimsError> {
        let file = paper.robustness_file();
        Robustness::read(text).map_err(|(line, problem)| ClaimsError { file, line, problem, suggestion: None })
    }

    /// Reads a file, or says in which line what is wrong.
    fn read(text: &str) -> Result<Option<Robustness>, (usize, String)> {
        if text.trim().is_empty() {
            return Ok(None);
        }
        let failed = |error: toml::de::Error| {
            let before = error.span().and_then(|span| text.get(..span.start));
            let line = before.map_or(1, |before| before.matches('\n').count() + 1);
            (line, error.message().trim_end().replace('\n', "; "))
        };
        toml::from_str(text).map(Some).map_err(failed)
    }

    /// No draw yet of the conditions of `paper`, without the claims that no cost decides.
    fn none(paper: &Paper, undecided: &[&str]) -> Robustness {
        let none = |claim: &Claim| (claim.id.clone(), vec![0; claim.conditions.len()]);
        Robustness {
            commit: build().to_string(),
            judged_by: JUDGED_BY.to_string(),
            draws: 0,
            within_percent: SPREAD * 100.0,
            claims: paper.claims.all.iter().filter(|claim| !undecided.contains(&claim.id.as_str())).map(none).collect(),
            other: BTreeMap::new(),
        }
    }

    /// The file.
    pub fn text(&self, paper: PaperName) -> String {
        let Robustness { commit, judged_by, draws, within_percent, claims, other } = self;
        let mut text = format!(
            "# In how many draws of the costs that were chosen each condition of claims.toml holds, in its order.\n\
             # Made by `maquette reproduce {} --robustness`; crates/tools/studies/src/robustness.rs documents it.\n\n\
             commit = \"{commit}\"\njudged_by = \"{judged_by}\"\ndraws = {draws}\nwithin_percent = {within_percent}\n\n[claims]\n",
            paper.name()
        );
        for (claim, kept) in claims {
            let _ = writeln!(text, "\"{claim}\" = {kept:?}");
        }
        if !other.is_empty() {
            text += "\n# The verdicts in the other configuration of the study.\n[other]\n";
        }
        for (claim, verdicts) in other {
            let names: Vec<&str> = verdicts.iter().map(|verdict| verdict.name()).collect();
            let _ = writeln!(text, "\"{claim}\" = {names:?}");
        }
        text
    }

    /// In how many draws each condition of a claim holds; none if it is not known of these conditions.
    pub fn kept(&self, outcome: &ClaimOutcome) -> Option<&[u32]> {
        let kept = self.claims.get(&outcome.id)?;
        (self.draws > 0 && kept.len() == outcome.conditions.len()).then_some(kept)
    }

    /// The verdicts of the conditions of a claim in the other configuration of the study; none if they are not known.
    pub(crate) fn verdicts_elsewhere(&self, outcome: &ClaimOutcome) -> &[Verdict] {
        let verdicts = self.other.get(&outcome.id).map_or(&[][..], Vec::as_slice);
        if verdicts.len() == outcome.conditions.len() { verdicts } else { &[] }
    }

    /// How many of the conditions that are met are robust, in words; those of which no draw is known are said apart.
    pub fn summary(&self, outcomes: &[ClaimOutcome]) -> String {
        let (mut robust, mut drawn, mut unknown) = (0, 0, 0);
        for outcome in outcomes {
            let kept = self.kept(outcome);
            let met = outcome.conditions.iter().enumerate().filter(|(_, condition)| condition.verdict.is_met());
            for (number, _) in met {
                match kept {
                    Some(kept) => {
                        drawn += 1;
                        robust += u32::from(f64::from(kept[number]) >= ROBUST * f64::from(self.draws));
                    }
                    None => unknown += 1,
                }
            }
        }
        let unknown = if unknown == 0 { String::new() } else { format!("; {unknown} not drawn") };
        format!("{robust} of {drawn} that are met, {} draws{unknown}", self.draws)
    }

    fn add(&mut self, outcomes: &[ClaimOutcome]) {
        self.draws += 1;
        for outcome in outcomes {
            let Some(kept) = self.claims.get_mut(&outcome.id) else { continue };
            for (kept, condition) in kept.iter_mut().zip(&outcome.conditions) {
                *kept += u32::from(condition.verdict.is_met());
            }
        }
    }
}

/// Judges the conditions of `paper` in its other configuration, if it has one, and then with each draw, from where
/// `before` ends up to `draws`; `each` receives the counts after each draw.
///
/// # Errors
/// An error in a file of claims, a run that fails, or what `each` returns.
pub fn robustness<E: From<RobustnessError>>(
    paper: PaperName,
    draws: u32,
    before: Option<Robustness>,
    watch: &Watch<'_>,
    each: &mut dyn FnMut(&Robustness) -> Result<(), E>,
) -> Result<(), E> {
    match paper {
        PaperName::Moc => continued(
            &moc::SUBJECT,
            moc::paper().map_err(RobustnessError::from)?,
            moc::run_drawn,
            draws,
            before,
            watch,
            each,
        ),
        PaperName::Postal => continued(
            &postal::SUBJECT,
            postal::paper().map_err(RobustnessError::from)?,
            postal::run_drawn,
            draws,
            before,
            watch,
            each,
        ),
        PaperName::Cm5 => continued(
            &cm5::SUBJECT,
            cm5::paper().map_err(RobustnessError::from)?,
            cm5::run_drawn,
            draws,
            before,
            watch,
            each,
        ),
        PaperName::Lh => continued(
            &lh::SUBJECT,
            lh::paper().map_err(RobustnessError::from)?,
            lh::run_drawn,
            draws,
            before,
            watch,
            each,
        ),
        PaperName::Bcast => continued(
            &bcast::SUBJECT,
            bcast::paper().map_err(RobustnessError::from)?,
            bcast::run_drawn,
            draws,
            before,
            watch,
            each,
        ),
    }
}

fn continued<J: StudyRun + Debug, A: Send, E: From<RobustnessError>>(
    subject: &Subject<'_, J, A>,
    paper: Paper,
    run: fn(&J, Costs) -> Result<A, String>,
    draws: u32,
    before: Option<Robustness>,
    watch: &Watch<'_>,
    each: &mut dyn FnMut(&Robustness) -> Result<(), E>,
) -> Result<(), E> {
    let Subject { studies, other, .. } = subject;
    // What is measured in wall time does not depend on costs.
    let is_timed = |study: &&Study<J, A>| (study.jobs)().iter().any(StudyRun::is_exclusive);
    let timed: Vec<&str> = studies.iter().filter(is_timed).flat_map(|study| study.claims).copied().collect();
    let of_this_build = before.filter(|before| before.judged_by == JUDGED_BY);
    let mut counted = of_this_build.unwrap_or_else(|| Robustness::none(&paper, &timed));
    let jobs = plan(studies.iter().filter(|study| !is_timed(study)).flat_map(|study| (study.jobs)()));
    let judged = |runs: &Runs<J, A>, draw: u32| {
        if let Some((run, why)) = runs.failure() {
            return Err(RobustnessError::Run { draw, run, why });
        }
        let judged = paper.claims.all.iter().filter_map(|claim| super::judge(studies, paper.claims.file, claim, runs));
        Ok(judged.collect::<Result<Vec<ClaimOutcome>, ClaimsError>>()?)
    };
    if let Some(other) = other.as_ref().filter(|_| counted.other.is_empty()) {
        let runs = run_all(&jobs, &|job| run(&(other.of)(job), Costs::Chosen), watch);
        if runs.len() < jobs.len() {
            return Ok(());
        }
        let verdicts = |outcome: ClaimOutcome| (outcome.id, outcome.conditions.iter().map(|it| it.verdict).collect());
        counted.other = judged(&runs, 0)?.into_iter().map(verdicts).collect();
        each(&counted)?;
    }
    while counted.draws < draws {
        let (number, ended) = (counted.draws, f64::from(counted.draws));
        let progress = |progress: Progress<'_>| {
            let share = (ended + progress.share) / f64::from(draws);
            (watch.progress)(Progress { share, ..progress });
        };
        let watch = Watch { progress: &progress, ..*watch };
        let runs = run_all(&jobs, &|job| run(job, Costs::Drawn(number)), &watch);
        if runs.len() < jobs.len() {
            return Ok(());
        }
        counted.add(&judged(&runs, number)?);
        each(&counted)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Check;

    fn outcome(id: &str, verdicts: &[Verdict]) -> ClaimOutcome {
        let text = format!("[[claim]]\nid = '{id}'\nkind = 'order'\nsource = 's'\nsays = 'x'\n");
        let condition = "[[claim.condition]]\nquantity = 'a'\nwhat = 'a'\nabove = 0\n";
        let claims = crate::Claims::parse("c.toml", &(text + &condition.repeat(verdicts.len()))).unwrap();
        let found = crate::Findings::words("").with_number("a", 1.0);
        let mut outcome = ClaimOutcome::of("c.toml", &claims.all[0], Ok(found), String::new()).unwrap();
        for (condition, verdict) in outcome.conditions.iter_mut().zip(verdicts) {
            condition.verdict = *verdict;
            condition.checks = vec![Check { holds: verdict.is_met(), says: String::new() }];
        }
        outcome
    }

    #[test]
    fn draws_are_counted_and_read_back() {
        let mut paper = crate::bcast::paper().unwrap();
        paper.claims.all.truncate(1);
        let id = paper.claims.all[0].id.clone();
        let mut counted = Robustness::none(&paper, &[]);
        counted.add(&[outcome(&id, &[Verdict::Met, Verdict::Missed])]);
        counted.add(&[outcome(&id, &[Verdict::MetFitted, Verdict::Met])]);
        counted.other.insert(id.clone(), vec![Verdict::Met, Verdict::ContradictsPaper]);
        let read = Robustness::parse("r.toml", &counted.text(PaperName::Bcast)).unwrap().unwrap();
        assert_eq!(read, counted);
        let two = outcome(&id, &[Verdict::Met, Verdict::Met]);
        assert_eq!((read.draws, read.kept(&two)), (2, Some(&[2, 1][..])));
        assert_eq!(read.verdicts_elsewhere(&two), [Verdict::Met, Verdict::ContradictsPaper]);
        let other = outcome("p.other", &[Verdict::Met]);
        assert_eq!(read.summary(&[two, other]), "1 of 2 that are met, 2 draws; 1 not drawn");
        // A claim with another number of conditions is another claim.
        let three = outcome(&id, &[Verdict::Met; 3]);
        assert_eq!((read.kept(&three), read.verdicts_elsewhere(&three).len()), (None, 0));
    }

    #[test]
    fn an_error_in_the_file_names_its_line() {
        let error = Robustness::parse("kept/r.toml", "commit = 'x'\ndraws = 'many'\n").unwrap_err().to_string();
        assert!(error.starts_with("kept/r.toml:2: invalid type"), "{error}");
        assert_eq!(Robustness::parse("r.toml", "\n"), Ok(None));
    }

    /// The files of the repository are about its claims.
    #[test]
    fn no_condition_holds_in_more_draws_than_there_are() {
        for paper in [moc::paper(), postal::paper(), cm5::paper(), lh::paper(), bcast::paper()] {
            let paper = paper.unwrap();
            let Some(robustness) = &paper.robustness else { continue };
            assert!(robustness.claims.values().flatten().all(|kept| *kept <= robustness.draws), "{}", paper.key);
            for id in robustness.claims.keys() {
                assert!(paper.claims.get(id).is_ok(), "{id}");
            }
        }
    }
}
