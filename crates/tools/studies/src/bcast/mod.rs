//! The broadcast study: reliable messages and broadcasts over a switched Ethernet, beside a tree over TCP.
//!
//! One file per figure or section. How the machines' costs were chosen, and what we take a latency of a broadcast to
//! be, is in experiments/bcast/parameters.md.

mod charts;
mod figure3;
mod figure4;
mod figure5;
mod figure6;
mod growth;
mod job;
mod lossy;
mod measures;
mod points;
mod section2;
mod section3;
mod simulate;
#[cfg(test)]
mod tests;

pub use job::{BcastRun, System, Trouble};
pub use simulate::{BcastResult, run, run_drawn};

use super::{Claims, ClaimsError, Paper, PaperName, Robustness, Runs, Study, Subject};

/// The results of the runs of the study.
pub type Results = Runs<BcastRun, BcastResult>;
/// A figure or section of the study.
pub type StudyOfBroadcast = Study<BcastRun, BcastResult>;

/// How much work a core does in a second, for the estimate of the run time: frames, each times its receivers.
pub const FRAMES_PER_SECOND: f64 = 5e5;

/// The figures and sections, in the order of the report.
pub const STUDIES: [StudyOfBroadcast; 6] =
    [section2::STUDY, section3::STUDY, figure3::STUDY, figure4::STUDY, figure5::STUDY, figure6::STUDY];

/// What is shown of the paper.
pub const SUBJECT: Subject<'static, BcastRun, BcastResult> =
    Subject { studies: &STUDIES, other: None, points: &points::POINTS };

/// The claims: the file and its contents.
const FILE: &str = "experiments/bcast/claims.toml";
const TEXT: &str = include_str!("../../../../../experiments/bcast/claims.toml");
/// How robust its conditions are.
const ROBUSTNESS: &str = include_str!("../../../../../experiments/bcast/robustness.toml");

/// The study as a whole, as the report describes it.
///
/// # Errors
/// An error in the file of claims.
pub fn paper() -> Result<Paper, ClaimsError> {
    let about = |preset: &str| machines::load(preset).map_or_else(|error| error.to_string(), |machine| machine.about);
    Ok(Paper {
        key: "bcast",
        title: "Reliable broadcast for commodity clusters, reproduced",
        lead: "Every figure and checkable statement of K.-P. Wong and C.-L. Wang's study of broadcasts in which one frame reaches all nodes, \
               with one buffer for the resends. The messaging is the code that runs over UDP; below it is a simulated \
               switched Ethernet, frame by frame.",
        claims: Claims::parse(FILE, TEXT)?,
        robustness: Robustness::of_paper(PaperName::Bcast, ROBUSTNESS)?,
        remarks: vec![
            "The paper does not define the latency of a broadcast. Here it is the time from the call of the broadcast until a \
             message of the same size is back from rank 1, on the clock of the root. The printed growths and ratios fit this \
             reading and no other that we tried. \u{201c}Faster by p %\u{201d} means that the time is p % less.",
            "500 rounds each, of which the quickest and the slowest tenth are left out, as in the paper.",
            "The costs of the nodes were chosen once, for all figures: to the printed latency and bandwidth of a message, and to how \
             broadcasts grow in figure 4. The costs of MPICH follow from that figure, too. The rest comes out.",
            "PPBCAST is push-pull broadcast with 80 + 780 bytes pushed; SBCAST simple broadcast with the costs of a library, as in \
             the paper; MPICH its tree of messages, which halves the distance in every step.",
        ],
        machines: ["dp-smp-8", "dp-smp-quad-2", "mpich-tcp-8"]
            .map(|preset| (preset.to_string(), about(preset)))
            .to_vec(),
    })
}
