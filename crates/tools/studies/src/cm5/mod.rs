//! The CM-5 study: scheduling complete and irregular exchanges on a fat tree whose sends wait for their receivers.
//!
//! One file per figure or table. How the costs of the nodes were chosen is in experiments/cm5/parameters.md.

mod charts;
mod figure10;
mod figure5;
mod figure6;
mod job;
mod measures;
mod points;
mod schedules;
mod section2;
mod section34;
mod simulate;
mod table11;
mod table12;
mod table5;
#[cfg(test)]
mod tests;

pub use job::{Cm5Run, How};
pub use simulate::{Cm5Result, Setup, TransformCosts, run, run_drawn, run_with};

use super::{Claims, ClaimsError, Paper, PaperName, Robustness, Runs, Study, Subject};

/// The results of the runs of the study.
pub type Results = Runs<Cm5Run, Cm5Result>;
/// A figure or section of the study.
pub type StudyOfCm5 = Study<Cm5Run, Cm5Result>;

/// How much work a core does in a second, for the estimate of the run time: packets times channels crossed.
pub const PACKET_HOPS_PER_SECOND: f64 = 3e6;

/// The figures and sections, in the order of the report.
pub const STUDIES: [StudyOfCm5; 9] = [
    section2::STUDY,
    schedules::STUDY,
    section34::STUDY,
    figure5::STUDY,
    figure6::STUDY,
    table5::STUDY,
    figure10::STUDY,
    table11::STUDY,
    table12::STUDY,
];

/// What is shown of the paper.
pub const SUBJECT: Subject<'static, Cm5Run, Cm5Result> =
    Subject { studies: &STUDIES, other: None, points: &points::POINTS };

/// The claims: the file and its contents.
const FILE: &str = "experiments/cm5/claims.toml";
const TEXT: &str = include_str!("../../../../../experiments/cm5/claims.toml");
/// How robust its conditions are.
const ROBUSTNESS: &str = include_str!("../../../../../experiments/cm5/robustness.toml");

/// The study as a whole, as the report describes it.
///
/// # Errors
/// An error in the file of claims.
pub fn paper() -> Result<Paper, ClaimsError> {
    let about = |preset: &str| machines::load(preset).map_or_else(|error| error.to_string(), |machine| machine.about);
    Ok(Paper {
        key: "cm5",
        title: "Scheduling communication on the CM-5, reproduced",
        lead: "Every table, figure and checkable statement of R. Ponnusamy, R. Thakur, A. Choudhary and G. Fox' study, on a \
               model of the machine that follows every packet of 20 bytes.",
        claims: Claims::parse(FILE, TEXT)?,
        robustness: Robustness::of_paper(PaperName::Cm5, ROBUSTNESS)?,
        remarks: vec![
            "The networks are as the paper describes them. Eight costs of a node and the control network's rate were fitted to \
             which exchange is ahead in Figure 5, to the sizes of Figure 10 and to half of Table 11, and a ninth cost to the \
             time of an empty message; all other figures are judged with the same costs. Fits were made on other random \
             patterns than those of this report.",
            "Patterns and ways through the network are drawn from numbered seeds, from 0 on. Means over patterns have their \
             standard error; a complete exchange is run once.",
            "The Fourier transform has two costs of its own, for a floating-point operation and for packing a block, fitted to \
             half of Table 5. They do not touch its communication. The applications of Table 12 have one, for gathering and \
             scattering a byte, fitted to half of that table.",
        ],
        machines: ["cm5-32", "cm5-256"].map(|preset| (preset.to_string(), about(preset))).to_vec(),
    })
}
