//! One point of each figure and table that a reader can have by a command or a short program of their own.

use std::fmt::Debug;

use serde::Serialize;

use super::runs::{MissingAnswer, Runs, StudyRun, plan, run_all};
use super::{PaperName, Subject, Watch, bcast, cm5, lh, moc, postal};

/// A number of a figure or table, and how to have it.
pub struct Point<J, A> {
    /// The study that it belongs to, by its place in the paper.
    pub place: &'static str,
    /// What it is, with its unit.
    pub what: &'static str,
    /// How to have it.
    pub by: By,
    /// The number in the study.
    pub value: Value<J, A>,
    /// How far the two may be apart, as a share of the number: zero, where both are the same computation.
    pub apart: f64,
}

/// A number of a study, in the unit of what the commands print.
pub enum Value<J, A> {
    /// Of one run.
    OfRun(J, fn(&A) -> f64),
    /// Of several runs: which, and the number by them.
    OfRuns(fn() -> Vec<J>, fn(&Runs<J, A>) -> Result<f64, MissingAnswer>),
    /// Computed without a run.
    Computed(fn() -> Result<f64, MissingAnswer>),
}

impl<J: StudyRun, A> Value<J, A> {
    fn jobs(&self) -> Vec<J> {
        match self {
            Value::OfRun(job, _) => vec![job.clone()],
            Value::OfRuns(jobs, _) => jobs(),
            Value::Computed(_) => Vec::new(),
        }
    }

    fn of(&self, runs: &Runs<J, A>) -> Result<f64, MissingAnswer> {
        match self {
            Value::OfRun(job, number) => Ok(number(runs.get(job)?)),
            Value::OfRuns(_, number) => number(runs),
            Value::Computed(number) => number(),
        }
    }
}

impl<J, A> Point<J, A> {
    /// A point that commands give, at `reads` in what the last prints: the same computation as the study's.
    pub const fn by_commands(
        place: &'static str,
        what: &'static str,
        (lines, reads): (&'static [&'static str], &'static str),
        value: Value<J, A>,
    ) -> Point<J, A> {
        Point { place, what, by: By::Commands { lines, reads }, value, apart: 0.0 }
    }

    /// A point that a program in Python prints: the same computation as the study's.
    pub const fn by_python(
        place: &'static str,
        what: &'static str,
        text: &'static str,
        value: Value<J, A>,
    ) -> Point<J, A> {
        Point { place, what, by: By::Python { text }, value, apart: 0.0 }
    }
}

/// How to have a number of a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum By {
    /// By commands, one after the other. The last prints JSON.
    Commands {
        /// The commands.
        lines: &'static [&'static str],
        /// Where the number is in that JSON: a JSON pointer. `*` takes the mean over a list, and `#` at its end the
        /// length of one.
        reads: &'static str,
    },
    /// By two commands that print JSON: by how many percent the number of one is more than that of the other.
    More {
        /// The one.
        line: &'static str,
        /// The other.
        than: &'static str,
        /// Where the number is in the JSON of both.
        reads: &'static str,
    },
    /// By a program in Python, which prints it.
    Python {
        /// Its text.
        text: &'static str,
    },
}

/// A point of a figure, with the number that the study has there.
#[derive(Clone, Debug, Serialize)]
pub struct FigurePoint {
    /// The paper.
    pub paper: &'static str,
    /// The figure or table.
    pub place: &'static str,
    /// What the number is, with its unit.
    pub what: &'static str,
    /// How to have it.
    pub by: By,
    /// The number of the study.
    pub value: f64,
    /// How far the two may be apart, as a share of the number.
    pub apart: f64,
}

/// The points of the figures of `paper`, with the numbers that the study has there.
///
/// # Errors
/// Which run failed, and why.
pub fn points(paper: PaperName, watch: &Watch<'_>) -> Result<Vec<FigurePoint>, String> {
    match paper {
        PaperName::Moc => computed(paper, &moc::SUBJECT, moc::run, watch),
        PaperName::Postal => computed(paper, &postal::SUBJECT, postal::run, watch),
        PaperName::Cm5 => computed(paper, &cm5::SUBJECT, cm5::run, watch),
        PaperName::Lh => computed(paper, &lh::SUBJECT, lh::run, watch),
        PaperName::Bcast => computed(paper, &bcast::SUBJECT, bcast::run, watch),
    }
}

fn computed<J: StudyRun + Debug, A: Send>(
    paper: PaperName,
    subject: &Subject<'_, J, A>,
    run: fn(&J) -> Result<A, String>,
    watch: &Watch<'_>,
) -> Result<Vec<FigurePoint>, String> {
    let jobs = plan(subject.points.iter().flat_map(|point| point.value.jobs()));
    let runs = run_all(&jobs, &run, watch);
    let computed = subject.points.iter().map(|point| {
        let value = point.value.of(&runs).map_err(|missing| format!("{}: {missing:?}", point.place))?;
        let Point { place, what, by, apart, .. } = *point;
        Ok(FigurePoint { paper: paper.name(), place, what, by, value, apart })
    });
    computed.collect()
}
