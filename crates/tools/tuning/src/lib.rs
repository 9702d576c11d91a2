//! What is best on a machine, and what a machine is like: plans, calibrations and measurements; schedules of exchanges,
//! and the results of the postal model; rehearsals, which find out how good a model is.

pub mod benchmark;
pub mod calibrate;
pub mod exchange;
pub mod latency;
pub mod launched;
pub mod planner;
pub mod rehearsal;
pub mod theory;
