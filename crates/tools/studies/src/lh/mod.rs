//! The LH*LH study: clients build a table that is spread over servers, on models of a Parsytec CC.
//!
//! One file per figure or table. What the paper leaves open, and how the study chooses it, is in
//! experiments/lh/parameters.md.

mod charts;
mod figure2;
mod figure3;
mod figure4;
mod figure5;
mod figure6;
mod figure7;
mod figure8;
mod job;
mod measures;
mod points;
mod section3;
mod simulate;
mod table1;
#[cfg(test)]
mod tests;

pub use job::{LhRun, Platform};
pub use simulate::{LhResult, run, run_drawn};

use linear_hash::KeyHash;

use super::{Claims, ClaimsError, OtherConfiguration, Paper, PaperName, Robustness, Runs, Study, Subject, moc};

/// The results of the runs of the study.
pub type Results = Runs<LhRun, LhResult>;
/// A figure or section of the study.
pub type StudyOfLh = Study<LhRun, LhResult>;

/// How much work a core does in a second, for the estimate of the run time: packets times channels crossed.
pub const PACKET_HOPS_PER_SECOND: f64 = 3e6;

/// The figures and sections, in the order of the report.
pub const STUDIES: [StudyOfLh; 9] = [
    section3::STUDY,
    figure2::STUDY,
    figure3::STUDY,
    table1::STUDY,
    figure4::STUDY,
    figure5::STUDY,
    figure6::STUDY,
    figure7::STUDY,
    figure8::STUDY,
];

/// The configuration beside that of the study, which has the hash of the last letters because splits cascade with it.
pub const OTHER: OtherConfiguration<LhRun> =
    OtherConfiguration { name: "uniform hash", of: |job| job.with_hash(KeyHash::Uniform) };

/// What is shown of the paper.
pub const SUBJECT: Subject<'static, LhRun, LhResult> =
    Subject { studies: &STUDIES, other: Some(OTHER), points: &points::POINTS };

/// The claims: the file and its contents.
const FILE: &str = "experiments/lh/claims.toml";
const TEXT: &str = include_str!("../../../../../experiments/lh/claims.toml");
/// How robust its conditions are.
const ROBUSTNESS: &str = include_str!("../../../../../experiments/lh/robustness.toml");

/// The study as a whole, as the report describes it.
///
/// # Errors
/// An error in the file of claims.
pub fn paper() -> Result<Paper, ClaimsError> {
    let about = |preset: &str| moc::model(preset).map_or_else(|why| why, |machine| moc::costs(&machine));
    Ok(Paper {
        key: "lh",
        title: "LH*LH on a multicomputer, reproduced",
        lead: "Every figure, table and checkable statement of A. D. Pimentel and L. O. Hertzberger's study of a hash table \
               that is spread over servers. Clients and servers run as programs on models of the paper's machines, to \
               the flit.",
        claims: Claims::parse(FILE, TEXT)?,
        robustness: Robustness::of_paper(PaperName::Lh, ROBUSTNESS)?,
        remarks: vec![
            "Keys are 180,689 Dutch words, the list of OpenTaal, in its order; 3,684 of them occur twice and are \
             stored once. Each of several clients inserts its own part of the list, one word after the other. Servers \
             and clients spend time only on messages, by default. The build time is that until the last \
             insert is acknowledged.",
            "The paper names no hash. With a uniform one, splits of servers follow each other at equal intervals; the paper's figure 2a has \
             them in cascades, and so has a hash of the last letters of a word. Everything on this page is run with this \
             hash; beside each condition stands its verdict with the uniform one.",
            "V, the capacity of a server, is 7,500 on 16 nodes and 2,500 on 64, and M is 0.8: with these the last cascade comes near the \
             end of the build, as printed. There are 11 servers on 16 nodes and 32 on 64, and no more than these: on 16 nodes the last \
             cascade would go on, and as it cannot, one server holds 2.15 times V in the end. The paper calibrated its threshold \
             so that the file does not outgrow the nodes; with V from 8,100 on it does not, but then there is no cascade near the end. \
             With the uniform hash the words just fill all servers to M.",
            "Servers must not wait for each other: a send is over when the message has arrived, not when the receiver \
             has asked for it.",
        ],
        machines: Platform::ALL.map(|it| (it.preset().to_string(), about(it.preset()))).to_vec(),
    })
}
