//! What is best on a machine, and what a machine is like: plans, calibrations and measurements; schedules of exchanges, and what the
//! postal model says.

pub mod benchmark;
pub mod calibrate;
pub mod exchange;
pub mod latency;
pub mod planner;
pub mod theory;
