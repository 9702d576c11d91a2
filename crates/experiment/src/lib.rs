//! What is run, and running it on whatever a machine is.

mod experiment;
pub mod parallel;
pub mod postal_clock;
pub mod simulate;

pub use experiment::Experiment;
