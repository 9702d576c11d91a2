//! The Mesh of Clos study: three stress benchmarks and a ping-pong on wormhole networks and on a transputer grid.
//!
//! One file per figure. The paper prints no latencies; one set of parameters, which the presets hold, serves for all
//! claims. experiments/moc/parameters.md says how it was chosen.

mod charts;
mod figure10;
mod figure11;
mod figure12;
mod figure13;
mod figure14;
mod figure5;
mod figure6;
mod figure7;
mod figure8;
mod figure9;
mod job;
mod map;
mod measures;
mod points;
mod section2;
mod section3;
mod section4;
mod simulate;
#[cfg(test)]
mod tests;

pub use job::{Engine, Layer, Load, MocRun, Platform};
pub use simulate::{MocResult, Setup, costs, model, run, run_drawn, run_with};

use super::{Claims, ClaimsError, Paper, PaperName, Robustness, Runs, Study, Subject};

/// The results of the runs of the study.
pub type Results = Runs<MocRun, MocResult>;
/// A figure or section of the study.
pub type StudyOfMoc = Study<MocRun, MocResult>;

/// How much work a core does in a second, for the estimate of the run time: packets times channels crossed.
pub const PACKET_HOPS_PER_SECOND: f64 = 5e6;

/// The figures and sections, in the order of the report.
pub const STUDIES: [StudyOfMoc; 14] = [
    section2::STUDY,
    section3::STUDY,
    figure5::STUDY,
    figure6::STUDY,
    figure7::STUDY,
    section4::STUDY,
    figure8::STUDY,
    figure9::STUDY,
    figure10::STUDY,
    figure11::STUDY,
    figure12::STUDY,
    figure13::STUDY,
    figure14::STUDY,
    map::STUDY,
];

/// What is shown of the paper.
pub const SUBJECT: Subject<'static, MocRun, MocResult> =
    Subject { studies: &STUDIES, other: None, points: &points::POINTS };

/// The claims: the file and its contents.
const FILE: &str = "experiments/moc/claims.toml";
const TEXT: &str = include_str!("../../../../../experiments/moc/claims.toml");
/// How robust its conditions are.
const ROBUSTNESS: &str = include_str!("../../../../../experiments/moc/robustness.toml");

/// The study as a whole, as the report describes it.
///
/// # Errors
/// An error in the file of claims.
pub fn paper() -> Result<Paper, ClaimsError> {
    let presets = ["moc-3-2", "moc-3-1", "moc-2-1", "parsytec-gcel-64"];
    let about = |preset: &str| model(preset).map_or_else(|why| why, |machine| costs(&machine));
    Ok(Paper {
        key: "moc",
        title: "Simulation of a Mesh of Clos wormhole network, reproduced",
        lead: "Every figure and checkable statement of A. D. Pimentel and L. O. Hertzberger's study, run again to the \
               flit on the machines described below. The paper prints no latencies, so one set of parameters was chosen \
               once and serves for everything on this page.",
        claims: Claims::parse(FILE, TEXT)?,
        robustness: Robustness::of_paper(PaperName::Moc, ROBUSTNESS)?,
        remarks: vec![
            "All messages are synchronous: a send is over when a system message has acknowledged it. Messages are cut \
             into packets of 128 bytes with a header of two one-byte flits. Speed-up is the time of the base over the \
             time compared, less one.",
            "In equal-dist and unequal-dist both partners of a pair send first, as the paper has every processor alternate \
             between sending and receiving. Messages are acknowledged by the communication processor when they arrive, \
             or both would wait for ever.",
            "The paper leaves open in which order all-to-all goes through the partners. Here the nodes take turns: each \
             sends to all others when it has the messages of those before it. All other orders that were tried contend \
             far more than the 2 us that the paper prints.",
            "The paper prints no costs of nodes either: experiments/moc/parameters.md says how they were chosen. The \
             GCel, a measurement in the paper, is simulated here.",
        ],
        machines: presets.map(|preset| (preset.to_string(), about(preset))).to_vec(),
    })
}
