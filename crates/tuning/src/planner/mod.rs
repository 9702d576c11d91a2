//! The fastest algorithm on a machine.
//!
//! [`plan`] orders all candidates by an estimate, runs the promising ones on the machine's model within a budget of work, and reports
//! for each how long it takes and how that is known. [`check`] compares its picks with the best of all.

mod bound;
mod candidates;
pub mod check;
mod choice;
pub mod collectives;
mod json;
mod model;
mod question;
mod recorded;
#[cfg(test)]
mod tests;

pub use bound::{Bound, Reason, busiest};
pub use candidates::Candidate;
pub use choice::{BUDGET, Effort, Plan, Prediction, Source, plan};
pub use json::ranks_on;
pub use model::Model;
pub use question::Question;
