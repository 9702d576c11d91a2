//! The postal-model study: the latency lambda of a machine, broadcasts and global combines tuned by it.
//!
//! One file per figure or table. The Delta's costs were fitted to what the paper says about its figures 3 and 4; the
//! preset `delta` says how.

mod charts;
mod figure10;
mod figure13;
mod figure14;
mod figure2;
mod figure3;
mod figure5;
mod figure6;
mod figure9;
mod job;
mod measures;
mod points;
mod printed;
mod section24;
mod section3;
mod section33;
mod simulate;
mod table1;
mod table2;
#[cfg(test)]
mod tests;

pub use job::{DelayedOperation, Experiment, Nodes, PostalRun};
pub use simulate::{PostalResult, run, run_drawn};

use super::{Claims, ClaimsError, Paper, PaperName, Robustness, Runs, Study, Subject};

/// The results of the runs of the study.
pub type Results = Runs<PostalRun, PostalResult>;
/// A figure or section of the study.
pub type StudyOfPostal = Study<PostalRun, PostalResult>;

/// How much work a core does in a second, for the estimate of the run time: packets times channels crossed.
pub const PACKET_HOPS_PER_SECOND: f64 = 3e6;

/// The figures and sections, in the order of the report.
pub const STUDIES: [StudyOfPostal; 13] = [
    figure2::STUDY,
    figure3::STUDY,
    figure5::STUDY,
    section24::STUDY,
    figure6::STUDY,
    figure9::STUDY,
    figure10::STUDY,
    figure13::STUDY,
    figure14::STUDY,
    section3::STUDY,
    table1::STUDY,
    table2::STUDY,
    section33::STUDY,
];

/// What is shown of the paper.
pub const SUBJECT: Subject<'static, PostalRun, PostalResult> =
    Subject { studies: &STUDIES, other: None, points: &points::POINTS };

/// The claims: the file and its contents.
const FILE: &str = "experiments/postal/claims.toml";
const TEXT: &str = include_str!("../../../../../experiments/postal/claims.toml");
/// How robust its conditions are.
const ROBUSTNESS: &str = include_str!("../../../../../experiments/postal/robustness.toml");

/// The study as a whole, as the report describes it.
///
/// # Errors
/// An error in the file of claims.
pub fn paper() -> Result<Paper, ClaimsError> {
    let delta = machines::load("delta").map_or_else(|error| error.to_string(), |machine| machine.about);
    Ok(Paper {
        key: "postal",
        title: "Broadcast and global combine under the postal model, reproduced",
        lead: "Every table, figure and checkable statement of J. Bruck, L. De Coster, N. Dewulf, C.-T. Ho and R. \
               Lauwereins' study: the theory exactly, the experiments on a model of the Delta, to the flit.",
        claims: Claims::parse(FILE, TEXT)?,
        robustness: Robustness::of_paper(PaperName::Postal, ROBUSTNESS)?,
        remarks: vec![
            "In the postal model a sender is done with a message after t0, and its receiver has it lambda t0 after it was \
             sent. The theory is exact: lambda is a fraction, times are whole multiples of its unit.",
            "The paper prints no times of the Delta, only lambda over the message size. Three costs of a node were fitted \
             to that; the preset says which. All broadcasts run on 8 x 8 of its nodes.",
        ],
        machines: vec![("delta".to_string(), delta)],
    })
}
