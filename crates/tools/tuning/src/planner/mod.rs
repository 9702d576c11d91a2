//! The fastest algorithm on a machine.
//!
//! [`plan`] orders all candidates by an estimate, runs the promising ones on the machine's model within a budget of
//! work, some of them only in part, and reports for each how long it takes and how that is known. [`check`] compares
//! its picks with the best of all.

mod bound;
mod candidates;
pub mod check;
mod choice;
pub mod collectives;
mod estimate;
mod json;
pub mod measured;
mod model;
mod question;
mod recorded;
mod reduced;
mod ring_orders;
#[cfg(test)]
mod tests;
mod trials;
mod work;

pub use bound::{Bound, Reason, busiest};
pub use candidates::Candidate;
pub use choice::{BUDGET, Effort, Plan, Prediction, Source, Verdict, plan};
pub use json::{placed, ranks_on};
pub use model::Model;
pub use question::Question;
pub use reduced::Reduction;
