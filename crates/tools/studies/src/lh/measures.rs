//! The quantities that the study derives from its runs.

use super::Results;
use super::job::LhRun;
use super::simulate::{LhResult, STEP};
use crate::MissingAnswer;

/// How long a build took. [s]
pub fn seconds(runs: &Results, job: LhRun) -> Result<f64, MissingAnswer> {
    Ok(runs.get(&job)?.time.seconds())
}

/// The time of an insert from the application's view: the build time over the number of inserts. [ms]
pub fn milliseconds_per_insert(runs: &Results, job: LhRun) -> Result<f64, MissingAnswer> {
    let LhResult { time, inserts, .. } = runs.get(&job)?;
    Ok(time.seconds() * 1e3 / (*inserts).max(1) as f64)
}

/// How much faster a build is than with one client. [times]
pub fn speed_up(runs: &Results, job: LhRun) -> Result<f64, MissingAnswer> {
    Ok(seconds(runs, LhRun { clients: 1, ..job })? / seconds(runs, job)?)
}

/// The mean time that a packet was blocked. [us]
pub fn blocking(runs: &Results, job: LhRun) -> Result<f64, MissingAnswer> {
    Ok(runs.get(&job)?.blocking.microseconds())
}

/// The deviation of our number from the printed one. [%]
pub fn deviation(ours: f64, printed: f64) -> f64 {
    (ours / printed - 1.0) * 100.0
}

impl LhResult {
    /// The time of each `inserts` consecutive inserts, from the beginning of the build on; a remainder at the end is
    /// left out. [us per insert]
    pub fn parts(&self, inserts: usize) -> Vec<f64> {
        let each = (inserts / STEP).max(1);
        let ends: Vec<f64> =
            self.course.chunks_exact(each).filter_map(|part| part.last()).map(|at| at.microseconds()).collect();
        let begins = [0.0].into_iter().chain(ends.iter().copied());
        begins.zip(&ends).map(|(begin, end)| (end - begin) / (each * STEP) as f64).collect()
    }

    /// The number of acknowledged inserts and the time, for every step of the course. [s]
    pub fn times(&self) -> impl Iterator<Item = (f64, f64)> {
        let inserts = (1..).map(|step| (step * STEP) as f64);
        inserts.zip(self.course.iter().map(|at| at.seconds()))
    }

    /// The mean time of an insert until that many were acknowledged, for every step of the course. [ms]
    pub fn means(&self) -> impl Iterator<Item = (usize, f64)> {
        let inserts = (1..).map(|step| step * STEP);
        inserts.zip(&self.course).map(|(inserts, at)| (inserts, at.seconds() * 1e3 / inserts as f64))
    }
}

#[cfg(test)]
mod tests {
    use quantities::Duration;

    use super::*;

    #[test]
    fn a_course_falls_into_parts_and_has_means() {
        let course = [1, 2, 4, 8, 16].map(|at| Duration::from_microseconds(at * 1_000)).to_vec();
        let measured = LhResult { course, ..LhResult::default() };
        assert_eq!(measured.parts(2 * STEP), [2.0, 6.0]);
        assert_eq!(measured.means().last(), Some((2_500, 0.0064)));
    }
}
